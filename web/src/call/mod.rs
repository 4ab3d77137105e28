//! One call of an operation: who calls, what was asked, and the doors to the store.

mod answer;

use std::sync::Arc;

use base::{Credential, Error, Fault, Id, Permit, Refusal, Time, UserId, Vocabulary};
use bytes::Bytes;
use edge::Peer;
use http::{HeaderMap, Method, Uri};
use network::apps::{AuthRequest, Authenticator, Caller};
use network::visibility::Viewer;
use store::{Store, StoreContext, TransactionWork};
use view::{FieldSelection, ObjectKind, RenderOptions};

use crate::body::{self, Members};
use crate::endpoint::{Endpoint, Kind, Place};
use crate::log::RequestId;
use crate::page::{Page, Scope};
use crate::params::{Given, Params, Value};
pub use crate::reply::Reply;
use crate::speech::Speeches;
use crate::uploads::Uploads;

/// A call of an operation. Owns all it holds, so that a handler may keep it while it waits.
pub struct Call {
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) caller: Option<Caller>,
    pub(crate) params: Params,
    pub(crate) body: body::Read,
    /// Behind a lock only so that a call may be shared between threads.
    pub(crate) raw: parking_lot::Mutex<edge::Body>,
    pub(crate) bytes: Bytes,
    pub(crate) kind: body::ContentType,
    pub(crate) speeches: Speeches,
    pub(crate) head: Arc<Head>,
    pub(crate) auth: AuthRequest,
    pub(crate) home: Arc<Home>,
}

/// What a request's head says beside its parameters.
pub struct Head {
    /// The method.
    pub method: Method,
    /// Path and query, as they came.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The other end of the connection.
    pub peer: Option<Peer>,
    /// The request's own name.
    pub id: RequestId,
    /// Whether the sandbox of the advertising interface was addressed.
    pub sandbox: bool,
}

/// Before a path, it leads to the sandbox of the advertising interface.
const SANDBOX: &str = "/ads-sandbox";

impl Head {
    /// Whether the sandbox is addressed, by its host's name or by a prefix of the path.
    pub(crate) fn is_for_sandbox(uri: &Uri, headers: &HeaderMap) -> bool {
        let host = headers.get(http::header::HOST);
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
        host.starts_with("ads-api-sandbox") || below(uri.path()).is_some()
    }

    /// The path that leads to an operation.
    pub(crate) fn path(&self) -> &str {
        below(self.uri.path()).unwrap_or_else(|| self.uri.path())
    }
}

/// The path behind the sandbox's prefix.
fn below(path: &str) -> Option<&str> {
    path.strip_prefix(SANDBOX)
        .filter(|rest| rest.starts_with('/'))
}

/// What all calls share.
pub struct Home {
    /// The store.
    pub store: Arc<Store>,
    /// Who recognises callers.
    pub authenticator: Arc<Authenticator>,
    /// The home timelines of the readers who came lately.
    pub homes: Arc<network::home_timelines::HomeTimelines>,
    /// How the OAuth flows are set up.
    pub rules: network::oauth2_flow::OAuth2Config,
    /// How often operations were called.
    pub limiter: Arc<crate::limits::Limiter>,
    /// What apps called.
    pub usage: network::usage::UsageCounter,
    /// Which posts apps were given.
    pub reads: Arc<network::reads::PostReadCounter>,
    /// How often apps asked for their bearer token.
    pub bearers: crate::limits::Limiter,
    /// The maker of page tokens.
    pub sealer: crate::page::Sealer,
    /// The vocabulary where nothing else decides.
    pub default_speech: Vocabulary,
    /// Under which problem types stand.
    pub problem_base: String,
    /// What turns uploads into media, where media are kept.
    pub uploads: Option<Uploads>,
    /// The open connections of streams.
    pub hub: deliver::streams::Hub,
    /// What those of posts carry.
    pub streams: deliver::streams::PostStreams,
    /// The index of posts, where there is one.
    pub search: Option<Arc<network::search::PostSearch>>,
    /// Who decides whom advertising reaches.
    pub evaluator: Arc<ads::evaluator::Evaluator>,
    /// What the operator decided about advertising.
    pub ads: ads::AdsConfig,
    /// What reaches webhooks.
    pub webhooks: deliver::webhooks::WebhookAdmin,
    /// The address that the platform's own files are at.
    pub site: &'static str,
    /// What the pages for people share.
    pub(crate) front: crate::pages::Front,
}

impl Home {
    /// What events have in common.
    pub(crate) fn events(&self) -> deliver::activity::ActivityConfig {
        deliver::activity::ActivityConfig {
            default_vocabulary: self.default_speech,
            site: self.site,
        }
    }
}

