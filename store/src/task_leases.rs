//! Leases of tasks that one node at a time does. They last as long as the lease of the node.

use base::Fault;

use crate::Tx;

/// Takes a lease, also from a node whose own has ended; false if a live node has it. Always true with a single node.
pub fn acquire(tx: &mut Tx<'_>, task: &str, incarnation: i64) -> Result<bool, Fault> {
    if !tx.is_shared() {
        return Ok(true);
    }
    let sql = "INSERT INTO task_lease (task, incarnation) VALUES ($1, $2) \
               ON CONFLICT (task) DO UPDATE SET incarnation = excluded.incarnation \
               WHERE task_lease.incarnation = excluded.incarnation OR NOT EXISTS \
               (SELECT 1 FROM node WHERE node.incarnation = task_lease.incarnation \
               AND until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))";
    Ok(tx.execute(sql, &[task.into(), incarnation.into()])? > 0)
}
