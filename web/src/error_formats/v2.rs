//! v2 problem documents: the problem itself, repeated under `errors` for clients that look there
//! (contract core §3.1).

use base::Refusal;
use base::refusal::{AuthenticationProblem, InvalidParameter, RefusalKind, ResourceRef, StreamConnectionRefusal};
use serde_json::{Map, Value, json};

use super::{ErrorContext, codes, refusal_code, refusal_status, status_reason};
use crate::reply::{HttpReply, PROBLEM_JSON};

const INVALID_DETAIL: &str = "One or more parameters to your request was invalid.";
const NOT_ENROLLED_DETAIL: &str = "This request must be made using an approved developer account that is \
    enrolled in the requested endpoint. Learn more by visiting our documentation.";
const ACCESS_LEVEL_DETAIL: &str = "Your client app is not configured with the appropriate oauth1 app \
    permissions for this endpoint.";
const REGISTRATION_URL: &str = "https://developer.x.com/en/docs/projects/overview";

/// The type is `about:blank` if absent.
struct ProblemDocument {
    problem_type: Option<&'static str>,
    title: &'static str,
    detail: String,
    extra_members: Vec<(&'static str, Value)>,
}

pub(super) fn render(refusal: &Refusal, context: ErrorContext<'_>) -> HttpReply {
    let status = match refusal {
        // Elsewhere it is 401, as published.
        Refusal::Unauthenticated(AuthenticationProblem::App) => 403,
        _ => refusal_status(refusal),
    };
    let problem = build_problem(refusal, status, context);
    let members = problem.to_members(Some(status), context);
    let errors: Vec<Value> = match refusal {
        Refusal::InvalidParameters(parameters) => {
            parameters.iter().map(|parameter_error| add_parameter_error(members.clone(), parameter_error)).collect()
        }
        Refusal::NamedReason { parameter, value, message, .. } => {
            let parameter_error = InvalidParameter {
                parameter: (*parameter).into(),
                values: vec![value.clone()],
                message: message.to_string(),
            };
            vec![add_parameter_error(add_legacy_code(members.clone(), refusal), &parameter_error)]
        }
        _ => vec![Value::Object(add_legacy_code(members.clone(), refusal))],
    };
    render_document(status, members, errors)
}

/// Says no more than the status does.
pub(super) fn render_status(status: u16, context: ErrorContext<'_>) -> HttpReply {
    let problem = ProblemDocument::blank_for_status(status);
    let members = problem.to_members(Some(status), context);
    render_document(status, members.clone(), vec![Value::Object(members)])
}

pub(super) fn render_partial_error(refusal: &Refusal, context: ErrorContext<'_>) -> Value {
    Value::Object(build_problem(refusal, refusal_status(refusal), context).to_members(None, context))
}

fn render_document(status: u16, mut members: Map<String, Value>, errors: Vec<Value>) -> HttpReply {
    members.insert("errors".to_owned(), Value::Array(errors));
    HttpReply::bytes(status, PROBLEM_JSON, Value::Object(members).to_string())
}

fn add_parameter_error(mut item: Map<String, Value>, parameter_error: &InvalidParameter) -> Value {
    item.insert("message".to_owned(), json!(parameter_error.message));
    let mut parameters = Map::new();
    if !parameter_error.parameter.is_empty() {
        parameters.insert(parameter_error.parameter.to_string(), json!(parameter_error.values));
        item.insert("parameter".to_owned(), json!(parameter_error.parameter));
    }
    item.insert("parameters".to_owned(), Value::Object(parameters));
    if let Some(value) = parameter_error.values.first() {
        item.insert("value".to_owned(), json!(value));
    }
    Value::Object(item)
}

fn add_legacy_code(mut item: Map<String, Value>, refusal: &Refusal) -> Map<String, Value> {
    if let Some(code) = refusal_code(refusal) {
        let message = match refusal {
            Refusal::Forbidden { detail, .. } => detail,
            Refusal::Legacy { message, .. } => message.as_ref(),
            _ => codes::find_code(code).map_or("", |(_, message)| message),
        };
        item.insert("code".to_owned(), json!(code));
        item.insert("message".to_owned(), json!(message));
    }
    item
}

impl ProblemDocument {
    fn blank_for_status(status: u16) -> Self {
        Self::blank_with_detail(status, status_reason(status))
    }

