//! What is no credential, what is an unsound one, and what no longer holds once it is changed.

use base::oauth1::{OAuth1Credentials, OAuth1Error, OAuth1Request};
use base::refusal::AuthenticationProblem;
use proptest::prelude::*;

use super::{holds, origin, sign};

const QUERY: &str = "a=1&b=two%20words";
const FORM: &[u8] = b"status=hello&lang=en";

fn post() -> OAuth1Request<'static> {
    OAuth1Request {
        method: "POST",
        path: "/1.1/statuses/update.json",
        query: QUERY,
        authorization: None,
        form: Some(FORM),
    }
}

/// The header of a good request, with one text in it exchanged.
fn exchanged(from: &str, to: &str) -> String {
    let header = sign(&post(), &origin("https://api.x.com"));
    assert!(header.contains(from), "{from} in {header}");
    header.replacen(from, to, 1)
}

fn unsound(header: &str) -> OAuth1Error {
    let request = OAuth1Request { authorization: Some(header), ..post() };
    OAuth1Credentials::from_request(&request).unwrap_err()
}

#[test]
fn a_request_without_credentials_is_none() {
    for (authorization, query) in [
        (None, "a=1"),
        (Some("Bearer oauth_token"), "oauth_signature=x&oauth_consumer_key=y"),
        (Some("Basic eDp5"), "%zz"),
        (Some("OAuth2 x"), ""),
        (None, "oauth_token=abc"),
        (None, "oauth_token=abc&oauth_verifier=1234567"),
        (None, "%zz"),
    ] {
        let request = OAuth1Request { authorization, query, ..post() };
        let read = OAuth1Credentials::from_request(&request);
        assert!(matches!(read, Ok(None)), "{authorization:?} {query}: {read:?}");
    }
}

/// What is written into a good header, for what, and part of the reason for which it is refused.
const SIGNATURE: &str = r#"
HMAC-SHA1 PLAINTEXT PLAINTEXT
HMAC-SHA1 RSA-SHA1 RSA-SHA1
HMAC-SHA1 HMAC-SHA256 HMAC-SHA256
HMAC-SHA1 hmac-sha1 hmac-sha1
version="1.0" version="2.0" 2.0
version="1.0" version="" version
oauth_nonce=" oauth_nonce="%C3%A9 nonce
oauth_nonce=" oauth_nonce="a%20b nonce
oauth_nonce=" oauth_nonce="%00 nonce
"#;
const TIMESTAMP: &str = r#"
oauth_timestamp=" oauth_timestamp="- timestamp
oauth_timestamp=" oauth_timestamp="99999 timestamp
oauth_timestamp=" oauth_timestamp="%D9%A1 timestamp
"#;
const GARBLED: &str = r#"
oauth_nonce=" oauth_nonce="",oauth_x=" oauth_nonce
oauth_nonce= oauth_nonsense= oauth_nonce
oauth_signature= oauth_sig= oauth_signature
oauth_consumer_key= key= oauth_consumer_key
OAuth OAuth,oauth_nonce="1", oauth_nonce
OAuth OAuth,oauth_x="1",oauth_x="1", once
oauth_token=" oauth_token="%zz percent
oauth_token=" oauth_token="%FF UTF-8
oauth_token= oauth_token list
"#;

#[test]
fn unsound_credentials_are_refused() {
    for (cases, unproven) in [
        (SIGNATURE, AuthenticationProblem::Signature),
        (TIMESTAMP, AuthenticationProblem::Timestamp),
        (GARBLED, AuthenticationProblem::Malformed),
    ] {
        for case in cases.lines().filter(|line| !line.is_empty()) {
            let words: Vec<_> = case.split(' ').collect();
            let unsound = unsound(&exchanged(words[0], &words[1].replace("OAuth,", "OAuth ")));
            assert_eq!(unsound.authentication_problem(), unproven, "{case}: {unsound}");
            assert!(unsound.to_string().contains(words[2]), "{case}: {unsound}");
        }
    }
    assert!(matches!(unsound("OAuth"), OAuth1Error::Missing(_)));
}

#[test]
fn parameters_have_a_longest() {
    let long = format!("OAuth a=\"{}\", ", "x".repeat(10_000));
    assert_eq!(unsound(&exchanged("OAuth ", &long)), OAuth1Error::TooLong);
    let long = format!("oauth_nonce=\"{}", "x".repeat(5_000));
    assert_eq!(unsound(&exchanged("oauth_nonce=\"", &long)), OAuth1Error::TooLong);
    let long = format!("oauth_nonce=\"{}", "x".repeat(250));
    assert_eq!(unsound(&exchanged("oauth_nonce=\"", &long)), OAuth1Error::Nonce);
}

