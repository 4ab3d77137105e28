//! The one way from a request to its answer: find, authenticate, permit, limit, read, act,
//! speak, and dress with headers (contract §2.7).

mod catch;
mod dress;
mod origin;
mod steps;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::{AppId, Error, Fault, Refusal, UserId, Vocabulary};
use deliver::streams::{Hub, PostStreams, RefusalRenderer as Partial};
use edge::{Body, Handler, Peer, Shutdown};
use http::{Request, Response};
use network::apps::Authenticator;
use store::Store;

use crate::accents::{self, Voice};
use crate::call::{Head, Home};
use crate::cors::Cors;
use crate::endpoint::{Accent, Endpoint};
use crate::health::Health;
use crate::limits::{Limiter, Mode, Standing};
use crate::log::{self, Line, RequestIds};
use crate::metrics::Metrics;
use crate::page::Sealer;
use crate::pages::errors;
use crate::reply::Reply;
use crate::router::Router;
use crate::uploads::Uploads;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// How rate limits are applied.
    pub rate_limits: Mode,
    /// Pairs of caller and operation that are counted at once, at most.
    pub rate_limit_keys: usize,
    /// How the OAuth flows are set up.
    pub rules: network::oauth2_flow::OAuth2Config,
    /// The vocabulary where nothing else decides.
    pub default_vocabulary: Vocabulary,
    /// Under which problem types stand.
    pub problem_base: String,
    /// Whether clients reach the public address over TLS that ends in this process.
    pub is_tls: bool,
    /// Proxies whose word on scheme, host and client address is taken. Unix sockets always are.
    pub trusted_proxies: Vec<IpAddr>,
    /// Origins whose pages may call.
    pub cors_origins: Vec<String>,
    /// The largest body that is read whole.
    pub body_limit: usize,
    /// The same where media may come inside JSON or a form.
    pub parts_limit: usize,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// The key of page tokens: the same on every node.
    pub page_key: [u8; 32],
    /// The address that people open, without a slash at its end.
    pub base_url: String,
    /// Further origins under which the same pages are met.
    pub origins: Vec<String>,
    /// What the platform is called on pages and in letters.
    pub site_name: String,
    /// Whether this is a development world.
    pub dev: bool,
    /// Who may create an account.
    pub registration: network::registration::RegistrationPolicy,
    /// How long a browser stays signed in after it was last seen, in milliseconds.
    pub session_ttl_ms: i64,
    /// Whether people and developers are told when an app uses the weaker method of PKCE.
    pub warns_of_plain: bool,
    /// Whether letters leave by mail, beside any mailbox of a development world.
    pub sends_mail: bool,
    /// Where media are kept, if they are.
    pub files: Option<media::FileStore>,
    /// How open connections are held.
    pub streams: deliver::streams::StreamSettings,
    /// The index of posts, if there is one.
    pub search: Option<Arc<network::search::PostSearch>>,
    /// Who decides whom advertising reaches, if somebody else asks it too.
    pub evaluator: Option<Arc<ads::evaluator::Evaluator>>,
    /// What the operator decided about advertising.
    pub ads: ads::AdsConfig,
    /// What reaches webhooks.
    pub webhooks: deliver::webhooks::WebhookAdmin,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            rate_limits: Mode::Table,
            rate_limit_keys: 1 << 20,
            rules: network::oauth2_flow::OAuth2Config::default(),
            default_vocabulary: Vocabulary::Post,
            problem_base: "https://api.x.com".to_owned(),
            is_tls: false,
            trusted_proxies: Vec::new(),
            cors_origins: Vec::new(),
            body_limit: 1024 * 1024,
            parts_limit: 16 * 1024 * 1024,
            body_timeout: Duration::from_mins(1),
            page_key: [0; 32],
            base_url: "http://localhost".to_owned(),
            origins: Vec::new(),
            site_name: "Locum".to_owned(),
            dev: false,
            registration: network::registration::RegistrationPolicy::Closed,
            session_ttl_ms: network::sessions::TTL_MS,
            warns_of_plain: false,
            sends_mail: false,
            files: None,
            streams: deliver::streams::StreamSettings::default(),
            search: None,
            evaluator: None,
            ads: ads::AdsConfig::default(),
            webhooks: deliver::webhooks::WebhookAdmin::default(),
        }
    }
}

