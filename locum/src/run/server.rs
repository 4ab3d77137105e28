//! Everything that runs, in one place, from the first listener to the last farewell.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ads::evaluator::Evaluator;
use ads::size_disclosure::SizeDisclosure;
use base::{Fault, clock};
use deliver::webhooks::WebhookAdmin;
use edge::Shutdown;
use futures_util::future::OptionFuture;
use network::search::PostSearch;

use super::doors::{self, Doors};
use super::signals::Signals;
use super::sockets::{self, Listening, Sockets};
use super::{advertising, background, notify};
use crate::exit::Exit;
use crate::world::{INDEX, World};

/// What is known once clients can come.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// The address that clients use.
    pub(crate) base_url: String,
    /// Where the server listens.
    pub(crate) addr: SocketAddr,
    /// The address of the advertising interface's sandbox, where it has a port of its own.
    pub(crate) ads_sandbox: Option<String>,
    /// Where administration comes to, beside the socket.
    pub(crate) control: Option<SocketAddr>,
}

impl Ready {
    fn of(listening: &Listening) -> Self {
        Self {
            base_url: listening.base_url.clone(),
            addr: listening.addr,
            ads_sandbox: listening.ads_sandbox.clone(),
            control: listening.control,
        }
    }
}

/// Runs a server on an open world until it is told to stop. `announce` is called once clients can
/// come.
pub(crate) fn run(
    world: World,
    ready_fd: Option<i32>,
    announce: impl FnOnce(&Ready) -> Result<(), Exit>,
) -> Result<(), Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Fault::context("starting the runtime"))?;
    let folder = world.settings.data_dir.clone();
    let search = PostSearch::open(&folder.join(INDEX))?;
    let world = World {
        search: Some(Arc::clone(&search)),
        ..world
    };
    let page_key = doors::page_key(&world)?;
    let discretion = SizeDisclosure {
        min_size: world.settings.least_audience,
        key: page_key,
    };
    let world = World {
        evaluator: Evaluator::with_size_disclosure(Some(search), discretion),
        ..world
    };
    let outcome = runtime.block_on(Box::pin(live(&world, page_key, ready_fd, announce)));
    runtime.shutdown_timeout(Duration::from_secs(1));
    if outcome.is_ok() {
        Listening::remove(&folder);
    }
    world.close();
    outcome
}

async fn live(
    world: &World,
    page_key: [u8; 32],
    ready_fd: Option<i32>,
    announce: impl FnOnce(&Ready) -> Result<(), Exit>,
) -> Result<(), Exit> {
    let settings = &world.settings;
    let signals = Signals::watch()?;
    let files = settings.files()?;
    let checked = files.check_bucket().await;
    checked.map_err(|error| Exit::Failed(format!("media.s3_url: {error}")))?;
    let sockets = sockets::bind(settings)?;
    sockets.listening.write(&settings.data_dir)?;
    let Sockets {
        public,
        sandbox,
        control,
        local,
        listening,
        token,
    } = sockets;
    let ready = Ready::of(&listening);
    let shutdown = Shutdown::new();
    let (desk, sender) = WebhookAdmin::open(Arc::clone(&world.store), settings.webhooks.clone());
    let kept = files.clone();
    let doors = Doors::open(world, &listening, token, page_key, files, desk, &shutdown)?;
    let mailer = background::mailer(settings)?;
    doors.watch("public", public.stats());
    if let Some(sandbox) = &sandbox {
        doors.watch("ads_sandbox", sandbox.stats());
    }
    let serving = async {
        let control = control.map(|listener| doors.administer(listener, &shutdown));
        let sandbox = sandbox.map(|listener| doors.serve_sandbox(listener, &shutdown));
        tokio::join!(
            doors.serve(public, &shutdown),
            OptionFuture::from(sandbox),
            OptionFuture::from(control),
            doors.administer(local, &shutdown),
            background::keep(world.clone(), doors.uploads(), shutdown.clone()),
            background::send(world.clone(), mailer, shutdown.clone()),
            background::close_polls(world.clone(), shutdown.clone()),
            advertising::work(world.clone(), shutdown.clone()),
            background::follow_topics(world.clone(), shutdown.clone()),
            background::index_posts(world.clone(), shutdown.clone()),
            background::work_on_jobs(world.clone(), shutdown.clone()),
            background::settle(kept, &shutdown),
            sender.run(shutdown.wait()),
            doors.look_at_uploads(&shutdown),
            doors.keep_up(&shutdown),
            doors.note_usage(&shutdown),
            doors.hold_streams(&shutdown),
            doors.tell_activity(world, &shutdown),
        )
    };
    announce(&ready)?;
    told(&ready, ready_fd)?;
    let started = clock::monotonic_now();
    tokio::select! {
        _ = serving => {}
        () = signals.follow(shutdown.clone()) => {}
    }
    tracing::info!(seconds = started.elapsed().as_secs(), "stopped");
    Ok(())
}

fn told(ready: &Ready, ready_fd: Option<i32>) -> Result<(), Exit> {
    notify::manager("READY=1");
    if let Some(number) = ready_fd {
        notify::ready_fd(number, &ready.base_url)?;
    }
    tracing::info!(addr = %ready.addr, base_url = ready.base_url, "ready");
    Ok(())
}
