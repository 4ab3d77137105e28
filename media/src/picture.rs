//! Pictures: measured, decoded within bounds and resized.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::sizes::{ImageSize, SIZES, SMALL};
use crate::{GIF_BYTES, IMAGE_BYTES, MediaFormat, MediaRejection, gif, jpeg, png, strip_metadata, webp};

/// In pixels.
const MAX_SIDE: u32 = 8192;
const MAX_DECODED_BYTES: u64 = 48 * 1024 * 1024;
/// A bound on pixels that keeps decoding within memory whatever the format needs besides its
/// output: a progressive JPEG holds six bytes of coefficients for each.
const MAX_PIXELS: u64 = 16 * 1024 * 1024;
const JPEG_QUALITY: u8 = 85;

#[derive(Clone, Debug)]
pub struct ImageProperties {
    pub format: MediaFormat,
    /// In pixels, after orientation.
    pub width: u32,
    /// In pixels, after orientation.
    pub height: u32,
    pub animated: bool,
    /// Of one pass through the frames; zero for a still picture.
    pub duration_ms: u64,
    pub sizes: Vec<ResizedImage>,
    /// The file without metadata; `None` if it has none.
    pub stripped: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
pub struct ResizedImage {
    pub size: ImageSize,
    pub format: MediaFormat,
    pub bytes: Vec<u8>,
}

/// Checks a picture's structure, then its header, then decodes it.
pub fn measure_image(bytes: &[u8]) -> Result<ImageProperties, MediaRejection> {
    let format = MediaFormat::sniff(bytes).filter(|format| format.is_image());
    let format = format.ok_or(MediaRejection::Unknown)?;
    let limit = if format == MediaFormat::Gif { GIF_BYTES } else { IMAGE_BYTES };
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(MediaRejection::TooLarge(limit));
    }
    let animation = match format {
        MediaFormat::Jpeg => jpeg::essential_parts(bytes).map(|_| None)?,
        MediaFormat::Png => png::essential_parts(bytes).map(|_| None)?,
        MediaFormat::WebP => webp::essential_parts(bytes).map(|_| None)?,
        _ => Some(gif::check(bytes)?),
    };
    let animation = animation.filter(|gif| gif.frames > 1);
    let (picture, orientation) = decode_image(bytes, format)?;
    let sizes = if animation.is_some() {
        // For still previews, the first frame represents the animation.
        vec![resize_image(&picture, SMALL, format)?]
    } else {
        resize_to_sizes(&picture, format)?
    };
    Ok(ImageProperties {
        format,
        width: picture.width(),
        height: picture.height(),
        animated: animation.is_some(),
        duration_ms: animation.map_or(0, |gif| gif.duration_ms),
        sizes,
        stripped: strip_metadata::strip_metadata(bytes, format, orientation)?,
    })
}

fn decode_image(bytes: &[u8], format: MediaFormat) -> Result<(DynamicImage, Orientation), MediaRejection> {
    let damaged = |_| MediaRejection::Damaged(format);
    let kind = match format {
        MediaFormat::Jpeg => ImageFormat::Jpeg,
        MediaFormat::Png => ImageFormat::Png,
        MediaFormat::WebP => ImageFormat::WebP,
        _ => ImageFormat::Gif,
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), kind);
    // The dimensions are checked below, so that the error can name them.
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
    let resized;
    let smaller = if picture.width().max(picture.height()) > size.max_side {
        resized = picture.thumbnail(size.max_side, size.max_side);
        &resized
    } else {
        picture
    };
    let has_alpha = smaller.color().has_alpha();
    let mut bytes = Vec::new();
    let written = if has_alpha {
        let encoder = PngEncoder::new(&mut bytes);
        smaller.to_rgba8().write_with_encoder(encoder)
    } else {
        let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
        smaller.to_rgb8().write_with_encoder(encoder)
    };
    written.map_err(|_| MediaRejection::Damaged(format))?;
    Ok(ResizedImage { size, format: if has_alpha { MediaFormat::Png } else { MediaFormat::Jpeg }, bytes })
}
