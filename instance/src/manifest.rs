//! `world.json`: the manifest of a data directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::Fault;
use serde::{Deserialize, Serialize};

use super::private_files::write_private;
use crate::command_error::CommandError;
use crate::config::RunMode;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceManifest {
    pub mode: String,
    pub world: String,
    pub seed: u64,
    /// The number of starts. Seeds a development server's random numbers, so that no id or key is issued twice.
    pub starts: u64,
    /// The id in the database; empty before it is known.
    #[serde(default)]
    pub network: String,
    /// Milliseconds since 1970 at which the clock of a development server's world stood when it was created; none if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_at: Option<i64>,
}

impl InstanceManifest {
    pub fn file_path(folder: &Path) -> PathBuf {
        folder.join("world.json")
    }

    /// `None` if the directory does not exist or is empty.
    pub fn read(folder: &Path) -> Result<Option<Self>, Fault> {
        let path = Self::file_path(folder);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Fault::from_cause(format!("reading {}", path.display()), error));
            }
        };
        let record = serde_json::from_str(&text);
        record.map(Some).map_err(|error| Fault::from_cause(format!("{} is corrupt", path.display()), error))
    }

    pub fn write(&self, folder: &Path) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(self).map_err(Fault::context("serializing world.json"))?;
        write_private(&Self::file_path(folder), &format!("{text}\n"))
    }

    pub fn mode(&self) -> Result<RunMode, Fault> {
        RunMode::parse(&self.mode)
            .ok_or_else(|| Fault::new(format!("world.json names an unknown mode {:?}", self.mode)))
    }
}

/// `None` if the directory has not been initialized.
pub fn mode_from_manifest(folder: &Path) -> Result<Option<RunMode>, CommandError> {
    let record = InstanceManifest::read(folder)?;
    Ok(record.map(|record| record.mode()).transpose()?)
}
