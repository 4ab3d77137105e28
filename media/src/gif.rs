//! The structure of GIF files.

use crate::{MediaFormat, MediaRejection};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GifSummary {
    pub(crate) frames: u32,
    /// Of one pass through the frames.
    pub(crate) duration_ms: u64,
}

/// How long browsers show a frame without a delay.
const DEFAULT_DELAY_MS: u64 = 100;

/// Walks all blocks to the end of the file; trailing bytes are an error.
pub(crate) fn check(bytes: &[u8]) -> Result<GifSummary, MediaRejection> {
    let truncated = || MediaRejection::Truncated(MediaFormat::Gif);
    let screen = bytes.get(6..).and_then(<[u8]>::first_chunk::<7>).ok_or_else(truncated)?;
    let [_, _, _, _, flags, _, _] = *screen;
    let mut rest = bytes.get(13..).and_then(|rest| skip_color_table(rest, flags)).ok_or_else(truncated)?;
    let (mut gif, mut delay) = (GifSummary::default(), DEFAULT_DELAY_MS);
    loop {
        let (kind, tail) = rest.split_first().ok_or_else(truncated)?;
        rest = match kind {
            0x3b if tail.is_empty() && gif.frames > 0 => return Ok(gif),
            0x3b if gif.frames > 0 => return Err(MediaRejection::Trailing(MediaFormat::Gif)),
            0x21 => {
                if let Some([0xf9, 4, _, low, high]) = tail.first_chunk::<5>() {
                    delay = match u16::from_le_bytes([*low, *high]) {
                        0 | 1 => DEFAULT_DELAY_MS,
                        hundredths => u64::from(hundredths) * 10,
                    };
                }
                tail.get(1..).and_then(skip_blocks).ok_or_else(truncated)?
            }
            0x2c => {
                let head = tail.first_chunk::<9>().ok_or_else(truncated)?;
                let [_, _, _, _, _, _, _, _, flags] = *head;
                gif.frames = gif.frames.saturating_add(1);
                gif.duration_ms = gif.duration_ms.saturating_add(delay);
                delay = DEFAULT_DELAY_MS;
                let data = tail.get(9..).and_then(|rest| skip_color_table(rest, flags));
                // One byte holds the minimum code size.
                let data = data.and_then(|rest| rest.get(1..));
                data.and_then(skip_blocks).ok_or_else(truncated)?
            }
            _ => return Err(MediaRejection::Damaged(MediaFormat::Gif)),
        };
    }
}

fn skip_color_table(bytes: &[u8], flags: u8) -> Option<&[u8]> {
    if flags & 0x80 == 0 {
        return Some(bytes);
    }
    let colours = 2_usize << (flags & 7);
    bytes.get(colours * 3..)
}

fn skip_blocks(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let (length, tail) = bytes.split_first()?;
        if *length == 0 {
            return Some(tail);
        }
        bytes = tail.get(usize::from(*length)..)?;
    }
}
