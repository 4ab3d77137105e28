//! What answers behind each listener.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::Secret;
use bytes::Bytes;
use deliver::webhooks::WebhookAdmin;
use edge::{Listener, ListenerStats, Shutdown};
use media::FileStore;
use network::apps::{AuthConfig, Authenticator};
use network::oauth1_flow::LoopbackPorts;
use network::oauth2_flow::OAuth2Config;
use web::control::{Command, Control};
use web::limits::Mode as Limiting;
use web::metrics::Metrics;
use web::uploads::Uploads;
use web::{Config, Reply, Server};

use super::background;
use super::sockets::Listening;
use crate::command;
use crate::config::{Mode, RateLimits, Settings};
use crate::exit::Exit;
use crate::world::{self, World};

/// How often usage is written down.
const NOTE_EVERY: Duration = Duration::from_secs(5);

/// The public interface and the control interface.
pub(super) struct Doors {
    server: Server,
    control: Control,
    limits: edge::ListenerLimits,
    metrics: Arc<Metrics>,
    authenticator: Arc<Authenticator>,
}

type Serving = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Doors {
    /// Both, over an open world.
    pub(super) fn open(
        world: &World,
        listening: &Listening,
        token: String,
        page_key: [u8; 32],
        files: FileStore,
        webhooks: WebhookAdmin,
        shutdown: &Shutdown,
    ) -> Result<Self, Exit> {
        let (settings, store) = (&world.settings, &world.store);
        let metrics = Arc::new(Metrics::default());
        let authenticator =
            Authenticator::new(Arc::clone(store), &auth_config(settings, listening))?;
        let authenticator = Arc::new(authenticator);
        let server = Server::new(
            &web::operations::ENDPOINTS,
            Arc::clone(store),
            Arc::clone(&authenticator),
            Arc::clone(&metrics),
            shutdown.clone(),
            Config {
                files: Some(files),
                search: world.search.clone(),
                evaluator: Some(Arc::clone(&world.evaluator)),
                webhooks,
                ..config(settings, listening, page_key)
            },
        )?;
        let commands = vec![commands(world)];
        let control = Control::new(
            server.health(),
            Arc::clone(&metrics),
            Secret::new(token),
            commands,
        );
        Ok(Self {
            server,
            control,
            limits: settings.edge.clone(),
            metrics,
            authenticator,
        })
    }

    /// Counts what comes to a listener.
    pub(super) fn watch(&self, name: &'static str, stats: Arc<ListenerStats>) {
        self.metrics.add_listener(name, stats);
    }

    /// Keeps up with what other nodes change, until the signal to stop.
    pub(super) async fn keep_up(&self, shutdown: &Shutdown) {
        tokio::select! {
            () = self.authenticator.poll_credential_changes() => {}
            () = shutdown.wait() => {}
        }
    }

    /// Writes down what apps call every few seconds, and a last time at the signal to stop.
    pub(super) async fn note_usage(&self, shutdown: &Shutdown) {
        loop {
            let _early = tokio::time::timeout(NOTE_EVERY, shutdown.wait()).await;
            if let Err(stop) = self.server.note_usage().await {
                tracing::warn!(?stop, "usage was not written down; it is tried again");
            }
            if shutdown.is_triggered() {
                return;
            }
        }
    }

    /// Keeps streams open until the signal to stop, and then says good-bye on each.
    pub(super) async fn hold_streams(&self, shutdown: &Shutdown) {
        tokio::select! {
            () = self.server.hold_streams() => {}
            () = shutdown.wait() => {}
        }
        if let Err(stop) = self.server.end_streams().await {
            tracing::warn!(?stop, "the end of streams was not written down");
        }
    }

    /// Tells of events until the signal to stop.
    pub(super) async fn tell_activity(&self, world: &World, shutdown: &Shutdown) {
        let (hub, home) = (self.server.hub(), self.server.events());
        background::follow_activity(world.clone(), hub, home, shutdown.clone()).await;
    }

    /// Looks at uploads until the signal to stop.
    pub(super) async fn look_at_uploads(&self, shutdown: &Shutdown) {
        if let Some(uploads) = self.server.uploads() {
            uploads.run(shutdown).await;
        }
    }

    /// What turns uploads into media.
    pub(super) fn uploads(&self) -> Option<Uploads> {
        self.server.uploads()
    }

    /// Answers clients.
    pub(super) fn serve(&self, listener: Listener, shutdown: &Shutdown) -> Serving {
        let limits = self.limits.clone();
        Box::pin(edge::serve(
            listener,
            limits,
            self.server.clone(),
            shutdown.clone(),
        ))
    }

    /// Answers clients in the sandbox of the advertising interface.
    pub(super) fn serve_sandbox(&self, listener: Listener, shutdown: &Shutdown) -> Serving {
        let limits = self.limits.clone();
        Box::pin(edge::serve(
            listener,
            limits,
            self.server.in_sandbox(),
            shutdown.clone(),
        ))
    }

    /// Answers administrators.
    pub(super) fn administer(&self, listener: Listener, shutdown: &Shutdown) -> Serving {
        let limits = self.limits.clone();
        Box::pin(edge::serve(
            listener,
            limits,
            self.control.clone(),
            shutdown.clone(),
        ))
    }
}

