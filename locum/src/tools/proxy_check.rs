//! Whether `listen.trusted_proxies` agrees with what the running server receives.

use std::path::Path;

use super::doctor::DoctorFinding;
use instance::command::{ControlEndpoint, get};
use instance::config::ServerSettings;

/// Requests of the public listener since its start.
struct ForwardingCounts {
    forwarded: u64,
    without_address: u64,
    ignored: u64,
}

impl ForwardingCounts {
    /// `None` if no server runs on the directory.
    fn of_running_server(folder: &Path) -> Option<Self> {
        let (status, metrics) = get(&ControlEndpoint::data_folder_socket(folder), "/metrics").ok()?;
        let text = std::str::from_utf8(&metrics).ok().filter(|_| status == 200)?;
        let count = |name: &str| {
            let start = format!("locum_{name}_total{{listener=\"public\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&start)?.parse().ok())
        };
        Some(Self {
            forwarded: count("requests_forwarded")?,
            without_address: count("requests_proxied_without_address")?,
            ignored: count("forwarding_ignored")?,
        })
    }
}

pub(super) fn check_proxies(settings: &ServerSettings) -> DoctorFinding {
    let max = settings.listen.max_connections_per_ip;
    let counts = ForwardingCounts::of_running_server(&settings.core.data_dir);
    if settings.listen.trusted_proxies.is_empty() {
        return match counts {
            Some(ForwardingCounts { ignored, .. }) if ignored > 0 => DoctorFinding::Warning(format!(
                "{ignored} requests had an X-Forwarded-For header, which was ignored: if they came through a proxy, add \
                 its address to listen.trusted_proxies, or all its clients together have {max} connections \
                 (listen.max_connections_per_ip)"
            )),
            _ => DoctorFinding::Healthy(format!(
                "none trusted; each client address may open {max} connections (listen.max_connections_per_ip)"
            )),
        };
    }
    let trusted = settings.listen.trusted_proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match counts {
        Some(ForwardingCounts { forwarded: 0, without_address, .. }) if without_address > 0 => {
            DoctorFinding::Warning(format!(
                "{without_address} requests came from {trusted} and none names its client: unless they are the proxy's \
                 own health checks, let it set X-Forwarded-For, or the server neither limits nor records the addresses \
                 of clients"
            ))
        }
        Some(ForwardingCounts { forwarded: 0, ignored, .. }) if ignored > 0 => DoctorFinding::Warning(format!(
            "no request came from {trusted}, but {ignored} from other addresses had an X-Forwarded-For header, which was \
             ignored: if they came through a proxy, add its address to listen.trusted_proxies"
        )),
        _ => DoctorFinding::Healthy(format!(
            "{trusted} trusted; each address that they forward for may have {max} requests in progress \
             (listen.max_connections_per_ip), besides streams, which count for their app"
        )),
    }
}
