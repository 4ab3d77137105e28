//! Connections as seen by clients, senders and operators.

use std::sync::Arc;
use std::time::Duration;

use base::encryption::{Keyring, MasterKey};
use base::refusal::StreamConnectionRefusal;
use base::{AppId, Clock, Error, Refusal, Rng, Scopes, SiteLinks, Vocabulary};
use bytes::Bytes;
use futures_util::StreamExt as _;
use network::activity::{ActivitySubscriber, NewActivitySubscription};
use store::{DatabaseLocation, Store, StoreOptions, Tx};
use tempfile::TempDir;

use crate::activity::{ActivityConfig, LiveActivityReader};
use crate::fixtures::create_app;

use super::posts::tests::publish;
use super::{ConnectionRequest, DisconnectReason, Hub, SessionFeed, StreamEndpoint, StreamSettings};

/// The hub of a new store, with two apps.
pub(super) struct Site {
    pub(super) store: Arc<Store>,
    pub(super) hub: Hub,
    pub(super) apps: [AppId; 2],
    _folder: TempDir,
}

pub(super) async fn site(settings: StreamSettings) -> Site {
    let folder = TempDir::new().unwrap();
    let options = StoreOptions {
        location: DatabaseLocation::File(folder.path().join("locum.db")),
        data_dir: folder.path().to_owned(),
        connections: 1,
        node: 0,
        purpose: store::NodePurpose::Server(store::NodeRoles::ALL),
        migrate: true,
        clock: Clock::System,
        rng: Rng::Os,
        keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
    };
    let store = Arc::new(Store::open(options).await.unwrap());
    let apps = |tx: &mut Tx<'_>| Ok([create_app(tx, "ana")?.id, create_app(tx, "bob")?.id]);
    let apps = store.write(apps).await.unwrap();
    Site { hub: Hub::new(Arc::clone(&store), settings), store, apps, _folder: folder }
}

pub(super) fn opening(app: AppId, endpoint: StreamEndpoint) -> ConnectionRequest {
    ConnectionRequest {
        app,
        endpoint,
        partition: 1,
        replay: false,
        max_connections: endpoint.max_connections(false),
        max_per_second: None,
        client: "192.0.2.1".to_owned(),
    }
}

fn is_full(opened: Result<super::StreamSession, Error>) -> bool {
    let full = Refusal::Connection(StreamConnectionRefusal::TooManyConnections);
    matches!(opened, Err(Error::Refused(why)) if why == full)
}

async fn rest(feed: SessionFeed) -> String {
    let chunks: Vec<Bytes> = feed.collect().await;
    String::from_utf8(chunks.concat()).unwrap()
}

