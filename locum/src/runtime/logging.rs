//! Logging to stderr.

use std::fmt;
use std::io::{IsTerminal, stderr};
use std::panic::PanicHookInfo;

use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

use crate::command_error::CommandError;
use crate::config::{LogFormat, ServerSettings};

/// A second call in one process has no effect.
pub(super) fn start(settings: &ServerSettings) -> Result<(), CommandError> {
    let level = &settings.observe.log_level.0;
    let filter = EnvFilter::try_new(level)
        .map_err(|error| CommandError::Usage(format!("observe.log_level [{level}]: {error}")))?;
    // What cannot be written is lost: reporting it on stderr, which failed, would panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).log_internal_errors(false);
    let started = if settings.observe.log_format == LogFormat::Json {
        log.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
    } else if stderr().is_terminal() {
        log.with_target(false).try_init()
    } else {
        log.with_ansi(false).with_target(false).fmt_fields(debug_fn(write_field).delimited(" ")).try_init()
    };
    drop(started);
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Without colours, which cost a tenth of a short request even where they are switched off.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    if field.name() != "message" {
        return write!(writer, "{field}={value:?}");
    }
    let message = format!("{value:?}");
    // A message must not look like further entries or move the cursor.
    if message.chars().any(char::is_control) {
        write!(writer, "{}", message.escape_debug())
    } else {
        writer.write_str(&message)
    }
}

/// As an entry of the log, which must not contain other lines.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let message = panic.payload_as_str().unwrap_or("no message");
    tracing::error!(target: "panic", location, thread = std::thread::current().name(), "{message}");
}
