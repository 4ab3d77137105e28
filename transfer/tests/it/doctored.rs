//! Archives that somebody has edited before the import.

use base::{Error, PostId, UserId};
use network::communities::NewCommunity;
use network::lists::NewList;
use network::messages::{MessageSender, NewMessage};
use network::posts::{NewPost, PostAuthor};
use store::Tx;
use store::graph::{self, RelationKind};
use store::messages::{MessageEvent, MessageEventKind};
use store::posts::{PageRange, PostState};
use store::users::{User, UserState};
use transfer::{ImportOptions, ImportReport};

use crate::carried::media;
use crate::sample::{Files, array, at, folder, parts, post, text, ties};
use crate::world::{Engine, World, each_engine};

/// Eve's id in her archive.
const EVE: i64 = 500;

async fn import(world: &World, files: &[(&str, String)]) -> ImportReport {
    let mut all: Files = parts("500", "eve", "Eve");
    all.extend(files.iter().map(|(name, content)| text(name, content)));
    let options = ImportOptions { messages: true, ..world.options() };
    let report = world.try_import(folder(&all).source(), options).await.unwrap();
    world.recount().await;
    report
}

/// The numbers of what was left out, with the reasons.
fn skipped(report: &ImportReport) -> Vec<(&str, u64, &str)> {
    let mut all: Vec<_> =
        report.skipped.iter().map(|skip| (skip.kind.as_str(), skip.count, skip.why.as_str())).collect();
    all.sort_unstable();
    all
}

async fn change(world: &World, user: UserId, change: fn(&mut User)) {
    let work = move |tx: &mut Tx<'_>| {
        let mut user = store::users::find_by_id(tx, user)?.unwrap();
        change(&mut user);
        Ok(store::users::update(tx, &user)?)
    };
    world.store.write(work).await.unwrap();
}

async fn block(world: &World, source: UserId, target: UserId) {
    world.store.write(move |tx: &mut Tx<'_>| network::blocks::block(tx, source, target).map(drop)).await.unwrap();
}

#[each_engine]
async fn archive_requests_to_follow_protected_accounts_and_follows_for_its_owner_only(engine: Engine) {
    let world = World::new(engine).await;
    let eve = world.join("eve").await;
    let (open, shy, closed) = (world.join("open").await, world.join("shy").await, world.join("closed").await);
    let (blocker, fan) = (world.join("blocker").await, world.join("fan").await);
    change(&world, shy, |user| user.protected = true).await;
    change(&world, closed, |user| user.protected = true).await;
    block(&world, closed, eve).await;
    block(&world, blocker, eve).await;
    let following = ties("following", "following", &[open, shy, closed, blocker].map(UserId::get));
    let follower = ties("follower", "follower", &[fan.get(), 7]);
    let files = [("data/following.js", following), ("data/follower.js", follower)];
    let report = import(&world, &files).await;
    assert_eq!((report.taken["follow"], report.taken["follow_request"]), (2, 1));
    let one_blocks = "one of the two users blocks the other";
    let decides = "its follower has an account here and has not followed";
    assert_eq!(
        skipped(&report),
        [("follow", 1, decides), ("follow", 1, one_blocks), ("follow_request", 1, one_blocks)]
    );
    let read = move |tx: &mut Tx<'_>| {
        let mut state = Vec::new();
        for (from, to) in [(eve, open), (eve, shy), (eve, closed), (eve, blocker), (fan, eve), (UserId::new(7), eve)] {
            let follows = store::follows::exists(tx, from, to)?;
            state.push((follows, graph::exists(tx, RelationKind::Request, from, to)?));
        }
        Ok(state)
    };
    let none = (false, false);
    let expected = [(true, false), (false, true), none, none, none, (true, false)];
    assert_eq!(world.store.read(read).await.unwrap(), expected);
    // A follow that was approved stays, and is no request again.
    let approve = move |tx: &mut Tx<'_>| network::follows::approve_request(tx, shy, eve);
    world.store.write(approve).await.unwrap();
    let again = import(&world, &files).await;
    assert_eq!((again.taken.get("follow"), again.taken.get("follow_request")), (None, None));
}

/// A group of three with one message; its id and that of the message.
async fn group(world: &World, members: [UserId; 3], words: &'static str) -> (i64, i64) {
    let work = move |tx: &mut Tx<'_>| {
        let sender = MessageSender { user_id: members[0], app_id: None };
        let new = NewMessage { text: words.to_owned(), media: None };
        let event = network::messages::create_group(tx, &sender, &members[1..], &new)?;
        Ok::<_, Error>((event.conversation.id, event.id))
    };
    world.store.write(work).await.unwrap()
}

