//! Removes metadata from pictures: places, cameras, names, times, previews.
//!
//! The coded pixels are unchanged. Of everything else only what affects rendering is kept:
//! colours, transparency, animation and orientation.

use image::metadata::Orientation;

use crate::{MediaFormat, MediaRejection, jpeg, png, webp};

pub(crate) fn strip_metadata(
    bytes: &[u8],
    format: MediaFormat,
    orientation: Orientation,
) -> Result<Option<Vec<u8>>, MediaRejection> {
    let (parts, orientation_index) = match format {
        MediaFormat::Jpeg => jpeg::essential_parts(bytes)?,
        MediaFormat::Png => png::essential_parts(bytes)?,
        MediaFormat::WebP => webp::essential_parts(bytes)?,
        _ => return Ok(None),
    };
    if parts.iter().map(|part| part.len()).sum::<usize>() == bytes.len() {
        return Ok(None);
    }
    let orientation = match orientation {
        Orientation::NoTransforms => Vec::new(),
        other => orientation_chunk(format, &orientation_exif(other)),
    };
    let (before, after) = parts.split_at_checked(orientation_index).unwrap_or((&parts, &[]));
    let whole = [&before.concat()[..], &orientation, &after.concat()].concat();
    Ok(Some(match format {
        MediaFormat::WebP => webp::update_header(whole, !orientation.is_empty()),
        _ => whole,
    }))
}

fn orientation_exif(orientation: Orientation) -> Vec<u8> {
    let head = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0";
    let value = [orientation.to_exif(), 0, 0, 0, 0, 0, 0];
    [&head[..], &value].concat()
}

fn orientation_chunk(format: MediaFormat, exif: &[u8]) -> Vec<u8> {
    match format {
        MediaFormat::Jpeg => jpeg::exif_segment(exif),
        MediaFormat::Png => png::build_chunk(*b"eXIf", exif),
        _ => webp::build_chunk(*b"EXIF", exif),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

    use super::orientation_exif;
    use crate::{MediaFormat, jpeg, measure_image, png, webp};
    use image::metadata::Orientation;

    fn file(format: ImageFormat) -> Vec<u8> {
        let picture = RgbImage::from_fn(32, 16, |x, y| Rgb([x, y, 11].map(|side| u8::try_from(side * 8).unwrap())));
        let mut bytes = Cursor::new(Vec::new());
        let picture = DynamicImage::from(picture);
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// A directory with a side and something that nobody is to see.
    fn telling(side: Orientation) -> Vec<u8> {
        [&orientation_exif(side)[..], b"GPS 51.4779N 0.0015W"].concat()
    }

    fn pixels(bytes: &[u8]) -> Vec<u8> {
        image::load_from_memory(bytes).unwrap().into_bytes()
    }

    fn holds(bytes: &[u8], what: &[u8]) -> bool {
        bytes.windows(what.len()).any(|part| part == what)
    }

    fn check(plain: &[u8], telling: &[u8], turned: bool) {
        assert!(holds(telling, b"GPS"));
        let still = measure_image(telling).unwrap();
        let size = if turned { (16, 32) } else { (32, 16) };
        assert_eq!((still.width, still.height), size);
        let bare = still.stripped.unwrap();
        for word in [&b"GPS"[..], b"Ada", b"shop"] {
            assert!(!holds(&bare, word), "{}", word.escape_ascii());
        }
        assert_eq!(pixels(&bare), pixels(plain));
        let again = measure_image(&bare).unwrap();
        assert_eq!((again.width, again.height), size);
        assert_eq!(bare.len() > plain.len(), turned);
        if !turned {
            assert_eq!(bare, plain);
        }
    }

    const SIDES: [(Orientation, bool); 2] = [(Orientation::NoTransforms, false), (Orientation::Rotate90, true)];

    #[test]
    fn metadata_of_a_jpeg_is_removed() {
        let plain = file(ImageFormat::Jpeg);
        assert_eq!(measure_image(&plain).unwrap().stripped, None);
        for (side, turned) in SIDES {
            let comment = b"\xff\xfe\0\x05Ada".to_vec();
            let resources = b"\xff\xed\0\x06shop".to_vec();
            let (head, rest) = plain.split_at(20);
            let parts = [head, &jpeg::exif_segment(&telling(side)), &comment, &resources];
            let telling = [&parts.concat()[..], rest].concat();
            check(&plain, &telling, turned);
            // What phones put behind the picture goes as well: another picture, a film.
            let moving = [&telling[..], &telling, b"\0\0\0\x18ftypmp42"].concat();
            check(&plain, &moving, turned);
        }
    }

    #[test]
    fn metadata_of_a_png_is_removed() {
        let plain = file(ImageFormat::Png);
        assert_eq!(measure_image(&plain).unwrap().stripped, None);
        for (side, turned) in SIDES {
            let (head, rest) = plain.split_at(33);
            let text = png::build_chunk(*b"tEXt", b"Author\0Ada");
            let own = png::build_chunk(*b"shOp", b"shop");
            let chunk = png::build_chunk(*b"eXIf", &telling(side));
            let telling = [head, &text, &own, &chunk, rest].concat();
            check(&plain, &telling, turned);
        }
    }

    #[test]
    fn metadata_of_a_webp_is_removed() {
        let simple = file(ImageFormat::WebP);
        assert_eq!(measure_image(&simple).unwrap().stripped, None);
        let head = webp::build_chunk(*b"VP8X", &[0, 0, 0, 0, 31, 0, 0, 15, 0, 0]);
        let extended = [&simple[..12], &head, &simple[12..]].concat();
        let plain = webp::update_header(extended.clone(), false);
        for (side, turned) in SIDES {
            let chunk = webp::build_chunk(*b"EXIF", &telling(side));
            let pages = webp::build_chunk(*b"XMP ", b"Ada");
            let own = webp::build_chunk(*b"shop", b"shop");
            let telling = [&extended[..], &chunk, &pages, &own].concat();
            check(&plain, &webp::update_header(telling, true), turned);
        }
    }

    #[test]
    fn half_a_jpeg_is_truncated() {
        let plain = file(ImageFormat::Jpeg);
        let half = plain.get(..plain.len() / 2).unwrap();
        assert_eq!(measure_image(half).unwrap_err(), crate::MediaRejection::Truncated(MediaFormat::Jpeg));
    }
}
