//! Pictures: measured, decoded within bounds, made smaller.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::sizes::{SIZES, SMALL, Size};
use crate::{Format, GIF_BYTES, IMAGE_BYTES, Unfit, bare, gif, jpeg, png, webp};

/// Pixels of a side.
const SIDE: u32 = 8192;
/// Bytes that a decoded picture may take.
const DECODED: u64 = 48 * 1024 * 1024;
/// Pixels whose decoding stays within bounds whatever the format needs beside its output:
/// a progressive JPEG holds six bytes of coefficients for each.
const PIXELS: u64 = 16 * 1024 * 1024;
const QUALITY: u8 = 85;

/// What a picture turned out to be.
#[derive(Clone, Debug)]
pub struct Still {
    /// Its format.
    pub format: Format,
    /// Pixels, as it is to be seen.
    pub width: u32,
    /// Pixels, as it is to be seen.
    pub height: u32,
    /// Whether it moves.
    pub animated: bool,
    /// How long one round takes when it moves.
    pub duration_ms: u64,
    /// The same picture, smaller.
    pub sizes: Vec<Smaller>,
    /// The file without what else it told; none where it told nothing.
    pub bare: Option<Vec<u8>>,
}

/// A picture made smaller.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// Which size it is.
    pub size: Size,
    /// Its format.
    pub format: Format,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Measures a picture: its structure first, then what its header says, then its pixels.
pub fn measure_still(bytes: &[u8]) -> Result<Still, Unfit> {
    let format = Format::sniff(bytes).filter(|format| format.is_image());
    let format = format.ok_or(Unfit::Unknown)?;
    let limit = if format == Format::Gif {
        GIF_BYTES
    } else {
        IMAGE_BYTES
    };
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(Unfit::TooLarge(limit));
    }
    let moves = match format {
        Format::Jpeg => jpeg::check(bytes).map(|()| None)?,
        Format::Png => png::check(bytes).map(|()| None)?,
        Format::WebP => webp::check(bytes).map(|()| None)?,
        _ => Some(gif::check(bytes)?),
    };
    let moves = moves.filter(|gif| gif.frames > 1);
    let (picture, orientation) = decode(bytes, format)?;
    let sizes = if moves.is_some() {
        // The first of its pictures stands for it where it does not move.
        vec![sized(&picture, SMALL, format)?]
    } else {
        smaller(&picture, format)?
    };
    Ok(Still {
        format,
        width: picture.width(),
        height: picture.height(),
        animated: moves.is_some(),
        duration_ms: moves.map_or(0, |gif| gif.duration_ms),
        sizes,
        bare: bare::bare(bytes, format, orientation)?,
    })
}

/// The picture as it is to be seen, and how it was turned for that.
fn decode(bytes: &[u8], format: Format) -> Result<(DynamicImage, Orientation), Unfit> {
    let damaged = |_| Unfit::Damaged(format);
    let kind = match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        _ => ImageFormat::Gif,
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), kind);
    // What it says of its size is looked at below, so that the refusal can name it.
    reader.no_limits();
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let fits = width <= SIDE && height <= SIDE && pixels <= PIXELS;
    if !fits || decoder.total_bytes() > DECODED {
        return Err(Unfit::TooManyPixels { width, height });
    }
    if pixels == 0 {
        return Err(Unfit::Damaged(format));
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED * 2);
    decoder.set_limits(limits).map_err(damaged)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    Ok((picture, orientation))
}

fn smaller(picture: &DynamicImage, format: Format) -> Result<Vec<Smaller>, Unfit> {
    let longer = picture.width().max(picture.height());
    let wanted = SIZES.into_iter().filter(|size| size.side < longer);
    wanted.map(|size| sized(picture, size, format)).collect()
}

fn sized(picture: &DynamicImage, size: Size, format: Format) -> Result<Smaller, Unfit> {
    let made;
    let smaller = if picture.width().max(picture.height()) > size.side {
        made = picture.thumbnail(size.side, size.side);
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
        let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
        smaller.to_rgb8().write_with_encoder(encoder)
    };
    written.map_err(|_| Unfit::Damaged(format))?;
    Ok(Smaller {
        size,
        format: if clear { Format::Png } else { Format::Jpeg },
        bytes,
    })
}
