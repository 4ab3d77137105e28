//! Memory and time that measuring a hostile file takes (security G12).

use std::io::{Cursor, Write};
use std::time::Duration;

use cpu_time::ThreadTime;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::{DynamicImage, ImageFormat};
use jpeg_encoder::{ColorType, Encoder};
use media::{MediaRejection, measure_image, measure_video};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MEBIBYTE: usize = 1024 * 1024;
const MEMORY_LIMIT: usize = 64 * MEBIBYTE;
/// How many times as long as the largest ordinary picture a file may take: seconds differ from machine to machine.
const TIME_LIMIT_RATIO: u32 = 3;

fn zlib(content: &[u8], repeats: usize) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..repeats {
        encoder.write_all(content).unwrap();
    }
    encoder.finish().unwrap()
}

fn zlib_bomb() -> Vec<u8> {
    zlib(&vec![0; MEBIBYTE], 128)
}

fn png_chunk(kind: &[u8], content: &[u8]) -> Vec<u8> {
    let named = [kind, content].concat();
    let length = u32::try_from(content.len()).unwrap();
    let mut checksum = flate2::Crc::new();
    checksum.update(&named);
    [&length.to_be_bytes()[..], &named, &checksum.sum().to_be_bytes()].concat()
}

/// A small PNG with one more chunk behind its header.
fn png_with_chunk(kind: &[u8], content: &[u8]) -> Vec<u8> {
    let plain = encode(&DynamicImage::new_rgb8(8, 8), ImageFormat::Png);
    let (head, rest) = plain.split_at(33);
    [head, &png_chunk(kind, content), rest].concat()
}

fn encode(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn progressive_jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 50);
    encoder.set_progressive(true);
    encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::F_1_1);
    let pixels = vec![7; usize::from(width) * usize::from(height) * 3];
    encoder.encode(&pixels, width, height, ColorType::Rgb).unwrap();
    bytes
}

/// A baseline JPEG whose orientation swaps the sides.
fn rotated_jpeg(width: u32, height: u32) -> Vec<u8> {
    let plain = encode(&DynamicImage::new_rgb8(width, height), ImageFormat::Jpeg);
    let exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let (head, rest) = plain.split_at(20);
    [head, &[0xff, 0xe1], &length, exif, rest].concat()
}

/// The same full-size frame many times.
fn gif_of_frames(side: u32, frames: usize) -> Vec<u8> {
    let one = encode(&DynamicImage::new_rgba8(side, side), ImageFormat::Gif);
    let end = one.len() - 1;
    let start = one.windows(2).position(|pair| pair == [0x21, 0xf9]).unwrap();
    [&one[..start], &one[start..end].repeat(frames), &[0x3b]].concat()
}

/// The header of a PNG claims more pixels than there are.
fn png_of_claimed_size(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let data = zlib(&[0; 64], 1);
    [&b"\x89PNG\r\n\x1a\n"[..], &png_chunk(b"IHDR", &header), &png_chunk(b"IDAT", &data), &png_chunk(b"IEND", b"")]
        .concat()
}

fn mp4_box(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 8).unwrap();
    [&length.to_be_bytes()[..], &kind, content].concat()
}

/// A video whose tables are `tables`, in a track that is otherwise in order.
fn mp4_with_tables(tables: &[u8]) -> Vec<u8> {
    let handler = mp4_box(*b"hdlr", &[&[0; 8][..], b"vide", &[0; 13]].concat());
    let header = mp4_box(*b"tkhd", &[0; 84]);
    let times = mp4_box(*b"mdhd", &[&[0; 12][..], &1000_u32.to_be_bytes(), &[0; 8]].concat());
    let tables = mp4_box(*b"stbl", tables);
    let media = mp4_box(*b"mdia", &[times, handler, mp4_box(*b"minf", &tables)].concat());
    let track = mp4_box(*b"trak", &[header, media].concat());
    mp4_of_movie(&track)
}

fn mp4_of_movie(movie: &[u8]) -> Vec<u8> {
    [mp4_box(*b"ftyp", b"isom\0\0\0\0"), mp4_box(*b"moov", movie), mp4_box(*b"mdat", &[0; 8])].concat()
}

/// A table that claims four thousand million entries and has as many as fit in `length` bytes.
fn mp4_table(kind: [u8; 4], length: usize) -> Vec<u8> {
    mp4_box(kind, &[&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff][..], &vec![1; length]].concat())
}

