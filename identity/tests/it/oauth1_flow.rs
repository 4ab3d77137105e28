//! Request tokens: what each state lets through, and what follows.

mod callbacks;
mod granted;

use base::{Error, Secret, UserId};
use identity::apps::{self, AccessLevel, App, AppProfile, Permission};
use identity::oauth1_flow::{
    self as flow, GrantOutcome, LoopbackPorts, MAX_VERIFIER_TRIES, OAuth1AccessToken, OAuth1Approval, REQUEST_TTL_MS,
    RequestTokenPair, RequestTokenProblem, ShownConsent,
};
use identity::tokens::{self, InspectedToken};
use network::audit::AuditActor;
use tokio::task::JoinSet;

use test_stores::{World, each_engine};

pub(crate) const CALLBACK: &str = "https://client.example/cb";
const WRONG: &str = "Reverse auth credentials are invalid";
const OVER: &str = "Unauthenticated(Token)";

pub(crate) async fn app(world: &World, name: &'static str, callbacks: &[&str]) -> App {
    let profile = AppProfile {
        callback_urls: callbacks.iter().map(|url| (*url).to_owned()).collect(),
        sign_in: true,
        ..AppProfile::new(name)
    };
    world.write(move |tx| apps::create(tx, UserId::new(1), AccessLevel::SelfServe, &profile)).await.0
}

pub(crate) async fn ask(
    world: &World,
    app: &App,
    callback: &'static str,
    level: Option<Permission>,
) -> RequestTokenPair {
    let app = app.clone();
    world.write(move |tx| flow::issue_request_token(tx, &app, callback, level, LoopbackPorts::Exact)).await
}

const PORTS: LoopbackPorts = LoopbackPorts::Exact;

const fn shown(email: Option<bool>) -> ShownConsent {
    ShownConsent { permission: Permission::Messages, email }
}

fn by(user: UserId) -> AuditActor {
    AuditActor::user(user, "192.0.2.1")
}

async fn approve(world: &World, pair: &RequestTokenPair, user: UserId) -> Result<OAuth1Approval, RequestTokenProblem> {
    let token = pair.token.clone();
    world.write(move |tx| flow::approve(tx, token.expose_secret(), shown(Some(false)), &by(user), PORTS)).await
}

async fn deny(world: &World, pair: &RequestTokenPair) -> Result<Option<String>, RequestTokenProblem> {
    let token = pair.token.clone();
    let by = by(UserId::new(1));
    world.write(move |tx| flow::deny(tx, token.expose_secret(), &by, PORTS)).await
}

async fn pending(world: &World, token: &Secret) -> Result<Permission, RequestTokenProblem> {
    let token = token.clone();
    let found = world.write(move |tx| flow::find_pending_authorization(tx, token.expose_secret(), None, PORTS)).await;
    found.map(|waiting| waiting.permission)
}

/// The access token, or why not, as the HTTP floor would get it.
async fn exchange(
    world: &World,
    app: &App,
    pair: &RequestTokenPair,
    verifier: &str,
) -> Result<OAuth1AccessToken, String> {
    let (app, token, verifier) = (app.clone(), pair.token.clone(), verifier.to_owned());
    let work = move |tx: &mut store::Tx<'_>| flow::exchange_request_token(tx, &app, token.expose_secret(), &verifier);
    let response = world.store.write(work).await;
    match response.and_then(GrantOutcome::into_result) {
        Ok(access) => Ok(access),
        Err(Error::Refused(refusal)) => Err(format!("{refusal:?}")),
        Err(Error::Failed(fault)) => panic!("{fault}"),
    }
}

fn verifier(approved: Result<OAuth1Approval, RequestTokenProblem>) -> String {
    match approved.unwrap() {
        OAuth1Approval::Pin(pin) => pin,
        OAuth1Approval::Redirect(url) => url.split_once("oauth_verifier=").unwrap().1.to_owned(),
    }
}

