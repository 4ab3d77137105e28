//! What stands in the record: each act with its cause, also when the act was refused.

use base::pkce::ChallengeMethod;
use base::{AppId, Secret, UserId};
use identity::apps::{self, AccessLevel, App, AppCredentials, AppProfile, Permission};
use identity::oauth2_flow::{self as flow, AuthorizeRequest, ClientCredentials, CodeExchangeRequest, OAuth2Config};
use identity::{bearer, grants, oauth1_flow, tokens};
use network::audit::{self, AuditActor, AuditEntry, AuditFilter};
use serde_json::{Value, json};
use store::Tx;

use test_stores::{World, each_engine};

const CALLBACK: &str = "https://client.example/cb";
const HOME: &str = "192.0.2.1";
const THIEF: &str = "203.0.113.9";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

async fn app(world: &World) -> (App, AppCredentials) {
    let profile = AppProfile { callback_urls: vec![CALLBACK.to_owned()], sign_in: true, ..AppProfile::new("demo") };
    world.write(move |tx| apps::create(tx, UserId::new(1), AccessLevel::SelfServe, &profile)).await
}

/// The newest entry, which is of this kind.
async fn newest(world: &World, kind: &str) -> (AuditEntry, Value) {
    let list = |tx: &mut Tx<'_>| Ok(audit::list(tx, AuditFilter::default(), 1)?);
    let entry = world.store.read(list).await.unwrap().remove(0);
    assert_eq!(entry.kind, kind, "{entry:?}");
    let detail = serde_json::from_str(&entry.detail).unwrap_or(Value::Null);
    (entry, detail)
}

async fn count(world: &World) -> usize {
    let list = |tx: &mut Tx<'_>| Ok(audit::list(tx, AuditFilter::default(), 1000)?);
    world.store.read(list).await.unwrap().len()
}

#[track_caller]
fn is_by(entry: &AuditEntry, who: Option<UserId>, app: AppId, address: &str) {
    let found = (entry.actor, entry.app, entry.address.as_str());
    assert_eq!(found, (who, Some(app), address), "{entry:?}");
}

fn question(app: &App) -> AuthorizeRequest {
    AuthorizeRequest {
        response_type: Some("code".to_owned()),
        client_id: Some(app.client_id.clone()),
        redirect_uri: Some(CALLBACK.to_owned()),
        scope: Some("tweet.read offline.access".to_owned()),
        state: Some("s".to_owned()),
        code_challenge: Some(ChallengeMethod::S256.derive_challenge(VERIFIER)),
        code_challenge_method: Some("S256".to_owned()),
    }
}

fn credentials(keys: &AppCredentials, address: &str) -> ClientCredentials {
    ClientCredentials {
        id: Some(keys.client_id.clone()),
        secret: keys.client_secret.clone(),
        address: address.to_owned(),
        ..ClientCredentials::default()
    }
}

async fn approved(world: &World, app: &App, user: UserId) -> String {
    let request = question(app);
    let work = move |tx: &mut Tx<'_>| {
        let requested = flow::validate_authorize_request(tx, &OAuth2Config::default(), &request)?.unwrap();
        flow::approve(tx, &requested, &AuditActor::user(user, HOME))
    };
    let url = world.write(work).await;
    url.split_once("&code=").unwrap().1.to_owned()
}

async fn exchange(world: &World, keys: &AppCredentials, code: &str, from: &str) -> Option<flow::IssuedTokens> {
    let (came, credentials) = (code.to_owned(), credentials(keys, from));
    let work = move |tx: &mut Tx<'_>| {
        let client = flow::authenticate_client(tx, &credentials)?;
        let came = CodeExchangeRequest {
            code: Some(came.clone()),
            redirect_uri: Some(CALLBACK.to_owned()),
            code_verifier: Some(VERIFIER.to_owned()),
        };
        flow::exchange_code(tx, &OAuth2Config::default(), &client, &came)
    };
    world.write(work).await.into_result().ok()
}

