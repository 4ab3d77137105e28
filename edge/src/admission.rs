//! Connection limits: how many in total, and how many from one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::body_memory::{BodyMemory, BodyMemoryShare};
use crate::limits::ListenerLimits;
use crate::stats::ListenerStats;

#[derive(Debug)]
pub(crate) struct AdmissionControl {
    max: usize,
    max_per_address: usize,
    trusted_proxies: Vec<IpAddr>,
    open_connections: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
    released: Notify,
    body_memory: Arc<BodyMemory>,
    stats: Arc<ListenerStats>,
}

impl AdmissionControl {
    pub(crate) fn new(limits: &ListenerLimits, stats: Arc<ListenerStats>) -> Arc<Self> {
        Arc::new(Self {
            max: limits.max_connections,
            max_per_address: limits.max_connections_per_ip,
            trusted_proxies: limits.trusted_proxies.clone(),
            open_connections: AtomicUsize::new(0),
            by_address: Mutex::default(),
            released: Notify::new(),
            body_memory: BodyMemory::new(limits),
            stats,
        })
    }

    pub(crate) fn try_admit(self: &Arc<Self>, addr: Option<IpAddr>) -> Option<ConnectionPermit> {
        if self.open_connections.load(Ordering::Acquire) >= self.max {
            self.stats.refused.increment();
            return None;
        }
        let address = match addr.filter(|addr| !self.trusted_proxies.contains(addr)) {
            Some(addr) => Some(self.try_admit_address(addr)?),
            None => None,
        };
        self.open_connections.fetch_add(1, Ordering::AcqRel);
        self.stats.accepted.increment();
        self.stats.open.increment();
        Some(ConnectionPermit { admission: Arc::clone(self), _address: address })
    }

    /// Counts a connection or a request of the address.
    pub(crate) fn try_admit_address(self: &Arc<Self>, addr: IpAddr) -> Option<AddressPermit> {
        let address = client_network(addr);
        let mut by_address = self.by_address.lock();
        let count = by_address.get(&address).copied().unwrap_or(0);
        if count >= self.max_per_address {
            self.stats.refused_by_address.increment();
            return None;
        }
        by_address.insert(address, count + 1);
        Some(AddressPermit { admission: Arc::clone(self), address })
    }

    /// The memory of a body that comes from a client.
    pub(crate) fn body_memory(&self, client: Option<IpAddr>) -> BodyMemoryShare {
        BodyMemoryShare::new(&self.body_memory, client.map(client_network))
    }

    pub(crate) async fn wait_until_empty(&self) {
        loop {
            let mut released = std::pin::pin!(self.released.notified());
            released.as_mut().enable();
            if self.open_connections.load(Ordering::Acquire) == 0 {
                return;
            }
            released.await;
        }
    }
}

#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    admission: Arc<AdmissionControl>,
    _address: Option<AddressPermit>,
}

#[derive(Debug)]
pub(crate) struct AddressPermit {
    admission: Arc<AdmissionControl>,
    address: IpAddr,
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let mut by_address = self.admission.by_address.lock();
        if let Some(count) = by_address.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let admission = &self.admission;
        admission.stats.open.decrement();
        if admission.open_connections.fetch_sub(1, Ordering::AcqRel) == 1 {
            admission.released.notify_waiters();
        }
    }
}

/// What counts as one client: an IPv4 address or the /64 of an IPv6 address.
fn client_network(addr: IpAddr) -> IpAddr {
    match addr {
        IpAddr::V4(_) => addr,
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from(u128::from(v6) & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(max: usize, per_address: usize) -> Arc<AdmissionControl> {
        let limits =
            ListenerLimits { max_connections: max, max_connections_per_ip: per_address, ..ListenerLimits::default() };
        AdmissionControl::new(&limits, Arc::default())
    }

    #[test]
    fn released_connection_makes_room() {
        let admission = admission(3, 2);
        let (one, two): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let first = admission.try_admit(Some(one));
        let _second = admission.try_admit(Some(one)).unwrap();
        assert!(admission.try_admit(Some(one)).is_none());
        let _third = admission.try_admit(Some(two)).unwrap();
        assert!(admission.try_admit(None).is_none());
        drop(first);
        assert!(admission.try_admit(Some(one)).is_some());
        assert_eq!(admission.by_address.lock().len(), 2);
    }

    #[test]
    fn ipv6_network_counts_as_one_client() {
        let admission = admission(9, 1);
        let _first = admission.try_admit(Some("2001:db8::1".parse().unwrap())).unwrap();
        assert!(admission.try_admit(Some("2001:db8::2".parse().unwrap())).is_none());
        assert!(admission.try_admit(Some("2001:db8:0:1::1".parse().unwrap())).is_some());
    }
}
