//! `locum sign explain`.

use serde_json::Value;

use crate::harness::{OAuth1Credentials, TestRequest, run_command, shared_server};

fn explain(args: &[&str]) -> Value {
    let all = [&["sign", "explain"], args].concat();
    shared_server().run_cli(&all).json()
}

fn checks(found: &Value) -> Vec<&str> {
    let failures = found["failures"].as_array().unwrap().iter();
    failures.map(|failure| failure["check"].as_str().unwrap()).collect()
}

#[test]
fn oauth1_signature_is_explained() {
    let user = shared_server().new_user("sig");
    let (url, key) = (format!("{}/2/users/me?a=b", shared_server().url), user.oauth1_credentials());
    let sign =
        |key: &OAuth1Credentials<'_>| TestRequest::get("/2/users/me?a=b").oauth1_header(key, &shared_server().url);
    let header = sign(&key);
    let found = explain(&[&url, &header]);
    assert_eq!(found["holds"], true, "{found}");
    let ours = found["base_string"].as_str().unwrap().to_owned();
    assert!(ours.starts_with("GET&http%3A%2F%2F127.0.0.1%3A"), "{ours}");
    assert_eq!(found["expected_signature"], found["presented_signature"]);
    for secret in [&user.app.secret, user.oauth1_token().1] {
        assert!(!found.to_string().contains(secret));
    }

    let theirs = ours.replacen("GET&", "GET+", 1);
    let found = explain(&[&url, &header, "--method", "POST", "--base-string", &theirs]);
    assert_eq!(checks(&found), ["signature"]);
    assert_eq!(found["differs_at"], 0);
    assert_eq!(found["hints"][0], "It was signed for GET.");

    let late = OAuth1Credentials { skew: -1000, ..key.clone() };
    assert_eq!(checks(&explain(&[&url, &sign(&late)])), ["timestamp"]);
    let nobody = OAuth1Credentials { consumer: ("nobody", "x"), ..key.clone() };
    let found = explain(&[&url, &sign(&nobody)]);
    assert_eq!(checks(&found), ["unknown key"]);
    assert_eq!(found["expected_signature"], Value::Null);
    let lost = OAuth1Credentials { token: ("1-x", "x"), ..key.clone() };
    assert_eq!(checks(&explain(&[&url, &sign(&lost)])), ["unknown token"]);
    let bare = OAuth1Credentials { token: (key.token.0, ""), ..key.clone() };
    let found = explain(&[&url, &sign(&bare)]);
    assert_eq!(found["hints"][0], "It was signed without the token secret.");
    told_in_words(&url, &header);
}

fn told_in_words(url: &str, header: &str) {
    let words = |args: &[&str]| {
        let mut all: Vec<String> = ["sign", "explain"].map(str::to_owned).into();
        all.extend(args.iter().map(ToString::to_string));
        all.extend(shared_server().location_args());
        run_command(&shared_server().sibling_path(""), &all)
    };
    let message = words(&[url, header, "--base-string", "GET&x"]);
    assert!(message.assert_success().stdout.contains("The signature is valid."), "{message:?}");
    assert!(message.stdout.contains("They differ at byte 5"), "{message:?}");
    words(&["nowhere", header]).assert_exit_code(1);
    words(&[url, "Bearer x"]).assert_exit_code(1);
}
