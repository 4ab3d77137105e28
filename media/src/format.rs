//! Format detection from the first bytes of a file.

use crate::{GIF_BYTES, IMAGE_BYTES, SUBTITLE_BYTES, VIDEO_BYTES};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaFormat {
    Jpeg,
    Png,
    Gif,
    WebP,
    Mp4,
    Vtt,
    Srt,
}

const HEAD_BYTES: usize = 64;

impl MediaFormat {
    /// The number of bytes that [`sniff`](Self::sniff) needs.
    pub const HEAD_BYTES: usize = HEAD_BYTES;

    const ALL: [Self; 7] = [Self::Jpeg, Self::Png, Self::Gif, Self::WebP, Self::Mp4, Self::Vtt, Self::Srt];

    pub fn sniff(head: &[u8]) -> Option<Self> {
        let at = |place: usize, sign: &[u8]| head.get(place..place.saturating_add(sign.len())) == Some(sign);
        if at(0, &[0xff, 0xd8, 0xff]) {
            Some(Self::Jpeg)
        } else if at(0, b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
            Some(Self::Gif)
        } else if at(0, b"RIFF") && at(8, b"WEBP") {
            Some(Self::WebP)
        } else if at(4, b"ftyp") && !is_still_image_brand(head) {
            Some(Self::Mp4)
        } else {
            Self::sniff_subtitles(head)
        }
    }

    fn sniff_subtitles(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
        if let Some(rest) = head.strip_prefix(b"WEBVTT") {
            let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
            return ends.then_some(Self::Vtt);
        }
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let number = lines.next()?;
        let digits = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
        let timed = lines.next()?.windows(5).any(|part| part == b" --> ");
        (digits && timed).then_some(Self::Srt)
    }

    /// The size of the largest file, in bytes.
    pub const fn byte_limit(self) -> u64 {
        match self {
            Self::Jpeg | Self::Png | Self::WebP => IMAGE_BYTES,
            Self::Gif => GIF_BYTES,
            Self::Mp4 => VIDEO_BYTES,
            Self::Vtt | Self::Srt => SUBTITLE_BYTES,
        }
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
            Self::Mp4 => "video/mp4",
            Self::Vtt => "text/vtt; charset=utf-8",
            Self::Srt => "application/x-subrip",
        }
    }

    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::WebP => "webp",
            Self::Mp4 => "mp4",
            Self::Vtt => "vtt",
            Self::Srt => "srt",
        }
    }

    pub fn from_extension(ending: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.extension() == ending)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
            Self::Mp4 => "MP4",
            Self::Vtt => "WebVTT",
            Self::Srt => "SubRip",
        }
    }

    pub const fn is_image(self) -> bool {
        matches!(self, Self::Jpeg | Self::Png | Self::Gif | Self::WebP)
    }
}

/// Photos in the same container format are not videos.
fn is_still_image_brand(head: &[u8]) -> bool {
    let brand = head.get(8..12).unwrap_or_default();
    [b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis", b"crx "].iter().any(|still| still.as_slice() == brand)
}

#[cfg(test)]
mod tests {
    use super::MediaFormat;

    #[test]
    fn bytes_tell_what_they_are() {
        let cases: [(&[u8], Option<MediaFormat>); 12] = [
            (b"\xff\xd8\xff\xe0", Some(MediaFormat::Jpeg)),
            (b"\x89PNG\r\n\x1a\n", Some(MediaFormat::Png)),
            (b"GIF89a", Some(MediaFormat::Gif)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(MediaFormat::WebP)),
            (b"\0\0\0\x18ftypisom", Some(MediaFormat::Mp4)),
            (b"\0\0\0\x18ftypheic", None),
            (b"WEBVTT\n\n", Some(MediaFormat::Vtt)),
            (b"WEBVTTER", None),
            (b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHi", Some(MediaFormat::Srt)),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\">", None),
            (b"PK\x03\x04", None),
            (b"", None),
        ];
        for (head, format) in cases {
            assert_eq!(MediaFormat::sniff(head), format, "{head:?}");
        }
    }
}
