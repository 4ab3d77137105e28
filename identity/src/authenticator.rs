//! Authentication of requests (contract core §2.7).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::{monotonic_now, wall_time};
use base::oauth1::{OAuth1Credentials, OAuth1Request, RequestOrigin};
use base::refusal::AuthenticationProblem;
use base::secret::digest;
use base::{AppId, Credential, Error, Fault, Refusal, Scope, Scopes, Secret, Time, UserId};
use futures_util::future::BoxFuture;
use quick_cache::sync::Cache;
use store::apps::{self, App, AppStatus};
use store::credential_changes::CredentialChangeReader;
use store::credential_versions::CredentialKey;
use store::nonces::NonceRegistry;
use store::tokens;
use store::users;
use store::{Store, Tx};

use crate::bearer::percent_encode_token;
use crate::grants;
use crate::oauth1_flow;
use network::activity::ActivitySubscriber;
use network::permissions::{AccessLevel, Permission};

/// Cached credentials per kind.
const CACHE_CAPACITY: usize = 100_000;

/// How often changes by other nodes are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Cached credentials are not used while changes by other nodes were last read longer ago.
const MAX_STALENESS: Duration = Duration::from_secs(1);
/// Bounds how long a credential is accepted if its change is missed, because it was committed long after it was made.
const SHARED_CACHE_LIFETIME: Duration = Duration::from_mins(5);

#[derive(Clone, Debug)]
pub struct AuthConfig {
    /// The folder of the nonce journal.
    pub data_dir: PathBuf,
    /// Origins under which clients know this server, besides the one they connected to.
    pub public_origins: Vec<String>,
    /// Accepted deviation of a signature's timestamp, in milliseconds.
    pub timestamp_skew_ms: i64,
}

#[derive(Clone, Debug, Default)]
pub struct AuthRequest {
    /// Upper case.
    pub method: String,
    /// As received.
    pub path_and_query: String,
    pub authorization: Option<String>,
    /// The body, if it is a form.
    pub form: Option<Vec<u8>>,
    /// `http` or `https`, as seen by the client.
    pub scheme: &'static str,
    /// The `Host` header.
    pub host: Option<String>,
    /// Whether a parameter may occur several times, as some clients send lists.
    pub allows_repeated_parameters: bool,
}

/// An authenticated caller. Only the [`Authenticator`] creates one.
#[derive(Clone, Debug)]
pub struct Caller {
    pub app_id: AppId,
    pub app: Arc<App>,
    pub user: Option<UserId>,
    pub credential: Credential,
    pub scopes: Scopes,
    /// The access level of an OAuth 1.0a token.
    pub permission: Permission,
    /// Whether the user agreed that the app reads the email address, and the app still requests it.
    pub may_read_email: bool,
    _proof: Proof,
}

impl Caller {
    pub fn activity_subscriber(&self) -> ActivitySubscriber {
        ActivitySubscriber {
            app: self.app_id,
            user: self.user,
            scopes: self.scopes,
            enterprise: self.app.access_level == AccessLevel::Enterprise,
        }
    }
}

/// Prevents other modules from constructing a [`Caller`].
#[derive(Clone, Copy, Debug)]
struct Proof;

/// A request with a valid signature.
#[derive(Clone, Debug)]
pub struct VerifiedRequest {
    pub app: Arc<App>,
    /// Present if the request has an access token.
    pub caller: Option<Caller>,
    pub presented: OAuth1Credentials,
}

/// When a credential was read: the store's version of credentials before, and the time.
#[derive(Clone, Copy)]
struct ReadVersion {
    number: u64,
    time: Instant,
}

/// A credential as resolved from the store.
#[derive(Clone)]
struct CachedCredential {
    version: ReadVersion,
    /// What it depends on.
    keys: [CredentialKey; 4],
    expires_at: Option<Time>,
    caller: Result<Caller, Refusal>,
    token_secret: Option<Secret>,
}

