//! The container of a WebP file.

use crate::{Format, Unfit};

/// Its chunks fill it exactly, and it fills the file.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Unfit> {
    let cut = || Unfit::Truncated(Format::WebP);
    let size = bytes.get(4..).and_then(<[u8]>::first_chunk::<4>);
    let size = u32::from_le_bytes(*size.ok_or_else(cut)?);
    let end = usize::try_from(size)
        .unwrap_or(usize::MAX)
        .saturating_add(8);
    if end < bytes.len() {
        return Err(Unfit::Trailing(Format::WebP));
    }
    let mut rest = bytes.get(12..end).ok_or_else(cut)?;
    while !rest.is_empty() {
        let size = rest.get(4..).and_then(<[u8]>::first_chunk::<4>);
        let size = u32::from_le_bytes(*size.ok_or_else(cut)?);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        // Chunks begin at even places.
        let padded = size.saturating_add(size % 2).saturating_add(8);
        rest = rest.get(padded..).ok_or_else(cut)?;
    }
    Ok(())
}
