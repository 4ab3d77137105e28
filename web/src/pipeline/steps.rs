//! The steps up to the handler, in the contract's order.

use std::sync::Arc;

use base::clock::wall_time;
use base::refusal::AuthenticationProblem;
use base::{Credential, Error, Refusal, Scope, Scopes, Vocabulary};
use bytes::Bytes;
use edge::BodyError;
use http::header::{ACCEPT, CONTENT_ENCODING, HeaderValue};
use network::apps::{AuthRequest, Caller, Permission};

use super::{Asked, Shared, Trace};
use crate::body::{self, ContentType};
use crate::call::{Call, Head, wrong_credential};
use crate::endpoint::{Accent, Body, Endpoint, Window, quarter};
use crate::health::Health;
use crate::limits::{Pool, Quota, Standing};
use crate::params::Params;
use crate::reply::Reply;
use crate::router::{Found, Lost};
use crate::speech::Speeches;

const DIRECT: Scopes = Scopes::from_slice(&[Scope::DmRead, Scope::DmWrite]);

/// A request's body, until it is read.
struct Sent {
    kind: ContentType,
    raw: edge::Body,
    bytes: Option<Bytes>,
}

impl Sent {
    /// Whether the operation reads it and nobody has yet.
    fn is_wanted(&self, endpoint: &Endpoint) -> bool {
        let taken = match endpoint.body {
            Body::None => true,
            Body::Parts(_) => self.kind == ContentType::Other,
            Body::Json(_) | Body::Form(_) | Body::Own => false,
        };
        self.bytes.is_none() && !taken
    }
}

impl Shared {
    pub(super) async fn answer(&self, asked: Asked, trace: &mut Trace) -> Result<Reply, Error> {
        let (head, raw) = asked;
        let found = match self.router.find(head.method.as_str(), head.path()) {
            Ok(found) => found,
            Err(lost) => return self.lost(lost, &head, trace).await,
        };
        let Found {
            endpoint,
            facts,
            speech,
            path,
        } = found;
        trace.route = facts.template;
        trace.accent = endpoint.accent;
        trace.standing = Some(self.unclaimed(endpoint));
        let kind = ContentType::of(&head.headers);
        let bytes = None;
        let mut sent = Sent { kind, raw, bytes };
        // A form may be part of a signature.
        if kind == ContentType::Form {
            self.collect(endpoint, &mut sent, &head).await?;
        }
        let mut auth = self.config.credentials(&head, sent.bytes.as_ref());
        auth.allows_repeated_parameters = endpoint.accent == Accent::Ads;
        let caller = self.recognise(endpoint, &auth, trace).await?;
        let own = self.count(endpoint, facts.operation, caller.as_ref(), &head, trace)?;
        let account = account_of(endpoint, &path);
        self.look_at_account(account, endpoint, facts.operation, trace)?;
        let act = endpoint.act.ok_or_else(|| Refusal::NotImplemented {
            operation: format!("{} {}", endpoint.method, facts.template),
        })?;
        let params = match endpoint.ads {
            Some(_) => Params::of_path(endpoint, path),
            None => Params::read(endpoint, path, head.uri.query().unwrap_or_default())?,
        };
        if sent.is_wanted(endpoint) {
            self.collect(endpoint, &mut sent, &head).await?;
        }
        let bytes = sent.bytes.unwrap_or_default();
        let body = body::read(endpoint, kind, &bytes, speech.unwrap_or(Vocabulary::Post))?;
        let mut speeches = Speeches::of_path(speech);
        speeches.hear(params.betrayed());
        speeches.hear_key(body.betrayed);
        let call = Call {
            endpoint,
            caller,
            params,
            body,
            raw: sent.raw.into(),
            bytes,
            kind,
            speeches,
            head,
            auth,
            home: Arc::clone(&self.home),
        };
        let answered = act(call).await;
        let pools = (account, own);
        self.count_for_account(pools, &answered, endpoint, facts.operation, trace);
        answered
    }

    /// Refuses what an advertising account has no calls left for.
    fn look_at_account(
        &self,
        account: Option<Pool>,
        endpoint: &Endpoint,
        operation: usize,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let Some(pool) = account else {
            return Ok(());
        };
        let windows = endpoint.limits.user;
        let standing = self.limiter.look(pool, operation, windows, wall_time());
        if standing.allowed {
            return Ok(());
        }
        trace.account = Some(standing);
        if is_of_account(endpoint) {
            trace.standing = Some(standing);
        }
        self.metrics.limited.inc();
        Err(Refusal::RateLimited)
    }

