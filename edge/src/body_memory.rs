//! Bounds the memory of request bodies that are being received, which slow clients hold for minutes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::limits::ListenerLimits;

/// Bytes of each body that are not counted, so that most requests take no lock.
const UNCOUNTED_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub(crate) struct BodyMemory {
    max: usize,
    max_per_address: usize,
    used: Mutex<UsedMemory>,
}

#[derive(Debug, Default)]
struct UsedMemory {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

impl BodyMemory {
    pub(crate) fn new(limits: &ListenerLimits) -> Arc<Self> {
        let (max, max_per_address) = (limits.max_body_memory, limits.max_body_memory_per_ip);
        Arc::new(Self { max, max_per_address, used: Mutex::default() })
    }
}

/// What one body takes, until it is dropped.
#[derive(Debug)]
pub(crate) struct BodyMemoryShare {
    memory: Arc<BodyMemory>,
    /// None where requests have no address of their own.
    address: Option<IpAddr>,
    received: usize,
    counted: usize,
}

impl BodyMemoryShare {
    pub(crate) fn new(memory: &Arc<BodyMemory>, address: Option<IpAddr>) -> Self {
        Self { memory: Arc::clone(memory), address, received: 0, counted: 0 }
    }

    /// False if there is no room for them.
    pub(crate) fn count_bytes(&mut self, bytes: usize) -> bool {
        self.received = self.received.saturating_add(bytes);
        let more = self.received.saturating_sub(UNCOUNTED_BYTES).saturating_sub(self.counted);
        if more == 0 {
            return true;
        }
        let mut used = self.memory.used.lock();
        let total = used.total.saturating_add(more);
        let of_address = self.address.map(|address| used.by_address.get(&address).copied().unwrap_or(0));
        let of_address = of_address.map_or(0, |before| before.saturating_add(more));
        if total > self.memory.max || of_address > self.memory.max_per_address {
            return false;
        }
        used.total = total;
        if let Some(address) = self.address {
            used.by_address.insert(address, of_address);
        }
        self.counted = self.counted.saturating_add(more);
        true
    }
}

impl Drop for BodyMemoryShare {
    fn drop(&mut self) {
        if self.counted == 0 {
            return;
        }
        let mut used = self.memory.used.lock();
        used.total = used.total.saturating_sub(self.counted);
        if let Some(address) = self.address
            && let Some(of_address) = used.by_address.get_mut(&address)
        {
            *of_address = of_address.saturating_sub(self.counted);
            if *of_address == 0 {
                used.by_address.remove(&address);
            }
        }
    }
}
