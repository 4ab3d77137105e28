use base::clock::wall_time;
use base::secret::digest;
use base::{Rng, UserId};
use identity::sessions::{self, ClientInfo, TOUCH_EVERY_MS, TTL_MS, UserSession, VisitorFormTokens};
use network::audit::{self, AuditActor, AuditFilter};
use store::Tx;

use test_stores::{World, each_engine};

pub(crate) fn from(address: &str) -> ClientInfo {
    ClientInfo { address: address.to_owned(), user_agent: format!("Browser/1\r\n{}", "x".repeat(500)) }
}

async fn begun(world: &World, user: UserId, presented: Option<[u8; 32]>) -> (String, UserSession) {
    let facts = from("192.0.2.1");
    let work = move |tx: &mut Tx<'_>| sessions::start(tx, presented.as_ref(), user, &facts, TTL_MS);
    let (text, session) = world.write(work).await;
    (text.expose_secret().to_owned(), session)
}

async fn open(world: &World, text: &str) -> Option<UserSession> {
    let facts = from("192.0.2.1");
    sessions::resume(&world.store, text, &facts, wall_time()).await.unwrap()
}

pub(crate) async fn kinds(world: &World) -> Vec<String> {
    let entries = move |tx: &mut Tx<'_>| Ok(audit::list(tx, AuditFilter::default(), 100)?);
    let entries = world.store.read(entries).await.unwrap();
    entries.into_iter().rev().map(|entry| entry.kind).collect()
}

#[each_engine]
async fn session_lives_until_it_expires_or_is_idle(world: World) {
    let ada = world.user("ada").await;
    let (text, session) = begun(&world, ada, None).await;
    assert!(text.len() >= 43, "256 bits");
    assert_eq!((session.user_id, session.address.as_str()), (ada, "192.0.2.1"));
    assert_eq!(session.user_agent.chars().count(), 256);
    assert!(!session.user_agent.contains('\n'));
    assert_eq!(open(&world, &text).await.unwrap().id, session.id);
    assert!(open(&world, "").await.is_none());
    assert!(open(&world, &text.to_lowercase()).await.is_none());

    let elsewhere = from("192.0.2.9");
    let at = |ms: i64| wall_time().plus_ms(ms);
    let soon = sessions::resume(&world.store, &text, &elsewhere, at(TOUCH_EVERY_MS - 5000));
    assert_eq!(soon.await.unwrap().unwrap().address, "192.0.2.1", "not written so often");
    let later = sessions::resume(&world.store, &text, &elsewhere, at(TOUCH_EVERY_MS + 5000));
    assert_eq!(later.await.unwrap().unwrap().address, "192.0.2.9");
    let listed = world.store.read(move |tx| Ok(sessions::list(tx, ada)?)).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].address, "192.0.2.9");

    let presented = digest(&text);
    let alive = async |ms: i64| {
        let find = move |tx: &mut Tx<'_>| Ok(store::sessions::find(tx, &presented, at(ms))?);
        world.store.read(find).await.unwrap().is_some()
    };
    assert!(alive(TTL_MS).await, "counted from when it was last used");
    assert!(!alive(TTL_MS + TOUCH_EVERY_MS + 6000).await);

    world.write(move |tx| identity::account_states::suspend(tx, ada)).await;
    assert!(open(&world, &text).await.is_none(), "of a suspended user");
    world.write(move |tx| identity::account_states::restore(tx, ada)).await;
    let facts = from("192.0.2.1");
    world.write(move |tx| sessions::sign_out(tx, &session, &facts)).await;
    assert!(open(&world, &text).await.is_none());
    assert_eq!(kinds(&world).await, ["sign_in.ok", "user.suspend", "user.restore", "sign_out"]);
}

