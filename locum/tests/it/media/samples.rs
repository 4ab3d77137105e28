//! Small real files, made when they are needed.

use std::io::Cursor;

use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, Frame, ImageFormat, Rgb, RgbImage, RgbaImage};

fn picture(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let part = |value: u32| u8::try_from(value % 256).unwrap();
        Rgb([part(x), part(y), part(x + y)])
    })
}

pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = DynamicImage::from(picture(width, height));
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

pub(crate) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, 80);
    picture(width, height).write_with_encoder(encoder).unwrap();
    bytes
}

pub(crate) fn webp(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = DynamicImage::from(picture(width, height));
    picture.write_to(&mut bytes, ImageFormat::WebP).unwrap();
    bytes.into_inner()
}

pub(crate) fn gif(frames: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    for number in 0..frames {
        let colour = image::Rgba([number.wrapping_mul(90), 10, 200, 255]);
        let delay = image::Delay::from_numer_denom_ms(200, 1);
        let picture = RgbaImage::from_pixel(40, 30, colour);
        let frame = Frame::from_parts(picture, 0, 0, delay);
        encoder.encode_frame(frame).unwrap();
    }
    drop(encoder);
    bytes
}

/// A PNG file of a few bytes that says it is enormous.
pub(crate) fn bomb() -> Vec<u8> {
    let mut bytes = png(1, 1);
    bytes[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 })
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a name is written as b\"moov\"")]
fn boxed(name: &[u8; 4], inside: &[Vec<u8>]) -> Vec<u8> {
    let inside = inside.concat();
    let size = u32::try_from(inside.len() + 8).unwrap();
    [&size.to_be_bytes()[..], name, &inside].concat()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// What a film is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Film {
    pub(crate) width: u16,
    pub(crate) height: u16,
    pub(crate) duration_ms: u32,
    pub(crate) frames: u32,
    /// Bytes of its frames, all together.
    pub(crate) bytes: usize,
    /// By a quarter, as phones do with upright films.
    pub(crate) is_turned: bool,
    /// What the edit list shows; 0 without one.
    pub(crate) shown_ms: u32,
}

impl Default for Film {
    fn default() -> Self {
        Self { width: 64, height: 48, duration_ms: 1000, frames: 10, bytes: 500, is_turned: false, shown_ms: 0 }
    }
}

/// An MP4 file whose tables are right and whose frames are noise.
pub(crate) fn mp4(film: Film) -> Vec<u8> {
    let ftyp = boxed(b"ftyp", &[b"isom\0\0\x02\0isomavc1mp41".to_vec()]);
    let mut noise = vec![0_u8; film.bytes];
    for (place, byte) in noise.iter_mut().enumerate() {
        *byte = u8::try_from(place * 7 % 251).unwrap();
    }
    let mdat = boxed(b"mdat", &[noise]);
    let start = u32::try_from(ftyp.len() + 8).unwrap();
    [ftyp, mdat, movie(film, start)].concat()
}

fn movie(film: Film, start: u32) -> Vec<u8> {
    let matrix = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
    let length = film.duration_ms;
    let mut head = words(&[0, 0, 0, 1000, length, 0x1_0000, 0x0100_0000, 0, 0]);
    head.extend(words(&matrix));
    head.extend(words(&[0, 0, 0, 0, 0, 0, 2]));
    let mut track = words(&[3, 0, 0, 1, 0, length, 0, 0, 0, 0]);
    let turned = [0, 0x1_0000, 0, 0xffff_0000, 0, 0, 0, 0, 0x4000_0000];
    track.extend(words(if film.is_turned { &turned } else { &matrix }));
    let (wide, high) = (u32::from(film.width), u32::from(film.height));
    track.extend(words(&[wide << 16, high << 16]));
    let mdhd = [words(&[0, 0, 0, 1000, length]), vec![0x55, 0xc4, 0, 0]].concat();
    let hdlr = [words(&[0, 0]), b"vide".to_vec(), words(&[0, 0, 0]), vec![0]].concat();
    let mut entry = vec![0, 0, 0, 0, 0, 0, 0, 1];
    entry.extend([0; 16]);
    entry.extend(film.width.to_be_bytes());
    entry.extend(film.height.to_be_bytes());
    entry.extend(words(&[0x48_0000, 0x48_0000, 0]));
    entry.extend([0, 1]);
    entry.extend([0; 32]);
    entry.extend([0, 0x18, 0xff, 0xff]);
    let each = u32::try_from(film.bytes).unwrap() / film.frames;
    let tables = [
        boxed(b"stsd", &[words(&[0, 1]), boxed(b"mp4v", &[entry])]),
        boxed(b"stts", &[words(&[0, 1, film.frames, length / film.frames])]),
        boxed(b"stsc", &[words(&[0, 1, 1, film.frames, 1])]),
        boxed(b"stsz", &[words(&[0, each, film.frames])]),
        boxed(b"stco", &[words(&[0, 1, start])]),
    ];
    let minf = boxed(b"minf", &[boxed(b"vmhd", &[words(&[1, 0, 0])]), boxed(b"stbl", &tables)]);
    let mdia = boxed(b"mdia", &[boxed(b"mdhd", &[mdhd]), boxed(b"hdlr", &[hdlr]), minf]);
    let mut parts = vec![boxed(b"tkhd", &[track]), mdia];
    if film.shown_ms > 0 {
        parts.push(boxed(b"edts", &[boxed(b"elst", &[words(&[0, 1, film.shown_ms, 0, 0x1_0000])])]));
    }
    let trak = boxed(b"trak", &parts);
    boxed(b"moov", &[boxed(b"mvhd", &[head]), trak])
}
