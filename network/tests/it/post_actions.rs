use base::{PostId, UserId};
use network::bookmarks::MAX_FOLDERS;
use network::posts::{self, NewPost};
use network::users::NewUser;
use network::{bookmarks, likes, replies, reposts};
use store::Tx;
use store::posts::PageRange;

use test_stores::{World, each_engine};

/// One who may edit posts.
async fn premium_user(world: &World, username: &str) -> UserId {
    let new = NewUser { username: username.to_owned(), subscription_type: "Premium".to_owned(), ..NewUser::default() };
    world.write(move |tx| network::users::create(tx, &new)).await.id
}

async fn like(world: &World, user: UserId, post: PostId) {
    world.write(move |tx| likes::like(tx, user, post)).await;
}

async fn repost(world: &World, user: UserId, post: PostId) -> PostId {
    let work = move |tx: &mut Tx<'_>| reposts::repost(tx, user, None, post);
    world.write(work).await.id
}

#[each_engine]
async fn bookmark_folders_per_user_are_limited(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let create_all = move |tx: &mut Tx<'_>| {
        let mut created = (0..MAX_FOLDERS).map(|number| bookmarks::create_folder(tx, ada, &number.to_string()));
        created.try_for_each(|folder| folder.map(drop))
    };
    world.write(create_all).await;
    let more = move |tx: &mut Tx<'_>| bookmarks::create_folder(tx, ada, "one more");
    assert!(world.refused(more).await.contains("1000 bookmark folders"));
    world.write(move |tx| bookmarks::create_folder(tx, bob, "another's")).await;
}

#[each_engine]
async fn counters_agree_with_rows_after_random_actions(world: World) {
    let users = [world.user("ada").await, world.user("bob").await, world.user("eve").await];
    let [ada, bob, eve] = users;
    let mut all = Vec::new();
    for number in 0..4 {
        all.push(world.say(ada, &format!("Post {number}")).await.id);
    }
    for post in &all {
        for user in users {
            let post = *post;
            like(&world, user, post).await;
            world.write(move |tx| bookmarks::add(tx, user, post, None)).await;
            repost(&world, user, post).await;
        }
    }
    world.recount().await;
    let folder = world.write(move |tx| bookmarks::create_folder(tx, bob, "Reading")).await.id;
    let post = all[0];
    world.write(move |tx| bookmarks::add(tx, bob, post, Some(folder))).await;
    world.write(move |tx| likes::unlike(tx, bob, post)).await;
    world.write(move |tx| reposts::undo(tx, bob, post)).await;
    world.recount().await;
    // The original goes, and everything that hangs on it.
    world.write(move |tx| posts::delete(tx, ada, post)).await;
    world.recount().await;
    let left = world.store.read(move |tx| {
        let user = store::users::find_by_id(tx, bob)?.unwrap();
        let filed = bookmarks::list_folder_bookmarks(tx, bob, folder, &PageRange::newest(10))?;
        Ok((user.post_count, user.like_count, user.most_recent_post_id.is_some(), filed))
    });
    assert_eq!(left.await.unwrap(), (3, 3, true, Vec::new()));
    // A repost is deleted as any post, by its author only.
    let again = repost(&world, eve, all[1]).await;
    let refused = world.refused(move |tx| posts::delete(tx, bob, again)).await;
    assert!(refused.contains("not authorized"), "{refused}");
    world.write(move |tx| posts::delete(tx, eve, again)).await;
    world.recount().await;
}

#[each_engine]
async fn concurrent_equal_actions_count_once(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let post = world.say(ada, "Popular").await.id;
    let mut under_way = tokio::task::JoinSet::new();
    for _ in 0..25 {
        let store = world.store.clone();
        under_way.spawn(async move {
            store.write(move |tx| likes::like(tx, bob, post)).await.unwrap();
            store.write(move |tx| bookmarks::add(tx, bob, post, None)).await.unwrap();
            store.write(move |tx| reposts::repost(tx, bob, None, post)).await.unwrap();
        });
    }
    while let Some(done) = under_way.join_next().await {
        done.unwrap();
    }
    let found = world.store.read(move |tx| Ok(store::posts::find_by_id(tx, post)?.unwrap()));
    let found = found.await.unwrap();
    assert_eq!((found.like_count, found.bookmark_count, found.repost_count), (1, 1, 1));
    world.recount().await;
}

#[each_engine]
async fn action_on_a_concurrently_deleted_post_leaves_nothing(world: World) {
    let ada = world.user("ada").await;
    let mut fans = Vec::new();
    for name in ["fan1", "fan2", "fan3", "fan4"] {
        fans.push(world.user(name).await);
    }
    for round in 0..5 {
        let post = world.say(ada, &format!("Round {round}")).await.id;
        let mut under_way = tokio::task::JoinSet::new();
        for fan in fans.clone() {
            let store = world.store.clone();
            under_way.spawn(async move {
                let _maybe = store.write(move |tx| likes::like(tx, fan, post)).await;
                let _maybe = store.write(move |tx| reposts::repost(tx, fan, None, post)).await;
                let _maybe = store.write(move |tx| bookmarks::add(tx, fan, post, None)).await;
            });
        }
        let store = world.store.clone();
        under_way.spawn(async move {
            store.write(move |tx| posts::delete(tx, ada, post)).await.unwrap();
        });
        while let Some(done) = under_way.join_next().await {
            done.unwrap();
        }
        world.recount().await;
    }
}