/// Answers on the public address.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    /// Whether it stands at the address of the advertising interface's sandbox.
    sandbox: bool,
}

struct Shared {
    router: Router,
    authenticator: Arc<Authenticator>,
    limiter: Arc<Limiter>,
    home: Arc<Home>,
    health: Health,
    metrics: Arc<Metrics>,
    cors: Cors,
    ids: RequestIds,
    config: Config,
}

/// What becomes known of a request on its way.
struct Trace {
    started: Instant,
    route: &'static str,
    accent: Accent,
    app: Option<AppId>,
    user: Option<UserId>,
    access_level: Option<&'static str>,
    standing: Option<Standing>,
    /// The same of the advertising account that is worked on.
    account: Option<Standing>,
    fault: bool,
    /// Health tells nothing of what serves.
    is_health: bool,
}

/// A request's body and where it stands.
type Asked = (Arc<Head>, Body);

impl Server {
    /// A server of the operations of `table`.
    pub fn new(
        table: &'static [&'static [Endpoint]],
        store: Arc<Store>,
        authenticator: Arc<Authenticator>,
        metrics: Arc<Metrics>,
        drain: Shutdown,
        config: Config,
    ) -> Result<Self, Fault> {
        let limiter = Limiter::new(config.rate_limits, config.rate_limit_keys);
        let limiter = Arc::new(limiter);
        let mut router = Router::new(table)?;
        if config.dev {
            router.add(crate::operations::portal::DEVELOPMENT)?;
        }
        let hub = Hub::new(Arc::clone(&store), config.streams.clone());
        metrics.add_streams(hub.clone());
        let reads = Arc::new(network::reads::PostReadCounter::default());
        let home = Home {
            store: Arc::clone(&store),
            authenticator: Arc::clone(&authenticator),
            homes: Arc::default(),
            rules: config.rules.clone(),
            limiter: Arc::clone(&limiter),
            usage: network::usage::UsageCounter::default(),
            reads: Arc::clone(&reads),
            bearers: Limiter::new(config.rate_limits, config.rate_limit_keys),
            sealer: Sealer::new(&config.page_key)?,
            default_speech: config.default_vocabulary,
            problem_base: config.problem_base.clone(),
            uploads: uploads(&store, &config),
            streams: PostStreams::new(Arc::clone(&store), hub.clone(), reads, voice(&config)),
            hub,
            search: config.search.clone(),
            evaluator: match &config.evaluator {
                Some(evaluator) => Arc::clone(evaluator),
                None => ads::evaluator::Evaluator::new(config.search.clone()),
            },
            ads: config.ads.clone(),
            webhooks: config.webhooks.clone(),
            // Once for each server: the address lives as long as the process.
            site: String::leak(config.base_url.clone()),
            front: crate::pages::Front::new(&store, &config)?,
        };
        let shared = Shared {
            router,
            authenticator,
            limiter,
            home: Arc::new(home),
            ids: RequestIds::new(&store.context().rng)?,
            health: Health::new(store, drain),
            metrics,
            cors: Cors::new(config.cors_origins.clone()),
            config,
        };
        Ok(Self {
            shared: Arc::new(shared),
            sandbox: false,
        })
    }

    /// The same server at the address of the advertising interface's sandbox.
    #[must_use]
    pub fn in_sandbox(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            sandbox: true,
        }
    }

    /// Whether the process lives and can serve, for the control address.
    pub fn health(&self) -> Health {
        self.shared.health.clone()
    }

    /// Writes down what apps called since the last time.
    pub async fn note_usage(&self) -> Result<(), Error> {
        let home = &self.shared.home;
        home.usage.flush(&home.store).await?;
        home.reads.flush(&home.store).await
    }

    /// What turns uploads into media, where media are kept.
    pub fn uploads(&self) -> Option<Uploads> {
        self.shared.home.uploads.clone()
    }

    /// The open connections of streams.
    pub fn hub(&self) -> Hub {
        self.shared.home.hub.clone()
    }

    /// Holds the connections of streams and sends them what happens, for as long as it is polled.
    pub async fn hold_streams(&self) {
        let home = &self.shared.home;
        let streams = &home.streams;
        tokio::join!(
            home.hub.run_upkeep(),
            streams.follow_log(),
            streams.follow_links()
        );
    }

    /// Says good-bye on every stream, and writes down that it ended.
    pub async fn end_streams(&self) -> Result<(), Error> {
        let hub = &self.shared.home.hub;
        hub.shut_down();
        self.shared.home.streams.stop();
        hub.record_ended().await
    }

    /// What events have in common.
    pub fn events(&self) -> deliver::activity::ActivityConfig {
        self.shared.home.events()
    }

    /// Pairs of caller and operation whose calls are being counted.
    pub fn rate_limit_keys_held(&self) -> usize {
        self.shared.limiter.held()
    }
}

