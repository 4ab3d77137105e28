//! Pictures without what else their files tell: places, cameras, names, times, previews.
//!
//! The coded pixels stay as they are. Of what stood beside them only what changes how they look
//! is kept: colours, transparency, movement, and which side is up.

use image::metadata::Orientation;

use crate::{Format, Unfit, jpeg, png, webp};

/// The file without what is not to be shown; none where it has nothing of that.
pub(crate) fn bare(
    bytes: &[u8],
    format: Format,
    orientation: Orientation,
) -> Result<Option<Vec<u8>>, Unfit> {
    let (kept, place) = match format {
        Format::Jpeg => jpeg::kept(bytes)?,
        Format::Png => png::kept(bytes)?,
        Format::WebP => webp::kept(bytes)?,
        _ => return Ok(None),
    };
    if kept.iter().map(|part| part.len()).sum::<usize>() == bytes.len() {
        return Ok(None);
    }
    let turned = match orientation {
        Orientation::NoTransforms => Vec::new(),
        other => upright(format, &exif(other)),
    };
    let (before, behind) = kept.split_at_checked(place).unwrap_or((&kept, &[]));
    let whole = [&before.concat()[..], &turned, &behind.concat()].concat();
    Ok(Some(match format {
        Format::WebP => webp::sealed(whole, !turned.is_empty()),
        _ => whole,
    }))
}

/// Which side is up, and nothing else: a directory of one entry.
fn exif(orientation: Orientation) -> Vec<u8> {
    let head = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0";
    let value = [orientation.to_exif(), 0, 0, 0, 0, 0, 0];
    [&head[..], &value].concat()
}

/// A directory as a part of a file.
fn upright(format: Format, exif: &[u8]) -> Vec<u8> {
    match format {
        Format::Jpeg => jpeg::directory(exif),
        Format::Png => png::chunk(*b"eXIf", exif),
        _ => webp::chunk(*b"EXIF", exif),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

    use super::exif;
    use crate::{Format, jpeg, measure_still, png, webp};
    use image::metadata::Orientation;

    fn file(format: ImageFormat) -> Vec<u8> {
        let picture = RgbImage::from_fn(32, 16, |x, y| {
            Rgb([x, y, 11].map(|side| u8::try_from(side * 8).unwrap()))
        });
        let mut bytes = Cursor::new(Vec::new());
        let picture = DynamicImage::from(picture);
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// A directory with a side and something that nobody is to see.
    fn telling(side: Orientation) -> Vec<u8> {
        [&exif(side)[..], b"GPS 51.4779N 0.0015W"].concat()
    }

    fn pixels(bytes: &[u8]) -> Vec<u8> {
        image::load_from_memory(bytes).unwrap().into_bytes()
    }

    fn holds(bytes: &[u8], what: &[u8]) -> bool {
        bytes.windows(what.len()).any(|part| part == what)
    }

    fn check(plain: &[u8], telling: &[u8], turned: bool) {
        assert!(holds(telling, b"GPS"));
        let still = measure_still(telling).unwrap();
        let size = if turned { (16, 32) } else { (32, 16) };
        assert_eq!((still.width, still.height), size);
        let bare = still.bare.unwrap();
        for word in [&b"GPS"[..], b"Ada", b"shop"] {
            assert!(!holds(&bare, word), "{}", word.escape_ascii());
        }
        assert_eq!(pixels(&bare), pixels(plain));
        let again = measure_still(&bare).unwrap();
        assert_eq!((again.width, again.height), size);
        assert_eq!(bare.len() > plain.len(), turned);
        if !turned {
            assert_eq!(bare, plain);
        }
    }

    const SIDES: [(Orientation, bool); 2] = [
        (Orientation::NoTransforms, false),
        (Orientation::Rotate90, true),
    ];

    #[test]
    fn a_jpeg_tells_nothing_but_its_picture() {
        let plain = file(ImageFormat::Jpeg);
        assert_eq!(measure_still(&plain).unwrap().bare, None);
        for (side, turned) in SIDES {
            let comment = b"\xff\xfe\0\x05Ada".to_vec();
            let resources = b"\xff\xed\0\x06shop".to_vec();
            let (head, rest) = plain.split_at(20);
            let parts = [head, &jpeg::directory(&telling(side)), &comment, &resources];
            let telling = [&parts.concat()[..], rest].concat();
            check(&plain, &telling, turned);
            // What phones put behind the picture goes as well: another picture, a film.
            let moving = [&telling[..], &telling, b"\0\0\0\x18ftypmp42"].concat();
            check(&plain, &moving, turned);
        }
    }

    #[test]
    fn a_png_tells_nothing_but_its_picture() {
        let plain = file(ImageFormat::Png);
        assert_eq!(measure_still(&plain).unwrap().bare, None);
        for (side, turned) in SIDES {
            let (head, rest) = plain.split_at(33);
            let text = png::chunk(*b"tEXt", b"Author\0Ada");
            let own = png::chunk(*b"shOp", b"shop");
            let chunk = png::chunk(*b"eXIf", &telling(side));
            let telling = [head, &text, &own, &chunk, rest].concat();
            check(&plain, &telling, turned);
        }
    }

    #[test]
    fn a_webp_tells_nothing_but_its_picture() {
        let simple = file(ImageFormat::WebP);
        assert_eq!(measure_still(&simple).unwrap().bare, None);
        let head = webp::chunk(*b"VP8X", &[0, 0, 0, 0, 31, 0, 0, 15, 0, 0]);
        let extended = [&simple[..12], &head, &simple[12..]].concat();
        let plain = webp::sealed(extended.clone(), false);
        for (side, turned) in SIDES {
            let chunk = webp::chunk(*b"EXIF", &telling(side));
            let pages = webp::chunk(*b"XMP ", b"Ada");
            let own = webp::chunk(*b"shop", b"shop");
            let telling = [&extended[..], &chunk, &pages, &own].concat();
            check(&plain, &webp::sealed(telling, true), turned);
        }
    }

    #[test]
    fn what_only_claims_to_go_on_is_incomplete() {
        let plain = file(ImageFormat::Jpeg);
        let half = plain.get(..plain.len() / 2).unwrap();
        assert_eq!(
            measure_still(half).unwrap_err(),
            crate::Unfit::Truncated(Format::Jpeg)
        );
    }
}
