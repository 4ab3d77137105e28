//! Everything that belongs to one world while it is served: store, index, request pipeline, streams and background
//! tasks.

use std::sync::Arc;
use std::time::Duration;

use ads_delivery::evaluator::Evaluator;
use ads_delivery::size_disclosure::SizeDisclosure;
use base::Fault;
use deliver::webhooks::{WebhookAdmin, WebhookSettings};
use edge::{ListenerStats, Shutdown};
use emulator::Emulator;
use post_search::{SearchBackend, SearchNodes};
use store::NodeRole;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;
use web::ApiServer;
use web::control::ControlServer;
use web::router::ApiRouters;

use super::backup_schedule::BackupSchedule;
use super::interfaces::{RequestKeys, ServerInterfaces};
use super::server::start_tasks;
use super::supervisor::Supervisor;
use crate::cluster::{ClusterKey, SearchNodeClient};
use instance::ListeningAddresses;
use instance::command_error::CommandError;
use instance::config::RunMode;
use instance::{self, Instance, open_search_index};

/// Tasks that have not ended by then are aborted.
const MAX_TASK_STOP_TIME: Duration = Duration::from_secs(5);

/// What the worlds of a process share.
pub(crate) struct ProcessContext {
    pub(crate) listening: ListeningAddresses,
    pub(crate) token: String,
    pub(crate) shutdown: Shutdown,
    pub(crate) routers: ApiRouters,
    pub(crate) listener_stats: Vec<(&'static str, Arc<ListenerStats>)>,
}

pub(crate) struct ServedWorld {
    pub(crate) instance: Instance,
    pub(crate) interfaces: ServerInterfaces,
    pub(super) cluster_key: ClusterKey,
    tasks: Mutex<Supervisor>,
    shutdown: Shutdown,
}

impl ServedWorld {
    /// Starts what belongs to an open store. `listening` is where clients meet this world.
    pub(crate) async fn open(
        instance: Instance,
        process: &ProcessContext,
        listening: &ListeningAddresses,
        emulator: Option<Arc<Emulator>>,
    ) -> Result<Self, CommandError> {
        let (instance, keys, cluster_key) = open_search(instance).await?;
        let settings = &instance.settings;
        let files = settings.open_media_files()?;
        instance::claim_media(settings.mode, &instance.store, &files).await?;
        if settings.mode == RunMode::Serve {
            instance::check_media_is_shared(&instance.store, &files).await?;
        }
        let schedule = BackupSchedule::from_settings(settings)?;
        let faults = emulator.as_ref().map(|emulator| Arc::clone(&emulator.faults));
        let webhook_settings = WebhookSettings { faults, ..settings.webhooks.clone() };
        let (webhook_admin, sender) = WebhookAdmin::open(Arc::clone(&instance.store), webhook_settings);
        let interfaces =
            ServerInterfaces::open(&instance, listening, &keys, files.clone(), webhook_admin, emulator, process)?;
        for (name, stats) in &process.listener_stats {
            interfaces.register_listener_stats(name, Arc::clone(stats));
        }
        let shutdown = Shutdown::new();
        let tasks = start_tasks(&instance, &interfaces, sender, files, schedule, &shutdown)?;
        Ok(Self { instance, interfaces, cluster_key, tasks: Mutex::new(tasks), shutdown })
    }

    pub(crate) fn api_server(&self) -> ApiServer {
        self.interfaces.api_server()
    }

    pub(crate) fn control_server(&self) -> ControlServer {
        self.interfaces.control_server()
    }

    /// Ends the streams with an operational disconnect and the background tasks; stores what was only counted.
    pub(crate) async fn stop(&self) {
        self.stop_tasks().await;
        self.store_progress().await;
    }

    /// Stores what is only in memory: what was counted, which calls were leased and not used, and how far a clock has come
    /// that runs at a factor.
    pub(crate) async fn store_progress(&self) {
        self.interfaces.store_counts().await;
        self.interfaces.return_leased_calls().await;
        if let Err(error) = self.instance.store.save_clock_progress().await {
            tracing::warn!("the world's clock could not be stored: {error}");
        }
    }

    pub(crate) async fn stop_tasks(&self) {
        if let Some(emulator) = self.interfaces.emulator() {
            emulator.leave_world();
        }
        self.shutdown.trigger();
        let mut tasks = self.tasks.lock().await;
        if timeout(MAX_TASK_STOP_TIME, tasks.join_all()).await.is_err() {
            tracing::warn!("background tasks did not end in time; aborting them");
            tasks.abort_all().await;
        }
    }

    /// Closes the files of a stopped world, whoever still holds it. Blocks.
    pub(crate) fn close_files(&self) {
        if let Some(search) = &self.instance.search {
            search.release_files();
        }
        self.instance.store.close();
    }
}

async fn open_search(instance: Instance) -> Result<(Instance, RequestKeys, ClusterKey), CommandError> {
    let settings = Arc::clone(&instance.settings);
    let loading = instance.clone();
    // Loading keys blocks.
    let keys = tokio::task::spawn_blocking(move || {
        Ok::<_, CommandError>((RequestKeys::load(&loading)?, ClusterKey::load(&loading.store)?))
    });
    let (requests, cluster) = keys.await.map_err(Fault::context("loading the keys"))??;
    let search = if settings.roles().contains(NodeRole::Search) {
        Some(open_search_index(&settings, &instance.store).await?)
    } else {
        None
    };
    let open_client = || -> Arc<dyn SearchNodes> { SearchNodeClient::new(&instance.store, cluster.clone()) };
    let others = instance.store.is_shared().then(|| (open_client(), Handle::current()));
    let backend = SearchBackend::new(search.clone(), others);
    let disclosure = SizeDisclosure { min_size: settings.ads.min_audience, key: requests.pages };
    let evaluator = Evaluator::with_size_disclosure(Some(backend.clone()), disclosure);
    let instance = Instance { search, search_backend: Some(backend), evaluator, ..instance };
    Ok((instance, requests, cluster))
}
