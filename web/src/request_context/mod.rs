//! The context of one API call: caller, parameters, body and application state.

mod app_limits;
mod responses;

use std::sync::Arc;

use base::{Credential, Error, Fault, Id, Permit, Refusal, SiteLinks, Time, UserId, Vocabulary};
use bytes::Bytes;
use edge::Peer;
use http::{HeaderMap, Method, Uri};
use identity::apps::{AuthRequest, Authenticator, Caller};
use network::visibility::Viewer;
use schema::{DefaultValue, Parameter, ParameterLocation, ValueKind};
use serde_json::Value;
use store::{Store, StoreContext, TransactionWork};
use view::{FieldSelection, ObjectKind, RenderOptions, RenderRequest};

use crate::access_log::RequestId;
use crate::body::{self, BodyMembers};
use crate::emulated_sites::EmulatedSites;
use crate::endpoint::{Endpoint, FieldNames, PageTokenText, RateWindow};
use crate::limits::{RateLimitSubject, TOTAL_COUNT_BIT, TOTAL_COUNT_WINDOWS};
use crate::pagination::{PageRequest, PageTokenScope};
use crate::params::{ReceivedParam, RequestParams};
pub use crate::reply::HttpReply;
use crate::uploads::UploadProcessor;
use crate::vocabulary::VocabularyHints;
pub(crate) use app_limits::AppCharge;

/// Owns all its data, so that a handler can hold it across awaits.
pub struct RequestContext {
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) caller: Option<Caller>,
    /// None unless the operation verifies an app.
    pub(crate) app_charge: Option<Arc<AppCharge>>,
    pub params: RequestParams,
    pub(crate) body: body::ParsedBody,
    /// Behind a lock only to make the context `Sync`.
    pub(crate) raw_body: parking_lot::Mutex<edge::Body>,
    pub(crate) bytes: Bytes,
    pub content_type: body::BodyContentType,
    pub(crate) vocabulary_hints: VocabularyHints,
    pub(crate) head: Arc<RequestHead>,
    pub(crate) auth: AuthRequest,
    /// The public host that the client used, where a development server answers for it.
    pub(crate) emulated_site: Option<SiteLinks>,
    pub state: Arc<AppState>,
}

pub struct RequestHead {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub peer: Option<Peer>,
    pub id: RequestId,
    /// Whether the request addresses the Ads API sandbox.
    pub sandbox: bool,
    /// Whether it came over the control address.
    pub(crate) is_control: bool,
}

/// The start of the host names of the Ads API sandbox.
pub const SANDBOX_HOST: &str = "ads-api-sandbox";
/// Path prefix of the Ads API sandbox.
pub const SANDBOX_PREFIX: &str = "/ads-sandbox";

impl RequestHead {
    /// The sandbox is addressed by host name or by path prefix.
    pub(crate) fn is_sandbox_request(uri: &Uri, headers: &HeaderMap) -> bool {
        let header = headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let host = uri.host().or(header).unwrap_or_default();
        host.starts_with(SANDBOX_HOST) || strip_sandbox_prefix(uri.path()).is_some()
    }

    /// The path without the sandbox prefix.
    pub(crate) fn route_path(&self) -> &str {
        strip_sandbox_prefix(self.uri.path()).unwrap_or_else(|| self.uri.path())
    }
}

fn strip_sandbox_prefix(path: &str) -> Option<&str> {
    path.strip_prefix(SANDBOX_PREFIX).filter(|rest| rest.starts_with('/'))
}

pub struct AppState {
    /// All operations, by the router's number.
    pub endpoints: Vec<&'static Endpoint>,
    pub store: Arc<Store>,
    pub authenticator: Arc<Authenticator>,
    /// None in production.
    pub refused_requests: Option<identity::refused_request::RefusedRequestLog>,
    /// Of users who read theirs recently.
    pub home_timelines: Arc<network::home_timelines::HomeTimelines>,
    /// Open pages of conversations.
    pub message_watchers: Arc<network::messages::MessageWatchers>,
    pub oauth_settings: identity::oauth2_flow::OAuth2Config,
    pub limiter: Arc<crate::limits::RateLimiter>,
    pub usage: network::usage::UsageCounter,
    pub post_reads: Arc<network::reads::PostReadCounter>,
    pub views: Arc<network::views::ViewRecorder>,
    pub playbacks: Arc<network::playbacks::PlaybackRecorder>,
    pub cursor_codec: base::cursor::CursorCodec,
    pub default_vocabulary: Vocabulary,
    /// Base of the problem type URLs.
    pub problem_base: String,
    pub uploads: Option<UploadProcessor>,
    pub stream_hub: deliver::streams::Hub,
    pub post_streams: deliver::streams::PostStreams,
    pub search: Option<post_search::SearchBackend>,
    pub evaluator: Arc<ads_delivery::evaluator::Evaluator>,
    pub ads_config: ads_engine::AdsConfig,
    pub webhooks: deliver::webhooks::WebhookAdmin,
    /// None in production.
    pub emulator: Option<Arc<emulator::Emulator>>,
    /// The server itself, for pages that call its API.
    pub own_server: crate::pipeline::OwnServer,
    pub site: SiteLinks,
    pub emulated_sites: EmulatedSites,
    pub page_context: crate::page_context::PageContext,
}

