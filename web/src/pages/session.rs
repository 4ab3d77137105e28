//! Who sits in front of the browser.

use base::clock::wall_time;
use base::{Error, Fault, Secret};
use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE, USER_AGENT};
use network::audit::AuditActor;
use network::sessions::{self, ClientInfo, UserSession};
use pages::{HtmlPage, PageFrame, SignedInAccount};
use store::users::User;

use super::{PageContext, PageExit, context, redirect_to};
use crate::reply::HttpReply;
use crate::request_context::RequestContext;

/// The one form of all pages: its token holds for the whole session.
const FORM_NAME: &str = "page";

/// One request of a browser.
pub(crate) struct BrowserVisit {
    /// Who is signed in.
    pub(crate) person: Option<SignedInPerson>,
    /// From where.
    pub(crate) client_info: ClientInfo,
    /// SHA-256 of the session that the browser presents, whether it holds or not.
    pub(crate) session_digest: Option<[u8; 32]>,
    /// What the forms of someone who is not signed in are bound to.
    visitor_secret: Secret,
    /// Whether the browser must be told that.
    is_new: bool,
    /// The session's text, when the browser is to keep it for another while.
    renewed_session: Option<Secret>,
    csrf: String,
}

/// Someone who is signed in.
#[derive(Clone)]
pub(crate) struct SignedInPerson {
    /// The session.
    pub(crate) session: UserSession,
    /// The account.
    pub(crate) user: User,
}

impl BrowserVisit {
    /// Reads the cookies of a request.
    pub(crate) async fn from_call(call: &RequestContext) -> Result<Self, Error> {
        let (front, headers) = (&call.state.page_context, &call.head().headers);
        let facts = client_info(call);
        let names = CookieNames::select(front);
        let text = find_cookie(headers, names.session);
        let now = wall_time();
        let session = match &text {
            Some(text) => sessions::resume_at(call.store(), text, &facts, now).await?,
            None => None,
        };
        // The cookie lasts as long as the session, which was just said to be in use.
        let slides = session.as_ref().filter(|it| it.last_seen_at == now);
        let slides = slides.and(text.clone()).map(Secret::new);
        let person = match session {
            Some(session) => {
                let id = session.user_id;
                let user = call.read(move |tx| network::users::find_active(tx, id)).await?;
                Some(SignedInPerson { session, user })
            }
            None => None,
        };
        let visitors = front.visitor_forms().await?;
        let told = find_cookie(headers, names.visitor).map(Secret::new);
        let is_new = told.is_none();
        let visitor = match told {
            Some(told) => told,
            None => visitors.generate_cookie(&call.store_context().rng)?,
        };
        let csrf = match &person {
            Some(person) => sessions::form_token(&person.session, FORM_NAME)?,
            None => visitors.form_token(&visitor, FORM_NAME)?,
        };
        Ok(Self {
            is_new: is_new && person.is_none(),
            renewed_session: slides.filter(|_| person.is_some()),
            session_digest: text.map(|text| base::secret::digest(&text)),
            person,
            client_info: facts,
            visitor_secret: visitor,
            csrf,
        })
    }

    /// Whether a form came from a page that this browser was shown.
    pub(super) async fn verify_csrf_token(&self, call: &RequestContext, csrf: &str) -> Result<bool, Error> {
        if let Some(person) = &self.person {
            return Ok(sessions::verify_form_token(&person.session, FORM_NAME, csrf)?);
        }
        let visitors = call.state.page_context.visitor_forms().await?;
        Ok(visitors.verify_form_token(&self.visitor_secret, FORM_NAME, csrf)?)
    }

