//! A progress bar on stderr for long-running commands.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::OutputOptions;
use crate::ProgressReporter;

/// Hidden unless a terminal is attached.
#[derive(Clone, Debug)]
pub struct TerminalProgress(ProgressBar);

impl TerminalProgress {
    pub fn new(output: OutputOptions, name: &'static str) -> Self {
        if !output.shows_progress() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner().with_message(name);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl ProgressReporter for TerminalProgress {
    fn report_progress(&self, done: u64, of: Option<u64>) {
        if let Some(total) = of.filter(|total| self.0.length() != Some(*total)) {
            let style = "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
            if let Ok(style) = ProgressStyle::with_template(style) {
                self.0.set_style(style);
            }
            self.0.set_length(total);
        }
        self.0.set_position(done);
    }
}