    /// Counts a call for its advertising account, once it is known that the caller has to do with
    /// it: nobody else uses up what it has, and whoever tries to takes from what is theirs.
    fn count_for_account(
        &self,
        (account, own): (Option<Pool>, Option<Pool>),
        answered: &Result<Reply, Error>,
        endpoint: &Endpoint,
        operation: usize,
        trace: &mut Trace,
    ) {
        let Some(account) = account else {
            return;
        };
        let (is_foreign, is_of_account) = (is_foreign(answered), is_of_account(endpoint));
        let windows = endpoint.limits.user;
        let count = |pool| Some(self.limiter.count(pool, operation, windows, wall_time()));
        if !is_foreign {
            trace.account = count(account);
        }
        if is_of_account {
            trace.standing = if is_foreign {
                own.and_then(count)
            } else {
                trace.account
            };
        }
    }

    /// A path or method that no operation has.
    async fn lost(&self, lost: Lost, head: &Head, trace: &mut Trace) -> Result<Reply, Error> {
        trace.accent = if lost.accent == Accent::V2 && is_for_a_person(head) {
            Accent::Page
        } else {
            lost.accent
        };
        if let Some(reply) = self
            .health
            .answer(head.method.as_str(), head.uri.path())
            .await
        {
            trace.route = Health::route(head.uri.path()).unwrap_or_default();
            trace.is_health = true;
            return Ok(reply);
        }
        if let Refusal::MethodNotAllowed { allowed } = &lost.refusal
            && head.method == http::Method::OPTIONS
            && let Some(reply) = self.cors.preflight(lost.accent, &head.headers, allowed)
        {
            return Ok(reply);
        }
        Err(lost.refusal.into())
    }

    /// Reads the body to its end.
    async fn collect(
        &self,
        endpoint: &Endpoint,
        sent: &mut Sent,
        head: &Head,
    ) -> Result<(), Refusal> {
        let encoding = head.headers.get(CONTENT_ENCODING);
        if encoding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
            let expected = "without a Content-Encoding";
            return Err(Refusal::UnsupportedMediaType { expected });
        }
        let limit = match endpoint.body {
            Body::Parts(_) => self.config.parts_limit,
            _ => endpoint
                .ads
                .and_then(ads::AdsOperation::body_limit)
                .unwrap_or(self.config.body_limit),
        };
        let raw = std::mem::take(&mut sent.raw);
        let read = raw.collect_bytes(limit, self.config.body_timeout).await;
        let bytes = read.map_err(|error| match error {
            BodyError::TooLarge => Refusal::BodyTooLarge { limit },
            BodyError::TimedOut => Refusal::BodyTimeout,
            BodyError::Broken => body::whole("The request body broke off."),
        })?;
        sent.bytes = Some(bytes);
        Ok(())
    }

    /// Who calls, if that is known and enough for this operation.
    async fn recognise(
        &self,
        endpoint: &Endpoint,
        auth: &AuthRequest,
        trace: &mut Trace,
    ) -> Result<Option<Caller>, Error> {
        if endpoint.permit.open {
            return Ok(None);
        }
        let caller = self.authenticator.authenticate(auth).await?;
        let caller = caller.ok_or(Refusal::Unauthenticated(AuthenticationProblem::Missing))?;
        trace.app = Some(caller.app_id);
        trace.user = caller.user;
        if caller.credential == Credential::OAuth1 {
            trace.access_level = Some(level(caller.permission));
        }
        permit(endpoint, &caller)?;
        Ok(Some(caller))
    }

    /// Counts the call, whatever becomes of it afterwards; for whom. One that an advertising account
    /// alone is held against is counted once that account is known to be the caller's.
    fn count(
        &self,
        endpoint: &Endpoint,
        operation: usize,
        caller: Option<&Caller>,
        head: &Head,
        trace: &mut Trace,
    ) -> Result<Option<Pool>, Refusal> {
        let (limits, mut shared) = (endpoint.limits, None);
        let (pool, windows) = match caller {
            Some(Caller {
                app_id,
                user: Some(user),
                ..
            }) => {
                shared = limits.shared;
                (Pool::User(app_id.get(), user.get()), limits.user)
            }
            Some(caller) => (Pool::App(caller.app_id.get()), limits.app),
            None => match self.config.client(head) {
                Some(address) => (Pool::of_address(address), limits.app),
                None => return Ok(None),
            },
        };
        if let Some(caller) = caller {
            let (app, used) = (caller.app_id, caller.credential);
            self.home
                .usage
                .record_call(app, used, caller.user, endpoint.id);
        }
        let quota = Quota { windows, shared };
        let (operation, quota) = match endpoint.ads {
            Some(of) if of.supports_totals() && asks_for_total(head) => {
                (operation | TOTALS, TOTAL.into())
            }
            _ => (operation, quota),
        };
        let standing = if is_of_account(endpoint) {
            self.limiter.look(pool, operation, quota, wall_time())
        } else {
            self.limiter.count(pool, operation, quota, wall_time())
        };
        trace.standing = Some(standing);
        if standing.allowed {
            return Ok(Some(pool));
        }
        self.metrics.limited.inc();
        Err(Refusal::RateLimited)
    }

    /// The figures that a caller sees who is not known yet.
    fn unclaimed(&self, endpoint: &Endpoint) -> Standing {
        let windows = if endpoint.limits.user.is_empty() || endpoint.permit.open {
            endpoint.limits.app
        } else {
            endpoint.limits.user
        };
        self.limiter.quote(windows, wall_time())
    }
}

