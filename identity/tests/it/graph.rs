use std::sync::Arc;

use base::{Error, Refusal, UserId};
use identity::account_deletion::{self, ErasureTime};
use network::audit::AuditActor;
use network::follows::{self, FollowState};
use network::home_timelines::HomeTimelines;
use network::muted_words::MutedWordFilter;
use network::visibility::{find_interactable_post, find_reachable_user, require_may_message, require_post_access};
use network::{blocks, mutes, profiles, timelines};
use store::Tx;
use store::graph::{self, RelationKind};
use store::posts::{NewPostDetails, PageRange, Post};

use test_stores::{World, each_engine};

const FOLLOWING: FollowState = FollowState { following: true, pending: false };
const PENDING: FollowState = FollowState { following: false, pending: true };

async fn follow(world: &World, source: UserId, target: UserId) -> FollowState {
    world.write(move |tx| follows::follow(tx, source, target)).await
}

async fn block(world: &World, source: UserId, target: UserId) {
    world.write(move |tx| blocks::block(tx, source, target)).await;
}

async fn protect(world: &World, user: UserId, protected: bool) {
    world.write(move |tx| profiles::set_protected(tx, &AuditActor::default(), user, protected)).await;
}

/// Followers, following and who waits for an approval.
async fn ties(world: &World, user: UserId) -> (i64, i64, usize) {
    let work = move |tx: &mut Tx<'_>| {
        let found = store::users::find_by_id(tx, user)?.unwrap();
        let waiting = follows::list_requests(tx, user, &PageRange::newest(100))?;
        Ok((found.followers_count, found.following_count, waiting.len()))
    };
    world.store.read(work).await.unwrap()
}

/// Kind, actor and subject of everything about ties that is in the log.
async fn told(world: &World) -> Vec<String> {
    let all = world.log().await;
    let tie = |kind: &str| {
        let group = kind.split('.').next().unwrap();
        ["follow", "block", "mute"].contains(&group)
    };
    all.into_iter().filter(|event| tie(&event.kind)).map(|event| event.kind).collect()
}

#[each_engine]
async fn protected_user_is_followed_after_approval(world: World) {
    let (shy, ada, bob) = (world.user("shy").await, world.user("ada").await, world.user("bob").await);
    protect(&world, shy, true).await;
    for _ in 0..2 {
        assert_eq!(follow(&world, ada, shy).await, PENDING);
    }
    assert_eq!(follow(&world, bob, shy).await, PENDING);
    assert_eq!(ties(&world, shy).await, (0, 0, 2));
    world.write(move |tx| follows::approve_request(tx, shy, ada)).await;
    assert_eq!(follow(&world, ada, shy).await, FOLLOWING);
    assert_eq!(ties(&world, shy).await, (1, 0, 1));
    world.write(move |tx| follows::deny_request(tx, shy, bob)).await;
    assert_eq!(ties(&world, shy).await, (1, 0, 0));
    for who in [bob, ada] {
        let again = world.refused(move |tx| follows::approve_request(tx, shy, who)).await;
        assert!(again.starts_with("NotFound"), "{again}");
    }
    // Withdrawn like a follow is ended.
    assert_eq!(follow(&world, bob, shy).await, PENDING);
    let ended = world.write(move |tx| Ok(follows::unfollow(tx, bob, shy)?)).await;
    assert!(ended);
    assert_eq!(ties(&world, shy).await, (1, 0, 0));
    // Nobody becomes a follower by the other's opening up.
    assert_eq!(follow(&world, bob, shy).await, PENDING);
    protect(&world, shy, false).await;
    assert_eq!(ties(&world, shy).await, (1, 0, 0));
    assert_eq!(follow(&world, bob, shy).await, FOLLOWING);
    protect(&world, shy, true).await;
    assert_eq!(follow(&world, bob, shy).await, FOLLOWING);
    world.recount().await;
    assert_eq!(
        told(&world).await,
        [
            "follow.request",
            "follow.request",
            "follow.follow",
            "follow.deny",
            "follow.request",
            "follow.withdraw",
            "follow.request",
            "follow.follow"
        ]
    );
}

