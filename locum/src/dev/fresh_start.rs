//! `locum dev --fresh`: removes what a development server created, so that it starts over.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::Fault;
use store::DatabaseLocation;

use crate::runtime;
use crate::worlds::DEVELOPMENT_FOLDERS;
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
use instance::{InstanceManifest, mode_from_manifest, search_index_folder};

/// The certificate authority stays, because other programs may trust it. The manifest goes last: an interrupted removal
/// can be repeated.
pub(super) fn remove_world(settings: &ServerSettings) -> Result<(), CommandError> {
    let folder = &settings.core.data_dir;
    match mode_from_manifest(folder)? {
        None => return Ok(()),
        Some(RunMode::Dev) => {}
        Some(mode @ RunMode::Serve) => {
            let refusal = format!("{} was created by `locum {mode}`: --fresh does not remove it", folder.display());
            return Err(CommandError::WrongMode(refusal));
        }
    }
    let database = removable_database(settings)?;
    let _lock = store::lock_data_folder(folder)?;
    runtime::check_public_address(settings)?;
    for suffix in ["", "-wal", "-shm"] {
        remove_file(&PathBuf::from(format!("{}{suffix}", database.display())))?;
    }
    remove_folder(&search_index_folder(settings))?;
    // Other networks may share a directory that was configured.
    remove_folder(&folder.join("media"))?;
    // They are encrypted with the master key, or copies of this world.
    for name in DEVELOPMENT_FOLDERS {
        remove_folder(&folder.join(name))?;
    }
    for name in ["dev.env", "master.key"] {
        remove_file(&folder.join(name))?;
    }
    Ok(remove_file(&InstanceManifest::file_path(folder))?)
}

/// After a world could not be created, so that the next start creates it. The database of a server has nothing of it:
/// its transaction was rolled back.
pub(super) fn discard_failed_world(settings: &ServerSettings) -> Result<(), CommandError> {
    match settings.database_location() {
        DatabaseLocation::File(_) => remove_world(settings),
        DatabaseLocation::Server(_) => Ok(remove_file(&InstanceManifest::file_path(&settings.core.data_dir))?),
    }
}

fn removable_database(settings: &ServerSettings) -> Result<PathBuf, CommandError> {
    match settings.database_location() {
        DatabaseLocation::File(path) if path.parent() == Some(&settings.core.data_dir) => Ok(path),
        _ => Err(CommandError::Usage(
            "--fresh removes only a SQLite database in the data directory: set db.url to an empty database instead"
                .to_owned(),
        )),
    }
}

fn remove_file(path: &Path) -> Result<(), Fault> {
    ignore_missing(fs::remove_file(path), path)
}

fn remove_folder(path: &Path) -> Result<(), Fault> {
    ignore_missing(fs::remove_dir_all(path), path)
}

fn ignore_missing(removed: std::io::Result<()>, path: &Path) -> Result<(), Fault> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Fault::from_cause(format!("removing {}", path.display()), error))
        }
        _ => Ok(()),
    }
}