pub struct Authenticator {
    store: Arc<Store>,
    nonces: NonceRegistry,
    origins: Vec<RequestOrigin>,
    skew_ms: i64,
    bearers: Cache<[u8; 32], CachedCredential>,
    oauth1_tokens: Cache<[u8; 32], CachedCredential>,
    consumers: Cache<String, (ReadVersion, Arc<App>)>,
}

impl Authenticator {
    pub fn new(store: Arc<Store>, config: &AuthConfig) -> Result<Self, Fault> {
        let origin =
            |text: &String| RequestOrigin::parse(text).ok_or_else(|| Fault::new(format!("{text:?} is not an origin")));
        let origins = config.public_origins.iter().map(origin).collect::<Result<_, _>>()?;
        let nonces = NonceRegistry::open(&store, &config.data_dir, config.timestamp_skew_ms, wall_time())?;
        Ok(Self {
            store,
            nonces,
            origins,
            skew_ms: config.timestamp_skew_ms,
            bearers: Cache::new(CACHE_CAPACITY),
            oauth1_tokens: Cache::new(CACHE_CAPACITY),
            consumers: Cache::new(CACHE_CAPACITY),
        })
    }

    /// None without credentials; invalid credentials are refused.
    pub async fn authenticate(&self, request: &AuthRequest) -> Result<Option<Caller>, Error> {
        let header = request.authorization.as_deref().unwrap_or_default();
        if let Some(token) = parse_bearer_header(header) {
            return self.authenticate_bearer(token).await.map(Some);
        }
        match self.verify_signed_request(request).await? {
            // A signature without an access token does not authenticate a caller.
            Some(VerifiedRequest { caller: None, presented, .. }) => {
                let token = presented.token.is_some();
                let why = if token { AuthenticationProblem::Token } else { AuthenticationProblem::Signature };
                Err(Refusal::Unauthenticated(why).into())
            }
            Some(VerifiedRequest { caller, .. }) => Ok(caller),
            None if header.is_empty() => Ok(None),
            None => Err(Refusal::Unauthenticated(AuthenticationProblem::Malformed).into()),
        }
    }

    /// Accepted deviation of a signature's timestamp, in milliseconds.
    pub const fn skew_ms(&self) -> i64 {
        self.skew_ms
    }

