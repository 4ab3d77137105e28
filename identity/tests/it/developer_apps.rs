use base::clock::wall_time;
use base::{AppId, Credential, UserId};
use identity::app_names;
use identity::apps::{AccessLevel, App, AppCredentialKind, AppProfile, OAuthClientKind, Permission};
use identity::developer_apps::{self, RotatedCredential};
use network::audit::{self, AuditActor, AuditFilter};
use network::usage::{UsageCounter, WINDOW_MS};
use store::Tx;

use test_stores::{World, each_engine};

const SITE: &str = "Locum";

async fn made(world: &World, owner: UserId) -> AppId {
    let create = move |tx: &mut Tx<'_>| {
        let by = AuditActor::user(owner, "192.0.2.1");
        developer_apps::create(tx, &by, &AppProfile::new("demo"), AccessLevel::SelfServe, SITE)
    };
    world.write(create).await.0.id
}

#[each_engine]
async fn app_name_with_deceptive_characters_is_refused(world: World) {
    let ada = world.user("ada").await;
    let id = made(&world, ada).await;
    let by = AuditActor::user(ada, "192.0.2.1");
    for name in ["Pay\u{202e}lap", "Pay\u{200b}pal", "\u{2800}", "a\nb"] {
        let who = by.clone();
        let create = move |tx: &mut Tx<'_>| {
            developer_apps::create(tx, &who, &AppProfile::new(name), AccessLevel::SelfServe, SITE)
        };
        let refused = world.refused(create).await;
        assert!(refused.contains("none of them invisible"), "{refused}");
        let who = by.clone();
        let profile = AppProfile::new(name);
        let refused = world.refused(move |tx| developer_apps::update(tx, &who, id, &profile, SITE)).await;
        assert!(refused.contains("none of them invisible"), "{refused}");
    }
}

#[each_engine]
async fn app_name_that_could_be_mistaken_is_refused_or_marked(world: World) {
    let (ada, eve) = (world.user("ada").await, world.user("eve").await);
    let id = made(&world, ada).await;
    let by = AuditActor::user(ada, "192.0.2.1");
    for name in ["L0cum", "Locum Support", "Demo (official)"] {
        let who = by.clone();
        let create = move |tx: &mut Tx<'_>| {
            developer_apps::create(tx, &who, &AppProfile::new(name), AccessLevel::SelfServe, SITE)
        };
        assert!(world.refused(create).await.contains("name"), "{name}");
        let who = by.clone();
        let profile = AppProfile::new(name);
        assert!(world.refused(move |tx| developer_apps::update(tx, &who, id, &profile, SITE)).await.contains("name"));
    }
    let similar = async |id: AppId| {
        let find = move |tx: &mut Tx<'_>| {
            let app = identity::apps::find(tx, id)?;
            Ok(app_names::find_similar_app(tx, &app)?.map(|other| (other.owner_id, other.name)))
        };
        world.store.read(find).await.unwrap()
    };
    made(&world, ada).await;
    assert_eq!(similar(id).await, None, "an app of the same developer");
    let other = made(&world, eve).await;
    assert_eq!(similar(other).await, Some((ada, "demo".to_owned())));
    assert_eq!(similar(id).await, Some((eve, "demo".to_owned())));
    let who = AuditActor::user(eve, "192.0.2.6");
    let profile = AppProfile::new("D\u{435}m0");
    world.write(move |tx| developer_apps::update(tx, &who, other, &profile, SITE)).await;
    assert_eq!(similar(id).await, Some((eve, "D\u{435}m0".to_owned())));
    world.write(move |tx| identity::apps::delete(tx, other)).await;
    assert_eq!(similar(id).await, None);
}

