//! The services behind each listener.

use std::sync::Arc;
use std::time::Duration;

use base::{Fault, Secret};
use bytes::Bytes;
use deliver::webhooks::WebhookAdmin;
use edge::{ListenerStats, Shutdown};
use emulator::Emulator;
use identity::apps::{AuthConfig, Authenticator};
use identity::oauth1_flow::LoopbackPorts;
use identity::oauth2_flow::OAuth2Config;
use media::FileStore;
use store::{NodeRole, QueryLimits};
use web::control::{ControlCommand, ControlServer};
use web::endpoint::Endpoint;
use web::metrics::ServerMetrics;
use web::router::ApiRouters;
use web::{ApiServer, HttpReply, ServerConfig};

use super::background_jobs;
use super::served_world::ProcessContext;
use super::supervisor::Supervisor;
use crate::tls::AcmeCertificates;
use instance::ListeningAddresses;
use instance::command;
use instance::command_error::CommandError;
use instance::config::{Origin, PlainPkce, RunMode, ServerSettings};
use instance::{self, Instance};

const USAGE_FLUSH_INTERVAL: Duration = Duration::from_secs(5);
const VIEW_FLUSH_INTERVAL: Duration = Duration::from_secs(1);
const LEASE_RETURN_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct ServerInterfaces {
    server: ApiServer,
    control: ControlServer,
    metrics: Arc<ServerMetrics>,
    authenticator: Arc<Authenticator>,
    emulator: Option<Arc<Emulator>>,
}

/// The same on every node.
pub(super) struct RequestKeys {
    pub(super) pages: [u8; 32],
    refreshed_tokens: [u8; 32],
    short_links: [u8; 32],
}

impl RequestKeys {
    /// Blocks; created by the first node.
    pub(super) fn load(instance: &Instance) -> Result<Self, CommandError> {
        let load = |name| instance::shared_key(&instance.store, name);
        Ok(Self {
            pages: load("page_key")?,
            refreshed_tokens: load("refreshed_token_key")?,
            short_links: load("short_link_key")?,
        })
    }
}

impl ServerInterfaces {
    pub(super) fn open(
        instance: &Instance,
        listening: &ListeningAddresses,
        keys: &RequestKeys,
        files: FileStore,
        webhooks: WebhookAdmin,
        emulator: Option<Arc<Emulator>>,
        process: &ProcessContext,
    ) -> Result<Self, CommandError> {
        let (settings, store) = (&instance.settings, &instance.store);
        let metrics = Arc::new(ServerMetrics::default());
        let authenticator = Authenticator::new(Arc::clone(store), &auth_config(settings, listening))?;
        let authenticator = Arc::new(authenticator);
        let endpoints = endpoint_table(settings.mode);
        let server = ApiServer::new(
            &endpoints,
            Arc::clone(store),
            Arc::clone(&authenticator),
            Arc::clone(&metrics),
            process.shutdown.clone(),
            ServerConfig {
                files: Some(files),
                transcoder: settings.transcoder()?,
                search: instance.search_backend.clone(),
                roles: settings.roles(),
                evaluator: Some(Arc::clone(&instance.evaluator)),
                webhooks,
                emulator: emulator.clone(),
                control_endpoints: control_table(settings.mode),
                routers: Some(process.routers.clone()),
                ..web_config(settings, listening, keys)
            },
        )?;
        let commands = vec![command_handler(instance)];
        let control_api = emulator.is_some().then(|| server.control_server());
        let (health, token) = (server.health(), Secret::new(process.token.clone()));
        let control = ControlServer::new(health, Arc::clone(&metrics), Arc::clone(store), token, commands, control_api);
        Ok(Self { server, control, metrics, authenticator, emulator })
    }

    pub(super) fn register_listener_stats(&self, name: &'static str, stats: Arc<ListenerStats>) {
        self.metrics.add_listener(name, stats);
    }

    /// The server is not ready while it has no valid certificate.
    pub(super) fn wait_for_certificate(&self, acme: &AcmeCertificates) {
        let acme = acme.clone();
        self.server.health().set_address_check(Arc::new(move || acme.problem()));
    }

