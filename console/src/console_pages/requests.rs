//! `/console/requests`: the journal.

use std::sync::Arc;

use base::{Credential, Error, Fault, Refusal, SplitRefusal};
use emulator::costs::dollars;
use emulator::journal::{
    HeaderLines, JournalEntry, RecordedBody, RequestFilter, StatusFilter, curl_command, har_document,
};
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use pages::console::{
    CausedDeliveryLine, CausedEventLine, ComparedPart, ConsoleRequestDiffPage, ConsoleRequestPage, ConsoleRequestsPage,
    RecordedMessage, RecordedRequestLine, RequestFilterForm,
};
use pages::{FormField, Pager};
use portal::{BrowserVisit, PageExit, PageQuery, portal_page, redirect_to};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::page_context::SITE_LINKS;
use web::request_context::RequestContext;
use web::security_headers::allow_scripts;
use web::text_members;

use crate::request_queries::{RequestEffects, load_effects, load_usernames, resolve_user};
use crate::world_environment::WorldEnvironment;

const PAGE_SIZE: usize = 50;
/// The filter's fields.
const FIELDS: [&str; 6] = ["route", "status", "app", "user", "label", "text"];

const ID: &[Parameter] = &[Parameter::path("id", Kind::text(1, 64), "The request's id.")];

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleRequests", "GET", "/console/requests", &list).summary("The requests of the journal."),
    portal_page("consoleClearRequests", "POST", "/console/requests", &clear)
        .body(BodySpec::Form(text_members! { 200; csrf }))
        .summary("Empties the journal."),
    portal_page("consoleRequestArchive", "GET", "/console/requests.har", &download_archive)
        .summary("The requests as an HTTP archive."),
    portal_page("consoleRequestDiff", "GET", "/console/requests/diff", &compare).summary("Compares two requests."),
    portal_page("consoleRequest", "GET", "/console/requests/{id}", &show)
        .params(&[ID])
        .summary("A request, its response, and what it caused."),
];

async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = page_query(&call)?;
    let (filter, form) = read_filter(&call, &query).await?;
    let is_valid = filter.is_some();
    let journal = &call.emulator()?.journal;
    let before = query.get("before").and_then(|number| number.parse().ok());
    let entries = filter.map(|filter| journal.list_before(&filter, before, PAGE_SIZE)).unwrap_or_default();
    let next = entries.last().filter(|_| entries.len() == PAGE_SIZE).map(|last| last.seq);
    let page = ConsoleRequestsPage {
        frame: visit.page_frame(&call),
        filter: form,
        requests: request_lines(&call, &entries).await?,
        pager: Pager {
            previous: before.map(|_: u64| list_path("/console/requests", &query, None)),
            next: next.map(|number| list_path("/console/requests", &query, Some(number))),
        },
        archive_path: list_path("/console/requests.har", &query, None),
        stored: journal.usage().entries,
        is_enabled: journal.is_enabled(),
        base_url: call.state.site.url.to_owned(),
    };
    let reply = visit.render_page(&call, &page)?;
    Ok(allow_scripts(if is_valid { reply } else { reply.status(400) }))
}

fn page_query(call: &RequestContext) -> Result<PageQuery, PageExit> {
    PageQuery::from_call(call).map_err(|message| Refusal::invalid_parameter("query", "", message).into())
}

