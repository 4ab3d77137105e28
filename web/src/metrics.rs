//! Prometheus metrics. Labels are route templates, never paths or ids.

mod store_collector;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::Fault;
use deliver::streams::Hub;
use edge::{ListenerStats, ListenerStatsSnapshot};
use network::playbacks::PlaybackRecorder;
use network::views::ViewRecorder;
use parking_lot::Mutex;
use post_search::SearchBackend;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use store::Store;
use store::backlog::{self, Backlog};

use store_collector::StoreCollector;

/// Upper bounds in seconds, from a lookup in memory to a slow disk.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Of a request whose client left before the response; no response has it.
pub(crate) const ABANDONED_STATUS: u16 = 499;

/// The search index of this node, among the readers of the event log.
const SEARCH_READER: &str = "search_index";
/// Less than a scrape takes at most by default, which is ten seconds.
const BACKLOG_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabel {
    task: &'static str,
}

#[derive(Clone, Debug)]
struct DurationHistogram;

impl MetricConstructor<Histogram> for DurationHistogram {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BUCKETS)
    }
}

pub struct ServerMetrics {
    registry: Mutex<Registry>,
    backlog: Arc<Mutex<Option<Backlog>>>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabel, Histogram, DurationHistogram>,
    round_trips: Family<RouteLabel, Counter>,
    in_flight: Gauge,
    task_restarts: Family<TaskLabel, Counter>,
    pub panics: Counter,
    pub faults: Counter,
    pub limited: Counter,
    pub locally_counted: Counter,
}

impl Default for ServerMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("locum");
        let requests = Family::default();
        let durations = Family::new_with_constructor(DurationHistogram);
        let round_trips = Family::default();
        let (in_flight, panics) = (Gauge::default(), Counter::default());
        let task_restarts = Family::default();
        let (faults, limited, locally_counted) = (Counter::default(), Counter::default(), Counter::default());
        registry.register("requests", "Requests completed", requests.clone());
        registry.register("request_seconds", "Time from request head to response", durations.clone());
        registry.register("database_round_trips", "Waits of requests for a database server", round_trips.clone());
        registry.register("requests_in_flight", "Requests in flight", in_flight.clone());
        registry.register("panics", "Handlers that panicked", panics.clone());
        registry.register("faults", "Internal errors", faults.clone());
        registry.register("rate_limited", "Calls refused by a rate limit", limited.clone());
        registry.register(
            "rate_limits_counted_locally",
            "Calls not counted over all nodes because the database could not be asked",
            locally_counted.clone(),
        );
        registry.register(
            "background_task_restarts",
            "Background tasks started again after a panic",
            task_restarts.clone(),
        );
        let registry = Mutex::new(registry);
        Self {
            registry,
            backlog: Arc::default(),
            requests,
            durations,
            round_trips,
            in_flight,
            task_restarts,
            panics,
            faults,
            limited,
            locally_counted,
        }
    }
}

/// Counts a request as in flight until it is dropped.
pub struct InFlightGuard(Gauge);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl ServerMetrics {
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.lock());
    }

    pub fn add_listener(&self, name: &'static str, stats: Arc<ListenerStats>) {
        let mut registry = self.registry.lock();
        let registry = registry.sub_registry_with_label(("listener".into(), name.into()));
        registry.register_collector(Box::new(ListenerCollector(stats)));
    }

    pub fn add_streams(&self, hub: Hub) {
        let mut registry = self.registry.lock();
        registry.register_collector(Box::new(StreamCollector(hub)));
    }

    pub fn add_views(&self, views: Arc<ViewRecorder>, playbacks: Arc<PlaybackRecorder>) {
        self.registry.lock().register_collector(Box::new(ViewCollector { views, playbacks }));
    }

    pub fn add_store(&self, store: Arc<Store>) {
        let collector = StoreCollector { store, backlog: Arc::clone(&self.backlog) };
        self.registry.lock().register_collector(Box::new(collector));
    }

    /// Measures the work that waits in the database; without an answer in time, it is not exported.
    pub(crate) async fn refresh_backlog(&self, store: &Store, search: Option<&SearchBackend>) {
        let indexed = search.and_then(SearchBackend::indexed_position);
        let measured = tokio::time::timeout(BACKLOG_TIMEOUT, store.read(|tx| Ok(backlog::load_backlog(tx)?))).await;
        let mut measured = measured.ok().and_then(Result::ok);
        if let (Some(backlog), Some(indexed)) = (&mut measured, indexed) {
            backlog.unread_events.push((SEARCH_READER.to_owned(), backlog.log_end.saturating_sub(indexed).max(0)));
        }
        *self.backlog.lock() = measured;
    }

    /// Exports the task with a count of 0.
    pub fn add_background_task(&self, task: &'static str) {
        self.task_restarts.get_or_create(&TaskLabel { task }).inc_by(0);
    }

    pub fn count_task_restart(&self, task: &'static str) {
        self.task_restarts.get_or_create(&TaskLabel { task }).inc();
    }

    pub fn track_in_flight(&self) -> InFlightGuard {
        self.in_flight.inc();
        InFlightGuard(self.in_flight.clone())
    }

    pub fn record_response(&self, route: &'static str, method: &str, status: u16, duration: Duration) {
        let labels = RequestLabels { route, method: method_label(method), status: status_class(status) };
        self.requests.get_or_create(&labels).inc();
        self.durations.get_or_create(&RouteLabel { route }).observe(duration.as_secs_f64());
    }

    pub fn record_round_trips(&self, route: &'static str, count: u64) {
        if count > 0 {
            self.round_trips.get_or_create(&RouteLabel { route }).inc_by(count);
        }
    }

    pub fn render_text(&self) -> Result<String, Fault> {
        let mut text = String::with_capacity(16 * 1024);
        encode(&mut text, &self.registry.lock()).map_err(Fault::context("writing the metrics"))?;
        Ok(text)
    }
}