impl Call {
    /// The operation.
    pub const fn endpoint(&self) -> &'static Endpoint {
        self.endpoint
    }

    /// Who calls.
    pub fn caller(&self) -> Result<&Caller, Error> {
        // Only operations that are open to anyone are called by nobody.
        self.caller.as_ref().ok_or_else(|| {
            Refusal::Unauthenticated(base::refusal::AuthenticationProblem::Missing).into()
        })
    }

    /// Who calls, if anyone said so.
    pub const fn caller_if(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// The user on whose behalf the call is made.
    pub fn user(&self) -> Result<UserId, Error> {
        let caller = self.caller()?;
        caller
            .user
            .ok_or_else(|| wrong_credential(caller.credential, self.endpoint.permit).into())
    }

    /// Who looks at what the call reads.
    pub fn viewer(&self) -> Viewer {
        Viewer {
            user: self.caller.as_ref().and_then(|caller| caller.user),
        }
    }

    /// The own account named by a path parameter: it must be the caller's.
    pub fn own(&self, name: &str) -> Result<UserId, Error> {
        let (asked, user) = (
            self.path_id::<base::id::marker::UserMarker>(name)?,
            self.user()?,
        );
        if asked == user {
            return Ok(user);
        }
        let given = self.given(name)?;
        let (name, value) = (given.spelled, &given.raw);
        let message = format!(
            "The `{name}` query parameter value [{value}] must be the same as the authenticating \
             user [{user}]"
        );
        Err(Refusal::invalid_parameter(name, value, message).into())
    }

    /// A path parameter that is an id.
    pub fn path_id<K>(&self, name: &str) -> Result<Id<K>, Error> {
        match self.given(name)?.value {
            Value::Id(id) => Ok(Id::new(id)),
            _ => Err(misdeclared(name)),
        }
    }

    /// A path parameter that is a whole number.
    pub fn path_int(&self, name: &str) -> Result<i64, Error> {
        match self.given(name)?.value {
            Value::Int(number) => Ok(number),
            _ => Err(misdeclared(name)),
        }
    }

    /// A path parameter that is a text or a username.
    pub fn path_text(&self, name: &str) -> Result<&str, Error> {
        match &self.given(name)?.value {
            Value::Text(text) => Ok(text),
            _ => Err(misdeclared(name)),
        }
    }

    /// An id of the query.
    pub fn id<K>(&self, name: &str) -> Option<Id<K>> {
        match self.value(name)? {
            Value::Id(id) => Some(Id::new(*id)),
            _ => None,
        }
    }

    /// The ids of a list; empty where it is not there.
    pub fn ids<K>(&self, name: &str) -> Vec<Id<K>> {
        match self.value(name) {
            Some(Value::Ids(ids)) => ids.iter().copied().map(Id::new).collect(),
            _ => Vec::new(),
        }
    }

    /// A whole number; the declared default where it is not there.
    pub fn int(&self, name: &str) -> i64 {
        match (self.value(name), self.declared(name)) {
            (Some(Value::Int(number)), _) => *number,
            (_, Some(Kind::Int(_, _, default))) => default,
            _ => 0,
        }
    }

    /// A moment.
    pub fn time(&self, name: &str) -> Option<Time> {
        match self.value(name)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }

    /// A text, a word or a username.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The words of a list; empty where it is not there.
    pub fn texts(&self, name: &str) -> &[String] {
        match self.value(name) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Whether a list holds a word.
    pub fn has(&self, name: &str, word: &str) -> bool {
        self.texts(name).iter().any(|text| text == word)
    }

    /// Yes or no; no where it is not there.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Flag(true)))
    }

    /// A parameter as it came, for a refusal; empty where it is not there.
    pub fn raw(&self, name: &str) -> &str {
        self.params.get(name).map_or("", |given| &given.raw)
    }

    /// The name that the caller used for a parameter, for a refusal.
    pub fn spelled(&self, name: &'static str) -> &'static str {
        self.params.get(name).map_or(name, |given| given.spelled)
    }

    /// The body, as declared.
    pub fn body(&self) -> Members<'_> {
        self.body.members()
    }

    /// The bytes of a JSON body or a form.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The body of an operation that takes it by itself; empty the second time.
    pub fn take_body(&mut self) -> edge::Body {
        std::mem::take(self.raw.get_mut())
    }

    /// Headers, path, query and connection.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What the answer is to show, from an operation that answers with `object`.
    pub fn wants(&self, object: ObjectKind) -> FieldSelection {
        let mut wants = match self.params.wants() {
            Some(wants) if wants.root() == object => *wants,
            _ => self.wants_of(object),
        };
        if self.may_see_email() {
            wants.allow_email();
        }
        wants.set_site(self.home.site);
        wants
    }

    /// The same for an object that is not the one which the parameters are declared for.
    fn wants_of(&self, object: ObjectKind) -> FieldSelection {
        let mut wants = FieldSelection::defaults(object);
        for given in self.params.iter() {
            if let Kind::Fields(of) = given.param.kind {
                // Read once already, with the same names.
                let _known = wants.add_fields_param(of, given.spelled, &given.raw);
            }
        }
        wants
    }

    fn may_see_email(&self) -> bool {
        self.caller
            .as_ref()
            .is_some_and(|caller| match caller.credential {
                Credential::OAuth2 => caller.scopes.contains(base::Scope::UsersEmail),
                Credential::OAuth1 => caller.app.request_email,
                Credential::App => false,
            })
    }

    /// The vocabulary of the answer.
    pub fn spoken(&self) -> RenderOptions {
        let app = self
            .caller
            .as_ref()
            .map(|caller| caller.app.vocabulary.as_str());
        let app = match app {
            Some("posts") => Some(Vocabulary::Post),
            Some("tweets") => Some(Vocabulary::Tweet),
            _ => None,
        };
        self.speeches.decide(app, self.home.default_speech)
    }

    /// The page asked for, by `max_results` and a token that this walk gave earlier.
    pub fn page(&self) -> Result<Page, Error> {
        let limit = usize::try_from(self.int("max_results")).unwrap_or(0).max(1);
        self.page_of(limit)
    }

    /// The page asked for, where the operation has a size of its own.
    pub fn page_of(&self, limit: usize) -> Result<Page, Error> {
        let mut scope = Scope::of(self.endpoint.id);
        scope = match self.caller.as_ref() {
            Some(Caller {
                user: Some(user), ..
            }) => scope.and("user").and(user.get().to_be_bytes()),
            Some(caller) => scope.and("app").and(caller.app_id.get().to_be_bytes()),
            None => scope.and("anyone"),
        };
        for param in self.endpoint.params.iter().copied().flatten() {
            let filters = match param.kind {
                Kind::PageToken | Kind::Fields(_) | Kind::Expansions(_) => false,
                _ => param.place == Place::Path || param.name != "max_results",
            };
            if let Some(given) = self.params.get(param.name).filter(|_| filters) {
                scope = scope.and(param.name).and(&given.raw);
            }
        }
        let token = self
            .params
            .iter()
            .find(|given| matches!(given.param.kind, Kind::PageToken));
        let token = token.map(|given| (given.spelled, given.raw.as_str()));
        Ok(self.home.sealer.page(&scope, limit, token)?)
    }

    /// The address of the client, or empty where there is none.
    pub fn address(&self) -> String {
        let address = self.home.front.config.client(&self.head);
        address
            .map(|address| address.to_string())
            .unwrap_or_default()
    }

    /// Runs work that changes nothing.
    pub async fn read<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        self.home.store.read(work).await
    }

    /// Runs work in a transaction; answers once it is on disk.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl TransactionWork<T>,
    ) -> Result<T, Error> {
        self.home.store.write(work).await
    }

    /// What credentials are read from, for an operation that checks them by itself.
    pub const fn auth_request(&self) -> &AuthRequest {
        &self.auth
    }

    /// Who recognises callers, for an operation that checks credentials by itself.
    pub fn authenticator(&self) -> &Arc<Authenticator> {
        &self.home.authenticator
    }

    /// Under which problem types stand.
    pub fn problem_base(&self) -> &str {
        &self.home.problem_base
    }

    /// What turns uploads into media.
    pub fn uploads(&self) -> Result<Uploads, Error> {
        let uploads = self.home.uploads.clone();
        uploads.ok_or_else(|| Fault::new("no folder for media is set up").into())
    }

    /// The open connections of streams.
    pub fn hub(&self) -> &deliver::streams::Hub {
        &self.home.hub
    }

    /// The index of posts.
    pub fn search(&self) -> Result<&Arc<network::search::PostSearch>, Error> {
        let search = self.home.search.as_ref();
        search.ok_or_else(|| Fault::new("no index of posts is set up").into())
    }

    /// The store itself.
    pub fn store(&self) -> &Arc<Store> {
        &self.home.store
    }

    /// Time, chance, ids and keys.
    pub fn context(&self) -> &StoreContext {
        self.home.store.context()
    }

    /// The platform's time.
    pub fn now(&self) -> Time {
        self.context().clock.now()
    }

    fn given(&self, name: &str) -> Result<&Given, Error> {
        self.params.get(name).ok_or_else(|| misdeclared(name))
    }

    fn value(&self, name: &str) -> Option<&Value> {
        debug_assert!(self.declared(name).is_some(), "`{name}` is not declared");
        self.params.get(name).map(|given| &given.value)
    }

    fn declared(&self, name: &str) -> Option<Kind> {
        let mut params = self.endpoint.params.iter().copied().flatten();
        params
            .find(|param| param.name == name)
            .map(|param| param.kind)
    }
}

fn misdeclared(name: &str) -> Error {
    Fault::new(format!(
        "the parameter `{name}` is not declared as it is read"
    ))
    .into()
}

/// A valid credential of a kind that an operation does not take.
pub(crate) fn wrong_credential(used: Credential, permit: Permit) -> Refusal {
    Refusal::WrongCredential {
        used: used.name(),
        accepted: permit.accepted_names(),
    }
}
