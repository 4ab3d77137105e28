//! What becomes of tokens: refreshed, expired, revoked.

use base::{Scopes, Secret};
use identity::apps::OAuthClientKind;
use identity::grants;
use identity::oauth2_flow::{AuthorizeRequest, OAuth2Config, REFRESH_TTL_MS};
use identity::tokens::ACCESS_TTL_MS;
use network::audit::AuditActor;

use super::{
    ADDRESS, CODE, SCOPES, TOKEN, approve, code, events, exchange, granted, is_live, party, question, refresh, revoke,
    rules, with_code,
};
use test_stores::{World, each_engine};

#[each_engine]
async fn refresh_token_used_twice_revokes_the_family(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Native).await;
    let other = party(&world, "other", OAuthClientKind::Native).await;
    let first = granted(&world, &mine, ada).await;
    let old = first.refresh.unwrap();
    for token in [&first.access, &Secret::new("x")] {
        let message = refresh(&world, &rules(), &mine, token, None).await.unwrap_err();
        assert_eq!(message, TOKEN);
    }
    let message = refresh(&world, &rules(), &other, &old, None).await.unwrap_err();
    assert_eq!(message, TOKEN);
    for (scope, expected) in [("tweet.read tweet.write", "invalid_scope"), ("tweet.raed", "invalid_scope")] {
        let message = refresh(&world, &rules(), &mine, &old, Some(scope)).await;
        assert!(message.unwrap_err().starts_with(expected), "{scope}");
    }
    let second = refresh(&world, &rules(), &mine, &old, Some("tweet.read")).await.unwrap();
    assert_eq!(second.scopes.to_string(), "tweet.read");
    let next = second.refresh.unwrap();
    assert_ne!(next, old);
    // What is asked for once is not lost for ever.
    let third = refresh(&world, &rules(), &mine, &next, None).await.unwrap();
    assert_eq!(third.scopes.to_string(), SCOPES);
    assert!(is_live(&world, &first.access).await && is_live(&world, &third.access).await);

    let message = refresh(&world, &rules(), &mine, &next, None).await.unwrap_err();
    assert_eq!(message, TOKEN);
    for token in [first.access, second.access, third.access, third.refresh.unwrap()] {
        assert!(!is_live(&world, &token).await);
    }
    assert_eq!(events(&world, "token.reuse").await, 1);
}

fn with_grace() -> OAuth2Config {
    OAuth2Config { refresh_grace_ms: 30_000, successor_key: [7; 32], ..rules() }
}

#[each_engine]
async fn refresh_whose_answer_was_lost_returns_the_same_tokens(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Native).await;
    let other = party(&world, "other", OAuthClientKind::Native).await;
    let old = granted(&world, &mine, ada).await.refresh.unwrap();
    let lost = refresh(&world, &with_grace(), &mine, &old, Some("tweet.read")).await.unwrap();
    world.pass(29_999);
    let again = refresh(&world, &with_grace(), &mine, &old, None).await.unwrap();
    assert_eq!((&again.access, &again.refresh), (&lost.access, &lost.refresh));
    assert_eq!((again.scopes, again.expires_in), (lost.scopes, lost.expires_in - 30));
    assert!(is_live(&world, &again.access).await);
    let message = refresh(&world, &with_grace(), &other, &old, None).await.unwrap_err();
    assert_eq!(message, TOKEN, "another client");
    assert!(is_live(&world, &again.access).await);
    assert_eq!(events(&world, "token.reuse").await, 0);

    world.pass(1);
    let message = refresh(&world, &with_grace(), &mine, &old, None).await.unwrap_err();
    assert_eq!(message, TOKEN, "too late");
    assert!(!is_live(&world, &again.access).await);
    assert_eq!(events(&world, "token.reuse").await, 1);
}

#[each_engine]
async fn refresh_whose_lost_answer_has_expired_returns_live_tokens(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Native).await;
    let old = granted(&world, &mine, ada).await.refresh.unwrap();
    let rules = OAuth2Config { access_ttl_ms: 3_000, ..with_grace() };
    let lost = refresh(&world, &rules, &mine, &old, None).await.unwrap();
    world.pass(6_000);
    let again = refresh(&world, &rules, &mine, &old, None).await.unwrap();
    assert_eq!(again.expires_in, 3);
    assert!(is_live(&world, &again.access).await && !is_live(&world, &lost.access).await);
    assert_eq!(events(&world, "token.reuse").await, 0);
}

#[each_engine]
async fn refresh_token_whose_successor_was_used_revokes_the_family(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Native).await;
    let old = granted(&world, &mine, ada).await.refresh.unwrap();
    let second = refresh(&world, &with_grace(), &mine, &old, None).await.unwrap();
    let third = refresh(&world, &with_grace(), &mine, &second.refresh.unwrap(), None).await.unwrap();
    let message = refresh(&world, &with_grace(), &mine, &old, None).await.unwrap_err();
    assert_eq!(message, TOKEN);
    assert!(!is_live(&world, &third.access).await && !is_live(&world, &third.refresh.unwrap()).await);
    assert_eq!(events(&world, "token.reuse").await, 1);
}

