//! Servers, worlds and the testing tools, as a user's tests use them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use locum_testing::{Error, FaultRule, Server, ServerOptions, World};

/// The binary that was built beside this test, unless `LOCUM_BINARY` names another.
fn options() -> ServerOptions {
    if std::env::var_os("LOCUM_BINARY").is_some() {
        return ServerOptions::new();
    }
    let test = std::env::current_exe().unwrap();
    ServerOptions::new().binary(PathBuf::from(test.parent().unwrap().parent().unwrap()).join("locum"))
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| options().start().unwrap())
}

fn new_world() -> World {
    server().create_world("demo").unwrap()
}

/// The status of `GET /2/users/me`, or of a post with a text.
fn send(world: &World, post: Option<&str>) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let authorization = format!("Bearer {}", world.variable("LOCUM_USER_TOKEN"));
    let sent = match post {
        Some(text) => agent
            .post(format!("{}/2/tweets", world.url()))
            .header("authorization", authorization)
            .header("content-type", "application/json")
            .send(serde_json::json!({"text": text}).to_string()),
        None => agent.get(format!("{}/2/users/me", world.url())).header("authorization", authorization).call(),
    };
    sent.unwrap().status().as_u16()
}

#[test]
fn worlds_are_isolated_and_removed_when_they_are_dropped() {
    let (world, other) = (new_world(), new_world());
    assert_eq!(send(&world, Some("only here")), 201);
    world.journal().expect(&["POST /2/tweets status=201 count=1"]).unwrap();
    other.journal().expect(&["POST /2/tweets count=0"]).unwrap();
    assert_ne!(world.name(), other.name());
    let listed = |name: &str| server().main().control().request("GET", &format!("/worlds/{name}/keys"), None);
    let name = other.name().to_owned();
    assert!(listed(&name).is_ok());
    drop(other);
    let gone = listed(&name);
    assert!(matches!(gone, Err(Error::Refused { status: 400..=404, .. })), "{gone:?}");
}

#[test]
fn clock_moves_forward_and_reports_it() {
    let world = new_world();
    let frozen = world.clock().freeze().unwrap();
    assert_eq!(world.clock().show().unwrap()["mode"], "frozen");
    let report = world.clock().advance(Duration::from_hours(24)).unwrap();
    assert_eq!(report["from"], frozen["to"]);
    let back = world.clock().set("2001-01-01T00:00:00Z");
    assert!(matches!(back, Err(Error::Refused { status: 400.., .. })), "{back:?}");
    world.clock().live().unwrap();
}

#[test]
fn faults_apply_to_the_requests_that_they_match() {
    let world = new_world();
    let rule = FaultRule::new("status").parameter("status", 503).route("GET /2/users/me").nth(2).id("second");
    assert_eq!(world.faults().add(rule).unwrap(), "second");
    assert_eq!([send(&world, None), send(&world, None), send(&world, None)], [200, 503, 200]);
    let rules = world.faults().list().unwrap();
    assert_eq!((&rules[0]["matched"], &rules[0]["applied"]), (&2.into(), &1.into()));
    world.faults().remove("second").unwrap();
    let unknown = world.faults().add(FaultRule::new("no-such-effect")).unwrap_err();
    assert!(unknown.to_string().contains("no-such-effect"), "{unknown}");
    let failed = world.journal().requests(&[("route", "GET /2/users/me"), ("status", "503")]).unwrap();
    assert_eq!(failed.len(), 1);
    let entry = world.journal().request(failed[0]["id"].as_str().unwrap()).unwrap();
    assert_eq!(entry["injected_fault"], "second");
}

#[test]
fn unmet_expectation_names_the_check() {
    let world = new_world();
    let unmet = world.journal().expect(&["GET /2/users/me count=1"]).unwrap_err();
    assert!(matches!(unmet, Error::Unmet(_)));
    assert!(unmet.to_string().contains("GET /2/users/me count=1"), "{unmet}");
}

#[test]
fn limits_snapshots_and_resets_change_what_a_client_sees() {
    let world = new_world();
    world.limits().exhaust("GET /2/users/me").unwrap();
    assert_eq!(send(&world, None), 429);
    world.limits().reset().unwrap();
    world.snapshots().save("rust-tests").unwrap();
    assert_eq!(send(&world, Some("after the snapshot")), 201);
    world.snapshots().load("rust-tests").unwrap();
    assert_eq!(send(&world, Some("after the snapshot")), 201, "the post of the same text is gone");
    world.snapshots().remove("rust-tests").unwrap();
    world.reset().unwrap();
    assert_eq!(send(&world, None), 200);
}

#[test]
fn server_that_cannot_start_says_why() {
    let missing = ServerOptions::new().binary("/no/such/locum").start().unwrap_err();
    assert!(missing.to_string().contains("/no/such/locum"), "{missing}");
    let refused = options().world("no-such-world").start().unwrap_err();
    assert!(refused.to_string().contains("no-such-world"), "{refused}");
}

#[test]
fn server_ends_when_it_is_dropped() {
    let own = options().seed(7).clock("frozen").start().unwrap();
    let address = own.url().trim_start_matches("http://").to_owned();
    assert!(std::net::TcpStream::connect(&address).is_ok());
    drop(own);
    assert!(std::net::TcpStream::connect(&address).is_err());
}
