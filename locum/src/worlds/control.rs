//! Carries out what testers order for whole worlds.

use std::sync::{Arc, Weak};

use base::encryption::{DecryptError, format_key_id};
use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use emulator::Emulator;
use emulator::journal::Journal;
use emulator::worlds::{
    SnapshotComparison, SnapshotFacts, WorldControl, WorldFacts, WorldFuture, WorldKeys, WorldReplacement,
};
use futures_util::FutureExt as _;
use parking_lot::Mutex;

use super::credentials::world_mark;
use super::files::{WorldFiles, remove_path};
use super::handler::release_request_lease;
use super::names::{BUILT_IN_WORLDS, check_world_name};
use super::registry::{MAX_WORLDS, WorldRegistry};
use super::replace::{Continuation, local_files, mark_copy, read_manifest, run_blocking, stage_copy};
use super::slot::{WorldOrigin, WorldSlot};
use super::testing_tools::open_emulator;
use super::{MAIN_WORLD, templates};
use crate::dev::EnvFile;
use instance::command_error::CommandError;
use instance::config::ServerSettings;
use instance::config::is_world_file;
use instance::{self, InstanceManifest};

pub(super) struct WorldController {
    name: String,
    registry: Mutex<Weak<WorldRegistry>>,
}

impl WorldController {
    /// The testing tools of a world with their control, which has to be connected once the registry exists.
    pub(super) fn emulator(name: &str, settings: &ServerSettings, journal: Journal) -> (Arc<Emulator>, Arc<Self>) {
        let control = Arc::new(Self { name: name.to_owned(), registry: Mutex::default() });
        let worlds: Arc<dyn WorldControl> = Arc::<Self>::clone(&control);
        (open_emulator(settings, journal, worlds), control)
    }

    pub(super) fn connect(&self, registry: &Arc<WorldRegistry>) {
        *self.registry.lock() = Arc::downgrade(registry);
    }

    fn registry(&self) -> Result<Arc<WorldRegistry>, Error> {
        let registry = self.registry.lock().upgrade();
        registry.ok_or_else(|| Fault::new("the server has no worlds yet").into())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a replacement ends even if the caller leaves; the caller waits for it"
    )]
    /// Goes on if the caller leaves. The request that asks no longer keeps its world from being replaced.
    fn run<T, F>(&self, work: impl FnOnce(Arc<WorldRegistry>, Arc<WorldSlot>) -> F + Send + 'static) -> WorldFuture<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        release_request_lease();
        let registry = self.registry();
        let name = self.name.clone();
        Box::pin(async move {
            let registry = registry?;
            let slot = registry.find_or_refuse(&name)?;
            let task = tokio::spawn(work(registry, slot).boxed());
            let done = task.await.map_err(|error| Fault::from_cause("working on a world".to_owned(), error))?;
            done.map_err(name_missing_key)
        })
    }
}

/// A rotation of the master key leaves the files of other worlds, and snapshots, as they are.
pub(super) fn name_missing_key(error: Error) -> Error {
    let Error::Failed(fault) = &error else { return error };
    let Some(DecryptError::UnknownKey(id)) = fault.find_cause() else { return error };
    let message = format!(
        "Its secrets are encrypted with the old master key {}: put the file of that key back next to the current one",
        format_key_id(*id)
    );
    Refusal::named_reason(RefusalKind::Conflict, "", "", message).into()
}

impl WorldControl for WorldController {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn reset(&self) -> WorldFuture<WorldReplacement> {
        self.run(|registry, slot| async move {
            let _turn = registry.changes.lock().await;
            registry.reset_world(&slot).await
        })
    }

    fn list_snapshots(&self) -> WorldFuture<Vec<SnapshotFacts>> {
        self.run(|registry, _| async move { Ok(registry.list_all_snapshots()) })
    }

    fn save_snapshot(&self, name: String) -> WorldFuture<SnapshotFacts> {
        self.run(|registry, slot| async move {
            let _turn = registry.changes.lock().await;
            let world = registry.lease(&slot).await?;
            registry.save_world(&slot, &world, name).await
        })
    }

    fn load_snapshot(&self, name: String) -> WorldFuture<WorldReplacement> {
        self.run(|registry, slot| async move {
            let _turn = registry.changes.lock().await;
            registry.load_world(&slot, &name).await
        })
    }