#[each_engine]
async fn grant_and_revocation_are_recorded_in_the_same_transaction(world: World) {
    let (ada, (app, _)) = (world.user("ada").await, app(&world).await);
    let id = app.id;
    approved(&world, &app, ada).await;
    let (entry, detail) = newest(&world, "grant.approve").await;
    is_by(&entry, Some(ada), id, HOME);
    assert_eq!(detail["scopes"], "tweet.read offline.access");

    let request = question(&app);
    let deny = move |tx: &mut Tx<'_>| {
        let requested = flow::validate_authorize_request(tx, &OAuth2Config::default(), &request)?.unwrap();
        flow::deny(tx, &requested, &AuditActor::user(ada, HOME))
    };
    world.write(deny).await;
    is_by(&newest(&world, "grant.deny").await.0, Some(ada), id, HOME);

    let ask = |app: App| {
        move |tx: &mut Tx<'_>| {
            let level = Some(Permission::Read);
            oauth1_flow::issue_request_token(tx, &app, CALLBACK, level, oauth1_flow::LoopbackPorts::Exact)
        }
    };
    let pair = world.write(ask(app.clone())).await;
    let ports = oauth1_flow::LoopbackPorts::Exact;
    let shown = oauth1_flow::ShownConsent { permission: Permission::Read, email: None };
    let approve = move |tx: &mut Tx<'_>| {
        oauth1_flow::approve(tx, pair.token.expose_secret(), shown, &AuditActor::user(ada, HOME), ports)
    };
    world.write(approve).await.unwrap();
    let (entry, detail) = newest(&world, "grant.approve").await;
    is_by(&entry, Some(ada), id, HOME);
    assert_eq!(detail["permission"], "read");

    let pair = world.write(ask(app.clone())).await;
    let deny =
        move |tx: &mut Tx<'_>| oauth1_flow::deny(tx, pair.token.expose_secret(), &AuditActor::user(ada, HOME), ports);
    world.write(deny).await.unwrap();
    is_by(&newest(&world, "grant.deny").await.0, Some(ada), id, HOME);

    world.write(move |tx| grants::revoke(tx, &AuditActor::user(ada, HOME), id)).await;
    is_by(&newest(&world, "grant.revoke").await.0, Some(ada), id, HOME);
    // What did not happen is not written down.
    let before = count(&world).await;
    world.refused(move |tx| grants::revoke(tx, &AuditActor::user(ada, HOME), id)).await;
    assert_eq!(count(&world).await, before);
}

/// The request is refused, the family ends, and the record says so: all in one commit.
#[each_engine]
async fn refused_reuse_of_a_token_is_recorded(world: World) {
    let (ada, (app, keys)) = (world.user("ada").await, app(&world).await);
    let code = approved(&world, &app, ada).await;
    assert!(exchange(&world, &keys, &code, HOME).await.is_some());
    assert!(exchange(&world, &keys, &code, THIEF).await.is_none());
    let (entry, detail) = newest(&world, "token.reuse").await;
    is_by(&entry, None, app.id, THIEF);
    assert_eq!(detail["token"], "code");
    assert_eq!(detail["user"], ada.to_string());
    assert_eq!(detail["tokens"], 2);

    let code = approved(&world, &app, ada).await;
    let first = exchange(&world, &keys, &code, HOME).await.unwrap();
    for (from, wins) in [(HOME, true), (THIEF, false)] {
        let (credentials, old) = (credentials(&keys, from), first.refresh.clone());
        let work = move |tx: &mut Tx<'_>| {
            let client = flow::authenticate_client(tx, &credentials)?;
            let token = old.as_ref().map(Secret::expose_secret);
            flow::refresh_tokens(tx, &OAuth2Config::default(), &client, token, None)
        };
        assert_eq!(world.write(work).await.into_result().is_ok(), wins);
    }
    let (entry, detail) = newest(&world, "token.reuse").await;
    is_by(&entry, None, app.id, THIEF);
    assert_eq!(detail["token"], "refresh");
}

