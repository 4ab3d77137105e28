//! Sessions and cookies of browsers.

use std::ops::Deref;

use base::clock::wall_time;
use base::clock_mode::{ClockMode, describe_clock};
use base::{AccountTimeZone, Error, Fault, Secret, UserId};
use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE, USER_AGENT};
use identity::moderation;
use identity::pending_sign_ins;
use identity::sessions::{self, ClientInfo, UserSession};
use identity::sign_in::KnownDevice;
use network::audit::AuditActor;
use network::interactions::UnreadCounts;
use network::member_time_zones;
use network::user_roles::{self, UserRole};
use pages::{HtmlPage, PageFrame, SignedInAccount, ZonedTime};
use store::users::User;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::forms::{self, SubmittedForm};
use super::{PageExit, redirect_to};

/// One name for all forms, so that a CSRF token is valid for the whole session.
const FORM_NAME: &str = "page";

/// How long a browser counts as known after a user signed in.
const DEVICE_SECONDS: i64 = 365 * 24 * 3600;

pub struct BrowserVisit {
    pub person: Option<SignedInPerson>,
    pub client_info: ClientInfo,
    /// SHA-256 of the session cookie, whether or not the session is valid.
    pub(crate) session_digest: Option<[u8; 32]>,
    /// What the CSRF tokens of visitors who are not signed in are bound to.
    visitor_secret: Secret,
    /// Whether the visitor cookie must be set.
    is_new: bool,
    /// The session cookie, if its lifetime must be extended.
    renewed_session: Option<Secret>,
    csrf: String,
}

/// A visit of somebody who is signed in.
pub struct MemberVisit {
    visit: BrowserVisit,
    pub person: SignedInPerson,
}

impl Deref for MemberVisit {
    type Target = BrowserVisit;

    fn deref(&self) -> &BrowserVisit {
        &self.visit
    }
}

impl MemberVisit {
    pub async fn from_call(call: &RequestContext) -> Result<Self, PageExit> {
        Self::from_visit(call, BrowserVisit::from_call(call).await?)
    }

    pub(super) fn from_visit(call: &RequestContext, visit: BrowserVisit) -> Result<Self, PageExit> {
        let person = visit.require_sign_in(call)?.clone();
        Ok(Self { visit, person })
    }

    /// As [`BrowserVisit::accept_form`].
    pub async fn accept_form(call: &RequestContext) -> Result<(Self, SubmittedForm<'_>), PageExit> {
        let visit = Self::from_call(call).await?;
        let form = forms::accept_form(call, &visit).await?;
        Ok((visit, form))
    }
}

#[derive(Clone)]
pub struct SignedInPerson {
    pub session: UserSession,
    pub user: User,
    pub unread: UnreadCounts,
    pub zone: AccountTimeZone,
    pub role: Option<UserRole>,
    /// What waits for a decision that the person may take; at least 100 if there is more.
    pub undecided: i64,
}

impl BrowserVisit {
    pub async fn from_call(call: &RequestContext) -> Result<Self, Error> {
        let (page_context, headers) = (&call.state.page_context, &call.head().headers);
        let client = client_info(call);
        let names = CookieNames::select(call);
        let text = find_cookie(headers, names.session);
        let now = wall_time();
        let session = match &text {
            Some(text) => sessions::resume(call.store(), text, &client, now).await?,
            None => None,
        };
        // Resuming extended the session, so the cookie is extended too.
        let slides = session.as_ref().filter(|it| it.last_seen_at == now);
        let slides = slides.and(text.clone()).map(Secret::new);
        let person = match session {
            Some(session) => {
                let id = session.user_id;
                let read = call.read(move |tx| {
                    let unread = network::interactions::count_unread(tx, id)?;
                    let role = user_roles::find(tx, id)?;
                    let undecided = role.map_or(Ok(0), |role| moderation::count_undecided(tx, role))?;
                    let user = network::users::find_active(tx, id)?;
                    Ok((user, unread, member_time_zones::find(tx, id)?, role, undecided))
                });
                let (user, unread, zone, role, undecided) = read.await?;
                Some(SignedInPerson { session, user, unread, zone, role, undecided })
            }
            None => None,
        };
        let visitors = page_context.visitor_forms().await?;
        let presented = find_cookie(headers, names.visitor).map(Secret::new);
        let is_new = presented.is_none();
        let visitor = match presented {
            Some(presented) => presented,
            None => visitors.generate_cookie(&call.store_context().rng)?,
        };
        let csrf = match &person {
            Some(person) => sessions::form_token(&person.session, FORM_NAME),
            None => visitors.form_token(&visitor, FORM_NAME),
        };
        Ok(Self {
            is_new: is_new && person.is_none(),
            renewed_session: slides.filter(|_| person.is_some()),
            session_digest: text.map(|text| base::secret::digest(&text)),
            person,
            client_info: client,
            visitor_secret: visitor,
            csrf,
        })
    }