async fn level_of(world: &World, token: &Secret) -> String {
    let token = token.clone();
    let work = move |tx: &mut store::Tx<'_>| Ok(tokens::inspect(tx, token.expose_secret())?);
    match world.write(work).await {
        Some(InspectedToken::OAuth1(token)) if token.revoked_at.is_none() => token.permission,
        other => panic!("{other:?}"),
    }
}

#[each_engine]
async fn verifier_of_an_approved_request_works_once(world: World) {
    let app = app(&world, "demo", &[CALLBACK]).await;
    let ada = world.user("ada").await;
    let pair = ask(&world, &app, "https://client.example/cb?id=7&x=%20", None).await;
    assert!(pair.token.expose_secret().len() >= 27);
    assert_eq!(pending(&world, &pair.token).await, Ok(Permission::Write));
    let Ok(OAuth1Approval::Redirect(url)) = approve(&world, &pair, ada).await else {
        panic!("no redirect");
    };
    let head =
        format!("https://client.example/cb?id=7&x=%20&oauth_token={}&oauth_verifier=", pair.token.expose_secret());
    let code = url.strip_prefix(&head).unwrap();
    assert_eq!(code.len(), 32);
    let access = exchange(&world, &app, &pair, code).await.unwrap();
    assert_eq!((access.user_id, access.screen_name.as_str()), (ada, "ada"));
    assert!(access.token.expose_secret().starts_with(&format!("{ada}-")));
    assert_eq!(level_of(&world, &access.token).await, "write");
    let twice = exchange(&world, &app, &pair, code).await.unwrap_err();
    assert_eq!(twice, OVER);
    let token = pair.token.clone();
    let stored = world.write(move |tx| Ok(flow::find_request_token_secret(tx, token.expose_secret())?)).await.unwrap();
    assert_eq!((stored.app_id, stored.secret), (app.id, pair.secret));

    // The same live access token, until it is invalidated.
    let pair = ask(&world, &app, CALLBACK, None).await;
    let code = verifier(approve(&world, &pair, ada).await);
    let second = exchange(&world, &app, &pair, &code).await.unwrap();
    assert_eq!((&second.token, &second.secret), (&access.token, &access.secret));
    let text = access.token.clone();
    world.write(move |tx| tokens::revoke(tx, text.expose_secret())).await;
    let pair = ask(&world, &app, CALLBACK, None).await;
    let code = verifier(approve(&world, &pair, ada).await);
    let third = exchange(&world, &app, &pair, &code).await.unwrap();
    assert_ne!(third.token, access.token);
}

/// What is done with a request token before it is looked at.
#[derive(Clone, Copy, Debug)]
enum Before {
    Nothing,
    Approved,
    Denied,
    Exchanged,
    Expired,
    ApprovedThenExpired,
    Guessed,
    AppSuspended,
    AppDeleted,
    UserSuspended,
}

/// Brings a request token to where a row of the table wants it; its verifier.
async fn prepare(world: &World, app: &mut App, user: UserId, pair: &RequestTokenPair, to: Before) -> String {
    let mut code = "none".to_owned();
    match to {
        Before::Nothing | Before::Denied | Before::Expired => {}
        _ => code = verifier(approve(world, pair, user).await),
    }
    match to {
        Before::Nothing | Before::Approved => {}
        Before::Denied => {
            let expected = format!("{CALLBACK}?denied={}", pair.token.expose_secret());
            assert_eq!(deny(world, pair).await, Ok(Some(expected)));
        }
        Before::Exchanged => drop(exchange(world, app, pair, &code).await.unwrap()),
        Before::Expired | Before::ApprovedThenExpired => world.pass(REQUEST_TTL_MS),
        Before::Guessed => {
            for _ in 0..MAX_VERIFIER_TRIES {
                let wrong = exchange(world, app, pair, "wrong").await.unwrap_err();
                assert!(wrong.contains(WRONG), "{wrong}");
            }
        }
        Before::AppSuspended => app.state = apps::AppStatus::Suspended,
        Before::AppDeleted => app.state = apps::AppStatus::Deleted,
        Before::UserSuspended => {
            world.write(move |tx| identity::account_states::suspend(tx, user)).await;
        }
    }
    code
}

