//! Connections to streams: bounded wherever they are, ended wherever they are.

use base::refusal::{AuthenticationProblem, StreamConnectionRefusal};
use base::{AppId, Error, Refusal};
use identity::apps::{self, AccessLevel, AppProfile};
use network::connections::{self, ConnectionSelector};
use store::Tx;
use store::connections::{self as stored, StreamConnection};

use test_stores::{World, each_engine};

const MOST: usize = 1;

/// An app, with or without its token.
async fn app(world: &World, token: bool) -> AppId {
    let owner_id = world.user("owner").await;
    let profile = AppProfile::new("app");
    let make = move |tx: &mut Tx<'_>| {
        let (app, _) = apps::create(tx, owner_id, AccessLevel::SelfServe, &profile)?;
        if !token {
            store::apps::set_bearer_token(tx, app.id, None)?;
        }
        Ok(app.id)
    };
    world.write(make).await
}

fn connection(world: &World, app: AppId, node: i64) -> StreamConnection {
    let id = world.store.context().ids.next::<()>().get();
    StreamConnection {
        id,
        uuid: format!("uuid-{id}"),
        app_id: app,
        endpoint: "filtered_stream".to_owned(),
        part: 1,
        node,
        seen_at: base::clock::wall_time(),
        client: String::new(),
        connected_at: world.store.context().clock.now(),
        disconnected_at: None,
        reason: String::new(),
    }
}

#[each_engine]
async fn connections_of_another_node_count_while_it_is_alive(world: World) {
    let app = app(&world, true).await;
    let open = |row: StreamConnection| {
        let open = move |tx: &mut Tx<'_>| connections::open(tx, &row, MOST, 0);
        world.store.write(open)
    };
    let own = world.store.context().node.incarnation();
    let here = connection(&world, app, own);
    open(here.clone()).await.unwrap();
    let shared = world.store.is_shared();
    let there = open(connection(&world, app, 1)).await;
    let full = Refusal::Connection(StreamConnectionRefusal::TooManyConnections);
    assert_eq!(matches!(&there, Err(Error::Refused(why)) if *why == full), shared, "{there:?}");
    // A node that has gone without a word does not hold its slots for ever, and one that lives keeps them, whatever its
    // clock says.
    let lost = connection(&world, app, 1);
    world.write(move |tx| Ok(stored::insert(tx, &lost)?)).await;
    let later = base::clock::wall_time().plus_ms(40_000);
    world.write(move |tx| Ok(connections::record_heartbeat(tx, 7, 7, later)?)).await;
    let left = world.write(move |tx| Ok(stored::list_open_by_app(tx, app)?)).await;
    assert_eq!(left, if shared { vec![here] } else { Vec::new() });
    world.write(move |tx| Ok(stored::disconnect_node(tx, own, i64::MAX, "")?)).await;
    open(connection(&world, app, 1)).await.unwrap();
    // One that begins anew holds none of those of its last life.
    let below = world.store.context().ids.next::<()>().get();
    let of_now = connection(&world, app, 1);
    let row = of_now.clone();
    world.write(move |tx| Ok(stored::insert(tx, &row)?)).await;
    world.write(move |tx| Ok(connections::reset_node_connections(tx, 1, below)?)).await;
    let left = world.write(move |tx| Ok(stored::list_open_by_app(tx, app)?));
    assert_eq!(left.await, [of_now]);
    // A node without a lease holds no slots.
    open(connection(&world, app, own)).await.unwrap();
}

#[each_engine]
async fn closed_connections_are_announced_to_their_nodes(world: World) {
    let app = app(&world, true).await;
    let rows = [0, 1].map(|node| connection(&world, app, node));
    for row in rows.clone() {
        world.write(move |tx| Ok(stored::insert(tx, &row)?)).await;
    }
    let names = vec![rows[1].uuid.clone(), "another".to_owned()];
    let which = ConnectionSelector::Named(names.clone());
    let mut ended = world.write(move |tx| Ok(connections::terminate(tx, app, &which, "killed")?)).await;
    ended.sort_by_key(|one| one.failure.is_some());
    let message: Vec<(&str, bool)> = ended.iter().map(|one| (one.uuid.as_str(), one.failure.is_none())).collect();
    assert_eq!(message, [(names[0].as_str(), true), ("another", false)]);
    let all = world.write(move |tx| Ok(connections::terminate(tx, app, &ConnectionSelector::All, "killed")?)).await;
    assert_eq!(all.len(), 1, "the other one");
    let response = world.log().await;
    let mut response: Vec<i64> =
        response.iter().filter(|event| event.kind == "connection.end").map(|event| event.subject_id).collect();
    response.sort_unstable();
    assert_eq!(response, rows.map(|row| row.id));
}

#[each_engine]
async fn revoked_token_opens_no_connection(world: World) {
    let app = app(&world, false).await;
    let row = connection(&world, app, 0);
    let refused = world.store.write(move |tx| connections::open(tx, &row, MOST, 0)).await;
    let token = Refusal::Unauthenticated(AuthenticationProblem::Token);
    assert!(matches!(refused, Err(Error::Refused(why)) if why == token));
}
