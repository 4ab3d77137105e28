//! Reads of the log while sessions are starting.

use std::sync::Arc;
use std::time::Duration;

use base::{AppId, Error, PostId, Vocabulary};
use futures_util::StreamExt as _;
use network::connections;
use network::posts::{NewPost, PostAuthor};
use network::reads::PostReadCounter;
use network::rules::NewStreamRule;
use serde_json::Value;
use store::rules::StreamProduct;
use store::{Tx, event_log};
use view::{FieldSelection, ObjectKind, RenderOptions};

use super::super::tests::{Site, opening, site};
use super::super::{DisconnectReason, StreamEndpoint, StreamFormat, StreamSettings};
use super::{LogPoll, PostStreams};

pub(in super::super) fn streams(site: &Site) -> PostStreams {
    let render_refusal = Arc::new(|_: &base::Refusal| Value::Null);
    let (store, hub) = (Arc::clone(&site.store), site.hub.clone());
    PostStreams::new(store, hub, Arc::new(PostReadCounter::default()), render_refusal)
}

async fn poll(streams: &PostStreams) -> LogPoll {
    let shared = Arc::clone(&streams.0);
    let poll = move |tx: &mut Tx<'_>| Ok(shared.poll_log(tx)?);
    streams.0.store.read(poll).await.unwrap()
}

#[tokio::test]
async fn a_slot_that_is_only_reserved_is_neither_ended_nor_a_place_in_the_log() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, other]) = (streams(&site), site.apps);
    // The first session: log entries about its app are not applied to an older token.
    let (_reserved, _) = site.hub.reserve_slot(&opening(app, StreamEndpoint::Filtered)).unwrap();
    let first = poll(&streams).await;
    let end = site.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await.unwrap();
    assert!(first.ended.is_empty());
    assert_eq!(first.cursor, end, "not a place that the log never reaches");
    let _looked = streams.0.apply_poll(first);
    // Next to sessions that have started before.
    let session = site.hub.open(opening(other, StreamEndpoint::Sample)).await.unwrap();
    let changed = move |tx: &mut Tx<'_>| {
        for app in [app, other] {
            event_log::append(tx, "app.update", 1, app.get(), "")?;
        }
        Ok(())
    };
    site.store.write(changed).await.unwrap();
    let second = poll(&streams).await;
    assert!(second.ended.is_empty(), "both have the token of their app");
    let _looked = streams.0.apply_poll(second);
    assert!(!session.has_ended());
}

#[tokio::test]
async fn a_token_that_ends_ends_what_began_with_it_and_nothing_that_began_since() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, _]) = (streams(&site), site.apps);
    let before = site.hub.open(opening(app, StreamEndpoint::Filtered)).await.unwrap();
    let rotated = move |tx: &mut Tx<'_>| {
        identity::apps::rotate_credential(tx, app, identity::apps::AppCredentialKind::Bearer)?;
        Ok(())
    };
    site.store.write(rotated).await.unwrap();
    let since = site.hub.open(opening(app, StreamEndpoint::Sample)).await.unwrap();
    let token = move |tx: &mut Tx<'_>| Ok(connections::find_token_digest(tx, app)?);
    let token = site.store.read(token).await.unwrap();
    assert_eq!(since.start_info().map(|begun| begun.token_digest), token);
    let turn = poll(&streams).await;
    let _looked = streams.0.apply_poll(turn);
    assert_eq!(before.end_reason(), Some(DisconnectReason::Revoked));
    assert!(!since.has_ended());
}

pub(in super::super) async fn add_rule(site: &Site, app: AppId, word: &'static str) -> i64 {
    let add = move |tx: &mut Tx<'_>| {
        let new = NewStreamRule { value: word.to_owned(), canonical: word.to_owned(), tag: String::new() };
        network::rules::add(tx, app, StreamProduct::Stream, 10, &[new], false)
    };
    site.store.write(add).await.unwrap().rules[0].id
}

