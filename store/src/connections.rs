//! Stream connections of all nodes, open and closed.

use base::{AppId, Fault, Time};

use crate::Tx;
use crate::db::{insert, select, table};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StreamConnection in "stream_connection" {
        pub id: i64,
        pub uuid: String,
        pub app_id: AppId,
        pub endpoint: String,
        /// From 1; all negative numbers stand for the same part.
        pub part: i64,
        /// The node's incarnation.
        pub node: i64,
        /// The node's last heartbeat.
        pub seen_at: Time,
        pub client: String,
        pub connected_at: Time,
    }
    read_only {
        pub disconnected_at: Option<Time>,
        /// Empty while the connection is open.
        pub reason: String,
    }
}

#[derive(Clone, Debug)]
pub struct StreamConnectionFilter {
    /// Only open (`true`) or only closed (`false`) connections.
    pub open: Option<bool>,
    /// Comma-separated; empty for all.
    pub endpoints: String,
    /// Exclusive.
    pub above: i64,
    /// Exclusive.
    pub below: i64,
    pub ascending: bool,
    pub limit: i64,
}

pub fn insert(tx: &mut Tx<'_>, new: &StreamConnection) -> Result<(), Fault> {
    insert!(tx, StreamConnection, new)
}

/// Returns false if the connection does not exist or was already closed.
pub fn mark_disconnected(tx: &mut Tx<'_>, id: i64, at: Time, reason: &str) -> Result<bool, Fault> {
    let sql = "UPDATE stream_connection SET disconnected_at = $1, reason = $2 \
               WHERE id = $3 AND disconnected_at IS NULL";
    Ok(tx.execute(sql, &[at.into(), reason.into(), id.into()])? > 0)
}

/// Closes the connections of a node with an id below `below`.
pub fn disconnect_node(tx: &mut Tx<'_>, node: i64, below: i64, reason: &str) -> Result<u64, Fault> {
    let sql = "UPDATE stream_connection SET disconnected_at = $1, reason = $2 \
               WHERE node = $3 AND id < $4 AND disconnected_at IS NULL";
    let now = tx.now();
    tx.execute(sql, &[now.into(), reason.into(), node.into(), below.into()])
}

/// The incarnations of nodes with open connections and, by their own clocks, no heartbeat since a time.
pub fn list_stale_nodes(tx: &mut Tx<'_>, since: Time) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT DISTINCT node FROM stream_connection WHERE disconnected_at IS NULL AND seen_at < $1";
    tx.query_rows(sql, &[since.into()])
}

/// `before` is the node's incarnation at the last heartbeat.
pub fn record_heartbeat(tx: &mut Tx<'_>, before: i64, node: i64, at: Time) -> Result<u64, Fault> {
    let sql = "UPDATE stream_connection SET seen_at = $1, node = $2 WHERE node IN ($3, $4) AND disconnected_at IS NULL";
    tx.execute(sql, &[at.into(), node.into(), before.into(), node.into()])
}

pub fn list_open_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<StreamConnection>, Fault> {
    let sql = select!(StreamConnection, "WHERE app_id = $1 AND disconnected_at IS NULL ORDER BY id");
    tx.query_rows(sql, &[app.into()])
}

/// Newest first, unless the filter is ascending.
pub fn list_by_app(
    tx: &mut Tx<'_>,
    app: AppId,
    filter: &StreamConnectionFilter,
) -> Result<Vec<StreamConnection>, Fault> {
    macro_rules! page_sql {
        ($state:literal, $order:literal) => {
            select!(
                StreamConnection,
                concat!(
                    "WHERE app_id = $1 AND id > $2 AND id < $3 AND \
                 (CAST($4 AS TEXT) = '' OR CAST($4 AS TEXT) LIKE '%,' || endpoint || ',%') ",
                    $state,
                    " ORDER BY id ",
                    $order,
                    " LIMIT $5"
                )
            )
        };
    }
    let sql = match (filter.open, filter.ascending) {
        (None, false) => page_sql!("", "DESC"),
        (None, true) => page_sql!("", "ASC"),
        (Some(true), false) => page_sql!("AND disconnected_at IS NULL", "DESC"),
        (Some(true), true) => page_sql!("AND disconnected_at IS NULL", "ASC"),
        (Some(false), false) => page_sql!("AND disconnected_at IS NOT NULL", "DESC"),
        (Some(false), true) => page_sql!("AND disconnected_at IS NOT NULL", "ASC"),
    };
    let endpoints = if filter.endpoints.is_empty() { String::new() } else { format!(",{},", filter.endpoints) };
    let args = [app.into(), filter.above.into(), filter.below.into(), (&endpoints).into(), filter.limit.into()];
    tx.query_rows(sql, &args)
}

/// Deletes connections that were closed before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM stream_connection WHERE id IN (SELECT id FROM stream_connection \
               WHERE disconnected_at IS NOT NULL AND disconnected_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
