//! Explains to developers why the signature of an OAuth 1.0a request is valid or not. The request is not executed, its
//! nonce not used up, and no secret is disclosed.

use base::clock::wall_time;
use base::oauth1::{OAuth1Credentials, OAuth1Request, RequestOrigin};
use base::secret::digest;
use base::{Error, Refusal, Secret};
use store::apps::{self, App, AppStatus};
use store::{Tx, tokens};

use crate::oauth1_flow;

/// A request as described by the developer.
#[derive(Clone, Debug, Default)]
pub struct SignatureExplainRequest {
    pub method: String,
    pub url: String,
    /// The `Authorization` header, with or without its name.
    pub authorization: String,
    /// The body, if it is a form.
    pub form: Option<String>,
    /// The base string that the developer's own code builds.
    pub base_string: Option<String>,
}

base::named_enum! {
    /// Checks in order.
    pub enum SignatureCheck {
        /// The timestamp is recent.
        Timestamp = "timestamp",
        /// The consumer key belongs to an app.
        Key = "unknown key",
        /// The token belongs to that app.
        Token = "unknown token",
        /// The signature is correct.
        Signature = "signature",
    }
}

#[derive(Clone, Debug)]
pub struct SignedRequestExplanation {
    /// Whether every check passes.
    pub is_valid: bool,
    pub base_string: String,
    /// The one that the developer gave, else the one that was signed if a likely mistake explains the signature.
    pub client_base_string: Option<String>,
    /// The first byte at which the developer's base string differs, if it was given.
    pub differs_at: Option<usize>,
    /// None while key or token are unknown.
    pub expected: Option<String>,
    pub presented: String,
    pub app: Option<String>,
    /// Failed checks, each with a sentence.
    pub failures: Vec<(SignatureCheck, String)>,
    /// Likely mistakes, most likely first.
    pub hints: Vec<String>,
}

struct ParsedSignedRequest<'a> {
    request: OAuth1Request<'a>,
    origin: RequestOrigin,
}

struct SigningSecrets {
    app: App,
    /// None if the request has no token.
    token: Option<Secret>,
}

/// Refuses requests that cannot be parsed, with the parameter's name.
pub fn explain_signature(
    tx: &mut Tx<'_>,
    input: &SignatureExplainRequest,
    skew_ms: i64,
) -> Result<SignedRequestExplanation, Error> {
    let parts = ParsedSignedRequest::parse(input)?;
    let presented = OAuth1Credentials::from_request(&parts.request)
        .map_err(|error| invalid_parameter("authorization", &error.to_string()))?;
    let presented = presented.ok_or_else(|| {
        invalid_parameter(
            "authorization",
            "This is no OAuth 1.0a header: it begins with OAuth and has an oauth_signature",
        )
    })?;
    let mut failures = Vec::new();
    failures.extend(timestamp_problem(&presented, skew_ms).map(|text| (SignatureCheck::Timestamp, text)));
    let secrets = match find_signing_secrets(tx, &presented)? {
        Ok(secrets) => Some(secrets),
        Err(failure) => {
            failures.push(failure);
            None
        }
    };
    let own_base_string = input.base_string.as_deref();
    let none = Secret::new("");
    let secret = secrets.as_ref().map_or(&none, |secrets| &secrets.app.api_secret);
    let token = secrets.as_ref().and_then(|secrets| secrets.token.as_ref());
    let explanation = presented.explain(&parts.origin, secret, token, own_base_string);
    let (mut hints, mut signed_base_string) = (Vec::new(), None);
    if let Some(secrets) = &secrets
        && !explanation.matches
    {
        let text = "The signature is not the one that the server builds.";
        failures.push((SignatureCheck::Signature, text.to_owned()));
        (hints, signed_base_string) = guess_mistakes(&parts, &presented, secrets);
        let signs_own = own_base_string.is_some_and(|text| presented.signs_base_string(text, secret, token));
        let is_same = own_base_string.is_some() && explanation.first_difference.is_none();
        if hints.is_empty() || signs_own {
            hints.push(describe_base_string(own_base_string.is_some(), is_same, signs_own).to_owned());
        }
    }
    Ok(SignedRequestExplanation {
        is_valid: failures.is_empty(),
        base_string: explanation.base_string,
        client_base_string: input.base_string.clone().or(signed_base_string),
        differs_at: explanation.first_difference,
        expected: secrets.is_some().then_some(explanation.signature),
        presented: presented.signature().to_owned(),
        app: secrets.map(|secrets| secrets.app.name),
        failures,
        hints,
    })
}