async fn participants(world: &World, group: i64) -> Vec<UserId> {
    let read = move |tx: &mut Tx<'_>| Ok(store::messages::list_participants(tx, group)?);
    let mut all: Vec<UserId> = world.store.read(read).await.unwrap().into_iter().map(|(user, _)| user).collect();
    all.sort_unstable();
    all
}

async fn inbox(world: &World, user: UserId) -> Vec<MessageEvent> {
    let read = move |tx: &mut Tx<'_>| {
        let ids = store::messages::inbox_page(tx, user, None, &MessageEventKind::ALL, &PageRange::newest(50))?;
        Ok(store::messages::find_events(tx, &ids)?)
    };
    world.store.read(read).await.unwrap()
}

fn message(id: i64, sender: i64, words: &str) -> String {
    format!(
        r#"{{"messageCreate":{{"id":"{id}","senderId":"{sender}","text":"{words}","createdAt":"2023-02-18T12:34:30.000Z"}}}}"#
    )
}

fn conversation(kind: &str, name: &str, events: &[String]) -> String {
    let events = events.join(",");
    format!(
        r#"window.YTD.{kind}.part0 = [ {{"dmConversation":{{"conversationId":"{name}","messages":[ {events} ]}}}} ]"#
    )
}

#[each_engine]
async fn archive_joins_no_group_of_others_and_copies_none_of_their_messages(engine: Engine) {
    let world = World::new(engine).await;
    let eve = world.join("eve").await;
    let members = [world.join("one").await, world.join("two").await, world.join("three").await];
    for user in members {
        change(&world, user, |user| user.receives_dm = true).await;
    }
    let (theirs, secret) = group(&world, members, "a secret plan").await;
    let (own, before) = group(&world, [members[0], members[1], eve], "a plan for four").await;
    let leave = |user: &UserId| {
        format!(r#"{{"participantsLeave":{{"userIds":["{user}"],"createdAt":"2023-02-18T12:35:00.000Z"}}}}"#)
    };
    let groups = [
        conversation("direct_messages_group", &theirs.to_string(), &[message(at(1), EVE, "me too")]),
        conversation(
            "direct_messages_group",
            &own.to_string(),
            &[message(before, EVE, "not what was said"), message(secret, EVE, "nor this"), leave(&members[1])],
        ),
    ];
    let pair = conversation("direct_messages", "7-500", &[message(secret, 7, "give it to me")]);
    let files = [("data/direct-messages.js", pair), ("data/direct-messages-group.js", groups[0].clone())];
    let report = import(&world, &files).await;
    let other = "another message has its id here";
    let outside = "the owner of the archive is not in its group here";
    assert_eq!(skipped(&report), [("message", 1, other), ("message", 1, outside)]);
    let report = import(&world, &[("data/direct-messages-group.js", groups[1].clone())]).await;
    assert_eq!(skipped(&report), [("message", 2, other)]);
    let mut all = members.to_vec();
    all.sort_unstable();
    assert_eq!(participants(&world, theirs).await, all);
    let mut all = vec![members[0], members[1], eve];
    all.sort_unstable();
    assert_eq!(participants(&world, own).await, all);
    let texts: Vec<String> = inbox(&world, eve).await.into_iter().map(|event| event.text).collect();
    assert!(!texts.iter().any(|text| text.contains("secret")), "{texts:?}");
}

#[each_engine]
async fn archive_adds_those_to_a_group_who_accept_messages_of_its_owner(engine: Engine) {
    let world = World::new(engine).await;
    let eve = world.join("eve").await;
    let (open, closed, blocker) = (world.join("open").await, world.join("closed").await, world.join("blocker").await);
    for user in [open, blocker] {
        change(&world, user, |user| user.receives_dm = true).await;
    }
    change(&world, closed, |user| user.receives_dm = false).await;
    block(&world, blocker, eve).await;
    let join = format!(
        r#"{{"joinConversation":{{"initiatingUserId":"500","participantsSnapshot":["500","7","{open}","{closed}","{blocker}"],"createdAt":"2023-02-18T12:34:10.000Z"}}}}"#
    );
    let said = message(at(80), closed.get(), "hello");
    let file = conversation("direct_messages_group", &at(70).to_string(), &[said, join]);
    let report = import(&world, &[("data/direct-messages-group.js", file)]).await;
    assert_eq!((report.taken["message"], skipped(&report)), (2, Vec::new()));
    let mut expected = vec![UserId::new(7), eve, open];
    expected.sort_unstable();
    assert_eq!(participants(&world, at(70)).await, expected);
}

#[each_engine]
async fn archive_changes_no_lists_of_others(engine: Engine) {
    let world = World::new(engine).await;
    let eve = world.join("eve").await;
    let ann = world.join("ann").await;
    let make = move |tx: &mut Tx<'_>| {
        let new = NewList { name: "Friends".to_owned(), description: String::new(), private: false };
        Ok::<_, Error>(network::lists::create(tx, ann, &new)?.id)
    };
    let list = world.store.write(make).await.unwrap();
    let urls = format!(
        r#"x = [ {{"userListInfo":{{"urls":["https://twitter.com/i/lists/{list}","https://twitter.com/ann/lists/enemies","https://twitter.com/bea/lists/c"]}}}} ]"#
    );
    let report = import(&world, &[("data/lists-member.js", urls)]).await;
    assert_eq!(skipped(&report), [("list", 2, "its owner has an account here and decides on it")]);
    let read = move |tx: &mut Tx<'_>| {
        let own = store::lists::page_by_owner(tx, ann, true, &PageRange::newest(9))?;
        Ok((own.len(), own[0].member_count, store::lists::list_memberships(tx, eve, 9)?.len()))
    };
    assert_eq!(world.store.read(read).await.unwrap(), (1, 0, 1));
}

