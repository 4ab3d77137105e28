//! What a person does for an app after signing in.

use base::Error;
use identity::oauth1_flow;
use identity::oauth2_flow;
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::security_headers;

use super::forms::PageQuery;
use super::{oauth1, oauth2};

/// What the person does for an app after signing in.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReturnTarget {
    pub(crate) app: Option<String>,
    /// Action and fields of the form that denies the app's request.
    pub(crate) deny_form: Option<(&'static str, Vec<(String, String)>)>,
}

impl ReturnTarget {
    pub(crate) async fn from_path(call: &RequestContext, next: &str) -> Result<Self, Error> {
        let Some((path, query)) = next.split_once('?') else {
            return Ok(Self::default());
        };
        let Ok(query) = PageQuery::parse(query) else {
            return Ok(Self::default());
        };
        if path.contains("/oauth2/") {
            let (asked, rules) = (oauth2::request_from_query(&query), call.oauth_settings());
            let found = call.read(move |tx| oauth2_flow::validate_authorize_request(tx, &rules, &asked)).await?;
            return Ok(found.map_or_else(
                |_| Self::default(),
                |found| Self {
                    app: Some(found.app.name),
                    deny_form: Some((oauth2::AUTHORIZE_PATH, oauth2::hidden_fields(&query))),
                },
            ));
        }
        let token = query.get("oauth_token").filter(|_| path.contains("/oauth/"));
        let Some(token) = token.map(str::to_owned) else {
            return Ok(Self::default());
        };
        let sent_back = vec![("oauth_token".to_owned(), token.clone())];
        let ports = call.state.oauth_settings.ports;
        let pending = call.read(move |tx| oauth1_flow::find_pending_authorization(tx, &token, None, ports)).await?;
        Ok(pending.map_or_else(
            |_| Self::default(),
            |pending| Self { app: Some(pending.app.name), deny_form: Some((oauth1::AUTHORIZE_PATH, sent_back)) },
        ))
    }

    /// For a page whose form leads back to the app.
    pub(crate) fn allow_redirects(&self, reply: HttpReply) -> HttpReply {
        if self.app.is_some() { security_headers::allow_form_redirects(reply) } else { reply }
    }
}
