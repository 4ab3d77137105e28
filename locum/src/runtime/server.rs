//! Runs all listeners and background jobs of a server until shutdown.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Fault, clock};
use deliver::links::LinkFetcher;
use deliver::webhooks::WebhookSender;
use edge::{ListenerProtocols, Shutdown};
use futures_util::future::OptionFuture;
use identity::first_owner;
use media::FileStore;
use store::NodeRole;

use super::backup_schedule::{BackupMetrics, BackupSchedule, make_scheduled_backups};
use super::clock_control::{ClockFollowers, WorldClockControl};
use super::interfaces::{ServerInterfaces, open_routers};
use super::job_runner::{JobGate, start_jobs};
use super::logging::DroppedLines;
use super::served_world::{ProcessContext, ServedWorld};
use super::signals::StopSignals;
use super::sockets::{self, BoundSockets, ClusterSocket};
use super::supervisor::Supervisor;
use super::{ads_jobs, background_jobs, descriptors, notify};
use crate::cluster::{self, ClusterKey, ClusterServer};
use crate::tls::{self, AcmeCertificates, CertificateFiles, RedirectServer};
use crate::worlds::{WorldHandler, WorldInterface, WorldRegistry};
use instance::Instance;
use instance::ListeningAddresses;
use instance::command::email_site;
use instance::command_error::CommandError;
use instance::config::RunMode;
use instance::search_snapshots::{SearchSnapshots, make_search_snapshots};

#[derive(Clone)]
pub(crate) struct ServerAddresses {
    pub(crate) base_url: String,
    pub(crate) addr: SocketAddr,
    pub(crate) ads_sandbox: Option<String>,
    pub(crate) control: Option<SocketAddr>,
    /// For a network without an owner.
    pub(crate) setup_link: Option<String>,
}

