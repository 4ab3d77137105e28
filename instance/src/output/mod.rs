//! What commands print: values as text or JSON, and progress.

mod progress;
mod render;
mod reports;

pub use progress::TerminalProgress;
pub use reports::{describe_export, describe_fsck, describe_import, describe_restore};

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::Value;

use crate::command_error::CommandError;

/// Why output is incomplete.
static WRITE_FAILURE: OnceLock<String> = OnceLock::new();

#[derive(Clone, Copy, Debug)]
pub struct OutputOptions {
    pub json: bool,
    pub quiet: bool,
}

impl OutputOptions {
    /// Whether a terminal is attached and output is neither quiet nor JSON.
    pub fn shows_progress(self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }

    pub fn print_value(self, value: &Value) {
        if self.json {
            print_line(&serde_json::to_string_pretty(value).unwrap_or_default());
        } else if !self.quiet {
            print_line(render::render_value(value).trim_end());
        }
    }

    pub fn print_value_or_text(self, value: &Value, text: impl FnOnce() -> String) {
        if self.json {
            self.print_value(value);
        } else {
            self.print_text(&text());
        }
    }

    pub fn print_text(self, text: &str) {
        if !self.quiet {
            print_line(text.trim_end());
        }
    }
}

pub fn print_line(text: &str) {
    record_failure(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Prints a notice or an error, if anybody reads it.
pub fn print_diagnostic(text: &str) {
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

/// Ends this process once nobody reads what it prints. A command that waits for something to print would otherwise notice
/// when it prints the next line, which may be never.
pub fn exit_with_reader() -> Result<(), CommandError> {
    let thread = std::thread::Builder::new().name("stdout".to_owned()).spawn(|| {
        let stdout = std::io::stdout();
        // Errors and hang-ups are always reported.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        if watched.iter().any(|stdout| stdout.revents().intersects(PollFlags::ERR | PollFlags::HUP)) {
            std::process::exit(0);
        }
    });
    thread.map(drop).map_err(|error| CommandError::Failed(format!("watching standard output: {error}")))
}

/// A reader that has seen enough is no failure.
pub fn record_failure(written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _first = WRITE_FAILURE.set(error.to_string());
    }
}

/// Fails if something that was printed could not be written, as on a full disk.
pub fn check_written() -> Result<(), CommandError> {
    match WRITE_FAILURE.get() {
        None => Ok(()),
        Some(error) => Err(CommandError::Failed(format!("the output could not be written: {error}"))),
    }
}
