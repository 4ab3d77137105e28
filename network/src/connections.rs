//! Stream connections: limits across nodes, history and termination (contract core §9.1, §9.5).

use base::refusal::{AuthenticationProblem, StreamConnectionRefusal};
use base::{AppId, Error, Fault, Refusal, Time};
use store::apps::{self, App, AppStatus};
use store::connections::{self, StreamConnection};
use store::{Tx, event_log, nodes};

/// A node without a heartbeat for this long has lost its connections.
const NODE_TIMEOUT_MS: i64 = 30_000;
/// The disconnect reason for connections of lost nodes.
const NODE_LOST_REASON: &str = "server_shutdown";

/// Why a connection could not be terminated.
const NOT_ACTIVE: &str = "The connection is not active.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedConnection {
    /// The end of the event log when the connection was opened.
    pub log_end: i64,
    /// Identifies the token that opened the connection.
    pub token_digest: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedConnection {
    pub uuid: String,
    /// Why it was not ended; none if it was.
    pub failure: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub enum ConnectionSelector {
    All,
    Endpoint(String),
    /// By uuid.
    Named(Vec<String>),
}

/// Stores a new connection. Refused if the app's connections of its kind on other nodes and the `local_count` others
/// on this node reach `max`, and if the app's token was revoked meanwhile.
pub fn open(
    tx: &mut Tx<'_>,
    new: &StreamConnection,
    max: usize,
    local_count: usize,
) -> Result<OpenedConnection, Error> {
    let shared = tx.is_shared();
    if shared {
        // Nodes must not exceed the limit together.
        apps::lock(tx, new.app_id)?;
    }
    let app = apps::find_by_id(tx, new.app_id)?;
    if app.is_none_or(|app| app.state != AppStatus::Active) {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::App).into());
    }
    let Some(token) = find_token_digest(tx, new.app_id)? else {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
    };
    if shared {
        let open = connections::list_open_by_app(tx, new.app_id)?;
        let live = nodes::live_incarnations(tx)?;
        let others = open.iter().filter(|connection| {
            connection.endpoint == new.endpoint
                && (connection.part == new.part || connection.part < 0 && new.part < 0)
                && connection.node != new.node
                && live.contains(&connection.node)
        });
        if others.count().saturating_add(local_count) >= max {
            return Err(Refusal::Connection(StreamConnectionRefusal::TooManyConnections).into());
        }
    }
    let end = event_log::end_cursor(tx)?;
    connections::insert(tx, new)?;
    Ok(OpenedConnection { log_end: end, token_digest: token })
}

/// None if the app is not active or has no bearer token.
pub fn find_token_digest(tx: &mut Tx<'_>, app: AppId) -> Result<Option<[u8; 32]>, Fault> {
    let active = |app: App| app.state == AppStatus::Active;
    if !apps::find_by_id(tx, app)?.is_some_and(active) {
        return Ok(None);
    }
    Ok(apps::bearer_token(tx, app)?.map(|token| token.digest()))
}

/// Records a node's heartbeat and closes the connections of lost nodes. `before` is its incarnation at the last one,
/// `wall` the machine's time.
pub fn record_heartbeat(tx: &mut Tx<'_>, before: i64, node: i64, wall: Time) -> Result<(), Fault> {
    connections::record_heartbeat(tx, before, node, wall)?;
    let stale = connections::list_stale_nodes(tx, wall.plus_ms(-NODE_TIMEOUT_MS))?;
    if stale.is_empty() {
        return Ok(());
    }
    // This node's clock or theirs may be wrong; leases are by the database's.
    let live = nodes::live_incarnations(tx)?;
    for node in stale.into_iter().filter(|node| !live.contains(node)) {
        connections::disconnect_node(tx, node, i64::MAX, NODE_LOST_REASON)?;
    }
    Ok(())
}

/// Closes connections of a node that has just started, below an id.
pub fn reset_node_connections(tx: &mut Tx<'_>, node: i64, below: i64) -> Result<(), Fault> {
    connections::disconnect_node(tx, node, below, NODE_LOST_REASON).map(|_| ())
}

/// Closes connections of an app at once; their nodes learn of it through the event log.
pub fn terminate(
    tx: &mut Tx<'_>,
    app: AppId,
    selector: &ConnectionSelector,
    reason: &str,
) -> Result<Vec<EndedConnection>, Fault> {
    let open = connections::list_open_by_app(tx, app)?;
    let mut ended = Vec::new();
    let mut chosen = Vec::new();
    match selector {
        ConnectionSelector::All => chosen.extend(&open),
        ConnectionSelector::Endpoint(name) => {
            chosen.extend(open.iter().filter(|connection| connection.endpoint == *name));
        }
        ConnectionSelector::Named(names) => {
            for name in names {
                match open.iter().find(|connection| connection.uuid == *name) {
                    Some(found) => chosen.push(found),
                    None => ended.push(EndedConnection { uuid: name.clone(), failure: Some(NOT_ACTIVE) }),
                }
            }
        }
    }
    for connection in chosen {
        let now = tx.now();
        let failure = if connections::mark_disconnected(tx, connection.id, now, reason)? {
            event_log::append(tx, "connection.end", app.get(), connection.id, "")?;
            None
        } else {
            Some(NOT_ACTIVE)
        };
        let uuid = connection.uuid.clone();
        ended.push(EndedConnection { uuid, failure });
    }
    Ok(ended)
}
