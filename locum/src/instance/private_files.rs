//! Files in the data directory that only their owner may read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use base::Fault;

/// Mode 0700.
pub(super) fn create_private_folder(path: &Path) -> Result<(), Fault> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Fault::from_cause(format!("creating {}", path.display()), error))
}

/// Writes atomically, mode 0600.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Fault> {
    let fault = |error| Fault::from_cause(format!("writing {}", path.display()), error);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let mut file =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside).map_err(fault)?;
    file.write_all(text.as_bytes()).map_err(fault)?;
    file.sync_all().map_err(fault)?;
    fs::rename(&beside, path).map_err(fault)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(fault)
}

pub(crate) fn check_writable(folder: &Path) -> Result<(), Fault> {
    let probe = folder.join(".locum-probe");
    write_private(&probe, "")?;
    fs::remove_file(&probe).map_err(Fault::context("removing the probe"))
}
