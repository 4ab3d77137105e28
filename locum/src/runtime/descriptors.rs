//! The limit on open file descriptors.

use rustix::process::{Resource, getrlimit, setrlimit};

/// What macOS allows at most, whatever the hard limit says (`setrlimit(2)`).
const OPEN_MAX: u64 = 10_240;

/// Raises the soft limit to the hard limit, and keeps a quarter of the descriptors, at least 128, for the database, the index, media
/// and outgoing connections: connections above the rest are refused with 503 instead of failing to be accepted.
pub(super) fn bound_connections(limits: edge::ListenerLimits) -> edge::ListenerLimits {
    let mut descriptors = getrlimit(Resource::Nofile);
    descriptors.current = match descriptors.maximum {
        maximum if cfg!(target_os = "macos") => Some(maximum.unwrap_or(OPEN_MAX).min(OPEN_MAX)),
        maximum => maximum,
    };
    let _unchanged = setrlimit(Resource::Nofile, descriptors);
    let Some(available) = getrlimit(Resource::Nofile).current else {
        return limits;
    };
    let max_connections =
        usize::try_from(available.saturating_sub((available / 4).max(128)).max(1)).unwrap_or(usize::MAX);
    if max_connections >= limits.max_connections {
        return limits;
    }
    tracing::warn!(
        descriptors = available,
        max_connections,
        configured = limits.max_connections,
        "too few file descriptors for listen.max_connections; raise the limit (ulimit -n, LimitNOFILE)"
    );
    edge::ListenerLimits { max_connections, ..limits }
}
