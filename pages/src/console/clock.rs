use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;
use base::Time;

#[derive(Template)]
#[template(path = "console/clock.html")]
pub struct ConsoleClockPage {
    pub frame: PageFrame,
    /// `live`, `frozen`, `offset` or `scaled`.
    pub mode: &'static str,
    pub description: String,
    pub now: Time,
    pub machine_time: Time,
    pub by: FormField,
    pub time: FormField,
    pub factor: FormField,
    /// Earliest first.
    pub due: Vec<DueItem>,
    pub report: Option<ClockReportItem>,
}

pub struct DueItem {
    pub what: String,
    pub at: Time,
}

/// What the last movement of the clock caused.
pub struct ClockReportItem {
    pub from: Time,
    pub to: Time,
    pub steps: usize,
    pub events: i64,
    pub milliseconds: u128,
    pub jobs: Vec<(String, u64)>,
    pub notes: Vec<String>,
}

impl ConsoleClockPage {
    const SECTION: &'static str = "Clock";
}

html_page!(ConsoleClockPage, |_| "Clock".to_owned(), |page| vec![
    ("by", &page.by),
    ("time", &page.time),
    ("factor", &page.factor)
]);
