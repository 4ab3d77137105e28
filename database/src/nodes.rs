//! Nodes: the processes at work on one database, and the lease by which each holds the number that is part of its ids.
//!
//! Leases end by the database's clock. Without a valid one a node issues no ids, writes nothing and sends nothing;
//! each commit is checked against it in the database as well ([decision 26](../../docs/decisions/0026-node-leases.md)).

use std::time::{Duration, Instant};

use base::id::{IdGenerator, mix_id};
use base::{Fault, Time, clock};
use parking_lot::Mutex;

use crate::node_roles::{NodeRole, NodeRoles};
use crate::{Tx, row, select};

/// How long a number belongs to a node without a renewal, in milliseconds.
pub(crate) const LEASE_MS: i64 = 5_000;
/// How long after its last renewal a node still writes.
const WRITE_TRUST: Duration = Duration::from_secs(4);
/// How long after its last renewal a node still sends to others, who cannot tell that another one does too.
const SEND_TRUST: Duration = Duration::from_millis(2_500);
/// Milliseconds by which a node's clock may differ from the database's.
const MAX_CLOCK_OFFSET_MS: i64 = 1_000;

/// What a process opens a database for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodePurpose {
    Server(NodeRoles),
    Command,
}

impl NodePurpose {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Server(_) => "server",
            Self::Command => "command",
        }
    }

    pub(crate) const fn roles(self) -> NodeRoles {
        match self {
            Self::Server(roles) => roles,
            Self::Command => NodeRoles::NONE,
        }
    }
}

/// Why a node should get no requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeProblem {
    LeaseLost,
    Draining,
    /// Milliseconds by which its clock is ahead of the database's.
    ClockOffset(i64),
}

row! {
    /// A number that is taken, or was when its node was last heard of.
    #[derive(Clone, Debug)]
    pub struct NodeRecord from "node" {
        pub number: i64,
        pub incarnation: i64,
        pub host: String,
        pub purpose: String,
        pub started_at: Time,
        /// On the database's clock.
        pub until: Time,
        pub draining: bool,
        /// Names of roles, separated by commas.
        pub roles: String,
        /// Where other nodes reach it; empty if they do not.
        pub address: String,
        /// The number of migrations that its program knows; 0 in early versions.
        pub schema_version: i64,
        pub has_lease: bool
            as "CAST(until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS INTEGER) * BIGINT '1'",
        pub webhook_count: i64
            as "(SELECT COUNT(*) FROM webhook_lease WHERE webhook_lease.incarnation = node.incarnation)",
    }
}

/// The number of a node, and which of its holders this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeIdentity {
    pub(crate) number: u16,
    pub(crate) incarnation: i64,
}

/// What a server tells the others about itself.
#[derive(Clone, Debug)]
pub(crate) struct NodeProfile {
    pub(crate) roles: NodeRoles,
    /// `host:port`; empty if other nodes cannot reach it.
    pub(crate) address: String,
}

/// A live server that other nodes reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAddress {
    pub incarnation: i64,
    /// `host:port`.
    pub address: String,
}

/// The lease of this process; without a database server there is nothing to lease.
#[derive(Debug)]
pub struct NodeLease {
    state: Mutex<Option<LeaseState>>,
    roles: NodeRoles,
    address: Mutex<String>,
}

#[derive(Clone, Debug)]
struct LeaseState {
    identity: NodeIdentity,
    is_lost: bool,
    /// When the last successful renewal was sent.
    renewed_at: Instant,
    draining: bool,
    /// Milliseconds by which this clock is certainly ahead of the database's; negative if it is behind.
    clock_offset_ms: i64,
    servers: Vec<ServerNode>,
}

/// What a renewal found.
#[derive(Clone, Debug)]
pub(crate) struct LeaseRenewal {
    pub(crate) identity: NodeIdentity,
    pub(crate) sent_at: Instant,
    pub(crate) draining: bool,
    pub(crate) clock_offset_ms: i64,
    pub(crate) servers: Vec<ServerNode>,
}

/// A server with a lease.
#[derive(Clone, Debug)]
pub(crate) struct ServerNode {
    pub(crate) incarnation: i64,
    /// The end of its lease, unless it is renewed.
    pub(crate) until: Instant,
    pub(crate) draining: bool,
    pub(crate) profile: NodeProfile,
}

