//! What an app may ask, and whom a refusal is told.

use base::UserId;
use identity::apps::{self, App, OAuthClientKind};
use identity::oauth2_flow::{
    self as flow, AuthorizeRefusal, AuthorizeRefusalReason, AuthorizeRequest, LoopbackPorts, OAuth2Config,
};
use network::audit::AuditActor;

use super::{ADDRESS, CALLBACK, VERIFIER, party, question, rules};
use test_stores::{World, each_engine};

/// What is said, and where: `page: …` or the whole address.
async fn judge(world: &World, rules: &OAuth2Config, request: AuthorizeRequest) -> String {
    let rules = rules.clone();
    let work = move |tx: &mut store::Tx<'_>| flow::validate_authorize_request(tx, &rules, &request);
    match world.write(work).await {
        Ok(asked) => format!("ok {}", asked.redirect_uri),
        Err(AuthorizeRefusal::Page(reason)) => format!("page {reason:?}"),
        Err(AuthorizeRefusal::Redirect { to, error, .. }) => {
            assert!(to.contains(&format!("?error={error}&error_description=")), "{to}");
            let state = to.ends_with("&state=a%20b%26c");
            assert!(to.starts_with(CALLBACK), "{to}");
            format!("{error}{}", if state { "" } else { " stateless" })
        }
    }
}

const FINE: &str = "ok https://client.example/cb";
const TOO_MUCH: &str = "unsupported_response_type";

/// A parameter, its value (`*n` at its end: n times) and what is said.
const FAULTS: &[(&str, Option<&str>, &str)] = &[
    ("client_id", None, "page NoClient"),
    ("client_id", Some(""), "page NoClient"),
    ("client_id", Some("x"), "page UnknownClient"),
    ("redirect_uri", None, "page NoRedirect"),
    ("redirect_uri", Some(""), "page NoRedirect"),
    ("redirect_uri", Some("https://evil.example/"), "page UnknownRedirect"),
    ("response_type", None, "invalid_request"),
    ("response_type", Some("token"), TOO_MUCH),
    ("response_type", Some("code token"), TOO_MUCH),
    ("response_type", Some("CODE"), TOO_MUCH),
    ("state", None, "invalid_request stateless"),
    ("state", Some(""), "invalid_request stateless"),
    ("state", Some("ä*500"), FINE),
    ("state", Some("s*501"), "invalid_request stateless"),
    ("scope", None, "invalid_scope"),
    ("scope", Some(" "), "invalid_scope"),
    ("scope", Some("tweet.read tweet.fly"), "invalid_scope"),
    ("scope", Some("Tweet.Read"), "invalid_scope"),
    ("scope", Some("users.email"), "invalid_scope"),
    ("code_challenge", None, "invalid_request"),
    ("code_challenge", Some("c*42"), "invalid_request"),
    ("code_challenge", Some("c*44"), "invalid_request"),
    ("code_challenge", Some("=*43"), "invalid_request"),
    ("code_challenge_method", Some("S512"), "invalid_request"),
    ("code_challenge_method", Some(""), "invalid_request"),
    ("code_challenge_method", Some("S256"), FINE),
    ("code_challenge_method", None, FINE),
];

#[each_engine]
async fn authorization_error_redirects_only_to_a_valid_redirect_uri(world: World) {
    let party = party(&world, "demo", OAuthClientKind::Web).await;
    for (name, value, expected) in FAULTS {
        let mut request = question(&party);
        let place = match *name {
            "client_id" => &mut request.client_id,
            "redirect_uri" => &mut request.redirect_uri,
            "response_type" => &mut request.response_type,
            "state" => &mut request.state,
            "scope" => &mut request.scope,
            "code_challenge" => &mut request.code_challenge,
            _ => &mut request.code_challenge_method,
        };
        *place = value.map(|value| match value.split_once('*') {
            Some((letter, times)) => letter.repeat(times.parse().unwrap()),
            None => value.to_owned(),
        });
        let message = judge(&world, &rules(), request).await;
        assert_eq!(message, *expected, "{name} {value:?}");
    }
    let plain = AuthorizeRequest {
        code_challenge: Some("c".repeat(129)),
        code_challenge_method: Some("plain".to_owned()),
        ..question(&party)
    };
    assert_eq!(judge(&world, &rules(), plain).await, "invalid_request");
}

#[each_engine]
async fn requested_scopes_are_limited_by_the_app_settings(world: World) {
    let party = party(&world, "demo", OAuthClientKind::Web).await;
    let mut app = party.app.clone();
    app.request_email = true;
    let changed = app.clone();
    world.write(move |tx| Ok(store::apps::update(tx, &changed)?)).await;
    let email = AuthorizeRequest { scope: Some("users.email".to_owned()), ..question(&party) };
    assert!(judge(&world, &rules(), email).await.starts_with("ok"));
    for (state, expected) in
        [(apps::AppStatus::Suspended, "page SuspendedClient"), (apps::AppStatus::Deleted, "page UnknownClient")]
    {
        let changed = App { state, ..app.clone() };
        world.write(move |tx| Ok(store::apps::update(tx, &changed)?)).await;
        assert_eq!(judge(&world, &rules(), question(&party)).await, expected);
    }
}