/// Unknown methods share one label.
fn method_label(method: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}

const fn status_class(status: u16) -> &'static str {
    match status {
        ..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        ABANDONED_STATUS => "abandoned",
        400..500 => "4xx",
        500.. => "5xx",
    }
}

#[derive(Debug)]
struct ListenerCollector(Arc<ListenerStats>);

impl Collector for ListenerCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let view = self.0.snapshot();
        let (name, help) = ("connections_open", "Connections open now");
        let gauge = ConstGauge::new(i64::try_from(view.open).unwrap_or(i64::MAX));
        gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        for (name, help, count) in listener_counters(&view) {
            let counter = ConstCounter::new(count);
            counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct ViewCollector {
    views: Arc<ViewRecorder>,
    playbacks: Arc<PlaybackRecorder>,
}

impl Collector for ViewCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let [views, playbacks] = [self.views.dropped_count(), self.playbacks.dropped_count()];
        for (name, help, count) in [
            ("views_dropped", "Views of posts not counted because too many waited to be stored", views),
            ("playbacks_dropped", "Playbacks not counted because too many waited to be stored", playbacks),
        ] {
            let counter = ConstCounter::new(count);
            counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct StreamCollector(Hub);

impl Collector for StreamCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let view = self.0.metrics();
        let (name, help) = ("streams_open", "Streams open now");
        let mut open = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (endpoint, count) in view.open {
            let gauge = ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX));
            gauge.encode(open.encode_family(&[("stream", endpoint.name())])?)?;
        }
        let (name, help) = ("streams_ended", "Streams ended");
        let mut ended = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (reason, count) in view.ended {
            let counter = ConstCounter::new(count);
            counter.encode(ended.encode_family(&[("reason", reason.name())])?)?;
        }
        let counts = [
            ("streams_opened", "Streams opened", view.opened),
            ("stream_messages", "Messages sent on streams", view.sent),
            ("stream_messages_dropped", "Messages dropped over the per-second limit", view.dropped),
        ];
        for (name, help, count) in counts {
            let counter = ConstCounter::new(count);
            counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}

fn listener_counters(view: &ListenerStatsSnapshot) -> [(&'static str, &'static str, u64); 18] {
    [
        ("connections_accepted", "Connections accepted", view.accepted),
        ("connections_refused", "Connections refused, too many open", view.refused),
        ("connections_refused_by_address", "Connections refused, too many from one address", view.refused_by_address),
        ("accept_errors", "Failed accepts", view.accept_errors),
        ("heads", "Request heads read", view.requests),
        ("bad_requests", "Requests rejected by the listener", view.bad_requests),
        ("requests_forwarded", "Requests that trusted proxies forwarded for an address", view.forwarded),
        (
            "requests_proxied_without_address",
            "Requests of trusted proxies that name no client",
            view.proxied_without_address,
        ),
        ("forwarding_ignored", "Requests with X-Forwarded-For from untrusted peers", view.forwarding_ignored),
        ("tls_handshakes", "Completed TLS handshakes", view.tls_handshakes),
        ("tls_failures", "Failed or refused TLS handshakes", view.tls_failures),
        ("refused_hosts", "Proxy requests for hosts that are not served", view.refused_hosts),
        ("header_timeouts", "Connections closed while waiting for a request head", view.header_timeouts),
        ("body_timeouts", "Request bodies that timed out", view.body_timeouts),
        ("idle_timeouts", "Idle connections closed", view.idle_timeouts),
        ("write_timeouts", "Connections and HTTP/2 streams whose client stopped reading", view.write_timeouts),
        ("listener_panics", "Panics that reached the listener", view.panics),
        ("connections_aborted", "Connections aborted at shutdown", view.aborted),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ServerMetrics;

    #[test]
    fn inventions_of_clients_do_not_become_series() {
        let metrics = ServerMetrics::default();
        for number in 0..1_000 {
            let method = format!("M{number}");
            metrics.record_response("", &method, 404, Duration::from_micros(7));
        }
        let held = metrics.track_in_flight();
        metrics.record_response("/2/posts/{id}", "GET", 200, Duration::from_millis(3));
        let text = metrics.render_text().unwrap();
        assert!(text.lines().count() < 60, "{text}");
        assert!(text.contains(r#"locum_requests_total{route="/2/posts/{id}",method="GET",status="2xx"} 1"#));
        assert!(text.contains("locum_requests_in_flight 1"));
        drop(held);
        assert!(metrics.render_text().unwrap().contains("locum_requests_in_flight 0"));
    }

    #[test]
    fn a_listeners_counts_are_there() {
        let metrics = ServerMetrics::default();
        metrics.add_listener("public", std::sync::Arc::default());
        let text = metrics.render_text().unwrap();
        assert!(text.contains(r#"locum_connections_accepted_total{listener="public"} 0"#), "{text}");
    }
}
