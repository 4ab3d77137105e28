//! Logging to stderr.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::command_error::CommandError;
use crate::config::{LogFormat, ServerSettings};

/// A second call in one process has no effect.
pub(super) fn start(settings: &ServerSettings) -> Result<(), CommandError> {
    let filter = EnvFilter::try_new(&settings.observe.log_level)
        .map_err(|error| CommandError::Usage(format!("observe.log_level [{}]: {error}", settings.observe.log_level)))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let started = if settings.observe.log_format == LogFormat::Json {
        log.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
    } else {
        log.with_ansi(stderr().is_terminal()).with_target(false).try_init()
    };
    drop(started);
    Ok(())
}