/// With the filter, and a number of the next page.
fn list_path(path: &str, query: &PageQuery, before: Option<u64>) -> String {
    let fields = FIELDS.iter().filter_map(|name| query.get(name).map(|value| (*name, value.to_owned())));
    let pairs = fields.chain(before.map(|number| ("before", number.to_string())));
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", base::percent::encode(&value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// No filter if a field is invalid.
async fn read_filter(
    call: &RequestContext,
    query: &PageQuery,
) -> Result<(Option<RequestFilter>, RequestFilterForm), PageExit> {
    let field = |name| FormField::new(query.get(name).unwrap_or_default());
    let text = |name| query.get(name).map(str::to_owned);
    let mut form = RequestFilterForm {
        route: field("route"),
        status: field("status"),
        app: field("app"),
        user: field("user"),
        label: field("label"),
        text: field("text"),
        is_open: FIELDS.iter().any(|name| query.get(name).is_some()),
    };
    let mut filter = RequestFilter {
        app: text("app"),
        user: text("user"),
        label: text("label"),
        text: text("text"),
        ..RequestFilter::default()
    };
    match query.get("status").map(str::parse::<StatusFilter>) {
        Some(Err(accepted)) => form.status.error = Some(format!("Accepted are {accepted}.")),
        status => filter.status = status.and_then(Result::ok),
    }
    if let Some(route) = query.get("route") {
        filter = filter.with_route(route);
    }
    match resolve_user(call, &mut filter).await.split_refusal()? {
        Ok(()) => {}
        Err(_) => form.user.error = Some("No user has this name.".to_owned()),
    }
    let is_valid = form.status.error.is_none() && form.user.error.is_none();
    Ok((is_valid.then_some(filter), form))
}

pub(super) async fn request_lines(
    call: &RequestContext,
    entries: &[Arc<JournalEntry>],
) -> Result<Vec<RecordedRequestLine>, Error> {
    let names = load_usernames(call, entries).await?;
    let username = |entry: &JournalEntry| entry.user.and_then(|user| names.get(&user)).cloned().unwrap_or_default();
    Ok(entries.iter().map(|entry| request_line(entry, username(entry))).collect())
}

fn request_line(entry: &JournalEntry, username: String) -> RecordedRequestLine {
    RecordedRequestLine {
        id: entry.id().to_string(),
        path: format!("/console/requests/{}", base::percent::encode(entry.id())),
        received_at: entry.received_at,
        method: entry.method().to_string(),
        target: entry.target(),
        status: entry.status,
        duration: format!("{:.1} ms", entry.duration.as_secs_f64() * 1_000.0),
        operation: entry.operation.to_owned(),
        app: entry.app_name().to_string(),
        username,
        label: entry.label.as_deref().unwrap_or_default().to_owned(),
        injected_fault: entry.injected_fault.as_deref().map(str::to_owned),
    }
}

async fn clear(call: RequestContext) -> Result<HttpReply, PageExit> {
    BrowserVisit::accept_form(&call).await?;
    call.emulator()?.journal.clear();
    Ok(redirect_to("/console/requests"))
}

async fn download_archive(call: RequestContext) -> Result<HttpReply, PageExit> {
    let query = page_query(&call)?;
    let (filter, _) = read_filter(&call, &query).await?;
    let filter = filter.ok_or_else(|| Refusal::invalid_parameter("query", "", "The filter is invalid."))?;
    let entries = call.emulator()?.journal.list_after(&filter, 0, usize::MAX);
    let archive = har_document(entries.iter().map(|entry| &**entry), env!("CARGO_PKG_VERSION"));
    let name = HeaderValue::from_static("attachment; filename=\"requests.har\"");
    Ok(HttpReply::json(200, &archive).header(CONTENT_DISPOSITION, name))
}

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let journal = &call.emulator()?.journal;
    let entry = journal.find(call.path_text("id")?).ok_or(Refusal::RouteNotFound)?;
    let effects = load_effects(&call, &entry).await?;
    let mut lines = request_lines(&call, std::slice::from_ref(&entry)).await?;
    let line = lines.pop().ok_or_else(|| Fault::new("a request has no line"))?;
    let same = RequestFilter { operation: Some(entry.operation.to_owned()), ..RequestFilter::default() };
    let variables = WorldEnvironment::curl_variables(&call, &entry).await?;
    let before = journal.list_before(&same, Some(entry.seq), 1).pop();
    let page = ConsoleRequestPage {
        frame: visit.page_frame(&call),
        url: entry.url(),
        credential: credential_label(&entry),
        client: entry.client.map_or_else(|| "a socket".to_owned(), |client| client.to_string()),
        cost: dollars(entry.cost_micros),
        world_time: entry.at,
        parameters: entry.parameters(),
        request: recorded_message(entry.request_headers(), &entry.request_body),
        response: recorded_message(entry.response_headers(), &entry.response_body),
        curl: curl_command(&entry, &variables),
        explanation_path: entry.has_explanation.then(|| format!("{}/{}", SITE_LINKS.signature, entry.id())),
        explainer_path: SITE_LINKS.signature,
        events: event_lines(&effects),
        deliveries: delivery_lines(&effects),
        compare_path: before.map(|before| format!("/console/requests/diff?a={}&b={}", before.id(), entry.id())),
        line,
    };
    Ok(visit.render_page(&call, &page)?)
}