impl NodeLease {
    pub(crate) fn new(roles: NodeRoles) -> Self {
        Self { state: Mutex::default(), roles, address: Mutex::default() }
    }

    /// `host:port`, which other nodes learn within a second.
    pub fn set_address(&self, address: String) {
        *self.address.lock() = address;
    }

    pub(crate) fn address(&self) -> String {
        self.address.lock().clone()
    }

    pub const fn has_role(&self, role: NodeRole) -> bool {
        self.roles.contains(role)
    }

    /// The other live servers of a role that can be reached, in no particular order.
    pub fn others_with_role(&self, role: NodeRole) -> Vec<NodeAddress> {
        let state = self.state.lock();
        let Some(state) = state.as_ref() else {
            return Vec::new();
        };
        let others = state.live_servers().filter(|server| server.incarnation != state.identity.incarnation);
        let reachable =
            others.filter(|server| server.profile.roles.contains(role) && !server.profile.address.is_empty());
        let address = |server: &ServerNode| server.profile.address.clone();
        reachable.map(|server| NodeAddress { incarnation: server.incarnation, address: address(server) }).collect()
    }

    /// The number of live servers of a role, this one included.
    pub fn count_with_role(&self, role: NodeRole) -> usize {
        let state = self.state.lock();
        let alone = || usize::from(self.has_role(role));
        state.as_ref().map_or_else(alone, |state| {
            state.live_servers().filter(|server| server.profile.roles.contains(role)).count()
        })
    }

    /// From here on ids contain this number.
    pub(crate) fn record_claim(&self, identity: NodeIdentity, sent_at: Instant, ids: &IdGenerator) {
        ids.set_node(identity.number);
        let (draining, clock_offset_ms) =
            self.state.lock().as_ref().map_or((false, 0), |state| (state.draining, state.clock_offset_ms));
        let state = LeaseState {
            identity,
            is_lost: false,
            renewed_at: sent_at,
            draining,
            clock_offset_ms,
            servers: Vec::new(),
        };
        *self.state.lock() = Some(state);
    }

    pub(crate) fn record_renewal(&self, renewal: LeaseRenewal) {
        if let Some(state) = self.state.lock().as_mut().filter(|state| state.identity == renewal.identity) {
            state.renewed_at = renewal.sent_at;
            state.draining = renewal.draining;
            let had_wrong_clock = state.has_wrong_clock();
            state.clock_offset_ms = renewal.clock_offset_ms;
            if state.has_wrong_clock() && !had_wrong_clock {
                let ahead_ms = renewal.clock_offset_ms;
                tracing::error!(ahead_ms, "the clock of this node is wrong; background jobs wait until it is right");
            }
            state.servers = renewal.servers;
        }
    }

    pub(crate) fn record_loss(&self) {
        if let Some(state) = self.state.lock().as_mut() {
            state.is_lost = true;
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.state.lock().as_ref().is_some_and(|state| state.draining)
    }

    /// None without a database server. Fails while the lease is not valid.
    pub(crate) fn identity_for_write(&self) -> Result<Option<NodeIdentity>, Fault> {
        match self.state.lock().as_ref() {
            Some(state) if !state.is_trusted(WRITE_TRUST) => Err(lease_lost()),
            state => Ok(state.map(|state| state.identity)),
        }
    }

    /// 0 without a database server.
    pub fn incarnation(&self) -> i64 {
        self.state.lock().as_ref().map_or(0, |state| state.identity.incarnation)
    }

    /// Whether this node takes on work that any node could do.
    pub fn accepts_work(&self) -> bool {
        self.state.lock().as_ref().is_none_or(|state| state.is_trusted(SEND_TRUST) && !state.draining)
    }

    /// Whether this node may send what it has leased under an incarnation.
    pub fn may_send_as(&self, incarnation: i64) -> bool {
        let is_own = |state: &LeaseState| state.identity.incarnation == incarnation && state.is_trusted(SEND_TRUST);
        self.state.lock().as_ref().is_none_or(is_own)
    }

    /// Whether a piece of work falls to this node. Each falls to one node, and stays with it while that node lives.
    pub fn is_preferred_for(&self, key: i64) -> bool {
        let state = self.state.lock();
        let Some(state) = state.as_ref() else {
            return true;
        };
        let key = mix_id(key).cast_signed();
        let best = state.live_workers().max_by_key(|worker| mix_id(*worker ^ key));
        best == Some(state.identity.incarnation)
    }

    /// The number of nodes that take on work. When it changes, work may fall to another node.
    pub fn worker_count(&self) -> usize {
        self.state.lock().as_ref().map_or(1, |state| state.live_workers().count())
    }

    /// None if requests may come.
    pub fn problem(&self) -> Option<NodeProblem> {
        let state = self.state.lock();
        let state = state.as_ref()?;
        if !state.is_trusted(WRITE_TRUST) {
            Some(NodeProblem::LeaseLost)
        } else if state.draining {
            Some(NodeProblem::Draining)
        } else if state.has_wrong_clock() {
            Some(NodeProblem::ClockOffset(state.clock_offset_ms))
        } else {
            None
        }
    }

    /// Whether jobs that do what is due have to wait, since this node's clock is not the database's.
    pub fn has_wrong_clock(&self) -> bool {
        self.state.lock().as_ref().is_some_and(LeaseState::has_wrong_clock)
    }

    /// Milliseconds by which this clock is ahead of the database's, without what the round trip may account for.
    pub fn clock_offset_ms(&self) -> i64 {
        self.state.lock().as_ref().map_or(0, |state| state.clock_offset_ms)
    }
}

impl LeaseState {
    fn live_servers(&self) -> impl Iterator<Item = &ServerNode> {
        let now = clock::monotonic_now();
        self.servers.iter().filter(move |server| server.until > now)
    }