    pub(super) fn start_background_tasks(&self, tasks: &mut Supervisor, instance: &Instance) {
        let server = &self.server;
        tasks.start_endless("credential_changes", &self.authenticator, |authenticator| async move {
            authenticator.poll_credential_changes().await;
        });
        tasks.start_endless("site_settings", server, |server| async move { server.follow_site_settings().await });
        tasks.start("usage", server, flush_usage);
        tasks.start("views", server, flush_views_until_shutdown);
        tasks.start("rate_limits", server, return_calls_until_shutdown);
        // Pages that update themselves are streams too.
        tasks.start("stream_shutdown", server, shut_down_streams);
        let roles = instance.settings.roles();
        if roles.contains(NodeRole::Api) {
            tasks.start_endless("home_timelines", server, |server| async move { server.follow_new_posts().await });
            tasks.start_endless("message_pages", server, |server| async move { server.follow_new_messages().await });
            tasks.start("uploads", &server.uploads(), |uploads, shutdown| async move {
                if let Some(uploads) = uploads {
                    uploads.run(&shutdown).await;
                }
            });
        }
        if roles.contains(NodeRole::Stream) {
            self.start_stream_tasks(tasks);
        }
        if roles.contains(NodeRole::Deliver) {
            self.start_delivery_tasks(tasks, instance);
        }
        if roles.contains(NodeRole::Stream) || roles.contains(NodeRole::Deliver) {
            let activity = (instance.clone(), server.stream_hub(), server.event_context());
            tasks.start("activity", &activity, |(instance, hub, home), shutdown| {
                background_jobs::dispatch_activity(instance, hub, home, shutdown)
            });
        }
    }

    fn start_stream_tasks(&self, tasks: &mut Supervisor) {
        tasks.start_endless("stream_upkeep", &self.server.stream_hub(), |hub| async move {
            hub.run_upkeep().await;
        });
        tasks.start_endless("post_streams", &self.server.post_streams(), |streams| async move {
            streams.follow_log().await;
        });
    }

    fn start_delivery_tasks(&self, tasks: &mut Supervisor, instance: &Instance) {
        tasks.start_endless("linked_webhooks", &self.server.post_streams(), |streams| async move {
            streams.follow_links().await;
        });
        let sweeping = (instance.clone(), self.server.uploads());
        tasks.start("retention", &sweeping, |(instance, uploads), shutdown| {
            background_jobs::enforce_retention(instance, uploads, shutdown)
        });
    }

    pub(super) fn api_server(&self) -> ApiServer {
        self.server.clone()
    }

    /// None in production.
    pub(super) const fn emulator(&self) -> Option<&Arc<Emulator>> {
        self.emulator.as_ref()
    }

    pub(super) fn metrics(&self) -> Arc<ServerMetrics> {
        Arc::clone(&self.metrics)
    }

    pub(super) fn control_server(&self) -> ControlServer {
        self.control.clone()
    }

    pub(crate) async fn store_counts(&self) {
        self.server.store_counts().await;
    }

    pub(crate) async fn return_leased_calls(&self) {
        self.server.return_all_calls().await;
    }
}

/// The same for all worlds of a process.
pub(super) fn open_routers(mode: RunMode) -> Result<ApiRouters, Fault> {
    ApiRouters::new(&endpoint_table(mode), control_table(mode))
}

fn endpoint_table(mode: RunMode) -> Vec<&'static [Endpoint]> {
    let mut endpoints = crate::operations::ENDPOINTS.clone();
    if mode == RunMode::Dev {
        endpoints.push(portal::DEVELOPMENT);
        endpoints.extend(console::PAGES);
    }
    endpoints
}

fn control_table(mode: RunMode) -> &'static [&'static [Endpoint]] {
    if mode == RunMode::Dev { console::CONTROL } else { &[] }
}

/// Flushes periodically and once more on shutdown.
async fn flush_usage(server: ApiServer, shutdown: Shutdown) {
    loop {
        let _early = tokio::time::timeout(USAGE_FLUSH_INTERVAL, shutdown.wait()).await;
        if let Err(error) = server.flush_usage().await {
            tracing::warn!(%error, "failed to flush usage; will retry");
        }
        if shutdown.is_triggered() {
            return;
        }
    }
}

/// Flushes periodically, and once more on shutdown.
async fn flush_views_until_shutdown(server: ApiServer, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(VIEW_FLUSH_INTERVAL, shutdown.wait()).await;
        flush_views(&server).await;
    }
}

async fn flush_views(server: &ApiServer) {
    if let Err(error) = server.flush_views().await {
        tracing::warn!(%error, "failed to store views and playbacks");
    }
}

