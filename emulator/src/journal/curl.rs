//! A request as a command that can be pasted.

use super::masking::MASK;
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
    if entry.method() != "GET" {
        parts.push(format!("-X {}", entry.method()));
    }
    parts.push(quote_with_variables(&entry.url()));
    if entry.request_headers().get("authorization").is_some() {
        parts.push(format!("-H \"authorization: {}\"", authorization(entry, variables)));
    }
    for (name, value) in entry.request_headers().iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
        if !value.contains(MASK) {
            parts.push(format!("-H {}", quote(&format!("{name}: {value}"))));
        }
    }
    match &entry.request_body {
        RecordedBody::Text { text, .. } => {
            parts.push(format!("--data-raw {}", quote_with_variables(text)));
        }
        RecordedBody::Omitted { .. } => parts.push("--data-binary @BODY_THAT_WAS_NOT_STORED".to_owned()),
        RecordedBody::None | RecordedBody::Stream(_) => {}
    }
    parts.join(" \\\n  ")
}

/// Names of environment variables, without the dollar sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurlVariables {
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
            "Basic $(printf %s \"$LOCUM_CLIENT_ID:$LOCUM_CLIENT_SECRET\" | base64 -w0)".to_owned()
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
        if parts.peek().is_some() {
            quoted.extend(["\"$", secret_variable(part).as_str(), "\""]);
        }
    }
    quoted
}

/// From the name before a secret, as in `client_secret=` or `"client_secret":"`.
fn secret_variable(before: &str) -> String {
    let before = before.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let start = before.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let name = start.map_or(before, |at| {
        before.get(at..).unwrap_or_default().trim_start_matches(|c: char| !c.is_ascii_alphanumeric())
    });
    match name {
        "client_secret" => "LOCUM_CLIENT_SECRET".to_owned(),
        "password" | "session_password" => "LOCUM_PASSWORD".to_owned(),
        "" => "SECRET".to_owned(),
        name => name.to_ascii_uppercase(),
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
    }
}
