//! The chunks of a PNG file.

use crate::{Format, Unfit};

/// Walks to the end of the picture; nothing may come behind it.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Unfit> {
    let cut = || Unfit::Truncated(Format::Png);
    let mut rest = bytes.get(8..).ok_or_else(cut)?;
    loop {
        let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let (kind, tail) = tail.split_first_chunk::<4>().ok_or_else(cut)?;
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            return Err(Unfit::Damaged(Format::Png));
        }
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        // Its checksum comes behind it; the decoder compares it.
        rest = tail.get(length.saturating_add(4)..).ok_or_else(cut)?;
        if kind == b"IEND" {
            break;
        }
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Unfit::Trailing(Format::Png))
    }
}
