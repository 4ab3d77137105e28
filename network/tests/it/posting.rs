use base::PostId;
use network::posts::{self, NewPost};
use store::posts::PostState;

use test_stores::{World, by, each_engine};

fn text(text: &str) -> NewPost {
    NewPost { text: text.to_owned(), ..NewPost::default() }
}

#[each_engine]
async fn created_post_has_entities_and_is_counted(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("Bob").await);
    let post = world.say(ada, "hello @bob and @nobody #rust $TWTR https://example.com/a").await;
    assert_eq!(post.conversation_id, post.id);
    assert_eq!(post.created_at.ms() / 1000, world.clock.now().ms() / 1000);
    assert!(post.entities.contains("\"username\":\"Bob\""), "{}", post.entities);
    assert!(!post.entities.contains("nobody"));
    assert!(post.entities.contains("\"tag\":\"rust\""));
    let span = store::posts::PageRange::newest(10);
    let mentions = world.store.read(move |tx| Ok(store::posts::page_mentioning(tx, bob, &span)?));
    assert_eq!(mentions.await.unwrap()[0].id, post.id);
    world.recount().await;
}

#[each_engine]
async fn duplicate_text_is_refused_for_a_day(world: World) {
    let ada = world.user("ada").await;
    world.say(ada, "hello").await;
    let refused = world.refused(move |tx| posts::create(tx, &by(ada), &text(" hello "))).await;
    assert!(refused.contains("187"), "{refused}");
    world.pass(25 * 3600 * 1000);
    world.say(ada, "hello").await;
    world.recount().await;
}

#[each_engine]
async fn replies_and_quotes_are_counted_until_deleted(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let root = world.say(ada, "root").await;
    let reply = NewPost { reply_to: Some(root.id), ..text("@ada yes") };
    let reply = world.post(bob, reply).await;
    assert_eq!(reply.conversation_id, root.id);
    assert_eq!(reply.in_reply_to_user_id, Some(ada));
    assert_eq!(reply.display_start, 5);
    let quote = NewPost { quote: Some(root.id), ..text("look") };
    let quote = world.post(bob, quote).await;
    let by_id = |id: PostId| move |tx: &mut store::Tx<'_>| Ok(store::posts::find_by_id(tx, id)?.unwrap());
    let root = world.store.read(by_id(root.id)).await.unwrap();
    assert_eq!((root.reply_count, root.quote_count), (1, 1));
    let id = reply.id;
    let refused = world.refused(move |tx| posts::delete(tx, ada, id)).await;
    assert!(refused.contains("not authorized"), "{refused}");
    world.write(move |tx| posts::delete(tx, bob, id)).await;
    let refused = world.refused(move |tx| posts::delete(tx, bob, id)).await;
    assert!(refused.contains("NotFound"), "{refused}");
    world.recount().await;
    let id = root.id;
    world.write(move |tx| posts::delete(tx, ada, id)).await;
    let left = world.store.read(by_id(quote.id)).await.unwrap();
    assert_eq!(left.state, PostState::Live);
    let late = NewPost { reply_to: Some(root.id), ..text("too late") };
    let refused = world.refused(move |tx| posts::create(tx, &by(bob), &late)).await;
    assert!(refused.contains("385"), "{refused}");
    world.recount().await;
}

#[each_engine]
async fn edit_within_an_hour_creates_a_new_version(world: World) {
    let zed = zed(&world).await;
    let first = world.say(zed, "frist").await;
    world.pass(10 * 60 * 1000);
    let edit = NewPost { edit_of: Some(first.id), ..text("first") };
    let second = world.post(zed, edit.clone()).await;
    assert_eq!((second.edit_root_id, second.edits_remaining), (Some(first.id), 4));
    assert_eq!(second.conversation_id, first.id);
    let again = world.refused(move |tx| posts::create(tx, &by(zed), &edit)).await;
    assert!(again.contains("newest version"), "{again}");
    world.pass(51 * 60 * 1000);
    let late = NewPost { edit_of: Some(second.id), ..text("late") };
    let refused = world.refused(move |tx| posts::create(tx, &by(zed), &late)).await;
    assert!(refused.contains("no longer"), "{refused}");
    let root = first.id;
    let versions = world.store.read(move |tx| Ok(store::posts::list_versions(tx, root)?));
    assert_eq!(versions.await.unwrap(), [first.id, second.id]);
    world.recount().await;
    world.write(move |tx| posts::delete(tx, zed, root)).await;
    world.recount().await;
}

async fn zed(world: &World) -> base::UserId {
    let new = network::users::NewUser {
        username: "zed".to_owned(),
        subscription_type: "Basic".to_owned(),
        ..Default::default()
    };
    world.write(move |tx| network::users::create(tx, &new)).await.id
}

fn edit(of: PostId, words: &str) -> NewPost {
    NewPost { edit_of: Some(of), ..text(words) }
}

#[each_engine]
async fn edit_is_accepted_until_the_end_of_its_hour(world: World) {
    let zed = zed(&world).await;
    let first = world.say(zed, "one").await;
    let end = first.created_at.plus_ms(posts::EDIT_WINDOW_MS);
    world.clock.set(end);
    let second = world.post(zed, edit(first.id, "two")).await;
    world.clock.set(end.plus_ms(1));
    let late = edit(second.id, "three");
    let refused = world.refused(move |tx| posts::create(tx, &by(zed), &late)).await;
    assert!(refused.contains("no longer"), "{refused}");
    world.recount().await;
}

#[each_engine]
async fn edit_keeps_quote_and_reply_settings(world: World) {
    let (zed, ada) = (zed(&world).await, world.user("ada").await);
    let (root, other) = (world.say(ada, "root").await, world.say(ada, "other").await);
    let quote = NewPost {
        quote: Some(root.id),
        reply_settings: "verified".to_owned(),
        paid_partnership: true,
        ..text("first")
    };
    let first = world.post(zed, quote).await;
    for wrong in [
        NewPost { quote: Some(other.id), ..edit(first.id, "x") },
        NewPost { reply_to: Some(other.id), ..edit(first.id, "x") },
    ] {
        let refused = world.refused(move |tx| posts::create(tx, &by(zed), &wrong)).await;
        assert!(refused.contains("ID is invalid"), "{refused}");
    }
    let nullcast = NewPost { nullcast: true, ..edit(first.id, "x") };
    let refused = world.refused(move |tx| posts::create(tx, &by(zed), &nullcast)).await;
    assert!(refused.contains("cannot be edited"), "{refused}");
    let second = world.post(zed, edit(first.id, "second")).await;
    assert_eq!(second.quoted_post_id, Some(root.id));
    assert_eq!(second.reply_settings, "verified");
    assert!(second.paid_partnership);
    world.recount().await;
    // The settings of the newest version hold.
    let reply = NewPost { reply_to: Some(first.id), ..text("re") };
    let (one, other) = (reply.clone(), reply);
    let refused = world.refused(move |tx| posts::create(tx, &by(ada), &one)).await;
    assert!(refused.contains("433"), "{refused}");
    let opened = NewPost { reply_settings: "mentionedUsers".to_owned(), ..edit(second.id, "third @ada") };
    world.post(zed, opened).await;
    world.post(ada, other).await;
    world.recount().await;
    let id = second.id;
    world.write(move |tx| posts::delete(tx, zed, id)).await;
    world.recount().await;
}
