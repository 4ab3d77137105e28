//! `locum backup`.

use std::path::PathBuf;

use base::Error;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::export;
use super::output_file::ensure_new_file;
use crate::instance::Instance;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackupArgs {
    /// The output file; for PostgreSQL it contains JSON Lines without keys and passwords, so use `pg_dump` for a
    /// full backup
    pub(super) file: PathBuf,
}

pub(super) async fn execute(instance: &Instance, backup: &BackupArgs) -> Result<Value, Error> {
    ensure_new_file(&backup.file)?;
    if instance.store.is_shared() {
        return export::export_to_file(instance, &backup.file).await;
    }
    let bytes = instance.store.backup(backup.file.clone()).await?;
    Ok(json!({"file": backup.file, "bytes": bytes}))
}
