//! `locum import`.

use std::path::{Path, PathBuf};

use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use clap::{Args, Subcommand};
use serde_json::Value;
use store::{Tx, users};
use transfer::{ArchiveOwner, ImportOptions, ImportReport, ImportSource, TransferError};

use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum ImportCommand {
    /// Import a downloaded account archive: a zip file or its extracted directory
    Archive(ImportArchiveArgs),
    /// Import JSON Lines written by `locum export`
    Jsonl {
        /// The file
        path: PathBuf,
    },
}

#[derive(Args, Clone, Debug)]
pub struct ImportArchiveArgs {
    /// The zip file or directory
    path: PathBuf,
    /// The username of the account to import into [default: the archive's own username]
    #[arg(long, value_name = "USERNAME")]
    owner: Option<String>,
    /// Also import direct messages, visible to the owner only
    #[arg(long)]
    messages: bool,
}

impl ImportCommand {
    /// Relative to the caller's working directory until it is made absolute.
    pub(super) fn path_mut(&mut self) -> &mut PathBuf {
        match self {
            Self::Archive(ImportArchiveArgs { path, .. }) | Self::Jsonl { path } => path,
        }
    }
}

pub(super) async fn execute(instance: &Instance, command: ImportCommand) -> Result<Value, Error> {
    let media_dir = Some(instance.settings.media_dir.clone());
    let mut options = ImportOptions { media_dir, ..ImportOptions::default() };
    let (path, source) = match command {
        ImportCommand::Archive(ImportArchiveArgs { path, owner, messages }) => {
            options.owner = owner.map(ArchiveOwner::Username);
            options.messages = messages;
            (path.clone(), ImportSource::Archive(path))
        }
        ImportCommand::Jsonl { path } => (path.clone(), ImportSource::JsonLines(path)),
    };
    let is_lines = matches!(source, ImportSource::JsonLines(_));
    let mut progress = |at: transfer::TransferProgress| instance.progress.report_progress(at.records, at.total);
    let report = transfer::import(&instance.store, source, options, &mut progress).await;
    let report = report.map_err(|error| transfer_error(&path, error))?;
    if is_lines {
        refuse_unreadable(&path, &report)?;
    }
    move_files_to_bucket(instance).await?;
    report_owner(instance, &report).await
}

/// After the import of an archive.
pub(super) fn describe_next_step(report: &Value) -> Option<String> {
    let owner = report.get("owner")?.as_str()?;
    let has_password = report.get("owner_has_password")?.as_bool()?;
    (!has_password)
        .then(|| format!("{owner} cannot sign in yet.\nNext: set a password with `locum user password {owner}`."))
}

/// Adds the account that the archive was imported into.
async fn report_owner(instance: &Instance, report: &ImportReport) -> Result<Value, Error> {
    let mut json = report.to_json();
    let Some(owner) = report.owner else { return Ok(json) };
    let work = move |tx: &mut Tx<'_>| {
        let username = users::find_by_id(tx, owner)?.map(|user| user.username);
        Ok::<_, Error>((username, users::find_password_hash(tx, owner)?))
    };
    let (username, hash) = instance.store.read(work).await?;
    if let Some(members) = json.as_object_mut() {
        members.insert("owner".to_owned(), username.into());
        members.insert("owner_has_password".to_owned(), hash.is_some_and(|hash| !hash.is_empty()).into());
    }
    Ok(json)
}

/// Fails if there were lines and each of them was skipped.
fn refuse_unreadable(path: &Path, report: &ImportReport) -> Result<(), Error> {
    if report.skipped.is_empty() || !report.taken.is_empty() || !report.known.is_empty() {
        return Ok(());
    }
    let reasons =
        report.skipped.iter().map(|skip| format!("{} {}: {} ({})", skip.count, skip.kind, skip.why, skip.example));
    let message = format!("no line was imported: {}", reasons.collect::<Vec<_>>().join("; "));
    Err(Refusal::named_reason(RefusalKind::Conflict, "path", path.display(), message).into())
}

/// Uploads imported files if a bucket is configured.
async fn move_files_to_bucket(instance: &Instance) -> Result<(), Error> {
    let files = instance.settings.open_media_files().map_err(|exit| Fault::new(exit.message().to_owned()))?;
    files.move_to_bucket().await.map_err(Fault::context("moving files to the bucket"))?;
    Ok(())
}

/// An unreadable file is the caller's error; a store failure is ours.
pub(super) fn transfer_error(path: &Path, error: TransferError) -> Error {
    match error {
        TransferError::Store(fault) => fault.into(),
        error => Refusal::named_reason(RefusalKind::Conflict, "path", path.display(), error.to_string()).into(),
    }
}