#[tokio::test]
async fn what_is_sent_is_read_in_its_order_and_then_the_farewell() {
    let site = site(StreamSettings::default()).await;
    let (hub, [app, _]) = (&site.hub, site.apps);
    let session = hub.open(opening(app, StreamEndpoint::Activity)).await.unwrap();
    let mut feed = session.feed().after_backfill(futures_util::stream::iter([Bytes::from("past\r\n")]));
    let sent = hub.visit_sessions(app, StreamEndpoint::Activity, |session| {
        assert!(session.send(Bytes::from("one\r\n")));
        assert!(session.send(Bytes::from("two\r\n")));
    });
    assert_eq!(sent, 1);
    assert_eq!(feed.next().await.unwrap(), "past\r\n");
    assert_eq!(feed.next().await.unwrap(), "one\r\n");
    session.end(DisconnectReason::Killed);
    session.end(DisconnectReason::Shutdown);
    assert!(!session.send(Bytes::from("three\r\n")));
    let rest = rest(feed).await;
    assert!(rest.starts_with("two\r\n{\"errors\":[{"), "{rest}");
    assert!(rest.contains(r#""disconnect_type":"ForceDisconnect""#), "{rest}");
    assert!(rest.contains("https://api.x.com/2/problems/operational-disconnect"));
    assert!(rest.ends_with("}]}\r\n") && rest.matches("errors").count() == 1);
}

#[tokio::test]
async fn activity_is_waited_for_while_a_stream_is_open() {
    let site = site(StreamSettings::default()).await;
    let (hub, [app, _]) = (&site.hub, site.apps);
    let config = ActivityConfig { default_vocabulary: Vocabulary::Post, site: SiteLinks::default() };
    let mut reader = LiveActivityReader::new(Arc::clone(&site.store), hub.clone(), config);
    let append = move |tx: &mut Tx<'_>| Ok(store::event_log::append(tx, "app.update", 1, app.get(), "")?);
    site.store.write(append).await.unwrap();
    let end = site.store.read(|tx| Ok(store::event_log::end_cursor(tx)?)).await.unwrap();
    let limit = Duration::from_millis(20);
    assert!(hub.wait_for_activity(end, limit).await, "nobody reads");
    let _session = hub.open(opening(app, StreamEndpoint::Activity)).await.unwrap();
    assert!(!hub.wait_for_activity(end, limit).await);
    assert!(!reader.poll_once().await.unwrap());
    assert!(hub.wait_for_activity(end, limit).await);
}

#[tokio::test]
async fn stream_of_a_past_period_gets_no_live_events() {
    let site = site(StreamSettings::default()).await;
    let (hub, [app, _]) = (&site.hub, site.apps);
    let config = ActivityConfig { default_vocabulary: Vocabulary::Post, site: SiteLinks::default() };
    let mut reader = LiveActivityReader::new(Arc::clone(&site.store), hub.clone(), config);
    let live = hub.open(opening(app, StreamEndpoint::Activity)).await.unwrap();
    let past = ConnectionRequest { replay: true, ..opening(app, StreamEndpoint::Activity) };
    let past = hub.open(past).await.unwrap();
    assert!(!reader.poll_once().await.unwrap());
    let change = move |tx: &mut Tx<'_>| {
        let owner = store::apps::find_by_id(tx, app)?.unwrap().owner_id;
        let subscriber = ActivitySubscriber { app, user: None, scopes: Scopes::NONE, enterprise: false };
        let event_type = "post.create".to_owned();
        let new = NewActivitySubscription { event_type, user_id: Some(owner), ..NewActivitySubscription::default() };
        network::activity::subscribe(tx, &subscriber, &new)?;
        publish(tx, app, "a lighthouse")
    };
    site.store.write(change).await.unwrap();
    let end = site.store.read(|tx| Ok(store::event_log::end_cursor(tx)?)).await.unwrap();
    reader.poll_once().await.unwrap();
    assert!(hub.wait_for_activity(end, Duration::from_millis(20)).await);
    assert_eq!(live.message_counts(), (1, 0));
    assert_eq!(past.message_counts(), (0, 0));
}

#[tokio::test]
async fn slots_are_bounded_and_free_at_once_when_the_client_is_gone() {
    let site = site(StreamSettings::default()).await;
    let (hub, [app, other]) = (&site.hub, site.apps);
    let first = hub.open(opening(app, StreamEndpoint::Filtered)).await.unwrap().feed();
    assert!(is_full(hub.open(opening(app, StreamEndpoint::Filtered)).await));
    // Other apps, streams and partitions have their own limits.
    let other = ConnectionRequest { app: other, ..opening(app, StreamEndpoint::Filtered) };
    let _other = hub.open(other).await.unwrap();
    let _sample = hub.open(opening(app, StreamEndpoint::Sample)).await.unwrap();
    let second_part = ConnectionRequest { partition: 2, ..opening(app, StreamEndpoint::Sample) };
    let _part = hub.open(second_part).await.unwrap();
    assert_eq!(hub.connection_counts().0, 4);
    drop(first);
    let again = hub.open(opening(app, StreamEndpoint::Filtered)).await.unwrap();
    hub.shut_down();
    assert!(rest(again.feed()).await.contains("OperationalDisconnect"));
    assert_eq!(hub.connection_counts().0, 0);
    let late = hub.open(opening(app, StreamEndpoint::Filtered)).await;
    assert!(matches!(late, Err(Error::Refused(Refusal::Unavailable))));
}

#[tokio::test]
async fn who_does_not_read_is_let_go_and_costs_nobody_else() {
    let settings = StreamSettings { buffer_bytes: 100, ..StreamSettings::default() };
    let site = site(settings).await;
    let (hub, [app, _]) = (&site.hub, site.apps);
    let slow = hub.open(opening(app, StreamEndpoint::Activity)).await.unwrap();
    let slow_feed = slow.feed();
    let quick = hub.open(opening(app, StreamEndpoint::Activity)).await.unwrap();
    let mut feed = quick.feed();
    for number in 0..50 {
        let message = Bytes::from(format!("message {number}\r\n"));
        hub.visit_sessions(app, StreamEndpoint::Activity, |session| {
            session.send(message.clone());
        });
        assert_eq!(feed.next().await.unwrap(), message);
    }
    assert!(slow.has_ended() && !quick.has_ended());
    let rest = rest(slow_feed).await;
    assert!(rest.starts_with("message 0\r\n"), "{rest}");
    assert!(rest.contains("SlowReader"), "{rest}");
    assert!(rest.len() < 400, "{rest}");
    // A single message larger than the buffer is no reason to disconnect.
    assert!(quick.send(Bytes::from(vec![b'x'; 1000])));
}

#[tokio::test]
async fn a_silence_is_broken_and_a_pace_is_kept() {
    let settings = StreamSettings { keep_alive: Duration::from_millis(40), ..StreamSettings::default() };
    let site = site(settings).await;
    let (hub, [app, _]) = (&site.hub, site.apps);
    let paced = ConnectionRequest { max_per_second: Some(5), ..opening(app, StreamEndpoint::Filtered) };
    let session = hub.open(paced).await.unwrap();
    let mut feed = session.feed();
    let start = base::clock::monotonic_now();
    assert_eq!(feed.next().await.unwrap(), "\r\n");
    assert_eq!(feed.next().await.unwrap(), "\r\n");
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(80), "{took:?}");
    let taken = (0..30).filter(|_| session.send(Bytes::from("x\r\n")));
    // Two seconds, if one ends in between.
    assert!([5, 10].contains(&taken.count()));
    let (sent, dropped) = session.message_counts();
    assert_eq!(sent + dropped, 30);
}
