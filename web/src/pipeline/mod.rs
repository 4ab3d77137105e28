//! The request pipeline: route, authenticate, authorize, limit, parse, handle and render (contract
//! core §2.7).

mod background_work;
mod development_pages;
mod injected_faults;
mod journal;
mod own_server;
mod panic_guard;
mod public_origin;
mod request_body;
mod request_trace;
mod reserved_id;
mod response_headers;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use ads_delivery::evaluator::Evaluator;
use base::clock::monotonic_now;
use base::cursor::CursorCodec;
use base::{Error, Fault, Refusal, Vocabulary};
use deliver::streams::{Hub, PostStreams, RefusalRenderer};
use edge::{Body, Handler, Peer, Shutdown};
use emulator::Emulator;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use identity::apps::Authenticator;
use store::{NodeRoles, QueryLimits, Store};

use crate::access_log::{self, AccessLogEntry, RequestIdGenerator};
use crate::cors::CorsPolicy;
use crate::emulated_sites::EmulatedSites;
use crate::endpoint::{Endpoint, ErrorFormat};
use crate::error_formats::{self, ErrorContext};
use crate::health::HealthChecks;
use crate::limits::{RateLimitMode, RateLimitStatus, RateLimiter};
use crate::metrics::ServerMetrics;
use crate::page_context::PageContext;
use crate::reply::HttpReply;
use crate::request_context::{AppState, RequestHead};
use crate::router::ApiRouters;
use crate::site_links::{ShortLinkSettings, WorldAddress};
use crate::uploads::UploadProcessor;
pub use own_server::OwnServer;
pub use public_origin::PublicOrigin;
use request_trace::{PendingRequest, RequestTrace};

#[derive(Clone)]
pub struct ServerConfig {
    pub rate_limits: RateLimitMode,
    /// Pairs of caller and operation counted at once, at most.
    pub rate_limit_keys: usize,
    pub oauth_settings: identity::oauth2_flow::OAuth2Config,
    /// Used where neither request nor app decides.
    pub default_vocabulary: Vocabulary,
    /// Base of the problem type URLs.
    pub problem_base: String,
    /// Origins whose pages may call the v2 API.
    pub cors_origins: Vec<String>,
    /// Bytes.
    pub body_limit: usize,
    /// Bytes, where JSON or a form may contain media.
    pub parts_limit: usize,
    /// The longest time for a whole body, if it is not an upload.
    pub body_timeout: Duration,
    /// The longest time for a body that contains media or a batch of records.
    pub upload_timeout: Duration,
    pub query_limits: QueryLimits,
    /// Key of the page tokens; the same on every node.
    pub page_key: [u8; 32],
    /// Of the Valkey or Redis server that counts rate limits for all nodes.
    pub rate_limit_url: Option<base::Secret>,
    /// Public URL of the site, without a trailing slash.
    pub base_url: String,
    /// None for the main world, and for a production server.
    pub world: Option<WorldAddress>,
    /// Key of the short links, the same on every node; links are rendered as written without one.
    pub short_link_key: Option<[u8; 32]>,
    /// The host of short links, which serves nothing else, if they have one.
    pub short_link_host: Option<String>,
    /// Further origins that serve the same pages.
    pub origins: Vec<String>,
    /// Public hosts that a development server answers for, in lower case.
    pub emulated_hosts: Vec<String>,
    /// The platform's name on pages and in emails, unless its owners have set another.
    pub site_name: String,
    /// Whether this is a development server.
    pub dev: bool,
    pub registration: identity::registration::RegistrationPolicy,
    /// How long a browser stays signed in after its last request.
    pub session_ttl_ms: i64,
    /// Whether users and developers are notified when an app uses the `plain` PKCE method.
    pub warns_about_plain_pkce: bool,
    /// Whether emails are sent, in addition to the development mailbox.
    pub sends_mail: bool,
    /// None if media are disabled.
    pub files: Option<media::FileStore>,
    /// None if uploads are not transcoded.
    pub transcoder: Option<media::Transcoder>,
    pub streams: deliver::streams::StreamSettings,
    pub search: Option<post_search::SearchBackend>,
    /// Requests for other roles are refused as unavailable.
    pub roles: NodeRoles,
    /// Shared with other components; created if absent.
    pub evaluator: Option<Arc<Evaluator>>,
    pub ads: ads_engine::AdsConfig,
    pub webhooks: deliver::webhooks::WebhookAdmin,
    /// None in production.
    pub emulator: Option<Arc<Emulator>>,
    /// The operations of the control API; none in production.
    pub control_endpoints: &'static [&'static [Endpoint]],
    /// Of the same operations; made of them if absent.
    pub routers: Option<ApiRouters>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            rate_limits: RateLimitMode::Table,
            rate_limit_keys: 1 << 20,
            oauth_settings: identity::oauth2_flow::OAuth2Config::default(),
            default_vocabulary: Vocabulary::Post,
            problem_base: "https://api.x.com".to_owned(),
            cors_origins: Vec::new(),
            body_limit: 1024 * 1024,
            parts_limit: 16 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            upload_timeout: Duration::from_mins(10),
            query_limits: QueryLimits::default(),
            page_key: [0; 32],
            rate_limit_url: None,
            base_url: "http://localhost".to_owned(),
            world: None,
            short_link_key: None,
            short_link_host: None,
            origins: Vec::new(),
            emulated_hosts: Vec::new(),
            site_name: "Locum".to_owned(),
            dev: false,
            registration: identity::registration::RegistrationPolicy::Closed,
            session_ttl_ms: identity::sessions::TTL_MS,
            warns_about_plain_pkce: false,
            sends_mail: false,
            files: None,
            transcoder: None,
            streams: deliver::streams::StreamSettings::default(),
            search: None,
            roles: NodeRoles::ALL,
            evaluator: None,
            ads: ads_engine::AdsConfig::default(),
            webhooks: deliver::webhooks::WebhookAdmin::default(),
            emulator: None,
            control_endpoints: &[],
            routers: None,
        }
    }
}