    fn remove_snapshot(&self, name: String) -> WorldFuture<()> {
        self.run(|registry, _| async move {
            let _turn = registry.changes.lock().await;
            registry.delete_snapshot(&name)
        })
    }

    fn compare_snapshot(&self, name: String, with: Option<String>) -> WorldFuture<SnapshotComparison> {
        self.run(|registry, slot| async move {
            let world = registry.lease(&slot).await?;
            registry.compare_with(&world, &name, with).await
        })
    }

    fn list_worlds(&self) -> WorldFuture<Vec<WorldFacts>> {
        self.run(|registry, _| async move {
            let further = registry.further_worlds();
            let all = [&registry.main].into_iter().chain(&further);
            Ok(all.map(|slot| world_facts(slot)).collect())
        })
    }

    fn create_world(&self, name: String, from: String) -> WorldFuture<WorldKeys> {
        self.run(|registry, _| async move {
            let _turn = registry.changes.lock().await;
            registry.create_further_world(&name, &from).await
        })
    }

    fn find_world_keys(&self, name: String) -> WorldFuture<WorldKeys> {
        self.run(|registry, _| async move {
            let slot = registry.find_or_refuse(&name)?;
            let lines = EnvFile::load(&slot.folder)?;
            Ok(WorldKeys { name, variables: lines.variables() })
        })
    }

    fn remove_world(&self, name: String) -> WorldFuture<()> {
        self.run(|registry, _| async move {
            let _turn = registry.changes.lock().await;
            registry.remove_further_world(&name).await
        })
    }
}

fn world_facts(slot: &WorldSlot) -> WorldFacts {
    WorldFacts {
        name: slot.name.clone(),
        base_url: slot.listening.base_url.clone(),
        from: slot.origin.from.clone(),
        is_open: slot.find_open().is_some(),
    }
}

impl WorldRegistry {
    async fn reset_world(self: &Arc<Self>, slot: &Arc<WorldSlot>) -> Result<WorldReplacement, Error> {
        local_files(slot)?;
        let source = self.world_source(&slot.origin.from, slot.name == MAIN_WORLD).await?;
        self.replace_by_copy(slot, source.files, Continuation::Seed).await
    }

    async fn load_world(self: &Arc<Self>, slot: &Arc<WorldSlot>, name: &str) -> Result<WorldReplacement, Error> {
        local_files(slot)?;
        let (files, manifest) = self.open_snapshot(name).await?;
        let own = read_manifest(&slot.folder)?;
        if slot.name == MAIN_WORLD && (manifest.world != MAIN_WORLD || manifest.network != own.network) {
            let message = format!(
                "The snapshot [{name}] was made of the world {}, whose credentials differ: make a world of it with `locum \
                 world create NAME --from {name}`",
                manifest.world
            );
            return Err(Refusal::named_reason(RefusalKind::Conflict, "name", name, message).into());
        }
        self.replace_by_copy(slot, files, Continuation::NothingRepeated).await
    }

    async fn replace_by_copy(
        self: &Arc<Self>,
        slot: &Arc<WorldSlot>,
        files: WorldFiles,
        continuation: Continuation,
    ) -> Result<WorldReplacement, Error> {
        let (staging, main) = (Arc::clone(slot), Arc::clone(&self.main));
        let lines = run_blocking(move || {
            let keyring = instance::load_keyring(&main.settings, &base::Rng::Os, false)?;
            stage_copy(&staging, &files, keyring)
        })
        .await?;
        let replacement = self.replace_world(slot, continuation).await?;
        if let Some(lines) = lines {
            add_addresses(lines, slot, &self.main.listening.base_url).write(&slot.folder)?;
        }
        Ok(replacement)
    }

    /// What a new world is copied from. The main world cannot be created again if its first copy is gone.
    async fn world_source(&self, from: &str, is_main: bool) -> Result<WorldSource, Error> {
        if !BUILT_IN_WORLDS.contains(&from) && !is_world_file(from) {
            return self.snapshot_source(from).await;
        }
        let first = is_main.then(|| templates::main_template(&self.main.folder, from));
        if first.as_ref().is_some_and(|folder| !folder.exists()) {
            let message = "There is no copy of this world as it was created (a backup does not contain it): `locum dev --fresh` creates \
                           a new world, and `locum snapshot save` keeps this one to return to";
            return Err(Refusal::forbidden(message).into());
        }
        let (main, from) = (Arc::clone(&self.main), from.to_owned());
        run_blocking(move || {
            let folder = if let Some(folder) = first {
                folder
            } else {
                let keyring = instance::load_keyring(&main.settings, &base::Rng::Os, false)?;
                let opened = templates::open_template(&main.settings, keyring, &from);
                opened.map_err(|error| source_error(&from, &error))?
            };
            Ok(WorldSource { files: WorldFiles::in_folder(&folder), record: read_manifest(&folder)? })
        })
        .await
    }

