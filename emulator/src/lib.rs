//! What testers have on a development server only: faults, a journal of requests, costs, worlds. A production server
//! constructs no [`Emulator`].

pub mod clients;
pub mod clock;
pub mod costs;
pub mod faults;
pub mod journal;
pub mod live;
mod request_paths;
pub mod traffic;
pub mod worlds;

use std::path::PathBuf;
use std::sync::Arc;

use clients::ClientRegister;
use clock::CurrentClockControl;
use costs::{CostMeter, PricedCall};
use faults::FaultRules;
use journal::{Journal, JournalEntry, ObservedBody, ObservedRequest, RUN_HEADER, is_valid_label};
use live::{LiveTopic, LiveUpdates};
use traffic::TrafficGenerator;
use worlds::WorldControl;

/// The encrypted fact in a world's database that contains the lines of its `dev.env`.
pub const ENVIRONMENT_FACT_KEY: &str = "dev_env";

/// The state of one world's testing tools.
#[derive(Default)]
pub struct Emulator {
    pub journal: Journal,
    pub faults: Arc<FaultRules>,
    pub costs: CostMeter,
    pub clients: ClientRegister,
    /// The certificate authority of the emulated hosts; none if no host is emulated.
    pub ca_file: Option<PathBuf>,
    pub traffic: TrafficGenerator,
    pub live: LiveUpdates,
    /// What needs the whole process: resets, snapshots, other worlds.
    pub worlds: Option<Arc<dyn WorldControl>>,
    pub clock: CurrentClockControl,
}

impl Emulator {
    /// Ends what uses the store of a world that is being closed.
    pub fn leave_world(&self) {
        self.traffic.stop();
        self.clock.clear();
    }

    /// Writes the request into the journal, with its price and the label of its run.
    pub fn record_request(&self, observed: ObservedRequest<'_>) {
        let label = self.run_label(&observed);
        let cost = self.record_cost(&observed, label.as_deref());
        let stores_bodies = self.journal.limits().stores_bodies;
        let mut entry = JournalEntry::from_observed(observed, stores_bodies);
        entry.label = label.map(Into::into);
        entry.cost_micros = cost;
        if !entry.events.is_empty() {
            self.live.publish(LiveTopic::Events);
        }
        self.journal.insert(entry);
        self.live.publish(LiveTopic::Requests);
    }

    /// From the request's header, or else of the only run that is active.
    fn run_label(&self, observed: &ObservedRequest<'_>) -> Option<String> {
        let header = observed.request_headers.get(&RUN_HEADER).and_then(|value| value.to_str().ok());
        match header.filter(|label| is_valid_label(label)) {
            Some(label) => Some(label.to_owned()),
            None => self.journal.run_labels.find_active(observed.received_at),
        }
    }

    fn record_cost(&self, observed: &ObservedRequest<'_>, label: Option<&str>) -> u64 {
        let Some(app) = observed.app else {
            return 0;
        };
        let response_body = match observed.response_body {
            ObservedBody::Full(bytes) => bytes,
            ObservedBody::Stream(_) | ObservedBody::Unknown => &[],
        };
        self.costs.record(&PricedCall {
            operation: observed.operation,
            app,
            app_name: observed.app_name,
            label,
            status: observed.status,
            is_owned: observed.is_app_owner && is_about_user(observed),
            request_body: observed.request_body.unwrap_or_default(),
            response_body,
            at: observed.received_at,
        })
    }
}

/// Whether the path names the authenticated user.
fn is_about_user(observed: &ObservedRequest<'_>) -> bool {
    let Some(user) = observed.user else {
        return false;
    };
    let mut segments = observed.path.split('/');
    segments.any(|segment| segment == "users") && segments.next() == Some(user.to_string().as_str())
}
