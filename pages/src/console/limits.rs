use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;
use base::Time;

/// What the calls of an app on a day, or of a run, would have cost.
pub struct CostItem {
    /// App and day, or the label of the run.
    pub account: String,
    pub calls: u64,
    /// In US dollars, without the sign.
    pub total: String,
}

pub struct LimitWindowItem {
    /// Method and path.
    pub operation: String,
    /// For example "demo, @ada".
    pub counted_for: String,
    pub seconds: i64,
    pub used: u64,
    pub limit: u64,
    pub resets: Time,
}

impl LimitWindowItem {
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
#[template(path = "console/limits.html")]
pub struct ConsoleLimitsPage {
    pub frame: PageFrame,
    /// `off`, `table`, `relaxed` or `scale`.
    pub mode: &'static str,
    pub factor: FormField,
    /// The most used first.
    pub windows: Vec<LimitWindowItem>,
    pub costs: Vec<CostItem>,
    pub endpoint: FormField,
    pub app: FormField,
    pub user: FormField,
}

impl ConsoleLimitsPage {
    const SECTION: &'static str = "Limits and cost";

    fn is_mode(&self, mode: &str) -> bool {
        self.mode == mode
    }

    pub(crate) const fn modes() -> [(&'static str, &'static str); 4] {
        [
            ("off", "Off: no request is rejected"),
            ("table", "Published limits"),
            ("relaxed", "Published limits, except for reference lists of the Ads API"),
            ("scale", "Published limits, multiplied"),
        ]
    }
}

html_page!(ConsoleLimitsPage, "console_limits", crate::samples::console::limits_states, |_| "Limits and cost"
    .to_owned());
