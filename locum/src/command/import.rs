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

/// Does it.
#[expect(
    clippy::unused_async,
    reason = "waits for the verb that takes records in"
)]
pub(super) async fn execute(_world: &World, command: ImportCommand) -> Result<Value, Stop> {
    let path = match command {
        ImportCommand::Archive { path } | ImportCommand::Jsonl { path } => path,
    };
    let message = format!("[{}] cannot be taken in yet", path.display());
    Err(Refusal::invalid("path", path.display(), message).into())
}
