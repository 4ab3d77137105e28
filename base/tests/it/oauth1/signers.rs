//! Requests signed by others: Python's oauthlib and Node's twitter-api-v2, made by
//! `scripts/oauth1-vectors` and `scripts/oauth1-vectors.mjs`.

use base::Secret;
use base::oauth1::{OAuth1Credentials, OAuth1Request};
use serde_json::Value;

use super::origin;

/// What is wrong with our reading of a request, if anything.
fn disagreement(line: &Value) -> Option<String> {
    let text = |name: &str| line[name].as_str();
    let request = OAuth1Request {
        method: text("method")?,
        path: text("path")?,
        query: text("query")?,
        authorization: text("authorization"),
        form: text("form").map(str::as_bytes),
    };
    let presented = match OAuth1Credentials::from_request(&request) {
        Ok(Some(presented)) => presented,
        Ok(None) => return Some("not signed".to_owned()),
        Err(unsound) => return Some(unsound.to_string()),
    };
    let consumer_secret = Secret::new(text("consumer_secret")?);
    let token_secret = text("token_secret").map(Secret::new);
    let origins = [origin("https://elsewhere.example"), origin(text("origin")?)];
    let verified = presented.verify(&origins, &consumer_secret, token_secret.as_ref());
    let wrong = presented.verify(&origins, &Secret::new("wrong"), token_secret.as_ref());
    let read = (Some(presented.consumer_key.as_str()), presented.token.as_deref());
    if read != (text("consumer_key"), text("token")) {
        Some(format!("read {read:?}"))
    } else if wrong.is_some() {
        Some("holds with a wrong secret".to_owned())
    } else if verified == Some(1) {
        None
    } else {
        let explained = presented.explain(&origins[1], &consumer_secret, token_secret.as_ref(), None);
        Some(format!("{explained:?}"))
    }
}

#[test]
fn other_signers_and_we_agree() {
    let Some(paths) = std::env::var_os("LOCUM_OAUTH1_VECTORS") else {
        assert!(std::env::var_os("LOCUM_FULL_TESTS").is_none(), "LOCUM_OAUTH1_VECTORS names no file");
        eprintln!("ignored: LOCUM_OAUTH1_VECTORS names no file (see scripts/oauth1-vectors)");
        return;
    };
    for path in std::env::split_paths(&paths) {
        let lines = std::fs::read_to_string(&path).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut count = 0;
        let mut wrong = Vec::new();
        for line in lines {
            count += 1;
            wrong.extend(disagreement(&line).map(|why| format!("{line}\n  {why}")));
        }
        let path = path.display();
        println!(r#"figure: {{"requests": {count}, "disagreements": {}}}"#, wrong.len());
        wrong.truncate(5);
        assert!(count > 0 && wrong.is_empty(), "{path}: {}", wrong.join("\n"));
    }
}