    fn blank_with_detail(status: u16, detail: impl Into<String>) -> Self {
        Self { problem_type: None, title: status_reason(status), detail: detail.into(), extra_members: Vec::new() }
    }

    fn new(kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self { problem_type: Some(kind), title, detail: detail.into(), extra_members: Vec::new() }
    }

    fn add_resource(mut self, subject: &ResourceRef) -> Self {
        let ResourceRef { resource, parameter, value, included } = subject;
        let resource_members = [
            ("resource_type", json!(resource)),
            ("resource_id", json!(value)),
            ("parameter", json!(parameter)),
            ("value", json!(value)),
            ("section", json!(if *included { "includes" } else { "data" })),
        ];
        self.extra_members.extend(resource_members);
        self
    }

    fn add_member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.extra_members.push((name, value.into()));
        self
    }

    fn to_members(&self, status: Option<u16>, context: ErrorContext<'_>) -> Map<String, Value> {
        let kind = match self.problem_type {
            None => "about:blank".to_owned(),
            Some(kind) => format!("{}/2/problems/{kind}", context.problem_base),
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
        for (name, value) in &self.extra_members {
            members.insert((*name).to_owned(), value.clone());
        }
        members
    }
}

fn build_problem(refusal: &Refusal, status: u16, context: ErrorContext<'_>) -> ProblemDocument {
    match refusal {
        Refusal::InvalidParameters(_) => ProblemDocument::new("invalid-request", "Invalid Request", INVALID_DETAIL),
        Refusal::NotFound(subject) => not_found_problem(subject),
        Refusal::NotVisible(subject) => not_visible_problem(subject),
        Refusal::Suspended(subject) => {
            let detail = format!("User has been suspended: [{}].", subject.value);
            ProblemDocument::new("resource-not-found", "Forbidden", detail).add_resource(subject)
        }
        Refusal::FieldNotVisible { field, subject } => {
            let (resource_name, value) = (resource_display_name(subject.resource), &subject.value);
            let detail = format!(
                "Sorry, you are not authorized to access '{field}' on the {resource_name} with id : [{value}]."
            );
            let title = "Field Authorization Error";
            let problem = ProblemDocument::new("not-authorized-for-field", title, detail);
            problem.add_resource(subject).add_member("field", field.as_ref())
        }
        Refusal::WrongCredential { used, accepted } => {
            // The public service's text has two spaces here.
            let detail = format!(
                "Authenticating with {used} is forbidden for this endpoint.  Supported \
                 authentication types are [{accepted}]."
            );
            ProblemDocument::new("unsupported-authentication", "Unsupported Authentication", detail)
        }
        Refusal::InsufficientAccessLevel => {
            ProblemDocument::new("oauth1-permissions", "Forbidden", ACCESS_LEVEL_DETAIL)
        }
        Refusal::NotEnrolled { required } => {
            client_forbidden_problem(NOT_ENROLLED_DETAIL, context).add_member("required_enrollment", *required)
        }
        Refusal::Unauthenticated(AuthenticationProblem::App) => {
            client_forbidden_problem("The app is suspended.", context)
        }
        Refusal::Forbidden { detail, .. } => ProblemDocument::blank_with_detail(status, detail.as_ref()),
        Refusal::Legacy { message, .. } => ProblemDocument::blank_with_detail(status, message.as_ref()),
        Refusal::OAuth2 { description, .. } => ProblemDocument::blank_with_detail(status, description.as_ref()),
        Refusal::RuleLimitReached { .. } | Refusal::InvalidRule { .. } | Refusal::DuplicateRule { .. } => {
            rule_problem(refusal)
        }
        Refusal::Connection(reason) => connection_problem(*reason),
        Refusal::NamedReason { kind, message, .. } => custom_problem(*kind, message, status),
        Refusal::NotImplemented { operation } => {
            ProblemDocument::blank_with_detail(status, format!("{operation} is declared, but not built yet."))
        }
        Refusal::BodyTooLarge { limit } => {
            ProblemDocument::blank_with_detail(status, format!("The request body is larger than {limit} bytes."))
        }
        Refusal::UnsupportedMediaType { expected } => {
            ProblemDocument::blank_with_detail(status, format!("The request body must be {expected}."))
        }
        Refusal::Unauthenticated(_)
        | Refusal::ScopeMissing
        | Refusal::RateLimited
        | Refusal::AppOnlyTokenRefused
        | Refusal::RouteNotFound
        | Refusal::MethodNotAllowed { .. }
        | Refusal::BodyTimeout
        | Refusal::Unavailable => ProblemDocument::blank_for_status(status),
        Refusal::Ads(declined) => ProblemDocument::blank_with_detail(status, declined.first_message()),
    }
}

fn custom_problem(kind: RefusalKind, message: &str, status: u16) -> ProblemDocument {
    match kind {
        RefusalKind::Invalid => ProblemDocument::new("invalid-request", "Invalid Request", INVALID_DETAIL),
        RefusalKind::NotFound => ProblemDocument::new("resource-not-found", "Not Found Error", message),
        RefusalKind::Conflict => ProblemDocument::new("conflict", "Conflict", message),
        RefusalKind::Forbidden => ProblemDocument::blank_with_detail(status, message),
    }
}

/// Problems of stream rules (contract core §9.2); those of a single rule have the rule instead of a
/// `detail`.
fn rule_problem(refusal: &Refusal) -> ProblemDocument {
    match refusal {
        Refusal::InvalidRule { value, details, too_long } => {
            let kind = if *too_long { "rule-length" } else { "invalid-rules" };
            ProblemDocument::new(kind, "UnprocessableEntity", "")
                .add_member("value", value.as_str())
                .add_member("details", details.clone())
        }
        Refusal::DuplicateRule { value, id } => ProblemDocument::new("duplicate-rules", "DuplicateRule", "")
            .add_member("value", value.as_str())
            .add_member("id", id.to_string()),
        Refusal::RuleLimitReached { limit } => {
            let detail = format!("An app has at most {limit} rules of this stream.");
            ProblemDocument::new("rule-cap", "RulesCapExceeded", detail)
        }
        _ => ProblemDocument::blank_for_status(400),
    }
}

/// Why an app cannot connect to a stream (contract core §3.2).
fn connection_problem(reason: StreamConnectionRefusal) -> ProblemDocument {
    let (issue, detail) = match reason {
        StreamConnectionRefusal::TooManyConnections => {
            ("TooManyConnections", "This stream is currently at the maximum allowed connection limit.")
        }
        StreamConnectionRefusal::NoRules => {
            ("RuleConfigurationIssue", "Rules must be configured on this stream before connecting.")
        }
    };
    ProblemDocument::new("streaming-connection", "ConnectionException", detail).add_member("connection_issue", issue)
}

fn not_found_problem(subject: &ResourceRef) -> ProblemDocument {
    let ResourceRef { resource, parameter, value, .. } = subject;
    let detail = format!("Could not find {resource} with {parameter}: [{value}].");
    ProblemDocument::new("resource-not-found", "Not Found Error", detail).add_resource(subject)
}

fn not_visible_problem(subject: &ResourceRef) -> ProblemDocument {
    let ResourceRef { resource, parameter, value, .. } = subject;
    let resource_name = resource_display_name(resource);
    let detail = format!("Sorry, you are not authorized to see the {resource_name} with {parameter}: [{value}].");
    ProblemDocument::new("not-authorized-for-resource", "Authorization Error", detail).add_resource(subject)
}

fn client_forbidden_problem(detail: &'static str, context: ErrorContext<'_>) -> ProblemDocument {
    let problem = ProblemDocument::new("client-forbidden", "Client Forbidden", detail)
        .add_member("reason", "client-not-enrolled")
        .add_member("registration_url", REGISTRATION_URL);
    match context.app {
        Some(app) => problem.add_member("client_id", app.to_string()),
        None => problem,
    }
}

fn resource_display_name(resource: &str) -> &str {
    match resource {
        "tweet" => "Tweet",
        "user" => "User",
        "list" => "List",
        "space" => "Space",
        "media" => "Media",
        other => other,
    }
}