#[each_engine]
async fn block_removes_relations_between_two_users(world: World) {
    let (ada, bob) = (world.user("ada").await, world.user("bob").await);
    follow(&world, ada, bob).await;
    protect(&world, ada, true).await;
    assert_eq!(follow(&world, bob, ada).await, PENDING);
    for _ in 0..2 {
        block(&world, ada, bob).await;
    }
    assert_eq!(ties(&world, ada).await, (0, 0, 0));
    assert_eq!(ties(&world, bob).await, (0, 0, 0));
    let refused = world.refused(move |tx| follows::follow(tx, bob, ada)).await;
    assert!(refused.contains("136"), "{refused}");
    let refused = world.refused(move |tx| follows::follow(tx, ada, bob)).await;
    assert!(refused.contains("not permitted"), "{refused}");
    let lifted = world.write(move |tx| Ok(blocks::unblock(tx, ada, bob)?)).await;
    assert!(lifted);
    assert_eq!(ties(&world, bob).await, (0, 0, 0));
    assert_eq!(follow(&world, ada, bob).await, FOLLOWING);
    world.recount().await;
    assert_eq!(
        told(&world).await,
        ["follow.follow", "follow.request", "follow.unfollow", "block.block", "block.unblock", "follow.follow"]
    );
    for refused in [
        world.refused(move |tx| follows::follow(tx, ada, ada)).await,
        world.refused(move |tx| blocks::block(tx, ada, ada)).await,
        world.refused(move |tx| mutes::mute(tx, ada, ada)).await,
    ] {
        assert!(refused.starts_with("Forbidden"), "{refused}");
    }
}

#[each_engine]
async fn concurrent_actions_keep_counters_consistent_and_no_follow_with_a_block(world: World) {
    let mut users = Vec::new();
    for name in ["u0", "u1", "u2", "u3", "u4"] {
        users.push(world.user(name).await);
    }
    protect(&world, users[0], true).await;
    let users: [UserId; 5] = users.try_into().unwrap();
    let acts = async |seed| {
        let chance = base::Rng::from_seed(seed);
        for _ in 0..100 {
            let rng: [u8; 3] = chance.random_bytes().unwrap();
            let [one, other] = [rng[0], rng[1]].map(|side| users[usize::from(side) % 5]);
            let act = move |tx: &mut Tx<'_>| random_act(tx, rng[2], one, other);
            world.store.write(act).await.unwrap();
        }
    };
    tokio::join!(acts(1), acts(2), acts(3), acts(4));
    world.recount().await;
}

fn random_act(tx: &mut Tx<'_>, rng: u8, one: UserId, other: UserId) -> Result<(), Error> {
    let done = match rng % 8 {
        0..=2 => follows::follow(tx, one, other).map(drop),
        3 => follows::unfollow(tx, one, other).map(drop).map_err(Error::from),
        4 => blocks::block(tx, one, other),
        5 => blocks::unblock(tx, one, other).map(drop).map_err(Error::from),
        6 => follows::approve_request(tx, one, other),
        _ => profiles::set_protected(tx, &AuditActor::default(), one, rng > 127).map(drop),
    };
    match done {
        Err(Error::Refused(_)) | Ok(()) => Ok(()),
        failed @ Err(Error::Failed(_)) => failed,
    }
}

fn repost(id: i64, author: UserId, of: &Post) -> Post {
    Post { id: base::PostId::new(id), author_id: author, repost_of_id: Some(of.id), text: String::new(), ..of.clone() }
}

#[each_engine]
async fn home_timeline_omits_muted_and_blocked_users(world: World) {
    let (ada, bob, eve) = (world.user("ada").await, world.user("bob").await, world.user("eve").await);
    follow(&world, ada, bob).await;
    follow(&world, ada, eve).await;
    let message = world.say(eve, "from eve").await;
    world.say(bob, "from bob").await;
    let original = message.clone();
    world
        .write(move |tx| {
            let again = repost(tx.next_id::<()>().get(), bob, &original);
            assert!(store::posts::insert(tx, &again, &NewPostDetails::default())?);
            Ok(())
        })
        .await;
    let homes = Arc::new(HomeTimelines::default());
    let home = async || {
        let homes = homes.clone();
        let read = world.store.read(move |tx| {
            let reader = store::users::find_by_id(tx, ada)?.unwrap();
            Ok(timelines::load_home_page(tx, &homes, &reader, &PageRange::newest(10), &MutedWordFilter::default())?)
        });
        let posts = read.await.unwrap().posts;
        posts.into_iter().map(|post| post.text).collect::<Vec<_>>()
    };
    assert_eq!(home().await, ["", "from bob", "from eve"]);
    world.write(move |tx| mutes::mute(tx, ada, eve)).await;
    assert_eq!(home().await, ["from bob"]);
    world.write(move |tx| Ok(mutes::unmute(tx, ada, eve)?)).await;
    assert_eq!(home().await, ["", "from bob", "from eve"]);
    block(&world, ada, eve).await;
    assert_eq!(home().await, ["from bob"]);
    // Muted by others, one sees as before.
    world.write(move |tx| mutes::mute(tx, bob, ada)).await;
    assert_eq!(home().await, ["from bob"]);
}