impl AppState {
    pub fn event_context(&self) -> deliver::activity::ActivityConfig {
        deliver::activity::ActivityConfig { default_vocabulary: self.default_vocabulary, site: self.site }
    }

    /// The windows in which the calls of an operation, by its number, are counted for a subject.
    pub fn limit_windows(&self, subject: RateLimitSubject, operation: usize) -> &'static [RateWindow] {
        if operation & TOTAL_COUNT_BIT != 0 {
            return TOTAL_COUNT_WINDOWS;
        }
        let limits = self.endpoints.get(operation).map(|endpoint| endpoint.limits);
        limits.map_or(&[][..], |limits| match subject {
            RateLimitSubject::User(..) | RateLimitSubject::Account(_) => limits.user,
            RateLimitSubject::App(_) | RateLimitSubject::PublicClient(..) | RateLimitSubject::Address(_) => limits.app,
        })
    }
}

impl RequestContext {
    /// The testing tools of a development server; operations of production servers do not ask for them.
    pub fn emulator(&self) -> Result<&Arc<emulator::Emulator>, Error> {
        let emulator = self.state.emulator.as_ref();
        emulator.ok_or_else(|| Fault::new("a production server has no emulator").into())
    }

    pub const fn endpoint(&self) -> &'static Endpoint {
        self.endpoint
    }

    pub fn require_caller(&self) -> Result<&Caller, Error> {
        // Only operations that admit everyone are called without a caller.
        self.caller
            .as_ref()
            .ok_or_else(|| Refusal::Unauthenticated(base::refusal::AuthenticationProblem::Missing).into())
    }

    pub const fn optional_caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// Refuses a credential without a user.
    pub fn require_user(&self) -> Result<UserId, Error> {
        let caller = self.require_caller()?;
        caller.user.ok_or_else(|| wrong_credential(caller.credential, self.endpoint.permit).into())
    }

    pub fn viewer(&self) -> Viewer {
        Viewer { user: self.caller.as_ref().and_then(|caller| caller.user) }
    }

    /// The user id in a path parameter, refused unless it is the caller's.
    pub fn require_own_user(&self, name: &str) -> Result<UserId, Error> {
        let (id, user) = (self.path_id::<base::id::marker::UserMarker>(name)?, self.require_user()?);
        if id == user {
            return Ok(user);
        }
        let received = self.require_param(name)?;
        let (name, value) = (received.name_used, &received.raw);
        let message = format!(
            "The `{name}` query parameter value [{value}] must be the same as the authenticating \
             user [{user}]"
        );
        Err(Refusal::invalid_parameter(name, value, message).into())
    }

    pub fn path_id<K>(&self, name: &str) -> Result<Id<K>, Error> {
        self.path_int(name).map(Id::new)
    }

    pub fn path_int(&self, name: &str) -> Result<i64, Error> {
        self.require_param(name)?.value.as_i64().ok_or_else(|| misdeclared_parameter(name))
    }

    pub fn path_text(&self, name: &str) -> Result<&str, Error> {
        self.require_param(name)?.value.as_str().ok_or_else(|| misdeclared_parameter(name))
    }

    pub fn query_id<K>(&self, name: &str) -> Option<Id<K>> {
        self.param_value(name)?.as_i64().map(Id::new)
    }

    /// Empty if the parameter is absent.
    pub fn query_ids<K>(&self, name: &str) -> Vec<Id<K>> {
        self.param_items(name).iter().filter_map(Value::as_i64).map(Id::new).collect()
    }

    /// The declared default if the parameter is absent.
    pub fn query_int(&self, name: &str) -> i64 {
        let number = self.param_value(name).and_then(Value::as_i64);
        number.unwrap_or_else(|| match self.find_declared(name).map(|param| param.default_value) {
            Some(DefaultValue::Number(default)) => default,
            _ => 0,
        })
    }

    pub fn query_time(&self, name: &str) -> Option<Time> {
        self.param_value(name)?.as_i64().map(Time::from_ms)
    }

    pub fn query_text(&self, name: &str) -> Option<&str> {
        self.param_value(name)?.as_str()
    }

    /// The declared default if the parameter is absent.
    pub fn query_word(&self, name: &str) -> &str {
        self.query_text(name).unwrap_or_else(|| match self.find_declared(name).map(|param| param.default_value) {
            Some(DefaultValue::Word(default)) => default,
            _ => "",
        })
    }

    /// Empty if the parameter is absent.
    pub fn query_texts(&self, name: &str) -> Vec<String> {
        self.param_items(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Whether the parameter `exclude` lists a word.
    pub fn is_excluded(&self, word: &str) -> bool {
        self.param_items("exclude").iter().any(|item| item == word)
    }

    /// False if the parameter is absent.
    pub fn query_flag(&self, name: &str) -> bool {
        self.param_value(name).and_then(Value::as_i64) == Some(1)
    }

    /// For refusals; empty if the parameter is absent.
    pub fn raw_param(&self, name: &str) -> &str {
        self.params.get(name).map_or("", |received| &received.raw)
    }

    /// The name or alias that the caller used, for refusals.
    pub fn param_name_used(&self, name: &'static str) -> &'static str {
        self.params.get(name).map_or(name, |received| received.name_used)
    }

    pub fn body(&self) -> BodyMembers<'_> {
        self.body.members()
    }

    /// The bytes of a JSON body or a form.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The unread body, for an operation that streams it; empty the second time.
    pub fn take_body(&mut self) -> edge::Body {
        std::mem::take(self.raw_body.get_mut())
    }

    pub fn head(&self) -> &RequestHead {
        &self.head
    }

    /// The fields and expansions to render for an operation that returns `object`.
    pub fn field_selection(&self, object: ObjectKind) -> FieldSelection {
        let mut selection = match self.params.field_selection() {
            Some(selection) if selection.root() == object => *selection,
            _ => self.field_selection_for(object),
        };
        if self.may_see_email() {
            selection.allow_email();
        }
        selection.set_site(self.site());
        selection
    }

    /// The public site, or the emulated host that the client used.
    pub fn site(&self) -> SiteLinks {
        self.emulated_site.unwrap_or(self.state.site)
    }

    /// Whether the client used TLS, to this server or to a proxy of the public address.
    pub fn is_tls(&self) -> bool {
        self.state.page_context.is_tls() || self.head.peer.is_some_and(|peer| peer.is_tls)
    }

    /// With the emulated host that the client used as the issuer.
    pub fn oauth_settings(&self) -> identity::oauth2_flow::OAuth2Config {
        let settings = self.state.oauth_settings.clone();
        match self.emulated_site {
            Some(site) => identity::oauth2_flow::OAuth2Config { issuer: Some(site.url.to_owned()), ..settings },
            None => settings,
        }
    }

    /// For an object other than the one that the parameters are declared for.
    fn field_selection_for(&self, object: ObjectKind) -> FieldSelection {
        let mut selection = FieldSelection::defaults(object);
        for received in self.params.iter() {
            if let Some(FieldNames(of)) = received.param.kind.downcast() {
                // Already parsed once, so that it cannot fail.
                let _known = selection.add_fields_param(*of, received.name_used, &received.raw);
            }
        }
        selection
    }

    pub fn render_request(&self, object: ObjectKind) -> RenderRequest {
        RenderRequest {
            viewer: self.viewer(),
            selection: self.field_selection(object),
            options: self.answer_vocabulary(),
        }
    }

    fn may_see_email(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.may_read_email)
    }

    pub fn answer_vocabulary(&self) -> RenderOptions {
        self.answer_vocabulary_of(None)
    }

    /// `key` is the vocabulary of the parameters that only the operation itself reads.
    pub fn answer_vocabulary_of(&self, key: Option<Vocabulary>) -> RenderOptions {
        let app = self.caller.as_ref().map(|caller| caller.app.vocabulary.as_str());
        let app = match app {
            Some("posts") => Some(Vocabulary::Post),
            Some("tweets") => Some(Vocabulary::Tweet),
            _ => None,
        };
        let mut hints = self.vocabulary_hints;
        hints.observe_body_key(key);
        hints.resolve(app, self.default_vocabulary())
    }

    /// Clients that use the public API's former host name are older than the newer vocabulary.
    fn default_vocabulary(&self) -> Vocabulary {
        if self.emulated_site.is_some_and(|site| site.url.ends_with("twitter.com")) {
            Vocabulary::Tweet
        } else {
            self.state.default_vocabulary
        }
    }

    /// From `max_results` and the page token.
    pub fn page_request(&self) -> Result<PageRequest, Error> {
        let limit = usize::try_from(self.query_int("max_results")).unwrap_or(0).max(1);
        self.page_request_with_limit(limit)
    }

    /// For an operation with a page size of its own.
    pub fn page_request_with_limit(&self, limit: usize) -> Result<PageRequest, Error> {
        let mut scope = PageTokenScope::new(self.endpoint.id);
        scope = match self.caller.as_ref() {
            Some(Caller { user: Some(user), .. }) => scope.add_fact("user").add_fact(user.get().to_be_bytes()),
            Some(caller) => scope.add_fact("app").add_fact(caller.app_id.get().to_be_bytes()),
            None => scope.add_fact("anyone"),
        };
        for param in self.endpoint.parameters() {
            let is_filter = param.location == ParameterLocation::Path
                || param.name.post != "max_results" && !matches!(param.kind.value, ValueKind::Custom(_));
            if let Some(received) = self.params.get(param.name.post).filter(|_| is_filter) {
                scope = scope.add_fact(param.name.post).add_fact(&received.raw);
            }
        }
        let token = self.params.iter().find(|received| received.param.kind.downcast::<PageTokenText>().is_some());
        let token = token.map(|received| (received.name_used, received.raw.as_str()));
        Ok(PageRequest::parse(&self.state.cursor_codec, &scope, limit, token)?)
    }

    /// Empty if unknown.
    pub fn client_address(&self) -> String {
        let address = self.head.peer.and_then(|peer| peer.client);
        address.map(|address| address.to_string()).unwrap_or_default()
    }

    /// Runs a read-only transaction.
    pub fn read<T: Send + 'static>(
        &self,
        work: impl TransactionWork<T>,
    ) -> impl Future<Output = Result<T, Error>> + Send {
        self.state.store.read(work)
    }

    /// Runs a transaction; returns once it is durable.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl TransactionWork<T>,
    ) -> impl Future<Output = Result<T, Error>> + Send {
        self.state.store.write(work)
    }

    /// For an operation that verifies credentials itself.
    pub const fn auth_request(&self) -> &AuthRequest {
        &self.auth
    }

    pub fn authenticator(&self) -> &Arc<Authenticator> {
        &self.state.authenticator
    }

    /// Base of the problem type URLs.
    pub fn problem_base(&self) -> &str {
        &self.state.problem_base
    }

    /// A fault if media are disabled.
    pub fn uploads(&self) -> Result<UploadProcessor, Error> {
        let uploads = self.state.uploads.clone();
        uploads.ok_or_else(|| Fault::new("media storage is not configured").into())
    }

    pub fn stream_hub(&self) -> &deliver::streams::Hub {
        &self.state.stream_hub
    }

    /// A fault if search is disabled.
    pub fn search_backend(&self) -> Result<&post_search::SearchBackend, Error> {
        let search = self.state.search.as_ref();
        search.ok_or_else(|| Fault::new("search is not configured").into())
    }

    pub fn store(&self) -> &Arc<Store> {
        &self.state.store
    }

    pub fn store_context(&self) -> &StoreContext {
        self.state.store.context()
    }

    pub fn now(&self) -> Time {
        self.store_context().clock.now()
    }

    fn require_param(&self, name: &str) -> Result<&ReceivedParam, Error> {
        self.params.get(name).ok_or_else(|| misdeclared_parameter(name))
    }

    fn param_value(&self, name: &str) -> Option<&Value> {
        debug_assert!(self.find_declared(name).is_some(), "`{name}` is not declared");
        self.params.get(name).map(|received| &received.value)
    }

    /// Empty if the parameter is absent.
    fn param_items(&self, name: &str) -> &[Value] {
        self.param_value(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn find_declared(&self, name: &str) -> Option<&'static Parameter> {
        self.endpoint.parameters().find(|param| param.name.post == name)
    }
}

fn misdeclared_parameter(name: &str) -> Error {
    Fault::new(format!("the parameter `{name}` is read as a type that it is not declared with")).into()
}

/// Refuses a valid credential of a kind that the operation does not accept.
pub fn wrong_credential(used: Credential, permit: Permit) -> Refusal {
    Refusal::WrongCredential { used: used.name(), accepted: permit.accepted_names() }
}
