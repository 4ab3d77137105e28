//! How much of its limits an app has used.

use crate::{AppRef, AppTab, HtmlPage, PageFrame, Pager};
use askama::Template;
use base::Time;

/// One limit.
pub struct UsageWindow {
    /// Method and path.
    pub operation: String,
    /// Whose calls count, in words: "@ada" or "the app".
    pub counted_for: String,
    /// How long the window is, in seconds.
    pub seconds: i64,
    /// Calls used.
    pub used: u64,
    /// Calls allowed.
    pub limit: u64,
    /// When it starts anew.
    pub resets: Time,
}

impl UsageWindow {
    /// Above so many calls the meter warns.
    pub const fn warning_threshold(&self) -> u64 {
        self.limit.saturating_mul(4) / 5
    }

    /// Above so many calls nothing is left.
    pub const fn exhausted_threshold(&self) -> u64 {
        self.limit.saturating_sub(1)
    }

    /// Whether nothing is left.
    pub const fn is_exhausted(&self) -> bool {
        self.used >= self.limit
    }

    /// The window's length in words.
    pub fn duration_label(&self) -> String {
        crate::relative_time::format_duration(self.seconds)
    }
}

/// How much of its limits an app has used.
#[derive(Template)]
#[template(path = "usage.html")]
pub struct AppUsagePage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// Limits with at least one call, fullest first.
    pub windows: Vec<UsageWindow>,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl AppUsagePage {
    const TAB: AppTab = AppTab::Usage;
}

impl HtmlPage for AppUsagePage {
    const NAME: &'static str = "usage";

    fn title(&self) -> String {
        format!("Usage: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::app::app_usage_states()
    }
}
