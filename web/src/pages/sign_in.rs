//! Signing in and out.

use base::{Fault, Secret};
use http::header::{HeaderValue, RETRY_AFTER};
use network::registration::RegistrationPolicy;
use network::sessions as rules;
use network::sign_in::{SignInAttempt, SignInOutcome};
use pages::{Cancel, Field, SignIn, SignOut};

use super::errand::Errand;
use super::forms::{self, Query};
use super::front::{HOME, LINKS};
use super::{Turn, Visit, headers, run, see, session};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

/// The same for a name that nobody has and a password that is wrong.
const WRONG: &str = "The username or the password is wrong.";

/// `GET /login`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let query = Query::of(&call).ok();
        let get = |name| query.as_ref().and_then(|query| query.get(name));
        let next = get("next").and_then(forms::own_path).unwrap_or(HOME);
        if visit.person.is_some() && get("switch").is_none() {
            return Ok(see(next));
        }
        let errand = Errand::of(&call, next).await?;
        Ok(form(&call, &visit, next, &errand, Field::default(), None)?)
    })
}

/// `POST /login`.
pub(crate) fn submit(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let next = sent.next().unwrap_or_else(|| HOME.to_owned());
        let login = sent.text("login");
        let attempt = SignInAttempt {
            login: login.clone(),
            password: Secret::new(sent.text("password")),
            client_info: visit.facts.clone(),
            existing_session: visit.presented,
        };
        let (failure, status, wait) = match call.home.front.gate.sign_in(&attempt).await? {
            SignInOutcome::Accepted { text, .. } => {
                return Ok(session::remember(&call, see(&next), &text));
            }
            SignInOutcome::Wrong => (WRONG.to_owned(), 400, 0),
            SignInOutcome::Closed { detail } => (detail.to_owned(), 403, 0),
            SignInOutcome::Throttled { retry_ms } => {
                let seconds = seconds(retry_ms);
                (too_often(seconds), 429, seconds)
            }
        };
        let errand = Errand::of(&call, &next).await?;
        let reply = form(
            &call,
            &visit,
            &next,
            &errand,
            Field::of(login),
            Some(failure),
        )?;
        let reply = reply.status(status);
        Ok(if wait > 0 {
            reply.header(RETRY_AFTER, HeaderValue::from(wait))
        } else {
            reply
        })
    })
}

fn seconds(retry_ms: i64) -> i64 {
    (retry_ms.saturating_add(999) / 1000).max(1)
}

fn too_often(seconds: i64) -> String {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    format!("That was tried too often. Wait {seconds} {unit} and try again.")
}

/// The page where someone signs in, to go on with an errand.
pub(crate) fn form(
    call: &Call,
    visit: &Visit,
    next: &str,
    errand: &Errand,
    login: Field,
    failure: Option<String>,
) -> Result<Reply, Fault> {
    let mut frame = visit.frame(call);
    frame.failure = failure;
    let is_open = call.home.front.config.registration == RegistrationPolicy::Open;
    let page = SignIn {
        frame,
        action: LINKS.sign_in.to_owned(),
        next: next.to_owned(),
        app: errand.app.clone(),
        login,
        password: Field::default(),
        sign_up: is_open.then(|| format!("{}?next={}", LINKS.sign_up, base::percent::encode(next))),
        cancel: errand.no.clone().map(|(action, hidden)| Cancel {
            action: action.to_owned(),
            hidden,
        }),
    };
    let reply = visit.page(call, &page)?;
    Ok(headers::leading_to(reply, errand.target.as_deref()))
}

/// `GET /logout`.
pub(crate) fn ask_out(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        if visit.person.is_none() {
            return Ok(see(LINKS.sign_in));
        }
        let page = SignOut {
            frame: visit.frame(&call),
            action: LINKS.sign_out.to_owned(),
            back: HOME.to_owned(),
        };
        Ok(visit.page(&call, &page)?)
    })
}

/// `POST /logout`.
pub(crate) fn out(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        forms::taken(&call, &visit).await?;
        if let Some(person) = &visit.person {
            let (ended, facts) = (person.session.clone(), visit.facts.clone());
            call.write(move |tx| rules::sign_out(tx, &ended, &facts))
                .await?;
        }
        Ok(session::forget(&call, see(LINKS.sign_in)))
    })
}

/// The page where another account is chosen, to come back to an address afterwards.
pub(crate) fn switch(next: &str) -> String {
    let next = base::percent::encode(next);
    format!("{}?switch=1&next={next}", LINKS.sign_in)
}

/// Asks whoever wants to see an address to sign in, on the spot.
pub(crate) async fn first(
    call: &Call,
    visit: &Visit,
    next: &str,
    login: &str,
) -> Result<Reply, Turn> {
    let next = forms::own_path(next).unwrap_or(HOME);
    let errand = Errand::of(call, next).await?;
    Ok(form(call, visit, next, &errand, Field::of(login), None)?)
}
