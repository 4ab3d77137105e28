//! Snapshots: named copies of a world.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use emulator::worlds::{SnapshotComparison, SnapshotFacts};
use serde::{Deserialize, Serialize};
use store::Store;
use store::row_changes;

use super::files::{WorldFiles, link_folder, remove_path};
use super::names::check_snapshot_name;
use super::registry::WorldRegistry;
use super::replace::{local_files, read_manifest, run_blocking};
use super::slot::WorldSlot;
use crate::runtime::ServedWorld;
use instance::{OWNER_FILE, create_private_folder, write_private};

pub(super) const SNAPSHOTS_FOLDER: &str = "snapshots";
const MANIFEST_FILE: &str = "snapshot.json";
const FORMAT: u32 = 1;
const MAX_SNAPSHOTS: usize = 100;
/// Rows of each table that a comparison shows.
const MAX_SHOWN_ROWS: usize = 20;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SnapshotManifest {
    format: u32,
    pub(super) world: String,
    /// What the world was created as.
    pub(super) kind: String,
    pub(super) seed: u64,
    pub(super) network: String,
    created_at: String,
    version: String,
    /// The number of migrations.
    schema: usize,
    bytes: u64,
    media_files: usize,
}

impl SnapshotManifest {
    fn facts(&self, name: &str) -> SnapshotFacts {
        SnapshotFacts {
            name: name.to_owned(),
            world: self.world.clone(),
            created_at: self.created_at.clone(),
            version: self.version.clone(),
            bytes: self.bytes,
            media_files: self.media_files,
        }
    }
}

impl WorldRegistry {
    pub(super) fn snapshots_folder(&self) -> PathBuf {
        self.main.folder.join(SNAPSHOTS_FOLDER)
    }

