//! Explains to developers why the credentials of a request were refused. Nothing that the explanation says is secret.

use base::oauth1::{OAuth1Credentials, OAuth1Request};
use base::refusal::AuthenticationProblem;
use base::secret::digest;
use base::{Error, Fault, Time};
use store::apps::{self, AppStatus};
use store::{Tx, tokens, users};

use crate::authenticator::{AuthRequest, parse_bearer_header};
use crate::bearer::percent_encode_token;
use crate::explain::{self, SignatureExplainRequest, SignedRequestExplanation};

#[derive(Clone)]
pub struct RefusedRequest {
    pub auth: AuthRequest,
    pub problem: AuthenticationProblem,
    /// By the clock of the world.
    pub refused_at: Time,
}

#[derive(Clone, Debug, Default)]
pub struct RefusalExplanation {
    /// Sentences, the most likely cause first.
    pub hints: Vec<String>,
    /// Of a request that is signed with OAuth 1.0a.
    pub signature: Option<SignedRequestExplanation>,
}

impl RefusedRequest {
    /// As the client built it, with the query.
    pub fn url(&self) -> String {
        let host = self.auth.host.as_deref().unwrap_or("localhost");
        format!("{}://{host}{}", self.auth.scheme, self.auth.path_and_query)
    }

    /// None for bearer tokens, which are secret, and without credentials.
    pub fn oauth1_header(&self) -> Option<&str> {
        self.auth.authorization.as_deref().filter(|header| header.starts_with("OAuth "))
    }

    /// The state of credentials is that of now, and their expiry that of the refusal.
    pub fn explain(&self, tx: &mut Tx<'_>, skew_ms: i64) -> Result<RefusalExplanation, Error> {
        let header = self.auth.authorization.as_deref().unwrap_or_default();
        if let Some(token) = parse_bearer_header(header) {
            let hint = self.explain_bearer(tx, token)?;
            return Ok(RefusalExplanation { hints: vec![hint], signature: None });
        }
        if let Some(hint) = self.missing_credentials() {
            return Ok(RefusalExplanation { hints: vec![hint.to_owned()], signature: None });
        }
        self.explain_signature(tx, skew_ms)
    }

