//! The structure of PNG files.

use crate::{MediaFormat, MediaRejection};

/// Ancillary chunks that affect rendering.
const RENDERING_CHUNKS: [&[u8; 4]; 15] = [
    b"acTL", b"bKGD", b"cHRM", b"cICP", b"cLLI", b"fcTL", b"fdAT", b"gAMA", b"hIST", b"iCCP", b"mDCV", b"pHYs",
    b"sBIT", b"sRGB", b"tRNS",
];

/// The parts that affect rendering, and the index among them at which an orientation may be
/// inserted. Trailing bytes are an error.
pub(crate) fn essential_parts(bytes: &[u8]) -> Result<(Vec<&[u8]>, usize), MediaRejection> {
    let truncated = || MediaRejection::Truncated(MediaFormat::Png);
    let (start, mut rest) = bytes.split_at_checked(8).ok_or_else(truncated)?;
    let mut parts = vec![start];
    loop {
        let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(truncated)?;
        let (kind, _) = tail.split_first_chunk::<4>().ok_or_else(truncated)?;
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            return Err(MediaRejection::Damaged(MediaFormat::Png));
        }
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        // The CRC follows; the decoder verifies it.
        let whole = rest.split_at_checked(length.saturating_add(12));
        let (chunk, after) = whole.ok_or_else(truncated)?;
        if kind.first().is_some_and(u8::is_ascii_uppercase) || RENDERING_CHUNKS.contains(&kind) {
            parts.push(chunk);
        }
        rest = after;
        if kind == b"IEND" {
            break;
        }
    }
    if rest.is_empty() { Ok((parts, 2)) } else { Err(MediaRejection::Trailing(MediaFormat::Png)) }
}

pub(crate) fn build_chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let named = [&kind[..], content].concat();
    let sum = named.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 })
    });
    [&length.to_be_bytes()[..], &named, &(!sum).to_be_bytes()].concat()
}
