//! Reads of the log while sessions are starting.

use std::sync::Arc;

use network::connections;
use network::reads::PostReadCounter;
use serde_json::Value;
use store::{Tx, event_log};

use super::super::tests::{Site, opening, site};
use super::super::{DisconnectReason, StreamEndpoint, StreamSettings};
use super::{LogPoll, PostStreams};

fn streams(site: &Site) -> PostStreams {
    let voice = Arc::new(|_: &base::Refusal| Value::Null);
    let (store, hub) = (Arc::clone(&site.store), site.hub.clone());
    PostStreams::new(store, hub, Arc::new(PostReadCounter::default()), voice)
}

async fn look(streams: &PostStreams) -> LogPoll {
    let shared = Arc::clone(&streams.0);
    let look = move |tx: &mut Tx<'_>| Ok(shared.poll_log(tx)?);
    streams.0.store.read(look).await.unwrap()
}

#[tokio::test]
async fn a_slot_that_is_only_reserved_is_neither_ended_nor_a_place_in_the_log() {
    let site = site(StreamSettings::default()).await;
    let (streams, [app, other]) = (streams(&site), site.apps);
    // The first session: log entries about its app are not applied to an older token.
    let (_reserved, _) = site.hub.reserve_slot(&opening(app, StreamEndpoint::Filtered)).unwrap();
    let first = look(&streams).await;
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
    let second = look(&streams).await;
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
        network::apps::rotate_credential(tx, app, network::apps::AppCredentialKind::Bearer)?;
        Ok(())
    };
    site.store.write(rotated).await.unwrap();
    let since = site.hub.open(opening(app, StreamEndpoint::Sample)).await.unwrap();
    let token = move |tx: &mut Tx<'_>| Ok(connections::find_token_digest(tx, app)?);
    let token = site.store.read(token).await.unwrap();
    assert_eq!(since.start_info().map(|begun| begun.token_digest), token);
    let turn = look(&streams).await;
    let _looked = streams.0.apply_poll(turn);
    assert_eq!(before.end_reason(), Some(DisconnectReason::Revoked));
    assert!(!since.has_ended());
}
