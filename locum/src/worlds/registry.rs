//! All worlds of a server.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal};
use emulator::journal::Journal;
use parking_lot::RwLock;
use tokio::sync::Semaphore;
use web::WorldAddress;

use super::control::WorldController;
use super::request_world::{mark_candidates, world_path};
use super::slot::{WorldLease, WorldOrigin, WorldSlot, WorldSlotParts};
use super::testing_tools::{journal_limits, open_journal};
use super::{MAIN_WORLD, WORLDS_FOLDER, names, world_folder};
use crate::runtime::{ProcessContext, ServedWorld};
use instance::ListeningAddresses;
use instance::command_error::CommandError;
use instance::config::{Origin, RunMode, ServerSettings};
use instance::{Instance, InstanceManifest};

/// Worlds beside the main one that are open at the same time, on a machine with few processors; those that were not used for
/// longest are closed, and forget the calls that they have counted.
const MIN_OPEN_WORLDS: usize = 10;
/// A test runner has a test for each processor.
const OPEN_WORLDS_PER_PROCESSOR: usize = 2;
pub(super) const MAX_WORLDS: usize = 200;
const MAX_OPENINGS: usize = 2;

pub(crate) struct WorldRegistry {
    pub(super) process: ProcessContext,
    pub(super) main: Arc<WorldSlot>,
    /// False in production, where requests cannot choose a world.
    pub(super) allows_further_worlds: bool,
    further: RwLock<FurtherWorlds>,
    /// Worlds that are opened at the same time.
    openings: Semaphore,
    /// Creations and removals take turns.
    pub(super) changes: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct FurtherWorlds {
    by_name: BTreeMap<String, Arc<WorldSlot>>,
    names_by_mark: BTreeMap<String, String>,
}

impl WorldRegistry {
    /// Starts the main world, and finds those beside it.
    pub(crate) async fn open(instance: Instance, process: ProcessContext) -> Result<Arc<Self>, CommandError> {
        let settings = Arc::clone(&instance.settings);
        let is_dev = settings.mode == RunMode::Dev;
        let listening = process.listening.clone();
        let journal = is_dev.then(|| open_journal(&settings)).transpose()?;
        let (emulator, control) =
            journal.map(|journal| WorldController::emulator(MAIN_WORLD, &settings, journal)).unzip();
        let world = ServedWorld::open(instance, &process, &listening, emulator.clone()).await?;
        let parts = WorldSlotParts {
            name: MAIN_WORLD.to_owned(),
            folder: settings.core.data_dir.clone(),
            origin: WorldOrigin {
                from: InstanceManifest::read(&settings.core.data_dir)?.map_or_else(String::new, |record| record.world),
                mark: None,
            },
            settings,
            listening,
            emulator,
        };
        let main = WorldSlot::new(parts, Some(Arc::new(world)));
        let registry = Arc::new(Self {
            process,
            main,
            allows_further_worlds: is_dev,
            further: RwLock::default(),
            openings: Semaphore::new(MAX_OPENINGS),
            changes: tokio::sync::Mutex::default(),
        });
        if let Some(control) = control {
            control.connect(&registry);
            registry.find_existing()?;
        }
        Ok(registry)
    }