fn credential_label(entry: &JournalEntry) -> &'static str {
    match entry.credential {
        Some(Credential::OAuth1) => "OAuth 1.0a",
        Some(Credential::OAuth2) => "OAuth 2.0 user token",
        Some(Credential::App) => "App-only bearer token",
        None => match entry.request_headers().get("authorization") {
            Some(value) if value.starts_with("OAuth ") => "OAuth 1.0a",
            Some(_) => "not accepted",
            None => "none",
        },
    }
}

fn recorded_message(headers: HeaderLines<'_>, body: &RecordedBody) -> RecordedMessage {
    let size = body.size().unwrap_or(0);
    let note = match body {
        RecordedBody::None => Some("No body.".to_owned()),
        RecordedBody::Omitted { reason, .. } => Some(format!("{size} bytes, not stored: {reason}.")),
        RecordedBody::Stream(_) => Some("The beginning of a stream.".to_owned()),
        RecordedBody::Text { .. } if body.is_truncated() => Some(format!("The beginning of {size} bytes.")),
        RecordedBody::Text { .. } => None,
    };
    RecordedMessage {
        headers: headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: body.text().filter(|text| !text.is_empty()).map(indent_json),
        note,
    }
}

fn indent_json(text: String) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    parsed.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or(text)
}

fn event_lines(effects: &RequestEffects) -> Vec<CausedEventLine> {
    let events = effects.events.iter().map(|event| CausedEventLine {
        kind: event.kind.clone(),
        actor_id: event.actor_id,
        subject_id: event.subject_id,
        at: event.at,
    });
    events.collect()
}

fn delivery_lines(effects: &RequestEffects) -> Vec<CausedDeliveryLine> {
    let lines = effects.deliveries.iter().map(|effect| {
        let attempts = effect.attempts.iter().map(|attempt| match attempt.status {
            0 => format!("No response after {} ms: {}", attempt.duration_ms, attempt.problem),
            status => format!("Status {status} after {} ms", attempt.duration_ms),
        });
        CausedDeliveryLine {
            url: effect.webhook_url.clone(),
            event_id: effect.delivery.event_id.clone(),
            state: effect.delivery.state.name(),
            attempts: attempts.collect(),
        }
    });
    lines.collect()
}

async fn compare(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = page_query(&call)?;
    let mut page = ConsoleRequestDiffPage {
        frame: visit.page_frame(&call),
        a: FormField::new(query.get("a").unwrap_or_default()),
        b: FormField::new(query.get("b").unwrap_or_default()),
        lines: None,
        compared: Vec::new(),
    };
    let journal = &call.emulator()?.journal;
    let (first, second) = (journal.find(&page.a.value), journal.find(&page.b.value));
    for (field, found) in [(&mut page.a, &first), (&mut page.b, &second)] {
        if !field.value.is_empty() && found.is_none() {
            field.error = Some("The journal has no request with this ID.".to_owned());
        }
    }
    let status = if page.a.error.is_some() || page.b.error.is_some() { 404 } else { 200 };
    if let (Some(first), Some(second)) = (first, second) {
        page.compared = compared_parts(&first, &second);
        let mut lines = request_lines(&call, &[first, second]).await?;
        page.lines = lines.pop().and_then(|second| lines.pop().map(|first| (first, second)));
    }
    Ok(visit.render_page(&call, &page)?.status(status))
}

fn compared_parts(first: &JournalEntry, second: &JournalEntry) -> Vec<ComparedPart> {
    let line = |entry: &JournalEntry| format!("{} {}", entry.method(), entry.url());
    let headers = |lines: HeaderLines<'_>| {
        let lines = lines.iter().map(|(name, value)| format!("{name}: {value}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let body = |body: &RecordedBody| body.text().map(indent_json).unwrap_or_default();
    let part = |title, first, second| ComparedPart { title, first, second };
    vec![
        part("Request line", line(first), line(second)),
        part("Request headers", headers(first.request_headers()), headers(second.request_headers())),
        part("Request body", body(&first.request_body), body(&second.request_body)),
        part("Status", first.status.to_string(), second.status.to_string()),
        part("Response headers", headers(first.response_headers()), headers(second.response_headers())),
        part("Response body", body(&first.response_body), body(&second.response_body)),
    ]
}
