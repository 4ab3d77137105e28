//! Counters of one listener.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct AtomicCounter(AtomicU64);

impl AtomicCounter {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn decrement(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[derive(Debug, Default)]
        pub struct ListenerStats {
            $(pub(crate) $name: AtomicCounter),*
        }

        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct ListenerStatsSnapshot {
            $($(#[$doc])* pub $name: u64),*
        }

        impl ListenerStats {
            pub fn snapshot(&self) -> ListenerStatsSnapshot {
                ListenerStatsSnapshot {
                    $($name: self.$name.load()),*
                }
            }
        }
    };
}

counters! {
    /// Connections that are open now.
    open,
    /// Connections so far.
    accepted,
    /// Connections rejected because there were too many in total.
    refused,
    /// Connections rejected because there were too many from one address.
    refused_by_address,
    /// Such as for want of file descriptors.
    accept_errors,
    /// Requests whose head was read.
    requests,
    /// Requests that the edge itself rejected.
    bad_requests,
    /// Requests that trusted proxies forwarded for an address.
    forwarded,
    /// Requests of trusted proxies that name no address, such as their health checks.
    proxied_without_address,
    /// Requests with `x-forwarded-for` from peers that are not trusted; the header was ignored.
    forwarding_ignored,
    /// Completed TLS handshakes.
    tls_handshakes,
    /// TLS handshakes that failed or were refused.
    tls_failures,
    /// Proxy requests for hosts that the listener does not serve.
    refused_hosts,
    header_timeouts,
    body_timeouts,
    idle_timeouts,
    write_timeouts,
    panics,
    /// Connections aborted at the end of the shutdown grace period.
    aborted,
}
