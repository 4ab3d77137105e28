//! The v2 interface's problem documents, in the one form that every known reader understands:
//! the problem itself, and the same under `errors` (contract §3.1).

use base::Refusal;
use base::refusal::{InvalidParameter, RefusalKind, ResourceRef, StreamConnectionRefusal};
use serde_json::{Map, Value, json};

use super::{Voice, code, codes, name, status};
use crate::reply::{PROBLEM, Reply};

const INVALID: &str = "One or more parameters to your request was invalid.";
const NOT_ENROLLED: &str = "This request must be made using an approved developer account that is \
    enrolled in the requested endpoint. Learn more by visiting our documentation.";
const ACCESS_LEVEL: &str = "Your client app is not configured with the appropriate oauth1 app \
    permissions for this endpoint.";
const REGISTRATION: &str = "https://developer.x.com/en/docs/projects/overview";

/// A problem of one type. Without a type it is `about:blank`.
struct Problem {
    kind: Option<&'static str>,
    title: &'static str,
    detail: String,
    more: Vec<(&'static str, Value)>,
}

pub(super) fn speak(refusal: &Refusal, voice: Voice<'_>) -> Reply {
    let status = status(refusal);
    let problem = problem(refusal, status, voice);
    let whole = problem.members(Some(status), voice);
    let errors: Vec<Value> = match refusal {
        Refusal::InvalidParameters(wrongs) => wrongs
            .iter()
            .map(|wrong| with_wrong(whole.clone(), wrong))
            .collect(),
        Refusal::NamedReason {
            parameter,
            value,
            message,
            ..
        } => {
            let wrong = InvalidParameter {
                parameter: (*parameter).into(),
                values: vec![value.clone()],
                message: message.to_string(),
            };
            vec![with_wrong(with_code(whole.clone(), refusal), &wrong)]
        }
        _ => vec![Value::Object(with_code(whole.clone(), refusal))],
    };
    document(status, whole, errors)
}

pub(super) fn excuse(voice: Voice<'_>) -> Reply {
    let problem = Problem::blank(500);
    let whole = problem.members(Some(500), voice);
    document(500, whole.clone(), vec![Value::Object(whole)])
}

pub(super) fn partial(refusal: &Refusal, voice: Voice<'_>) -> Value {
    Value::Object(problem(refusal, status(refusal), voice).members(None, voice))
}

fn document(status: u16, mut whole: Map<String, Value>, errors: Vec<Value>) -> Reply {
    whole.insert("errors".to_owned(), Value::Array(errors));
    Reply::bytes(status, PROBLEM, Value::Object(whole).to_string())
}

fn with_wrong(mut item: Map<String, Value>, wrong: &InvalidParameter) -> Value {
    item.insert("message".to_owned(), json!(wrong.message));
    let mut parameters = Map::new();
    if !wrong.parameter.is_empty() {
        parameters.insert(wrong.parameter.to_string(), json!(wrong.values));
        item.insert("parameter".to_owned(), json!(wrong.parameter));
    }
    item.insert("parameters".to_owned(), Value::Object(parameters));
    if let Some(value) = wrong.values.first() {
        item.insert("value".to_owned(), json!(value));
    }
    Value::Object(item)
}

fn with_code(mut item: Map<String, Value>, refusal: &Refusal) -> Map<String, Value> {
    if let Some(code) = code(refusal) {
        let message = match refusal {
            Refusal::Forbidden { detail, .. } => detail,
            Refusal::Legacy { message, .. } => message.as_ref(),
            _ => codes::of(code).map_or("", |(_, message)| message),
        };
        item.insert("code".to_owned(), json!(code));
        item.insert("message".to_owned(), json!(message));
    }
    item
}

impl Problem {
    /// A problem that its status says all about.
    fn blank(status: u16) -> Self {
        Self::plain(status, name(status))
    }

