//! Stored secrets under a new master key.

use std::sync::Arc;

use base::encryption::{Keyring, MasterKey};
use base::{Rng, UserId};
use identity::apps::{self, AccessLevel, AppProfile, Permission};
use identity::tokens;
use store::key_rotation::{self, KeyRotationCursor, KeyRotationStep};
use store::{Store, Tx};
use tokio::task::JoinSet;

use test_stores::{World, each_engine};

fn key(seed: u64) -> MasterKey {
    MasterKey::generate(&Rng::from_seed(seed)).unwrap()
}

async fn app(store: &Store, number: usize) -> base::AppId {
    let profile = AppProfile::new(&format!("app {number}"));
    let created = store.write(move |tx| apps::create(tx, UserId::new(1), AccessLevel::SelfServe, &profile)).await;
    created.unwrap().0.id
}

async fn step(store: &Store, from: KeyRotationCursor, count: bool) -> KeyRotationStep {
    let step = move |tx: &mut Tx<'_>| Ok(key_rotation::rotate_batch(tx, &from, 10, count)?);
    store.write(step).await.unwrap()
}

/// Secrets that were sealed anew, and those that are sealed with the current key.
async fn walk(store: &Store, count: bool) -> (u64, u64) {
    let (mut sealed, mut current, mut next) = (0, 0, Some(KeyRotationCursor::default()));
    while let Some(from) = next {
        let step = step(store, from, count).await;
        sealed += step.reencrypted;
        current += step.already_current;
        next = step.next;
    }
    (sealed, current)
}

async fn is_readable(world: &World, id: base::AppId, user: UserId) {
    let work = move |tx: &mut Tx<'_>| {
        let app = store::apps::find_by_id(tx, id)?.unwrap();
        let bearer = store::apps::bearer_token(tx, id)?.unwrap();
        let token = store::tokens::find_live_oauth1(tx, id, user, "write")?.unwrap();
        Ok((app.api_secret, bearer, token.secret))
    };
    let (secret, bearer, token) = world.store.read(work).await.unwrap();
    assert_eq!((secret.expose_secret().len(), token.expose_secret().len()), (50, 45));
    assert!(bearer.expose_secret().len() > 90);
}

#[each_engine]
async fn old_secrets_stay_readable_and_new_ones_use_the_new_key(world: World) {
    let ada = world.user("ada").await;
    let mint = |id| move |tx: &mut Tx<'_>| tokens::mint_oauth1(tx, id, ada, Permission::Write);
    let mut all = Vec::new();
    for number in 0..25 {
        let id = app(&world.store, number).await;
        world.write(mint(id)).await;
        all.push(id);
    }
    let keyring = &world.store.context().keyring;
    let (_, before) = walk(&world.store, true).await;
    assert!(before > 100, "{before}");
    keyring.rotate(key(2));
    assert_eq!(walk(&world.store, true).await, (0, 0));
    is_readable(&world, all[0], ada).await;
    let new = app(&world.store, 25).await;
    world.write(mint(new)).await;
    assert_eq!(walk(&world.store, true).await, (0, 4));

    // Broken off after a few steps, and begun anew, nothing is done twice.
    let mut from = KeyRotationCursor::default();
    let mut first = 0;
    for _ in 0..4 {
        let done = step(&world.store, from, false).await;
        first += done.reencrypted;
        from = done.next.unwrap();
    }
    assert!(first > 0 && first < before);
    let (rest, current) = walk(&world.store, false).await;
    assert_eq!((first + rest, current), (before, before + 4));
    assert_eq!(walk(&world.store, false).await, (0, before + 4));
    for id in &all {
        is_readable(&world, *id, ada).await;
    }
    // The old key is needed no more.
    let alone = Keyring::new(key(2), Vec::new());
    assert!(is_enough(&world, alone).await);
    assert!(!is_enough(&world, Keyring::new(key(1), Vec::new())).await);
}

/// Whether a ring opens the database.
async fn is_enough(world: &World, keyring: Keyring) -> bool {
    let read = |tx: &mut Tx<'_>| Ok(store::meta::get(tx, "master_key_check")?);
    let proof = world.store.read(read).await.unwrap().unwrap();
    let digits = proof.as_bytes().chunks(2);
    let bytes = digits.map(|pair| {
        let pair = std::str::from_utf8(pair).unwrap();
        u8::from_str_radix(pair, 16).unwrap()
    });
    let proof: Vec<u8> = bytes.collect();
    keyring.decrypt("master_key_check", &proof).is_ok()
}

#[each_engine]
async fn secrets_are_re_encrypted_during_concurrent_writes(world: World) {
    let ids = {
        let mut ids = Vec::new();
        for number in 0..40 {
            ids.push(app(&world.store, number).await);
        }
        ids
    };
    world.store.context().keyring.rotate(key(2));
    let mut load = JoinSet::new();
    for (number, id) in ids.iter().copied().enumerate() {
        let store = Arc::clone(&world.store);
        load.spawn(async move {
            let rotate = move |tx: &mut Tx<'_>| apps::rotate_credential(tx, id, apps::AppCredentialKind::Api);
            let keys = store.write(rotate).await.unwrap();
            app(&store, 100 + number).await;
            (id, keys.api_secret)
        });
    }
    walk(&world.store, false).await;
    let changed = load.join_all().await;
    walk(&world.store, false).await;
    let (sealed, current) = walk(&world.store, false).await;
    assert_eq!(sealed, 0);
    assert!(current > 160, "{current}");
    for (id, secret) in changed {
        let read = move |tx: &mut Tx<'_>| Ok(store::apps::find_by_id(tx, id)?.unwrap());
        let stored = world.store.read(read).await.unwrap();
        assert_eq!(stored.api_secret, secret, "what was changed meanwhile stays");
    }
}
