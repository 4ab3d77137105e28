use crate::page::{HtmlPage, Pager, html_page};
use crate::{FormField, PageFrame, TextDifference, ZonedTime};
use askama::Template;
use base::Time;

/// A request of the journal, as one line.
#[derive(Clone)]
pub struct RecordedRequestLine {
    pub id: String,
    pub path: String,
    pub received_at: Time,
    pub method: String,
    /// The path with the query.
    pub target: String,
    pub status: u16,
    /// With its unit.
    pub duration: String,
    /// Empty if no endpoint matched.
    pub operation: String,
    /// Empty if unknown, as the next two.
    pub app: String,
    pub username: String,
    pub label: String,
    /// The id of the rule.
    pub injected_fault: Option<String>,
}

#[derive(Template)]
#[template(path = "console/request_table.html")]
pub(crate) struct RequestTable<'page> {
    pub(crate) requests: &'page [RecordedRequestLine],
    pub(crate) now: &'page ZonedTime,
}

/// The fields `route`, `status`, `app`, `user`, `label` and `text`.
#[derive(Default)]
pub struct RequestFilterForm {
    pub route: FormField,
    pub status: FormField,
    pub app: FormField,
    pub user: FormField,
    pub label: FormField,
    pub text: FormField,
    pub is_open: bool,
}

#[derive(Template)]
#[template(path = "console/requests.html")]
pub struct ConsoleRequestsPage {
    pub frame: PageFrame,
    pub filter: RequestFilterForm,
    pub requests: Vec<RecordedRequestLine>,
    pub pager: Pager,
    pub archive_path: String,
    /// Of the journal.
    pub stored: usize,
    pub is_enabled: bool,
    pub base_url: String,
}

pub struct RecordedMessage {
    pub headers: Vec<(String, String)>,
    /// Indented if it is JSON.
    pub body: Option<String>,
    /// Why the body is not shown, or only in part.
    pub note: Option<String>,
}

pub struct CausedEventLine {
    pub kind: String,
    pub actor_id: i64,
    pub subject_id: i64,
    pub at: Time,
}

pub struct CausedDeliveryLine {
    pub url: String,
    pub event_id: String,
    pub state: &'static str,
    /// As sentences, newest first.
    pub attempts: Vec<String>,
}

#[derive(Template)]
#[template(path = "console/request.html")]
pub struct ConsoleRequestPage {
    pub frame: PageFrame,
    pub line: RecordedRequestLine,
    pub url: String,
    pub credential: &'static str,
    pub client: String,
    /// In US dollars.
    pub cost: String,
    pub world_time: Time,
    pub parameters: Vec<(String, String)>,
    pub request: RecordedMessage,
    pub response: RecordedMessage,
    pub curl: String,
    /// If the credentials were refused.
    pub explanation_path: Option<String>,
    pub explainer_path: &'static str,
    pub events: Vec<CausedEventLine>,
    pub deliveries: Vec<CausedDeliveryLine>,
    /// Compares with the call of the same endpoint before.
    pub compare_path: Option<String>,
}

/// A part of two requests.
pub struct ComparedPart {
    pub title: &'static str,
    pub first: String,
    pub second: String,
}

/// The fields `a` and `b`.
#[derive(Template)]
#[template(path = "console/request_diff.html")]
pub struct ConsoleRequestDiffPage {
    pub frame: PageFrame,
    pub a: FormField,
    pub b: FormField,
    /// The two requests.
    pub lines: Option<(RecordedRequestLine, RecordedRequestLine)>,
    pub compared: Vec<ComparedPart>,
}

impl RecordedRequestLine {
    pub(crate) const fn badge_kind(&self) -> &'static str {
        match self.status {
            500.. => "bad",
            400.. => "warn",
            _ => "good",
        }
    }
}

impl ComparedPart {
    pub(crate) fn first_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.first, &self.second)
    }

    pub(crate) fn second_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.second, &self.first)
    }
}

impl ConsoleRequestsPage {
    const SECTION: &'static str = "Requests";
}

impl ConsoleRequestPage {
    const SECTION: &'static str = "Requests";
}

impl ConsoleRequestDiffPage {
    const SECTION: &'static str = "Requests";
}

html_page!(ConsoleRequestsPage, |_| "Requests".to_owned(), |page| vec![
    ("status", &page.filter.status),
    ("user", &page.filter.user)
]);
html_page!(ConsoleRequestPage, |page| format!("{} {}", page.line.method, page.line.target));
html_page!(ConsoleRequestDiffPage, |_| "Compare two requests".to_owned(), |page| vec![("a", &page.a), ("b", &page.b)]);