    /// Invalidates cached credentials that other nodes have changed. Returns if no other process writes to the
    /// database; changes of this process are known at their commit.
    pub fn poll_credential_changes(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut reader = CredentialChangeReader::default();
            while self.store.is_shared() {
                let has_more = reader.apply_changes(&self.store).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "failed to read credential changes of other nodes; will retry");
                    false
                });
                if !has_more {
                    self.store.pause_background_work(POLL_INTERVAL).await;
                }
            }
        })
    }

    async fn authenticate_bearer(&self, token: &str) -> Result<Caller, Error> {
        let key = digest(token);
        let version = self.credentials_version();
        if let Some(cached) = self.bearers.get(&key).filter(|cached| self.is_valid(cached.version, &cached.keys)) {
            return self.check_expiry(&cached);
        }
        let text = token.to_owned();
        let found = self.store.read(move |tx| look_up_bearer(tx, &text, version)).await?;
        let Some(found) = found else {
            return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
        };
        self.bearers.insert(key, found.clone());
        self.check_expiry(&found)
    }

    fn check_expiry(&self, cached: &CachedCredential) -> Result<Caller, Error> {
        let now = self.store.context().clock.now();
        if cached.expires_at.is_some_and(|end| now >= end) {
            return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
        }
        Ok(cached.caller.clone()?)
    }

    fn credentials_version(&self) -> ReadVersion {
        ReadVersion { number: self.store.context().credential_versions.current(), time: monotonic_now() }
    }

    /// Whether what was loaded with this version has not changed since.
    fn is_valid(&self, version: ReadVersion, keys: &[CredentialKey]) -> bool {
        let versions = &self.store.context().credential_versions;
        let is_recent = || version.time.elapsed() < SHARED_CACHE_LIFETIME && versions.is_complete_within(MAX_STALENESS);
        versions.is_valid(version.number, keys) && (!self.store.is_shared() || is_recent())
    }

    /// None if the request is not signed. Each signature is accepted once.
    pub fn verify_signed_request<'a>(
        &'a self,
        request: &'a AuthRequest,
    ) -> BoxFuture<'a, Result<Option<VerifiedRequest>, Error>> {
        Box::pin(async move {
            let Some(presented) = parse_credentials(request)? else {
                return Ok(None);
            };
            let now = wall_time();
            if (presented.timestamp.saturating_mul(1000) - now.ms()).abs() > self.skew_ms {
                return Err(Refusal::Unauthenticated(AuthenticationProblem::Timestamp).into());
            }
            let (app, token, secret) = self.find_signer(&presented).await?;
            let is_request_token = token.is_none() && presented.token.is_some();
            if let Err(refusal) = self.verify_signature(request, &presented, &app, secret.as_ref())
                && !(is_request_token && self.is_signed_by_app_alone(request, &presented, &app))
            {
                return Err(refusal.into());
            }
            self.check_nonce(&presented, now).await?;
            if let Some(name) = presented.duplicate_parameter()
                && !request.allows_repeated_parameters
            {
                let message = format!("Duplicate parameters are not allowed: the `{name}` query parameter");
                return Err(Refusal::invalid_parameter(name.to_owned(), name, message).into());
            }
            let caller = token.map(|cached| self.check_expiry(&cached)).transpose()?;
            Ok(Some(VerifiedRequest { app, caller, presented }))
        })
    }

    /// Whether there are credentials outside the body; refuses those of an unknown app or token. Their signature may be
    /// of a form that has not been read.
    pub fn is_signer_known<'a>(&'a self, request: &'a AuthRequest) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            match parse_credentials(request)? {
                Some(presented) => self.find_signer(&presented).await.map(|_| true),
                None => Ok(false),
            }
        })
    }

    /// The app, the access token if it is one, and the secret of whatever token it is.
    async fn find_signer(
        &self,
        presented: &OAuth1Credentials,
    ) -> Result<(Arc<App>, Option<CachedCredential>, Option<Secret>), Error> {
        let app = self.find_consumer_app(&presented.consumer_key).await?;
        let token = match &presented.token {
            Some(token) => self.find_oauth1_token(token, &app).await?,
            None => None,
        };
        let secret = match (&token, &presented.token) {
            (Some(cached), _) => cached.token_secret.clone(),
            (None, Some(token)) => Some(self.find_request_token_secret(token, &app).await?),
            (None, None) => None,
        };
        Ok((app, token, secret))
    }

    async fn find_consumer_app(&self, key: &str) -> Result<Arc<App>, Error> {
        let version = self.credentials_version();
        if let Some((at, app)) = self.consumers.get(key)
            && self.is_valid(at, &[CredentialKey::App(app.id)])
        {
            return Ok(app);
        }
        let text = key.to_owned();
        let app = self.store.read(move |tx| Ok(apps::find_by_api_key(tx, &text)?)).await?;
        let app = app.filter(|app| app.state != AppStatus::Deleted);
        let app = Arc::new(app.ok_or(Refusal::Unauthenticated(AuthenticationProblem::Signature))?);
        self.consumers.insert(key.to_owned(), (version, Arc::clone(&app)));
        Ok(app)
    }

    /// None if the app has no such access token.
    async fn find_oauth1_token(&self, token: &str, app: &Arc<App>) -> Result<Option<CachedCredential>, Error> {
        let key = digest(token);
        let version = self.credentials_version();
        let cached = self.oauth1_tokens.get(&key);
        let mut found = cached.filter(|cached| self.is_valid(cached.version, &cached.keys));
        if found.is_none() {
            let looked_up = self.store.read(move |tx| look_up_oauth1(tx, &key, version));
            found = looked_up.await?;
            if let Some(found) = &found {
                self.oauth1_tokens.insert(key, found.clone());
            }
        }
        let is_of_other_app =
            |cached: &CachedCredential| matches!(&cached.caller, Ok(caller) if caller.app_id != app.id);
        Ok(found.filter(|cached| !is_of_other_app(cached)))
    }

    /// Called for tokens that are not access tokens; refuses unknown ones.
    async fn find_request_token_secret(&self, token: &str, app: &Arc<App>) -> Result<Secret, Error> {
        let (text, app_id) = (token.to_owned(), app.id);
        let request_token = self.store.read(move |tx| Ok(oauth1_flow::find_request_token_secret(tx, &text)?)).await?;
        let request_token = request_token.filter(|request_token| request_token.app_id == app_id);
        Ok(request_token.ok_or(Refusal::Unauthenticated(AuthenticationProblem::Token))?.secret)
    }

    fn verify_signature(
        &self,
        request: &AuthRequest,
        presented: &OAuth1Credentials,
        app: &App,
        secret: Option<&Secret>,
    ) -> Result<(), Refusal> {
        let host_origin = request.host.as_deref();
        let host_origin = host_origin.and_then(|host| RequestOrigin::parse(&format!("{}://{host}", request.scheme)));
        let is_valid = host_origin.is_some_and(|origin| presented.verify(&[origin], &app.api_secret, secret).is_some())
            || presented.verify(&self.origins, &app.api_secret, secret).is_some();
        if is_valid { Ok(()) } else { Err(Refusal::Unauthenticated(AuthenticationProblem::Signature)) }
    }

    /// Client libraries and official samples sign the exchange of a request token with the app's secret alone, and
    /// some of them without the query that names the token. The verifier proves the user's approval.
    fn is_signed_by_app_alone(&self, request: &AuthRequest, presented: &OAuth1Credentials, app: &App) -> bool {
        if self.verify_signature(request, presented, app, None).is_ok() {
            return true;
        }
        let path = request.path_and_query.split('?').next().unwrap_or_default().to_owned();
        let without_query = AuthRequest { path_and_query: path, ..request.clone() };
        let presented = parse_credentials(&without_query).ok().flatten();
        presented.is_some_and(|presented| self.verify_signature(request, &presented, app, None).is_ok())
    }

    async fn check_nonce(&self, presented: &OAuth1Credentials, now: Time) -> Result<(), Error> {
        let signed_parts = format!(
            "{}\u{0}{}\u{0}{}\u{0}{}",
            presented.consumer_key,
            presented.token.as_deref().unwrap_or_default(),
            presented.timestamp,
            presented.nonce
        );
        if self.nonces.claim_nonce(&self.store, digest(&signed_parts), now).await? {
            return Ok(());
        }
        Err(Refusal::Unauthenticated(AuthenticationProblem::Signature).into())
    }
}

