//! Opens the files of a world, and replaces them while it is served.

use std::path::Path;
use std::sync::Arc;

use ads_delivery::evaluator::Evaluator;
use base::id::snowflake_time;
use base::{Error, Fault, Refusal, clock};
use emulator::worlds::WorldReplacement;
use store::{Store, StoreOptions};
use tempfile::TempDir;

use super::credentials::{mark_credentials, marked_rng};
use super::files::{STAGED_FOLDER, WorldFiles, set_leftovers_aside};
use super::registry::WorldRegistry;
use super::slot::{StoreSeed, WorldSlot};
use crate::dev::EnvFile;
use crate::runtime::ServedWorld;
use instance::{self, Instance, InstanceManifest, NoProgress};

/// What a world starts from when its files are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    /// Random numbers and ids begin again, as after the first start.
    Seed,
    /// Neither is repeated.
    NothingRepeated,
}

pub(super) const NEEDS_SQLITE: &str = "Resets, snapshots and worlds need a SQLite database in the data directory and local media files: start `locum dev` \
     without db.url, media.s3_url";

pub(super) fn local_files(slot: &WorldSlot) -> Result<WorldFiles, Error> {
    WorldFiles::from_settings(&slot.settings).ok_or_else(|| Refusal::forbidden(NEEDS_SQLITE).into())
}

impl WorldRegistry {
    /// Opens a world that is closed. Without a seed, as after a restart.
    pub(super) async fn open_files(
        self: &Arc<Self>,
        slot: &Arc<WorldSlot>,
        seed: Option<StoreSeed>,
    ) -> Result<ServedWorld, Error> {
        let opening = Arc::clone(slot);
        let keyring = self.keyring()?;
        let opened = tokio::task::spawn_blocking(move || open_instance(&opening, keyring, seed));
        let instance = opened.await.map_err(Fault::context("opening a world"))??;
        let world = ServedWorld::open(instance, &self.process, &slot.listening, slot.emulator.clone()).await?;
        if let Some(mode) = slot.rate_limit_mode() {
            world.api_server().set_rate_limit_mode(mode);
        }
        Ok(world)
    }

    fn keyring(&self) -> Result<base::encryption::Keyring, Error> {
        Ok(instance::load_keyring(&self.main.settings, &base::Rng::Os, false)?)
    }

    /// Replaces a world by the files in its staged folder, which [`stage_copy`] made. Requests wait meanwhile; the files
    /// stay as they were if it fails.
    pub(super) async fn replace_world(
        self: &Arc<Self>,
        slot: &Arc<WorldSlot>,
        continuation: Continuation,
    ) -> Result<WorldReplacement, Error> {
        let own = local_files(slot)?;
        let record = read_manifest(&slot.folder)?;
        let mut exclusive = slot.wait_for_exclusive_use().await?;
        let began = clock::monotonic_now();
        let mut id_floor = 0;
        if let Some(world) = exclusive.take() {
            id_floor = world.instance.store.context().ids.next::<()>().get();
            slot.close(world).await?;
        }
        let (places, folder) = (own.clone(), slot.folder.clone());
        let moved = run_blocking(move || places.replace_by_staged(&folder)).await;
        let opened = match moved {
            Ok(()) => match next_seed(slot, continuation, id_floor) {
                Ok(seed) => self.open_files(slot, Some(seed)).await,
                Err(fault) => Err(fault.into()),
            },
            Err(fault) => Err(fault.into()),
        };
        let world = match opened {
            Ok(world) => world,
            Err(error) => {
                let folder = slot.folder.clone();
                run_blocking(move || {
                    own.restore_replaced(&folder)?;
                    record.write(&folder)
                })
                .await?;
                *exclusive = Some(Arc::new(self.open_files(slot, None).await?));
                return Err(error);
            }
        };
        *exclusive = Some(Arc::new(world));
        drop(exclusive);
        let milliseconds = began.elapsed().as_secs_f64() * 1000.0;
        // The next replacement uses the same names.
        let leftovers = set_leftovers_aside(&own, &slot.folder)?;
        tokio::task::spawn_blocking(move || remove_leftovers(leftovers));
        Ok(WorldReplacement { milliseconds })
    }
}

