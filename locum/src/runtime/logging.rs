//! Logging to stderr.

use std::io::{IsTerminal, stderr};
use std::panic::PanicHookInfo;

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
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// As an entry of the log, which must not contain other lines.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let message = panic.payload_as_str().unwrap_or("no message");
    tracing::error!(target: "panic", location, thread = std::thread::current().name(), "{message}");
}