/// The advertising account for which a call is counted as well.
fn account_of(endpoint: &Endpoint, path: &[(&'static str, String)]) -> Option<Pool> {
    endpoint.ads.filter(|of| of.is_limited_per_account())?;
    let (_, id) = path.iter().find(|(name, _)| *name == "account_id")?;
    i64::from_str_radix(id, 36).ok().map(Pool::Account)
}

/// Whether calls are held against an advertising account alone.
fn is_of_account(endpoint: &Endpoint) -> bool {
    let of = endpoint.ads;
    of.is_some_and(ads::AdsOperation::is_limited_per_account_only)
}

/// Whether an answer says that the caller has nothing to do with the account.
fn is_foreign(answered: &Result<Reply, Error>) -> bool {
    let Err(Error::Refused(Refusal::Ads(declined))) = answered else {
        return false;
    };
    let mut problems = declined.problems.iter();
    problems.any(|problem| problem.code == "ACCOUNT_NOT_FOUND")
}

/// Requests of an advertising list that ask for the total are counted by themselves.
const TOTALS: usize = 1 << 20;
const TOTAL: &[Window] = &[quarter(200)];

fn asks_for_total(head: &Head) -> bool {
    let query = head.uri.query().unwrap_or_default();
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.any(|(name, value)| {
        name == "with_total_count" && ["true", "t", "1"].contains(&value.to_lowercase().as_str())
    })
}

/// Whether a browser looks for a page, somewhere else than where programs ask.
fn is_for_a_person(head: &Head) -> bool {
    let accept = head.headers.get(ACCEPT).map(HeaderValue::as_bytes);
    let accept = accept.unwrap_or_default();
    let wants_page = accept
        .windows(9)
        .any(|part| part.eq_ignore_ascii_case(b"text/html"));
    wants_page && head.uri.path().split('/').nth(1) != Some("2")
}

/// Whether a caller's credential is of a kind and level that the operation takes, and whether its
/// app is entitled to it.
fn permit(endpoint: &Endpoint, caller: &Caller) -> Result<(), Refusal> {
    let permit = endpoint.permit;
    if !permit.accepts(caller.credential) {
        return Err(wrong_credential(caller.credential, permit));
    }
    match caller.credential {
        Credential::OAuth1 if caller.permission < needed(endpoint) => {
            Err(Refusal::InsufficientAccessLevel)
        }
        Credential::OAuth2 if !caller.scopes.contains_all(permit.scopes) => {
            Err(Refusal::ScopeMissing)
        }
        _ => Ok(()),
    }?;
    match endpoint.needs {
        Some(needed) if !needed.is_listed_in(&caller.app.entitlements) => {
            Err(Refusal::NotEnrolled {
                required: needed.name(),
            })
        }
        _ => Ok(()),
    }
}

/// The OAuth 1.0a level that an operation needs.
fn needed(endpoint: &Endpoint) -> Permission {
    let direct = DIRECT
        .iter()
        .any(|scope| endpoint.permit.scopes.contains(scope));
    match endpoint.method {
        _ if direct => Permission::Messages,
        // Whoever holds a token may give it up.
        _ if endpoint.accent == Accent::Legacy && endpoint.path.contains("/oauth") => {
            Permission::Read
        }
        "GET" => Permission::Read,
        _ => Permission::Write,
    }
}

/// A level as the `x-access-level` header has it.
const fn level(permission: Permission) -> &'static str {
    match permission {
        Permission::Read => "read",
        Permission::Write => "read-write",
        Permission::Messages => "read-write-directmessages",
    }
}
