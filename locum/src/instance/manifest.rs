//! `world.json`: what a data folder is, written when it is made.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::Fault;
use serde::{Deserialize, Serialize};

use super::private_files::write_private;
use crate::command_error::CommandError;
use crate::config::RunMode;

/// What a data folder is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstanceManifest {
    /// `dev` or `serve`.
    pub(crate) mode: String,
    /// What it began with.
    pub(crate) world: String,
    /// Where a test world's ids and keys come from.
    pub(crate) seed: u64,
    /// How often it was opened: a test world's further randomness depends on it, so that nothing
    /// is issued twice.
    pub(crate) starts: u64,
}

impl InstanceManifest {
    fn file_path(folder: &Path) -> PathBuf {
        folder.join("world.json")
    }

    /// The record of a folder; none when there is no folder, or nothing in it yet.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, Fault> {
        let path = Self::file_path(folder);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Fault::from_cause(format!("reading {}", path.display()), error));
            }
        };
        let record = serde_json::from_str(&text);
        record
            .map(Some)
            .map_err(|error| Fault::from_cause(format!("{} is garbled", path.display()), error))
    }

    /// Writes the record.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(self).map_err(Fault::context("a record"))?;
        write_private(&Self::file_path(folder), &format!("{text}\n"))
    }

    /// The mode that the folder was made with.
    pub(crate) fn mode(&self) -> Result<RunMode, Fault> {
        RunMode::parse(&self.mode)
            .ok_or_else(|| Fault::new(format!("world.json names an unknown mode {:?}", self.mode)))
    }
}

/// The mode that a folder was made with; none when it was not made yet.
pub(crate) fn mode_from_manifest(folder: &Path) -> Result<Option<RunMode>, CommandError> {
    let record = InstanceManifest::read(folder)?;
    Ok(record.map(|record| record.mode()).transpose()?)
}