#[test]
fn a_protocol_parameter_has_one_value() {
    let header = exchanged("OAuth", "OAuth");
    for (query, form) in [
        ("oauth_token=other", ""),
        ("oauth_nonce=1&oauth_nonce=1", ""),
        ("", "oauth_consumer_key=other"),
        ("oauth_verifier=1", "oauth_verifier=2"),
        ("oauth_verifier=1&oauth_verifier=1", ""),
    ] {
        let request = OAuth1Request { query, authorization: Some(&header), form: Some(form.as_bytes()), ..post() };
        let read = OAuth1Credentials::from_request(&request);
        assert!(matches!(read, Err(OAuth1Error::Duplicate(_))), "{query} {form}: {read:?}");
    }
    let many: Vec<_> = (0..40).map(|number| format!("oauth_{number}=1")).collect();
    let request = OAuth1Request { query: &many.join("&"), ..post() };
    assert_eq!(OAuth1Credentials::from_request(&request).unwrap_err(), OAuth1Error::TooLong);
}

#[test]
fn an_empty_token_is_none() {
    let header = exchanged("OAuth", "OAuth");
    let start = header.find("oauth_token=").unwrap();
    let (before, after) = header.split_at(start);
    let (_, after) = after.split_once(", ").unwrap();
    let empty = format!("{before}oauth_token=\"\", {after}");
    let request = OAuth1Request { authorization: Some(&empty), ..post() };
    let presented = OAuth1Credentials::from_request(&request).unwrap().unwrap();
    assert_eq!(presented.token, None);
    assert!(!holds(&request, &origin("https://api.x.com")));
}

#[test]
fn any_change_of_a_signed_part_is_seen() {
    let (home, away) = (origin("https://api.x.com"), origin("https://api.x.co"));
    let header = sign(&post(), &home);
    let good = OAuth1Request { authorization: Some(&header), ..post() };
    assert!(holds(&good, &home));
    assert!(!holds(&good, &away));
    assert!(!holds(&OAuth1Request { method: "PUT", ..good }, &home));
    assert!(!holds(&OAuth1Request { path: "/1.1/statuses/update.jsom", ..good }, &home));

    let form = std::str::from_utf8(FORM).unwrap();
    for form in flipped(form) {
        let form = Some(form.as_bytes());
        assert!(!holds(&OAuth1Request { form, ..good }, &home), "{form:?}");
    }
    for query in flipped(QUERY) {
        let query = query.as_str();
        assert!(!holds(&OAuth1Request { query, ..good }, &home), "{query}");
    }
    for path in flipped(good.path) {
        let path = path.as_str();
        assert!(!holds(&OAuth1Request { path, ..good }, &home), "{path}");
    }
    for changed in flipped(&header) {
        let authorization = Some(changed.as_str());
        let same = meaning(&changed) == meaning(&header);
        let holds = holds(&OAuth1Request { authorization, ..good }, &home);
        assert_eq!(holds, same, "{changed}");
    }
}

/// A text with each of its bits flipped in turn, where that is text.
fn flipped(text: &str) -> Vec<String> {
    let flip = |bit: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        String::from_utf8(bytes).ok()
    };
    let flipped: Vec<_> = (0..text.len() * 8).filter_map(flip).collect();
    assert!(flipped.len() >= text.len() * 7);
    flipped
}

/// What of a header counts: its scheme in any case, its pairs decoded.
fn meaning(header: &str) -> Option<Vec<(String, String)>> {
    let scheme = header.get(..6)?;
    if !scheme.eq_ignore_ascii_case("OAuth ") {
        return None;
    }
    let pairs = header.get(6..)?.split(',');
    let pair = |pair: &str| {
        let (name, value) = pair.trim().split_once('=')?;
        let value = value.trim();
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"')?,
            None => value,
        };
        let decoded = |text: &str| base::percent::decode(text).ok().map(String::from);
        Some((decoded(name.trim())?, decoded(value)?))
    };
    pairs.map(pair).collect()
}

proptest! {
    #[test]
    fn nothing_panics(
        method in "[A-Z]{0,4}",
        path in r"\PC{0,20}",
        query in r"(oauth_[a-z_]{0,20}=?|[&=%+;a-f0-9]|\PC){0,30}",
        header in proptest::option::of(r#"(OAuth )?(oauth_[a-z_]{0,20}|[,="% \\]|\PC){0,40}"#),
        form in proptest::option::of(any::<Vec<u8>>()),
    ) {
        let request = OAuth1Request {
            method: &method,
            path: &path,
            query: &query,
            authorization: header.as_deref(),
            form: form.as_deref(),
        };
        let home = origin("https://api.x.com");
        prop_assert!(!holds(&request, &home));
    }
}
