//! What somebody who signs in is about to do for an app.

use base::Error;
use network::oauth1_flow;
use network::oauth2_flow;

use super::forms::Query;
use super::{oauth1, oauth2};
use crate::call::Call;

/// An app that waits behind the sign-in page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errand {
    /// Its name.
    pub(crate) app: Option<String>,
    /// Where the browser goes in the end.
    pub(crate) target: Option<String>,
    /// The form that says no to the app: what it posts to and sends.
    pub(crate) no: Option<(&'static str, Vec<(String, String)>)>,
}

impl Errand {
    /// The errand behind one of our own paths.
    pub(crate) async fn of(call: &Call, next: &str) -> Result<Self, Error> {
        let Some((path, query)) = next.split_once('?') else {
            return Ok(Self::default());
        };
        let Ok(query) = Query::read(query) else {
            return Ok(Self::default());
        };
        if path.contains("/oauth2/") {
            let (asked, rules) = (oauth2::asked(&query), call.home.rules.clone());
            let found = call
                .read(move |tx| oauth2_flow::validate_authorize_request(tx, &rules, &asked))
                .await?;
            return Ok(found.map_or_else(
                |_| Self::default(),
                |found| Self {
                    app: Some(found.app.name),
                    target: Some(found.redirect_uri),
                    no: Some((oauth2::ACTION, oauth2::sent_back(&query))),
                },
            ));
        }
        let token = query
            .get("oauth_token")
            .filter(|_| path.contains("/oauth/"));
        let Some(token) = token.map(str::to_owned) else {
            return Ok(Self::default());
        };
        let sent_back = vec![("oauth_token".to_owned(), token.clone())];
        let waiting = call
            .read(move |tx| oauth1_flow::find_pending_authorization(tx, &token))
            .await?;
        Ok(waiting.map_or_else(
            |_| Self::default(),
            |waiting| Self {
                app: Some(waiting.app.name),
                target: waiting.callback,
                no: Some((oauth1::ACTION, sent_back)),
            },
        ))
    }
}
