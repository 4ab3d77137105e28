//! Leases that assign each webhook to one node at a time. They last as long as the lease of the node.

use base::Fault;

use crate::Tx;

/// Takes a lease, also from a node whose own has ended; false if a live node has it. Always true with a single node.
pub fn acquire_lease(tx: &mut Tx<'_>, webhook_id: i64, incarnation: i64) -> Result<bool, Fault> {
    if !tx.is_shared() {
        return Ok(true);
    }
    let sql = "INSERT INTO webhook_lease (webhook_id, incarnation) VALUES ($1, $2) \
               ON CONFLICT (webhook_id) DO UPDATE SET incarnation = excluded.incarnation \
               WHERE webhook_lease.incarnation = excluded.incarnation OR NOT EXISTS \
               (SELECT 1 FROM node WHERE node.incarnation = webhook_lease.incarnation \
               AND until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))";
    Ok(tx.execute(sql, &[webhook_id.into(), incarnation.into()])? > 0)
}

/// The webhooks that a node has.
pub fn list_leases(tx: &mut Tx<'_>, incarnation: i64) -> Result<Vec<i64>, Fault> {
    tx.query_rows("SELECT webhook_id FROM webhook_lease WHERE incarnation = $1", &[incarnation.into()])
}

pub fn release_lease(tx: &mut Tx<'_>, webhook_id: i64, incarnation: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM webhook_lease WHERE webhook_id = $1 AND incarnation = $2";
    tx.execute_later(sql, &[webhook_id.into(), incarnation.into()])
}

/// Releases all leases of a node, at its shutdown.
pub fn release_node_leases(tx: &mut Tx<'_>, incarnation: i64) -> Result<(), Fault> {
    if !tx.is_shared() {
        return Ok(());
    }
    let sql = "DELETE FROM webhook_lease WHERE incarnation = $1";
    tx.execute_later(sql, &[incarnation.into()])
}