impl ServerConfig {
    fn short_links(&self) -> ShortLinkSettings<'_> {
        ShortLinkSettings::new(self.short_link_host.as_deref(), self.short_link_key.as_ref(), self.world.as_ref())
    }
}

#[derive(Clone)]
pub struct ApiServer {
    shared: Arc<ServerState>,
    interface: Interface,
}

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interface {
    Public,
    /// The public operations, on the address of the Ads API sandbox.
    AdsSandbox,
    /// The control API of a development server.
    Control,
}

struct ServerState {
    routers: ApiRouters,
    authenticator: Arc<Authenticator>,
    limiter: Arc<RateLimiter>,
    app_state: Arc<AppState>,
    health: HealthChecks,
    metrics: Arc<ServerMetrics>,
    cors: CorsPolicy,
    ids: RequestIdGenerator,
    config: ServerConfig,
}

type IncomingRequest = (Arc<RequestHead>, Body);

impl ApiServer {
    pub fn new(
        table: &[&'static [Endpoint]],
        store: Arc<Store>,
        authenticator: Arc<Authenticator>,
        metrics: Arc<ServerMetrics>,
        drain: Shutdown,
        config: ServerConfig,
    ) -> Result<Self, Fault> {
        let endpoints: Vec<&'static Endpoint> = table.iter().copied().flatten().collect();
        let limiter = create_limiter(&store, &config, &endpoints, &metrics)?;
        let routers = match &config.routers {
            Some(routers) => routers.clone(),
            None => ApiRouters::new(table, config.control_endpoints)?,
        };
        let hub = create_hub(&store, &config, &metrics);
        metrics.add_store(Arc::clone(&store));
        let post_reads = Arc::new(network::reads::PostReadCounter::default());
        let error_renderer = partial_error_renderer(&config);
        let post_streams = PostStreams::new(Arc::clone(&store), hub.clone(), Arc::clone(&post_reads), error_renderer);
        let short_links = config.short_links();
        let views = build_view_recorder(config.dev);
        let playbacks = Arc::new(network::playbacks::PlaybackRecorder::default());
        metrics.add_views(Arc::clone(&views), Arc::clone(&playbacks));
        let state = AppState {
            endpoints,
            store: Arc::clone(&store),
            authenticator: Arc::clone(&authenticator),
            refused_requests: config.dev.then(identity::refused_request::RefusedRequestLog::default),
            home_timelines: Arc::default(),
            message_watchers: Arc::default(),
            oauth_settings: config.oauth_settings.clone(),
            limiter: Arc::clone(&limiter),
            usage: network::usage::UsageCounter::default(),
            post_reads,
            views,
            playbacks,
            cursor_codec: CursorCodec::new(&config.page_key)?,
            default_vocabulary: config.default_vocabulary,
            problem_base: config.problem_base.clone(),
            uploads: build_uploads(&store, &config),
            post_streams,
            stream_hub: hub,
            search: config.search.clone(),
            evaluator: config.evaluator.clone().unwrap_or_else(|| Evaluator::new(config.search.clone())),
            ads_config: config.ads.clone(),
            webhooks: config.webhooks.clone(),
            emulator: config.emulator.clone(),
            own_server: OwnServer::default(),
            site: short_links.build_own_site(config.base_url.clone()),
            emulated_sites: EmulatedSites::new(&config.emulated_hosts, short_links),
            page_context: PageContext::new(&store, &config)?,
        };
        let shared = Arc::new(ServerState {
            routers,
            authenticator,
            limiter,
            app_state: Arc::new(state),
            ids: RequestIdGenerator::new(&store.context().rng)?,
            health: HealthChecks::new(store, drain, config.roles, config.search.clone()),
            metrics,
            cors: CorsPolicy::new(config.cors_origins.clone()),
            config,
        });
        shared.app_state.own_server.set(&shared);
        Ok(Self { shared, interface: Interface::Public })
    }

    /// The same server for the address of the Ads API sandbox.
    #[must_use]
    pub fn sandbox_server(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), interface: Interface::AdsSandbox }
    }

    /// The control API, for callers whose control token has been checked.
    #[must_use]
    pub fn control_server(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), interface: Interface::Control }
    }

    pub fn health(&self) -> HealthChecks {
        self.shared.health.clone()
    }

    pub fn uploads(&self) -> Option<UploadProcessor> {
        self.shared.app_state.uploads.clone()
    }

    pub fn stream_hub(&self) -> Hub {
        self.shared.app_state.stream_hub.clone()
    }

    pub fn post_streams(&self) -> PostStreams {
        self.shared.app_state.post_streams.clone()
    }

    pub fn event_context(&self) -> deliver::activity::ActivityConfig {
        self.shared.app_state.event_context()
    }
}