/// Speaks of what is not shown on a stream as other answers do.
fn voice(config: &Config) -> Partial {
    let base = config.problem_base.clone();
    Arc::new(move |refusal| accents::partial(refusal, &base))
}

fn uploads(store: &Arc<Store>, config: &Config) -> Option<Uploads> {
    let files = config.files.clone()?;
    Some(Uploads::new(Arc::clone(store), files))
}

impl Handler for Server {
    async fn call(&self, request: Request<Body>) -> Response<Body> {
        let shared = &self.shared;
        let started = monotonic_now();
        let _in_flight = shared.metrics.enter();
        let (parts, body) = request.into_parts();
        let head = Arc::new(Head {
            id: shared.ids.name(&parts.headers),
            sandbox: self.sandbox || Head::is_for_sandbox(&parts.uri, &parts.headers),
            peer: parts.extensions.get::<Peer>().copied(),
            method: parts.method,
            uri: parts.uri,
            headers: parts.headers,
        });
        let mut trace = Trace::new(started);
        let asked = (Arc::clone(&head), body);
        let answered = catch::panics(shared.answer(asked, &mut trace)).await;
        let reply = shared.settle(answered, &head, &mut trace);
        shared.finish(reply, &head, &trace)
    }
}

impl Trace {
    const fn new(started: Instant) -> Self {
        Self {
            started,
            route: "",
            accent: Accent::V2,
            app: None,
            user: None,
            access_level: None,
            standing: None,
            account: None,
            fault: false,
            is_health: false,
        }
    }
}

impl Shared {
    /// Speaks of what stopped a request, and notes what was our doing.
    fn settle(
        &self,
        answered: Result<Result<Reply, Error>, Fault>,
        head: &Head,
        trace: &mut Trace,
    ) -> Reply {
        let voice = Voice {
            problem_base: &self.config.problem_base,
            app: trace.app,
        };
        let fault = match answered {
            Ok(Ok(reply)) => return reply,
            Ok(Err(Error::Refused(refusal))) => return self.refuse(&refusal, voice, head, trace),
            Ok(Err(Error::Failed(fault))) => fault,
            Err(panic) => {
                self.metrics.panics.inc();
                panic
            }
        };
        trace.fault = true;
        self.metrics.faults.inc();
        log::fault(&fault, &head.id, trace.route);
        if fault.is_transient() {
            return self.refuse(&Refusal::Unavailable, voice, head, trace);
        }
        let reply = accents::excuse(trace.accent, voice);
        if trace.accent == Accent::Page {
            return errors::broken(&self.home.front, reply, &head.id);
        }
        reply
    }

    fn refuse(&self, refusal: &Refusal, voice: Voice<'_>, head: &Head, trace: &Trace) -> Reply {
        let reply = accents::speak(trace.accent, refusal, voice);
        if trace.accent != Accent::Page {
            return reply;
        }
        let wait = trace.standing.as_ref().and_then(Standing::wait);
        errors::spoken(&self.home.front, reply, refusal, wait, &head.id)
    }

    /// Dresses the answer, counts it and logs it.
    fn finish(&self, reply: Reply, head: &Head, trace: &Trace) -> Response<Body> {
        let status = reply.status;
        let response = self.dress(reply, head, trace);
        let took = trace.started.elapsed();
        let line = Line {
            method: head.method.as_str(),
            route: trace.route,
            status,
            bytes: response.body().as_bytes().map_or(0, <[u8]>::len),
            took,
            app: trace.app,
            user: trace.user,
            id: &head.id,
            fault: trace.fault,
        };
        line.write();
        self.metrics
            .answered(trace.route, line.method, status, took);
        response
    }
}

#[cfg(test)]
mod tests;