impl ServerAddresses {
    fn from_listening(listening: &ListeningAddresses, setup_link: Option<String>) -> Self {
        Self {
            setup_link,
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
    let mut worlds = None;
    let outcome = runtime.block_on(Box::pin(run_until_shutdown(instance, ready_fd, announce, &mut worlds)));
    runtime.shutdown_timeout(Duration::from_secs(1));
    if outcome.is_ok() {
        ListeningAddresses::remove(&folder);
    }
    if let Some(worlds) = worlds {
        worlds.close();
    }
    outcome
}

/// What has to be closed at the end is left in `opened`.
async fn run_until_shutdown(
    instance: Instance,
    ready_fd: Option<i32>,
    announce: impl FnOnce(&ServerAddresses) -> Result<(), CommandError>,
    opened: &mut Option<Arc<WorldRegistry>>,
) -> Result<(), CommandError> {
    let settings = Arc::clone(&instance.settings);
    let signals = StopSignals::install(instance.settings.mode)?;
    let checked = settings.open_media_files()?.check_bucket().await;
    checked.map_err(|error| CommandError::Failed(format!("media.s3_url: {error}")))?;
    BackupSchedule::from_settings(&settings)?;
    let sockets = sockets::bind(&settings)?;
    let protocols = tls::public_protocols(&settings, &sockets.listening)?;
    let shutdown = Shutdown::new();
    let process = process_context(&sockets, &shutdown, settings.mode)?;
    let listening = sockets.listening.clone();
    let worlds = opened.insert(WorldRegistry::open(instance, process).await?);
    let worlds = Arc::clone(worlds);
    let main = worlds.main_world().await?;
    listening.write(&settings.core.data_dir)?;
    let ready = ServerAddresses::from_listening(&listening, create_setup_link(&main.instance).await?);
    protocols.measure(&main.interfaces.metrics());
    let mut tasks = Supervisor::new(main.interfaces.metrics(), shutdown.clone());
    if let Some(certificates) = &protocols.certificates {
        tasks.start_endless("certificates", certificates, CertificateFiles::reload_changes);
    }
    if let Some(acme) = &protocols.acme {
        main.interfaces.wait_for_certificate(acme);
        tasks.start_endless("acme", acme, AcmeCertificates::renew);
    }
    let listeners = serve_listeners(sockets, &protocols.listener, &main, &worlds, &shutdown);
    drop(main);
    let serving = async {
        let stopping = async {
            shutdown.wait().await;
            worlds.stop_tasks().await;
        };
        tokio::join!(listeners, tasks.join_all(), stopping);
        // Also of responses that were sent during the shutdown.
        worlds.store_progress().await;
    };
    announce(&ready)?;
    announce_ready(&ready, ready_fd)?;
    let started = clock::monotonic_now();
    tokio::select! {
        () = serving => {}
        () = signals.forward_to_shutdown(shutdown.clone(), settings.listen.shutdown_delay.0) => {}
    }
    tracing::info!(seconds = started.elapsed().as_secs(), "stopped");
    Ok(())
}

/// None for a development server, and once there is an owner.
async fn create_setup_link(instance: &Instance) -> Result<Option<String>, CommandError> {
    let settings = &instance.settings;
    if settings.mode == RunMode::Dev || !settings.roles().contains(NodeRole::Api) {
        return Ok(None);
    }
    let site = email_site(instance).await?;
    let has_owner = instance.store.read(|tx| Ok(first_owner::has_owner(tx)?)).await?;
    if has_owner {
        return Ok(None);
    }
    match instance.store.write(move |tx| first_owner::create_setup_link(tx, &site)).await {
        Ok(link) => Ok(Some(link)),
        // Someone became the owner in the meantime.
        Err(Error::Refused(_)) => Ok(None),
        Err(failed) => Err(failed.into()),
    }
}

fn process_context(sockets: &BoundSockets, shutdown: &Shutdown, mode: RunMode) -> Result<ProcessContext, Fault> {
    let mut listener_stats = vec![("public", sockets.public.stats())];
    listener_stats.extend(sockets.sandbox.as_ref().map(|sandbox| ("ads_sandbox", sandbox.stats())));
    listener_stats.extend(sockets.redirect.as_ref().map(|redirect| ("redirect", redirect.stats())));
    Ok(ProcessContext {
        listening: sockets.listening.clone(),
        token: sockets.token.clone(),
        shutdown: shutdown.clone(),
        routers: open_routers(mode)?,
        listener_stats,
    })
}

type ServeFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A production server has one world, which its listeners serve directly.
fn serve_listeners(
    sockets: BoundSockets,
    protocols: &ListenerProtocols,
    main: &ServedWorld,
    worlds: &Arc<WorldRegistry>,
    shutdown: &Shutdown,
) -> ServeFuture {
    let settings = &main.instance.settings;
    let limits = descriptors::bound_connections(settings.connection_limits());
    let BoundSockets { public, redirect, sandbox, control, local, cluster, listening, .. } = sockets;
    let serve = |listener, interface| -> ServeFuture {
        let (limits, shutdown) = (limits.clone(), shutdown.clone());
        let protocols = match interface {
            WorldInterface::Control => ListenerProtocols::default(),
            WorldInterface::Public | WorldInterface::AdsSandbox => protocols.clone(),
        };
        match (settings.mode, interface) {
            (RunMode::Dev, _) => {
                edge::serve_protocols(listener, limits, protocols, WorldHandler::new(worlds, interface), shutdown)
            }
            (RunMode::Serve, WorldInterface::Control) => {
                edge::serve_protocols(listener, limits, protocols, main.control_server(), shutdown)
            }
            (RunMode::Serve, WorldInterface::AdsSandbox) => {
                edge::serve_protocols(listener, limits, protocols, main.api_server().sandbox_server(), shutdown)
            }
            (RunMode::Serve, WorldInterface::Public) => {
                edge::serve_protocols(listener, limits, protocols, main.api_server(), shutdown)
            }
        }
    };
    let public = serve(public, WorldInterface::Public);
    let redirect = redirect.map(|listener| {
        let server = RedirectServer { base_url: listening.base_url };
        edge::serve(listener, limits.clone(), server, shutdown.clone())
    });
    let sandbox = sandbox.map(|listener| serve(listener, WorldInterface::AdsSandbox));
    let control = control.map(|listener| serve(listener, WorldInterface::Control));
    let local = serve(local, WorldInterface::Control);
    let cluster = cluster.and_then(|socket| serve_cluster(&main.instance, socket, &main.cluster_key, shutdown));
    Box::pin(async move {
        tokio::join!(
            public,
            OptionFuture::from(redirect),
            OptionFuture::from(sandbox),
            OptionFuture::from(control),
            OptionFuture::from(cluster),
            local,
        );
    })
}

/// Starts the background tasks that belong to the roles of this node.
pub(super) fn start_tasks(
    instance: &Instance,
    services: &ServerInterfaces,
    sender: WebhookSender,
    bucket_files: FileStore,
    schedule: Option<BackupSchedule>,
    shutdown: &Shutdown,
) -> Result<Supervisor, CommandError> {
    let settings = &instance.settings;
    services.metrics().register(|registry| registry.register_collector(Box::new(DroppedLines)));
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
    if instance.store.is_shared() && settings.db.migrate_on_start {
        tasks.start_endless("record_indexes", &instance.store, background_jobs::build_record_indexes);
    }
    tasks.start_endless("media_migration", &bucket_files, background_jobs::move_files_to_bucket);
    // Without the role, the sender is dropped: what waits for this process to stop sending need not.
    if settings.roles().contains(NodeRole::Deliver) {
        let mailer = background_jobs::configured_mailer(settings)?;
        let (sender, gate) = (Arc::new(sender), JobGate::default());
        start_jobs(&mut tasks, instance, &gate);
        background_jobs::start(&mut tasks, instance, mailer.clone());
        ads_jobs::start(&mut tasks, instance);
        background_jobs::start_webhooks(&mut tasks, &sender);
        if let Some(emulator) = services.emulator() {
            let (instance, server) = (instance.clone(), services.api_server());
            let followers = ClockFollowers { instance, server, sender, mailer, gate };
            emulator.clock.set(WorldClockControl::start(&mut tasks, &followers));
        }
        if let Some(links) = settings.link_fetches() {
            let fetcher = LinkFetcher::new(Arc::clone(&instance.store), &settings.webhooks, links);
            tasks.start_endless("link_fetches", &fetcher, LinkFetcher::run);
        }
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
) -> Option<ServeFuture> {
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
