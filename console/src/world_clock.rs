//! The clock of the world that a request is for.

use std::sync::Arc;

use base::{Error, Refusal};
use emulator::clock::ClockControl;
use web::request_context::RequestContext;

/// Refused as unavailable before the background jobs have started.
pub(crate) fn find_clock(call: &RequestContext) -> Result<Arc<dyn ClockControl>, Error> {
    Ok(call.emulator()?.clock.find().ok_or(Refusal::Unavailable)?)
}
