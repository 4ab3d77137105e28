//! Logging to stderr.

use std::fmt::{self, Write as _};
use std::io::{IsTerminal, stderr};
use std::panic::PanicHookInfo;
use std::sync::OnceLock;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use tracing::field::Field;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

use crate::command_error::CommandError;
use crate::config::{LogFormat, ServerSettings};

/// Lines that wait for a slow reader of the log; further ones are dropped.
const MAX_WAITING_LINES: usize = 10_000;

static DROPPED_LINES: OnceLock<ErrorCounter> = OnceLock::new();
static WRITER: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Writes what waits when it is dropped.
pub(crate) struct LogEnd(());

impl Drop for LogEnd {
    fn drop(&mut self) {
        flush();
    }
}

/// Writes what waits, for at most about a second. Later lines are lost.
pub(super) fn flush() {
    drop(WRITER.lock().take());
}

/// A second call in one process has no effect.
pub(super) fn start(settings: &ServerSettings) -> Result<LogEnd, CommandError> {
    let level = &settings.observe.log_level.0;
    let filter = EnvFilter::try_new(level)
        .map_err(|error| CommandError::Usage(format!("observe.log_level [{level}]: {error}")))?;
    // A reader that stalls must not hold up requests.
    let writer = NonBlockingBuilder::default().buffered_lines_limit(MAX_WAITING_LINES).thread_name("log");
    let (writer, guard) = writer.finish(stderr());
    DROPPED_LINES.get_or_init(|| writer.error_counter());
    WRITER.lock().get_or_insert(guard);
    // What cannot be written is lost: reporting it on stderr, which failed, would panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).log_internal_errors(false);
    let started = if settings.observe.log_format == LogFormat::Json {
        log.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
    } else if stderr().is_terminal() {
        log.with_target(false).try_init()
    } else {
        log.with_ansi(false).with_target(false).fmt_fields(debug_fn(write_field).delimited(" ")).try_init()
    };
    drop(started);
    std::panic::set_hook(Box::new(log_panic));
    Ok(LogEnd(()))
}

#[derive(Debug)]
pub(super) struct DroppedLines;

impl Collector for DroppedLines {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let count = DROPPED_LINES.get().map_or(0, ErrorCounter::dropped_lines);
        let (name, help) = ("log_lines_dropped", "Log lines that a slow reader of the log missed");
        let counter = ConstCounter::new(u64::try_from(count).unwrap_or(u64::MAX));
        counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
    }
}

/// Without colours, which cost a tenth of a short request even where they are switched off.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    match field.name() {
        "message" => write!(ControlEscaper(writer), "{value:?}"),
        // Written by Display, with text that may come from outside. Searching the fields of each request would be slow.
        "error" => {
            write!(writer, "{field}=")?;
            write!(ControlEscaper(writer), "{value:?}")
        }
        _ => write!(writer, "{field}={value:?}"),
    }
}

/// What is logged must not look like further entries or move the cursor.
struct ControlEscaper<'w, 'a>(&'w mut Writer<'a>);

impl fmt::Write for ControlEscaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !text.chars().any(char::is_control) {
            return self.0.write_str(text);
        }
        text.chars().try_for_each(|one| {
            if one.is_control() { write!(self.0, "{}", one.escape_debug()) } else { self.0.write_char(one) }
        })
    }
}

/// As an entry of the log, which must not contain other lines.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let message = panic.payload_as_str().unwrap_or("no message");
    tracing::error!(target: "panic", location, thread = std::thread::current().name(), "{message}");
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use tracing_subscriber::fmt::format::Writer;

    use super::ControlEscaper;

    #[test]
    fn control_characters_of_a_field_are_escaped() {
        let mut text = String::new();
        ControlEscaper(&mut Writer::new(&mut text)).write_str("a\n\u{1b}[2J \"é\"").unwrap();
        assert_eq!(text, r#"a\n\u{1b}[2J "é""#);
    }
}
