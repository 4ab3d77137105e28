//! The thread that holds this node's number: takes one, renews its lease, and takes one again when the lease is lost.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base::clock::{monotonic_now, wall_time};
use base::{Fault, Rng, Time};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use tokio_postgres::error::SqlState;

use super::PostgresConnection;
use super::client::WaitError;
use super::session::SessionLimits;
use super::tls::ConnectionTarget;
use crate::context::StoreContext;
use crate::meta;
use crate::migrate::{COMPATIBLE_FROM_KEY, CONTRACTION_LOCK, parse_version, schema_version};
use crate::node_roles::NodeRoles;
use crate::nodes::{LEASE_MS, LeaseRenewal, NodeIdentity, NodeProfile, NodePurpose, ServerNode, clock_offset};
use crate::tx::{EngineConnection, Tx};
use crate::value::SqlValue;

const RENEWAL_INTERVAL: Duration = Duration::from_secs(1);
/// A statement about the lease ends before the lease does.
const LEASE_LIMITS: SessionLimits = SessionLimits { statement: Duration::from_secs(2), lock: Duration::from_secs(2) };
/// The first part of the keys of the transaction-level locks that stand for nodes.
const FENCE_LOCK_SPACE: i32 = 7269;

/// The database's time in milliseconds.
macro_rules! database_now {
    () => {
        "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    };
}

macro_rules! claim_sql {
    ($number:literal) => {
        concat!(
            "UPDATE node SET incarnation = $1, host = $2, purpose = $3, draining = $4, roles = $7, address = '', \
             schema_version = $8, started_at = ",
            database_now!(),
            ", until = ",
            database_now!(),
            " + $5 WHERE until <= ",
            database_now!(),
            " AND number = ",
            $number,
            " RETURNING number"
        )
    };
}

/// The preferred number, or else the lowest that no node holds. A locked row is one that another node is taking.
const CLAIM_ANY_SQL: &str = claim_sql!(
    "(SELECT number FROM node WHERE until <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) \
     ORDER BY CASE WHEN number = $6 THEN 0 ELSE 1 END, number LIMIT 1 FOR UPDATE SKIP LOCKED)"
);
/// The number that this node had, unless another one has had it since.
const CLAIM_OWN_SQL: &str = claim_sql!("$6 AND incarnation = $9");
/// A lease that has ended is not renewed, even if nobody has taken the number: others may have acted on its end.
///
/// A row for each server with a lease as it was before, or one without a server; the renewal is repeated in each.
const RENEW_SQL: &str = concat!(
    "WITH renewed AS (UPDATE node SET until = ",
    database_now!(),
    " + $1, address = $4 WHERE number = $2 AND incarnation = $3 AND until > ",
    database_now!(),
    " RETURNING draining, ",
    database_now!(),
    " AS renewed_at) SELECT renewed.draining, renewed.renewed_at, COALESCE(server.incarnation, 0), \
     COALESCE(server.until - renewed.renewed_at, 0), COALESCE(server.draining, 0), COALESCE(server.roles, ''), \
     COALESCE(server.address, '') FROM renewed LEFT JOIN node AS server \
     ON server.purpose = 'server' AND server.until > renewed.renewed_at"
);
const RELEASE_SQL: &str = "UPDATE node SET until = 0 WHERE number = $1 AND incarnation = $2";

/// Its commits do not wait for a standby: without one, all nodes would lose their leases, and with them all reads. A
/// server that is promoted without the latest renewals ends leases early, and every commit asks it for its own.
fn connect(target: &Arc<ConnectionTarget>) -> Result<PostgresConnection, Fault> {
    let mut conn = PostgresConnection::connect(target, LEASE_LIMITS)?;
    conn.batch_execute("SET synchronous_commit = local")?;
    Ok(conn)
}

pub(crate) struct NodeLeaseThread {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl NodeLeaseThread {
    /// Takes a number, `preferred` unless another node holds it.
    pub(crate) fn spawn(
        target: &Arc<ConnectionTarget>,
        preferred: u16,
        purpose: NodePurpose,
        context: &Arc<StoreContext>,
    ) -> Result<Self, Fault> {
        let mut conn = connect(target)?;
        let claimer = NodeClaimer { purpose, draining: false, context: Arc::clone(context) };
        let sent_at = monotonic_now();
        let identity = claimer.claim(&mut conn, CLAIM_ANY_SQL, preferred, None)?;
        let identity = identity.ok_or_else(|| Fault::new("all 1,024 node numbers are in use"))?;
        context.node.record_claim(identity, sent_at, &context.ids);
        let mut holder =
            LeaseHolder { target: Arc::clone(target), claimer, conn: Some(conn), identity, is_lost: false };
        let (stop, stopped) = bounded::<()>(0);
        let run = move || holder.renew_until(&stopped);
        let thread = thread::Builder::new().name("store-node".to_owned()).spawn(run);
        Ok(Self { stop, thread: thread.map_err(Fault::context("starting a thread"))? })
    }

    /// Gives the number back. The last transaction of this node must have ended.
    pub(crate) fn release(self) {
        drop(self.stop);
        // A panic has already been logged.
        drop(self.thread.join());
    }
}

struct LeaseHolder {
    target: Arc<ConnectionTarget>,
    claimer: NodeClaimer,
    conn: Option<PostgresConnection>,
    identity: NodeIdentity,
    is_lost: bool,
}

impl LeaseHolder {
    fn renew_until(&mut self, stopped: &Receiver<()>) {
        loop {
            if let Err(fault) = self.renew_or_reclaim() {
                self.conn = None;
                tracing::warn!(error = %fault, "the lease of this node was not renewed; will retry");
            }
            if stopped.recv_timeout(RENEWAL_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
        if let Err(fault) = self.release() {
            tracing::warn!(error = %fault, "the number of this node was not given back; it is free when its lease ends");
        }
    }

    fn renew_or_reclaim(&mut self) -> Result<(), Fault> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => connect(&self.target)?,
        };
        let node = &self.claimer.context.node;
        if !self.is_lost {
            if let Some(renewal) = self.claimer.renew(&mut conn, self.identity)? {
                node.record_renewal(renewal);
            } else {
                self.is_lost = true;
                node.record_loss();
                tracing::warn!(number = self.identity.number, "the lease of this node was lost");
            }
        }
        if self.is_lost {
            self.claimer.draining = node.is_draining();
            self.identity = self.claimer.reclaim(&mut conn, self.identity)?;
            self.is_lost = false;
            tracing::warn!(number = self.identity.number, "this node has a lease again");
            self.claimer.renew(&mut conn, self.identity)?.into_iter().for_each(|renewal| node.record_renewal(renewal));
        }
        self.conn = Some(conn);
        Ok(())
    }

    fn release(&mut self) -> Result<(), Fault> {
        let Some(conn) = &mut self.conn else {
            return Ok(());
        };
        let args = [i64::from(self.identity.number).into(), self.identity.incarnation.into()];
        conn.exec(RELEASE_SQL, &args).map(|_| ())
    }
}

struct NodeClaimer {
    purpose: NodePurpose,
    draining: bool,
    context: Arc<StoreContext>,
}

impl NodeClaimer {
    /// None if there is no such number. Waits for commits of the number's last holder that are being checked now, so
    /// that none comes later.
    fn claim(
        &self,
        conn: &mut PostgresConnection,
        sql: &str,
        number: u16,
        held: Option<i64>,
    ) -> Result<Option<NodeIdentity>, Fault> {
        let incarnation = i64::from_be_bytes(Rng::Os.random_bytes()?) & i64::MAX;
        let host = host_name();
        let mut args: Vec<SqlValue<'_>> =
            vec![incarnation.into(), host.as_str().into(), self.purpose.name().into(), self.draining.into()];
        let roles = self.purpose.roles().to_names();
        args.extend([SqlValue::from(LEASE_MS), i64::from(number).into(), roles.as_str().into()]);
        args.push(schema_version().into());
        args.extend(held.map(SqlValue::from));
        conn.batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock_shared({CONTRACTION_LOCK})"))?;
        let mut tx = Tx::new(EngineConnection::Postgres(conn), &self.context);
        check_schema(&mut tx)?;
        let taken: Option<i64> = tx.query_row(sql, &args)?;
        if let Some(number) = taken {
            conn.batch_execute(&format!("SELECT pg_advisory_xact_lock({FENCE_LOCK_SPACE}, {number})"))?;
        }
        conn.batch_execute("COMMIT")?;
        let number = taken.and_then(|number| u16::try_from(number).ok());
        Ok(number.map(|number| NodeIdentity { number, incarnation }))
    }

    /// Takes the old number if nobody else has had it, and otherwise another one, whose ids then begin above all
    /// stored ones.
    fn reclaim(&self, conn: &mut PostgresConnection, old: NodeIdentity) -> Result<NodeIdentity, Fault> {
        let mut sent_at = monotonic_now();
        let mut claimed = self.claim(conn, CLAIM_OWN_SQL, old.number, Some(old.incarnation))?;
        if claimed.is_none() {
            sent_at = monotonic_now();
            claimed = self.claim(conn, CLAIM_ANY_SQL, old.number, None)?;
            let floor = meta::highest_id(&mut Tx::new(EngineConnection::Postgres(conn), &self.context))?;
            self.context.ids.raise_floor(floor);
        }
        let identity = claimed.ok_or_else(|| Fault::new("all 1,024 node numbers are in use"))?;
        self.context.node.record_claim(identity, sent_at, &self.context.ids);
        Ok(identity)
    }

    /// None if the lease has ended.
    fn renew(&self, conn: &mut PostgresConnection, identity: NodeIdentity) -> Result<Option<LeaseRenewal>, Fault> {
        let mut tx = Tx::new(EngineConnection::Postgres(conn), &self.context);
        let (sent_at, sent): (Instant, Time) = (monotonic_now(), wall_time());
        let address = self.context.node.address();
        let mut args: Vec<SqlValue<'_>> = vec![LEASE_MS.into(), i64::from(identity.number).into()];
        args.extend([identity.incarnation.into(), SqlValue::from(address.as_str())]);
        let rows: Vec<RenewalRow> = tx.query_rows(RENEW_SQL, &args)?;
        let Some(((draining, database), _)) = rows.first() else {
            return Ok(None);
        };
        let (draining, clock_offset_ms) = (*draining, clock_offset(sent, *database, wall_time()));
        let received_at = monotonic_now();
        let servers = rows.into_iter().filter_map(|(_, server)| live_server(server, received_at)).collect();
        Ok(Some(LeaseRenewal { identity, sent_at, draining, clock_offset_ms, servers }))
    }
}

/// Whether the node is drained, and the database's time; a server.
type RenewalRow = ((bool, Time), ServerRow);
/// Incarnation, milliseconds until its lease ends, whether it is drained, roles and address.
type ServerRow = (i64, i64, bool, String, String);

/// None if the row has no server.
fn live_server(row: ServerRow, received_at: Instant) -> Option<ServerNode> {
    let (incarnation, ms, draining, roles, address) = row;
    let lasts = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let profile = NodeProfile { roles: NodeRoles::from_names(&roles), address };
    (incarnation != 0).then(|| ServerNode { incarnation, until: received_at + lasts, draining, profile })
}

/// Fails if the schema has become too new for this program, while it had no lease.
fn check_schema(tx: &mut Tx<'_>) -> Result<(), Fault> {
    match parse_version(meta::get(tx, COMPATIBLE_FROM_KEY)?)? {
        Some(version) if version > schema_version() => Err(Fault::new(format!(
            "the database is for programs from schema {version} on; this one knows {}: start a newer program",
            schema_version()
        ))),
        _ => Ok(()),
    }
}

/// With the process id, because several nodes may run on one machine.
fn host_name() -> String {
    let system = rustix::system::uname();
    format!("{}:{}", system.nodename().to_string_lossy(), std::process::id())
}

/// Commits unless the lease of the node has ended. The lock keeps the number from being taken between the check and
/// the commit; it is shared, so that the transactions of a node do not wait for each other.
pub(super) fn commit_sql(node: Option<NodeIdentity>) -> String {
    let Some(NodeIdentity { number, incarnation }) = node else {
        return "COMMIT".to_owned();
    };
    format!(
        "SELECT pg_advisory_xact_lock_shared({FENCE_LOCK_SPACE}, {number}); \
         SELECT 1 / COUNT(*) FROM node WHERE number = {number} AND incarnation = {incarnation} AND until > {}; \
         COMMIT",
        database_now!()
    )
}

/// Whether a commit failed since the lease has ended.
pub(super) fn is_lease_lost(error: &WaitError) -> bool {
    matches!(error, WaitError::Server(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO))
}
