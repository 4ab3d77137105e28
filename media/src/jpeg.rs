//! The structure of JPEG files.

use crate::{MediaFormat, MediaRejection};

const START: u8 = 0xd8;
const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
/// The sixteen application segments.
const FIRST_APP_MARKER: u8 = 0xe0;
const LAST_APP_MARKER: u8 = 0xef;
const COMMENT: u8 = 0xfe;

/// The parts that affect rendering, and the index among them at which an orientation may be
/// inserted. What follows the end of the picture (previews, depth maps and films of cameras) is
/// left out.
pub(crate) fn essential_parts(bytes: &[u8]) -> Result<(Vec<&[u8]>, usize), MediaRejection> {
    let truncated = || MediaRejection::Truncated(MediaFormat::Jpeg);
    let (start, mut rest) = bytes.split_at_checked(2).ok_or_else(truncated)?;
    let (mut parts, mut orientation_index) = (vec![start], 1);
    let mut scanned = false;
    loop {
        let (marker, content, after) = read_segment(rest)?;
        match marker {
            END if scanned => {}
            END | START | 0 => return Err(MediaRejection::Damaged(MediaFormat::Jpeg)),
            _ => scanned |= marker == SCAN,
        }
        let length = rest.len().saturating_sub(after.len());
        let part = rest.get(..length).ok_or_else(truncated)?;
        if affects_rendering(marker, content) {
            parts.push(part);
            if marker == FIRST_APP_MARKER && parts.len() == 2 {
                orientation_index = 2;
            }
        }
        if marker == END {
            return Ok((parts, orientation_index));
        }
        rest = after;
    }
}

/// The decoder holds the coefficients of all samples until the last scan of a picture that has
/// several, as progressive ones do.
pub(crate) fn coefficient_bytes_per_pixel(bytes: &[u8]) -> u64 {
    let (mut rest, mut scans, mut is_progressive, mut samples) = (bytes.get(2..).unwrap_or_default(), 0, false, 4);
    while let Ok((marker, content, after)) = read_segment(rest) {
        match marker {
            END => break,
            SCAN => scans += 1,
            // Huffman tables, a reserved marker and arithmetic tables.
            0xc4 | 0xc8 | 0xcc => {}
            0xc0..=0xcf => (is_progressive, samples) = (marker & 3 == 2, samples_per_pixel(content)),
            _ => {}
        }
        rest = after;
    }
    if is_progressive || scans > 1 { samples * 2 } else { 0 }
}

/// Rounded up; four if the frame header is damaged.
fn samples_per_pixel(frame: &[u8]) -> u64 {
    let factors = frame.get(6..).unwrap_or_default().chunks_exact(3).filter_map(|component| component.get(1));
    let factors: Vec<(u64, u64)> = factors.map(|both| (u64::from(both >> 4), u64::from(both & 15))).collect();
    let largest = factors.iter().map(|(across, _)| across).max().zip(factors.iter().map(|(_, down)| down).max());
    match largest {
        Some((across, down)) if across * down > 0 => {
            factors.iter().map(|(across, down)| across * down).sum::<u64>().div_ceil(across * down)
        }
        _ => 4,
    }
}

fn affects_rendering(marker: u8, content: &[u8]) -> bool {
    match marker {
        FIRST_APP_MARKER => content.starts_with(b"JFIF\0"),
        0xe2 => content.starts_with(b"ICC_PROFILE\0"),
        0xee => content.starts_with(b"Adobe"),
        FIRST_APP_MARKER..=LAST_APP_MARKER | COMMENT => false,
        _ => true,
    }
}

/// The marker and content of the first segment, and the bytes after it. The coded data of a scan
/// belong to its segment.
fn read_segment(bytes: &[u8]) -> Result<(u8, &[u8], &[u8]), MediaRejection> {
    let truncated = || MediaRejection::Truncated(MediaFormat::Jpeg);
    let (sign, tail) = bytes.split_first().ok_or_else(truncated)?;
    if *sign != 0xff {
        return Err(MediaRejection::Damaged(MediaFormat::Jpeg));
    }
    let fill = tail.iter().take_while(|byte| **byte == 0xff).count();
    let tail = tail.get(fill..).and_then(<[u8]>::split_first);
    let (marker, tail) = tail.ok_or_else(truncated)?;
    if matches!(*marker, 0 | 1 | 0xd0..=END) {
        return Ok((*marker, &[], tail));
    }
    let (length, _) = tail.split_first_chunk::<2>().ok_or_else(truncated)?;
    let length = usize::from(u16::from_be_bytes(*length)).max(2);
    let content = tail.get(2..length).ok_or_else(truncated)?;
    let after = tail.get(length..).ok_or_else(truncated)?;
    let after = if *marker == SCAN { skip_scan_data(after).ok_or_else(truncated)? } else { after };
    Ok((*marker, content, after))
}

/// The bytes from the next marker that is not part of the coded data.
fn skip_scan_data(bytes: &[u8]) -> Option<&[u8]> {
    let mut pairs = bytes.windows(2);
    let marker = pairs.position(|pair| matches!(pair, [0xff, next] if !matches!(next, 0 | 0xd0..=0xd7 | 0xff)))?;
    bytes.get(marker..)
}

pub(crate) fn exif_segment(exif: &[u8]) -> Vec<u8> {
    let length = u16::try_from(exif.len() + 8).unwrap_or(u16::MAX);
    let length = length.to_be_bytes();
    [&[0xff, 0xe1][..], &length, b"Exif\0\0", exif].concat()
}
