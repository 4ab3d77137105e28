//! Pictures: measured, decoded within bounds and resized.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::error::ImageError;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, ImageResult, Limits};

use crate::sizes::{ImageSize, SIZES, SMALL};
use crate::{IMAGE_BYTES, MediaFormat, MediaRejection, gif, jpeg, png, strip_metadata, webp};

/// In pixels.
const MAX_SIDE: u32 = 8192;
/// Memory for the decoded pixels and what is needed besides them: with the file itself, measuring a
/// picture takes 64 MiB at most.
const MAX_DECODED_BYTES: u64 = 59 * 1024 * 1024;
const JPEG_QUALITY: u8 = 85;
/// Of all frames of an animated picture together, which is converted to a video in proportion.
const MAX_ANIMATED_PIXELS: u64 = 300_000_000;
/// As many pixels as a smaller frame counts for, because of what each frame costs.
const LEAST_FRAME_PIXELS: u64 = 100_000;

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
    let limit = format.byte_limit();
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
    let DecodedImage { picture, orientation, profile } = match format {
        MediaFormat::Png => decode_image(&png::decodable_file(bytes)?, format)?,
        _ => decode_image(bytes, format)?,
    };
    let (width, height) = if swaps_sides(orientation) {
        (picture.height(), picture.width())
    } else {
        (picture.width(), picture.height())
    };
    if let Some(frames) = animation.map(|gif| gif.frames)
        && (u64::from(width) * u64::from(height)).max(LEAST_FRAME_PIXELS) * u64::from(frames) > MAX_ANIMATED_PIXELS
    {
        return Err(MediaRejection::TooManyFrames { width, height, frames });
    }
    let wanted: Vec<ImageSize> = if animation.is_some() {
        // For still previews, the first frame represents the animation.
        vec![SMALL]
    } else {
        // A GIF may become an animation of one frame, which has a still as well.
        let has_small = |size: &ImageSize| format == MediaFormat::Gif && size.name == SMALL.name;
        SIZES.into_iter().filter(|size| size.max_side < width.max(height) || has_small(size)).collect()
    };
    let sizes = resize_to_sizes(picture, orientation, &wanted, (profile.as_deref(), format))?;
    Ok(ImageProperties {
        format,
        width,
        height,
        animated: animation.is_some(),
        duration_ms: animation.map_or(0, |gif| gif.duration_ms),
        sizes,
        stripped: strip_metadata::strip_metadata(bytes, format, orientation)?,
    })
}

/// A still picture before it is turned, within the bounds of [`measure_image`].
pub(crate) fn decode_picture(bytes: &[u8]) -> Result<(DecodedImage, MediaFormat), MediaRejection> {
    let format = MediaFormat::sniff(bytes).filter(|format| format.is_image()).ok_or(MediaRejection::Unknown)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > IMAGE_BYTES {
        return Err(MediaRejection::TooLarge(IMAGE_BYTES));
    }
    let decoded = match format {
        MediaFormat::Png => decode_image(&png::decodable_file(bytes)?, format)?,
        _ => decode_image(bytes, format)?,
    };
    Ok((decoded, format))
}

/// Width and height in pixels, from the beginning of a file; `None` if it is not enough.
pub fn read_image_dimensions(start: &[u8]) -> Option<(u32, u32)> {
    let kind = match MediaFormat::sniff(start)? {
        MediaFormat::Jpeg => ImageFormat::Jpeg,
        MediaFormat::Png => ImageFormat::Png,
        MediaFormat::WebP => ImageFormat::WebP,
        MediaFormat::Gif => ImageFormat::Gif,
        MediaFormat::Mp4 | MediaFormat::Vtt | MediaFormat::Srt => return None,
    };
    ImageReader::with_format(Cursor::new(start), kind).into_dimensions().ok()
}