/// What follows from the base string that the developer's code builds.
const fn describe_base_string(is_given: bool, is_same: bool, is_signed: bool) -> &'static str {
    match (is_given, is_same, is_signed) {
        (true, false, true) => "Both secrets are right, and your base string was signed: build the one of the server.",
        (true, false, false) => {
            "Your base string is another than the server's, and was not signed with the secrets that the server has: sign \
             that of the server, and check both secrets."
        }
        (true, true, _) => {
            "The base strings are the same, so the key is another: check the consumer secret and the token secret, each \
             percent-encoded, joined by `&`."
        }
        (false, ..) => {
            "No common mistake in the method, the address, the encoding or the parameters explains the signature, so that a \
             secret is probably wrong: an old one is dead as soon as it is regenerated. To be sure, compare your base string."
        }
    }
}

impl<'a> ParsedSignedRequest<'a> {
    fn parse(input: &'a SignatureExplainRequest) -> Result<Self, Refusal> {
        let url = input.url.trim();
        let url = url.split_once('#').map_or(url, |(before, _)| before);
        let origin_end = url.find("://").map(|at| at.saturating_add(3));
        let split = origin_end.and_then(|from| {
            let rest = url.get(from..)?;
            let at = rest.find(['/', '?']).unwrap_or(rest.len());
            url.split_at_checked(from.saturating_add(at))
        });
        let parsed = split.and_then(|(origin, target)| Some((RequestOrigin::parse(origin)?, target)));
        let (origin, target) = parsed.ok_or_else(|| {
            invalid_parameter("url", "This is no whole address, such as https://api.x.com/2/users/me")
        })?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = input.authorization.trim();
        let header = match header.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => value.trim(),
            _ => header,
        };
        let request = OAuth1Request {
            method: input.method.trim(),
            path,
            query,
            authorization: Some(header),
            form: input.form.as_deref().map(str::as_bytes),
        };
        Ok(Self { request, origin })
    }
}

fn invalid_parameter(parameter: &'static str, message: &str) -> Refusal {
    Refusal::invalid_parameter(parameter, "", message)
}

fn timestamp_problem(presented: &OAuth1Credentials, skew_ms: i64) -> Option<String> {
    let deviation = presented.timestamp.saturating_mul(1000).saturating_sub(wall_time().ms());
    let word = if deviation < 0 { "behind" } else { "ahead of" };
    let seconds = deviation.saturating_abs() / 1000;
    (deviation.saturating_abs() > skew_ms).then(|| {
        let max = skew_ms / 1000;
        format!(
            "The timestamp is {seconds} seconds {word} the server's clock; at most {max} are \
             taken."
        )
    })
}

/// The expected secrets, or which check fails.
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
            found => Ok(Ok(SigningSecrets { app, token: Some(found.secret) })),
        };
    }
    match oauth1_flow::find_request_token_secret(tx, token)? {
        Some(request_token) if request_token.app_id == app.id => {
            Ok(Ok(SigningSecrets { app, token: Some(request_token.secret) }))
        }
        _ => failed("No token of this app is this oauth_token."),
    }
}