    /// Finds the worlds of earlier processes.
    fn find_existing(self: &Arc<Self>) -> Result<(), Fault> {
        let Ok(entries) = std::fs::read_dir(self.worlds_folder()) else {
            return Ok(());
        };
        for entry in entries {
            let entry = entry.map_err(Fault::context("reading the worlds"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            match WorldOrigin::read(&entry.path()).filter(|_| names::check_world_name(&name).is_ok()) {
                Some(origin) => {
                    let slot = self.new_slot(&name, origin);
                    super::recover_interrupted_replacement(&slot.settings)?;
                    self.insert(slot);
                }
                // Its creation was interrupted.
                None => super::files::remove_path(&entry.path())?,
            }
        }
        Ok(())
    }

    pub(super) fn worlds_folder(&self) -> PathBuf {
        self.main.folder.join(WORLDS_FOLDER)
    }

    /// A world beside the main one, which is not open.
    pub(super) fn new_slot(self: &Arc<Self>, name: &str, origin: WorldOrigin) -> Arc<WorldSlot> {
        let folder = world_folder(&self.main.folder, name);
        let settings = further_settings(&self.main, &folder);
        let journal = Journal::new(journal_limits(&settings), None);
        let (emulator, control) = WorldController::emulator(name, &settings, journal);
        control.connect(self);
        let parts = WorldSlotParts {
            name: name.to_owned(),
            settings: Arc::new(settings),
            folder,
            listening: self.listening_of(name),
            origin,
            emulator: Some(emulator),
        };
        WorldSlot::new(parts, None)
    }

    /// Links that carry no credentials name the world by their host, those of files by their path.
    fn listening_of(&self, name: &str) -> ListeningAddresses {
        let main = &self.process.listening;
        let (scheme, authority) = main.base_url.split_once("://").unwrap_or(("http", &main.base_url));
        let base_url = match authority.rsplit_once(':') {
            Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{scheme}://{name}.localhost:{port}")
            }
            _ => format!("{scheme}://{name}.localhost"),
        };
        let main_url = main.base_url.trim_end_matches('/').to_owned();
        let world = Some(WorldAddress { main_url, path: world_path(name) });
        ListeningAddresses { base_url, world, ..main.clone() }
    }

    pub(super) fn insert(&self, slot: Arc<WorldSlot>) {
        let mut further = self.further.write();
        if let Some(mark) = &slot.origin.mark {
            further.names_by_mark.insert(mark.clone(), slot.name.clone());
        }
        further.by_name.insert(slot.name.clone(), slot);
    }

    pub(super) fn remove(&self, slot: &WorldSlot) {
        let mut further = self.further.write();
        further.by_name.remove(&slot.name);
        if let Some(mark) = &slot.origin.mark {
            further.names_by_mark.remove(mark);
        }
    }

    pub(super) fn has_further_worlds(&self) -> bool {
        !self.further.read().by_name.is_empty()
    }

    /// The main world without a name.
    pub(super) fn find(&self, name: Option<&str>) -> Option<Arc<WorldSlot>> {
        match name {
            None | Some(MAIN_WORLD) => Some(Arc::clone(&self.main)),
            Some(name) => self.further.read().by_name.get(name).cloned(),
        }
    }

    pub(super) fn find_or_refuse(&self, name: &str) -> Result<Arc<WorldSlot>, Error> {
        self.find(Some(name)).ok_or_else(|| {
            let message = format!("There is no world named [{name}]: `locum world list` shows those that there are");
            Refusal::named_reason(RefusalKind::NotFound, "name", name, message).into()
        })
    }

    pub(super) fn further_worlds(&self) -> Vec<Arc<WorldSlot>> {
        self.further.read().by_name.values().cloned().collect()
    }

    /// The world whose mark is at the end of a word of the text.
    pub(super) fn find_marked(&self, text: &str) -> Option<String> {
        let further = self.further.read();
        mark_candidates(text).find_map(|mark| further.names_by_mark.get(mark).cloned())
    }

    /// Opens the world if it is not open.
    pub(super) async fn lease(self: &Arc<Self>, slot: &Arc<WorldSlot>) -> Result<WorldLease, Error> {
        loop {
            if let Some(lease) = slot.lease().await {
                return Ok(lease);
            }
            let _turn = self.openings.acquire().await.map_err(Fault::context("opening a world"))?;
            let mut exclusive = slot.wait_for_exclusive_use().await?;
            if exclusive.is_none() {
                if self.find(Some(&slot.name)).is_none() {
                    return Err(Refusal::RouteNotFound.into());
                }
                self.close_idle_worlds().await;
                *exclusive = Some(Arc::new(self.open_files(slot, None).await?));
            }
        }
    }

    /// Makes room for one more open world. Those that are in use or have streams stay.
    async fn close_idle_worlds(&self) {
        let mut open: Vec<_> = self.further_worlds().into_iter().filter(|slot| slot.find_open().is_some()).collect();
        open.sort_by_key(|slot| slot.last_use_ms());
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let max_open = MIN_OPEN_WORLDS.max(OPEN_WORLDS_PER_PROCESSOR * processors);
        let mut excess = (open.len() + 1).saturating_sub(max_open);
        for slot in open {
            if excess == 0 || has_streams(&slot) {
                continue;
            }
            let Some(mut exclusive) = slot.try_exclusive_use() else { continue };
            if let Some(world) = exclusive.take()
                && let Err(fault) = slot.close(world).await
            {
                tracing::warn!(error = %fault, world = slot.name, "failed to close a world");
            }
            excess -= 1;
        }
    }

    pub(crate) async fn main_world(&self) -> Result<Arc<ServedWorld>, CommandError> {
        let lease = self.main.lease().await;
        lease.map(|lease| Arc::clone(&lease)).ok_or_else(|| Fault::new("the main world is not open").into())
    }

    fn open_worlds(&self) -> Vec<Arc<ServedWorld>> {
        let further = self.further_worlds();
        [&self.main].into_iter().chain(&further).filter_map(|slot| slot.find_open()).collect()
    }

    /// Ends streams and background tasks at the end of the process.
    pub(crate) async fn stop_tasks(&self) {
        let worlds = self.open_worlds();
        futures_util::future::join_all(worlds.iter().map(|world| world.stop_tasks())).await;
    }

    pub(crate) async fn store_progress(&self) {
        for world in self.open_worlds() {
            world.store_progress().await;
        }
    }

    /// Closes all files, after the runtime has ended. Blocks.
    pub(crate) fn close(&self) {
        let further = self.further_worlds();
        for slot in [&self.main].into_iter().chain(&further) {
            if let Some(world) = slot.blocking_take() {
                world.close_files();
            }
        }
    }
}

fn has_streams(slot: &WorldSlot) -> bool {
    slot.find_open().is_some_and(|world| world.api_server().stream_hub().connection_counts().0 > 0)
}

/// One connection reads, so that an idle world is cheap.
fn further_settings(main: &WorldSlot, folder: &Path) -> ServerSettings {
    let mut settings = (*main.settings).clone();
    settings.master_key_file = instance::key_file_path(&settings);
    folder.clone_into(&mut settings.core.data_dir);
    settings.media_dir = folder.join("media");
    settings.core.public_origins.push(Origin(main.listening.base_url.clone()));
    settings.db.connections = 1;
    settings.backup.to = None;
    settings
}
