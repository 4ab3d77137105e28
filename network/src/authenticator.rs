//! Who is calling: a request's credentials turned into a proof that they hold (contract §2.7).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::clock::wall_time;
use base::oauth1::{OAuth1Credentials, OAuth1Request, RequestOrigin};
use base::refusal::AuthenticationProblem;
use base::secret::digest;
use base::{AppId, Credential, Error, Fault, Refusal, Scopes, Secret, Time, UserId};
use moka::sync::Cache;
use store::apps::{self, App, AppStatus};
use store::nonces::NonceRegistry;
use store::tokens;
use store::users;
use store::{Store, Tx, event_log};

use crate::apps::Permission;
use crate::bearer::percent_encode_token;
use crate::oauth1_flow;

/// Credentials that are remembered at most.
const CACHE_CAPACITY: u64 = 100_000;

/// How often other nodes' changes are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Whether an entry of the log says that a credential may mean something else.
fn affects_credentials(kind: &str) -> bool {
    let of_user = ["user.suspend", "user.restore", "user.delete"];
    let of_others = ["token.", "bearer.", "app."];
    of_user.contains(&kind) || of_others.iter().any(|group| kind.starts_with(group))
}

/// How credentials are judged.
#[derive(Clone, Debug)]
pub struct AuthConfig {
    /// Where the memory of signatures is kept.
    pub data_dir: PathBuf,
    /// Addresses under which clients know this server, beside the one they connected to.
    pub public_origins: Vec<String>,
    /// How far a signature's timestamp may be off, in milliseconds.
    pub timestamp_skew_ms: i64,
}

/// What of a request its credentials are read from.
#[derive(Clone, Debug, Default)]
pub struct AuthRequest {
    /// The method.
    pub method: String,
    /// Path and query as they came.
    pub path_and_query: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The body, if it is a form.
    pub form: Option<Vec<u8>>,
    /// `http` or `https`, as the client sees it.
    pub scheme: &'static str,
    /// The host that the client named.
    pub host: Option<String>,
    /// Whether a parameter may come several times, as lists of some clients do.
    pub allows_repeated_parameters: bool,
}

/// A caller that has proved who it is. Only the [`Authenticator`] makes one.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The app.
    pub app_id: AppId,
    /// The app's record.
    pub app: Arc<App>,
    /// The user it acts for.
    pub user: Option<UserId>,
    /// The kind of credential.
    pub credential: Credential,
    /// The scopes of an OAuth 2.0 user token.
    pub scopes: Scopes,
    /// The level of an OAuth 1.0a token.
    pub permission: Permission,
    _proof: Proof,
}

/// Keeps others from making a [`Caller`].
#[derive(Clone, Copy, Debug)]
struct Proof;

/// A signed request, verified: the app, and the user's token if there was one.
#[derive(Clone, Debug)]
pub struct VerifiedRequest {
    /// The app that signed.
    pub app: Arc<App>,
    /// The caller, when an access token took part.
    pub caller: Option<Caller>,
    /// The parameters of the signature.
    pub presented: OAuth1Credentials,
}

/// A credential as it was worked out from the store.
#[derive(Clone)]
struct CachedCredential {
    /// The store's version of credentials at that time.
    version: u64,
    expires_at: Option<Time>,
    caller: Result<Caller, Refusal>,
    token_secret: Option<Secret>,
}

/// Turns credentials into callers.
pub struct Authenticator {
    store: Arc<Store>,
    nonces: NonceRegistry,
    origins: Vec<RequestOrigin>,
    skew_ms: i64,
    bearers: Cache<[u8; 32], CachedCredential>,
    oauth1_tokens: Cache<[u8; 32], CachedCredential>,
    consumers: Cache<String, (u64, Arc<App>)>,
}

