//! `locum import`.

use std::path::PathBuf;

use base::{Refusal, Stop};
use clap::Subcommand;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::world::World;

/// What may be taken in.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ImportCommand {
    /// The archive that a person downloaded of their account: a zip, or its folder
    Archive {
        /// The zip or the folder
        path: PathBuf,
    },
    /// JSON Lines, as `locum export` writes them
    Jsonl {
        /// The file
        path: PathBuf,
    },
}

impl ImportCommand {
    /// The path, which is made absolute where the command is given.
    pub(super) fn path_mut(&mut self) -> &mut PathBuf {
        match self {
            Self::Archive { path } | Self::Jsonl { path } => path,
        }
    }
}
