//! Pictures cut to a shape.

use image::DynamicImage;

use crate::picture::{DecodedImage, decode_picture, encode_picture};
use crate::{MediaFormat, MediaRejection, SIZES};

/// In pixels. A PNG file of this size has less than [`crate::IMAGE_BYTES`], whatever it shows.
const MAX_TRANSPARENT_SIDE: u32 = 1024;

/// Which part of a side that is too long is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CropPosition {
    /// Top or left.
    Start,
    #[default]
    Centre,
    /// Bottom or right.
    End,
}

/// Cuts a picture to `width` : `height`; none if it has this shape, to a pixel. The result has no
/// metadata but its colour profile.
pub fn crop_image(
    bytes: &[u8],
    (width, height): (u32, u32),
    position: CropPosition,
) -> Result<Option<Vec<u8>>, MediaRejection> {
    let (DecodedImage { mut picture, orientation, profile }, format) = decode_picture(bytes)?;
    let largest = SIZES.into_iter().map(|size| size.max_side).max().unwrap_or(u32::MAX);
    if picture.width().max(picture.height()) > largest {
        picture = picture.thumbnail(largest, largest);
    }
    picture.apply_orientation(orientation);
    let (cropped_width, cropped_height) = fit_shape(picture.width(), picture.height(), (width, height));
    let (extra_width, extra_height) = (picture.width() - cropped_width, picture.height() - cropped_height);
    if extra_width <= 1 && extra_height <= 1 {
        return Ok(None);
    }
    let (left, top) = (position.offset(extra_width), position.offset(extra_height));
    let cropped = picture.crop_imm(left, top, cropped_width, cropped_height);
    encode_cropped(cropped, (profile.as_deref(), format)).map(Some)
}

fn encode_cropped(picture: DynamicImage, source: (Option<&[u8]>, MediaFormat)) -> Result<Vec<u8>, MediaRejection> {
    let picture = if !picture.color().has_alpha() {
        picture.into_rgb8().into()
    } else if picture.width().max(picture.height()) > MAX_TRANSPARENT_SIDE {
        let smaller = picture.thumbnail(MAX_TRANSPARENT_SIDE, MAX_TRANSPARENT_SIDE);
        smaller.into_rgba8().into()
    } else {
        picture.into_rgba8().into()
    };
    Ok(encode_picture(&picture, source)?.1)
}

/// The largest rectangle of a shape within a picture; at least one pixel.
fn fit_shape(width: u32, height: u32, shape: (u32, u32)) -> (u32, u32) {
    let scale = |side: u32, numerator: u32, denominator: u32| {
        let scaled = u64::from(side) * u64::from(numerator) / u64::from(denominator.max(1));
        u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
    };
    (width.min(scale(height, shape.0, shape.1)), height.min(scale(width, shape.1, shape.0)))
}

impl CropPosition {
    const fn offset(self, extra: u32) -> u32 {
        match self {
            Self::Start => 0,
            Self::Centre => extra / 2,
            Self::End => extra,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

    use super::{CropPosition, crop_image, fit_shape};

    /// Its columns are red, green and blue in thirds.
    fn stripes(width: u32, height: u32) -> Vec<u8> {
        let colours = [Rgb([250, 0, 0]), Rgb([0, 250, 0]), Rgb([0, 0, 250])];
        let picture = RgbImage::from_fn(width, height, |x, _| colours[usize::try_from(x * 3 / width).unwrap()]);
        encode(&picture.into())
    }

    fn encode(picture: &DynamicImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn shape_fits_into_any_picture() {
        for (width, height, shape, fitting) in [
            (300, 100, (1, 1), (100, 100)),
            (100, 300, (1, 1), (100, 100)),
            (300, 100, (3, 1), (300, 100)),
            (300, 300, (3, 1), (300, 100)),
            (900, 100, (3, 1), (300, 100)),
            (1, 8000, (3, 1), (1, 1)),
            (2, 1, (3, 1), (2, 1)),
        ] {
            assert_eq!(fit_shape(width, height, shape), fitting, "{width}x{height}");
        }
    }

    #[test]
    fn chosen_part_of_a_picture_is_kept() {
        let file = stripes(300, 100);
        for (position, channel) in [(CropPosition::Start, 0), (CropPosition::Centre, 1), (CropPosition::End, 2)] {
            let cropped = crop_image(&file, (1, 1), position).unwrap().unwrap();
            let shown = image::load_from_memory(&cropped).unwrap().into_rgb8();
            assert_eq!(shown.dimensions(), (100, 100));
            let middle = shown.get_pixel(50, 50).0;
            let brightest = (0..3).max_by_key(|channel| middle[*channel]);
            assert_eq!(brightest, Some(channel), "{position:?}: {middle:?}");
        }
    }

    #[test]
    fn picture_of_the_shape_stays_as_it_is() {
        for (width, height, shape) in [(80, 80, (1, 1)), (81, 80, (1, 1)), (300, 100, (3, 1))] {
            assert_eq!(crop_image(&stripes(width, height), shape, CropPosition::Centre), Ok(None));
        }
    }

    #[test]
    fn large_transparent_picture_stays_transparent_and_small_enough() {
        // Noise in a file of less than 5 MiB.
        let mut number = 1_u32;
        let noise = RgbaImage::from_fn(1100, 1060, |_, _| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgba((number & 0x8080_8080).to_be_bytes())
        });
        let cropped = crop_image(&encode(&noise.into()), (1, 1), CropPosition::Centre).unwrap().unwrap();
        assert!(u64::try_from(cropped.len()).unwrap() < crate::IMAGE_BYTES);
        let shown = image::load_from_memory(&cropped).unwrap();
        assert_eq!((shown.width(), shown.height(), shown.color().has_alpha()), (1024, 1024, true));
    }
}