#[each_engine]
async fn session_token_changes_on_sign_in_and_renewal(world: World) {
    let ada = world.user("ada").await;
    let (planted, _) = begun(&world, ada, None).await;
    let (text, session) = begun(&world, ada, Some(digest(&planted))).await;
    assert!(open(&world, &planted).await.is_none(), "the one before is over");
    let renew = {
        let session = session.clone();
        move |tx: &mut Tx<'_>| sessions::renew(tx, &session)
    };
    let (renewed, after) = world.write(renew.clone()).await;
    assert!(open(&world, &text).await.is_none());
    let found = open(&world, renewed.expose_secret()).await.unwrap();
    assert_eq!((found.id, &found.form_key), (session.id, &after.form_key));
    assert_ne!(found.form_key, session.form_key);
    assert!(world.refused(renew).await.contains("session"), "once");
}

#[each_engine]
async fn sessions_are_ended_from_another_one(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let (here, mine) = begun(&world, ada, None).await;
    let (there, other) = begun(&world, ada, None).await;
    let (third, _) = begun(&world, ada, None).await;
    let (bobs, bobs_session) = begun(&world, bob, None).await;
    let by = AuditActor::user(ada, "192.0.2.1");

    let (who, id) = (by.clone(), bobs_session.id);
    world.refused(move |tx| sessions::revoke(tx, &who, ada, id)).await;
    assert!(open(&world, &bobs).await.is_some());
    let (who, id) = (by.clone(), other.id);
    world.write(move |tx| sessions::revoke(tx, &who, ada, id)).await;
    assert!(open(&world, &there).await.is_none());
    let who = by.clone();
    let ended = world.write(move |tx| sessions::revoke_all(tx, &who, ada, Some(mine.id))).await;
    assert_eq!(ended, 1);
    assert!(open(&world, &third).await.is_none());
    assert!(open(&world, &here).await.is_some());
    world.write(move |tx| sessions::revoke_all(tx, &by, ada, None)).await;
    assert!(open(&world, &here).await.is_none());
    assert!(open(&world, &bobs).await.is_some());
    let ends = kinds(&world).await;
    let ends = ends.iter().filter(|kind| *kind == "session.revoke");
    assert_eq!(ends.count(), 3);
}

#[each_engine]
async fn form_token_is_bound_to_its_session_and_form(world: World) {
    let ada = world.user("ada").await;
    let (_, one) = begun(&world, ada, None).await;
    let (_, other) = begun(&world, ada, None).await;
    let token = sessions::form_token(&one, "delete");
    assert!(sessions::verify_form_token(&one, "delete", &token));
    assert!(!sessions::verify_form_token(&one, "create", &token));
    assert!(!sessions::verify_form_token(&other, "delete", &token));
    assert!(!sessions::verify_form_token(&one, "delete", ""));

    let visitors = VisitorFormTokens::open(&world.store).await.unwrap();
    let (mine, yours) = (visitors.generate_cookie(&Rng::Os).unwrap(), visitors.generate_cookie(&Rng::Os).unwrap());
    let token = visitors.form_token(&mine, "sign-in");
    let again = VisitorFormTokens::open(&world.store).await.unwrap();
    assert!(again.verify_form_token(&mine, "sign-in", &token), "the key is kept");
    assert!(!again.verify_form_token(&yours, "sign-in", &token));
    assert!(!again.verify_form_token(&mine, "join", &token));
    let empty = base::Secret::new("");
    let forged = visitors.form_token(&empty, "sign-in");
    assert!(!again.verify_form_token(&empty, "sign-in", &forged));
}

#[each_engine]
async fn session_secrets_are_not_stored_in_plain_text(world: World) {
    if world.store.is_shared() {
        return;
    }
    let ada = world.user("ada").await;
    let (text, session) = begun(&world, ada, None).await;
    let copy = world.folder.path().join("copy.db");
    world.store.backup(copy.clone()).await.unwrap();
    let bytes = std::fs::read(copy).unwrap();
    for secret in [text.as_str(), session.form_key.expose_secret()] {
        let found = bytes.windows(secret.len()).any(|at| at == secret.as_bytes());
        assert!(!found);
    }
}
