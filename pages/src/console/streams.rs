use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;
use base::Time;

pub struct StreamItem {
    pub id: String,
    pub app: String,
    /// The name of the stream.
    pub endpoint: String,
    /// From 1; 0 if the stream has no partitions.
    pub partition: u8,
    pub since: Time,
    pub sent: u64,
    pub buffered_bytes: usize,
    /// Since the last message or keep-alive.
    pub heartbeat_seconds: i64,
}

impl StreamItem {
    pub fn heartbeat_label(&self) -> String {
        crate::relative_time::format_duration(self.heartbeat_seconds)
    }
}

pub struct EndedStreamItem {
    pub app: String,
    pub endpoint: String,
    pub since: Time,
    pub ended: Time,
    pub sent: u64,
    /// As in the connections API.
    pub reason: &'static str,
}

pub struct TrafficItem {
    /// `running`, `finished`, `stopped` or `failed`.
    pub state: &'static str,
    pub rate: u32,
    pub people: usize,
    pub elapsed_seconds: i64,
    /// For example ("posts", 12).
    pub counts: Vec<(&'static str, u64)>,
    pub without_effect: u64,
}

impl TrafficItem {
    pub fn is_running(&self) -> bool {
        self.state == "running"
    }

    pub fn elapsed_label(&self) -> String {
        crate::relative_time::format_duration(self.elapsed_seconds)
    }
}

#[derive(Template)]
#[template(path = "console/streams.html")]
pub struct ConsoleStreamsPage {
    pub frame: PageFrame,
    /// The newest first.
    pub open: Vec<StreamItem>,
    /// The newest first.
    pub ended: Vec<EndedStreamItem>,
    /// What a client may be told.
    pub reasons: Vec<&'static str>,
    /// The current or last run.
    pub traffic: Option<TrafficItem>,
    pub rate: FormField,
    pub seconds: FormField,
    pub seed: FormField,
}

impl ConsoleStreamsPage {
    const SECTION: &'static str = "Streams";

    fn runs_traffic(&self) -> bool {
        self.traffic.as_ref().is_some_and(TrafficItem::is_running)
    }
}

html_page!(ConsoleStreamsPage, |_| "Streams".to_owned());
