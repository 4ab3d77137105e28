//! What an archive becomes.

use std::fs;
use std::sync::Arc;

use base::{Id, PostId, UserId};
use network::home_timelines::{HomeTimelines, TimelineSource};
use store::Tx;
use store::posts::{PageRange, PostState};
use store::users;

use crate::sample::{ada, array, at, folder, grace, parts, post, text, zipped};
use crate::world::{Engine, World, each_engine};
use transfer::{ImportOptions, TransferError};

#[each_engine]
async fn an_archive_is_taken_whole(engine: Engine) {
    let world = World::new(engine).await;
    let report = world.import(folder(&ada()).source()).await;
    let taken = |kind: &str| report.taken.get(kind).copied().unwrap_or(0);
    let kinds = [
        "account",
        "profile",
        "post",
        "follow",
        "like",
        "block",
        "mute",
        "list",
        "list_member",
        "list_follow",
        "media",
    ];
    assert_eq!(kinds.map(taken), [1, 1, 8, 4, 2, 1, 1, 4, 2, 1, 2]);
    for (name, promised) in &report.promised {
        assert_eq!(report.seen.get(name).unwrap_or(&0), promised, "{name}");
    }
    assert_eq!((report.media.copied, report.media.bytes, report.media.missing), (1, 6, 1));
    let why: Vec<_> = report
        .skipped
        .iter()
        .map(|skip| format!("{} {}: {} ({})", skip.count, skip.kind, skip.why, skip.example))
        .collect();
    assert_eq!(
        why,
        [
            "1 follow: from an account to itself (user 12)",
            "1 deleted_post: its author deleted it (post 55)",
            "1 like: it cannot be read (data/like.js:1: a like without a post id)",
            "2 directMessages: private, only imported on request (data/direct-messages.js)",
        ]
    );
}

#[each_engine]
async fn its_people_are_there(engine: Engine) {
    let world = World::new(engine).await;
    world.import(folder(&ada()).source()).await;
    let owner = world.user(12).await.unwrap();
    assert_eq!((owner.username.as_str(), owner.state), ("ada", users::UserState::Active));
    assert_eq!((owner.post_count, owner.media_count, owner.like_count), (7, 2, 2));
    assert_eq!((owner.followers_count, owner.following_count, owner.listed_count), (2, 2, 2));
    assert_eq!((owner.description.as_str(), owner.email.as_str()), ("a & b", ""));
    assert_eq!(owner.most_recent_post_id.unwrap().get(), at(90));
    assert_eq!(world.user(77).await.unwrap().username, "Grace_H");
    assert_eq!(world.user(7).await.unwrap().state, users::UserState::Placeholder);
    assert_eq!(world.named("bob").await.unwrap().id.get(), 5);
}

#[each_engine]
async fn posts_keep_their_places(engine: Engine) {
    let world = World::new(engine).await;
    world.import(zipped(&ada()).source()).await;
    let film = world.post(at(0)).await.unwrap();
    assert_eq!(film.text, "Fish & <chips> with @Grace_H");
    assert_eq!(film.entities, r#"{"mentions":[{"end":28,"id":"77","start":20,"username":"Grace_H"}]}"#);
    // Five and two are told; Ada's own like is one of the five, the reply is counted.
    assert_eq!((film.like_count, film.repost_count, film.media_keys.as_str()), (5, 2, "7_99"));
    assert_eq!(fs::read(world.folder.path().join("media/99/7_99.mp4")).unwrap(), b"a film");

    let repost = world.post(at(10)).await.unwrap();
    let source = world.post(repost.repost_of_id.unwrap().get()).await.unwrap();
    assert_eq!((source.state, source.author_id.get()), (PostState::Placeholder, 77));
    assert_eq!((source.text.as_str(), source.repost_count), ("the first & only …", 1));

    let old = world.post(20).await.unwrap();
    assert_eq!((old.in_reply_to_user_id.unwrap().get(), old.display_start), (5, 5));
    assert_eq!(old.conversation_id.get(), 19);
    assert_eq!(world.post(19).await.unwrap().state, PostState::Placeholder);

    let (old, new) = (world.post(at(50)).await.unwrap(), world.post(at(60)).await.unwrap());
    assert_eq!((old.state, new.state), (PostState::Superseded, PostState::Live));
    assert_eq!((new.edit_root_id.unwrap().get(), new.edits_remaining), (at(50), 4));
    assert_eq!(new.conversation_id.get(), at(50));

    let likes = world.post(at(5)).await.unwrap();
    assert_eq!((likes.state, likes.text.as_str(), likes.author_id.get()), (PostState::Placeholder, "a > b", 0));
    assert_eq!(world.log().await, ["import.batch", "import.end"]);
}

#[each_engine]
async fn files_of_an_imported_post_expire_when_its_author_deletes_it(engine: Engine) {
    let world = World::new(engine).await;
    world.import(folder(&ada()).source()).await;
    let delete = |tx: &mut Tx<'_>| {
        // An advertiser's card has the picture, too.
        store::media::add_post_uses(tx, &[Id::new(98)])?;
        for post in [at(0), at(70)] {
            network::posts::delete(tx, UserId::new(12), PostId::new(post))?;
        }
        let found = store::media::find_by_ids(tx, &[98, 99])?;
        Ok(found.iter().map(|one| (one.id.get(), one.uses, one.expires_at.is_some())).collect::<Vec<_>>())
    };
    let mut media = world.store.write(delete).await.unwrap();
    media.sort_unstable();
    assert_eq!(media, [(98, None, false), (99, Some(0), true)]);
}

