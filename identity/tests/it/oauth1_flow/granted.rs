//! What an approval is good for afterwards.

use base::UserId;
use identity::apps::{App, Permission};
use identity::grants;
use identity::oauth1_flow::{self as flow, REQUEST_TTL_MS, RequestTokenProblem, ShownConsent};
use identity::tokens::{self, InspectedToken};

use super::{CALLBACK, OVER, PORTS, app, approve, ask, by, deny, exchange, level_of, pending, shown, verifier};
use crate::oauth2_flow::events;
use test_stores::{World, each_engine};

#[each_engine]
async fn requested_permission_lowers_and_never_raises_the_level(world: World) {
    let mut app = app(&world, "demo", &[CALLBACK]).await;
    let ada = world.user("ada").await;
    for (of_app, requested, given) in [
        ("read", None, "read"),
        ("read", Some(Permission::Write), "read"),
        ("read", Some(Permission::Messages), "read"),
        ("write", Some(Permission::Read), "read"),
        ("write", None, "write"),
        ("messages", Some(Permission::Write), "write"),
        ("messages", None, "messages"),
    ] {
        app.permission = of_app.parse().unwrap();
        let changed = app.clone();
        world.write(move |tx| Ok(store::apps::update(tx, &changed)?)).await;
        let pair = ask(&world, &app, CALLBACK, requested).await;
        let code = verifier(approve(&world, &pair, ada).await);
        // What the app may ask later does not widen what was asked.
        app.permission = Permission::Messages;
        let access = exchange(&world, &app, &pair, &code).await.unwrap();
        assert_eq!(level_of(&world, &access.token).await, given, "{of_app} {requested:?}");
    }
}

#[each_engine]
async fn permission_and_callback_that_the_app_has_lost_are_not_granted(world: World) {
    let app = app(&world, "demo", &[CALLBACK]).await;
    let ada = world.user("ada").await;
    let change = async |permission, callback_urls: &str| {
        let changed = App { permission, callback_urls: callback_urls.to_owned(), ..app.clone() };
        let stored = changed.clone();
        world.write(move |tx| Ok(store::apps::update(tx, &stored)?)).await;
        changed
    };
    let pair = ask(&world, &app, CALLBACK, None).await;
    change(Permission::Read, CALLBACK).await;
    assert_eq!(pending(&world, &pair.token).await, Ok(Permission::Read));
    let code = verifier(approve(&world, &pair, ada).await);
    change(Permission::Write, CALLBACK).await;
    let access = exchange(&world, &app, &pair, &code).await.unwrap();
    assert_eq!(level_of(&world, &access.token).await, "read", "no more than was approved");

    let pair = ask(&world, &app, CALLBACK, None).await;
    let consent = ShownConsent { permission: Permission::Read, email: None };
    let token = pair.token.clone();
    let approve_less = move |tx: &mut store::Tx<'_>| flow::approve(tx, token.expose_secret(), consent, &by(ada), PORTS);
    let code = verifier(world.write(approve_less).await);
    let access = exchange(&world, &app, &pair, &code).await.unwrap();
    assert_eq!(level_of(&world, &access.token).await, "read", "no more than the page named");

    let pair = ask(&world, &app, CALLBACK, None).await;
    let code = verifier(approve(&world, &pair, ada).await);
    let changed = change(Permission::Read, CALLBACK).await;
    let access = exchange(&world, &changed, &pair, &code).await.unwrap();
    assert_eq!(level_of(&world, &access.token).await, "read");

    let pair = ask(&world, &app, CALLBACK, None).await;
    for callback_urls in ["https://client.example/other", ""] {
        change(Permission::Write, callback_urls).await;
        assert_eq!(pending(&world, &pair.token).await, Err(RequestTokenProblem::Callback));
        assert_eq!(approve(&world, &pair, ada).await, Err(RequestTokenProblem::Callback));
        assert_eq!(deny(&world, &pair).await, Err(RequestTokenProblem::Callback));
    }
}

