//! Connections to streams: those that are open, on whatever node, and those that were.

use base::{AppId, Fault, Time};

use crate::Tx;
use crate::db::SqlRow;

/// A connection as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamConnection {
    /// Its own id.
    pub id: i64,
    /// Its name.
    pub uuid: String,
    /// Whose it is.
    pub app_id: AppId,
    /// The stream's name.
    pub endpoint: String,
    /// Which part of it, from 1.
    pub part: i64,
    /// The node that holds it.
    pub node: i64,
    /// When that node last said so, by the machine's time.
    pub seen_at: Time,
    /// The client's address.
    pub client: String,
    /// When it began.
    pub connected_at: Time,
    /// When it ended, if it has.
    pub disconnected_at: Option<Time>,
    /// Why it ended; empty while it is open.
    pub reason: String,
}

/// Which connections of an app are looked for.
#[derive(Clone, Debug)]
pub struct StreamConnectionFilter {
    /// Only those that are open, or only those that are not.
    pub open: Option<bool>,
    /// Names of streams, comma-separated; empty for all.
    pub endpoints: String,
    /// Only those with a higher id.
    pub above: i64,
    /// Only those with a lower id.
    pub below: i64,
    /// Lowest ids first.
    pub ascending: bool,
    /// At most so many.
    pub limit: i64,
}

macro_rules! columns {
    ($after:expr) => {
        concat!(
            "SELECT id, uuid, app_id, endpoint, part, node, seen_at, client, connected_at, \
             disconnected_at, reason FROM stream_connection ",
            $after
        )
    };
}

fn connection_from_row(row: &SqlRow<'_, '_>) -> Result<StreamConnection, Fault> {
    Ok(StreamConnection {
        id: row.int(0)?,
        uuid: row.text(1)?,
        app_id: row.id(2)?,
        endpoint: row.text(3)?,
        part: row.int(4)?,
        node: row.int(5)?,
        seen_at: row.time(6)?,
        client: row.text(7)?,
        connected_at: row.time(8)?,
        disconnected_at: row.opt_time(9)?,
        reason: row.text(10)?,
    })
}

/// Stores a connection that was opened.
pub fn insert(tx: &mut Tx<'_>, new: &StreamConnection) -> Result<(), Fault> {
    let sql = "INSERT INTO stream_connection (id, uuid, app_id, endpoint, part, node, seen_at, \
               client, connected_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let args = [
        new.id.into(),
        (&new.uuid).into(),
        new.app_id.into(),
        (&new.endpoint).into(),
        new.part.into(),
        new.node.into(),
        new.seen_at.into(),
        (&new.client).into(),
        new.connected_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Says that a connection has ended; false when it is not there or had ended before.
pub fn mark_disconnected(tx: &mut Tx<'_>, id: i64, at: Time, reason: &str) -> Result<bool, Fault> {
    let sql = "UPDATE stream_connection SET disconnected_at = $1, reason = $2 \
               WHERE id = $3 AND disconnected_at IS NULL";
    Ok(tx.execute(sql, &[at.into(), reason.into(), id.into()])? > 0)
}

/// Says that the connections of a node below an id have ended.
pub fn disconnect_node(tx: &mut Tx<'_>, node: i64, below: i64, reason: &str) -> Result<u64, Fault> {
    let sql = "UPDATE stream_connection SET disconnected_at = $1, reason = $2 \
               WHERE node = $3 AND id < $4 AND disconnected_at IS NULL";
    let now = tx.now();
    tx.execute(sql, &[now.into(), reason.into(), node.into(), below.into()])
}

/// Says that the connections have ended whose node has not been seen since a moment.
pub fn disconnect_stale(tx: &mut Tx<'_>, since: Time, reason: &str) -> Result<u64, Fault> {
    let sql = "UPDATE stream_connection SET disconnected_at = $1, reason = $2 \
               WHERE disconnected_at IS NULL AND seen_at < $3";
    let now = tx.now();
    tx.execute(sql, &[now.into(), reason.into(), since.into()])
}

/// Says that a node holds its connections still.
pub fn record_heartbeat(tx: &mut Tx<'_>, node: i64, at: Time) -> Result<u64, Fault> {
    let sql = "UPDATE stream_connection SET seen_at = $1 \
               WHERE node = $2 AND disconnected_at IS NULL";
    tx.execute(sql, &[at.into(), node.into()])
}

/// The open connections of an app, oldest first.
pub fn list_open_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<StreamConnection>, Fault> {
    let sql = columns!("WHERE app_id = $1 AND disconnected_at IS NULL ORDER BY id");
    tx.query_rows(sql, &[app.into()], connection_from_row)
}

/// The connection of a name.
pub fn find_by_uuid(tx: &mut Tx<'_>, uuid: &str) -> Result<Option<StreamConnection>, Fault> {
    tx.query_row(columns!("WHERE uuid = $1"), &[uuid.into()], connection_from_row)
}

/// Connections of an app, newest first, or in the order asked for.
pub fn list_by_app(
    tx: &mut Tx<'_>,
    app: AppId,
    filter: &StreamConnectionFilter,
) -> Result<Vec<StreamConnection>, Fault> {
    macro_rules! sql {
        ($state:literal, $order:literal) => {
            columns!(concat!(
                "WHERE app_id = $1 AND id > $2 AND id < $3 AND \
                 (CAST($4 AS TEXT) = '' OR CAST($4 AS TEXT) LIKE '%,' || endpoint || ',%') ",
                $state,
                " ORDER BY id ",
                $order,
                " LIMIT $5"
            ))
        };
    }
    let sql = match (filter.open, filter.ascending) {
        (None, false) => sql!("", "DESC"),
        (None, true) => sql!("", "ASC"),
        (Some(true), false) => sql!("AND disconnected_at IS NULL", "DESC"),
        (Some(true), true) => sql!("AND disconnected_at IS NULL", "ASC"),
        (Some(false), false) => sql!("AND disconnected_at IS NOT NULL", "DESC"),
        (Some(false), true) => sql!("AND disconnected_at IS NOT NULL", "ASC"),
    };
    let endpoints = if filter.endpoints.is_empty() {
        String::new()
    } else {
        format!(",{},", filter.endpoints)
    };
    let args = [
        app.into(),
        filter.above.into(),
        filter.below.into(),
        (&endpoints).into(),
        filter.limit.into(),
    ];
    tx.query_rows(sql, &args, connection_from_row)
}

/// Forgets some connections that ended before a moment; how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM stream_connection WHERE id IN (SELECT id FROM stream_connection \
               WHERE disconnected_at IS NOT NULL AND disconnected_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