#[each_engine]
async fn request_token_refuses_steps_out_of_order(world: World) {
    let app_over = "Unauthenticated(App)";
    let table = [
        (Before::Nothing, None, WRONG),
        (Before::Approved, Some(RequestTokenProblem::Used), "ok"),
        (Before::Denied, Some(RequestTokenProblem::Denied), OVER),
        (Before::Exchanged, Some(RequestTokenProblem::Used), OVER),
        (Before::Expired, Some(RequestTokenProblem::Expired), OVER),
        (Before::ApprovedThenExpired, Some(RequestTokenProblem::Used), OVER),
        (Before::Guessed, Some(RequestTokenProblem::Used), OVER),
        (Before::AppSuspended, Some(RequestTokenProblem::Used), app_over),
        (Before::AppDeleted, Some(RequestTokenProblem::Used), app_over),
        (Before::UserSuspended, Some(RequestTokenProblem::Used), OVER),
    ];
    for (before, deleted, exchanged) in table {
        let name = format!("{before:?}").to_lowercase();
        let name: &'static str = name.chars().take(14).collect::<String>().leak();
        let mut app = app(&world, name, &[CALLBACK]).await;
        let user = world.user(name).await;
        let other = world.user(format!("{name}2").leak()).await;
        let pair = ask(&world, &app, CALLBACK, None).await;
        let code = prepare(&world, &mut app, user, &pair, before).await;
        let id = app.id;
        match exchange(&world, &app, &pair, &code).await {
            Ok(_) => assert_eq!(exchanged, "ok", "{before:?}"),
            Err(refused) => assert!(refused.contains(exchanged), "{before:?}: {refused}"),
        }
        if matches!(before, Before::UserSuspended) {
            continue;
        }
        match deleted {
            None => assert!(pending(&world, &pair.token).await.is_ok(), "{before:?}"),
            Some(deleted) => {
                assert_eq!(pending(&world, &pair.token).await, Err(deleted), "{before:?}");
                assert_eq!(approve(&world, &pair, other).await, Err(deleted), "{before:?}");
                assert_eq!(deny(&world, &pair).await, Err(deleted), "{before:?}");
            }
        }
        world.write(move |tx| apps::delete(tx, id)).await;
        let waits = deleted.unwrap_or(RequestTokenProblem::App);
        assert_eq!(pending(&world, &pair.token).await, Err(waits), "{before:?}");
    }
    let unknown = Secret::new("x".repeat(32));
    assert_eq!(pending(&world, &unknown).await, Err(RequestTokenProblem::Unknown));
}

#[each_engine]
async fn second_approval_by_the_same_user_has_the_verifier_that_works(world: World) {
    let app = app(&world, "demo", &[CALLBACK]).await;
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let pair = ask(&world, &app, CALLBACK, None).await;
    let first = verifier(approve(&world, &pair, ada).await);
    assert_eq!(approve(&world, &pair, bob).await, Err(RequestTokenProblem::Used));
    assert!(exchange(&world, &app, &pair, "wrong").await.unwrap_err().contains(WRONG));
    let second = verifier(approve(&world, &pair, ada).await);
    // A second approval gives no more attempts to guess.
    for _ in 2..MAX_VERIFIER_TRIES {
        assert!(exchange(&world, &app, &pair, &first).await.unwrap_err().contains(WRONG));
    }
    assert_eq!(exchange(&world, &app, &pair, &second).await.unwrap().user_id, ada);
    assert_eq!(approve(&world, &pair, ada).await, Err(RequestTokenProblem::Used));

    let pair = ask(&world, &app, CALLBACK, None).await;
    approve(&world, &pair, ada).await.unwrap();
    for _ in 0..MAX_VERIFIER_TRIES {
        exchange(&world, &app, &pair, "wrong").await.unwrap_err();
    }
    assert_eq!(approve(&world, &pair, ada).await, Err(RequestTokenProblem::Used));
}

