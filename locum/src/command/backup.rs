//! `locum backup`.

use std::path::PathBuf;

use base::Error;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::execute::new_file;
use super::export;
use crate::world::World;

/// A copy of the database.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Backup {
    /// The file to write; of a PostgreSQL database it is JSON Lines without keys and passwords,
    /// whose full copy is `pg_dump`'s
    pub(super) file: PathBuf,
}

/// Does it.
pub(super) async fn execute(world: &World, backup: &Backup) -> Result<Value, Error> {
    new_file(&backup.file)?;
    if world.store.is_shared() {
        return export::to_file(world, &backup.file).await;
    }
    let bytes = world.store.backup(backup.file.clone()).await?;
    Ok(json!({"file": backup.file, "bytes": bytes}))
}