fn create_limiter(
    store: &Arc<Store>,
    config: &ServerConfig,
    endpoints: &[&'static Endpoint],
    metrics: &ServerMetrics,
) -> Result<Arc<RateLimiter>, Fault> {
    let limiter = RateLimiter::new(config.rate_limits, config.rate_limit_keys);
    let counted = metrics.locally_counted.clone();
    Ok(Arc::new(limiter.share_windows(store, config.rate_limit_url.as_ref(), endpoints, counted)?))
}

fn create_hub(store: &Arc<Store>, config: &ServerConfig, metrics: &ServerMetrics) -> Hub {
    let faults = config.emulator.as_ref().map(|emulator| Arc::clone(&emulator.faults));
    let settings = deliver::streams::StreamSettings { faults, ..config.streams.clone() };
    let hub = Hub::new(Arc::clone(store), settings);
    metrics.add_streams(hub.clone());
    hub
}

fn partial_error_renderer(config: &ServerConfig) -> RefusalRenderer {
    let base = config.problem_base.clone();
    Arc::new(move |refusal| error_formats::render_partial_error(refusal, &base))
}

fn build_view_recorder(is_dev: bool) -> Arc<network::views::ViewRecorder> {
    use network::views::ViewRecorder;
    Arc::new(if is_dev { ViewRecorder::for_few_viewers() } else { ViewRecorder::default() })
}

fn build_uploads(store: &Arc<Store>, config: &ServerConfig) -> Option<UploadProcessor> {
    let files = config.files.clone()?;
    Some(UploadProcessor::new(Arc::clone(store), files, config.transcoder.clone()))
}

impl Handler for ApiServer {
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let server = self.clone();
        Box::pin(async move { server.answer(request).await })
    }
}