#[each_engine]
async fn archive_writes_nothing_in_the_name_of_others(engine: Engine) {
    let world = World::new(engine).await;
    let (eve, bob) = (world.join("eve").await, world.join("bob").await);
    let author = PostAuthor { user_id: bob, app_id: None, self_serve: false };
    let own = at(1);
    let prepare = move |tx: &mut Tx<'_>| {
        let photo = media(tx, "photo", bob, "3")?;
        let new = NewPost { text: "By Bob".to_owned(), media_ids: vec![photo], ..NewPost::default() };
        let posted = network::posts::create(tx, &author, &NewPost { id: Some(PostId::new(own)), ..new })?;
        let club = NewCommunity { name: "Club".to_owned(), ..NewCommunity::default() };
        Ok((posted.id, photo, network::communities::create(tx, bob, &club)?.id))
    };
    let (posted, photo, club) = world.store.write(prepare).await.unwrap();
    let versions = format!(r#""edit_info":{{"initial":{{"editTweetIds":["{own}","{}"]}}}}"#, at(3));
    let user = format!(r#""user":{{"id_str":"{bob}","screen_name":"bob","verified":true}}"#);
    let media = format!(
        r#""extended_entities":{{"media":[{{"id_str":"{photo}","type":"photo","media_url_https":"https://p.example/a.jpg"}}]}}"#
    );
    let stranger = r#""user":{"id_str":"77","screen_name":"stranger","verified":true}"#;
    let posts = [
        post(at(3), "As Bob", &format!("{user},{versions}")),
        post(at(4), "As a stranger", stranger),
        post(at(5), "Into the club", &format!(r#""community_id_str":"{club}""#)),
        post(at(6), "With his photo", &media),
        post(at(7), "A version of his", &versions.replace(&at(3).to_string(), &at(7).to_string())),
    ];
    let report = import(&world, &[("data/tweets.js", array("tweets", &posts))]).await;
    let left_out = skipped(&report);
    assert!(left_out.contains(&("post", 2, "it is not by the owner of the archive")), "{left_out:?}");
    assert!(left_out.contains(&("post", 1, "its author is not in its community")), "{left_out:?}");
    assert!(left_out.contains(&("media", 1, "it belongs to somebody else")), "{left_out:?}");
    let his = world.post(posted.get()).await.unwrap();
    assert_eq!((his.text.as_str(), his.state), ("By Bob", PostState::Live));
    assert!(world.post(at(3)).await.is_none() && world.post(at(5)).await.is_none());
    let stranger = world.user(77).await;
    assert!(stranger.is_none_or(|user| user.state == UserState::Placeholder && !user.verified));
    assert_eq!(world.post(at(6)).await.unwrap().media_keys, "");
    assert_eq!(world.post(at(7)).await.unwrap().author_id, eve);
    let delete = move |tx: &mut Tx<'_>| network::posts::delete(tx, eve, PostId::new(at(7)));
    world.store.write(delete).await.unwrap();
    world.recount().await;
    assert_eq!(world.post(posted.get()).await.unwrap().state, PostState::Live);
}

#[each_engine]
async fn figures_of_an_archive_leave_room_for_more(engine: Engine) {
    let world = World::new(engine).await;
    let figures = r#""favorite_count":"9223372036854775807","retweet_count":"9223372036854775807""#;
    import(&world, &[("data/tweets.js", array("tweets", &[post(at(1), "Loved", figures)]))]).await;
    let fan = world.join("fan").await;
    let like = move |tx: &mut Tx<'_>| network::likes::like(tx, fan, PostId::new(at(1))).map(drop);
    world.store.write(like).await.unwrap();
    let found = world.post(at(1)).await.unwrap();
    assert_eq!((found.like_count, found.repost_count), (1_000_000_000_001, 1_000_000_000_000));
}
