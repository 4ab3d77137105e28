//! Which requests are meant.

use std::fmt;
use std::str::FromStr;

use base::Time;

use super::JournalEntry;
use crate::request_paths::RequestPaths;

/// All that are set must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    pub method: Option<String>,
    /// A path, a path template or a prefix that ends in `*`; with a method, the route as in `GET /2/users/me`.
    pub path: Option<String>,
    pub operation: Option<String>,
    pub status: Option<StatusFilter>,
    /// An id or a name.
    pub app: Option<String>,
    /// An id; names are resolved before.
    pub user: Option<String>,
    pub label: Option<String>,
    /// The id of the fault rule.
    pub injected_fault: Option<String>,
    /// By the system's clock.
    pub since: Option<Time>,
    /// Appears in the path, query or a body.
    pub text: Option<String>,
}

/// `404`, `4xx` or `failed` (400 and above).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusFilter {
    Exactly(u16),
    /// The first digit.
    Class(u16),
    Failed,
}

impl StatusFilter {
    pub const ACCEPTED: &'static str = "a status such as 404, a class such as 4xx, or `failed`";

    const fn matches(self, status: u16) -> bool {
        match self {
            Self::Exactly(exact) => status == exact,
            Self::Class(digit) => status / 100 == digit,
            Self::Failed => status >= 400,
        }
    }
}

impl FromStr for StatusFilter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "failed" {
            return Ok(Self::Failed);
        }
        let class = text.strip_suffix("xx").and_then(|digit| digit.parse().ok());
        if let Some(digit) = class.filter(|digit| (1..=5).contains(digit)) {
            return Ok(Self::Class(digit));
        }
        let exact = text.parse().ok().filter(|status| (100..=599).contains(status));
        exact.map(Self::Exactly).ok_or(Self::ACCEPTED)
    }
}

impl fmt::Display for StatusFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(status) => write!(f, "{status}"),
            Self::Class(digit) => write!(f, "{digit}xx"),
            Self::Failed => f.write_str("failed"),
        }
    }
}

impl RequestFilter {
    /// Reads `GET /2/users/me`, `/2/users/*` or an operation's id.
    #[must_use]
    pub fn with_route(mut self, route: &str) -> Self {
        match route.trim().split_once(' ') {
            Some((method, path)) => {
                self.method = Some(method.to_ascii_uppercase());
                self.path = Some(path.trim().to_owned());
            }
            None if route.trim().starts_with('/') => self.path = Some(route.trim().to_owned()),
            None => self.operation = Some(route.trim().to_owned()),
        }
        self
    }

    pub fn matches(&self, entry: &JournalEntry) -> bool {
        self.method.as_deref().is_none_or(|method| entry.method().eq_ignore_ascii_case(method))
            && self.path.as_deref().is_none_or(|path| matches_entry_path(path, entry))
            && self.operation.as_deref().is_none_or(|operation| entry.operation == operation)
            && self.status.is_none_or(|status| status.matches(entry.status))
            && self.app.as_deref().is_none_or(|app| is_app(app, entry))
            && self.user.as_deref().is_none_or(|user| entry.user.is_some_and(|id| id.to_string() == user))
            && self.label.as_deref().is_none_or(|label| entry.label.as_deref() == Some(label))
            && self.injected_fault.as_deref().is_none_or(|rule| entry.injected_fault.as_deref() == Some(rule))
            && self.since.is_none_or(|since| entry.received_at >= since)
            && self.text.as_deref().is_none_or(|text| contains_text(text, entry))
    }
}

fn is_app(wanted: &str, entry: &JournalEntry) -> bool {
    entry.app.is_some_and(|id| id.to_string() == wanted || entry.app_name().eq_ignore_ascii_case(wanted))
}

fn matches_entry_path(wanted: &str, entry: &JournalEntry) -> bool {
    let (wanted, query) = wanted.split_once('?').map_or((wanted, None), |(path, query)| (path, Some(query)));
    if query.is_some_and(|query| entry.query() != query) {
        return false;
    }
    let (wanted, is_prefix) = wanted.strip_suffix('*').map_or((wanted, false), |start| (start, true));
    let paths = RequestPaths { sent: entry.path(), templates: &[entry.route] };
    paths.match_wanted(wanted, is_prefix)
}

fn contains_text(text: &str, entry: &JournalEntry) -> bool {
    let is_in_body = |body: &super::RecordedBody| body.text().is_some_and(|body| body.contains(text));
    entry.path().contains(text)
        || entry.query().contains(text)
        || entry.id() == text
        || is_in_body(&entry.request_body)
        || is_in_body(&entry.response_body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_exact_or_a_class() {
        assert_eq!("429".parse(), Ok(StatusFilter::Exactly(429)));
        assert_eq!("4xx".parse(), Ok(StatusFilter::Class(4)));
        assert_eq!("failed".parse(), Ok(StatusFilter::Failed));
        for wrong in ["", "9xx", "xx", "20", "abc", "600"] {
            assert_eq!(wrong.parse::<StatusFilter>(), Err(StatusFilter::ACCEPTED), "{wrong}");
        }
    }
}