    /// The incarnations of the servers that take on background work.
    fn live_workers(&self) -> impl Iterator<Item = i64> {
        let takes_work = |server: &&ServerNode| !server.draining && server.profile.roles.contains(NodeRole::Deliver);
        self.live_servers().filter(takes_work).map(|server| server.incarnation)
    }

    const fn has_wrong_clock(&self) -> bool {
        self.clock_offset_ms.abs() > MAX_CLOCK_OFFSET_MS
    }

    fn is_trusted(&self, within: Duration) -> bool {
        !self.is_lost && clock::monotonic_now().duration_since(self.renewed_at) < within
    }
}

pub(crate) fn lease_lost() -> Fault {
    Fault::new("this node's lease on its number is not valid").into_transient()
}

/// The least difference that explains when a question was sent, what the database's clock said, and when its answer
/// came. Positive if this clock is ahead.
pub(crate) fn clock_offset(sent: Time, database: Time, received: Time) -> i64 {
    let ahead = (sent.ms() - database.ms()).max(0);
    let behind = (database.ms() - received.ms()).max(0);
    ahead - behind
}

/// In the order of their numbers: those that hold a lease, and those that lost theirs in the last ten minutes without
/// giving it back. Empty on SQLite, which has one process.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<NodeRecord>, Fault> {
    if !tx.is_shared() {
        return Ok(Vec::new());
    }
    let sql = select!(
        NodeRecord,
        "WHERE until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - 600000 ORDER BY number"
    );
    tx.query_rows(sql, &[])
}

/// Empty on SQLite, which has one process.
pub fn live_incarnations(tx: &mut Tx<'_>) -> Result<Vec<i64>, Fault> {
    if !tx.is_shared() {
        return Ok(Vec::new());
    }
    let sql = "SELECT incarnation FROM node WHERE until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    tx.query_rows(sql, &[])
}

