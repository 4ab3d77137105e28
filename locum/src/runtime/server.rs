//! Runs all listeners and background jobs of a server until shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ads_delivery::evaluator::Evaluator;
use ads_delivery::size_disclosure::SizeDisclosure;
use base::{Fault, clock};
use deliver::webhooks::WebhookAdmin;
use edge::Shutdown;
use futures_util::future::OptionFuture;

use super::backup_schedule::{BackupMetrics, BackupSchedule, make_scheduled_backups};
use super::interfaces::{self, ServerInterfaces};
use super::signals::StopSignals;
use super::sockets::{self, BoundSockets, ListeningAddresses};
use super::supervisor::Supervisor;
use super::{ads_jobs, background_jobs, notify};
use crate::command_error::CommandError;
use crate::instance::{self, Instance, open_search_index};

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
    let search = runtime.block_on(open_search_index(&instance.settings, &instance.store))?;
    let instance = Instance { search: Some(Arc::clone(&search)), ..instance };
    let page_key = interfaces::page_token_key(&instance)?;
    let discretion = SizeDisclosure { min_size: instance.settings.ads.min_audience, key: page_key };
    let instance = Instance { evaluator: Evaluator::with_size_disclosure(Some(search), discretion), ..instance };
    let outcome = runtime.block_on(Box::pin(run_until_shutdown(&instance, page_key, ready_fd, announce)));
    runtime.shutdown_timeout(Duration::from_secs(1));
    if outcome.is_ok() {
        ListeningAddresses::remove(&folder);
    }
    instance.close();
    outcome
}

async fn run_until_shutdown(
    instance: &Instance,
    page_key: [u8; 32],
    ready_fd: Option<i32>,
    announce: impl FnOnce(&ServerAddresses) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let settings = &instance.settings;
    let signals = StopSignals::install()?;
    let files = settings.open_media_files()?;
    let checked = files.check_bucket().await;
    checked.map_err(|error| CommandError::Failed(format!("media.s3_url: {error}")))?;
    instance::claim_media(settings.mode, &instance.store, &files).await?;
    let schedule = BackupSchedule::from_settings(settings)?;
    let sockets = sockets::bind(settings)?;
    sockets.listening.write(&settings.core.data_dir)?;
    let BoundSockets { public, sandbox, control, local, listening, token } = sockets;
    let ready = ServerAddresses::from_listening(&listening);
    let shutdown = Shutdown::new();
    let (webhook_admin, sender) = WebhookAdmin::open(Arc::clone(&instance.store), settings.webhooks.clone());
    let bucket_files = files.clone();
    let services = ServerInterfaces::open(instance, &listening, token, page_key, files, webhook_admin, &shutdown)?;
    let mut tasks = Supervisor::new(services.metrics(), shutdown.clone());
    services.start_background_tasks(&mut tasks, instance);
    background_jobs::start(&mut tasks, instance, background_jobs::configured_mailer(settings)?);
    ads_jobs::start(&mut tasks, instance);
    background_jobs::start_webhooks(&mut tasks, sender);
    tasks.start_endless("media_migration", &bucket_files, background_jobs::move_files_to_bucket);
    if let Some(schedule) = schedule {
        let metrics = BackupMetrics::register(&services.metrics());
        let work = (Arc::new(schedule), instance.clone(), metrics);
        tasks.start_endless("backups", &work, make_scheduled_backups);
    }
    services.register_listener_stats("public", public.stats());
    if let Some(sandbox) = &sandbox {
        services.register_listener_stats("ads_sandbox", sandbox.stats());
    }
    let serving = async {
        let control = control.map(|listener| services.serve_control(listener, &shutdown));
        let sandbox = sandbox.map(|listener| services.serve_sandbox(listener, &shutdown));
        tokio::join!(
            services.serve_public(public, &shutdown),
            OptionFuture::from(sandbox),
            OptionFuture::from(control),
            services.serve_control(local, &shutdown),
            tasks.join_all(),
        )
    };
    announce(&ready)?;
    announce_ready(&ready, ready_fd)?;
    let started = clock::monotonic_now();
    tokio::select! {
        _ = serving => {}
        () = signals.forward_to_shutdown(shutdown.clone()) => {}
    }
    tracing::info!(seconds = started.elapsed().as_secs(), "stopped");
    Ok(())
}

fn announce_ready(ready: &ServerAddresses, ready_fd: Option<i32>) -> Result<(), CommandError> {
    notify::notify_service_manager("READY=1");
    if let Some(number) = ready_fd {
        notify::notify_ready_fd(number, &ready.base_url)?;
    }
    tracing::info!(addr = %ready.addr, base_url = ready.base_url, "ready");
    Ok(())
}
