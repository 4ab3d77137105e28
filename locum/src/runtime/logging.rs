//! Logging to stderr.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write as _, stderr};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::Fault;
use base::clock::monotonic_now;
use parking_lot::{Condvar, Mutex};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

use instance::command_error::CommandError;
use instance::config::{LogFormat, ServerSettings};

/// What waits for a slow reader of the log; further lines are dropped.
const MAX_WAITING_BYTES: usize = 4 << 20;
const MAX_FLUSH_TIME: Duration = Duration::from_secs(1);

/// Lines for the thread that writes them. A channel of lines would cost a short request 3 % more instructions, since its
/// receiver spins before it sleeps.
static QUEUE: LogQueue = LogQueue { state: Mutex::new(LogState::new()), changed: Condvar::new() };
static DROPPED_LINES: AtomicU64 = AtomicU64::new(0);

struct LogQueue {
    state: Mutex<LogState>,
    changed: Condvar,
}

struct LogState {
    waiting: Vec<u8>,
    is_closed: bool,
    /// Whether all that was taken is written.
    is_written: bool,
}

impl LogState {
    const fn new() -> Self {
        Self { waiting: Vec::new(), is_closed: false, is_written: true }
    }
}

/// Takes one line.
struct QueuedLine;

impl io::Write for QueuedLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = QUEUE.state.lock();
        if state.waiting.len().saturating_add(line.len()) > MAX_WAITING_BYTES {
            DROPPED_LINES.fetch_add(1, Ordering::Relaxed);
        } else {
            state.waiting.extend_from_slice(line);
            QUEUE.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What cannot be written is lost.
fn write_lines() {
    let mut state = QUEUE.state.lock();
    while !state.is_closed || !state.waiting.is_empty() {
        if state.waiting.is_empty() {
            QUEUE.changed.wait(&mut state);
            continue;
        }
        let lines = std::mem::take(&mut state.waiting);
        state.is_written = false;
        drop(state);
        let _lost = stderr().write_all(&lines);
        state = QUEUE.state.lock();
        state.is_written = true;
        QUEUE.changed.notify_all();
    }
}

/// Writes what waits when it is dropped.
pub(crate) struct LogEnd(());

impl Drop for LogEnd {
    fn drop(&mut self) {
        flush();
    }
}

/// Waits until all lines are written, for at most a second. Later ones are lost.
pub(super) fn flush() {
    let until = monotonic_now() + MAX_FLUSH_TIME;
    let mut state = QUEUE.state.lock();
    state.is_closed = true;
    QUEUE.changed.notify_all();
    while (!state.waiting.is_empty() || !state.is_written) && !QUEUE.changed.wait_until(&mut state, until).timed_out() {
    }
}

/// A second call in one process has no effect.
pub(super) fn start(settings: &ServerSettings) -> Result<LogEnd, CommandError> {
    let level = &settings.observe.log_level.0;
    let filter = EnvFilter::try_new(level)
        .map_err(|error| CommandError::Usage(format!("observe.log_level [{level}]: {error}")))?;
    // A reader that stalls must not hold up requests.
    let thread = std::thread::Builder::new().name("log".to_owned()).spawn(write_lines);
    thread.map_err(Fault::context("starting the thread of the log"))?;
    // What cannot be written is lost: reporting it on stderr, which failed, would panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| QueuedLine).log_internal_errors(false);
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
        let (name, help) = ("log_lines_dropped", "Log lines that a slow reader of the log missed");
        let counter = ConstCounter::new(DROPPED_LINES.load(Ordering::Relaxed));
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
