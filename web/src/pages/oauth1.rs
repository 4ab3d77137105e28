//! OAuth 1.0a: a person answers an app (contract §2.3).

use network::oauth1_flow::{self, OAuth1Approval, PendingAuthorization, RequestTokenProblem};
use pages::{Authorize, Cancelled, Pin, Wrong};

use super::app::{card, destination, level};
use super::forms::{self, Query};
use super::{Person, Turn, Visit, errors, headers, run, see, sign_in};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

pub(crate) const ACTION: &str = "/oauth/authorize";

/// `GET /oauth/authorize`: always asks.
pub(crate) fn authorize(call: Call) -> Pending {
    show(call, false)
}

/// `GET /oauth/authenticate`: does not ask again what was granted before.
pub(crate) fn authenticate(call: Call) -> Pending {
    show(call, true)
}

fn show(call: Call, silent: bool) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let query = match Query::of(&call) {
            Ok(query) => query,
            Err(text) => return Ok(errors::page(&call, &visit, Wrong::Request(text), None)?),
        };
        let Some(token) = query.get("oauth_token") else {
            return Ok(errors::page(
                &call,
                &visit,
                Wrong::RequestTokenMissing,
                None,
            )?);
        };
        let waiting = waiting(&call, &visit, token).await?;
        let forced = !matches!(query.raw("force_login"), None | Some("false" | "0"));
        // Who had to sign in is asked as well.
        let path = if forced {
            ACTION
        } else {
            call.head().uri.path()
        };
        let next = format!("{path}?oauth_token={}", base::percent::encode(token));
        let person = match &visit.person {
            Some(person) if !forced => person,
            _ => {
                let login = query.get("screen_name").unwrap_or_default();
                return sign_in::first(&call, &visit, &next, login).await;
            }
        };
        if silent {
            let (app, user) = (waiting.app.clone(), person.user.id);
            let most = waiting.permission;
            let known = call
                .read(move |tx| Ok(oauth1_flow::is_already_approved(tx, &app, user, most)?))
                .await?;
            if known {
                return approve(&call, &visit, person, &waiting, token).await;
            }
        }
        ask(&call, &visit, &waiting, token, &next).await
    })
}

async fn ask(
    call: &Call,
    visit: &Visit,
    waiting: &PendingAuthorization,
    token: &str,
    next: &str,
) -> Result<Reply, Turn> {
    let page = Authorize {
        frame: visit.frame(call),
        action: ACTION.to_owned(),
        token: token.to_owned(),
        app: card(call, &waiting.app).await?,
        level: level(waiting.permission),
        email: waiting.app.request_email,
        destination: waiting.callback.as_deref().map(destination),
        switch: sign_in::switch(next),
    };
    let reply = visit.page(call, &page)?;
    Ok(headers::leading_to(reply, waiting.callback.as_deref()))
}

/// `POST /oauth/authorize`: the answer.
pub(crate) fn decide(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let (token, decision) = (sent.text("oauth_token"), sent.text("decision"));
        // Whoever does not want to sign in may still say no.
        if visit.person.is_none() && decision != "deny" {
            let token = base::percent::encode(&token);
            return Ok(see(&format!("{ACTION}?oauth_token={token}")));
        }
        if token.is_empty() {
            return Ok(errors::page(
                &call,
                &visit,
                Wrong::RequestTokenMissing,
                None,
            )?);
        }
        let waiting = waiting(&call, &visit, &token).await?;
        match (decision.as_str(), &visit.person) {
            ("allow", Some(person)) => approve(&call, &visit, person, &waiting, &token).await,
            ("deny", _) => deny(&call, &visit, &waiting, &token).await,
            _ => {
                let text = "The form came without a decision.".to_owned();
                Ok(errors::page(&call, &visit, Wrong::Request(text), None)?)
            }
        }
    })
}

async fn approve(
    call: &Call,
    visit: &Visit,
    person: &Person,
    waiting: &PendingAuthorization,
    token: &str,
) -> Result<Reply, Turn> {
    let (text, by) = (token.to_owned(), person.by(visit));
    let approved = call.write(move |tx| oauth1_flow::approve(tx, &text, &by));
    match approved.await? {
        Ok(OAuth1Approval::Redirect(to)) => Ok(Reply::redirect(&to)),
        Ok(OAuth1Approval::Pin(pin)) => {
            let page = Pin {
                frame: visit.frame(call),
                app: card(call, &waiting.app).await?,
                pin,
            };
            Ok(visit.page(call, &page)?)
        }
        Err(gone) => Err(over(call, visit, gone)?),
    }
}

async fn deny(
    call: &Call,
    visit: &Visit,
    waiting: &PendingAuthorization,
    token: &str,
) -> Result<Reply, Turn> {
    let (text, by) = (token.to_owned(), visit.by());
    let denied = call.write(move |tx| oauth1_flow::deny(tx, &text, &by));
    match denied.await? {
        Ok(Some(to)) => Ok(Reply::redirect(&to)),
        Ok(None) => {
            let page = Cancelled {
                frame: visit.frame(call),
                app: card(call, &waiting.app).await?,
            };
            Ok(visit.page(call, &page)?)
        }
        Err(gone) => Err(over(call, visit, gone)?),
    }
}

async fn waiting(call: &Call, visit: &Visit, token: &str) -> Result<PendingAuthorization, Turn> {
    let text = token.to_owned();
    let found = call
        .read(move |tx| oauth1_flow::find_pending_authorization(tx, &text))
        .await?;
    match found {
        Ok(waiting) => Ok(waiting),
        Err(gone) => Err(over(call, visit, gone)?),
    }
}

/// The page that says why there is nothing to answer.
fn over(call: &Call, visit: &Visit, gone: RequestTokenProblem) -> Result<Turn, Turn> {
    let wrong = match gone {
        RequestTokenProblem::Unknown | RequestTokenProblem::Used | RequestTokenProblem::Denied => {
            Wrong::RequestTokenUnknown
        }
        RequestTokenProblem::Expired => Wrong::RequestTokenExpired,
        RequestTokenProblem::App => Wrong::AppSuspended,
    };
    Ok(errors::page(call, visit, wrong, None)?.into())
}