    fn plain(status: u16, detail: impl Into<String>) -> Self {
        Self {
            kind: None,
            title: name(status),
            detail: detail.into(),
            more: Vec::new(),
        }
    }

    fn typed(kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: Some(kind),
            title,
            detail: detail.into(),
            more: Vec::new(),
        }
    }

    fn about(mut self, subject: &ResourceRef) -> Self {
        let ResourceRef {
            resource,
            parameter,
            value,
            included,
        } = subject;
        let more = [
            ("resource_type", json!(resource)),
            ("resource_id", json!(value)),
            ("parameter", json!(parameter)),
            ("value", json!(value)),
            (
                "section",
                json!(if *included { "includes" } else { "data" }),
            ),
        ];
        self.more.extend(more);
        self
    }

    fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.more.push((name, value.into()));
        self
    }

    fn members(&self, status: Option<u16>, voice: Voice<'_>) -> Map<String, Value> {
        let kind = match self.kind {
            None => "about:blank".to_owned(),
            Some(kind) => format!("{}/2/problems/{kind}", voice.problem_base),
        };
        let mut members = Map::new();
        members.insert("title".to_owned(), json!(self.title));
        members.insert("type".to_owned(), Value::String(kind));
        if let Some(status) = status {
            members.insert("status".to_owned(), json!(status));
        }
        if !self.detail.is_empty() {
            members.insert("detail".to_owned(), json!(self.detail));
        }
        for (name, value) in &self.more {
            members.insert((*name).to_owned(), value.clone());
        }
        members
    }
}

fn problem(refusal: &Refusal, status: u16, voice: Voice<'_>) -> Problem {
    match refusal {
        Refusal::InvalidParameters(_) => {
            Problem::typed("invalid-request", "Invalid Request", INVALID)
        }
        Refusal::NotFound(subject) => not_found(subject),
        Refusal::NotVisible(subject) => not_visible(subject),
        Refusal::Suspended(subject) => {
            let detail = format!("User has been suspended: [{}].", subject.value);
            Problem::typed("resource-not-found", "Forbidden", detail).about(subject)
        }
        Refusal::FieldNotVisible { field, subject } => {
            let (what, value) = (spoken(subject.resource), &subject.value);
            let detail = format!(
                "Sorry, you are not authorized to access '{field}' on the {what} with id : [{value}]."
            );
            let title = "Field Authorization Error";
            let problem = Problem::typed("not-authorized-for-field", title, detail);
            problem.about(subject).with("field", field.as_ref())
        }
        Refusal::WrongCredential { used, accepted } => {
            // Two spaces stand there in the public service's text.
            let detail = format!(
                "Authenticating with {used} is forbidden for this endpoint.  Supported \
                 authentication types are [{accepted}]."
            );
            Problem::typed(
                "unsupported-authentication",
                "Unsupported Authentication",
                detail,
            )
        }
        Refusal::InsufficientAccessLevel => {
            Problem::typed("oauth1-permissions", "Forbidden", ACCESS_LEVEL)
        }
        Refusal::NotEnrolled { required } => not_enrolled(required, voice),
        Refusal::Forbidden { detail, .. } => Problem::plain(status, detail.as_ref()),
        Refusal::Legacy { message, .. } => Problem::plain(status, message.as_ref()),
        Refusal::OAuth2 { description, .. } => Problem::plain(status, description.as_ref()),
        Refusal::RuleLimitReached { .. }
        | Refusal::InvalidRule { .. }
        | Refusal::DuplicateRule { .. } => of_rules(refusal),
        Refusal::Connection(why) => not_connected(*why),
        Refusal::NamedReason {
            kind: no, message, ..
        } => worded(*no, message, status),
        Refusal::NotImplemented { operation } => Problem::plain(
            status,
            format!("{operation} is declared, but not built yet."),
        ),
        Refusal::BodyTooLarge { limit } => Problem::plain(
            status,
            format!("The request body is larger than {limit} bytes."),
        ),
        Refusal::UnsupportedMediaType { expected } => {
            Problem::plain(status, format!("The request body must be {expected}."))
        }
        Refusal::Unauthenticated(_)
        | Refusal::ScopeMissing
        | Refusal::RateLimited
        | Refusal::AppOnlyTokenRefused
        | Refusal::RouteNotFound
        | Refusal::MethodNotAllowed { .. }
        | Refusal::BodyTimeout
        | Refusal::Unavailable => Problem::blank(status),
        Refusal::Ads(declined) => Problem::plain(status, declined.first_message()),
    }
}

