//! Leases that assign each webhook to one node at a time. Times are the machine's.

use base::{Fault, Time};

use crate::Tx;

/// Acquires or extends a lease; returns false if another node has it. Always true with a single node.
pub fn acquire_lease(tx: &mut Tx<'_>, webhook_id: i64, node: i64, now: Time, until: Time) -> Result<bool, Fault> {
    if !tx.is_shared() {
        return Ok(true);
    }
    let sql = "INSERT INTO webhook_lease (webhook_id, node, until) VALUES ($1, $2, $3) \
               ON CONFLICT (webhook_id) DO UPDATE SET node = excluded.node, until = excluded.until \
               WHERE webhook_lease.node = $4 OR webhook_lease.until <= $5";
    let args = [webhook_id.into(), node.into(), until.into(), node.into(), now.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Extends all leases of a node; returns its webhooks.
pub fn renew_leases(tx: &mut Tx<'_>, node: i64, until: Time) -> Result<Vec<i64>, Fault> {
    if !tx.is_shared() {
        return Ok(Vec::new());
    }
    let sql = "UPDATE webhook_lease SET until = $1 WHERE node = $2";
    tx.execute(sql, &[until.into(), node.into()])?;
    let sql = "SELECT webhook_id FROM webhook_lease WHERE node = $1";
    tx.query_rows(sql, &[node.into()])
}

pub fn release_lease(tx: &mut Tx<'_>, webhook_id: i64, node: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM webhook_lease WHERE webhook_id = $1 AND node = $2";
    tx.execute(sql, &[webhook_id.into(), node.into()]).map(|_| ())
}

/// Releases all leases of a node, at its shutdown and at its start.
pub fn release_node_leases(tx: &mut Tx<'_>, node: i64) -> Result<(), Fault> {
    if !tx.is_shared() {
        return Ok(());
    }
    let sql = "DELETE FROM webhook_lease WHERE node = $1";
    tx.execute(sql, &[node.into()]).map(|_| ())
}
