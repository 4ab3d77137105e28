use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, UsageWindow};
use askama::Template;

/// What the calls of an app on a day, or of a run, would have cost.
pub struct CostItem {
    /// App and day, or the label of the run.
    pub account: String,
    pub calls: u64,
    /// In US dollars, without the sign.
    pub total: String,
}

#[derive(Template)]
#[template(path = "console/limits.html")]
pub struct ConsoleLimitsPage {
    pub frame: PageFrame,
    /// `off`, `table`, `relaxed` or `scale`.
    pub mode: &'static str,
    pub factor: FormField,
    /// The most used first.
    pub windows: Vec<UsageWindow>,
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

html_page!(ConsoleLimitsPage, |_| "Limits and cost".to_owned());
