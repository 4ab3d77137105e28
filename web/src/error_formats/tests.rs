use base::refusal::{
    AdsProblem, AuthenticationProblem, InvalidParameter, RefusalKind, ResourceRef, StreamConnectionRefusal,
};
use base::{AppId, Refusal};

use super::{ErrorContext, render, render_internal_error, render_partial_error};
use crate::endpoint::ErrorFormat;

const VOICE: ErrorContext<'_> = ErrorContext { problem_base: "https://api.x.com", app: Some(AppId::new(7)) };

/// One of each.
fn all() -> Vec<Refusal> {
    let mut all = of_the_request();
    all.extend(of_the_credential());
    all.extend(of_the_protocol());
    all
}

fn of_the_request() -> Vec<Refusal> {
    let wrong = |parameter: &'static str, values: &[&str], message: &str| InvalidParameter {
        parameter: parameter.into(),
        values: values.iter().map(ToString::to_string).collect(),
        message: message.to_owned(),
    };
    let subject = || ResourceRef::new("tweet", "ids", 20);
    vec![
        Refusal::InvalidParameters(vec![
            wrong("id", &["x"], "The `id` query parameter value [x] is not valid"),
            wrong("query", &[], "The `query` query parameter can not be empty"),
            wrong("", &[], "Request body must be a JSON object."),
        ]),
        Refusal::NotFound(subject()),
        Refusal::NotVisible(subject()),
        Refusal::Suspended(ResourceRef::new("user", "id", 12)),
        Refusal::FieldNotVisible { field: "non_public_metrics.impression_count".into(), subject: subject() },
        Refusal::forbidden("You are not allowed to update this List."),
        Refusal::forbidden_with_code(187, "You are not allowed to create a Tweet with duplicate content."),
    ]
}

fn of_the_credential() -> Vec<Refusal> {
    vec![
        Refusal::Unauthenticated(AuthenticationProblem::Missing),
        Refusal::Unauthenticated(AuthenticationProblem::Malformed),
        Refusal::Unauthenticated(AuthenticationProblem::Signature),
        Refusal::Unauthenticated(AuthenticationProblem::Token),
        Refusal::Unauthenticated(AuthenticationProblem::Timestamp),
        Refusal::Unauthenticated(AuthenticationProblem::App),
        Refusal::WrongCredential {
            used: "OAuth 2.0 Application-Only",
            accepted: "OAuth 1.0a User Context, OAuth 2.0 User Context".to_owned(),
        },
        Refusal::InsufficientAccessLevel,
        Refusal::ScopeMissing,
        Refusal::NotEnrolled { required: "Academic" },
        Refusal::RateLimited,
        Refusal::AppOnlyTokenRefused,
    ]
}

fn of_the_protocol() -> Vec<Refusal> {
    vec![
        Refusal::Legacy { code: 355, message: "Subscription already exists.".into() },
        Refusal::OAuth2 { error: "invalid_client", description: "Missing valid authorization header".into() },
        Refusal::RuleLimitReached { limit: 1000 },
        Refusal::Connection(StreamConnectionRefusal::TooManyConnections),
        Refusal::Connection(StreamConnectionRefusal::NoRules),
        Refusal::named_reason(RefusalKind::Invalid, "url", "https://example.org", "DuplicateUrlFailed: It is there."),
        Refusal::named_reason(RefusalKind::Forbidden, "webhook_id", 7, "SubscriptionLimitExceeded: No more."),
        Refusal::named_reason(RefusalKind::NotFound, "webhook_id", 7, "WebhookIdInvalid: There is none."),
        Refusal::named_reason(RefusalKind::Conflict, "webhook_id", 7, "ReplayConflictError: One is under way."),
        Refusal::RouteNotFound,
        Refusal::MethodNotAllowed { allowed: "GET, HEAD".to_owned() },
        Refusal::NotImplemented { operation: "GET /2/spaces".to_owned() },
        Refusal::BodyTooLarge { limit: 1024 },
        Refusal::BodyTimeout,
        Refusal::UnsupportedMediaType { expected: "application/json" },
        Refusal::Unavailable,
        AdsProblem::invalid_attribute("objective", "The objective does not suit the campaign").into(),
    ]
}

fn line(refusal: &Refusal, accent: ErrorFormat) -> String {
    let reply = render(accent, refusal, VOICE);
    let kind = reply.headers["content-type"].to_str().unwrap();
    let (kind, charset) = kind.split_once(';').unwrap();
    assert_eq!(charset.trim_start(), "charset=utf-8");
    let more: Vec<String> = ["allow", "retry-after", "connection", "www-authenticate"]
        .iter()
        .filter_map(|name| reply.headers.get(*name).map(|value| format!(" {name}: {}", value.to_str().unwrap())))
        .collect();
    let body = std::str::from_utf8(reply.body.as_bytes().unwrap()).unwrap();
    format!("{} {kind}{}\n{}\n", reply.status, more.concat(), body.replace('\n', " ").trim())
}

fn every(accent: ErrorFormat) -> String {
    all().iter().map(|refusal| line(refusal, accent)).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_refusal_in_v2() {
    insta::assert_snapshot!(every(ErrorFormat::V2));
}

#[test]
fn every_refusal_in_the_legacy_envelope() {
    insta::assert_snapshot!(every(ErrorFormat::Legacy));
}

#[test]
fn every_refusal_in_oauth2() {
    insta::assert_snapshot!(every(ErrorFormat::OAuth2));
}

#[test]
fn every_refusal_in_ads() {
    insta::assert_snapshot!(every(ErrorFormat::Ads));
}

#[test]
fn every_refusal_on_a_page() {
    insta::assert_snapshot!(every(ErrorFormat::Page));
}

#[test]
fn every_partial_error() {
    let subjects = [
        Refusal::InvalidRule {
            value: "(cat".to_owned(),
            details: vec!["missing ')' at '<EOF>' (at position 5)".to_owned()],
            too_long: false,
        },
        Refusal::DuplicateRule { value: "cat".to_owned(), id: 12 },
        Refusal::NotFound(ResourceRef::new("user", "usernames", "nobody")),
        Refusal::NotVisible(ResourceRef::from_expansion("tweet", "pinned_tweet_id", 20)),
        Refusal::Suspended(ResourceRef::new("user", "ids", 12)),
        Refusal::FieldNotVisible {
            field: "non_public_metrics.impression_count".into(),
            subject: ResourceRef::new("tweet", "ids", 20),
        },
    ];
    let lines = subjects.iter().map(|refusal| render_partial_error(refusal, "https://api.x.com").to_string());
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_failure_of_ours_tells_nothing() {
    for accent in [ErrorFormat::V2, ErrorFormat::Legacy, ErrorFormat::OAuth2, ErrorFormat::Ads, ErrorFormat::Page] {
        let reply = render_internal_error(accent, VOICE);
        assert_eq!(reply.status, 500);
        assert!(!reply.body.as_bytes().unwrap().is_empty());
    }
}

#[test]
fn what_a_caller_wrote_is_inert() {
    let evil = "</p><script>\"\r\n";
    let refusal = Refusal::invalid_parameter("x", evil, format!("The value [{evil}] is not valid"));
    let page = render(ErrorFormat::Page, &refusal, VOICE);
    let page = std::str::from_utf8(page.body.as_bytes().unwrap()).unwrap();
    assert!(!page.contains("<script>"), "{page}");
    let allowed = Refusal::MethodNotAllowed { allowed: "GET\r\nset-cookie: a=b".to_owned() };
    assert!(!render(ErrorFormat::V2, &allowed, VOICE).headers.contains_key("allow"));
}