#[each_engine]
async fn sign_in_app_is_authorized_without_a_second_consent(world: World) {
    let app = app(&world, "demo", &[CALLBACK]).await;
    let ada = world.user("ada").await;
    let known = async |app: &App, level| {
        let app = app.clone();
        world.write(move |tx| Ok(flow::is_already_approved(tx, &app, ada, level)?)).await
    };
    assert!(!known(&app, Permission::Read).await);
    let pair = ask(&world, &app, CALLBACK, Some(Permission::Write)).await;
    approve(&world, &pair, ada).await.unwrap();
    // Approving less afterwards takes nothing away.
    let less = ask(&world, &app, CALLBACK, Some(Permission::Read)).await;
    let code = verifier(approve(&world, &less, ada).await);
    for (level, expected) in [(Permission::Read, true), (Permission::Write, true), (Permission::Messages, false)] {
        assert_eq!(known(&app, level).await, expected, "{level:?}");
    }
    let off = App { sign_in: false, ..app.clone() };
    assert!(!known(&off, Permission::Read).await);
    let access = exchange(&world, &app, &less, &code).await.unwrap();

    let id = app.id;
    let all = world.write(move |tx| grants::list(tx, ada)).await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].permission, Some(Permission::Write));
    world.write(move |tx| grants::revoke(tx, &by(ada), id)).await;
    assert!(!known(&app, Permission::Read).await);
    let left = world.write(move |tx| grants::list(tx, ada)).await;
    assert!(left.is_empty());
    let token = access.token.clone();
    let dead = world.write(move |tx| Ok(tokens::inspect(tx, token.expose_secret())?)).await;
    assert!(matches!(dead, Some(InspectedToken::OAuth1(token)) if token.revoked_at.is_some()));
    // What was approved and not yet exchanged leads to nothing, even after a new approval.
    let pair = ask(&world, &app, CALLBACK, None).await;
    let code = verifier(approve(&world, &pair, ada).await);
    world.write(move |tx| grants::revoke(tx, &by(ada), id)).await;
    let later = ask(&world, &app, CALLBACK, None).await;
    approve(&world, &later, ada).await.unwrap();
    assert_eq!(exchange(&world, &app, &pair, &code).await.unwrap_err(), OVER);
    let refused = world.refused(move |tx| grants::revoke(tx, &by(UserId::new(5)), id)).await;
    assert!(refused.contains("app_id"), "{refused}");
    assert_eq!(events(&world, "oauth.revoke").await, 2);
    // As after a new password.
    assert!(known(&app, Permission::Read).await);
    world.write(move |tx| Ok(grants::revoke_all(tx, &by(ada), ada)?)).await;
    assert!(!known(&app, Permission::Read).await);
    assert!(world.write(move |tx| grants::list(tx, ada)).await.is_empty());
    assert_eq!(events(&world, "oauth.revoke").await, 3);
}

#[each_engine]
async fn email_consent_is_that_of_the_last_page_and_of_what_the_app_may_ask(world: World) {
    let mut app = app(&world, "demo", &[CALLBACK]).await;
    let ada = world.user("ada").await;
    let set_switch = async |app: &mut App, on| {
        app.request_email = on;
        let changed = app.clone();
        world.write(move |tx| Ok(store::apps::update(tx, &changed)?)).await;
    };
    let approve = async |app: &App, email| {
        let token = ask(&world, app, CALLBACK, None).await.token;
        world.write(move |tx| flow::approve(tx, token.expose_secret(), shown(email), &by(ada), PORTS)).await.unwrap();
    };
    // Whether the app reads the address, and whether a page has to ask again.
    let state = async |app: &App| {
        let reads_email = world.write(move |tx| grants::list(tx, ada)).await[0].reads_email;
        let asked = app.clone();
        let write = Permission::Write;
        let is_approved = world.write(move |tx| Ok(flow::is_already_approved(tx, &asked, ada, write)?)).await;
        (reads_email, !is_approved)
    };
    approve(&app, Some(false)).await;
    assert_eq!(state(&app).await, (false, false));
    set_switch(&mut app, true).await;
    assert_eq!(state(&app).await, (false, true));
    approve(&app, Some(true)).await;
    assert_eq!(state(&app).await, (true, false));
    approve(&app, None).await;
    assert_eq!(state(&app).await, (true, false), "no page said anything else");
    set_switch(&mut app, false).await;
    assert_eq!(state(&app).await, (false, false));
    set_switch(&mut app, true).await;
    assert_eq!(state(&app).await, (true, false));
    set_switch(&mut app, false).await;
    approve(&app, Some(true)).await;
    set_switch(&mut app, true).await;
    assert_eq!(state(&app).await, (false, true), "the page was out of date");
}

async fn swept(world: &World) -> u64 {
    let stored = network::retention::RetentionPeriods {
        session_ttl_ms: i64::MAX,
        log_ms: i64::MAX,
        deliveries_ms: i64::MAX,
        audit_ms: i64::MAX,
    };
    let swept = network::retention::prune_expired(&world.store, stored, base::clock::wall_time()).await;
    let mut swept = swept.unwrap().into_iter();
    swept.find(|(what, _)| *what == "request tokens").unwrap().1
}

#[each_engine]
async fn finished_request_tokens_are_deleted_after_a_day(world: World) {
    let app = app(&world, "demo", &[CALLBACK]).await;
    let pair = ask(&world, &app, CALLBACK, None).await;
    world.pass(REQUEST_TTL_MS + 24 * 3600 * 1000);
    assert_eq!(swept(&world).await, 0);
    world.pass(1);
    assert_eq!(swept(&world).await, 1);
    assert_eq!(pending(&world, &pair.token).await, Err(RequestTokenProblem::Unknown));
}