#[each_engine]
async fn every_revocation_is_recorded_once(world: World) {
    let (ada, (app, keys)) = (world.user("ada").await, app(&world).await);
    let id = app.id;
    let code = approved(&world, &app, ada).await;
    let granted = exchange(&world, &keys, &code, HOME).await.unwrap();
    // By its app; a second time there is nothing to revoke.
    for _ in 0..2 {
        let (credentials, token) = (credentials(&keys, THIEF), granted.access.clone());
        let work = move |tx: &mut Tx<'_>| {
            let client = flow::authenticate_client(tx, &credentials)?;
            flow::revoke_token(tx, &client, Some(token.expose_secret()))
        };
        world.write(work).await;
    }
    let (entry, detail) = newest(&world, "token.revoke").await;
    is_by(&entry, None, id, THIEF);
    assert_eq!(detail, json!({"token": "access", "user": ada.to_string()}));
    let before = count(&world).await;

    // By whoever it acts for.
    let level = Permission::Read;
    world.write(move |tx| tokens::mint_oauth1(tx, id, ada, level)).await;
    world.write(move |tx| tokens::revoke_user_token(tx, &AuditActor::user(ada, HOME), id, level)).await;
    is_by(&newest(&world, "token.revoke").await.0, Some(ada), id, HOME);

    // By an operator.
    let scopes = tokens::all_scopes();
    let token = world.write(move |tx| tokens::mint_oauth2(tx, id, ada, scopes, None)).await;
    world.write(move |tx| tokens::revoke(tx, token.expose_secret())).await;
    is_by(&newest(&world, "token.revoke").await.0, None, id, "");

    // The app's own.
    let bearer = keys.bearer.clone();
    world.write(move |tx| bearer::invalidate(tx, &app, &AuditActor::anonymous(HOME), bearer.expose_secret())).await;
    is_by(&newest(&world, "token.revoke").await.0, None, id, HOME);
    assert_eq!(count(&world).await, before + 3);
}

/// What a token was given, it keeps; what its app may ask for later, it does not get.
#[each_engine]
async fn wider_app_permission_does_not_widen_existing_tokens(world: World) {
    let (ada, (app, _)) = (world.user("ada").await, app(&world).await);
    let id = app.id;
    let mint = |level| move |tx: &mut Tx<'_>| tokens::mint_oauth1(tx, id, ada, level);
    let (read, _) = world.write(mint(Permission::Read)).await;
    let wider = AppProfile { permission: Permission::Messages, ..AppProfile::of(&app) };
    world.write(move |tx| apps::update(tx, app.clone(), &wider)).await;
    let (other, _) = world.write(mint(Permission::Messages)).await;
    assert_ne!(read, other);
    let look = move |tx: &mut Tx<'_>| Ok(tokens::inspect(tx, read.expose_secret())?);
    let Some(tokens::InspectedToken::OAuth1(found)) = world.store.read(look).await.unwrap() else {
        panic!("it is no token any more");
    };
    assert_eq!((found.permission.as_str(), found.revoked_at), ("read", None));
}

/// Beyond the user's id before an OAuth 1.0a token, and the ending of an OAuth 2.0 one.
#[each_engine]
async fn tokens_share_only_their_format(world: World) {
    let (ada, (app, _)) = (world.user("ada").await, app(&world).await);
    let (id, scopes) = (app.id, tokens::all_scopes());
    let mut one = Vec::new();
    let mut two = Vec::new();
    for _ in 0..40 {
        let created = world.write(move |tx| {
            let created = tokens::mint_oauth1(tx, id, ada, Permission::Read)?;
            tokens::revoke(tx, created.0.expose_secret())?;
            let other = tokens::mint_oauth2(tx, id, ada, scopes, None)?;
            Ok((created.0, other))
        });
        let (old, new) = created.await;
        let rest = old.expose_secret().strip_prefix(&format!("{ada}-")).unwrap();
        one.push(rest.to_owned());
        two.push(new.expose_secret().strip_suffix(":1:at:1").unwrap().to_owned());
    }
    for texts in [one, two] {
        assert!(texts.iter().all(|text| text.len() >= 22), "130 bits");
        let length = texts[0].len();
        for place in 0..length {
            let emails: std::collections::HashSet<_> = texts.iter().map(|text| text.as_bytes()[place]).collect();
            assert!(emails.len() > 10, "place {place} of {length}");
        }
    }
}