/// A refusal with a sentence of its own.
fn worded(no: RefusalKind, message: &str, status: u16) -> Problem {
    match no {
        RefusalKind::Invalid => Problem::typed("invalid-request", "Invalid Request", INVALID),
        RefusalKind::NotFound => Problem::typed("resource-not-found", "Not Found Error", message),
        RefusalKind::Conflict => Problem::typed("conflict", "Conflict", message),
        RefusalKind::Forbidden => Problem::plain(status, message),
    }
}

/// What is said of a stream's rules (contract §9.2): of a single one no sentence, but the rule.
fn of_rules(refusal: &Refusal) -> Problem {
    match refusal {
        Refusal::InvalidRule {
            value,
            details,
            too_long,
        } => {
            let kind = if *too_long {
                "rule-length"
            } else {
                "invalid-rules"
            };
            Problem::typed(kind, "UnprocessableEntity", "")
                .with("value", value.as_str())
                .with("details", details.clone())
        }
        Refusal::DuplicateRule { value, id } => {
            Problem::typed("duplicate-rules", "DuplicateRule", "")
                .with("value", value.as_str())
                .with("id", id.to_string())
        }
        Refusal::RuleLimitReached { limit: most } => {
            let detail = format!("An app has at most {most} rules of this stream.");
            Problem::typed("rule-cap", "RulesCapExceeded", detail)
        }
        _ => Problem::blank(400),
    }
}

/// Why an app is not connected to a stream (contract §3.2).
fn not_connected(why: StreamConnectionRefusal) -> Problem {
    let (issue, detail) = match why {
        StreamConnectionRefusal::TooManyConnections => (
            "TooManyConnections",
            "This stream is currently at the maximum allowed connection limit.",
        ),
        StreamConnectionRefusal::NoRules => (
            "RuleConfigurationIssue",
            "Rules must be configured on this stream before connecting.",
        ),
    };
    Problem::typed("streaming-connection", "ConnectionException", detail)
        .with("connection_issue", issue)
}

fn not_found(subject: &ResourceRef) -> Problem {
    let ResourceRef {
        resource,
        parameter,
        value,
        ..
    } = subject;
    let detail = format!("Could not find {resource} with {parameter}: [{value}].");
    Problem::typed("resource-not-found", "Not Found Error", detail).about(subject)
}

fn not_visible(subject: &ResourceRef) -> Problem {
    let ResourceRef {
        resource,
        parameter,
        value,
        ..
    } = subject;
    let what = spoken(resource);
    let detail =
        format!("Sorry, you are not authorized to see the {what} with {parameter}: [{value}].");
    Problem::typed("not-authorized-for-resource", "Authorization Error", detail).about(subject)
}

fn not_enrolled(required: &'static str, voice: Voice<'_>) -> Problem {
    let problem = Problem::typed("client-forbidden", "Client Forbidden", NOT_ENROLLED)
        .with("reason", "client-not-enrolled")
        .with("required_enrollment", required)
        .with("registration_url", REGISTRATION);
    match voice.app {
        Some(app) => problem.with("client_id", app.to_string()),
        None => problem,
    }
}

/// A resource as sentences have it.
fn spoken(resource: &str) -> &str {
    match resource {
        "tweet" => "Tweet",
        "user" => "User",
        "list" => "List",
        "space" => "Space",
        "media" => "Media",
        other => other,
    }
}
