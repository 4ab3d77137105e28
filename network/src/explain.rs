//! Why a signed request holds or does not, for the developer of its client. Nothing is carried
//! out, no nonce is used up and no secret is told.

use base::clock::wall_time;
use base::oauth1::{OAuth1Credentials, OAuth1Request, RequestOrigin};
use base::secret::digest;
use base::{Error, Refusal, Secret};
use store::apps::{self, App, AppStatus};
use store::{Tx, tokens};

use crate::oauth1_flow;

/// A request as its developer tells it.
#[derive(Clone, Debug, Default)]
pub struct SignatureExplainRequest {
    /// The method.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// The `Authorization` header, with or without its name.
    pub authorization: String,
    /// The body, if it is a form.
    pub form: Option<String>,
    /// The base string that the developer's own code builds.
    pub base_string: Option<String>,
}

/// What a request is checked for, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureCheck {
    /// The timestamp is that of about now.
    Timestamp,
    /// The key is that of an app.
    Key,
    /// The token is one of that app.
    Token,
    /// The signature is the one that the server builds.
    Signature,
}

impl SignatureCheck {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timestamp => "timestamp",
            Self::Key => "unknown key",
            Self::Token => "unknown token",
            Self::Signature => "signature",
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct SignedRequestExplanation {
    /// Whether every check passes.
    pub holds: bool,
    /// The base string that the server builds.
    pub base_string: String,
    /// The first byte at which the developer's own differs, if it was given.
    pub differs_at: Option<usize>,
    /// The signature that the server expects; none while key or token are unknown.
    pub expected: Option<String>,
    /// The signature that came.
    pub presented: String,
    /// The app whose key it is.
    pub app: Option<String>,
    /// Checks that fail, each with a sentence.
    pub failures: Vec<(SignatureCheck, String)>,
    /// What is likely wrong, most likely first.
    pub hints: Vec<String>,
}

/// A request, taken apart.
struct ParsedSignedRequest<'a> {
    request: OAuth1Request<'a>,
    origin: RequestOrigin,
}

/// The secrets that a request should be signed with.
struct SigningSecrets {
    app: App,
    /// None: there is no token.
    token: Option<Secret>,
}

/// Explains a signed request. Refused when it cannot be read at all, in the parameter's name.
pub fn explain_signature(
    tx: &mut Tx<'_>,
    asked: &SignatureExplainRequest,
    skew_ms: i64,
) -> Result<SignedRequestExplanation, Error> {
    let parts = ParsedSignedRequest::parse(asked)?;
    let presented = OAuth1Credentials::from_request(&parts.request)
        .map_err(|unsound| invalid_parameter("authorization", &unsound.to_string()))?;
    let presented = presented.ok_or_else(|| {
        invalid_parameter(
            "authorization",
            "This is no OAuth 1.0a header: it begins with OAuth and has an oauth_signature",
        )
    })?;
    let mut failures = Vec::new();
    failures.extend(timestamp_problem(&presented, skew_ms).map(|text| (SignatureCheck::Timestamp, text)));
    let known = match find_signing_secrets(tx, &presented)? {
        Ok(known) => Some(known),
        Err(failure) => {
            failures.push(failure);
            None
        }
    };
    let theirs = asked.base_string.as_deref();
    let none = Secret::new("");
    let secret = known.as_ref().map_or(&none, |known| &known.app.api_secret);
    let token = known.as_ref().and_then(|known| known.token.as_ref());
    let found = presented.explain(&parts.origin, secret, token, theirs);
    let mut hints = Vec::new();
    if let Some(known) = &known
        && !found.matches
    {
        let text = "The signature is not the one that the server builds.";
        failures.push((SignatureCheck::Signature, text.to_owned()));
        hints = guess_mistakes(&parts, &presented, known);
        if theirs.is_some() && found.first_difference.is_none() {
            hints.push(
                "The base strings are the same, so the key is another: check the consumer secret \
                 and the token secret, each percent-encoded, joined by `&`."
                    .to_owned(),
            );
        }
        if hints.is_empty() {
            let text = if found.first_difference.is_some() {
                "Your base string is another than the server's: sign that one."
            } else {
                "Compare the base string with the one that your code builds, and check both \
                 secrets: an old one is dead as soon as it is regenerated."
            };
            hints.push(text.to_owned());
        }
    }
    Ok(SignedRequestExplanation {
        holds: failures.is_empty(),
        base_string: found.base_string,
        differs_at: found.first_difference,
        expected: known.is_some().then_some(found.signature),
        presented: presented.signature().to_owned(),
        app: known.map(|known| known.app.name),
        failures,
        hints,
    })
}

