//! Runs all listeners and background jobs of a server until shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ads_delivery::evaluator::Evaluator;
use ads_delivery::size_disclosure::SizeDisclosure;
use base::{Fault, clock};
use deliver::webhooks::{WebhookAdmin, WebhookSender};
use edge::Shutdown;
use futures_util::future::OptionFuture;
use media::FileStore;
use network::search::{SearchBackend, SearchNodes};
use store::NodeRole;

use super::backup_schedule::{BackupMetrics, BackupSchedule, make_scheduled_backups};
use super::interfaces::{RequestKeys, ServerInterfaces};
use super::signals::StopSignals;
use super::sockets::{self, BoundSockets, ClusterSocket, ListeningAddresses};
use super::supervisor::Supervisor;
use super::{ads_jobs, background_jobs, notify};
use crate::cluster::{self, ClusterKey, ClusterServer, SearchNodeClient};
use crate::command_error::CommandError;
use crate::config::RunMode;
use crate::instance::{self, Instance, open_search_index};
use crate::search_snapshots::{SearchSnapshots, make_search_snapshots};
use crate::tls::{self, AcmeCertificates, CertificateFiles};

#[derive(Clone, Debug)]
pub(crate) struct ServerAddresses {
    pub(crate) base_url: String,
    pub(crate) addr: SocketAddr,
    pub(crate) ads_sandbox: Option<String>,
    pub(crate) control: Option<SocketAddr>,
}

impl ServerAddresses {
    fn from_listening(listening: &ListeningAddresses) -> Self {
        Self {
            base_url: listening.base_url.clone(),
            addr: listening.addr,
            ads_sandbox: listening.ads_sandbox.clone(),
            control: listening.control,
        }
    }
}

/// Runs until shutdown. `announce` is called once clients can connect.
pub(crate) fn run_server(
    instance: Instance,
    ready_fd: Option<i32>,
    announce: impl FnOnce(&ServerAddresses) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Fault::context("starting the runtime"))?;
    let folder = instance.settings.core.data_dir.clone();
    let roles = instance.settings.roles();
    let keys = SharedKeys { requests: RequestKeys::load(&instance)?, cluster: ClusterKey::load(&instance.store)? };
    let search = if roles.contains(NodeRole::Search) {
        Some(runtime.block_on(open_search_index(&instance.settings, &instance.store))?)
    } else {
        None
    };
    let open_client = || -> Arc<dyn SearchNodes> { SearchNodeClient::new(&instance.store, keys.cluster.clone()) };
    let others = instance.store.is_shared().then(|| (open_client(), runtime.handle().clone()));
    let backend = SearchBackend::new(search.clone(), others);
    let discretion = SizeDisclosure { min_size: instance.settings.ads.min_audience, key: keys.requests.pages };
    let evaluator = Evaluator::with_size_disclosure(Some(backend.clone()), discretion);
    let instance = Instance { search, search_backend: Some(backend), evaluator, ..instance };
    let outcome = runtime.block_on(Box::pin(run_until_shutdown(&instance, keys, ready_fd, announce)));
    runtime.shutdown_timeout(Duration::from_secs(1));
    if outcome.is_ok() {
        ListeningAddresses::remove(&folder);
    }
    instance.close();
    outcome
}

/// The same on every node of a network.
struct SharedKeys {
    requests: RequestKeys,
    cluster: ClusterKey,
}

