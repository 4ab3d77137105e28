//! Many at once: exactly one wins, and nothing lives beside a revocation.

use identity::apps::OAuthClientKind;
use identity::grants;
use identity::oauth2_flow::{self as flow, GrantOutcome, IssuedTokens, OAuth2Config};
use network::audit::AuditActor;
use store::Tx;
use tokio::task::JoinSet;

use super::{ADDRESS, Party, code, events, granted, is_live, party, refresh, rules, with_code};
use test_stores::{World, each_engine};

async fn refresh_often(
    world: &World,
    rules: &OAuth2Config,
    party: &Party,
    from: &IssuedTokens,
    times: usize,
) -> Vec<IssuedTokens> {
    let mut all = JoinSet::new();
    for _ in 0..times {
        let (store, party, rules) = (world.store.clone(), party.clone(), rules.clone());
        let token = from.refresh.clone().unwrap();
        let work = move |tx: &mut Tx<'_>| {
            let client = flow::authenticate_client(tx, &party.credentials)?;
            flow::refresh_tokens(tx, &rules, &client, Some(token.expose_secret()), None)
        };
        all.spawn(async move { store.write(work).await });
    }
    let answers = all.join_all().await.into_iter();
    let won = answers.filter_map(|response| match response.unwrap() {
        GrantOutcome::Done(granted) => Some(granted),
        GrantOutcome::Refused(_) => None,
    });
    won.collect()
}

#[each_engine]
async fn concurrent_code_exchanges_succeed_once_and_revoke_the_tokens(world: World) {
    let ada = world.user("ada").await;
    let party = party(&world, "demo", OAuthClientKind::Web).await;
    let code = code(&world, &party, ada).await;
    let mut all = JoinSet::new();
    for _ in 0..50 {
        let (store, party) = (world.store.clone(), party.clone());
        let came = with_code(&code);
        let work = move |tx: &mut Tx<'_>| {
            let client = flow::authenticate_client(tx, &party.credentials)?;
            flow::exchange_code(tx, &rules(), &client, &came)
        };
        all.spawn(async move { store.write(work).await });
    }
    let mut won = Vec::new();
    for response in all.join_all().await {
        if let GrantOutcome::Done(granted) = response.unwrap() {
            won.push(granted);
        }
    }
    assert_eq!(won.len(), 1);
    assert!(!is_live(&world, &won[0].access).await);
    assert!(!is_live(&world, won[0].refresh.as_ref().unwrap()).await);
    assert_eq!(events(&world, "token.reuse").await, 1);
}

#[each_engine]
async fn concurrent_refreshes_succeed_once_and_revoke_the_family(world: World) {
    let ada = world.user("ada").await;
    let party = party(&world, "demo", OAuthClientKind::Native).await;
    let first = granted(&world, &party, ada).await;
    let won = refresh_often(&world, &rules(), &party, &first, 100).await;
    assert_eq!(won.len(), 1);
    assert!(!is_live(&world, &won[0].access).await);
    assert_eq!(events(&world, "token.reuse").await, 1);
    let next = won[0].refresh.as_ref().unwrap();
    assert!(refresh(&world, &rules(), &party, next, None).await.is_err());
}

#[each_engine]
async fn concurrent_refreshes_within_the_grace_return_the_same_tokens(world: World) {
    let ada = world.user("ada").await;
    let party = party(&world, "demo", OAuthClientKind::Native).await;
    let first = granted(&world, &party, ada).await;
    let with_grace = OAuth2Config { refresh_grace_ms: 30_000, ..rules() };
    let won = refresh_often(&world, &with_grace, &party, &first, 100).await;
    assert_eq!(won.len(), 100);
    assert!(won.iter().all(|issued| issued.access == won[0].access && issued.refresh == won[0].refresh));
    assert!(is_live(&world, &won[0].access).await);
    assert_eq!(events(&world, "token.reuse").await, 0);
}

/// A user who revokes while tokens are given out is left with none.
#[each_engine]
async fn concurrent_revocation_leaves_no_valid_token(world: World) {
    let ada = world.user("ada").await;
    let party = party(&world, "demo", OAuthClientKind::Native).await;
    let app = party.app.id;
    for _ in 0..20 {
        let first = granted(&world, &party, ada).await;
        let revoking = world.store.write(move |tx| grants::revoke(tx, &AuditActor::user(ada, ADDRESS), app));
        let refreshing = async {
            let token = first.refresh.as_ref().unwrap();
            refresh(&world, &rules(), &party, token, None).await
        };
        let (revoked, refreshed) = tokio::join!(revoking, refreshing);
        revoked.unwrap();
        if let Ok(second) = refreshed {
            assert!(!is_live(&world, &second.access).await);
        }
        assert!(!is_live(&world, &first.access).await);
    }
}
