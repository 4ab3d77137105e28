use base::{Secret, Stop, UserId};
use network::apps::{self, AccessLevel, App, Kind, NewApp, Permission};
use network::grants;
use network::oauth1_flow::{
    self as flow, Access, Approved, Gone, Outcome, Pair, Ports, REQUEST_TTL_MS, TRIES,
};
use network::tokens::{self, Known};
use tokio::task::JoinSet;

use crate::world::{World, on_each_engine};

const CALLBACK: &str = "https://client.example/cb";
const WRONG: &str = "Reverse auth credentials are invalid";
const OVER: &str = "Unauthenticated(Token)";

async fn app(world: &World, name: &'static str, callbacks: &[&str]) -> App {
    let new = NewApp {
        name: name.to_owned(),
        owner_id: UserId::new(1),
        kind: Kind::Web,
        permission: Permission::Write,
        access_level: AccessLevel::SelfServe,
        callback_urls: callbacks.iter().map(|url| (*url).to_owned()).collect(),
        description: String::new(),
        website_url: String::new(),
        request_email: false,
        sign_in: true,
    };
    world.write(move |tx| apps::create(tx, &new)).await.0
}

async fn ask(world: &World, app: &App, callback: &'static str, level: Option<Permission>) -> Pair {
    let app = app.clone();
    world
        .write(move |tx| flow::request(tx, &app, callback, level, Ports::Exact))
        .await
}

async fn approve(world: &World, pair: &Pair, user: UserId) -> Result<Approved, Gone> {
    let token = pair.token.clone();
    world
        .write(move |tx| flow::approve(tx, token.reveal(), user))
        .await
}

async fn deny(world: &World, pair: &Pair) -> Result<Option<String>, Gone> {
    let token = pair.token.clone();
    world.write(move |tx| flow::deny(tx, token.reveal())).await
}

async fn pending(world: &World, token: &Secret) -> Result<Permission, Gone> {
    let token = token.clone();
    let found = world
        .write(move |tx| flow::pending(tx, token.reveal()))
        .await;
    found.map(|waiting| waiting.permission)
}

/// The access token, or why not, as the HTTP floor would get it.
async fn exchange(world: &World, app: &App, pair: &Pair, verifier: &str) -> Result<Access, String> {
    let (app, token, verifier) = (app.clone(), pair.token.clone(), verifier.to_owned());
    let work = move |tx: &mut store::Tx<'_>| flow::exchange(tx, &app, token.reveal(), &verifier);
    let answer = world.store.write(work).await;
    match answer.and_then(Outcome::into_result) {
        Ok(access) => Ok(access),
        Err(Stop::Refused(refusal)) => Err(format!("{refusal:?}")),
        Err(Stop::Failed(fault)) => panic!("{fault}"),
    }
}

fn verifier(approved: Result<Approved, Gone>) -> String {
    match approved.unwrap() {
        Approved::Pin(pin) => pin,
        Approved::Redirect(url) => url.split_once("oauth_verifier=").unwrap().1.to_owned(),
    }
}