pub(in super::super) fn publish(tx: &mut Tx<'_>, app: AppId, text: &str) -> Result<PostId, Error> {
    let owner = store::apps::find_by_id(tx, app)?.unwrap().owner_id;
    let author = PostAuthor { user_id: owner, app_id: None, self_serve: false };
    let new = NewPost { text: text.to_owned(), ..NewPost::default() };
    Ok(network::posts::create(tx, &author, &new)?.id)
}

fn post_format() -> StreamFormat {
    StreamFormat {
        selection: FieldSelection::defaults(ObjectKind::POST),
        options: RenderOptions { vocabulary: Vocabulary::Post, both_metric_names: false, newer_models: false },
    }
}

#[tokio::test]
async fn reader_that_joins_behind_the_others_catches_up_without_a_new_entry() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, other]) = (streams(&site), site.apps);
    add_rule(&site, other, "lighthouse").await;
    let start = site.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await.unwrap();
    let first = site.hub.open(opening(app, StreamEndpoint::Sample)).await.unwrap();
    let second = site.hub.open(opening(other, StreamEndpoint::Filtered)).await.unwrap();
    let mut feed = second.feed();
    let follow = async {
        streams.follow_log().await;
    };
    let join = async {
        assert!(streams.join(&first, post_format(), None).await);
        site.store.write(move |tx| publish(tx, app, "an older lighthouse")).await.unwrap();
        let end = site.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await.unwrap();
        assert!(streams.wait_until_read(end, Duration::from_secs(5)).await);
        // Long after the wakeup for the entry.
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(streams.join(&second, post_format(), Some(start)).await);
        tokio::time::timeout(Duration::from_secs(5), feed.next()).await
    };
    let message = tokio::select! {
        () = follow => None,
        message = join => message.expect("the post is sent at once"),
    };
    let message = String::from_utf8(message.unwrap().to_vec()).unwrap();
    assert!(message.contains("an older lighthouse"), "{message}");
}

#[tokio::test]
async fn look_that_is_run_again_finds_the_posts_that_it_found_before_rules_changed() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, _]) = (streams(&site), site.apps);
    let rule = add_rule(&site, app, "lighthouse").await;
    let session = site.hub.open(opening(app, StreamEndpoint::Filtered)).await.unwrap();
    let format = post_format();
    let begin = async {
        let turn = poll(&streams).await;
        streams.0.apply_poll(turn)
    };
    let (joined, _) = tokio::join!(streams.join(&session, format, None), begin);
    assert!(joined);
    let change = move |tx: &mut Tx<'_>| {
        publish(tx, app, "a lighthouse")?;
        network::rules::remove(tx, app, StreamProduct::Stream, &[rule])?;
        publish(tx, app, "another lighthouse")
    };
    site.store.write(change).await.unwrap();
    // As when the connection breaks after the work is done.
    assert_eq!(poll(&streams).await.messages.len(), 1);
    let turn = poll(&streams).await;
    assert_eq!(turn.messages.len(), 1, "the rule still held when the first was published");
    let _looked = streams.0.apply_poll(turn);
    let rest = poll(&streams).await;
    assert!(rest.messages.is_empty() && !rest.more);
}

#[tokio::test]
async fn session_has_not_begun_before_its_row_is_committed() {
    let site = site(StreamSettings::default()).await;
    let (hub, [app, _]) = (site.hub.clone(), site.apps);
    // The latter two share a commit: both are queued while the writer runs the first.
    let busy = site.store.write(|_| {
        std::thread::sleep(Duration::from_millis(200));
        Ok(())
    });
    let seen = hub.clone();
    let before_commit = site.store.write(move |_| {
        let begun = seen.sessions(|session| session.start_info().is_some());
        Ok(begun.len())
    });
    let (_, session, begun) = tokio::join!(busy, hub.open(opening(app, StreamEndpoint::Filtered)), before_commit);
    assert_eq!(begun.unwrap(), 0);
    assert!(session.unwrap().start_info().is_some());
}