impl ApiServer {
    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let shared = &self.shared;
        let started = monotonic_now();
        let _in_flight = shared.metrics.track_in_flight();
        let (parts, body) = request.into_parts();
        let head = Arc::new(RequestHead {
            id: shared.ids.assign_id(&parts.headers),
            sandbox: self.interface == Interface::AdsSandbox
                || RequestHead::is_sandbox_request(&parts.uri, &parts.headers),
            is_control: self.interface == Interface::Control,
            peer: parts.extensions.get::<Peer>().copied(),
            method: parts.method,
            uri: parts.uri,
            headers: parts.headers,
        });
        let mut trace = PendingRequest::new(shared, Arc::clone(&head), RequestTrace::new(started));
        let incoming = (Arc::clone(&head), body);
        let outcome = {
            // Pinned, since moving a future of this size costs more than what limits it.
            let work = std::pin::pin!(shared.process_request(incoming, &mut trace));
            let is_recorded = shared.is_recorded(&head);
            let work = async {
                if is_recorded {
                    store::record_appended_events();
                }
                (work.await, store::count_round_trips(), store::take_appended_events())
            };
            let work = store::limit_queries(shared.config.query_limits, work);
            panic_guard::catch_panic(work).await
        };
        let (outcome, round_trips, events) = match outcome {
            Ok((outcome, round_trips, events)) => (Ok(outcome), round_trips, events),
            Err(panic) => (Err(panic), 0, Vec::new()),
        };
        shared.metrics.record_round_trips(trace.route, round_trips);
        if shared.app_state.store.context().clock.is_frozen() {
            self.store_counts().await;
        }
        let mut reply = shared.finalize_reply(outcome, &head, &mut trace);
        let limits = shared.config.query_limits;
        reply.body = reply.body.map_stream(|stream| store::limit_stream_queries(limits, stream));
        let fault = trace.pending_fault.take();
        let mut reply = match &fault {
            Some(fault) => injected_faults::damage_reply(reply, fault),
            None => reply,
        };
        let response_body = shared.observe_reply(&mut reply, &head, &trace);
        let response = shared.finish_response(reply, &head, &trace);
        trace.finish();
        if let Some(body) = response_body {
            shared.record_request(&head, &trace, events, body, &response);
        }
        match &fault {
            Some(fault) => injected_faults::damage_response(response, fault),
            None => response,
        }
    }
}

impl ServerState {
    /// Renders the refusal or fault that ended a request; logs and counts faults.
    fn finalize_reply(
        &self,
        outcome: Result<Result<HttpReply, Error>, Fault>,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> HttpReply {
        let context = ErrorContext { problem_base: &self.config.problem_base, app: trace.app };
        let fault = match outcome {
            Ok(Ok(reply)) => return reply,
            Ok(Err(Error::Refused(refusal))) => {
                return self.render_refusal(&refusal, context, head, trace);
            }
            Ok(Err(Error::Failed(fault))) => fault,
            Err(panic) => {
                self.metrics.panics.inc();
                panic
            }
        };
        trace.fault = true;
        self.metrics.faults.inc();
        access_log::log_fault(&fault, &head.id, trace.route);
        if fault.is_transient() {
            return self.render_refusal(&Refusal::Unavailable, context, head, trace);
        }
        let reply = error_formats::render_internal_error(trace.error_format, context);
        if trace.error_format == ErrorFormat::Page {
            return error_formats::render_failure_page(&self.app_state.page_context, reply, &head.id);
        }
        reply
    }

    fn render_refusal(
        &self,
        refusal: &Refusal,
        context: ErrorContext<'_>,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> HttpReply {
        if let Refusal::Unauthenticated(problem) = refusal
            && let Some(log) = &self.app_state.refused_requests
        {
            let auth = head.auth_request(trace.form.as_ref());
            log.insert(head.id.as_str(), auth, *problem, self.app_state.store.context().clock.now());
            trace.explanation_url = Some(self.app_state.page_context.explanation_url(&head.id));
        }
        let reply = error_formats::render(trace.error_format, refusal, context);
        if trace.error_format != ErrorFormat::Page {
            return reply;
        }
        let wait = trace.rate_limit.as_ref().and_then(RateLimitStatus::retry_after_seconds);
        error_formats::render_refusal_page(&self.app_state.page_context, reply, refusal, wait, &head.id)
    }

    /// Adds the headers, and writes access log and metrics.
    fn finish_response(&self, reply: HttpReply, head: &RequestHead, trace: &RequestTrace) -> Response<Body> {
        let status = reply.status;
        let response = self.add_response_headers(reply, head, trace);
        let duration = trace.started.elapsed();
        self.record_client(head, trace, status);
        let entry = AccessLogEntry {
            method: head.method.as_str(),
            route: trace.route,
            status,
            bytes: response.body().as_bytes().map_or(0, <[u8]>::len),
            duration,
            app: trace.app,
            user: trace.user,
            id: &head.id,
            fault: trace.fault,
            explanation_url: trace.explanation_url.as_deref(),
        };
        entry.write();
        self.metrics.record_response(trace.route, entry.method, status, duration);
        response
    }
}

#[cfg(test)]
mod tests;
