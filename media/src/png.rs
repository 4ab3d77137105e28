//! The structure of PNG files.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::{MediaFormat, MediaRejection};

/// A colour profile that unpacks to more is left out.
const MAX_PROFILE_BYTES: u64 = 4 * 1024 * 1024;
const MAX_EXIF_BYTES: usize = 64 * 1024;

/// Ancillary chunks that affect rendering.
const RENDERING_CHUNKS: [&[u8; 4]; 15] = [
    b"acTL", b"bKGD", b"cHRM", b"cICP", b"cLLI", b"fcTL", b"fdAT", b"gAMA", b"hIST", b"iCCP", b"mDCV", b"pHYs",
    b"sBIT", b"sRGB", b"tRNS",
];

/// What the pixels are decoded from, besides their orientation and colour profile. The decoder would unpack any other
/// compressed chunk in full before it looks at a limit.
const DECODED_CHUNKS: [&[u8; 4]; 5] = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"];

/// The parts that affect rendering, and the index among them at which an orientation may be
/// inserted. Trailing bytes are an error.
pub(crate) fn essential_parts(bytes: &[u8]) -> Result<(Vec<&[u8]>, usize), MediaRejection> {
    let affects_rendering = |chunk: &Chunk<'_>| match chunk.kind {
        b"iCCP" => has_bounded_profile(chunk),
        kind => kind.first().is_some_and(u8::is_ascii_uppercase) || RENDERING_CHUNKS.contains(&kind),
    };
    Ok((select_parts(bytes, affects_rendering)?, 2))
}

/// The file with nothing but what the pixels, their orientation and their colours are decoded from.
pub(crate) fn decodable_file(bytes: &[u8]) -> Result<Vec<u8>, MediaRejection> {
    let is_decoded = |chunk: &Chunk<'_>| match chunk.kind {
        b"eXIf" => chunk.whole.len() <= MAX_EXIF_BYTES,
        b"iCCP" => has_bounded_profile(chunk),
        kind => DECODED_CHUNKS.contains(&kind),
    };
    Ok(select_parts(bytes, is_decoded)?.concat())
}

struct Chunk<'a> {
    kind: &'a [u8; 4],
    /// With length, kind and checksum.
    whole: &'a [u8],
}

/// The signature and the chunks that `is_selected` accepts.
fn select_parts<'a>(
    bytes: &'a [u8],
    is_selected: impl Fn(&Chunk<'a>) -> bool,
) -> Result<Vec<&'a [u8]>, MediaRejection> {
    let truncated = || MediaRejection::Truncated(MediaFormat::Png);
    let (signature, mut rest) = bytes.split_at_checked(8).ok_or_else(truncated)?;
    let mut parts = vec![signature];
    loop {
        let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(truncated)?;
        let (kind, _) = tail.split_first_chunk::<4>().ok_or_else(truncated)?;
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            return Err(MediaRejection::Damaged(MediaFormat::Png));
        }
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        // The CRC follows; the decoder verifies it.
        let (whole, after) = rest.split_at_checked(length.saturating_add(12)).ok_or_else(truncated)?;
        if is_selected(&Chunk { kind, whole }) {
            parts.push(whole);
        }
        rest = after;
        if kind == b"IEND" {
            break;
        }
    }
    if rest.is_empty() { Ok(parts) } else { Err(MediaRejection::Trailing(MediaFormat::Png)) }
}

/// Whether a colour profile unpacks, and to a size that every viewer can afford.
fn has_bounded_profile(chunk: &Chunk<'_>) -> bool {
    let content = chunk.whole.get(8..chunk.whole.len().saturating_sub(4)).unwrap_or_default();
    // A name, its end, and the compression method, of which there is one.
    let name = content.iter().position(|byte| *byte == 0);
    let packed = name.and_then(|end| content.get(end.saturating_add(2)..)).unwrap_or_default();
    let mut unpacked = ZlibDecoder::new(packed).take(MAX_PROFILE_BYTES + 1);
    std::io::copy(&mut unpacked, &mut std::io::sink()).is_ok_and(|length| (1..=MAX_PROFILE_BYTES).contains(&length))
}

pub(crate) fn build_chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let named = [&kind[..], content].concat();
    let sum = named.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 })
    });
    [&length.to_be_bytes()[..], &named, &(!sum).to_be_bytes()].concat()
}