#[each_engine]
async fn denial_redirects_to_the_app_with_an_error(world: World) {
    let party = party(&world, "demo", OAuthClientKind::Native).await;
    let request = AuthorizeRequest {
        code_challenge: Some(VERIFIER.to_owned()),
        code_challenge_method: Some("plain".to_owned()),
        ..question(&party)
    };
    let work = move |tx: &mut store::Tx<'_>| flow::validate_authorize_request(tx, &rules(), &request);
    let requested = world.write(work).await.unwrap();
    assert!(requested.uses_plain_pkce);
    let whole = "https://client.example/cb?error=access_denied&state=a%20b%26c";
    let by = AuditActor::user(UserId::new(1), ADDRESS);
    let denied = world.write(move |tx| flow::deny(tx, &requested, &by));
    assert_eq!(denied.await, whole);
}

const GOOD: [&str; 6] = [
    "https://client.example/cb",
    "https://client.example/cb?x=1",
    "http://127.0.0.1:3000/cb",
    "http://localhost/cb",
    "myapp://done",
    "com.example.app:/back",
];
const BAD: &[&str] = &[
    "https://client.example/cb/",
    "https://client.example/cb?",
    "https://client.example/cb?y=1",
    "https://client.example/cb?x=1&y=2",
    "https://client.example/cb?x=2",
    "https://client.example/cb#",
    "https://client.example/cb#f",
    "https://client.example/cb&x=1",
    "https://client.example/CB",
    "https://client.example/c",
    "https://client.example/cbb",
    "https://client.example/cb2",
    "https://client.example/%63b",
    "https://client.example/cb%20",
    "https://client.example/cb%00",
    "https://client.example/./cb",
    "https://client.example/x/../cb",
    "https://client.example//cb",
    "https://client.example",
    "https://client.example/",
    "https://client.example:443/cb",
    "https://CLIENT.example/cb",
    "HTTPS://client.example/cb",
    "http://client.example/cb",
    "https://client.example./cb",
    "https://client.example.evil.example/cb",
    "https://evil.example/client.example/cb",
    "https://evil.example/?https://client.example/cb",
    "https://user@client.example/cb",
    "https://client.example@evil.example/cb",
    "https://client.example\\@evil.example/cb",
    "https://evil.example\\.client.example/cb",
    "https://sub.client.example/cb",
    "//client.example/cb",
    "/cb",
    " https://client.example/cb",
    "https://client.example/cb ",
    "https://client.example/cb\r\n",
    "https://client.example/cb\nhttps://client.example/cb?x=1",
    "http://127.0.0.1:3001/cb",
    "http://127.0.0.1/cb",
    "http://localhost:80/cb",
    "myapp://done/",
    "MYAPP://done",
    "myapp://done?x=1",
    "javascript:alert(1)",
    "https://client.example/ä",
];

#[each_engine]
async fn redirect_uri_must_equal_a_registered_one(world: World) {
    let mut party = party(&world, "demo", OAuthClientKind::Web).await;
    let older = "javascript:alert(1)\nhttps://client.example/cb#f\nhttps://client.example/ä";
    party.app.callback_urls = format!("{}\n{older}", GOOD.join("\n"));
    let changed = party.app.clone();
    world.write(move |tx| Ok(store::apps::update(tx, &changed)?)).await;
    let asking = |url: &str| AuthorizeRequest { redirect_uri: Some(url.to_owned()), ..question(&party) };
    let unknown = format!("page {:?}", AuthorizeRefusalReason::UnknownRedirect);
    for url in GOOD {
        let message = judge(&world, &rules(), asking(url)).await;
        assert_eq!(message, format!("ok {url}"));
    }
    for url in BAD {
        assert_eq!(judge(&world, &rules(), asking(url)).await, unknown, "{url}");
    }
    let development = OAuth2Config { ports: LoopbackPorts::AnyOnLoopback, ..rules() };
    for (url, good) in [
        ("http://127.0.0.1:49152/cb", true),
        ("http://localhost:5000/cb", true),
        ("http://[::1]:5000/cb", true),
        ("http://127.0.0.1:49152/cb?x=1", false),
        ("http://127.0.0.1:49152/no", false),
        ("https://127.0.0.1:3000/cb", false),
        ("https://client.example:444/cb", false),
        ("HTTPS://client.example/cb", false),
        ("https://CLIENT.example/cb", false),
    ] {
        let message = judge(&world, &development, asking(url)).await;
        assert_eq!(message == format!("ok {url}"), good, "{url}: {message}");
    }
}
