//! `locum sign explain`.

use serde_json::Value;

use crate::harness::{OAuth1Credentials, TestRequest, TestResponse, run_command, shared_server};
use crate::pages::browser::Browser;

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
    let (url, key) = (format!("{}/2/users/me?user.fields=name", shared_server().url), user.oauth1_credentials());
    let sign = |key: &OAuth1Credentials<'_>| {
        TestRequest::get("/2/users/me?user.fields=name").oauth1_header(key, &shared_server().url)
    };
    let header = sign(&key);
    let found = explain(&[&url, &header]);
    assert_eq!(found["valid"], true, "{found}");
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

#[test]
fn hint_names_the_mistake_that_explains_the_signature() {
    let server = shared_server();
    let user = server.new_user("mistaken");
    let (target, key) = ("/2/users/me?user.fields=name", user.oauth1_credentials());
    let url = format!("{}{target}", server.url);
    let sign =
        |target: &str, key: &OAuth1Credentials<'_>, origin: &str| TestRequest::get(target).oauth1_header(key, origin);
    let with_secrets = |consumer, token| OAuth1Credentials {
        consumer: (key.consumer.0, consumer),
        token: (key.token.0, token),
        ..key.clone()
    };
    let (consumer, token) = (key.consumer.1, key.token.1);
    for (header, words) in [
        (sign(target, &key, "https://api.x.com"), "It was signed for https://api.x.com."),
        (sign(target, &key, "http://127.0.0.1"), "It was signed for http://127.0.0.1."),
        (sign("/2/users/me/?user.fields=name", &key, &server.url), "It was signed for the path /2/users/me/"),
        (sign(target, &with_secrets("", token), &server.url), "without the consumer secret"),
        (sign(target, &with_secrets(key.consumer.0, token), &server.url), "with the consumer key instead"),
        (sign(target, &with_secrets(consumer, key.token.0), &server.url), "with the token instead of the token secret"),
        (sign(target, &with_secrets(token, consumer), &server.url), "are swapped"),
        (sign(target, &with_secrets("old", token), &server.url), "a secret is probably wrong"),
    ] {
        let found = explain(&[&url, &header]);
        assert_eq!(checks(&found), ["signature"]);
        let hints = found["hints"].as_array().unwrap();
        assert!(hints.len() == 1 && hints[0].as_str().unwrap().contains(words), "{words}: {hints:?}");
    }
    let elsewhere = sign(target, &key, "https://elsewhere.example");
    let ours = explain(&[&url, &elsewhere])["base_string"].as_str().unwrap().to_owned();
    let encoded = base::percent::encode(&server.url).into_owned();
    let theirs = ours.replacen(&encoded, "https%3A%2F%2Felsewhere.example", 1);
    let found = explain(&[&url, &elsewhere, "--base-string", &theirs]);
    assert!(found["hints"][0].as_str().unwrap().starts_with("Both secrets are right"), "{found}");
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
    words(&["nowhere", header]).assert_refused();
    words(&[url, "Bearer x"]).assert_refused();
}

/// The address in `x-locum-explain` of a refused request, below the server's.
#[track_caller]
fn explanation_path(response: &TestResponse) -> String {
    response.assert_status(401);
    let url = response.header("x-locum-explain");
    let path = url.strip_prefix(&shared_server().url).unwrap_or_else(|| panic!("{response:?}"));
    assert!(path.starts_with("/developer/explain/"), "{url}");
    path.to_owned()
}

fn open_explanation(response: &TestResponse) -> String {
    Browser::new(shared_server()).get(explanation_path(response)).assert_page(200)
}

#[test]
fn answer_to_a_wrong_signature_links_to_both_base_strings() {
    let server = shared_server();
    let user = server.new_user("wrongsig");
    let key = user.oauth1_credentials();
    let signed = TestRequest::get("/2/users/me?user.fields=name").oauth1_header(&key, &server.url);
    let refused = server.send(TestRequest::get("/2/users/me?user.fields=id").header("authorization", &signed));
    let text = open_explanation(&refused);
    assert!(text.contains("The signature is not valid") && text.contains("user.fields%3Did"), "{text}");
    assert!(!text.contains(&user.app.secret) && !text.contains(user.oauth1_token().1), "{text}");

    let post = TestRequest::post("/2/users/me?user.fields=name").header("authorization", &signed);
    let unsigned_query = TestRequest::get("/2/users/me").oauth1_header(&key, &server.url);
    let left_out =
        server.send(TestRequest::get("/2/users/me?user.fields=name").header("authorization", &unsigned_query));
    let text = open_explanation(&left_out);
    assert!(text.contains("The parameters of the query were left out of the base string."), "{text}");
    assert!(text.contains("They differ at character") && text.contains("<dt>Yours</dt>"), "{text}");

    let right = || TestRequest::get("/2/users/me?user.fields=name").header("authorization", &signed);
    server.send(right()).assert_status(200);
    let repeated = open_explanation(&server.send(right()));
    assert!(repeated.contains("An earlier request has used this nonce"), "{repeated}");
    server.send(post).assert_status(405);
}

#[test]
fn answer_to_a_wrong_token_links_to_what_is_wrong_with_it() {
    let server = shared_server();
    let user = server.new_user("wrongtoken");
    let refuse = |authorization: &str| {
        let request = TestRequest::get("/2/users/me").header("authorization", authorization);
        open_explanation(&server.send(request))
    };
    let told = refuse("Bearer nothing-known");
    assert!(told.contains("No app and no user has this token") && !told.contains("nothing-known"), "{told}");
    let told = refuse(&format!("Bearer {}", user.oauth1_token().0));
    assert!(told.contains("This is an OAuth 1.0a access token"), "{told}");
    let told = refuse(&format!("Bearer {}", user.app.key));
    assert!(told.contains("This is the API key of an app"), "{told}");
    let told = refuse("Basic YTpi");
    assert!(told.contains("starts with neither Bearer nor OAuth"), "{told}");
    let told = open_explanation(&server.send(TestRequest::get("/2/users/me")));
    assert!(told.contains("The request has no credentials"), "{told}");
}

#[test]
fn the_newest_refusals_are_explained_and_accepted_requests_have_no_explanation() {
    let server = shared_server();
    let refuse = || server.send(TestRequest::get("/2/users/me").header("authorization", "Bearer x"));
    let first = explanation_path(&refuse());
    let mut browser = Browser::new(server);
    browser.get(&first).assert_page(200);
    for _ in 0..200 {
        refuse().assert_status(401);
    }
    browser.get(&first).assert_page(404);
    assert_eq!(server.new_user("fine").get("/2/users/me").header("x-locum-explain"), "");
}
