//! Files that a command writes.

use std::path::Path;

use base::refusal::RefusalKind;
use base::{Error, Refusal};

/// Refuses to overwrite an existing file.
pub(super) fn ensure_new_file(path: &Path) -> Result<(), Error> {
    if path.exists() {
        let message = format!("{} already exists", path.display());
        return Err(Refusal::named_reason(RefusalKind::Conflict, "file", path.display(), message).into());
    }
    Ok(())
}
