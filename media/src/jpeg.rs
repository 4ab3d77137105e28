//! The segments of a JPEG file.

use crate::{Format, Unfit};

const START: u8 = 0xd8;
const END: u8 = 0xd9;
const SCAN: u8 = 0xda;

/// Walks to the end of the picture. Cameras put further pictures behind the first (a preview, a
/// depth map); nothing else may come there but zeros.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Unfit> {
    let mut rest = picture(bytes)?;
    while rest.starts_with(&[0xff, START, 0xff]) {
        rest = picture(rest)?;
    }
    if rest.iter().all(|byte| *byte == 0) {
        Ok(())
    } else {
        Err(Unfit::Trailing(Format::Jpeg))
    }
}

/// What comes behind a picture.
fn picture(bytes: &[u8]) -> Result<&[u8], Unfit> {
    let cut = || Unfit::Truncated(Format::Jpeg);
    let mut rest = bytes.get(2..).ok_or_else(cut)?;
    let mut scanned = false;
    loop {
        let (sign, tail) = rest.split_first().ok_or_else(cut)?;
        if *sign != 0xff {
            return Err(Unfit::Damaged(Format::Jpeg));
        }
        let fill = tail.iter().take_while(|byte| **byte == 0xff).count();
        let (marker, tail) = tail
            .get(fill..)
            .and_then(<[u8]>::split_first)
            .ok_or_else(cut)?;
        rest = match *marker {
            END if scanned => return Ok(tail),
            END | START | 0 => return Err(Unfit::Damaged(Format::Jpeg)),
            1 | 0xd0..=0xd7 => tail,
            kind => {
                let (length, _) = tail.split_first_chunk::<2>().ok_or_else(cut)?;
                let length = usize::from(u16::from_be_bytes(*length));
                let behind = tail.get(length.max(2)..).ok_or_else(cut)?;
                if kind == SCAN {
                    scanned = true;
                    scan(behind).ok_or_else(cut)?
                } else {
                    behind
                }
            }
        };
    }
}

/// What comes behind coded data: the next marker that is no part of it.
fn scan(bytes: &[u8]) -> Option<&[u8]> {
    let mut pairs = bytes.windows(2);
    let place = pairs
        .position(|pair| matches!(pair, [0xff, next] if !matches!(next, 0 | 0xd0..=0xd7 | 0xff)))?;
    bytes.get(place..)
}