#[each_engine]
async fn refresh_token_revoked_by_its_user_returns_nothing_again(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Native).await;
    let old = granted(&world, &mine, ada).await.refresh.unwrap();
    refresh(&world, &with_grace(), &mine, &old, None).await.unwrap();
    let app = mine.app.id;
    world.write(move |tx| grants::revoke(tx, &AuditActor::user(ada, ADDRESS), app)).await;
    let message = refresh(&world, &with_grace(), &mine, &old, None).await.unwrap_err();
    assert_eq!(message, TOKEN);
}

#[each_engine]
async fn access_tokens_live_as_long_as_configured(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Native).await;
    let old = granted(&world, &mine, ada).await.refresh.unwrap();
    let brief = OAuth2Config { access_ttl_ms: 60_000, ..rules() };
    let next = refresh(&world, &brief, &mine, &old, None).await.unwrap();
    assert_eq!(next.expires_in, 60);
    world.pass(59_999);
    assert!(is_live(&world, &next.access).await);
    world.pass(1);
    assert!(!is_live(&world, &next.access).await);
}

#[each_engine]
async fn tokens_expire_at_their_time(world: World) {
    let ada = world.user("ada").await;
    let party = party(&world, "demo", OAuthClientKind::Native).await;
    let first = granted(&world, &party, ada).await;
    world.pass(ACCESS_TTL_MS - 1);
    assert!(is_live(&world, &first.access).await);
    world.pass(1);
    assert!(!is_live(&world, &first.access).await);
    world.pass(REFRESH_TTL_MS - ACCESS_TTL_MS - 1);
    let token = first.refresh.unwrap();
    let second = refresh(&world, &rules(), &party, &token, None).await.unwrap();
    world.pass(REFRESH_TTL_MS);
    let token = second.refresh.unwrap();
    let message = refresh(&world, &rules(), &party, &token, None).await.unwrap_err();
    assert_eq!(message, TOKEN);

    let only = AuthorizeRequest { scope: Some("tweet.read".to_owned()), ..question(&party) };
    let url = approve(&world, only, ada).await;
    let (_, code) = url.split_once("&code=").unwrap();
    let came = with_code(code);
    let granted = exchange(&world, &rules(), &party, came).await.unwrap();
    assert!(granted.refresh.is_none());
}

#[each_engine]
async fn client_revokes_its_own_tokens_and_user_revokes_all(world: World) {
    let ada = world.user("ada").await;
    let mine = party(&world, "mine", OAuthClientKind::Web).await;
    let other = party(&world, "other", OAuthClientKind::Native).await;
    let tokens = granted(&world, &mine, ada).await;
    let lasting = tokens.refresh.clone().unwrap();
    revoke(&world, &other, tokens.access.expose_secret()).await;
    revoke(&world, &mine, "unknown").await;
    assert!(is_live(&world, &tokens.access).await);
    revoke(&world, &mine, tokens.access.expose_secret()).await;
    assert!(!is_live(&world, &tokens.access).await && is_live(&world, &lasting).await);
    let second = refresh(&world, &rules(), &mine, &lasting, None).await.unwrap();
    revoke(&world, &other, second.refresh.as_ref().unwrap().expose_secret()).await;
    assert!(is_live(&world, &second.access).await);
    revoke(&world, &mine, second.refresh.unwrap().expose_secret()).await;
    assert!(!is_live(&world, &second.access).await);

    let (app, stored) = (mine.app.id, granted(&world, &other, ada).await);
    let tokens = granted(&world, &mine, ada).await;
    let waiting = code(&world, &mine, ada).await;
    let all = world.write(move |tx| grants::list(tx, ada)).await;
    let listed: Vec<_> = all.iter().map(|grant| grant.app.name.as_str()).collect();
    assert_eq!(listed, ["mine", "other"]);
    assert_eq!(all[0].scopes, Scopes::parse(SCOPES).unwrap());
    assert_eq!(all[0].permission, None);
    world.write(move |tx| grants::revoke(tx, &AuditActor::user(ada, ADDRESS), app)).await;
    assert!(!is_live(&world, &tokens.access).await && is_live(&world, &stored.access).await);
    let message = exchange(&world, &rules(), &mine, with_code(&waiting)).await;
    assert_eq!(message.unwrap_err(), CODE);
    let token = tokens.refresh.unwrap();
    let message = refresh(&world, &rules(), &mine, &token, None).await.unwrap_err();
    assert_eq!(message, TOKEN);
    assert_eq!(events(&world, "oauth.revoke").await, 1);
    assert_eq!(world.write(move |tx| grants::list(tx, ada)).await.len(), 1);
}