fn parse_credentials(request: &AuthRequest) -> Result<Option<OAuth1Credentials>, Refusal> {
    let (path, query) = request.path_and_query.split_once('?').unwrap_or((&request.path_and_query, ""));
    let parts = OAuth1Request {
        method: &request.method,
        path,
        query,
        authorization: request.authorization.as_deref(),
        form: request.form.as_deref(),
    };
    let parsed = OAuth1Credentials::from_request(&parts);
    parsed.map_err(|error| Refusal::Unauthenticated(error.authentication_problem()))
}

pub fn parse_bearer_header(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn look_up_bearer(tx: &mut Tx<'_>, token: &str, version: ReadVersion) -> Result<Option<CachedCredential>, Error> {
    if let Some(found) = tokens::find_oauth2(tx, &digest(token))? {
        if found.kind != "access" || found.revoked_at.is_some() {
            return Ok(None);
        }
        let Some(app) = find_live_app(tx, found.app_id)? else {
            return Ok(None);
        };
        let scopes = Scopes::parse(&found.scopes)
            .map_err(|name| Fault::new(format!("a stored token has the scope {name:?}")))?;
        let (of_app, of_user) = (CredentialKey::App(app.id), CredentialKey::User(found.user_id));
        let of_token = CredentialKey::from_digest(&digest(token));
        let keys = [of_app, of_user, of_token, CredentialKey::TokenFamily(found.family)];
        let caller = resolve_caller(tx, app, Some(found.user_id), Credential::OAuth2, scopes)?;
        return Ok(Some(CachedCredential { version, keys, expires_at: found.expires_at, caller, token_secret: None }));
    }
    let app = match apps::find_by_bearer(tx, &digest(token))? {
        Some(app) => Some(app),
        // Some clients URL-decode the token.
        None => apps::find_by_bearer(tx, &digest(&percent_encode_token(token)))?,
    };
    let Some(app) = app.filter(|app| app.state != AppStatus::Deleted) else {
        return Ok(None);
    };
    let keys = [CredentialKey::App(app.id); 4];
    let caller = resolve_caller(tx, Arc::new(app), None, Credential::App, Scopes::NONE)?;
    Ok(Some(CachedCredential { version, keys, expires_at: None, caller, token_secret: None }))
}

fn look_up_oauth1(tx: &mut Tx<'_>, digest: &[u8; 32], version: ReadVersion) -> Result<Option<CachedCredential>, Error> {
    let found = tokens::find_oauth1(tx, digest)?.filter(|token| token.revoked_at.is_none());
    let Some(found) = found else { return Ok(None) };
    let Some(app) = find_live_app(tx, found.app_id)? else {
        return Ok(None);
    };
    let (of_app, of_user) = (CredentialKey::App(app.id), CredentialKey::User(found.user_id));
    let keys = [of_app, of_app, of_user, CredentialKey::from_digest(digest)];
    let caller = resolve_caller(tx, app, Some(found.user_id), Credential::OAuth1, Scopes::NONE)?;
    let permission: Permission = found.permission.parse()?;
    let caller = match caller {
        Ok(caller) => {
            let may_read_email = grants::may_read_email(tx, &caller.app, found.user_id)?;
            Ok(Caller { permission, may_read_email, ..caller })
        }
        Err(refusal) => Err(refusal),
    };
    Ok(Some(CachedCredential { version, keys, expires_at: None, caller, token_secret: Some(found.secret) }))
}

fn find_live_app(tx: &mut Tx<'_>, id: AppId) -> Result<Option<Arc<App>>, Fault> {
    let app = apps::find_by_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    Ok(app.map(Arc::new))
}

/// The caller of a valid credential, or why its app or user may not make requests.
fn resolve_caller(
    tx: &mut Tx<'_>,
    app: Arc<App>,
    user: Option<UserId>,
    credential: Credential,
    scopes: Scopes,
) -> Result<Result<Caller, Refusal>, Fault> {
    if app.state == AppStatus::Suspended {
        return Ok(Err(Refusal::Unauthenticated(AuthenticationProblem::App)));
    }
    if let Some(user) = user {
        match users::find_by_id(tx, user)?.map(|user| user.state) {
            Some(users::UserState::Active) => {}
            Some(users::UserState::Suspended) => {
                let detail = "Your account is suspended and is not permitted to access this feature.";
                return Ok(Err(Refusal::forbidden_with_code(64, detail)));
            }
            Some(users::UserState::Deleted | users::UserState::Placeholder) | None => {
                return Ok(Err(Refusal::Unauthenticated(AuthenticationProblem::Token)));
            }
        }
    }
    let (app_id, permission) = (app.id, Permission::Messages);
    let may_read_email = credential == Credential::OAuth2 && scopes.contains(Scope::UsersEmail) && app.request_email;
    Ok(Ok(Caller { app_id, app, user, credential, scopes, permission, may_read_email, _proof: Proof }))
}
