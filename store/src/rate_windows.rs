//! Windows of rate limits that the nodes on a database server share. Each node leases some of the calls that are left
//! and gives back what it did not use. The times are the database server's.

use base::{Fault, Time};

use crate::Tx;

/// The part of the calls that are left that a node leases at once.
const LEASE_DIVISOR: i64 = 10;

#[derive(Clone, Copy, Debug)]
pub struct WindowRequest {
    /// Identifies caller, operation and length of the window.
    pub digest: [u8; 32],
    pub limit: u32,
    pub length_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLease {
    /// Calls that the node may allow; 0 if none are left.
    pub granted: u32,
    /// Calls that were granted to all nodes, these included.
    pub used: u32,
    pub resets_in_ms: i64,
    /// The window's end by the clock of the server that keeps it, in milliseconds; identifies the window.
    pub ends_at_ms: i64,
}

/// Leased calls that were not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedCalls {
    pub digest: [u8; 32],
    /// As in [`WindowLease`].
    pub ends_at_ms: i64,
    pub calls: u32,
}

/// Begins the window if there is none. Leases a tenth of the calls that are left, at least one.
pub fn lease(tx: &mut Tx<'_>, request: &WindowRequest) -> Result<WindowLease, Fault> {
    let sql = "INSERT INTO rate_window (digest, used, ends_at) \
               VALUES ($1, 0, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + $2) \
               ON CONFLICT (digest) DO UPDATE SET \
               used = CASE WHEN rate_window.ends_at <= excluded.ends_at - $2 THEN 0 ELSE rate_window.used END, \
               ends_at = CASE WHEN rate_window.ends_at <= excluded.ends_at - $2 THEN excluded.ends_at \
               ELSE rate_window.ends_at END \
               RETURNING used, ends_at - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), ends_at";
    let row: Option<(i64, i64, i64)> = tx.query_row(sql, &[(&request.digest).into(), request.length_ms.into()])?;
    let (used, resets_in_ms, ends_at_ms) =
        row.ok_or_else(|| Fault::new("the window of a rate limit was not stored"))?;
    let left = (i64::from(request.limit) - used).max(0);
    let granted = (left / LEASE_DIVISOR).max(1).min(left);
    if granted > 0 {
        tx.execute_later(
            "UPDATE rate_window SET used = used + $1 WHERE digest = $2",
            &[granted.into(), (&request.digest).into()],
        )?;
    }
    let count = |calls: i64| u32::try_from(calls).unwrap_or(u32::MAX);
    let (granted, used) = (count(granted), count(used + granted));
    Ok(WindowLease { granted, used, resets_in_ms: resets_in_ms.max(0), ends_at_ms })
}

/// Gives back leased calls that were not used. A window that another node has begun meanwhile is left alone.
pub fn give_back(tx: &mut Tx<'_>, unused: &UnusedCalls) -> Result<(), Fault> {
    let sql = "UPDATE rate_window SET used = used - $1 WHERE digest = $2 AND used >= $1 AND ends_at = $3";
    tx.execute_later(sql, &[i64::from(unused.calls).into(), (&unused.digest).into(), unused.ends_at_ms.into()])
}

/// Forgets the calls in a window.
pub fn forget(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM rate_window WHERE digest = $1", &[digest.into()])
}

/// Deletes windows that ended before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time) -> Result<u64, Fault> {
    tx.execute("DELETE FROM rate_window WHERE ends_at < $1", &[before.into()])
}
