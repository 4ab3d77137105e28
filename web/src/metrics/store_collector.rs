//! The lease of this node, the queues for its database, and the work that waits in the database.

use std::fmt;
use std::sync::Arc;

use base::Time;
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use store::backlog::Backlog;
use store::nodes::NodeProblem;
use store::{NodeRole, Store};

pub(super) struct StoreCollector {
    pub(super) store: Arc<Store>,
    pub(super) backlog: Arc<Mutex<Option<Backlog>>>,
}

impl fmt::Debug for StoreCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreCollector").field(&self.store.context().node).finish()
    }
}

impl Collector for StoreCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        self.encode_node(&mut encoder)?;
        let (name, help) = ("database_jobs_waiting", "Jobs that wait for a connection to the database");
        let waiting = self.store.count_waiting_jobs();
        let waiting = waiting.into_iter().map(|(queue, count)| (queue, i64::try_from(count).unwrap_or(i64::MAX)));
        encode_family(&mut encoder, (name, help), "queue", waiting)?;
        match &*self.backlog.lock() {
            Some(backlog) => self.encode_backlog(&mut encoder, backlog),
            None => Ok(()),
        }
    }
}

impl StoreCollector {
    fn encode_node(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let node = &self.store.context().node;
        let has_lease = node.problem() != Some(NodeProblem::LeaseLost);
        let (offset, workers) = (node.clock_offset_ms(), i64::try_from(node.worker_count()).unwrap_or(i64::MAX));
        encode_gauge(encoder, ("node_lease_valid", "Whether this node may write"), i64::from(has_lease))?;
        let help = "Milliseconds by which the clock is ahead of the database's";
        encode_gauge(encoder, ("node_clock_offset_ms", help), offset)?;
        encode_gauge(encoder, ("nodes_active", "Nodes that take on work"), workers)?;
        if let Ok(space) = self.store.available_space() {
            let help = "Bytes that can still be written to the data directory";
            encode_gauge(encoder, ("data_available_bytes", help), i64::try_from(space).unwrap_or(i64::MAX))?;
        }
        let own = NodeRole::ALL.map(|role| (role.name(), i64::from(node.has_role(role))));
        encode_family(encoder, ("node_role", "The roles of this node"), "role", own)?;
        let all = |role| i64::try_from(node.count_with_role(role)).unwrap_or(i64::MAX);
        let all = NodeRole::ALL.map(|role| (role.name(), all(role)));
        encode_family(encoder, ("nodes_with_role", "Live nodes with a role, this one included"), "role", all)
    }

    fn encode_backlog(&self, encoder: &mut DescriptorEncoder<'_>, backlog: &Backlog) -> Result<(), fmt::Error> {
        let help = "Committed events that have no number yet, counted up to 10,000";
        encode_gauge(encoder, ("events_unnumbered", help), backlog.unnumbered_events)?;
        let unread = backlog.unread_events.iter().map(|(name, count)| (name.as_str(), *count));
        encode_family(encoder, ("events_unread", "Events that a reader of the log has not read"), "reader", unread)?;
        let help = "Deliveries to webhooks that wait for an attempt, counted up to 10,000";
        encode_gauge(encoder, ("deliveries_waiting", help), backlog.waiting_deliveries)?;
        let now = self.store.context().clock.now();
        let age = |oldest: Option<Time>| oldest.map_or(0, |oldest| now.ms().saturating_sub(oldest.ms()).max(0) / 1_000);
        let help = "Seconds since the oldest of the counted deliveries was queued";
        encode_gauge(encoder, ("oldest_delivery_age_seconds", help), age(backlog.oldest_delivery_at))?;
        let help = "Emails that are not sent yet, counted up to 10,000";
        encode_gauge(encoder, ("emails_waiting", help), backlog.waiting_emails)?;
        let help = "Seconds since the oldest of the counted emails was written";
        encode_gauge(encoder, ("oldest_email_age_seconds", help), age(backlog.oldest_email_at))
    }
}

fn encode_gauge(encoder: &mut DescriptorEncoder<'_>, (name, help): (&str, &str), value: i64) -> Result<(), fmt::Error> {
    ConstGauge::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

fn encode_family<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    label: &'static str,
    values: impl IntoIterator<Item = (&'a str, i64)>,
) -> Result<(), fmt::Error> {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    values
        .into_iter()
        .try_for_each(|(value, number)| ConstGauge::new(number).encode(family.encode_family(&[(label, value)])?))
}