    fn snapshot_names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.snapshots_folder()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> = names.filter(|name| check_snapshot_name(name).is_ok()).collect();
        names.sort();
        names
    }

    /// Oldest first. A damaged one is listed without its facts.
    pub(super) fn list_all_snapshots(&self) -> Vec<SnapshotFacts> {
        let read = |name: String| match read_snapshot(&self.snapshots_folder().join(&name)) {
            Ok(manifest) => manifest.facts(&name),
            Err(_) => SnapshotFacts {
                name,
                world: String::new(),
                created_at: String::new(),
                version: "damaged".to_owned(),
                bytes: 0,
                media_files: 0,
            },
        };
        let mut found: Vec<_> = self.snapshot_names().into_iter().map(read).collect();
        found.sort_by(|one, other| one.created_at.cmp(&other.created_at));
        found
    }

    fn existing_snapshot(&self, name: &str) -> Result<PathBuf, Error> {
        check_snapshot_name(name)?;
        let folder = self.snapshots_folder().join(name);
        if folder.is_dir() {
            return Ok(folder);
        }
        let known = self.snapshot_names();
        let advice = if known.is_empty() {
            "there are none yet: `locum snapshot save NAME` makes one".to_owned()
        } else {
            format!("there are: {}", known.join(", "))
        };
        let message = format!("There is no snapshot named [{name}]; {advice}");
        Err(Refusal::named_reason(RefusalKind::NotFound, "name", name, message).into())
    }

    /// Refuses one that this program cannot open.
    pub(super) async fn open_snapshot(&self, name: &str) -> Result<(WorldFiles, SnapshotManifest), Error> {
        let folder = self.existing_snapshot(name)?;
        let refuse = |message: String| Error::from(Refusal::named_reason(RefusalKind::Conflict, "name", name, message));
        let files = WorldFiles::in_folder(&folder);
        let manifest = match read_snapshot(&folder) {
            Ok(manifest) if files.database.exists() => manifest,
            Ok(_) => return Err(refuse(format!("The snapshot [{name}] is damaged: its database is missing"))),
            Err(fault) => return Err(refuse(format!("The snapshot [{name}] is damaged: {fault}"))),
        };
        let schema = schema_version(&self.main).await?;
        if manifest.format != FORMAT || manifest.schema != schema {
            return Err(refuse(format!(
                "The snapshot [{name}] was made by Locum {} (format {}, schema {}), and this is Locum {} (format \
                 {FORMAT}, schema {schema}): load it with the version that made it",
                manifest.version,
                manifest.format,
                manifest.schema,
                env!("CARGO_PKG_VERSION"),
            )));
        }
        Ok((files, manifest))
    }

    /// Consistent while the world serves: media files and those of the index never change, and the database is copied in
    /// one transaction that is later than the index.
    pub(super) async fn save_world(
        &self,
        slot: &Arc<WorldSlot>,
        world: &ServedWorld,
        name: String,
    ) -> Result<SnapshotFacts, Error> {
        check_snapshot_name(&name)?;
        let own = local_files(slot)?;
        let folder = self.snapshots_folder().join(&name);
        if folder.exists() {
            let message = format!("There is already a snapshot named [{name}]: remove it or choose another name");
            return Err(Refusal::named_reason(RefusalKind::Conflict, "name", &name, message).into());
        }
        if self.snapshot_names().len() >= MAX_SNAPSHOTS {
            let message = format!("There are {MAX_SNAPSHOTS} snapshots already: remove one");
            return Err(Refusal::forbidden(message).into());
        }
        let part = self.snapshots_folder().join(format!(".{name}.part"));
        let saved = self.write_snapshot(slot, world, &own, &part).await;
        let manifest = match saved {
            Ok(manifest) => manifest,
            Err(error) => {
                remove_path(&part)?;
                return Err(error);
            }
        };
        fs::rename(&part, &folder).map_err(Fault::context("keeping the snapshot"))?;
        Ok(manifest.facts(&name))
    }

    async fn write_snapshot(
        &self,
        slot: &Arc<WorldSlot>,
        world: &ServedWorld,
        own: &WorldFiles,
        part: &Path,
    ) -> Result<SnapshotManifest, Error> {
        remove_path(part)?;
        create_private_folder(part)?;
        world.store_progress().await;
        let copy = WorldFiles::in_folder(part);
        if let Some(search) = world.instance.search.clone() {
            let (index, own) = (copy.search.clone(), own.clone());
            run_blocking(move || link_index(&search, &own, &index)).await?;
        }
        let bytes = world.instance.store.backup(copy.database.clone()).await?;
        let (from, to) = (own.media.clone(), copy.media.clone());
        let media_files = run_blocking(move || link_folder(&from, &to)).await?;
        let record = read_manifest(&slot.folder)?;
        let manifest = SnapshotManifest {
            format: FORMAT,
            world: slot.name.clone(),
            kind: record.world,
            seed: record.seed,
            network: record.network,
            created_at: world.instance.store.context().clock.now().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema: schema_version(slot).await?,
            bytes,
            media_files: usize::try_from(media_files).unwrap_or(usize::MAX),
        };
        let text = serde_json::to_string_pretty(&manifest).map_err(Fault::context("describing the snapshot"))?;
        write_private(&part.join(MANIFEST_FILE), &text)?;
        Ok(manifest)
    }

    pub(super) fn delete_snapshot(&self, name: &str) -> Result<(), Error> {
        let folder = self.existing_snapshot(name)?;
        let part = folder.with_file_name(format!(".{name}.removed"));
        fs::rename(&folder, &part).map_err(Fault::context("removing the snapshot"))?;
        Ok(remove_path(&part)?)
    }

    pub(super) async fn compare_with(
        &self,
        world: &ServedWorld,
        name: &str,
        with: Option<String>,
    ) -> Result<SnapshotComparison, Error> {
        let (before, _) = self.open_snapshot(name).await?;
        let scratch = tempfile::TempDir::new_in(self.snapshots_folder()).map_err(Fault::context("comparing"))?;
        let after = if let Some(other) = with {
            self.open_snapshot(&other).await?.0.database
        } else {
            let copy = scratch.path().join("now.db");
            world.instance.store.backup(copy.clone()).await?;
            copy
        };
        let compare = move || row_changes::compare_databases(&before.database, &after, MAX_SHOWN_ROWS);
        let tables = run_blocking(compare).await?;
        drop(scratch);
        Ok(SnapshotComparison { tables })
    }
}

fn read_snapshot(folder: &Path) -> Result<SnapshotManifest, Fault> {
    let text = fs::read(folder.join(MANIFEST_FILE)).map_err(Fault::context("its description cannot be read"))?;
    serde_json::from_slice(&text).map_err(Fault::context("its description cannot be understood"))
}

async fn schema_version(slot: &WorldSlot) -> Result<usize, Fault> {
    let migrations = Store::migration_status(slot.settings.database_location()).await?;
    Ok(migrations.iter().filter(|migration| migration.applied_at.is_some()).count())
}

/// Without an index that could follow the log, worlds made of the copy build theirs.
fn link_index(search: &post_search::PostSearch, own: &WorldFiles, index: &Path) -> Result<(), Fault> {
    let version = index.join("1");
    create_private_folder(&version)?;
    if search.link_index_files(&version)?.is_none() {
        return remove_path(index);
    }
    fs::copy(own.search.join(OWNER_FILE), index.join(OWNER_FILE))
        .map_err(Fault::context("copying the search index"))?;
    Ok(())
}