    /// With the form that the browser has sent, as [`forms::accept_form`] does.
    pub async fn accept_form(call: &RequestContext) -> Result<(Self, SubmittedForm<'_>), PageExit> {
        let visit = Self::from_call(call).await?;
        let form = forms::accept_form(call, &visit).await?;
        Ok((visit, form))
    }

    pub(super) async fn verify_csrf_token(&self, call: &RequestContext, csrf: &str) -> Result<bool, Error> {
        if let Some(person) = &self.person {
            return Ok(sessions::verify_form_token(&person.session, FORM_NAME, csrf));
        }
        let visitors = call.state.page_context.visitor_forms().await?;
        Ok(visitors.verify_form_token(&self.visitor_secret, FORM_NAME, csrf))
    }

    /// Whether somebody is signed in with at least this role.
    pub fn has_role(&self, needed: UserRole) -> bool {
        self.person.as_ref().and_then(|person| person.role).is_some_and(|role| role >= needed)
    }

    pub fn audit_actor(&self) -> AuditActor {
        match &self.person {
            Some(person) => person.audit_actor(self),
            None => AuditActor::anonymous(&self.client_info.address),
        }
    }

    pub fn page_frame(&self, call: &RequestContext) -> PageFrame {
        PageFrame {
            csrf: self.csrf.clone(),
            account: self.person.as_ref().map(|person| SignedInAccount {
                username: person.user.username.clone(),
                name: person.user.name.clone(),
            }),
            host: host_of(call.site().url).to_owned(),
            clock: describe_world_clock(call),
            path: call.head().uri.path().to_owned(),
            query: call.head().uri.query().unwrap_or_default().to_owned(),
            now: ZonedTime {
                at: call.now(),
                zone: self.person.as_ref().map(|person| person.zone.clone()).unwrap_or_default(),
            },
            unread_conversations: self.person.as_ref().map_or(0, |person| person.unread.conversations),
            unread: self.person.as_ref().map_or(0, |person| person.unread.interactions + person.unread.notices),
            undecided: self.person.as_ref().map_or(0, |person| person.undecided),
            is_moderator: self.has_role(UserRole::Moderator),
            is_admin: self.has_role(UserRole::Admin),
            ..call.state.page_context.page_frame(call.now())
        }
    }

    pub fn render_page(&self, call: &RequestContext, page: &impl HtmlPage) -> Result<HttpReply, Fault> {
        let reply = HttpReply::html(200, page.render_html()?);
        if let Some(text) = &self.renewed_session {
            return Ok(set_session_cookie(call, reply, text));
        }
        if !self.is_new {
            return Ok(reply);
        }
        let visitor = CookieNames::select(call).visitor;
        let line = build_cookie(call, visitor, self.visitor_secret.expose_secret(), None);
        Ok(add_cookie(reply, &line))
    }
}

impl SignedInPerson {
    pub fn audit_actor(&self, visit: &BrowserVisit) -> AuditActor {
        AuditActor::user(self.user.id, &visit.client_info.address)
    }
}

/// None while it is live, and in production.
fn describe_world_clock(call: &RequestContext) -> Option<String> {
    let mode = call.store_context().clock.mode();
    (mode != ClockMode::Live).then(|| describe_clock(mode, wall_time()))
}

fn host_of(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, host)| host)
}

pub(crate) fn client_info(call: &RequestContext) -> ClientInfo {
    let head = call.head();
    let agent = head.headers.get(USER_AGENT);
    let agent = agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()));
    ClientInfo { address: call.client_address(), user_agent: agent.unwrap_or_default().into_owned() }
}

pub fn set_session_cookie(call: &RequestContext, reply: HttpReply, text: &Secret) -> HttpReply {
    let seconds = call.state.page_context.sign_in_gate.ttl_ms / 1000;
    let name = CookieNames::select(call).session;
    add_cookie(reply, &build_cookie(call, name, text.expose_secret(), Some(seconds)))
}

/// Redirects a browser that has signed in to the local path `next`, with the cookies of its session and, unless it has
/// that already, of a known device.
pub(super) async fn begin_session(
    call: &RequestContext,
    next: &str,
    text: &Secret,
    user: UserId,
) -> Result<HttpReply, Error> {
    let mut reply = set_session_cookie(call, redirect_to(next), text);
    if pending_sign_in(call).is_some() {
        reply = clear_pending_cookie(call, reply);
    }
    if known_device(call).await?.is_some_and(|device| device.user == user) {
        return Ok(reply);
    }
    set_device_cookie(call, reply, user).await
}

