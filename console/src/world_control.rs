//! Access of handlers to the control of whole worlds.

use std::sync::Arc;

use base::{Error, Fault};
use emulator::worlds::WorldControl;
use web::request_context::RequestContext;

/// What is done to whole worlds.
pub(crate) fn world_control(call: &RequestContext) -> Result<Arc<dyn WorldControl>, Error> {
    let control = call.emulator()?.worlds.clone();
    control.ok_or_else(|| Fault::new("this server has no control of its worlds").into())
}