fn auth_config(settings: &Settings, listening: &Listening) -> AuthConfig {
    let mut public_origins = vec![listening.base_url.clone()];
    public_origins.extend(settings.public_origins.iter().cloned());
    AuthConfig {
        data_dir: settings.data_dir.clone(),
        public_origins,
        timestamp_skew_ms: ms(settings.timestamp_skew),
    }
}

fn config(settings: &Settings, listening: &Listening, page_key: [u8; 32]) -> Config {
    Config {
        rate_limits: match settings.rate_limits {
            RateLimits::Table => Limiting::Table,
            RateLimits::Off => Limiting::Off,
            RateLimits::Scale(times) => Limiting::Scale(times),
        },
        rules: rules(settings, listening),
        default_vocabulary: settings.vocabulary,
        problem_base: settings.problem_base.clone(),
        trusted_proxies: settings.trusted_proxies.clone(),
        cors_origins: settings.cors_origins.clone(),
        body_limit: settings.body_max,
        body_timeout: settings.edge.body_total_timeout,
        page_key,
        base_url: listening.base_url.trim_end_matches('/').to_owned(),
        origins: settings.public_origins.clone(),
        dev: settings.mode == Mode::Dev,
        site_name: settings.site_name.clone(),
        registration: settings.registration,
        session_ttl_ms: ms(settings.session_ttl),
        warns_of_plain: settings.warns_of_plain,
        sends_mail: settings.mail.is_some(),
        ads: settings.ads.clone(),
        streams: deliver::streams::StreamSettings {
            node_id: settings.node,
            buffer_bytes: settings.stream_buffer,
            keep_alive: settings.stream_keep_alive,
            problem_base: settings.problem_base.clone(),
        },
        ..Config::default()
    }
}

fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// How the OAuth flows are set up: clients in development listen where there is a free port.
fn rules(settings: &Settings, listening: &Listening) -> OAuth2Config {
    let loose = settings.mode == Mode::Dev;
    OAuth2Config {
        issuer: Some(listening.base_url.clone()),
        ports: if loose {
            LoopbackPorts::AnyOnLoopback
        } else {
            LoopbackPorts::Exact
        },
        ..OAuth2Config::default()
    }
}

/// The door that commands come in by when a server has the data folder.
fn commands(world: &World) -> Command {
    let world = world.clone();
    Command {
        path: "/_control/command",
        act: Arc::new(move |body: Bytes| {
            let world = world.clone();
            Box::pin(async move { Reply::json(200, &command::answer(world, &body).await) })
        }),
    }
}

/// The key of page tokens.
pub(super) fn page_key(world: &World) -> Result<[u8; 32], Exit> {
    Ok(world::shared_key(&world.store, "page_key")?)
}