/// Ties a sign-in that waits for its second factor to the browser.
pub(super) fn set_pending_cookie(call: &RequestContext, reply: HttpReply, pending: &Secret) -> HttpReply {
    let seconds = pending_sign_ins::TTL_MS / 1000;
    let name = CookieNames::select(call).pending;
    add_cookie(reply, &build_cookie(call, name, pending.expose_secret(), Some(seconds)))
}

pub(super) fn pending_sign_in(call: &RequestContext) -> Option<Secret> {
    find_cookie(&call.head().headers, CookieNames::select(call).pending).map(Secret::new)
}

pub(super) fn clear_pending_cookie(call: &RequestContext, reply: HttpReply) -> HttpReply {
    add_cookie(reply, &build_cookie(call, CookieNames::select(call).pending, "", Some(0)))
}

/// Marks the browser as one in which the user signed in.
pub(super) async fn set_device_cookie(
    call: &RequestContext,
    reply: HttpReply,
    user: UserId,
) -> Result<HttpReply, Error> {
    let page_context = &call.state.page_context;
    let tokens = page_context.visitor_forms().await?;
    let nonce = tokens.generate_cookie(&call.store_context().rng)?;
    let signature = tokens.form_token(&nonce, &device_form(call, user).await?);
    let value = format!("{user}.{}.{signature}", nonce.expose_secret());
    let name = CookieNames::select(call).device;
    Ok(add_cookie(reply, &build_cookie(call, name, &value, Some(DEVICE_SECONDS))))
}

/// The user of the browser's device cookie, if its signature is valid and the password is the same.
pub(super) async fn known_device(call: &RequestContext) -> Result<Option<KnownDevice>, Error> {
    let page_context = &call.state.page_context;
    let Some(text) = find_cookie(&call.head().headers, CookieNames::select(call).device) else {
        return Ok(None);
    };
    let mut parts = text.splitn(3, '.');
    let user = parts.next().and_then(UserId::parse);
    let (Some(user), Some(nonce), Some(signature)) = (user, parts.next(), parts.next()) else {
        return Ok(None);
    };
    let tokens = page_context.visitor_forms().await?;
    let is_valid = tokens.verify_form_token(&Secret::new(nonce), &device_form(call, user).await?, signature);
    Ok(is_valid.then(|| KnownDevice { user, digest: base::secret::digest(&text) }))
}

/// Keeps signatures of devices apart from those of forms, and makes them end with the password.
async fn device_form(call: &RequestContext, user: UserId) -> Result<String, Error> {
    let hash = call.read(move |tx| Ok(store::users::find_password_hash(tx, user)?)).await?;
    Ok(format!("device of {user} with {:x?}", base::secret::digest(&hash.unwrap_or_default())))
}

pub(crate) fn clear_session_cookie(call: &RequestContext, reply: HttpReply) -> HttpReply {
    add_cookie(reply, &build_cookie(call, CookieNames::select(call).session, "", Some(0)))
}

/// The prefix `__Host-` makes browsers enforce `Secure`, `Path=/` and the host; they refuse it without TLS.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CookieNames {
    pub(super) session: &'static str,
    pub(super) visitor: &'static str,
    pub(super) device: &'static str,
    pub(super) pending: &'static str,
}

impl CookieNames {
    pub(super) const PLAIN: Self =
        Self { session: "locum", visitor: "locum-visitor", device: "locum-device", pending: "locum-pending" };
    pub(super) const TLS: Self = Self {
        session: "__Host-locum",
        visitor: "__Host-locum-visitor",
        device: "__Host-locum-device",
        pending: "__Host-locum-pending",
    };

    fn select(call: &RequestContext) -> &'static Self {
        if call.is_tls() { &Self::TLS } else { &Self::PLAIN }
    }
}

pub(super) fn find_cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(COOKIE).into_iter();
    let pairs = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
    let mut values = pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    values.next().filter(|value| !value.is_empty()).map(str::to_owned)
}

fn build_cookie(call: &RequestContext, name: &str, value: &str, seconds: Option<i64>) -> String {
    format_set_cookie(name, value, seconds, call.is_tls())
}

pub(super) fn format_set_cookie(name: &str, value: &str, seconds: Option<i64>, is_tls: bool) -> String {
    let age = seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
    let secure = if is_tls { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}")
}

fn add_cookie(reply: HttpReply, line: &str) -> HttpReply {
    match HeaderValue::from_str(line) {
        Ok(value) => reply.header(SET_COOKIE, value),
        Err(_) => reply,
    }
}