/// What is leased until the last response is given back by [`ServerInterfaces::return_leased_calls`].
async fn return_calls_until_shutdown(server: ApiServer, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        if tokio::time::timeout(LEASE_RETURN_INTERVAL, shutdown.wait()).await.is_err() {
            server.return_unused_calls().await;
        }
    }
}

/// On shutdown, closes each stream with a final message.
async fn shut_down_streams(server: ApiServer, shutdown: Shutdown) {
    shutdown.wait().await;
    if let Err(error) = server.shut_down_streams().await {
        tracing::warn!(%error, "failed to record closed streams");
    }
}

fn auth_config(settings: &ServerSettings, listening: &ListeningAddresses) -> AuthConfig {
    let mut public_origins = vec![listening.base_url.clone()];
    public_origins.extend(origin_texts(&settings.core.public_origins));
    AuthConfig {
        data_dir: settings.core.data_dir.clone(),
        public_origins,
        timestamp_skew_ms: settings.auth.oauth1_timestamp_skew.as_ms(),
    }
}

fn web_config(settings: &ServerSettings, listening: &ListeningAddresses, keys: &RequestKeys) -> ServerConfig {
    ServerConfig {
        rate_limits: settings.limits.rate_limits.0,
        rate_limit_url: settings.limits.url.as_ref().map(|url| url.0.clone()),
        oauth_settings: oauth_rules(settings, listening, keys),
        default_vocabulary: settings.core.vocabulary.into(),
        problem_base: settings.core.problem_base.0.clone(),
        cors_origins: origin_texts(&settings.core.cors_origins),
        body_limit: settings.limits.body_max.0,
        body_timeout: settings.connection_limits().body_total_timeout,
        upload_timeout: settings.connection_limits().body_total_timeout,
        query_limits: QueryLimits {
            timeout: settings.db.query_timeout.0,
            transaction_timeout: settings.db.transaction_timeout.0,
            ..QueryLimits::default()
        },
        page_key: keys.pages,
        base_url: listening.base_url.trim_end_matches('/').to_owned(),
        world: listening.world.clone(),
        short_link_key: Some(keys.short_links),
        short_link_host: settings.core.short_link_host.as_ref().map(|host| host.0.clone()),
        origins: origin_texts(&settings.core.public_origins),
        emulated_hosts: settings.emulated_hosts(),
        dev: settings.mode == RunMode::Dev,
        site_name: settings.core.site_name.clone(),
        registration: settings.auth.registration.into(),
        session_ttl_ms: settings.auth.session_ttl.as_ms(),
        warns_about_plain_pkce: settings.auth.pkce_plain == PlainPkce::Warn,
        sends_mail: settings.mail.is_some(),
        ads: settings.ads_config(),
        streams: deliver::streams::StreamSettings {
            buffer_bytes: settings.limits.stream_buffer.0,
            keep_alive: settings.limits.stream_keep_alive.0,
            problem_base: settings.core.problem_base.0.clone(),
            ended_history: if settings.mode == RunMode::Dev { 200 } else { 0 },
            ..deliver::streams::StreamSettings::default()
        },
        ..ServerConfig::default()
    }
}

fn origin_texts(origins: &[Origin]) -> Vec<String> {
    origins.iter().map(|origin| origin.0.clone()).collect()
}

/// Development servers accept any loopback port in redirect URIs.
fn oauth_rules(settings: &ServerSettings, listening: &ListeningAddresses, keys: &RequestKeys) -> OAuth2Config {
    let loose = settings.mode == RunMode::Dev;
    OAuth2Config {
        issuer: Some(listening.base_url.clone()),
        refresh_grace_ms: settings.auth.refresh_grace.as_ms(),
        access_ttl_ms: settings.auth.oauth2_access_ttl.as_ms(),
        successor_key: keys.refreshed_tokens,
        ports: if loose { LoopbackPorts::AnyOnLoopback } else { LoopbackPorts::Exact },
        ..OAuth2Config::default()
    }
}

fn command_handler(instance: &Instance) -> ControlCommand {
    let instance = instance.clone();
    ControlCommand {
        path: "/_control/command",
        handler: Arc::new(move |body: Bytes| {
            let instance = instance.clone();
            Box::pin(async move { HttpReply::json(200, &command::answer_request(instance, &body).await) })
        }),
    }
}
