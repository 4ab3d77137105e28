//! Connections to streams: how many an app may have wherever it is connected, which it had, and
//! their end (contract §9.1, §9.5).

use base::refusal::{AuthenticationProblem, StreamConnectionRefusal};
use base::{AppId, Error, Fault, Refusal, Time};
use store::apps::{self, App, AppStatus};
use store::connections::{self, StreamConnection};
use store::{Tx, event_log};

/// A node that has not been heard of for so long does not hold its connections any more.
const NODE_TIMEOUT_MS: i64 = 30_000;
/// How a connection ends whose node is gone.
const NODE_LOST_REASON: &str = "server_shutdown";

/// Why a connection is not ended.
const NOT_ACTIVE: &str = "The connection is not active.";

/// A connection that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedConnection {
    /// Where the log ended.
    pub log_end: i64,
    /// By what its token is known again.
    pub token_digest: [u8; 32],
}

/// What became of a connection that was to be ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedConnection {
    /// Its name.
    pub uuid: String,
    /// Why it was not ended, if it was not.
    pub failure: Option<&'static str>,
}

/// Which connections of an app are to be ended.
#[derive(Clone, Debug)]
pub enum ConnectionSelector {
    /// All of them.
    All,
    /// Those to a stream.
    Endpoint(String),
    /// Those of these names.
    Named(Vec<String>),
}

/// Writes down a connection that a node has opened, and where the log ends behind which it
/// begins. Refused when the app has `most` of its kind on other nodes and on this one, where it
/// has `here` beside the new one, and when its token has ended meanwhile.
pub fn open(tx: &mut Tx<'_>, new: &StreamConnection, most: usize, here: usize) -> Result<OpenedConnection, Error> {
    let shared = tx.is_shared();
    if shared {
        // Two nodes at once must not pass the bound together.
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
        let alive = new.seen_at.plus_ms(-NODE_TIMEOUT_MS);
        let held = connections::list_open_by_app(tx, new.app_id)?;
        let others = held.iter().filter(|one| {
            one.endpoint == new.endpoint
                && (one.part == new.part || one.part < 0 && new.part < 0)
                && one.node != new.node
                && one.seen_at >= alive
        });
        if others.count().saturating_add(here) >= most {
            return Err(Refusal::Connection(StreamConnectionRefusal::TooManyConnections).into());
        }
    }
    let end = event_log::end_cursor(tx)?;
    connections::insert(tx, new)?;
    Ok(OpenedConnection {
        log_end: end,
        token_digest: token,
    })
}

/// By what a connection's token is known again; none when the app has none, or may not be used.
pub fn find_token_digest(tx: &mut Tx<'_>, app: AppId) -> Result<Option<[u8; 32]>, Fault> {
    let active = |app: App| app.state == AppStatus::Active;
    if !apps::find_by_id(tx, app)?.is_some_and(active) {
        return Ok(None);
    }
    Ok(apps::bearer_token(tx, app)?.map(|token| token.digest()))
}

/// Says that a node holds its connections still, and that those of lost nodes are gone. `wall` is
/// the machine's time.
pub fn record_heartbeat(tx: &mut Tx<'_>, node: i64, wall: Time) -> Result<(), Fault> {
    connections::record_heartbeat(tx, node, wall)?;
    connections::disconnect_stale(tx, wall.plus_ms(-NODE_TIMEOUT_MS), NODE_LOST_REASON)?;
    Ok(())
}

/// Says that a node has just begun and holds none of the connections below an id.
pub fn reset_node_connections(tx: &mut Tx<'_>, node: i64, below: i64) -> Result<(), Fault> {
    connections::disconnect_node(tx, node, below, NODE_LOST_REASON).map(|_| ())
}

/// Ends connections of an app: they are written off at once, and the nodes that hold them are
/// told through the log.
pub fn terminate(
    tx: &mut Tx<'_>,
    app: AppId,
    which: &ConnectionSelector,
    reason: &str,
) -> Result<Vec<EndedConnection>, Fault> {
    let held = connections::list_open_by_app(tx, app)?;
    let mut ended = Vec::new();
    let mut chosen = Vec::new();
    match which {
        ConnectionSelector::All => chosen.extend(&held),
        ConnectionSelector::Endpoint(name) => chosen.extend(held.iter().filter(|one| one.endpoint == *name)),
        ConnectionSelector::Named(names) => {
            for name in names {
                match held.iter().find(|one| one.uuid == *name) {
                    Some(found) => chosen.push(found),
                    None => ended.push(EndedConnection {
                        uuid: name.clone(),
                        failure: Some(NOT_ACTIVE),
                    }),
                }
            }
        }
    }
    for one in chosen {
        let now = tx.now();
        let failed = if connections::mark_disconnected(tx, one.id, now, reason)? {
            event_log::append(tx, "connection.end", app.get(), one.id, "")?;
            None
        } else {
            Some(NOT_ACTIVE)
        };
        let uuid = one.uuid.clone();
        ended.push(EndedConnection { uuid, failure: failed });
    }
    Ok(ended)
}
