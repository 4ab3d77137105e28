//! OAuth 2.0: a person answers an app (contract §2.5).

use network::oauth2_flow::{
    self, AuthorizeRefusal, AuthorizeRefusalReason, AuthorizeRequest, ValidatedAuthorization,
};
use network::portal;
use pages::{Compared, Consent, Wrong};
use store::apps::{App, AppStatus};

use super::app::{card, destination};
use super::forms::{self, Query};
use super::{Turn, Visit, errors, headers, run, see, sign_in};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

pub(crate) const ACTION: &str = "/i/oauth2/authorize";

/// The parameters that make up a request, all of them sent back by the form and judged again.
const NAMES: [&str; 7] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
];

/// What a query asks.
pub(crate) fn asked(query: &Query) -> AuthorizeRequest {
    request(|name| query.get(name).map(str::to_owned))
}

/// What a form sends back of a query.
pub(crate) fn sent_back(query: &Query) -> Vec<(String, String)> {
    let pairs = NAMES.into_iter();
    let pairs = pairs.filter_map(|name| Some((name.to_owned(), query.get(name)?.to_owned())));
    pairs.collect()
}

fn request(get: impl Fn(&'static str) -> Option<String>) -> AuthorizeRequest {
    AuthorizeRequest {
        response_type: get("response_type"),
        client_id: get("client_id"),
        redirect_uri: get("redirect_uri"),
        scope: get("scope"),
        state: get("state"),
        code_challenge: get("code_challenge"),
        code_challenge_method: get("code_challenge_method"),
    }
}

/// `GET /i/oauth2/authorize`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let query = match Query::of(&call) {
            Ok(query) => query,
            Err(text) => return Ok(errors::page(&call, &visit, Wrong::Request(text), None)?),
        };
        let found = judged(&call, &visit, asked(&query)).await?;
        let hidden = sent_back(&query);
        let next = here(&hidden);
        if visit.person.is_none() {
            return sign_in::first(&call, &visit, &next, "").await;
        }
        let page = Consent {
            frame: visit.frame(&call),
            action: ACTION.to_owned(),
            hidden,
            app: card(&call, &found.app).await?,
            scopes: found.scopes,
            plain: found.uses_plain_pkce && call.home.front.config.warns_of_plain,
            destination: destination(&found.redirect_uri),
            switch: sign_in::switch(&next),
        };
        let reply = visit.page(&call, &page)?;
        Ok(headers::leading_to(reply, Some(&found.redirect_uri)))
    })
}

/// `POST /i/oauth2/authorize`: the answer.
pub(crate) fn decide(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let decision = sent.text("decision");
        // Whoever does not want to sign in may still say no.
        if visit.person.is_none() && decision != "deny" {
            let pairs = NAMES.into_iter();
            let pairs = pairs.filter_map(|name| Some((name.to_owned(), sent.given(name)?)));
            return Ok(see(&here(&pairs.collect::<Vec<_>>())));
        }
        let found = judged(&call, &visit, request(|name| sent.given(name))).await?;
        let rules = call.home.rules.clone();
        let by = visit.by();
        match (decision.as_str(), &visit.person) {
            ("allow", Some(_)) => {
                let approve =
                    move |tx: &mut store::Tx<'_>| oauth2_flow::approve(tx, &rules, &found, &by);
                Ok(Reply::redirect(&call.write(approve).await?))
            }
            ("deny", _) => {
                let deny = move |tx: &mut store::Tx<'_>| oauth2_flow::deny(tx, &rules, &found, &by);
                Ok(Reply::redirect(&call.write(deny).await?))
            }
            _ => {
                let text = "The form came without a decision.".to_owned();
                Ok(errors::page(&call, &visit, Wrong::Request(text), None)?)
            }
        }
    })
}

/// The request, found in order; else the page or the redirect that says what is wrong.
async fn judged(
    call: &Call,
    visit: &Visit,
    asked: AuthorizeRequest,
) -> Result<ValidatedAuthorization, Turn> {
    let (rules, request) = (call.home.rules.clone(), asked.clone());
    let found = call
        .read(move |tx| oauth2_flow::validate_authorize_request(tx, &rules, &request))
        .await?;
    let reason = match found {
        Ok(found) => return Ok(found),
        Err(AuthorizeRefusal::Redirect { to, .. }) => return Err(Reply::redirect(&to).into()),
        Err(AuthorizeRefusal::Page(reason)) => reason,
    };
    let wrong = match reason {
        AuthorizeRefusalReason::NoClient | AuthorizeRefusalReason::UnknownClient => {
            Wrong::ClientUnknown
        }
        AuthorizeRefusalReason::SuspendedClient => Wrong::AppSuspended,
        AuthorizeRefusalReason::NoRedirect => Wrong::RedirectMissing,
        AuthorizeRefusalReason::UnknownRedirect => Wrong::RedirectUnregistered,
    };
    let client = asked.client_id.unwrap_or_default();
    let app = call
        .read(move |tx| Ok(store::apps::find_by_client_id(tx, &client)?))
        .await?;
    let url = asked.redirect_uri.unwrap_or_default();
    let compared = match &app {
        Some(app) if reason == AuthorizeRefusalReason::UnknownRedirect => compared(call, app, &url),
        _ => Vec::new(),
    };
    let known = app.filter(|app| app.state != AppStatus::Deleted);
    let name = known.map(|app| app.name);
    Err(errors::compared(call, visit, wrong, name, compared)?.into())
}

/// How an address compares with the registered ones: for developers, in their own world.
fn compared(call: &Call, app: &App, url: &str) -> Vec<Compared> {
    if !call.home.front.config.dev {
        return Vec::new();
    }
    let tested = portal::test_callback(app, url, call.home.rules.ports);
    let compared = tested.comparisons.into_iter().map(|one| Compared {
        registered: one.registered,
        given: url.to_owned(),
        oauth1: one.oauth1,
        oauth2: one.oauth2,
    });
    compared.collect()
}

/// The address of the same question.
fn here(pairs: &[(String, String)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", base::percent::encode(value)));
    format!("{ACTION}?{}", pairs.collect::<Vec<_>>().join("&"))
}
