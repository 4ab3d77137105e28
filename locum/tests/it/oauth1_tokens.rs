//! Access tokens of OAuth 1.0a: whose they are, what they may do, how they end.

use serde_json::json;

use crate::harness::{Ask, Key, Person, shared};

fn me() -> Ask {
    Ask::get("/2/users/me")
}

#[test]
fn a_token_serves_only_the_app_that_it_was_made_for() {
    let server = shared();
    let person = server.person("signer");
    let other = server.new_app("enterprise");
    let key = Key {
        consumer: other.consumer(),
        ..person.key()
    };
    let header = me().signature(&key, &server.url);
    assert_eq!(server.send(me().authorized(&header)).status, 401);
}

#[test]
fn a_token_that_may_only_read_does_not_write() {
    let person = shared().person("signer");
    let reading = person.mint(&["--oauth1", "--permission", "read"]);
    let text = |name: &str| reading[name].as_str().unwrap();
    let key = Key {
        token: (text("access_token"), text("access_token_secret")),
        ..person.key()
    };
    let header = me().signature(&key, &person.server.url);
    let answer = person.server.send(me().authorized(&header));
    answer.is(200);
    assert_eq!(answer.header("x-access-level"), "read");
    let writes = [
        Ask::post("/2/tweets").json(&json!({ "text": "May I?" })),
        Ask::delete("/2/tweets/20"),
    ];
    for ask in writes {
        let header = ask.signature(&key, &person.server.url);
        let problem = person
            .server
            .send(ask.authorized(&header))
            .is_problem(403, "oauth1-permissions");
        assert_eq!(
            problem["detail"],
            "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint."
        );
    }
}

#[test]
fn an_invalidated_token_is_dead_at_once() {
    for path in [
        "/1.1/oauth/invalidate_token",
        "/1.1/oauth/invalidate_token.json",
    ] {
        let person = shared().person("signer");
        let (token, _) = person.oauth1();
        person.signed(me()).is(200);
        let answer = person.signed(Ask::post(path));
        assert_eq!(answer.is(200), json!({ "access_token": token }));
        let dead = person.signed(me());
        dead.is_code(401, 89);
        assert!(
            dead.sentences()
                .contains(&"Invalid or expired token.".to_owned())
        );
        person.signed(Ask::post(path)).is_code(401, 89);

        let again = Person::of(person.server, &person.app, &person.id, &person.username);
        assert_ne!(again.oauth1().0, token, "a new token is another one");
        again.signed(me()).is(200);
    }
}

#[test]
fn the_same_token_is_given_until_it_is_invalidated() {
    let person = shared().person("signer");
    let again = Person::of(person.server, &person.app, &person.id, &person.username);
    assert_eq!(person.oauth1(), again.oauth1());
}

#[test]
fn paths_of_the_older_interface_speak_its_own_dialect() {
    let server = shared();
    let path = "/1.1/oauth/invalidate_token.json";
    let answer = server.send(Ask::post(path));
    answer.is_code(400, 215);
    assert!(
        answer
            .header("content-type")
            .starts_with("application/json")
    );
    assert_eq!(
        answer.json(),
        json!({ "errors": [{ "code": 215, "message": "Bad Authentication data." }] })
    );
    server
        .send(Ask::post(path).bearer("garbage"))
        .is_code(401, 89);
    server
        .send(Ask::post(path).bearer(server.env("BEARER_TOKEN")))
        .is_code(403, 220);
}
