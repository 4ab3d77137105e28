//! Pictures: measured, decoded within bounds, made smaller.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::sizes::{ImageSize, SIZES, SMALL};
use crate::{GIF_BYTES, IMAGE_BYTES, MediaFormat, MediaRejection, gif, jpeg, png, strip_metadata, webp};

/// Pixels of a side.
const MAX_SIDE: u32 = 8192;
/// Bytes that a decoded picture may take.
const MAX_DECODED_BYTES: u64 = 48 * 1024 * 1024;
/// Pixels whose decoding stays within bounds whatever the format needs beside its output:
/// a progressive JPEG holds six bytes of coefficients for each.
const MAX_PIXELS: u64 = 16 * 1024 * 1024;
const JPEG_QUALITY: u8 = 85;

/// What a picture turned out to be.
#[derive(Clone, Debug)]
pub struct ImageProperties {
    /// Its format.
    pub format: MediaFormat,
    /// Pixels, as it is to be seen.
    pub width: u32,
    /// Pixels, as it is to be seen.
    pub height: u32,
    /// Whether it moves.
    pub animated: bool,
    /// How long one round takes when it moves.
    pub duration_ms: u64,
    /// The same picture, smaller.
    pub sizes: Vec<ResizedImage>,
    /// The file without what else it told; none where it told nothing.
    pub stripped: Option<Vec<u8>>,
}

/// A picture made smaller.
#[derive(Clone, Debug)]
pub struct ResizedImage {
    /// Which size it is.
    pub size: ImageSize,
    /// Its format.
    pub format: MediaFormat,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Measures a picture: its structure first, then what its header says, then its pixels.
pub fn measure_image(bytes: &[u8]) -> Result<ImageProperties, MediaRejection> {
    let format = MediaFormat::sniff(bytes).filter(|format| format.is_image());
    let format = format.ok_or(MediaRejection::Unknown)?;
    let limit = if format == MediaFormat::Gif {
        GIF_BYTES
    } else {
        IMAGE_BYTES
    };
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(MediaRejection::TooLarge(limit));
    }
    let moves = match format {
        MediaFormat::Jpeg => jpeg::check(bytes).map(|()| None)?,
        MediaFormat::Png => png::check(bytes).map(|()| None)?,
        MediaFormat::WebP => webp::check(bytes).map(|()| None)?,
        _ => Some(gif::check(bytes)?),
    };
    let moves = moves.filter(|gif| gif.frames > 1);
    let (picture, orientation) = decode_image(bytes, format)?;
    let sizes = if moves.is_some() {
        // The first of its pictures stands for it where it does not move.
        vec![resize_image(&picture, SMALL, format)?]
    } else {
        resize_to_sizes(&picture, format)?
    };
    Ok(ImageProperties {
        format,
        width: picture.width(),
        height: picture.height(),
        animated: moves.is_some(),
        duration_ms: moves.map_or(0, |gif| gif.duration_ms),
        sizes,
        stripped: strip_metadata::strip_metadata(bytes, format, orientation)?,
    })
}

/// The picture as it is to be seen, and how it was turned for that.
fn decode_image(bytes: &[u8], format: MediaFormat) -> Result<(DynamicImage, Orientation), MediaRejection> {
    let damaged = |_| MediaRejection::Damaged(format);
    let kind = match format {
        MediaFormat::Jpeg => ImageFormat::Jpeg,
        MediaFormat::Png => ImageFormat::Png,
        MediaFormat::WebP => ImageFormat::WebP,
        _ => ImageFormat::Gif,
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), kind);
    // What it says of its size is looked at below, so that the refusal can name it.
    reader.no_limits();
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let fits = width <= MAX_SIDE && height <= MAX_SIDE && pixels <= MAX_PIXELS;
    if !fits || decoder.total_bytes() > MAX_DECODED_BYTES {
        return Err(MediaRejection::TooManyPixels { width, height });
    }
    if pixels == 0 {
        return Err(MediaRejection::Damaged(format));
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES * 2);
    decoder.set_limits(limits).map_err(damaged)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    Ok((picture, orientation))
}

fn resize_to_sizes(picture: &DynamicImage, format: MediaFormat) -> Result<Vec<ResizedImage>, MediaRejection> {
    let longer = picture.width().max(picture.height());
    let wanted = SIZES.into_iter().filter(|size| size.max_side < longer);
    wanted.map(|size| resize_image(picture, size, format)).collect()
}

fn resize_image(picture: &DynamicImage, size: ImageSize, format: MediaFormat) -> Result<ResizedImage, MediaRejection> {
    let made;
    let smaller = if picture.width().max(picture.height()) > size.max_side {
        made = picture.thumbnail(size.max_side, size.max_side);
        &made
    } else {
        picture
    };
    let clear = smaller.color().has_alpha();
    let mut bytes = Vec::new();
    let written = if clear {
        let encoder = PngEncoder::new(&mut bytes);
        smaller.to_rgba8().write_with_encoder(encoder)
    } else {
        let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
        smaller.to_rgb8().write_with_encoder(encoder)
    };
    written.map_err(|_| MediaRejection::Damaged(format))?;
    Ok(ResizedImage {
        size,
        format: if clear { MediaFormat::Png } else { MediaFormat::Jpeg },
        bytes,
    })
}
