//! Who sits in front of the browser.

use base::clock::wall_time;
use base::{Error, Fault, Secret};
use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE, USER_AGENT};
use network::audit::AuditActor;
use network::sessions::{self, ClientInfo, UserSession};
use pages::{Account, Frame, Page};
use store::users::User;

use super::{Front, Turn, front, see};
use crate::call::Call;
use crate::reply::Reply;

/// The one form of all pages: its token holds for the whole session.
const FORM: &str = "page";

/// One request of a browser.
pub(crate) struct Visit {
    /// Who is signed in.
    pub(crate) person: Option<Person>,
    /// From where.
    pub(crate) facts: ClientInfo,
    /// SHA-256 of the session that the browser presents, whether it holds or not.
    pub(crate) presented: Option<[u8; 32]>,
    /// What the forms of someone who is not signed in are bound to.
    visitor: Secret,
    /// Whether the browser must be told that.
    is_new: bool,
    /// The session's text, when the browser is to keep it for another while.
    slides: Option<Secret>,
    csrf: String,
}

/// Someone who is signed in.
#[derive(Clone)]
pub(crate) struct Person {
    /// The session.
    pub(crate) session: UserSession,
    /// The account.
    pub(crate) user: User,
}

impl Visit {
    /// Reads the cookies of a request.
    pub(crate) async fn of(call: &Call) -> Result<Self, Error> {
        let (front, headers) = (&call.home.front, &call.head().headers);
        let facts = facts(call);
        let names = Names::of(front);
        let text = cookie(headers, names.session);
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
                let user = call
                    .read(move |tx| network::users::find_active(tx, id))
                    .await?;
                Some(Person { session, user })
            }
            None => None,
        };
        let visitors = front.visitors().await?;
        let told = cookie(headers, names.visitor).map(Secret::new);
        let is_new = told.is_none();
        let visitor = match told {
            Some(told) => told,
            None => visitors.generate_cookie(&call.context().rng)?,
        };
        let csrf = match &person {
            Some(person) => sessions::form_token(&person.session, FORM)?,
            None => visitors.form_token(&visitor, FORM)?,
        };
        Ok(Self {
            is_new: is_new && person.is_none(),
            slides: slides.filter(|_| person.is_some()),
            presented: text.map(|text| base::secret::digest(&text)),
            person,
            facts,
            visitor,
            csrf,
        })
    }

    /// Whether a form came from a page that this browser was shown.
    pub(super) async fn sent(&self, call: &Call, csrf: &str) -> Result<bool, Error> {
        if let Some(person) = &self.person {
            return Ok(sessions::verify_form_token(&person.session, FORM, csrf)?);
        }
        let visitors = call.home.front.visitors().await?;
        Ok(visitors.verify_form_token(&self.visitor, FORM, csrf)?)
    }

    /// Who is signed in; anyone else is sent to sign in and comes back to this address.
    pub(crate) fn signed_in(&self, call: &Call) -> Result<&Person, Turn> {
        self.person.as_ref().ok_or_else(|| {
            let here = call.head().uri.path_and_query();
            let is_get = call.head().method == http::Method::GET;
            let here = here.map_or(front::HOME, http::uri::PathAndQuery::as_str);
            let next = if is_get { here } else { front::HOME };
            let next = base::percent::encode(next);
            see(&format!("{}?next={next}", front::LINKS.sign_in)).into()
        })
    }

    /// Who acts, as far as it is known.
    pub(crate) fn by(&self) -> AuditActor {
        match &self.person {
            Some(person) => person.by(self),
            None => AuditActor::anonymous(&self.facts.address),
        }
    }

    /// The surroundings of a page.
    pub(crate) fn frame(&self, call: &Call) -> Frame {
        Frame {
            csrf: self.csrf.clone(),
            account: self.person.as_ref().map(|person| Account {
                username: person.user.username.clone(),
                name: person.user.name.clone(),
            }),
            ..call.home.front.frame(call.now())
        }
    }

    /// The answer that shows a page.
    pub(crate) fn page(&self, call: &Call, page: &impl Page) -> Result<Reply, Fault> {
        let reply = Reply::html(200, page.html()?);
        if let Some(text) = &self.slides {
            return Ok(remember(call, reply, text));
        }
        if !self.is_new {
            return Ok(reply);
        }
        let front = &call.home.front;
        let line = line(
            front,
            Names::of(front).visitor,
            self.visitor.expose_secret(),
            None,
        );
        Ok(with_cookie(reply, &line))
    }
}

impl Person {
    /// Who does what is noted.
    pub(crate) fn by(&self, visit: &Visit) -> AuditActor {
        AuditActor::user(self.user.id, &visit.facts.address)
    }
}

/// Where a request comes from.
pub(crate) fn facts(call: &Call) -> ClientInfo {
    let head = call.head();
    let agent = head.headers.get(USER_AGENT);
    let agent = agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()));
    ClientInfo {
        address: call.address(),
        user_agent: agent.unwrap_or_default().into_owned(),
    }
}

/// Gives the browser its session.
pub(crate) fn remember(call: &Call, reply: Reply, text: &Secret) -> Reply {
    let front = &call.home.front;
    let seconds = front.gate.ttl_ms / 1000;
    let name = Names::of(front).session;
    with_cookie(
        reply,
        &line(front, name, text.expose_secret(), Some(seconds)),
    )
}

/// Takes the session from the browser.
pub(crate) fn forget(call: &Call, reply: Reply) -> Reply {
    let front = &call.home.front;
    with_cookie(reply, &line(front, Names::of(front).session, "", Some(0)))
}

/// What the cookies are called. The prefix makes browsers hold us to `Secure`, `Path=/` and this
/// very host; without TLS they would refuse it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) session: &'static str,
    pub(super) visitor: &'static str,
}

impl Names {
    pub(super) const OPEN: Self = Self {
        session: "locum",
        visitor: "locum-visitor",
    };
    pub(super) const TLS: Self = Self {
        session: "__Host-locum",
        visitor: "__Host-locum-visitor",
    };

    fn of(front: &Front) -> &'static Self {
        if front.is_tls() {
            &Self::TLS
        } else {
            &Self::OPEN
        }
    }
}

/// The cookie with this name.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(COOKIE).into_iter();
    let pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    let mut values = pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    values
        .next()
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
}

fn line(front: &Front, name: &str, value: &str, seconds: Option<i64>) -> String {
    set_cookie(name, value, seconds, front.is_tls())
}

pub(super) fn set_cookie(name: &str, value: &str, seconds: Option<i64>, is_tls: bool) -> String {
    let age = seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
    let secure = if is_tls { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}")
}

fn with_cookie(reply: Reply, line: &str) -> Reply {
    match HeaderValue::from_str(line) {
        Ok(value) => reply.header(SET_COOKIE, value),
        Err(_) => reply,
    }
}