fn hostile_pictures() -> Vec<(&'static str, Vec<u8>)> {
    let bomb = zlib_bomb();
    let profile = [&b"icc\0\0"[..], &bomb].concat();
    let text = [&b"Comment\0\0"[..], &bomb].concat();
    let international = [&b"Comment\0\x01\0\0\0"[..], &bomb].concat();
    vec![
        ("PNG, iCCP bomb", png_with_chunk(b"iCCP", &profile)),
        ("PNG, zTXt bomb", png_with_chunk(b"zTXt", &text)),
        ("PNG, iTXt bomb", png_with_chunk(b"iTXt", &international)),
        ("PNG, large eXIf", png_with_chunk(b"eXIf", &vec![0xff; 4 * MEBIBYTE])),
        ("PNG, claimed dimensions", png_of_claimed_size(u32::MAX >> 1, u32::MAX >> 1)),
        ("PNG, claimed pixels", png_of_claimed_size(4096, 4096)),
        ("PNG, 4096x4096", encode(&DynamicImage::new_rgb8(4096, 4096), ImageFormat::Png)),
        ("PNG, 4000x4000", encode(&DynamicImage::new_rgb8(4000, 4000), ImageFormat::Png)),
        ("PNG, 8192x2048 grey", encode(&DynamicImage::new_luma8(8192, 2048), ImageFormat::Png)),
        ("PNG, 2500x2500 of 64 bits", encode(&DynamicImage::new_rgba16(2500, 2500), ImageFormat::Png)),
        ("PNG, 2048x2048 of 64 bits", encode(&DynamicImage::new_rgba16(2048, 2048), ImageFormat::Png)),
        ("JPEG, 8192x2048 rotated", rotated_jpeg(8192, 2048)),
        ("JPEG, 3000x3000 progressive", progressive_jpeg(3000, 3000)),
        ("JPEG, 3000x2000 progressive", progressive_jpeg(3000, 2000)),
        ("WebP, 3000x3000", encode(&DynamicImage::new_rgb8(3000, 3000), ImageFormat::WebP)),
        ("WebP, 2900x2900", encode(&DynamicImage::new_rgb8(2900, 2900), ImageFormat::WebP)),
        ("WebP, 2700x2700 with alpha", encode(&DynamicImage::new_rgba8(2700, 2700), ImageFormat::WebP)),
        ("GIF, 2900x2900", gif_of_frames(2900, 1)),
        ("GIF, 2600x2600, 200 frames", gif_of_frames(2600, 200)),
        ("GIF, 8x8, 200,000 frames", gif_of_frames(8, 200_000)),
    ]
}

fn hostile_videos() -> Vec<(&'static str, Vec<u8>)> {
    let absurd = [*b"stts", *b"stsz", *b"stco"].map(|kind| mp4_table(kind, 2 * MEBIBYTE)).concat();
    vec![
        ("MP4, absurd tables", mp4_with_tables(&absurd)),
        ("MP4, a million boxes", mp4_of_movie(&mp4_box(*b"free", b"").repeat(MEBIBYTE))),
        ("MP4, nested boxes", mp4_with_tables(&mp4_box(*b"stbl", &mp4_box(*b"stts", b"")).repeat(200_000))),
        ("MP4, many fragments", {
            let run = mp4_box(*b"traf", &mp4_table(*b"trun", MEBIBYTE));
            [mp4_with_tables(b""), mp4_box(*b"moof", &run).repeat(8)].concat()
        }),
    ]
}

fn assert_bounded(name: &str, time_limit: Duration, action: impl FnOnce() -> String) {
    let at_rest = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let started = ThreadTime::now();
    let outcome = action();
    let (time, memory) = (started.elapsed(), ALLOCATOR.peak_usage().saturating_sub(at_rest));
    println!("{name}: {} MiB, {} ms, {outcome}", memory / MEBIBYTE, time.as_millis());
    assert!(memory <= MEMORY_LIMIT, "{name}: {memory} bytes of memory");
    assert!(time <= time_limit, "{name}: {time:?}");
}

fn measure_largest_picture() -> Duration {
    let picture = encode(&DynamicImage::new_rgb8(4000, 4000), ImageFormat::Png);
    let started = ThreadTime::now();
    measure_image(&picture).unwrap();
    started.elapsed()
}

/// One test, because the allocator counts for the whole process.
#[test]
fn measuring_a_hostile_file_stays_within_memory_and_time() {
    let time_limit = measure_largest_picture() * TIME_LIMIT_RATIO;
    for (name, bytes) in hostile_pictures() {
        assert_bounded(name, time_limit, || match measure_image(&bytes) {
            Ok(image) => format!("{}x{}", image.width, image.height),
            Err(rejection) => rejection.to_string(),
        });
    }
    let error = measure_image(&gif_of_frames(8, 3_001)).unwrap_err();
    assert_eq!(error, MediaRejection::TooManyFrames { width: 8, height: 8, frames: 3_001 });
    assert!(measure_image(&gif_of_frames(8, 3_000)).unwrap().animated);
    for (name, bytes) in hostile_videos() {
        let size = u64::try_from(bytes.len()).unwrap();
        assert_bounded(name, time_limit, || match measure_video(Cursor::new(&bytes), size) {
            Ok(video) => format!("{} ms", video.duration_ms),
            Err(rejection) => rejection.to_string(),
        });
    }
}
