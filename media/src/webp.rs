//! The structure of WebP files.

use crate::{MediaFormat, MediaRejection};

const RENDERING_CHUNKS: [&[u8; 4]; 7] = [b"ALPH", b"ANIM", b"ANMF", b"ICCP", b"VP8 ", b"VP8L", b"VP8X"];
/// Offset of the flags in the first chunk of an extended file, which tell what other chunks there
/// are.
const FLAGS: usize = 20;
const EXIF: u8 = 0x08;
const XMP: u8 = 0x04;

/// The parts that affect rendering, and the index among them at which an orientation may be
/// inserted. The chunks must fill the container exactly, and the container the file.
pub(crate) fn essential_parts(bytes: &[u8]) -> Result<(Vec<&[u8]>, usize), MediaRejection> {
    let truncated = || MediaRejection::Truncated(MediaFormat::WebP);
    let size = bytes.get(4..).and_then(<[u8]>::first_chunk::<4>);
    let size = u32::from_le_bytes(*size.ok_or_else(truncated)?);
    let end = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(8);
    if end < bytes.len() {
        return Err(MediaRejection::Trailing(MediaFormat::WebP));
    }
    let whole = bytes.get(..end).ok_or_else(truncated)?;
    let (start, mut rest) = whole.split_at_checked(12).ok_or_else(truncated)?;
    let mut parts = vec![start];
    while !rest.is_empty() {
        let (kind, tail) = rest.split_first_chunk::<4>().ok_or_else(truncated)?;
        let size = u32::from_le_bytes(*tail.first_chunk::<4>().ok_or_else(truncated)?);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        // Chunks are padded to an even length.
        let padded = size.saturating_add(size % 2).saturating_add(8);
        let (chunk, after) = rest.split_at_checked(padded).ok_or_else(truncated)?;
        if RENDERING_CHUNKS.contains(&kind) {
            parts.push(chunk);
        }
        rest = after;
    }
    let end = parts.len();
    Ok((parts, end))
}

pub(crate) fn build_chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let padding: &[u8] = if content.len() % 2 == 1 { &[0] } else { &[] };
    [&kind[..], &size.to_le_bytes(), content, padding].concat()
}

pub(crate) fn update_header(mut bytes: Vec<u8>, has_exif: bool) -> Vec<u8> {
    let size = u32::try_from(bytes.len().saturating_sub(8)).unwrap_or(u32::MAX);
    if let Some(field) = bytes.get_mut(4..8) {
        field.copy_from_slice(&size.to_le_bytes());
    }
    let is_extended = bytes.get(12..16) == Some(b"VP8X".as_slice());
    if let Some(flags) = bytes.get_mut(FLAGS).filter(|_| is_extended) {
        *flags &= !(EXIF | XMP);
        *flags |= if has_exif { EXIF } else { 0 };
    }
    bytes
}