#[each_engine]
async fn verifier_is_exchanged_by_its_own_app_with_all_parameters(world: World) {
    let (mine, other) = (app(&world, "mine", &[CALLBACK]).await, app(&world, "other", &[CALLBACK]).await);
    let ada = world.user("ada").await;
    let pair = ask(&world, &mine, CALLBACK, None).await;
    let code = verifier(approve(&world, &pair, ada).await);
    assert_eq!(exchange(&world, &other, &pair, &code).await.unwrap_err(), OVER);
    let none = RequestTokenPair { token: Secret::new(""), ..pair.clone() };
    let missing = exchange(&world, &mine, &none, &code).await.unwrap_err();
    assert!(missing.contains("Request token missing"), "{missing}");
    let empty = exchange(&world, &mine, &pair, "").await.unwrap_err();
    assert!(empty.contains(WRONG), "{empty}");
    assert!(exchange(&world, &mine, &pair, &code).await.is_ok());
}

#[each_engine]
async fn pin_has_seven_digits_and_five_attempts(world: World) {
    let app = app(&world, "desktop", &[]).await;
    let ada = world.user("ada").await;
    let pair = ask(&world, &app, "oob", None).await;
    let pin = verifier(approve(&world, &pair, ada).await);
    assert!(pin.len() == 7 && pin.bytes().all(|digit| digit.is_ascii_digit()), "{pin}");
    for _ in 1..MAX_VERIFIER_TRIES {
        assert!(exchange(&world, &app, &pair, "0000000").await.is_err());
    }
    assert!(exchange(&world, &app, &pair, &pin).await.is_ok(), "the fifth try");
    let pair = ask(&world, &app, "oob", None).await;
    assert_eq!(deny(&world, &pair).await, Ok(None));

    // However many guess at once, five are heard.
    let pair = ask(&world, &app, "oob", None).await;
    let pin = verifier(approve(&world, &pair, ada).await);
    let mut guesses = JoinSet::new();
    for guess in 0..40 {
        let (store, app, token) = (world.store.clone(), app.clone(), pair.token.clone());
        let guess = format!("{guess:07}");
        let work = move |tx: &mut store::Tx<'_>| flow::exchange_request_token(tx, &app, token.expose_secret(), &guess);
        guesses.spawn(async move { store.write(work).await });
    }
    let received = guesses.join_all().await;
    let received = received.iter().filter(|response| response.is_ok()).count();
    assert_eq!(i64::try_from(received).unwrap(), MAX_VERIFIER_TRIES);
    assert_eq!(exchange(&world, &app, &pair, &pin).await.unwrap_err(), OVER);
}

#[each_engine]
async fn concurrent_verifier_exchanges_succeed_once(world: World) {
    let app = app(&world, "demo", &[CALLBACK]).await;
    let ada = world.user("ada").await;
    let pair = ask(&world, &app, CALLBACK, None).await;
    let code = verifier(approve(&world, &pair, ada).await);
    let mut all = JoinSet::new();
    for _ in 0..50 {
        let (store, app, token) = (world.store.clone(), app.clone(), pair.token.clone());
        let code = code.clone();
        let work = move |tx: &mut store::Tx<'_>| flow::exchange_request_token(tx, &app, token.expose_secret(), &code);
        all.spawn(async move { store.write(work).await });
    }
    let answers = all.join_all().await;
    let won = answers.iter().filter(|response| matches!(response, Ok(GrantOutcome::Done(_)))).count();
    assert_eq!(won, 1);
    let refused = |response: &&Result<_, Error>| matches!(response, Err(Error::Refused(_)));
    assert_eq!(answers.iter().filter(refused).count(), 49);
}
