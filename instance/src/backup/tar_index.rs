//! The entries of a tar archive: their headers, and where their content is.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use base::Fault;

/// Of headers and of content, which is padded.
pub(super) const BLOCK_BYTES: usize = 512;
const MODE: u32 = 0o600;

/// Fails if the name is longer than the format allows (100 bytes).
pub(super) fn encode_header(name: &str, bytes: u64, modified_at_seconds: u64) -> Result<[u8; BLOCK_BYTES], Fault> {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).map_err(|error| Fault::from_cause(format!("archiving {name}"), error))?;
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(MODE);
    header.set_mtime(modified_at_seconds);
    header.set_cksum();
    Ok(*header.as_bytes())
}

/// The byte range of each entry's content. A damaged archive is an error.
pub(super) fn read_index(path: &Path) -> io::Result<HashMap<String, Range<u64>>> {
    let mut archive = tar::Archive::new(File::open(path)?);
    let mut index = HashMap::new();
    for entry in archive.entries_with_seek()? {
        let entry = entry?;
        let (start, name) = (entry.raw_file_position(), entry.path()?.to_string_lossy().into_owned());
        index.insert(name, start..start.saturating_add(entry.size()));
    }
    Ok(index)
}
