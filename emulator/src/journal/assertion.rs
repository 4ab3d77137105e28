//! What a test asserts about the requests of the journal: how many match.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Journal, JournalEntry, JsonPath, RecordedBody, RequestFilter};

/// Requests that an outcome names, at most.
const SHOWN_REQUESTS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAssertion {
    pub filter: RequestFilter,
    /// All must hold for a request to count.
    pub request_checks: Vec<BodyCheck>,
    pub response_checks: Vec<BodyCheck>,
    /// At least one, if there is none.
    pub counts: Vec<CountCheck>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyCheck {
    pub path: JsonPath,
    pub condition: BodyCondition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyCondition {
    Exists,
    Missing,
    Equals(Value),
    /// There is a value, and none that equals this one.
    Differs(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountCheck {
    pub comparison: CountComparison,
    pub number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountComparison {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    More,
    Fewer,
}

impl CountComparison {
    pub(super) const SIGNS: [(&str, Self); 7] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("!=", Self::NotEqual),
        ("==", Self::Equal),
        ("=", Self::Equal),
        (">", Self::More),
        ("<", Self::Fewer),
    ];

    const fn holds(self, count: usize, number: usize) -> bool {
        match self {
            Self::Equal => count == number,
            Self::NotEqual => count != number,
            Self::AtLeast => count >= number,
            Self::AtMost => count <= number,
            Self::More => count > number,
            Self::Fewer => count < number,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionOutcome {
    pub passed: bool,
    pub count: usize,
    /// Ids of matching requests, newest first.
    pub request_ids: Vec<String>,
    /// The same requests: id, status, method and target.
    pub matches: Vec<String>,
    /// Of requests of the same route that a status, label or body excludes, those with the same label, app and user first.
    /// Without any, of requests that have everything but the route.
    pub near_misses: Vec<String>,
}

impl RequestAssertion {
    pub fn evaluate(&self, journal: &Journal) -> AssertionOutcome {
        let candidates = journal.list_before(&self.route_filter(), None, usize::MAX);
        let (matching, mut others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|entry| self.matches(entry));
        if matching.is_empty() && others.is_empty() {
            others = journal.list_before(&self.filter_without_route(), None, SHOWN_REQUESTS);
        }
        let sender = self.sender_filter();
        others.sort_by_key(|entry| !sender.matches(entry));
        let count = matching.len();
        let at_least_one = [CountCheck { comparison: CountComparison::AtLeast, number: 1 }];
        let counts = if self.counts.is_empty() { &at_least_one[..] } else { &self.counts };
        AssertionOutcome {
            passed: counts.iter().all(|check| check.comparison.holds(count, check.number)),
            count,
            request_ids: matching.iter().take(SHOWN_REQUESTS).map(|entry| entry.id().to_string()).collect(),
            matches: describe_requests(&matching),
            near_misses: describe_requests(&others),
        }
    }

    fn route_filter(&self) -> RequestFilter {
        RequestFilter {
            method: self.filter.method.clone(),
            path: self.filter.path.clone(),
            operation: self.filter.operation.clone(),
            ..RequestFilter::default()
        }
    }

    fn filter_without_route(&self) -> RequestFilter {
        RequestFilter { method: None, path: None, operation: None, ..self.filter.clone() }
    }

    fn sender_filter(&self) -> RequestFilter {
        let RequestFilter { app, user, label, .. } = self.filter.clone();
        RequestFilter { app, user, label, ..RequestFilter::default() }
    }

    fn matches(&self, entry: &JournalEntry) -> bool {
        self.filter.matches(entry)
            && all_hold(&self.request_checks, &entry.request_body)
            && all_hold(&self.response_checks, &entry.response_body)
    }
}

fn describe_requests(entries: &[Arc<JournalEntry>]) -> Vec<String> {
    let describe =
        |entry: &Arc<JournalEntry>| format!("{} {} {} {}", entry.id(), entry.status, entry.method(), entry.target());
    entries.iter().take(SHOWN_REQUESTS).map(describe).collect()
}

fn all_hold(checks: &[BodyCheck], body: &RecordedBody) -> bool {
    if checks.is_empty() {
        return true;
    }
    let document = body_document(body);
    checks.iter().all(|check| check.holds(&document))
}

/// A form is an object of texts; what is neither JSON nor a form is a text.
fn body_document(body: &RecordedBody) -> Value {
    let Some(text) = body.text() else {
        return Value::Null;
    };
    if let Ok(document) = serde_json::from_str(&text) {
        return document;
    }
    match base::percent::parse_form(&text) {
        Ok(pairs) if text.contains('=') && !text.contains(['{', '\n']) => {
            let members = pairs.into_iter().map(|(name, value)| (name, Value::String(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        _ => Value::String(text),
    }
}

impl BodyCheck {
    fn holds(&self, document: &Value) -> bool {
        let found = self.path.select(document);
        match &self.condition {
            BodyCondition::Exists => !found.is_empty(),
            BodyCondition::Missing => found.is_empty(),
            BodyCondition::Equals(expected) => found.iter().any(|value| is_equal(value, expected)),
            BodyCondition::Differs(other) => !found.is_empty() && !found.iter().any(|value| is_equal(value, other)),
        }
    }
}

/// Ids are texts in JSON: a number equals the text of its digits.
fn is_equal(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            *text == number.to_string()
        }
        (Value::Bool(flag), Value::String(text)) => *text == flag.to_string(),
        _ => value == expected,
    }
}

impl AssertionOutcome {
    pub fn to_json(&self, expression: &str) -> Value {
        json!({
            "check": expression,
            "passed": self.passed,
            "count": self.count,
            "requests": self.request_ids,
            "matches": self.matches,
            "near_misses": self.near_misses,
        })
    }
}