impl Authenticator {
    /// An authenticator over a store.
    pub fn new(store: Arc<Store>, config: &AuthConfig) -> Result<Self, Fault> {
        let origin =
            |text: &String| RequestOrigin::parse(text).ok_or_else(|| Fault::new(format!("{text:?} is no origin")));
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

    /// The caller, or none when no credentials came. A credential that does not hold is refused.
    pub async fn authenticate(&self, request: &AuthRequest) -> Result<Option<Caller>, Error> {
        let header = request.authorization.as_deref().unwrap_or_default();
        if let Some(token) = parse_bearer_header(header) {
            return self.authenticate_bearer(token).await.map(Some);
        }
        match self.verify_signed_request(request).await? {
            // A signature without a user's access token proves no caller of a resource.
            Some(VerifiedRequest {
                caller: None,
                presented,
                ..
            }) => {
                let token = presented.token.is_some();
                let why = if token {
                    AuthenticationProblem::Token
                } else {
                    AuthenticationProblem::Signature
                };
                Err(Refusal::Unauthenticated(why).into())
            }
            Some(VerifiedRequest { caller, .. }) => Ok(caller),
            None if header.is_empty() => Ok(None),
            None => Err(Refusal::Unauthenticated(AuthenticationProblem::Malformed).into()),
        }
    }

    /// How far a signature's timestamp may be off, in milliseconds.
    pub const fn skew_ms(&self) -> i64 {
        self.skew_ms
    }

    /// Reads the log and forgets what other nodes have changed. Needed only where other processes
    /// write to the same database; a change of this process is known with its commit.
    pub async fn poll_credential_changes(&self) {
        let mut seen = None;
        while self.store.is_shared() {
            match self.poll_events_after(seen).await {
                Ok(end) => seen = Some(end),
                Err(stop) => tracing::warn!(?stop, "other nodes' changes were not read"),
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Reads what came after a place in the log; answers the new place.
    async fn poll_events_after(&self, seen: Option<i64>) -> Result<i64, Error> {
        let Some(seen) = seen else {
            return self.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await;
        };
        let events = self
            .store
            .read(move |tx| Ok(event_log::list_after(tx, seen, 1000)?))
            .await?;
        if events.iter().any(|event| affects_credentials(&event.kind)) {
            self.store.context().credentials_version.fetch_add(1, Ordering::SeqCst);
        }
        Ok(events.last().map_or(seen, |event| event.seq))
    }

    async fn authenticate_bearer(&self, token: &str) -> Result<Caller, Error> {
        let key = digest(token);
        let version = self.credentials_version();
        if let Some(known) = self.bearers.get(&key).filter(|known| known.version == version) {
            return self.check_expiry(&known);
        }
        let text = token.to_owned();
        let found = self.store.read(move |tx| look_up_bearer(tx, &text, version)).await?;
        let Some(found) = found else {
            return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
        };
        self.bearers.insert(key, found.clone());
        self.check_expiry(&found)
    }

    fn check_expiry(&self, known: &CachedCredential) -> Result<Caller, Error> {
        let now = self.store.context().clock.now();
        if known.expires_at.is_some_and(|end| now >= end) {
            return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
        }
        Ok(known.caller.clone()?)
    }

    fn credentials_version(&self) -> u64 {
        self.store.context().credentials_version.load(Ordering::SeqCst)
    }

    /// A signed request's app and caller, or none when the request is not signed. Each signature
    /// is taken once.
    pub async fn verify_signed_request(&self, request: &AuthRequest) -> Result<Option<VerifiedRequest>, Error> {
        let (path, query) = request
            .path_and_query
            .split_once('?')
            .unwrap_or((&request.path_and_query, ""));
        let parts = OAuth1Request {
            method: &request.method,
            path,
            query,
            authorization: request.authorization.as_deref(),
            form: request.form.as_deref(),
        };
        let presented = OAuth1Credentials::from_request(&parts)
            .map_err(|unsound| Refusal::Unauthenticated(unsound.authentication_problem()))?;
        let Some(presented) = presented else {
            return Ok(None);
        };
        let now = wall_time();
        if (presented.timestamp.saturating_mul(1000) - now.ms()).abs() > self.skew_ms {
            return Err(Refusal::Unauthenticated(AuthenticationProblem::Timestamp).into());
        }
        let app = self.find_consumer_app(&presented.consumer_key).await?;
        let token = match &presented.token {
            Some(token) => self.find_oauth1_token(token, &app).await?,
            None => None,
        };
        let secret = match (&token, &presented.token) {
            (Some(known), _) => known.token_secret.clone(),
            (None, Some(token)) => Some(self.find_request_token_secret(token, &app).await?),
            (None, None) => None,
        };
        self.verify_signature(request, &presented, &app, secret.as_ref())?;
        self.check_nonce(&presented, now).await?;
        if let Some(name) = presented.duplicate_parameter()
            && !request.allows_repeated_parameters
        {
            let message = format!("Duplicate parameters are not allowed: the `{name}` query parameter");
            return Err(Refusal::invalid_parameter(name.to_owned(), name, message).into());
        }
        let caller = token.map(|known| self.check_expiry(&known)).transpose()?;
        Ok(Some(VerifiedRequest { app, caller, presented }))
    }

    async fn find_consumer_app(&self, key: &str) -> Result<Arc<App>, Error> {
        let version = self.credentials_version();
        if let Some((at, app)) = self.consumers.get(key)
            && at == version
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

    /// What is known of an access token of this app; none when it is no such token.
    async fn find_oauth1_token(&self, token: &str, app: &Arc<App>) -> Result<Option<CachedCredential>, Error> {
        let key = digest(token);
        let version = self.credentials_version();
        let known = self.oauth1_tokens.get(&key);
        let mut found = known.filter(|known| known.version == version);
        if found.is_none() {
            let looked_up = self.store.read(move |tx| look_up_oauth1(tx, &key, version));
            found = looked_up.await?;
            if let Some(found) = &found {
                self.oauth1_tokens.insert(key, found.clone());
            }
        }
        let of_other = |known: &CachedCredential| matches!(&known.caller, Ok(caller) if caller.app_id != app.id);
        Ok(found.filter(|known| !of_other(known)))
    }

    /// The secret of a request token of this app. No other token is left that it could be.
    async fn find_request_token_secret(&self, token: &str, app: &Arc<App>) -> Result<Secret, Error> {
        let (text, app_id) = (token.to_owned(), app.id);
        let held = self
            .store
            .read(move |tx| Ok(oauth1_flow::find_request_token_secret(tx, &text)?))
            .await?;
        let held = held.filter(|held| held.app_id == app_id);
        Ok(held
            .ok_or(Refusal::Unauthenticated(AuthenticationProblem::Token))?
            .secret)
    }

    fn verify_signature(
        &self,
        request: &AuthRequest,
        presented: &OAuth1Credentials,
        app: &App,
        secret: Option<&Secret>,
    ) -> Result<(), Refusal> {
        let connected = request.host.as_deref();
        let connected = connected.and_then(|host| RequestOrigin::parse(&format!("{}://{host}", request.scheme)));
        let holds = connected.is_some_and(|origin| presented.verify(&[origin], &app.api_secret, secret).is_some())
            || presented.verify(&self.origins, &app.api_secret, secret).is_some();
        if holds {
            Ok(())
        } else {
            Err(Refusal::Unauthenticated(AuthenticationProblem::Signature))
        }
    }

    async fn check_nonce(&self, presented: &OAuth1Credentials, now: Time) -> Result<(), Error> {
        let whole = format!(
            "{}\u{0}{}\u{0}{}\u{0}{}",
            presented.consumer_key,
            presented.token.as_deref().unwrap_or_default(),
            presented.timestamp,
            presented.nonce
        );
        if self.nonces.claim_nonce(&self.store, digest(&whole), now).await? {
            return Ok(());
        }
        Err(Refusal::Unauthenticated(AuthenticationProblem::Signature).into())
    }
}

/// The token of a bearer header.
fn parse_bearer_header(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn look_up_bearer(tx: &mut Tx<'_>, token: &str, version: u64) -> Result<Option<CachedCredential>, Error> {
    if let Some(found) = tokens::find_oauth2(tx, &digest(token))? {
        if found.kind != "access" || found.revoked_at.is_some() {
            return Ok(None);
        }
        let Some(app) = find_live_app(tx, found.app_id)? else {
            return Ok(None);
        };
        let scopes = Scopes::parse(&found.scopes)
            .map_err(|name| Fault::new(format!("a stored token has the scope {name:?}")))?;
        let answer = resolve_caller(tx, app, Some(found.user_id), Credential::OAuth2, scopes)?;
        return Ok(Some(CachedCredential {
            version,
            expires_at: found.expires_at,
            caller: answer,
            token_secret: None,
        }));
    }
    let app = match apps::find_by_bearer(tx, &digest(token))? {
        Some(app) => Some(app),
        // A client that decoded the form once sends it without its escapes.
        None => apps::find_by_bearer(tx, &digest(&percent_encode_token(token)))?,
    };
    let Some(app) = app.filter(|app| app.state != AppStatus::Deleted) else {
        return Ok(None);
    };
    let answer = resolve_caller(tx, Arc::new(app), None, Credential::App, Scopes::NONE)?;
    Ok(Some(CachedCredential {
        version,
        expires_at: None,
        caller: answer,
        token_secret: None,
    }))
}

fn look_up_oauth1(tx: &mut Tx<'_>, digest: &[u8; 32], version: u64) -> Result<Option<CachedCredential>, Error> {
    let found = tokens::find_oauth1(tx, digest)?.filter(|token| token.revoked_at.is_none());
    let Some(found) = found else { return Ok(None) };
    let Some(app) = find_live_app(tx, found.app_id)? else {
        return Ok(None);
    };
    let answer = resolve_caller(tx, app, Some(found.user_id), Credential::OAuth1, Scopes::NONE)?;
    let permission: Permission = found.permission.parse()?;
    let answer = answer.map(|caller| Caller { permission, ..caller });
    Ok(Some(CachedCredential {
        version,
        expires_at: None,
        caller: answer,
        token_secret: Some(found.secret),
    }))
}

fn find_live_app(tx: &mut Tx<'_>, id: AppId) -> Result<Option<Arc<App>>, Fault> {
    let app = apps::find_by_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    Ok(app.map(Arc::new))
}

/// The caller behind a credential that holds, or why its app or user may not call.
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
    Ok(Ok(Caller {
        app_id: app.id,
        app,
        user,
        credential,
        scopes,
        permission: Permission::Messages,
        _proof: Proof,
    }))
}
