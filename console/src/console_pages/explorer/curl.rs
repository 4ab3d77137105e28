//! The command that repeats a request.

use crate::world_environment::WorldEnvironment;

use super::request::ApiRequest;

pub(super) fn curl_command(
    environment: &WorldEnvironment,
    base_url: &str,
    request: &ApiRequest,
    authorization: Option<&str>,
) -> String {
    let mut parts = vec!["curl -i".to_owned()];
    if request.method != "GET" {
        parts.push(format!("-X {}", request.method));
    }
    parts.push(quote(&format!("{base_url}{}", request.target)));
    if let Some(header) = authorization {
        parts.push(format!("\\\n  -H {}", authorization_argument(environment, header)));
    }
    if let Some(content_type) = request.content_type {
        parts.push(format!("\\\n  -H 'Content-Type: {content_type}'"));
        parts.push(format!("\\\n  --data-raw {}", quote(&request.body)));
    }
    parts.join(" ")
}

/// Names the variable that has the token, if one of `dev.env` does.
fn authorization_argument(environment: &WorldEnvironment, header: &str) -> String {
    let variable = header.strip_prefix("Bearer ").and_then(|token| environment.find_name(token));
    match variable {
        Some(name) => format!("\"Authorization: Bearer ${name}\""),
        None => quote(&format!("Authorization: {header}")),
    }
}

/// In single quotes, within which a shell replaces nothing.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_quoted_text_is_one_word_of_a_shell() {
        assert_eq!(quote("it's $HOME `id`"), r"'it'\''s $HOME `id`'");
    }
}