impl<'a> ParsedSignedRequest<'a> {
    fn parse(asked: &'a SignatureExplainRequest) -> Result<Self, Refusal> {
        let url = asked.url.trim();
        let url = url.split_once('#').map_or(url, |(before, _)| before);
        let origin_end = url.find("://").map(|at| at.saturating_add(3));
        let split = origin_end.and_then(|from| {
            let rest = url.get(from..)?;
            let at = rest.find(['/', '?']).unwrap_or(rest.len());
            url.split_at_checked(from.saturating_add(at))
        });
        let read = split.and_then(|(origin, target)| Some((RequestOrigin::parse(origin)?, target)));
        let (origin, target) = read.ok_or_else(|| {
            invalid_parameter("url", "This is no whole address, such as https://api.x.com/2/users/me")
        })?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = asked.authorization.trim();
        let header = match header.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => value.trim(),
            _ => header,
        };
        let request = OAuth1Request {
            method: asked.method.trim(),
            path,
            query,
            authorization: Some(header),
            form: asked.form.as_deref().map(str::as_bytes),
        };
        Ok(Self { request, origin })
    }
}

fn invalid_parameter(parameter: &'static str, message: &str) -> Refusal {
    Refusal::invalid_parameter(parameter, "", message)
}

fn timestamp_problem(presented: &OAuth1Credentials, skew_ms: i64) -> Option<String> {
    let off = presented
        .timestamp
        .saturating_mul(1000)
        .saturating_sub(wall_time().ms());
    let word = if off < 0 { "behind" } else { "ahead of" };
    let seconds = off.saturating_abs() / 1000;
    (off.saturating_abs() > skew_ms).then(|| {
        let most = skew_ms / 1000;
        format!(
            "The timestamp is {seconds} seconds {word} the server's clock; at most {most} are \
             taken."
        )
    })
}

/// What the request should be signed with, or which check fails.
fn find_signing_secrets(
    tx: &mut Tx<'_>,
    presented: &OAuth1Credentials,
) -> Result<Result<SigningSecrets, (SignatureCheck, String)>, Error> {
    let app = apps::find_by_api_key(tx, &presented.consumer_key)?;
    let Some(app) = app.filter(|app| app.state != AppStatus::Deleted) else {
        let text = "No app has this oauth_consumer_key.";
        return Ok(Err((SignatureCheck::Key, text.to_owned())));
    };
    let Some(token) = &presented.token else {
        return Ok(Ok(SigningSecrets { app, token: None }));
    };
    let failed = |text: &str| Ok(Err((SignatureCheck::Token, text.to_owned())));
    if let Some(found) = tokens::find_oauth1(tx, &digest(token))? {
        return match found {
            found if found.app_id != app.id => failed("The oauth_token is one of another app."),
            found if found.revoked_at.is_some() => failed("The oauth_token has been revoked."),
            found => Ok(Ok(SigningSecrets {
                app,
                token: Some(found.secret),
            })),
        };
    }
    match oauth1_flow::find_request_token_secret(tx, token)? {
        Some(held) if held.app_id == app.id => Ok(Ok(SigningSecrets {
            app,
            token: Some(held.secret),
        })),
        _ => failed("No token of this app is this oauth_token."),
    }
}

/// Mistakes under which the signature that came would be right.
fn guess_mistakes(
    parts: &ParsedSignedRequest<'_>,
    presented: &OAuth1Credentials,
    known: &SigningSecrets,
) -> Vec<String> {
    let (request, origin) = (&parts.request, &parts.origin);
    let (secret, token) = (&known.app.api_secret, known.token.as_ref());
    let fits = |request: &OAuth1Request<'_>, origin: &RequestOrigin| {
        let read = OAuth1Credentials::from_request(request).ok().flatten();
        read.is_some_and(|read| read.verify(std::slice::from_ref(origin), secret, token).is_some())
    };
    let mut hints = Vec::new();
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        if !method.eq_ignore_ascii_case(request.method) && fits(&OAuth1Request { method, ..*request }, origin) {
            hints.push(format!("It was signed for {method}."));
        }
    }
    let other = match origin.as_str().split_once("://") {
        Some(("http", host)) => RequestOrigin::parse(&format!("https://{host}")),
        Some((_, host)) => RequestOrigin::parse(&format!("http://{host}")),
        None => None,
    };
    if let Some(other) = other.filter(|other| fits(request, other)) {
        hints.push(format!("It was signed for {}.", other.as_str()));
    }
    if !request.query.is_empty() && fits(&OAuth1Request { query: "", ..*request }, origin) {
        hints.push("The parameters of the query were left out of the base string.".to_owned());
    }
    if request.form.is_some() && fits(&OAuth1Request { form: None, ..*request }, origin) {
        hints.push("The parameters of the form were left out of the base string.".to_owned());
    }
    let same = |secret: &Secret, token: Option<&Secret>| {
        let origins = std::slice::from_ref(origin);
        presented.verify(origins, secret, token).is_some()
    };
    if let Some(token) = token {
        if same(secret, None) {
            hints.push("It was signed without the token secret.".to_owned());
        }
        if same(token, Some(secret)) {
            hints.push("The consumer secret and the token secret are swapped.".to_owned());
        }
    }
    hints
}
