//! An app's use of its rate limits.

use crate::page::{HtmlPage, html_page};
use crate::{AppRef, AppTab, PageFrame, Pager};
use askama::Template;
use base::Time;

pub struct UsageWindow {
    /// Method and path.
    pub operation: String,
    /// For example "@ada", "the app" or "demo, @ada".
    pub counted_for: String,
    pub seconds: i64,
    pub used: u64,
    pub limit: u64,
    pub resets: Time,
}

impl UsageWindow {
    pub const fn warning_threshold(&self) -> u64 {
        self.limit.saturating_mul(4) / 5
    }

    pub const fn exhausted_threshold(&self) -> u64 {
        self.limit.saturating_sub(1)
    }

    pub const fn is_exhausted(&self) -> bool {
        self.used >= self.limit
    }

    pub fn duration_label(&self) -> String {
        crate::relative_time::format_duration(self.seconds)
    }
}

#[derive(Template)]
#[template(path = "usage.html")]
pub struct AppUsagePage {
    pub frame: PageFrame,
    pub app: AppRef,
    /// Limits with at least one request, the highest usage first.
    pub windows: Vec<UsageWindow>,
    pub pager: Pager,
}

impl AppUsagePage {
    const TAB: AppTab = AppTab::Usage;
}

html_page!(AppUsagePage, |page| format!("Usage: {}", page.app.name));