    fn missing_credentials(&self) -> Option<&'static str> {
        let (path, query) = self.auth.path_and_query.split_once('?').unwrap_or((&self.auth.path_and_query, ""));
        let authorization = self.auth.authorization.as_deref();
        let form = self.auth.form.as_deref();
        let request = OAuth1Request { method: &self.auth.method, path, query, authorization, form };
        if !matches!(OAuth1Credentials::from_request(&request), Ok(None)) {
            return None;
        }
        Some(match authorization {
            Some(_) => "The Authorization header starts with neither Bearer nor OAuth.",
            None => "The request has no credentials: an Authorization header starts with Bearer or OAuth.",
        })
    }

    fn explain_signature(&self, tx: &mut Tx<'_>, skew_ms: i64) -> Result<RefusalExplanation, Error> {
        let form = self.auth.form.as_ref().map(|form| String::from_utf8_lossy(form).into_owned());
        let request = SignatureExplainRequest {
            method: self.auth.method.clone(),
            url: self.url(),
            authorization: self.auth.authorization.clone().unwrap_or_default(),
            form,
            base_string: None,
        };
        let explanation = match explain::explain_signature(tx, &request, skew_ms) {
            Ok(explanation) => explanation,
            Err(Error::Refused(base::Refusal::InvalidParameters(invalid))) => {
                let hints = invalid.into_iter().map(|invalid| format!("{}.", invalid.message)).collect();
                return Ok(RefusalExplanation { hints, signature: None });
            }
            Err(error) => return Err(error),
        };
        let mut hints = Vec::new();
        if explanation.is_valid {
            hints.push(match self.problem {
                AuthenticationProblem::Signature => {
                    "An earlier request has used this nonce with this timestamp: each request needs its own."
                }
                AuthenticationProblem::Token => "The token is a request token, which only obtains an access token.",
                AuthenticationProblem::App => "The app is suspended.",
                _ => "The credentials are valid now; they were not when the request came.",
            });
        }
        Ok(RefusalExplanation { hints: hints.into_iter().map(str::to_owned).collect(), signature: Some(explanation) })
    }

    fn explain_bearer(&self, tx: &mut Tx<'_>, token: &str) -> Result<String, Fault> {
        let token_digest = digest(token);
        if let Some(found) = tokens::find_oauth2(tx, &token_digest)? {
            return self.explain_oauth2_token(tx, &found);
        }
        let mut app = apps::find_by_bearer(tx, &token_digest)?;
        if app.is_none() {
            app = apps::find_by_bearer(tx, &digest(&percent_encode_token(token)))?;
        }
        if let Some(app) = app {
            return Ok(describe_app_status(app.state, "This is the bearer token of an app that is active now."));
        }
        let hint = if tokens::find_oauth1(tx, &token_digest)?.is_some() {
            "This is an OAuth 1.0a access token: requests are signed with it, and it is not sent as a bearer token."
        } else if apps::find_by_api_key(tx, token)?.is_some() {
            "This is the API key of an app. Its bearer token is another; POST /oauth2/token returns it."
        } else if apps::find_by_client_id(tx, token)?.is_some() {
            "This is the client ID of an app. Users grant access tokens at /i/oauth2/authorize."
        } else {
            "No app and no user has this token: it was never issued here, or it has been invalidated since."
        };
        Ok(hint.to_owned())
    }

    fn explain_oauth2_token(&self, tx: &mut Tx<'_>, token: &tokens::OAuth2Token) -> Result<String, Fault> {
        if token.kind != "access" {
            return Ok("This is a refresh token: POST /2/oauth2/token exchanges it for an access token.".to_owned());
        }
        if let Some(at) = token.revoked_at {
            return Ok(format!("This access token was revoked at {at}."));
        }
        if let Some(at) = token.expires_at.filter(|at| *at <= self.refused_at) {
            return Ok(format!(
                "This access token expired at {at}. With the scope offline.access, a refresh token obtains a new one."
            ));
        }
        let user = users::find_by_id(tx, token.user_id)?;
        if user.is_none_or(|user| user.state != users::UserState::Active) {
            return Ok("The account of this token's user is not active.".to_owned());
        }
        let app = apps::find_by_id(tx, token.app_id)?.map_or(AppStatus::Deleted, |app| app.state);
        Ok(describe_app_status(app, "This access token is valid now; it was not when the request came."))
    }
}

fn describe_app_status(status: AppStatus, active: &str) -> String {
    match status {
        AppStatus::Suspended => "The app is suspended.".to_owned(),
        AppStatus::Deleted => "The app was deleted.".to_owned(),
        AppStatus::Active => active.to_owned(),
    }
}

/// Of the newest requests that were refused, in memory.
#[derive(Default)]
pub struct RefusedRequestLog {
    requests: parking_lot::Mutex<std::collections::VecDeque<(String, RefusedRequest)>>,
}

impl RefusedRequestLog {
    pub const CAPACITY: usize = 200;
    /// In bytes; a longer form is not kept, and its parameters then count as left out.
    const MAX_FORM_LENGTH: usize = 16 * 1024;

    pub fn insert(&self, id: &str, auth: AuthRequest, problem: AuthenticationProblem, refused_at: Time) {
        let form = auth.form.filter(|form| form.len() <= Self::MAX_FORM_LENGTH);
        let request = RefusedRequest { auth: AuthRequest { form, ..auth }, problem, refused_at };
        let mut requests = self.requests.lock();
        if requests.len() >= Self::CAPACITY {
            requests.pop_front();
        }
        requests.push_back((id.to_owned(), request));
    }

    /// The newest with this id, which clients may have chosen.
    pub fn find(&self, id: &str) -> Option<RefusedRequest> {
        let requests = self.requests.lock();
        requests.iter().rev().find(|(known, _)| known == id).map(|(_, request)| request.clone())
    }
}