/// How acting on something ended: the refusal's kind, or `ok`.
fn word<T>(done: Result<T, Error>) -> &'static str {
    match done {
        Ok(_) => "ok",
        Err(Error::Refused(Refusal::NotFound(_))) => "missing",
        Err(Error::Refused(Refusal::NotVisible(_))) => "hidden",
        Err(Error::Refused(Refusal::Forbidden { code: Some(136), .. })) => "blocked",
        Err(Error::Refused(Refusal::Forbidden { code: Some(63), .. })) => "suspended",
        Err(Error::Refused(Refusal::Forbidden { code: Some(349), .. })) => "closed",
        Err(other) => panic!("{other:?}"),
    }
}

#[each_engine]
async fn visibility_decides_alike_for_every_action(world: World) {
    let (author, actor) = (world.user("author").await, world.user("actor").await);
    let post = world.say(author, "act on me").await;
    let act = async |what: &str| {
        let post = post.clone();
        let read = world.store.read(move |tx| {
            let target = store::users::find_by_id(tx, author)?.unwrap();
            Ok([
                word(require_post_access(tx, actor, &post, "tweet_id")),
                word(find_interactable_post(tx, actor, post.id, "tweet_id")),
                word(find_reachable_user(tx, actor, author, "target_user_id")),
                word(require_may_message(tx, actor, &target)),
            ])
        });
        (what.to_owned(), read.await.unwrap())
    };
    let is = |what: &str, words: [&'static str; 4]| (what.to_owned(), words);
    assert_eq!(act("open").await, is("open", ["ok"; 4]));
    protect(&world, author, true).await;
    let shy = act("protected").await;
    assert_eq!(shy, is("protected", ["hidden", "hidden", "ok", "ok"]));
    protect(&world, author, false).await;
    block(&world, author, actor).await;
    let blocked = act("blocked").await;
    assert_eq!(blocked, is("blocked", ["blocked", "blocked", "blocked", "closed"]));
    world.write(move |tx| Ok(blocks::unblock(tx, author, actor)?)).await;
    block(&world, actor, author).await;
    let blocking = act("blocking").await;
    assert_eq!(blocking, is("blocking", ["ok", "ok", "ok", "closed"]));
    world.write(move |tx| Ok(blocks::unblock(tx, actor, author)?)).await;
    world.write(move |tx| blocks::block_messages(tx, author, actor)).await;
    let closed = act("messages").await;
    assert_eq!(closed, is("messages", ["ok", "ok", "ok", "closed"]));
    world.write(move |tx| identity::account_states::suspend(tx, author)).await;
    let deleted = act("suspended").await;
    assert_eq!(deleted, is("suspended", ["hidden", "hidden", "suspended", "suspended"]));
    world.write(move |tx| account_deletion::order(tx, None, author, ErasureTime::Later)).await;
    let deleted = act("deleted").await;
    assert_eq!(deleted.1[..3], ["missing"; 3]);
    world.write(move |tx| identity::account_states::restore(tx, author)).await;
    assert_eq!(act("back").await.1, ["ok", "ok", "ok", "closed"]);
    let read = world.store.read(move |tx| Ok(graph::exists(tx, RelationKind::DmBlock, author, actor)?));
    assert!(read.await.unwrap());
}

#[each_engine]
async fn verified_followers_are_counted_in_any_order_of_events(world: World) {
    let [ada, bob, cid] = [world.user("ada").await, world.user("bob").await, world.user("cid").await];
    let verified = async |user: UserId| {
        let read = move |tx: &mut Tx<'_>| Ok(store::users::find_by_id(tx, user)?.unwrap());
        world.store.read(read).await.unwrap().verified_followers_count
    };
    let verify = async |user: UserId, kind: &'static str| {
        let work = move |tx: &mut Tx<'_>| profiles::set_verified_type(tx, &AuditActor::default(), user, kind);
        world.write(work).await;
    };
    follow(&world, ada, bob).await;
    follow(&world, ada, cid).await;
    follow(&world, cid, bob).await;
    assert_eq!(verified(bob).await, 0);
    verify(ada, "blue").await;
    verify(ada, "business").await;
    assert_eq!((verified(bob).await, verified(cid).await), (1, 1));
    verify(cid, "government").await;
    assert_eq!(verified(bob).await, 2);
    block(&world, bob, cid).await;
    assert_eq!(verified(bob).await, 1);
    let unfollow = move |tx: &mut Tx<'_>| Ok(follows::unfollow(tx, ada, bob)?);
    world.write(unfollow).await;
    assert_eq!((verified(bob).await, verified(cid).await), (0, 1));
    follow(&world, ada, bob).await;
    assert_eq!(verified(bob).await, 1);
    verify(ada, "none").await;
    assert_eq!((verified(bob).await, verified(cid).await), (0, 0));
    let differences = world.store.read(|tx| Ok(store::integrity::find_mismatches(tx)?));
    assert_eq!(differences.await.unwrap(), []);
}