#[each_engine]
async fn a_thread_is_one_conversation_in_whatever_chunks_it_comes(engine: Engine) {
    for batch in [1, 2, 1_000] {
        let world = World::new(engine).await;
        let options = ImportOptions { batch, ..world.options() };
        world.try_import(folder(&ada()).source(), options).await.unwrap();
        world.recount().await;
        for seconds in [70, 80, 90] {
            let post = world.post(at(seconds)).await.unwrap();
            assert_eq!((post.state, post.conversation_id.get()), (PostState::Live, at(70)), "{batch}");
        }
        let (old, new) = (world.post(at(50)).await, world.post(at(60)).await);
        let states = (old.unwrap().state, new.unwrap().state);
        assert_eq!(states, (PostState::Superseded, PostState::Live), "{batch}");
    }
}

#[each_engine]
async fn a_second_time_changes_nothing(engine: Engine) {
    let world = World::new(engine).await;
    let archive = folder(&ada());
    world.import(archive.source()).await;
    let before = (world.lines().await, world.log().await.len());
    let report = world.import(archive.source()).await;
    assert_eq!(report.known["post"], 8);
    assert!(!report.taken.contains_key("post"), "{report:?}");
    assert_eq!(report.placeholders, transfer::PlaceholderCounts::default());
    assert_eq!(report.media.present, 1);
    assert_eq!(world.lines().await, before.0);
    // The same from elsewhere is another source, and the same posts.
    world.import(zipped(&ada()).source()).await;
    assert_eq!(world.lines().await, before.0);
}

#[each_engine]
async fn what_a_placeholder_waited_for_takes_its_place(engine: Engine) {
    let world = World::new(engine).await;
    world.import(folder(&ada()).source()).await;
    let report = world.import(folder(&grace()).source()).await;
    assert_eq!((report.placeholders.completed_users, report.placeholders.completed_posts), (1, 1));
    let grace = world.user(77).await.unwrap();
    assert_eq!((grace.name.as_str(), grace.state), ("Grace Hopper", users::UserState::Active));
    assert_eq!((grace.followers_count, grace.following_count, grace.post_count), (1, 1, 2));
    let liked = world.post(at(5)).await.unwrap();
    assert_eq!((liked.state, liked.author_id.get(), liked.like_count), (PostState::Live, 77, 3));
    assert_eq!(liked.text, "a > b, and more");
    let answered = world.post(at(0)).await.unwrap();
    assert_eq!((answered.reply_count, answered.like_count), (1, 5));
    let answer = world.post(at(6)).await.unwrap();
    assert_eq!(answer.conversation_id.get(), at(0));
}

#[each_engine]
async fn a_broken_source_leaves_nothing(engine: Engine) {
    let world = World::new(engine).await;
    let empty = (world.lines().await, world.log().await);
    let whole = zipped(&ada());
    let bytes = fs::read(whole.path()).unwrap();
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 5] {
        let broken = folder(&vec![("cut.zip".to_owned(), bytes[..cut].to_vec())]);
        let source = transfer::ImportSource::Archive(broken.path().join("cut.zip"));
        let error = world.try_import(source, world.options()).await.unwrap_err();
        assert!(error.to_string().contains("cut.zip"), "{error}");
    }
    let mut files = parts("12", "ada", "Ada");
    let tweets = array("tweets", &[post(at(0), "one", ""), post(at(1), "two", "")]);
    files.push(text("data/tweets.js", tweets.split_at(tweets.len() - 20).0));
    let error = world.try_import(folder(&files).source(), world.options()).await.unwrap_err();
    assert!(matches!(error, TransferError::Source(_)), "{error}");
    assert!(error.to_string().contains("data/tweets.js"), "{error}");
    assert_eq!((world.lines().await, world.log().await), empty);
    assert!(world.user(12).await.is_none());
}

#[each_engine]
async fn ids_from_the_future_are_left_out_and_new_ones_are_above_all(engine: Engine) {
    let world = World::new(engine).await;
    let mut files = parts("12", "ada", "Ada");
    let soon = base::id::first_snowflake_at(crate::world::START.plus_ms(3_600_000));
    let posts = [post(i64::MAX, "never", ""), post(soon, "soon", "")];
    files.push(text("data/tweets.js", &array("tweets", &posts)));
    let report = world.import(folder(&files).source()).await;
    assert_eq!((report.taken["post"], report.skipped[0].count), (1, 1));
    assert!(world.join("later").await.get() > soon);
}

#[each_engine]
async fn readers_find_what_came_in_their_home_timeline(engine: Engine) {
    let world = World::new(engine).await;
    let (here, reader) = (world.join("ada").await, world.join("reader").await);
    let follow = move |tx: &mut Tx<'_>| network::follows::follow(tx, reader, here);
    world.store.write(follow).await.unwrap();
    let homes = Arc::new(HomeTimelines::default());
    let page = async || {
        let (homes, user) = (Arc::clone(&homes), world.user(reader.get()).await.unwrap());
        let page = move |tx: &mut Tx<'_>| Ok(homes.page(tx, TimelineSource::Reader(&user), &PageRange::newest(100))?);
        world.store.read(page).await.unwrap().0.len()
    };
    assert_eq!(page().await, 0);
    let options = ImportOptions { batch: 2, ..world.options() };
    let archive = folder(&ada());
    world.try_import(archive.source(), options).await.unwrap();
    assert_eq!(page().await, 7);
}
