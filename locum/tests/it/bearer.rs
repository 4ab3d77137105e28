//! OAuth 2.0 app-only: the one bearer token of an app.

use serde_json::{Value, json};

use crate::harness::{Answer, App, Ask, Key, Person, Server, encode, shared};

const GRANT: &str = "grant_type=client_credentials";

fn issue(server: &Server, app: &App) -> Answer {
    server.send(
        Ask::post("/oauth2/token")
            .basic(&app.key, &app.secret)
            .form(GRANT),
    )
}

fn token(server: &Server, app: &App) -> String {
    let body = issue(server, app).is(200);
    assert_eq!(body["token_type"], "bearer");
    body["access_token"].as_str().unwrap().to_owned()
}

fn holds(server: &Server, token: &str) -> bool {
    let path = format!("/2/users/by/username/{}", server.env("USERNAME"));
    let answer = server.send(Ask::get(path).bearer(token));
    if answer.status == 401 {
        answer.is_code(401, 89);
    }
    answer.status == 200
}

fn refused(answer: &Answer) {
    answer.is_code(403, 99);
    let wanted = json!({ "errors": [{
        "code": 99,
        "label": "authenticity_token_error",
        "message": "Unable to verify your credentials",
    }] });
    assert_eq!(answer.json(), wanted);
}

#[test]
fn an_app_has_one_bearer_token_until_it_is_invalidated() {
    let server = shared();
    let app = server.new_app("self-serve");
    let first = token(server, &app);
    assert_eq!(first, token(server, &app));
    assert_eq!(
        first, app.bearer,
        "the one that was shown when the app was made"
    );
    let both = std::thread::scope(|scope| {
        [0, 1]
            .map(|_| scope.spawn(|| token(server, &app)))
            .map(|one| one.join().unwrap())
    });
    assert_eq!(both, [first.clone(), first]);
}

#[test]
fn a_token_is_taken_in_its_encoded_and_in_its_decoded_form() {
    let server = shared();
    let app = server.new_app("self-serve");
    let encoded = token(server, &app);
    let decoded = encoded
        .replace("%2F", "/")
        .replace("%3D", "=")
        .replace("%2B", "+");
    assert!(encoded != decoded, "{encoded} has nothing to decode");
    assert!(holds(server, &encoded) && holds(server, &decoded));
    assert!(!holds(server, &encode(&encoded)), "encoded twice");
    assert!(!holds(server, &encoded.to_lowercase()));
    assert!(!holds(server, &format!("{encoded}x")));
}

#[test]
fn only_the_right_grant_key_and_secret_are_served() {
    let server = shared();
    let app = server.new_app("self-serve");
    let ask = || Ask::post("/oauth2/token").basic(&app.key, &app.secret);
    let wrong = [
        ask().form("grant_type=password"),
        ask().form("grant_type=authorization_code"),
        ask().form(""),
        ask().form("grant=client_credentials"),
        Ask::post("/oauth2/token").form(GRANT),
        Ask::post("/oauth2/token")
            .basic(&app.key, "wrong")
            .form(GRANT),
        Ask::post("/oauth2/token")
            .basic("nobody", &app.secret)
            .form(GRANT),
        Ask::post("/oauth2/token")
            .authorized("Basic !!!")
            .form(GRANT),
        Ask::post("/oauth2/token").bearer(&app.bearer).form(GRANT),
    ];
    for ask in wrong {
        refused(&server.send(ask));
    }
    let kind = "application/x-www-form-urlencoded;charset=UTF-8";
    server.send(ask().body(kind, GRANT)).is(200);
    // One client library sends the grant in the query and no body.
    server
        .send(
            Ask::post(format!("/oauth2/token?{GRANT}"))
                .basic(&app.key, &app.secret)
                .form(""),
        )
        .is(200);
}

#[test]
fn the_token_answer_is_not_stored_by_anyone() {
    let server = shared();
    let answer = issue(server, &server.new_app("self-serve"));
    assert!(
        answer.header("cache-control").contains("no-store"),
        "{:?}",
        answer.headers
    );
    assert!(
        answer
            .header("content-type")
            .starts_with("application/json")
    );
}

/// The ways to ask for the end of a token.
fn invalidations<'a>(owner: &'a Person<'_>, token: &'a str) -> [Ask; 3] {
    let (url, app) = (&owner.server.url, &owner.app);
    let form =
        Ask::post("/oauth2/invalidate_token").form(format!("access_token={}", encode(token)));
    let query = Ask::post(format!(
        "/oauth2/invalidate_token?access_token={}",
        encode(token)
    ));
    let signed = |ask: Ask| {
        let header = ask.signature(&owner.key(), url);
        ask.authorized(header)
    };
    [
        signed(form.clone()),
        signed(query),
        form.basic(&app.key, &app.secret),
    ]
}