async fn run_until_shutdown(
    instance: &Instance,
    keys: SharedKeys,
    ready_fd: Option<i32>,
    announce: impl FnOnce(&ServerAddresses) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let settings = &instance.settings;
    let signals = StopSignals::install()?;
    let files = settings.open_media_files()?;
    let checked = files.check_bucket().await;
    checked.map_err(|error| CommandError::Failed(format!("media.s3_url: {error}")))?;
    instance::claim_media(settings.mode, &instance.store, &files).await?;
    if settings.mode == RunMode::Serve {
        instance::check_media_is_shared(&instance.store, &files).await?;
    }
    let schedule = BackupSchedule::from_settings(settings)?;
    let sockets = sockets::bind(settings)?;
    let protocols = tls::public_protocols(settings, &sockets.listening)?;
    sockets.listening.write(&settings.core.data_dir)?;
    let BoundSockets { public, redirect, sandbox, control, local, cluster, listening, token } = sockets;
    let ready = ServerAddresses::from_listening(&listening);
    let shutdown = Shutdown::new();
    let (webhook_admin, sender) = WebhookAdmin::open(Arc::clone(&instance.store), settings.webhooks.clone());
    let bucket_files = files.clone();
    let services =
        ServerInterfaces::open(instance, &listening, token, &keys.requests, files, webhook_admin, &shutdown)?;
    let mut tasks = start_tasks(instance, &services, sender, bucket_files, schedule, &shutdown)?;
    if let Some(certificates) = &protocols.certificates {
        tasks.start_endless("certificates", certificates, CertificateFiles::reload_changes);
    }
    if let Some(acme) = &protocols.acme {
        services.wait_for_certificate(acme);
        tasks.start_endless("acme", acme, AcmeCertificates::renew);
    }
    services.register_listener_stats("public", public.stats());
    if let Some(sandbox) = &sandbox {
        services.register_listener_stats("ads_sandbox", sandbox.stats());
    }
    let cluster = cluster.and_then(|socket| serve_cluster(instance, socket, &keys.cluster, &shutdown));
    let serving = async {
        let control = control.map(|listener| services.serve_control(listener, &shutdown));
        let sandbox = sandbox.map(|listener| services.serve_sandbox(listener, &shutdown));
        let redirect = redirect.map(|listener| services.serve_redirect(listener, &listening, &shutdown));
        tokio::join!(
            services.serve_public(public, protocols.listener, &shutdown),
            OptionFuture::from(redirect),
            OptionFuture::from(sandbox),
            OptionFuture::from(control),
            OptionFuture::from(cluster),
            services.serve_control(local, &shutdown),
            tasks.join_all(),
        );
        // Of responses that were sent during the shutdown.
        services.flush_views().await;
    };
    announce(&ready)?;
    announce_ready(&ready, ready_fd)?;
    let started = clock::monotonic_now();
    tokio::select! {
        () = serving => {}
        () = signals.forward_to_shutdown(shutdown.clone()) => {}
    }
    tracing::info!(seconds = started.elapsed().as_secs(), "stopped");
    Ok(())
}

/// Starts the background tasks that belong to the roles of this node.
fn start_tasks(
    instance: &Instance,
    services: &ServerInterfaces,
    sender: WebhookSender,
    bucket_files: FileStore,
    schedule: Option<BackupSchedule>,
    shutdown: &Shutdown,
) -> Result<Supervisor, CommandError> {
    let settings = &instance.settings;
    let mut tasks = Supervisor::new(services.metrics(), shutdown.clone());
    services.start_background_tasks(&mut tasks, instance);
    if let Some(search) = &instance.search {
        let snapshots = SearchSnapshots::open(instance, &services.metrics())?;
        let index = (Arc::clone(search), Arc::clone(&instance.store), snapshots.clone());
        tasks.start_endless("search_index", &index, |(search, store, snapshots)| async move {
            if let Some(snapshots) = snapshots {
                snapshots.restore_index().await;
            }
            search.run_indexer(&store).await;
        });
        if let Some(snapshots) = snapshots {
            tasks.start_endless("search_snapshots", &snapshots, make_search_snapshots);
        }
    }
    tasks.start_endless("media_migration", &bucket_files, background_jobs::move_files_to_bucket);
    // Without the role, the sender is dropped: what waits for this process to stop sending need not.
    if settings.roles().contains(NodeRole::Deliver) {
        background_jobs::start(&mut tasks, instance, background_jobs::configured_mailer(settings)?);
        ads_jobs::start(&mut tasks, instance);
        background_jobs::start_webhooks(&mut tasks, sender);
        if let Some(schedule) = schedule {
            let metrics = BackupMetrics::register(&services.metrics());
            let work = (Arc::new(schedule), instance.clone(), metrics);
            tasks.start_endless("backups", &work, make_scheduled_backups);
        }
    }
    Ok(tasks)
}

/// Serves the index of this node to others, which learn its address. None without an index.
fn serve_cluster(
    instance: &Instance,
    socket: ClusterSocket,
    key: &ClusterKey,
    shutdown: &Shutdown,
) -> Option<impl Future<Output = ()> + use<>> {
    let server = ClusterServer::new(Arc::clone(&instance.store), Arc::clone(instance.search.as_ref()?), key.clone());
    instance.store.context().node.set_address(socket.address);
    Some(edge::serve(socket.listener, cluster::listener_limits(), server, shutdown.clone()))
}

fn announce_ready(ready: &ServerAddresses, ready_fd: Option<i32>) -> Result<(), CommandError> {
    notify::notify_service_manager("READY=1");
    if let Some(number) = ready_fd {
        notify::notify_ready_fd(number, &ready.base_url)?;
    }
    tracing::info!(addr = %ready.addr, base_url = ready.base_url, "ready");
    Ok(())
}
