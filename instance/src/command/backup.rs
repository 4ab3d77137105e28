//! `locum backup`.

use std::path::{Path, PathBuf};

use base::refusal::RefusalKind;
use base::{Error, Refusal};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};

use super::request::LocalInputs;
use crate::Instance;
use crate::backup::{BackupLocation, BackupOptions, create_backup, read_passphrase};
use crate::command_error::CommandError;

#[derive(Args, Clone, Debug)]
pub struct BackupArgs {
    /// A new file, a folder (ending in `/` if it is new) or `s3://bucket/prefix`; a folder or bucket keeps several
    /// backups and each media file once
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    target: String,
    /// Leave out the database; PostgreSQL databases are backed up with `pg_dump`
    #[arg(long)]
    media_only: bool,
    /// Keep this many backups in the folder or bucket and remove older ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    keep: Option<u16>,
    /// Include the master key, encrypted with the passphrase in this file
    #[arg(long, value_name = "FILE")]
    key_passphrase_file: Option<PathBuf>,
}

const POSTGRES_REFUSAL: &str = "a PostgreSQL database is backed up with `pg_dump --format=custom` or base backups; \
                                use --media-only for the media files, after the database";

impl BackupArgs {
    /// The running server has a different working directory.
    pub(super) fn make_absolute(&mut self, inputs: &LocalInputs) -> Result<(), CommandError> {
        self.key_passphrase_file.as_mut().map_or(Ok(()), |path| inputs.make_absolute(path))?;
        if self.local_path().is_none() {
            return Ok(());
        }
        let is_folder = self.target.ends_with('/');
        let mut path = PathBuf::from(&self.target);
        inputs.make_absolute(&mut path)?;
        self.target = path.to_str().unwrap_or(&self.target).trim_end_matches('/').to_owned();
        if is_folder {
            self.target.push('/');
        }
        Ok(())
    }

    /// None for a bucket.
    pub(super) fn local_path(&self) -> Option<&Path> {
        (!self.target.starts_with("s3://")).then(|| Path::new(&self.target))
    }
}

pub(super) async fn execute(instance: &Instance, args: &BackupArgs) -> Result<Value, Error> {
    let refused = |message: &str| Refusal::invalid_parameter("target", &args.target, message.to_owned());
    if instance.store.is_shared() && !args.media_only {
        return Err(Refusal::named_reason(RefusalKind::Conflict, "target", &args.target, POSTGRES_REFUSAL).into());
    }
    let location = BackupLocation::parse(&instance.settings, &args.target);
    let location = location.map_err(|error| refused(error.message()))?;
    if let BackupLocation::File(path) = &location {
        super::output_file::ensure_new_file(path)?;
    }
    let passphrase = args.key_passphrase_file.as_deref().map(read_passphrase).transpose();
    let passphrase = passphrase.map_err(|error| refused(error.message()))?;
    let options = BackupOptions { media_only: args.media_only, passphrase, keep: args.keep.map(usize::from) };
    let report = Box::pin(create_backup(instance, &location, &options)).await?;
    Ok(json!(report))
}