#[each_engine]
async fn developer_sees_own_apps_only(world: World) {
    let (ada, eve) = (world.user("ada").await, world.user("eve").await);
    let id = made(&world, ada).await;
    let by = AuditActor::user(eve, "192.0.2.6");
    let nothing = AppId::new(1);
    let of = |id: AppId, text: String| text.replace(&id.to_string(), "ID");
    macro_rules! hidden {
        ($($verb:expr),* $(,)?) => {$({
            let who = by.clone();
            let theirs = world.refused(move |tx| $verb(tx, &who, id)).await;
            let who = by.clone();
            let none = world.refused(move |tx| $verb(tx, &who, nothing)).await;
            assert!(theirs.contains("NotFound"), "{theirs}");
            assert_eq!(of(id, theirs), of(nothing, none));
        })*};
    }
    hidden!(
        |tx: &mut Tx<'_>, by: &AuditActor, id| developer_apps::update(tx, by, id, &AppProfile::new("demo"), SITE),
        |tx: &mut Tx<'_>, by: &AuditActor, id| developer_apps::rotate_credential(tx, by, id, AppCredentialKind::Api),
        |tx: &mut Tx<'_>, by: &AuditActor, id| developer_apps::delete(tx, by, id),
        |tx: &mut Tx<'_>, by: &AuditActor, id| developer_apps::renew_owner_token(tx, by, id),
        |tx: &mut Tx<'_>, _: &AuditActor, id| developer_apps::find_owner_token(tx, UserId::new(7), id),
        |tx: &mut Tx<'_>, _: &AuditActor, id| developer_apps::find(tx, UserId::new(7), id),
        |tx: &mut Tx<'_>, _: &AuditActor, id| developer_apps::load_usage(tx, UserId::new(7), id, wall_time()),
    );
    let listed = async |owner| {
        let list = move |tx: &mut Tx<'_>| developer_apps::list(tx, owner);
        world.store.read(list).await.unwrap().len()
    };
    assert_eq!((listed(ada).await, listed(eve).await), (1, 0));
}