/// Has a node take on no new work until it is started again. False if no server holds this number.
pub fn drain(tx: &mut Tx<'_>, number: i64) -> Result<bool, Fault> {
    if !tx.is_shared() {
        return Ok(false);
    }
    let sql = "UPDATE node SET draining = 1 WHERE number = $1 AND purpose = 'server' \
               AND until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    Ok(tx.execute(sql, &[number.into()])? > 0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use base::{Time, clock};

    use super::{LeaseRenewal, NodeIdentity, NodeLease, NodeProblem, NodeProfile, ServerNode, clock_offset};
    use crate::node_roles::{NodeRole, NodeRoles};

    #[test]
    fn clock_offset_leaves_out_what_the_round_trip_explains() {
        let at = Time::from_ms;
        assert_eq!(clock_offset(at(1000), at(1400), at(2000)), 0);
        assert_eq!(clock_offset(at(1000), at(400), at(2000)), 600);
        assert_eq!(clock_offset(at(1000), at(2400), at(2000)), -400);
    }

    fn lease_among(workers: &[i64], own: i64) -> NodeLease {
        let (lease, identity) = (NodeLease::new(NodeRoles::ALL), NodeIdentity { number: 3, incarnation: own });
        let ids = base::id::IdGenerator::new(base::Clock::System, 0, 0);
        lease.record_claim(identity, clock::monotonic_now(), &ids);
        let until = clock::monotonic_now() + Duration::from_mins(1);
        let profile = |incarnation: i64| NodeProfile { roles: NodeRoles::ALL, address: format!("{incarnation}.node") };
        let server = |incarnation| ServerNode { incarnation, until, draining: false, profile: profile(incarnation) };
        lease.record_renewal(LeaseRenewal {
            identity,
            sent_at: clock::monotonic_now(),
            draining: false,
            clock_offset_ms: 0,
            servers: workers.iter().copied().map(server).collect(),
        });
        lease
    }

    #[test]
    fn work_is_spread_evenly_and_moves_only_to_a_new_node() {
        let (three, four) = ([5_311, 77_013, 900_001], [5_311, 77_013, 900_001, 42]);
        let holders = |workers: &[i64]| -> Vec<i64> {
            let leases: Vec<_> = workers.iter().map(|worker| (*worker, lease_among(workers, *worker))).collect();
            let holder = |key| {
                let mut found = leases.iter().filter(|(_, lease)| lease.is_preferred_for(i64::from(key) << 12));
                let first = found.next().unwrap().0;
                assert!(found.next().is_none(), "one node does it");
                first
            };
            (0..3_000).map(holder).collect()
        };
        let (before, after) = (holders(&three), holders(&four));
        for worker in three {
            let share = before.iter().filter(|holder| **holder == worker).count();
            assert!((900..1_100).contains(&share), "{share} of 3,000");
        }
        for (before, after) in before.iter().zip(&after) {
            assert!(before == after || *after == 42);
        }
    }

    #[test]
    fn work_falls_to_servers_with_the_role_and_questions_go_to_others() {
        let lease = lease_among(&[5, 6, 7], 5);
        let mut state = lease.state.lock();
        for server in &mut state.as_mut().unwrap().servers {
            if server.incarnation != 6 {
                server.profile.roles = [NodeRole::Api, NodeRole::Search].into_iter().collect();
            }
        }
        drop(state);
        assert_eq!((lease.worker_count(), lease.count_with_role(NodeRole::Search)), (1, 3));
        assert!((0..100).all(|key| !lease.is_preferred_for(key)));
        let mut others: Vec<_> = lease.others_with_role(NodeRole::Search).into_iter().map(|one| one.address).collect();
        others.sort();
        assert_eq!(others, ["6.node", "7.node"]);
    }

    #[test]
    fn node_with_a_wrong_clock_says_so_until_it_is_right() {
        let lease = lease_among(&[9], 9);
        for (clock_offset_ms, is_wrong) in [(1_001, true), (-300_000, true), (1_000, false)] {
            lease.state.lock().as_mut().unwrap().clock_offset_ms = clock_offset_ms;
            assert_eq!(lease.has_wrong_clock(), is_wrong);
            assert_eq!(lease.problem(), is_wrong.then_some(NodeProblem::ClockOffset(clock_offset_ms)));
        }
    }

    #[test]
    fn lost_lease_permits_nothing_until_a_number_is_taken_again() {
        let lease = lease_among(&[9], 9);
        assert!(lease.problem().is_none() && lease.may_send_as(9) && lease.accepts_work());
        lease.record_loss();
        assert_eq!(lease.problem(), Some(NodeProblem::LeaseLost));
        assert!(!lease.may_send_as(9) && !lease.accepts_work());
        assert!(lease.identity_for_write().unwrap_err().is_transient());
        let ids = base::id::IdGenerator::new(base::Clock::System, 0, 0);
        let fresh = NodeIdentity { number: 4, incarnation: 10 };
        lease.record_claim(fresh, clock::monotonic_now(), &ids);
        assert_eq!(lease.identity_for_write().unwrap(), Some(fresh));
        assert!(lease.may_send_as(10) && !lease.may_send_as(9));
        assert_eq!(ids.next::<()>().get() >> 12 & 0x3ff, 4);
    }
}
