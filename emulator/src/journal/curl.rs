//! A request as a command that can be pasted.

use super::masking::{MASK, is_secret_name};
use super::{JournalEntry, RecordedBody};
use base::Credential;

/// Headers that curl sets itself, or that belong to the connection.
const LEFT_OUT: [&str; 9] = [
    "host",
    "content-length",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "authorization",
    "x-request-id",
    "expect",
    "proxy-connection",
];

/// Secrets are replaced by variables: those of `dev.env` where it has them. A signature is valid for one request, so that
/// a signed request becomes one with the user's bearer token.
pub fn curl_command(entry: &JournalEntry, variables: &CurlVariables) -> String {
    let mut parts = vec!["curl".to_owned()];
    match entry.method() {
        "GET" => {}
        // Otherwise curl waits for a body.
        "HEAD" => parts.push("--head".to_owned()),
        method => parts.push(format!("-X {method}")),
    }
    let url = variables.base_url.as_ref().map(|base| format!("{base}{}", entry.target()));
    parts.push(quote_with_variables(&url.unwrap_or_else(|| entry.url())));
    if entry.request_headers().get("authorization").is_some() {
        parts.push(format!("-H \"authorization: {}\"", authorization(entry, variables)));
    }
    for (name, value) in entry.request_headers().iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
        if !value.contains(MASK) {
            parts.push(format!("-H {}", quote(&format!("{name}: {value}"))));
        }
    }
    match &entry.request_body {
        RecordedBody::Text { text, .. } if !entry.request_body.is_truncated() => {
            parts.push(format!("--data-raw {}", quote_with_variables(text)));
        }
        RecordedBody::Text { .. } | RecordedBody::Omitted { .. } => {
            parts.push("--data-binary @BODY_THAT_WAS_NOT_STORED".to_owned());
        }
        RecordedBody::None | RecordedBody::Stream(_) => {}
    }
    parts.join(" \\\n  ")
}

/// What a command needs to reach the server that recorded the request. Names of environment variables have no dollar sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurlVariables {
    /// The address of this server, if the request named an emulated host, whose name leads to another server elsewhere.
    pub base_url: Option<String>,
    /// With the token of the request's user.
    pub user_token: Option<String>,
    /// With the bearer token of the request's app.
    pub bearer_token: Option<String>,
}

fn authorization(entry: &JournalEntry, variables: &CurlVariables) -> String {
    let masked = entry.request_headers().get("authorization").unwrap_or_default();
    let user_token = variables.user_token.as_deref().unwrap_or("USER_TOKEN");
    let bearer_token = variables.bearer_token.as_deref().unwrap_or("BEARER_TOKEN");
    match entry.credential {
        Some(Credential::App) => format!("Bearer ${bearer_token}"),
        None if masked.starts_with("Basic") => {
            // App-only tokens are issued for the API key, others for the client id.
            let is_app_only = entry.route.starts_with("/oauth2/");
            let (name, secret) = if is_app_only { ("API_KEY", "API_SECRET") } else { ("CLIENT_ID", "CLIENT_SECRET") };
            format!("Basic $(printf %s \"$LOCUM_{name}:$LOCUM_{secret}\" | base64 -w0)")
        }
        Some(Credential::OAuth1 | Credential::OAuth2) | None => format!("Bearer ${user_token}"),
    }
}

/// In single quotation marks, with a variable in the place of each secret.
fn quote_with_variables(text: &str) -> String {
    let mut parts = text.split(MASK).peekable();
    let mut quoted = String::new();
    while let Some(part) = parts.next() {
        quoted.push_str(&quote(part));
        if parts.peek().is_none() {
            break;
        }
        match secret_variable(part) {
            Some(name) => quoted.extend(["\"$", name.as_str(), "\""]),
            None => quoted.push_str(&quote(MASK)),
        }
    }
    quoted
}

/// From the name before a secret, as in `client_secret=` or `"client_secret":"`. None if a user wrote the same characters.
fn secret_variable(before: &str) -> Option<String> {
    let is_path = before.ends_with('/');
    let before = before.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let start = before.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let name = start.map_or(before, |at| {
        before.get(at..).unwrap_or_default().trim_start_matches(|c: char| !c.is_ascii_alphanumeric())
    });
    match name {
        "client_secret" => Some("LOCUM_CLIENT_SECRET".to_owned()),
        "password" | "session_password" => Some("LOCUM_PASSWORD".to_owned()),
        name if is_path || is_secret_name(&name.to_ascii_lowercase()) => Some(name.to_ascii_uppercase()),
        _ => None,
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_become_variables_outside_of_quotation_marks() {
        assert_eq!(
            quote_with_variables("grant_type=refresh_token&refresh_token=***&client_secret=***"),
            r#"'grant_type=refresh_token&refresh_token='"$REFRESH_TOKEN"'&client_secret='"$LOCUM_CLIENT_SECRET"''"#
        );
        assert_eq!(quote_with_variables(r#"{"password":"***"}"#), r#"'{"password":"'"$LOCUM_PASSWORD"'"}'"#);
        assert_eq!(quote_with_variables("it's"), r"'it'\''s'");
        assert_eq!(quote_with_variables("/ads-files/***?a=b"), r#"'/ads-files/'"$FILES"'?a=b'"#);
        assert_eq!(quote_with_variables(r#"{"text":"rated *** by me"}"#), r#"'{"text":"rated ''***'' by me"}'"#);
    }
}
