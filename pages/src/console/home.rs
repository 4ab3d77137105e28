use crate::console::RecordedRequestLine;
use crate::page::{HtmlPage, html_page};
use crate::{PageFrame, ZonedTime};
use askama::Template;
use base::Time;

#[derive(Template)]
#[template(path = "console/home.html")]
pub struct ConsoleHomePage {
    pub frame: PageFrame,
    /// Newest first, as the other lists.
    pub requests: Vec<RecordedRequestLine>,
    pub attempts: Vec<WebhookAttemptLine>,
    pub events: Vec<WorldEventLine>,
    pub open_streams: usize,
    /// By the clock of the world.
    pub world_time: Time,
    /// `live`, `frozen`, `offset` or `scaled`.
    pub clock_mode: &'static str,
    /// Rules that can still apply.
    pub fault_rules: usize,
    /// Requests of the journal to which a fault was injected.
    pub faulty_requests: usize,
    /// In US dollars, of all apps.
    pub cost_today: String,
    /// Where clients reach the server.
    pub base_url: String,
}

impl ConsoleHomePage {
    fn world_now(&self) -> ZonedTime {
        ZonedTime { at: self.world_time, zone: self.frame.now.zone.clone() }
    }
}

/// An attempt to deliver an event.
pub struct WebhookAttemptLine {
    pub at: Time,
    pub url: String,
    /// 0 without a response.
    pub status: i64,
    pub problem: String,
    pub duration_ms: i64,
}

/// An entry of the event log.
pub struct WorldEventLine {
    pub at: Time,
    pub kind: String,
    pub actor_id: i64,
    pub subject_id: i64,
}

impl WebhookAttemptLine {
    pub(crate) const fn succeeded(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

impl ConsoleHomePage {
    const SECTION: &'static str = "Home";
}

html_page!(ConsoleHomePage, |_| "Console".to_owned());