    async fn snapshot_source(&self, name: &str) -> Result<WorldSource, Error> {
        let (files, manifest) = self.open_snapshot(name).await?;
        let record = InstanceManifest {
            mode: self.main.settings.mode.name().to_owned(),
            world: manifest.kind,
            seed: manifest.seed,
            starts: 0,
            network: manifest.network,
            frozen_at: None,
        };
        Ok(WorldSource { files, record })
    }

    async fn create_further_world(self: &Arc<Self>, name: &str, from: &str) -> Result<WorldKeys, Error> {
        check_world_name(name)?;
        local_files(&self.main)?;
        if self.find(Some(name)).is_some() {
            let message = format!("There is already a world named [{name}]: remove it or choose another name");
            return Err(Refusal::named_reason(RefusalKind::Conflict, "name", name, message).into());
        }
        if self.further_worlds().len() >= MAX_WORLDS {
            return Err(Refusal::forbidden(format!("There are {MAX_WORLDS} worlds already: remove one")).into());
        }
        let source = self.world_source(from, false).await?;
        let mark = world_mark(read_manifest(&self.main.folder)?.seed, name);
        let slot = self.new_slot(name, WorldOrigin { from: from.to_owned(), mark: Some(mark) });
        let (creating, main) = (Arc::clone(&slot), Arc::clone(&self.main));
        let lines = run_blocking(move || {
            let keyring = instance::load_keyring(&main.settings, &base::Rng::Os, false)?;
            let made = make_folder(&creating, &source, &main.listening.base_url, keyring);
            if made.is_err() {
                remove_path(&creating.folder)?;
            }
            made
        })
        .await?;
        self.insert(slot);
        Ok(WorldKeys { name: name.to_owned(), variables: lines.variables() })
    }

    async fn remove_further_world(self: &Arc<Self>, name: &str) -> Result<(), Error> {
        if name == MAIN_WORLD {
            let message = "The main world cannot be removed: `locum reset` returns it to its seed";
            return Err(Refusal::invalid_parameter("name", name, message).into());
        }
        let slot = self.find_or_refuse(name)?;
        let mut exclusive = slot.wait_for_exclusive_use().await?;
        self.remove(&slot);
        if let Some(world) = exclusive.take() {
            slot.close(world).await?;
        }
        let folder = slot.folder.clone();
        run_blocking(move || remove_path(&folder)).await?;
        Ok(())
    }
}

/// What is wrong with a world file is its author's problem.
fn source_error(from: &str, error: &CommandError) -> Error {
    if is_world_file(from) {
        return Refusal::invalid_parameter("from", from, error.message()).into();
    }
    Fault::new(error.message()).into()
}

struct WorldSource {
    files: WorldFiles,
    record: InstanceManifest,
}

/// The world is complete once its origin is written.
fn make_folder(
    slot: &WorldSlot,
    source: &WorldSource,
    main_url: &str,
    keyring: base::encryption::Keyring,
) -> Result<EnvFile, Error> {
    remove_path(&slot.folder)?;
    source.files.copy_to(&WorldFiles::in_folder(&slot.folder))?;
    let mark = slot.origin.mark.as_deref().unwrap_or_default();
    let lines = mark_copy(slot, &slot.folder, mark, keyring)?;
    let lines = add_addresses(lines, slot, main_url);
    InstanceManifest { starts: 0, ..source.record.clone() }.write(&slot.folder)?;
    lines.write(&slot.folder)?;
    slot.origin.write(&slot.folder)?;
    Ok(lines)
}

fn add_addresses(lines: EnvFile, slot: &WorldSlot, main_url: &str) -> EnvFile {
    let lines = lines.prepend_addresses(main_url, slot.listening.ads_sandbox.as_deref());
    lines.append_world(&slot.name, &slot.listening.base_url)
}
