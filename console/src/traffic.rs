//! Traffic of the world's people.

use std::sync::Arc;

use base::Error;
use emulator::traffic::{ActionKind, TrafficOptions, TrafficReport};
use serde_json::{Map, Value, json};
use web::request_context::RequestContext;

/// If nothing is said.
pub(crate) const DEFAULT_SECONDS: i64 = 60;
pub(crate) const DEFAULT_SEED: i64 = 1;

pub(crate) async fn start_traffic(call: &RequestContext, options: TrafficOptions) -> Result<TrafficReport, Error> {
    call.emulator()?.traffic.start(Arc::clone(call.store()), options).await
}

pub(crate) fn report_to_json(report: Option<&TrafficReport>) -> Value {
    let Some(report) = report else { return json!({"state": "idle"}) };
    let counts = ActionKind::ALL.map(|kind| (kind.name().to_owned(), json!(report.counts.of_kind(kind))));
    let mut fields = Map::from_iter(counts);
    fields.extend([
        ("state".to_owned(), json!(report.state.name())),
        ("rate".to_owned(), json!(report.options.rate)),
        ("seconds".to_owned(), json!(report.options.seconds)),
        ("seed".to_owned(), json!(report.options.seed)),
        ("people".to_owned(), json!(report.people)),
        ("started_at".to_owned(), json!(report.started_at.to_string())),
        ("elapsed_ms".to_owned(), json!(u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX))),
        ("actions".to_owned(), json!(report.counts.total())),
        ("without_effect".to_owned(), json!(report.counts.without_effect)),
    ]);
    Value::Object(fields)
}
