//! When the certificate of a production server ends, as a metric.

use std::fmt;

use base::Time;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use web::metrics::ServerMetrics;

use super::PublicProtocols;

impl PublicProtocols {
    /// Measures when the certificate ends, unless the server issues its own.
    pub(crate) fn measure(&self, metrics: &ServerMetrics) {
        let end: Box<dyn Fn() -> Option<Time> + Send + Sync> = match (self.certificates.clone(), self.acme.clone()) {
            (Some(files), _) => Box::new(move || files.end()),
            (None, Some(acme)) => Box::new(move || acme.end()),
            (None, None) => return,
        };
        metrics.register(|registry| registry.register_collector(Box::new(CertificateCollector(end))));
    }
}

struct CertificateCollector(Box<dyn Fn() -> Option<Time> + Send + Sync>);

impl fmt::Debug for CertificateCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CertificateCollector").finish()
    }
}

impl Collector for CertificateCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(end) = (self.0)() else { return Ok(()) };
        let (name, help) = ("tls_certificate_end_seconds", "When the certificate in use ends, in Unix time");
        let encoder = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(end.ms() / 1_000).encode(encoder)
    }
}