fn open_instance(
    slot: &WorldSlot,
    keyring: base::encryption::Keyring,
    seed: Option<StoreSeed>,
) -> Result<Instance, Error> {
    let settings = Arc::clone(&slot.settings);
    let mut record = read_manifest(&slot.folder)?;
    if seed.is_some() {
        // The files may be of another network.
        record.network.clear();
    }
    let seed = seed.unwrap_or_else(|| {
        record.starts += 1;
        let is_first = record.starts == 1;
        let rng = if is_first { super::first_rng(&record) } else { instance::instance_rng(&record) };
        StoreSeed { rng, id_floor: 0 }
    });
    let rng = marked_rng(seed.rng, slot.origin.mark.as_deref());
    let store = instance::open_store(instance::store_options(&settings, rng, keyring))?;
    continue_ids(&store, seed.id_floor, record.starts);
    instance::check_store_matches(&store, &mut record)?;
    record.write(&slot.folder)?;
    Ok(Instance {
        settings,
        store: Arc::new(store),
        progress: Arc::new(NoProgress),
        search: None,
        search_backend: None,
        evaluator: Evaluator::new(None),
        command: None,
    })
}

/// Times are read from ids, so that ids do not go on after the clock went back with a snapshot. None is issued twice, as
/// those of each load and start have a node number of their own; those after a reset, without a floor, are the first ones.
fn continue_ids(store: &Store, floor: i64, starts: u64) {
    let context = store.context();
    if floor > 0 {
        context.ids.set_node(instance::node_of_start(starts));
    }
    if snowflake_time(floor) <= context.clock.now().plus_ms(1000) {
        context.ids.raise_floor(floor);
    }
}

pub(super) fn read_manifest(folder: &Path) -> Result<InstanceManifest, Fault> {
    InstanceManifest::read(folder)?.ok_or_else(|| Fault::new(format!("{} has no world.json", folder.display())))
}

fn next_seed(slot: &WorldSlot, continuation: Continuation, id_floor: i64) -> Result<StoreSeed, Fault> {
    let mut record = read_manifest(&slot.folder)?;
    if continuation == Continuation::Seed {
        return Ok(StoreSeed { rng: super::first_rng(&record), id_floor: 0 });
    }
    record.starts += 1;
    record.write(&slot.folder)?;
    Ok(StoreSeed { rng: instance::instance_rng(&record), id_floor })
}

/// Copies files to a world's staged folder. Returns the world's own credentials, if they are not those of the files.
/// Blocks.
pub(super) fn stage_copy(
    slot: &WorldSlot,
    source: &WorldFiles,
    keyring: base::encryption::Keyring,
) -> Result<Option<EnvFile>, Error> {
    let own = local_files(slot)?;
    own.remove_copy(&slot.folder, STAGED_FOLDER)?;
    source.copy_to(&own.copy_in(&slot.folder, STAGED_FOLDER))?;
    match &slot.origin.mark {
        Some(mark) => mark_copy(slot, &slot.folder.join(STAGED_FOLDER), mark, keyring).map(Some),
        None => Ok(None),
    }
}

pub(super) fn mark_copy(
    slot: &WorldSlot,
    folder: &Path,
    mark: &str,
    keyring: base::encryption::Keyring,
) -> Result<EnvFile, Error> {
    let options = StoreOptions {
        location: store::DatabaseLocation::File(WorldFiles::in_folder(folder).database),
        data_dir: folder.to_owned(),
        connections: 1,
        ..instance::store_options(&slot.settings, base::Rng::Os, keyring)
    };
    Store::edit_copy(&options, |tx| mark_credentials(tx, &options.keyring, mark))
}

pub(super) async fn run_blocking<T: Send + 'static, E: From<Fault> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| E::from(Fault::from_cause("working on a world's files".to_owned(), error)))?
}

fn remove_leftovers(folders: [TempDir; 2]) {
    for folder in folders {
        if let Err(error) = folder.close() {
            tracing::warn!(%error, "failed to remove replaced files; the next start does");
        }
    }
}
