//! `locum import`.

use std::path::{Path, PathBuf};

use base::{Error, Fault, Refusal};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transfer::{ArchiveOwner, ImportOptions, ImportSource, TransferError};

use crate::instance::Instance;

/// What may be taken in.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ImportCommand {
    /// The archive that a person downloaded of their account: a zip, or its folder
    Archive(ImportArchiveArgs),
    /// JSON Lines, as `locum export` writes them
    Jsonl {
        /// The file
        path: PathBuf,
    },
}

/// An archive, and whose it becomes.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ImportArchiveArgs {
    /// The zip or the folder
    path: PathBuf,
    /// The handle of the user who becomes its owner; without it, the archive's own
    #[arg(long)]
    #[serde(default)]
    owner: Option<String>,
    /// Takes the direct messages too, each for the owner alone
    #[arg(long)]
    #[serde(default)]
    messages: bool,
}

impl ImportCommand {
    /// The path, which is made absolute where the command is given.
    pub(super) fn path_mut(&mut self) -> &mut PathBuf {
        match self {
            Self::Archive(ImportArchiveArgs { path, .. }) | Self::Jsonl { path } => path,
        }
    }
}

/// Does it.
pub(super) async fn execute(instance: &Instance, command: ImportCommand) -> Result<Value, Error> {
    let media_dir = Some(instance.settings.media_dir());
    let mut options = ImportOptions {
        media_dir,
        ..ImportOptions::default()
    };
    let (path, source) = match command {
        ImportCommand::Archive(ImportArchiveArgs { path, owner, messages }) => {
            options.owner = owner.map(ArchiveOwner::Username);
            options.messages = messages;
            (path.clone(), ImportSource::Archive(path))
        }
        ImportCommand::Jsonl { path } => (path.clone(), ImportSource::JsonLines(path)),
    };
    let mut progress = |at: transfer::TransferProgress| instance.progress.report_progress(at.records, at.total);
    let report = transfer::import(&instance.store, source, options, &mut progress).await;
    let report = report.map_err(|error| transfer_error(&path, error))?;
    move_files_to_bucket(instance).await?;
    Ok(report.to_json())
}

/// Where files are kept in a bucket, those that were copied into the folder go there.
async fn move_files_to_bucket(instance: &Instance) -> Result<(), Error> {
    let files = instance
        .settings
        .open_media_files()
        .map_err(|exit| Fault::new(exit.message().to_owned()))?;
    files
        .move_to_bucket()
        .await
        .map_err(Fault::context("moving files to the bucket"))?;
    Ok(())
}

/// What ended a transfer: the file is the caller's doing, the store ours.
pub(super) fn transfer_error(path: &Path, error: TransferError) -> Error {
    match error {
        TransferError::Store(fault) => fault.into(),
        error => Refusal::invalid_parameter("path", path.display(), error.to_string()).into(),
    }
}