/// Mistakes that would make the signature correct, and the base string that was signed if it is another.
fn guess_mistakes(
    parts: &ParsedSignedRequest<'_>,
    presented: &OAuth1Credentials,
    secrets: &SigningSecrets,
) -> (Vec<String>, Option<String>) {
    let (request, origin) = (&parts.request, &parts.origin);
    let (secret, token) = (&secrets.app.api_secret, secrets.token.as_ref());
    let mut mistakes = Vec::new();
    let mut guess = |request: &OAuth1Request<'_>, origin: &RequestOrigin, hint: String| {
        let parsed = OAuth1Credentials::from_request(request).ok().flatten();
        let explanation = parsed.map(|parsed| parsed.explain(origin, secret, token, None));
        let explanation = explanation.filter(|explanation| explanation.matches);
        mistakes.extend(explanation.map(|explanation| (hint, explanation.base_string)));
    };
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        if !method.eq_ignore_ascii_case(request.method) {
            guess(&OAuth1Request { method, ..*request }, origin, format!("It was signed for {method}."));
        }
    }
    for other in other_origins(origin) {
        guess(request, &other, format!("It was signed for {}.", other.as_str()));
    }
    let other_path = match request.path.strip_suffix('/') {
        Some(path) => path.to_owned(),
        None => format!("{}/", request.path),
    };
    let hint = format!("It was signed for the path {other_path}");
    guess(&OAuth1Request { path: &other_path, ..*request }, origin, hint);
    if !request.query.is_empty() {
        let hint = "The parameters of the query were left out of the base string.";
        guess(&OAuth1Request { query: "", ..*request }, origin, hint.to_owned());
    }
    if request.form.is_some() {
        let hint = "The parameters of the form were left out of the base string.";
        guess(&OAuth1Request { form: None, ..*request }, origin, hint.to_owned());
    }
    if mistakes.is_empty()
        && let Some((hint, base_string)) = presented.find_wrong_base_string(origin, secret, token)
    {
        mistakes.push((hint.to_owned(), base_string));
    }
    let base_string = mistakes.first().map(|(_, base_string)| base_string.clone());
    let mut hints: Vec<String> = mistakes.into_iter().map(|(hint, _)| hint).collect();
    hints.extend(find_wrong_secrets(presented, origin, secret, token).map(str::to_owned));
    (hints, base_string)
}

/// With the other scheme, without the port, and of the public API.
fn other_origins(origin: &RequestOrigin) -> Vec<RequestOrigin> {
    let (scheme, host) = origin.as_str().split_once("://").unwrap_or(("https", origin.as_str()));
    let other_scheme = if scheme == "http" { "https" } else { "http" };
    let mut all = vec![format!("{other_scheme}://{host}")];
    if let Some((name, port)) = host.rsplit_once(':')
        && port.bytes().all(|byte| byte.is_ascii_digit())
    {
        all.push(format!("{scheme}://{name}"));
        all.push(format!("{other_scheme}://{name}"));
    }
    all.extend(["https://api.x.com", "https://api.twitter.com"].map(str::to_owned));
    all.iter().filter_map(|text| RequestOrigin::parse(text)).filter(|other| other != origin).collect()
}

/// The mix-up of secrets with which the signature would be correct. It finds no secret that the server does not have.
fn find_wrong_secrets(
    presented: &OAuth1Credentials,
    origin: &RequestOrigin,
    secret: &Secret,
    token: Option<&Secret>,
) -> Option<&'static str> {
    let none = Secret::new("");
    let (key, id) = (Secret::new(&*presented.consumer_key), presented.token.as_deref().map(Secret::new));
    let id = id.as_ref();
    let mut candidates = vec![
        (&none, token, "It was signed without the consumer secret."),
        (&key, token, "It was signed with the consumer key instead of the consumer secret."),
    ];
    if let Some(token) = token {
        candidates.extend([
            (secret, None, "It was signed without the token secret."),
            (token, Some(secret), "The consumer secret and the token secret are swapped."),
            (secret, id, "It was signed with the token instead of the token secret."),
            (secret, Some(secret), "It was signed with the consumer secret instead of the token secret."),
            (token, Some(token), "It was signed with the token secret instead of the consumer secret."),
        ]);
    }
    let origins = std::slice::from_ref(origin);
    let found = candidates.into_iter().find(|(secret, token, _)| presented.verify(origins, secret, *token).is_some());
    found.map(|(_, _, hint)| hint)
}