    /// Who is signed in; anyone else is sent to sign in and comes back to this address.
    pub(crate) fn require_sign_in(&self, call: &RequestContext) -> Result<&SignedInPerson, PageExit> {
        self.person.as_ref().ok_or_else(|| {
            let here = call.head().uri.path_and_query();
            let is_get = call.head().method == http::Method::GET;
            let here = here.map_or(context::DEFAULT_PATH, http::uri::PathAndQuery::as_str);
            let next = if is_get { here } else { context::DEFAULT_PATH };
            let next = base::percent::encode(next);
            redirect_to(&format!("{}?next={next}", context::SITE_LINKS.sign_in)).into()
        })
    }

    /// Who acts, as far as it is known.
    pub(crate) fn audit_actor(&self) -> AuditActor {
        match &self.person {
            Some(person) => person.audit_actor(self),
            None => AuditActor::anonymous(&self.client_info.address),
        }
    }

    /// The surroundings of a page.
    pub(crate) fn page_frame(&self, call: &RequestContext) -> PageFrame {
        PageFrame {
            csrf: self.csrf.clone(),
            account: self.person.as_ref().map(|person| SignedInAccount {
                username: person.user.username.clone(),
                name: person.user.name.clone(),
            }),
            ..call.state.page_context.page_frame(call.now())
        }
    }

    /// The answer that shows a page.
    pub(crate) fn render_page(&self, call: &RequestContext, page: &impl HtmlPage) -> Result<HttpReply, Fault> {
        let reply = HttpReply::html(200, page.render_html()?);
        if let Some(text) = &self.renewed_session {
            return Ok(set_session_cookie(call, reply, text));
        }
        if !self.is_new {
            return Ok(reply);
        }
        let front = &call.state.page_context;
        let line = build_cookie(
            front,
            CookieNames::select(front).visitor,
            self.visitor_secret.expose_secret(),
            None,
        );
        Ok(add_cookie(reply, &line))
    }
}

impl SignedInPerson {
    /// Who does what is noted.
    pub(crate) fn audit_actor(&self, visit: &BrowserVisit) -> AuditActor {
        AuditActor::user(self.user.id, &visit.client_info.address)
    }
}

/// Where a request comes from.
pub(crate) fn client_info(call: &RequestContext) -> ClientInfo {
    let head = call.head();
    let agent = head.headers.get(USER_AGENT);
    let agent = agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()));
    ClientInfo {
        address: call.client_address(),
        user_agent: agent.unwrap_or_default().into_owned(),
    }
}

/// Gives the browser its session.
pub(crate) fn set_session_cookie(call: &RequestContext, reply: HttpReply, text: &Secret) -> HttpReply {
    let front = &call.state.page_context;
    let seconds = front.sign_in_gate.ttl_ms / 1000;
    let name = CookieNames::select(front).session;
    add_cookie(reply, &build_cookie(front, name, text.expose_secret(), Some(seconds)))
}

/// Takes the session from the browser.
pub(crate) fn clear_session_cookie(call: &RequestContext, reply: HttpReply) -> HttpReply {
    let front = &call.state.page_context;
    add_cookie(
        reply,
        &build_cookie(front, CookieNames::select(front).session, "", Some(0)),
    )
}

/// What the cookies are called. The prefix makes browsers hold us to `Secure`, `Path=/` and this
/// very host; without TLS they would refuse it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CookieNames {
    pub(super) session: &'static str,
    pub(super) visitor: &'static str,
}

impl CookieNames {
    pub(super) const PLAIN: Self = Self {
        session: "locum",
        visitor: "locum-visitor",
    };
    pub(super) const TLS: Self = Self {
        session: "__Host-locum",
        visitor: "__Host-locum-visitor",
    };

    fn select(front: &PageContext) -> &'static Self {
        if front.is_tls() { &Self::TLS } else { &Self::PLAIN }
    }
}

/// The cookie with this name.
pub(super) fn find_cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(COOKIE).into_iter();
    let pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    let mut values = pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    values.next().filter(|value| !value.is_empty()).map(str::to_owned)
}

fn build_cookie(front: &PageContext, name: &str, value: &str, seconds: Option<i64>) -> String {
    format_set_cookie(name, value, seconds, front.is_tls())
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