#[each_engine]
async fn bookmarks_reach_back_eight_hundred(world: World) {
    let ada = world.user("ada").await;
    let post = world.say(ada, "Marked").await.id;
    world
        .write(move |tx| {
            // One post stands for many: only edges are looked at.
            for number in 1..=805 {
                store::bookmarks::insert(tx, ada, PostId::new(number), number)?;
            }
            Ok(())
        })
        .await;
    world.write(move |tx| bookmarks::add(tx, ada, post, None)).await;
    let all = world.store.read(move |tx| {
        let newest = bookmarks::list_user_bookmarks(tx, ada, &PageRange::newest(1_000))?;
        let rising = PageRange { ascending: true, ..PageRange::newest(2) };
        Ok((newest, bookmarks::list_user_bookmarks(tx, ada, &rising)?))
    });
    let (newest, oldest) = all.await.unwrap();
    assert_eq!((newest.len(), newest[0].0), (800, post.get()));
    assert_eq!(oldest, [(8, 8), (7, 7)]);
}

#[each_engine]
async fn edited_quote_counts_once_and_hidden_reply_is_marked(world: World) {
    let (ada, zed) = (world.user("ada").await, premium_user(&world, "zed").await);
    let root = world.say(ada, "Quote me").await.id;
    let quote = NewPost { text: "look".to_owned(), quote: Some(root), ..NewPost::default() };
    let quote = world.post(zed, quote).await.id;
    world.say(zed, "between").await;
    let edit = NewPost { text: "looked".to_owned(), edit_of: Some(quote), ..NewPost::default() };
    let edit = world.post(zed, edit).await.id;
    world.recount().await;
    let found = world.store.read(move |tx| {
        let hidden = store::replies::filter_hidden(tx, &[root])?;
        let newest = store::users::find_by_id(tx, zed)?.unwrap().most_recent_post_id;
        Ok((store::posts::find_by_id(tx, root)?.unwrap().quote_count, newest, hidden))
    });
    assert_eq!(found.await.unwrap(), (1, Some(edit), Vec::new()));
    let reply = NewPost { text: "me too".to_owned(), reply_to: Some(root), ..NewPost::default() };
    let reply = world.post(zed, reply).await.id;
    world.write(move |tx| replies::set_hidden(tx, ada, reply, true)).await;
    let hidden = world.store.read(move |tx| Ok(store::replies::filter_hidden(tx, &[reply])?));
    assert_eq!(hidden.await.unwrap(), [reply]);
}

#[each_engine]
async fn reply_to_or_quote_of_a_repost_refers_to_the_original(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    let root = world.say(ada, "Root").await.id;
    let again = repost(&world, bob, root).await;
    let reply = NewPost { text: "me too".to_owned(), reply_to: Some(again), ..NewPost::default() };
    let reply = world.post(bob, reply).await;
    let quote = NewPost { text: "look".to_owned(), quote: Some(again), ..NewPost::default() };
    let quote = world.post(bob, quote).await;
    assert_eq!((reply.conversation_id, reply.in_reply_to_post_id), (root, Some(root)));
    assert_eq!(quote.quoted_post_id, Some(root));
    world.write(move |tx| bookmarks::add(tx, bob, again, None)).await;
    let found = world.store.read(move |tx| Ok(bookmarks::find_post_bookmark(tx, bob, again)?));
    assert_eq!(found.await.unwrap()[0].0, root.get());
    world.write(move |tx| reposts::undo(tx, bob, again)).await;
    world.recount().await;
}

#[each_engine]
async fn action_by_an_older_version_is_undone_by_it_after_further_edits(world: World) {
    let (ada, bob) = (premium_user(&world, "ada").await, world.user("bob").await);
    let first = world.say(ada, "One").await.id;
    let edit = async |text: &str, of| {
        world.post(ada, NewPost { text: text.to_owned(), edit_of: Some(of), ..NewPost::default() }).await.id
    };
    let second = edit("Two", first).await;
    like(&world, bob, first).await;
    repost(&world, bob, first).await;
    world.write(move |tx| bookmarks::add(tx, bob, first, None)).await;
    edit("Three", second).await;
    assert!(world.write(move |tx| likes::unlike(tx, bob, first)).await);
    assert!(world.write(move |tx| reposts::undo(tx, bob, first)).await);
    assert!(world.write(move |tx| bookmarks::remove(tx, bob, first)).await);
    world.recount().await;
}