async fn level_of(world: &World, token: &Secret) -> String {
    let token = token.clone();
    let work = move |tx: &mut store::Tx<'_>| Ok(tokens::inspect(tx, token.reveal())?);
    match world.write(work).await {
        Some(Known::OAuth1(token)) if token.revoked_at.is_none() => token.permission,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_user_who_approves_comes_back_with_a_verifier_that_works_once() {
    on_each_engine(async |world| {
        let app = app(&world, "demo", &[CALLBACK]).await;
        let ada = world.user("ada").await;
        let pair = ask(&world, &app, "https://client.example/cb?id=7&x=%20", None).await;
        assert!(pair.token.reveal().len() >= 27);
        assert_eq!(pending(&world, &pair.token).await, Ok(Permission::Write));
        let Ok(Approved::Redirect(url)) = approve(&world, &pair, ada).await else {
            panic!("no redirect");
        };
        let head = format!(
            "https://client.example/cb?id=7&x=%20&oauth_token={}&oauth_verifier=",
            pair.token.reveal()
        );
        let code = url.strip_prefix(&head).unwrap();
        assert_eq!(code.len(), 32);
        let access = exchange(&world, &app, &pair, code).await.unwrap();
        assert_eq!((access.user_id, access.screen_name.as_str()), (ada, "ada"));
        assert!(access.token.reveal().starts_with(&format!("{ada}-")));
        assert_eq!(level_of(&world, &access.token).await, "write");
        let again = exchange(&world, &app, &pair, code).await.unwrap_err();
        assert_eq!(again, OVER);
        let token = pair.token.clone();
        let held = world
            .write(move |tx| Ok(flow::secret_of(tx, token.reveal())?))
            .await
            .unwrap();
        assert_eq!((held.app_id, held.secret), (app.id, pair.secret));

        // The same live access token, until it is invalidated.
        let pair = ask(&world, &app, CALLBACK, None).await;
        let code = verifier(approve(&world, &pair, ada).await);
        let second = exchange(&world, &app, &pair, &code).await.unwrap();
        assert_eq!(
            (&second.token, &second.secret),
            (&access.token, &access.secret)
        );
        let text = access.token.clone();
        world
            .write(move |tx| tokens::revoke(tx, text.reveal()))
            .await;
        let pair = ask(&world, &app, CALLBACK, None).await;
        let code = verifier(approve(&world, &pair, ada).await);
        let third = exchange(&world, &app, &pair, &code).await.unwrap();
        assert_ne!(third.token, access.token);
    });
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

#[test]
fn each_state_refuses_what_does_not_follow_from_it() {
    on_each_engine(async |world| {
        let app_over = "Unauthenticated(App)";
        let table = [
            (Before::Nothing, None, WRONG),
            (Before::Approved, Some(Gone::Used), "ok"),
            (Before::Denied, Some(Gone::Denied), OVER),
            (Before::Exchanged, Some(Gone::Used), OVER),
            (Before::Expired, Some(Gone::Expired), OVER),
            (Before::ApprovedThenExpired, Some(Gone::Used), OVER),
            (Before::Guessed, Some(Gone::Used), OVER),
            (Before::AppSuspended, Some(Gone::Used), app_over),
            (Before::AppDeleted, Some(Gone::Used), app_over),
            (Before::UserSuspended, Some(Gone::Used), OVER),
        ];
        for (before, gone, exchanged) in table {
            let name = format!("{before:?}").to_lowercase();
            let name: &'static str = name.chars().take(15).collect::<String>().leak();
            let mut app = app(&world, name, &[CALLBACK]).await;
            let user = world.user(name).await;
            let pair = ask(&world, &app, CALLBACK, None).await;
            let mut code = "none".to_owned();
            match before {
                Before::Nothing | Before::Denied | Before::Expired => {}
                _ => code = verifier(approve(&world, &pair, user).await),
            }
            match before {
                Before::Nothing | Before::Approved => {}
                Before::Denied => {
                    let wanted = format!("{CALLBACK}?denied={}", pair.token.reveal());
                    assert_eq!(deny(&world, &pair).await, Ok(Some(wanted)));
                }
                Before::Exchanged => drop(exchange(&world, &app, &pair, &code).await.unwrap()),
                Before::Expired | Before::ApprovedThenExpired => world.pass(REQUEST_TTL_MS),
                Before::Guessed => {
                    for _ in 0..TRIES {
                        let wrong = exchange(&world, &app, &pair, "wrong").await.unwrap_err();
                        assert!(wrong.contains(WRONG), "{wrong}");
                    }
                }
                Before::AppSuspended => app.state = apps::State::Suspended,
                Before::AppDeleted => app.state = apps::State::Deleted,
                Before::UserSuspended => {
                    world
                        .write(move |tx| network::users::suspend(tx, user))
                        .await;
                }
            }
            let id = app.id;
            match exchange(&world, &app, &pair, &code).await {
                Ok(_) => assert_eq!(exchanged, "ok", "{before:?}"),
                Err(refused) => assert!(refused.contains(exchanged), "{before:?}: {refused}"),
            }
            if matches!(before, Before::UserSuspended) {
                continue;
            }
            match gone {
                None => assert!(pending(&world, &pair.token).await.is_ok(), "{before:?}"),
                Some(gone) => {
                    assert_eq!(pending(&world, &pair.token).await, Err(gone), "{before:?}");
                    assert_eq!(approve(&world, &pair, user).await, Err(gone), "{before:?}");
                    assert_eq!(deny(&world, &pair).await, Err(gone), "{before:?}");
                }
            }
            world.write(move |tx| apps::delete(tx, id)).await;
            let waits = gone.unwrap_or(Gone::App);
            assert_eq!(pending(&world, &pair.token).await, Err(waits), "{before:?}");
        }
        let unknown = Secret::new("x".repeat(32));
        assert_eq!(pending(&world, &unknown).await, Err(Gone::Unknown));
    });
}

#[test]
fn only_the_app_that_asked_exchanges_and_nothing_is_missing() {
    on_each_engine(async |world| {
        let (mine, other) = (
            app(&world, "mine", &[CALLBACK]).await,
            app(&world, "other", &[CALLBACK]).await,
        );
        let ada = world.user("ada").await;
        let pair = ask(&world, &mine, CALLBACK, None).await;
        let code = verifier(approve(&world, &pair, ada).await);
        assert_eq!(
            exchange(&world, &other, &pair, &code).await.unwrap_err(),
            OVER
        );
        let none = Pair {
            token: Secret::new(""),
            ..pair.clone()
        };
        let missing = exchange(&world, &mine, &none, &code).await.unwrap_err();
        assert!(missing.contains("Request token missing"), "{missing}");
        let empty = exchange(&world, &mine, &pair, "").await.unwrap_err();
        assert!(empty.contains(WRONG), "{empty}");
        assert!(exchange(&world, &mine, &pair, &code).await.is_ok());
    });
}

#[test]
fn a_pin_has_seven_digits_and_five_tries() {
    on_each_engine(async |world| {
        let app = app(&world, "desktop", &[]).await;
        let ada = world.user("ada").await;
        let pair = ask(&world, &app, "oob", None).await;
        let pin = verifier(approve(&world, &pair, ada).await);
        assert!(
            pin.len() == 7 && pin.bytes().all(|digit| digit.is_ascii_digit()),
            "{pin}"
        );
        for _ in 1..TRIES {
            assert!(exchange(&world, &app, &pair, "0000000").await.is_err());
        }
        assert!(
            exchange(&world, &app, &pair, &pin).await.is_ok(),
            "the fifth try"
        );
        let pair = ask(&world, &app, "oob", None).await;
        assert_eq!(deny(&world, &pair).await, Ok(None));

        // However many guess at once, five are heard.
        let pair = ask(&world, &app, "oob", None).await;
        let pin = verifier(approve(&world, &pair, ada).await);
        let mut guesses = JoinSet::new();
        for guess in 0..40 {
            let (store, app, token) = (world.store.clone(), app.clone(), pair.token.clone());
            let guess = format!("{guess:07}");
            let work =
                move |tx: &mut store::Tx<'_>| flow::exchange(tx, &app, token.reveal(), &guess);
            guesses.spawn(async move { store.write(work).await });
        }
        let heard = guesses.join_all().await;
        let heard = heard.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(i64::try_from(heard).unwrap(), TRIES);
        assert_eq!(exchange(&world, &app, &pair, &pin).await.unwrap_err(), OVER);
    });
}

#[test]
fn of_many_exchanges_at_once_one_wins() {
    on_each_engine(async |world| {
        let app = app(&world, "demo", &[CALLBACK]).await;
        let ada = world.user("ada").await;
        let pair = ask(&world, &app, CALLBACK, None).await;
        let code = verifier(approve(&world, &pair, ada).await);
        let mut all = JoinSet::new();
        for _ in 0..50 {
            let (store, app, token) = (world.store.clone(), app.clone(), pair.token.clone());
            let code = code.clone();
            let work =
                move |tx: &mut store::Tx<'_>| flow::exchange(tx, &app, token.reveal(), &code);
            all.spawn(async move { store.write(work).await });
        }
        let answers = all.join_all().await;
        let won = answers
            .iter()
            .filter(|answer| matches!(answer, Ok(Outcome::Done(_))))
            .count();
        assert_eq!(won, 1);
        let refused = |answer: &&Result<_, Stop>| matches!(answer, Err(Stop::Refused(_)));
        assert_eq!(answers.iter().filter(refused).count(), 49);
    });
}

#[test]
fn a_level_is_lowered_and_never_raised() {
    on_each_engine(async |world| {
        let mut app = app(&world, "demo", &[CALLBACK]).await;
        let ada = world.user("ada").await;
        for (of_app, asked, given) in [
            ("read", None, "read"),
            ("read", Some(Permission::Write), "read"),
            ("read", Some(Permission::Messages), "read"),
            ("write", Some(Permission::Read), "read"),
            ("write", None, "write"),
            ("messages", Some(Permission::Write), "write"),
            ("messages", None, "messages"),
        ] {
            of_app.clone_into(&mut app.permission);
            let changed = app.clone();
            world
                .write(move |tx| Ok(store::apps::update(tx, &changed)?))
                .await;
            let pair = ask(&world, &app, CALLBACK, asked).await;
            let code = verifier(approve(&world, &pair, ada).await);
            // What the app may ask later does not widen what was asked.
            app.permission = "messages".to_owned();
            let access = exchange(&world, &app, &pair, &code).await.unwrap();
            assert_eq!(
                level_of(&world, &access.token).await,
                given,
                "{of_app} {asked:?}"
            );
        }
    });
}

#[test]
fn nobody_is_asked_twice_where_the_app_signs_in() {
    on_each_engine(async |world| {
        let app = app(&world, "demo", &[CALLBACK]).await;
        let ada = world.user("ada").await;
        let known = async |app: &App, level| {
            let app = app.clone();
            world
                .write(move |tx| Ok(flow::already_approved(tx, &app, ada, level)?))
                .await
        };
        assert!(!known(&app, Permission::Read).await);
        let pair = ask(&world, &app, CALLBACK, Some(Permission::Write)).await;
        approve(&world, &pair, ada).await.unwrap();
        // Approving less afterwards takes nothing away.
        let less = ask(&world, &app, CALLBACK, Some(Permission::Read)).await;
        let code = verifier(approve(&world, &less, ada).await);
        for (level, wanted) in [
            (Permission::Read, true),
            (Permission::Write, true),
            (Permission::Messages, false),
        ] {
            assert_eq!(known(&app, level).await, wanted, "{level:?}");
        }
        let off = App {
            sign_in: false,
            ..app.clone()
        };
        assert!(!known(&off, Permission::Read).await);
        let access = exchange(&world, &app, &less, &code).await.unwrap();

        let id = app.id;
        let all = world.write(move |tx| grants::list(tx, ada)).await;
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].permission, Some(Permission::Write));
        world.write(move |tx| grants::revoke(tx, ada, id)).await;
        assert!(!known(&app, Permission::Read).await);
        assert!(
            world
                .write(move |tx| grants::list(tx, ada))
                .await
                .is_empty()
        );
        let token = access.token.clone();
        let dead = world
            .write(move |tx| Ok(tokens::inspect(tx, token.reveal())?))
            .await;
        assert!(matches!(dead, Some(Known::OAuth1(token)) if token.revoked_at.is_some()));
        // What was approved and not yet exchanged leads to nothing, even after a new approval.
        let pair = ask(&world, &app, CALLBACK, None).await;
        let code = verifier(approve(&world, &pair, ada).await);
        world.write(move |tx| grants::revoke(tx, ada, id)).await;
        let later = ask(&world, &app, CALLBACK, None).await;
        approve(&world, &later, ada).await.unwrap();
        assert_eq!(
            exchange(&world, &app, &pair, &code).await.unwrap_err(),
            OVER
        );
        let refused = world
            .refused(move |tx| grants::revoke(tx, UserId::new(5), id))
            .await;
        assert!(refused.contains("app_id"), "{refused}");
        let kinds: Vec<_> = world
            .write(|tx| Ok(store::log::after(tx, 0, 1000)?))
            .await
            .into_iter()
            .map(|event| event.kind)
            .collect();
        assert_eq!(
            kinds.iter().filter(|kind| *kind == "oauth.revoke").count(),
            2
        );
    });
}

#[test]
fn what_is_over_is_forgotten_after_a_day() {
    on_each_engine(async |world| {
        let app = app(&world, "demo", &[CALLBACK]).await;
        let pair = ask(&world, &app, CALLBACK, None).await;
        world.pass(REQUEST_TTL_MS + 24 * 3600 * 1000);
        assert_eq!(world.write(grants::sweep).await, 0);
        world.pass(1);
        assert_eq!(world.write(grants::sweep).await, 1);
        assert_eq!(pending(&world, &pair.token).await, Err(Gone::Unknown));
    });
}

#[test]
fn a_callback_is_where_the_app_said_it_would_be() {
    const REGISTERED: [&str; 6] = [
        "https://client.example/cb",
        "http://127.0.0.1:3000/cb",
        "https://client.example:8443/other",
        "myapp://done/here",
        "com.example.app:/back",
        "https://client.example/r?to=a",
    ];
    let good = [
        "oob",
        "https://client.example/cb",
        "https://client.example/cb?x=1",
        "https://client.example/cb?x=https://evil.example/",
        "https://client.example:443/cb",
        "HTTPS://Client.Example/cb",
        "https://client.example:8443/other",
        "http://127.0.0.1:3000/cb?a=b&c",
        "myapp://done/here?x=1",
        "com.example.app:/back",
        "https://client.example/r?to=a",
        "https://client.example/r?to=a&b=c",
    ];
    let bad = [
        "http://client.example/cb",
        "https://client.example/cb/",
        "https://client.example/CB",
        "https://client.example/cb2",
        "https://client.example/c",
        "https://client.example/",
        "https://client.example",
        "https://client.example//cb",
        "https://client.example/./cb",
        "https://client.example/x/../cb",
        "https://client.example/%63b",
        "https://client.example/cb#f",
        "https://client.example/cb?x#f",
        "https://client.example:8443/cb",
        "https://client.example:/cb",
        "https://client.example:+443/cb",
        "https://client.example:4430/cb",
        "https://user@client.example/cb",
        "https://client.example@evil.example/cb",
        "https://client.example.evil.example/cb",
        "https://evil.example/cb?https://client.example/cb",
        "https://evil.example\\@client.example/cb",
        "https://client.example\\.evil.example/cb",
        "https://client.example./cb",
        "//client.example/cb",
        "/cb",
        "client.example/cb",
        " https://client.example/cb",
        "https://client.example/cb\r\nSet-Cookie: a=b",
        "https://client.example/cb?x=ä",
        "http://127.0.0.1:3001/cb",
        "http://localhost:3000/cb",
        "http://127.0.0.1/cb",
        "myapp://done/there",
        "myapp:/done/here",
        "javascript:alert(1)",
        "data:text/html,x",
        "OOB",
        "https://client.example/r?to=b",
        "https://client.example/r?to=ab",
        "https://client.example/r",
    ];
    on_each_engine(async |world| {
        let mut app = app(&world, "demo", &REGISTERED).await;
        // An older list may hold what would not be taken now.
        app.callback_urls
            .push_str("\njavascript:alert(1)\ndata:text/html,x");
        let judge = async |app: &App, url: &'static str, ports| {
            let app = app.clone();
            let work = move |tx: &mut store::Tx<'_>| flow::request(tx, &app, url, None, ports);
            match world.store.write(work).await {
                Ok(_) => "ok".to_owned(),
                Err(Stop::Refused(refusal)) => format!("{refusal:?}"),
                Err(Stop::Failed(fault)) => panic!("{fault}"),
            }
        };
        for url in good {
            assert_eq!(judge(&app, url, Ports::Exact).await, "ok", "{url}");
        }
        for url in bad {
            let said = judge(&app, url, Ports::Exact).await;
            assert!(said.contains("code: 415"), "{url}: {said}");
        }
        let any = Ports::AnyOnLoopback;
        assert_eq!(judge(&app, "http://127.0.0.1:49152/cb", any).await, "ok");
        for url in [
            "https://client.example:8080/cb",
            "http://127.0.0.1:49152/no",
        ] {
            assert!(judge(&app, url, any).await.contains("415"), "{url}");
        }
        let missing = judge(&app, "", Ports::Exact).await;
        assert!(missing.contains("code: 38") && missing.contains("oauth_callback parameter"));
        let desktop = App {
            callback_urls: String::new(),
            ..app.clone()
        };
        assert_eq!(judge(&desktop, "oob", Ports::Exact).await, "ok");
        let said = judge(&desktop, CALLBACK, Ports::Exact).await;
        assert!(said.contains("code: 417"), "{said}");
        let suspended = App {
            state: apps::State::Suspended,
            ..app
        };
        let said = judge(&suspended, CALLBACK, Ports::Exact).await;
        assert_eq!(said, "Unauthenticated(App)");
    });
}