#[each_engine]
async fn developer_changes_an_app(world: World) {
    let ada = world.user("ada").await;
    let id = made(&world, ada).await;
    let by = AuditActor::user(ada, "192.0.2.1");
    let act = |profile: AppProfile| {
        let by = by.clone();
        move |tx: &mut Tx<'_>| developer_apps::update(tx, &by, id, &profile, SITE)
    };
    let profile = AppProfile {
        website_url: "https://example.org".to_owned(),
        permission: Permission::Messages,
        kind: OAuthClientKind::Native,
        callback_urls: vec!["https://example.org/back".to_owned()],
        request_email: true,
        ..AppProfile::new(" another ")
    };
    let app = world.write(act(profile.clone())).await;
    assert_eq!((app.name.as_str(), app.permission), ("another", Permission::Messages));
    assert_eq!((app.kind, &app.client_secret_digest), (OAuthClientKind::Native, &None));
    assert_eq!(app.callback_urls, "https://example.org/back");
    assert!(app.request_email && !app.sign_in);
    assert_eq!(app.access_level, AccessLevel::SelfServe);
    for bad in [
        AppProfile { name: String::new(), ..profile.clone() },
        AppProfile { website_url: "javascript:alert(1)".to_owned(), ..profile.clone() },
        AppProfile { callback_urls: vec!["data:x".to_owned()], ..profile.clone() },
        AppProfile { callback_urls: vec!["https://a.b".to_owned(); 11], ..profile.clone() },
        AppProfile { description: "x".repeat(201), ..profile.clone() },
    ] {
        world.refused(act(bad)).await;
    }
    // What only the operator may enter stays.
    let foreign = App { name: "Locum Support".to_owned(), callback_urls: "data:x".to_owned(), ..app };
    let kept = AppProfile { sign_in: true, ..AppProfile::of(&foreign) };
    world.write(move |tx| Ok(store::apps::update(tx, &foreign)?)).await;
    assert!(world.write(act(kept)).await.sign_in);
    let list = |tx: &mut Tx<'_>| Ok(audit::list(tx, AuditFilter::default(), 2)?);
    let changed: Vec<_> = world.store.read(list).await.unwrap().into_iter().map(|entry| entry.detail).collect();
    let all = r#"{"changed":["name","website_url","kind","permission","callback_urls","request_email"]}"#;
    assert_eq!(changed, [r#"{"changed":["sign_in"]}"#, all]);
}

#[each_engine]
async fn developer_regenerates_credentials_and_deletes_an_app(world: World) {
    let ada = world.user("ada").await;
    let id = made(&world, ada).await;
    let by = AuditActor::user(ada, "192.0.2.1");
    let rotate = |which: AppCredentialKind| {
        let by = by.clone();
        move |tx: &mut Tx<'_>| developer_apps::rotate_credential(tx, &by, id, which)
    };
    let RotatedCredential::Client { secret, .. } = world.write(rotate(AppCredentialKind::Client)).await else {
        panic!("another credential");
    };
    let find = move |tx: &mut Tx<'_>| developer_apps::find(tx, ada, id);
    let stored = world.store.read(find).await.unwrap().client_secret_digest;
    assert_eq!(stored, Some(secret.digest().to_vec()));
    let RotatedCredential::Api { secret, .. } = world.write(rotate(AppCredentialKind::Api)).await else {
        panic!("another credential");
    };
    assert_eq!(world.store.read(find).await.unwrap().api_secret, secret);

    let who = by.clone();
    let renew = move |tx: &mut Tx<'_>| developer_apps::renew_owner_token(tx, &who, id);
    let first = world.write(renew.clone()).await;
    let second = world.write(renew).await;
    assert_ne!(first.0, second.0);
    let live = move |tx: &mut Tx<'_>| Ok(store::tokens::find_oauth1(tx, &first.0.digest())?);
    let first = world.store.read(live).await.unwrap().unwrap();
    assert!(first.revoked_at.is_some());
    let own = move |tx: &mut Tx<'_>| developer_apps::find_owner_token(tx, ada, id);
    let permission = world.store.read(own).await.unwrap().unwrap().permission;
    assert_eq!(permission, Permission::Write);

    world.write(move |tx| developer_apps::delete(tx, &by, id)).await;
    assert!(world.refused(find).await.contains("NotFound"));
    let kinds = crate::sessions::kinds(&world).await;
    let expected = "app.create app.rotate app.rotate token.own token.own app.delete";
    assert_eq!(kinds.join(" "), expected);
}

#[each_engine]
async fn audit_log_is_paged(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    for owner in [ada, bob, ada, ada] {
        made(&world, owner).await;
    }
    let page = async |filter: AuditFilter| {
        let list = move |tx: &mut Tx<'_>| Ok(audit::list(tx, filter, 2)?);
        world.store.read(list).await.unwrap()
    };
    let of_ada = AuditFilter { actor: Some(ada), ..AuditFilter::default() };
    let newest = page(of_ada).await;
    assert_eq!(newest.len(), 2);
    let before = newest.last().map(|entry| entry.seq);
    assert_eq!(page(AuditFilter { before, ..of_ada }).await.len(), 1);
    let both = AuditFilter { app: newest[0].app, ..of_ada };
    assert_eq!(page(both).await.len(), 1);
    let all = |tx: &mut Tx<'_>| Ok(audit::list_after(tx, 0, 100)?);
    let all = world.store.read(all).await.unwrap();
    assert!(all.is_sorted_by_key(|entry| entry.seq) && all.len() == 4);
}

#[each_engine]
async fn usage_is_counted_by_window_and_stored_in_one_write(world: World) {
    let ada = world.user("ada").await;
    let id = made(&world, ada).await;
    let usage = UsageCounter::default();
    let window = base::Time::from_ms(wall_time().ms() / WINDOW_MS * WINDOW_MS);
    for ms in [0, 1, WINDOW_MS - 1, WINDOW_MS] {
        usage.record_call_at(id, Credential::App, None, "getUsers", window.plus_ms(ms));
    }
    usage.flush(&world.store).await.unwrap();
    usage.flush(&world.store).await.unwrap();
    usage.record_call_at(id, Credential::App, None, "getUsers", window);
    usage.record_call_at(id, Credential::OAuth1, Some(ada), "getUsers", window);
    usage.record_call_at(id, Credential::OAuth2, Some(UserId::new(5)), "getUsers", window);
    usage.flush(&world.store).await.unwrap();
    let read = move |tx: &mut Tx<'_>| developer_apps::load_usage(tx, ada, id, window);
    let used = world.store.read(read).await.unwrap();
    let calls: Vec<_> = used.calls.iter().map(|calls| calls.calls).collect();
    assert_eq!(calls, [6, 1]);
    let last: Vec<_> = used.last_used.iter().map(|used| (used.kind.as_str(), used.at)).collect();
    assert_eq!(last, [("bearer", window.plus_ms(WINDOW_MS)), ("oauth1", window)]);
}