#[test]
fn the_owner_ends_a_token_and_the_next_one_is_another() {
    let server = shared();
    let app = server.new_app("self-serve");
    let owner = Person::owner(server, &app);
    let mut seen: Vec<String> = Vec::new();
    for way in 0..3 {
        let live = token(server, &app);
        assert!(!seen.contains(&live), "given out again");
        assert!(holds(server, &live));
        let ask = invalidations(&owner, &live)[way].clone();
        assert_eq!(
            server.send(ask).is(200),
            json!({ "access_token": live }),
            "way {way}"
        );
        assert!(!holds(server, &live), "way {way}");
        for again in invalidations(&owner, &live) {
            refused(&server.send(again));
        }
        seen.push(live);
    }
    let decoded = token(server, &app)
        .replace("%2F", "/")
        .replace("%3D", "=")
        .replace("%2B", "+");
    // The form decoder strips one level: what reaches the operation is the decoded form.
    let ask =
        Ask::post("/oauth2/invalidate_token").form(format!("access_token={}", encode(&decoded)));
    server.send(ask.basic(&app.key, &app.secret)).is(200);
    assert!(!holds(server, &decoded));
}

#[test]
fn nobody_but_the_owner_ends_a_token() {
    let server = shared();
    let (app, foreign) = (server.new_app("self-serve"), server.new_app("self-serve"));
    let live = token(server, &app);
    let stranger = server.person("stranger").id;
    let stranger = Person::of(server, &app, &stranger, "stranger");
    let form =
        Ask::post("/oauth2/invalidate_token").form(format!("access_token={}", encode(&live)));
    let by = |key: &Key<'_>| {
        let header = form.signature(key, &server.url);
        server.send(form.clone().authorized(header))
    };
    refused(&by(&stranger.key()));
    refused(&by(&Person::owner(server, &foreign).key()));
    refused(&server.send(form.clone().basic(&foreign.key, &foreign.secret)));
    refused(&server.send(form.clone().basic(&app.key, "wrong")));
    refused(&server.send(form.clone()));
    let unknown = Ask::post("/oauth2/invalidate_token").form("access_token=AAAA");
    refused(&server.send(unknown.basic(&app.key, &app.secret)));
    refused(
        &server.send(
            Ask::post("/oauth2/invalidate_token")
                .form("")
                .basic(&app.key, &app.secret),
        ),
    );
    assert!(holds(server, &live));
}

#[test]
fn an_invalidation_survives_a_crash() {
    let mut server = Server::start(&[]);
    let app = server.new_app("self-serve");
    let live = token(&server, &app);
    let form =
        Ask::post("/oauth2/invalidate_token").form(format!("access_token={}", encode(&live)));
    server.send(form.basic(&app.key, &app.secret)).is(200);
    let next = token(&server, &app);
    server.crash();
    assert!(!holds(&server, &live));
    assert!(holds(&server, &next));
    assert_eq!(token(&server, &app), next);
}

#[test]
fn a_token_asked_for_too_often_is_refused() {
    let server = Server::start(&["--rate-limits", "table"]);
    let app = server.new_app("self-serve");
    for _ in 0..50 {
        issue(&server, &app).is(200);
    }
    refused(&issue(&server, &app));
    issue(&server, &server.new_app("self-serve")).is(200);
}

#[test]
fn an_app_alone_has_no_user() {
    let server = shared();
    let app = server.new_app("self-serve");
    let problem = server.send(Ask::get("/2/users/me").bearer(&app.bearer));
    let problem: Value = problem.is_problem(403, "unsupported-authentication");
    assert_eq!(
        problem["detail"],
        "Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported \
         authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context]."
    );
}

#[test]
fn a_token_in_the_query_is_no_credential() {
    let server = shared();
    let path = format!("/2/users/by/username/{}", server.env("USERNAME"));
    let token = server.env("USER_TOKEN");
    let answer = server.send(Ask::get(format!("{path}?access_token={}", encode(token))));
    assert_eq!(answer.status, 401, "{}", answer.text());
}

#[test]
fn a_deleted_app_takes_its_tokens_with_it() {
    let server = shared();
    let app = server.new_app("self-serve");
    let owner = Person::owner(server, &app);
    owner.signed(Ask::get("/2/users/me")).is(200);
    owner.get("/2/users/me").is(200);
    server.cli(&["app", "delete", &app.id]).well();
    assert!(!holds(server, &app.bearer));
    owner.get("/2/users/me").is_code(401, 89);
    assert_eq!(owner.signed(Ask::get("/2/users/me")).status, 401);
    refused(&issue(server, &app));
}