const fn swaps_sides(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

/// Larger ones are for printers.
const MAX_PROFILE_BYTES: usize = 128 * 1024;

pub(crate) struct DecodedImage {
    pub(crate) picture: DynamicImage,
    pub(crate) orientation: Orientation,
    /// What its colours mean (ICC), unless they are sRGB or were converted to RGB.
    pub(crate) profile: Option<Vec<u8>>,
}

fn decode_image(bytes: &[u8], format: MediaFormat) -> Result<DecodedImage, MediaRejection> {
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
    let working_bytes = pixels.saturating_mul(working_bytes_per_pixel(bytes, format));
    let resized_bytes = resized_bytes(decoder.total_bytes(), width.max(height));
    let memory = decoder.total_bytes().saturating_add(working_bytes.max(resized_bytes));
    if width > MAX_SIDE || height > MAX_SIDE || memory > MAX_DECODED_BYTES {
        return Err(MediaRejection::TooManyPixels { width, height });
    }
    if pixels == 0 {
        return Err(MediaRejection::Damaged(format));
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    decoder.set_limits(limits).map_err(damaged)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let is_kept = |profile: &Vec<u8>| profile.len() <= MAX_PROFILE_BYTES && profile.get(16..20) == Some(b"RGB ");
    let profile = decoder.icc_profile().unwrap_or_default().filter(is_kept);
    Ok(DecodedImage { picture: DynamicImage::from_decoder(decoder).map_err(damaged)?, orientation, profile })
}

/// The largest of the sizes, which is made while the whole picture is in memory.
fn resized_bytes(decoded_bytes: u64, longer_side: u32) -> u64 {
    let largest = SIZES.into_iter().filter(|size| size.max_side < longer_side).map(|size| size.max_side).max();
    let (largest, longer) = (u128::from(largest.unwrap_or(0)), u128::from(longer_side.max(1)));
    let resized = u128::from(decoded_bytes) * largest * largest / (longer * longer);
    u64::try_from(resized).unwrap_or(u64::MAX)
}

/// What the decoder holds for each pixel besides its output.
fn working_bytes_per_pixel(bytes: &[u8], format: MediaFormat) -> u64 {
    match format {
        MediaFormat::Jpeg => jpeg::coefficient_bytes_per_pixel(bytes),
        // The frame before it is converted or laid over the canvas.
        MediaFormat::WebP | MediaFormat::Gif => 4,
        _ => 0,
    }
}

/// From `sizes`, smallest first. Each is made from the next larger one, so that the whole picture can be
/// dropped, and turned when it is small.
fn resize_to_sizes(
    picture: DynamicImage,
    orientation: Orientation,
    sizes: &[ImageSize],
    source: (Option<&[u8]>, MediaFormat),
) -> Result<Vec<ResizedImage>, MediaRejection> {
    let (mut smaller, mut orientation) = (picture, Some(orientation));
    let mut resized = Vec::with_capacity(sizes.len());
    for size in sizes.iter().rev() {
        if smaller.width().max(smaller.height()) > size.max_side {
            smaller = smaller.thumbnail(size.max_side, size.max_side);
        }
        if let Some(orientation) = orientation.take() {
            smaller.apply_orientation(orientation);
            smaller =
                if smaller.color().has_alpha() { smaller.into_rgba8().into() } else { smaller.into_rgb8().into() };
        }
        let (format, bytes) = encode_picture(&smaller, source)?;
        resized.push(ResizedImage { size: *size, format, bytes });
    }
    resized.reverse();
    Ok(resized)
}

/// As JPEG, or as PNG if it may be transparent; `profile` and `format` are those of the file that it was made from.
pub(crate) fn encode_picture(
    picture: &DynamicImage,
    (profile, format): (Option<&[u8]>, MediaFormat),
) -> Result<(MediaFormat, Vec<u8>), MediaRejection> {
    let mut bytes = Vec::new();
    let (written, encoded) = if picture.color().has_alpha() {
        (write_picture(picture, profile, PngEncoder::new(&mut bytes)), MediaFormat::Png)
    } else {
        let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
        (write_picture(picture, profile, encoder), MediaFormat::Jpeg)
    };
    written.map_err(|_| MediaRejection::Damaged(format))?;
    Ok((encoded, bytes))
}

fn write_picture(picture: &DynamicImage, profile: Option<&[u8]>, mut encoder: impl ImageEncoder) -> ImageResult<()> {
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile.to_vec()).map_err(ImageError::Unsupported)?;
    }
    picture.write_with_encoder(encoder)
}
