//! Files in the data directory that only their owner may read.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base::Fault;

use super::{InstanceManifest, master_key};
use crate::command_error::CommandError;
use crate::config::{RunMode, ServerSettings};

/// Mode 0700.
pub fn create_private_folder(path: &Path) -> Result<(), Fault> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Fault::from_cause(format!("creating {}", path.display()), error))
}

/// Writes atomically, mode 0600.
pub fn write_private(path: &Path, text: &str) -> Result<(), Fault> {
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

/// Refuses root in the data directory of another user, who could not read what root writes there.
pub fn refuse_root_for_other_owner(folder: &Path) -> Result<(), CommandError> {
    let owned = fs::metadata(InstanceManifest::file_path(folder)).or_else(|_| fs::metadata(folder));
    let owner = owned.map_or(0, |file| file.uid());
    if owner == 0 || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(CommandError::Failed(format!(
        "{} belongs to the user with the id {owner}: run this command as that user, for example with `sudo -u '#{owner}'`",
        folder.display()
    )))
}

/// Refuses to serve with a master key, a database or keys of the development world that other users may read. In
/// development their access is taken away.
pub(super) fn restrict_access(settings: &ServerSettings) -> Result<(), CommandError> {
    if settings.mode == RunMode::Serve {
        return refuse_accessible_files(settings);
    }
    for file in accessible_files(settings) {
        tracing::warn!(file = %file.display(), "it was accessible to other users, and no longer is");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).map_err(Fault::context("restricting a file"))?;
    }
    Ok(())
}

pub(super) fn refuse_accessible_files(settings: &ServerSettings) -> Result<(), CommandError> {
    accessible_files(settings).first().map_or(Ok(()), |file| {
        let file = file.display();
        Err(CommandError::Failed(format!("{file} is accessible to other users: run chmod 0600 {file}")))
    })
}

fn accessible_files(settings: &ServerSettings) -> Vec<PathBuf> {
    let folder = &settings.core.data_dir;
    let mut files = Vec::from_iter(master_key::key_file_path(settings));
    // Nobody gets at the files of a closed folder.
    if access_of_others(folder) != 0 {
        files.extend(["locum.db", "locum.db-wal", "master.key", "dev.env", "ca/ca.key"].map(|name| folder.join(name)));
    }
    files.retain(|file| access_of_others(file) != 0);
    files
}

/// The rights of group and others; none if the file does not exist.
fn access_of_others(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |file| file.permissions().mode() & 0o077)
}

pub fn check_writable(folder: &Path) -> Result<(), Fault> {
    let probe = folder.join(".locum-probe");
    write_private(&probe, "")?;
    fs::remove_file(&probe).map_err(Fault::context("removing the probe"))
}
