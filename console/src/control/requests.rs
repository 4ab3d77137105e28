//! The journal of requests.

use std::sync::Arc;
use std::time::Duration;

use base::refusal::RefusalKind;
use base::{Error, Refusal};
use emulator::journal::{
    JournalEntry, RequestFilter, StatusFilter, curl_command, entry_json, entry_summary_json, har_document,
    is_valid_label, read_assertion,
};
use serde_json::{Value, json};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::assertion_names::find_unknown_name;
use crate::request_queries::{RequestEffects, load_effects, load_usernames, resolve_user};
use crate::world_environment::WorldEnvironment;

const MAX_PAGE: i64 = 1_000;
const DEFAULT_PAGE: i64 = 50;
const MAX_WAIT_SECONDS: i64 = 30;
const MAX_CHECKS: usize = 200;
const MAX_TEXT: usize = 4_000;

const FILTERS: &[Parameter] = &[
    Parameter::query(
        "route",
        Kind::text(1, MAX_TEXT),
        "`GET /2/users/me`, a path, a path template, a prefix that ends in `*`, or an operation's id.",
    ),
    Parameter::query("method", Kind::text(1, 32), "The method."),
    Parameter::query("status", Kind::text(1, 10), "A status such as 404, a class such as `4xx`, or `failed`."),
    Parameter::query("app", Kind::text(1, 200), "The id or name of an app."),
    Parameter::query("user", Kind::text(1, 200), "The id or name of a user."),
    Parameter::query("label", Kind::text(1, 64), "The label of a run."),
    Parameter::query("fault", Kind::text(1, 200), "The id of the fault rule that was applied."),
    Parameter::query("since", Kind::TIME, "Requests since a time, by the system's clock."),
    Parameter::query("text", Kind::text(1, MAX_TEXT), "A text in the path, the query or a body."),
];
const PAGE: &[Parameter] = &[
    Parameter::query("limit", Kind::int(1, MAX_PAGE), "How many, at most.").default_number(DEFAULT_PAGE),
    Parameter::query("before", Kind::int(1, i64::MAX), "Older than the entry with this number."),
    Parameter::query("after", Kind::int(0, i64::MAX), "Newer than the entry with this number, oldest first."),
    Parameter::query("wait", Kind::int(0, MAX_WAIT_SECONDS), "With `after`: seconds to wait for a request, at most.")
        .default_number(0),
];
const ID: &[Parameter] = &[Parameter::path("id", Kind::text(1, 64), "The request's id, as in `x-transaction-id`.")];
const LABEL: &[Parameter] = &[Parameter::path("label", Kind::text(1, 200), "1 to 64 visible ASCII characters.")];
const CHECKS: BodySpec = BodySpec::Json(&[Parameter::member("checks", Kind::JSON).as_required()]);

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("listRequests", "GET", "/control/v1/requests", &list)
        .params(&[FILTERS, PAGE])
        .summary("Requests of the journal, newest first."),
    control_operation("clearRequests", "DELETE", "/control/v1/requests", &clear).summary("Empties the journal."),
    control_operation("exportRequests", "GET", "/control/v1/requests.har", &export_archive)
        .params(&[FILTERS])
        .summary("Requests as an HTTP archive (HAR 1.2), oldest first."),
    control_operation("showRequest", "GET", "/control/v1/requests/{id}", &show)
        .params(&[ID])
        .summary("A request with its response, what it caused, and a command that repeats it."),
    control_operation("assertRequests", "POST", "/control/v1/assert", &assert_requests)
        .body(CHECKS)
        .summary("Checks how many requests match, each check as a text or an object."),
    control_operation("startRun", "PUT", "/control/v1/runs/{label}", &start_run)
        .params(&[LABEL])
        .summary("Labels the requests from now on, for half a minute or until the run ends."),
    control_operation("endRun", "DELETE", "/control/v1/runs/{label}", &end_run)
        .params(&[LABEL])
        .summary("Ends the label of a run."),
];

async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let filter = read_filter(&call).await?;
    let limit = usize::try_from(call.query_int("limit")).unwrap_or(1);
    let journal = &call.emulator()?.journal;
    let after = call.raw_param("after").parse::<u64>().ok();
    let before = call.raw_param("before").parse::<u64>().ok();
    let entries = match after {
        Some(after) => wait_for_entries(&call, &filter, after, limit).await?,
        None => journal.list_before(&filter, before, limit),
    };
    let last = entries.last().filter(|_| after.is_none() && entries.len() == limit).map(|entry| entry.seq);
    let usage = journal.usage();
    let meta = json!({"result_count": entries.len(), "next_before": last, "newest": usage.recorded, "is_enabled": journal.is_enabled()});
    let data = summaries(&call, &entries).await?;
    Ok(HttpReply::json(200, &json!({"data": data, "meta": meta})))
}

/// Waits until a request matches, for as long as the caller allows.
async fn wait_for_entries(
    call: &RequestContext,
    filter: &RequestFilter,
    after: u64,
    limit: usize,
) -> Result<Vec<Arc<JournalEntry>>, Error> {
    let journal = &call.emulator()?.journal;
    let mut newest = journal.subscribe();
    let wait = Duration::from_secs(u64::try_from(call.query_int("wait")).unwrap_or(0));
    let search = async {
        loop {
            newest.mark_unchanged();
            let entries = journal.list_after(filter, after, limit);
            if !entries.is_empty() || newest.changed().await.is_err() {
                return entries;
            }
        }
    };
    Ok(tokio::time::timeout(wait, search).await.unwrap_or_default())
}

async fn summaries(call: &RequestContext, entries: &[Arc<JournalEntry>]) -> Result<Vec<Value>, Error> {
    let names = load_usernames(call, entries).await?;
    let lines = entries.iter().map(|entry| {
        let mut line = entry_summary_json(entry);
        if let (Some(user), Some(members)) = (entry.user, line.as_object_mut()) {
            members.insert("username".to_owned(), json!(names.get(&user)));
        }
        line
    });
    Ok(lines.collect())
}

async fn read_filter(call: &RequestContext) -> Result<RequestFilter, Error> {
    let text = |name| call.query_text(name).map(str::to_owned);
    let status = match call.query_text("status") {
        Some(status) => Some(status.parse::<StatusFilter>().map_err(|accepted| {
            Refusal::invalid_parameter("status", status, format!("status: {status} is not {accepted}"))
        })?),
        None => None,
    };
    let mut filter = RequestFilter {
        method: text("method"),
        status,
        app: text("app"),
        user: text("user"),
        label: text("label"),
        injected_fault: text("fault"),
        since: call.query_time("since"),
        text: text("text"),
        ..RequestFilter::default()
    };
    if let Some(route) = call.query_text("route") {
        filter = filter.with_route(route);
    }
    resolve_user(call, &mut filter).await?;
    Ok(filter)
}

async fn clear(call: RequestContext) -> Result<HttpReply, Error> {
    let removed = call.emulator()?.journal.clear();
    Ok(HttpReply::json(200, &json!({"data": {"removed": removed}})))
}

async fn export_archive(call: RequestContext) -> Result<HttpReply, Error> {
    let filter = read_filter(&call).await?;
    let entries = call.emulator()?.journal.list_after(&filter, 0, usize::MAX);
    let archive = har_document(entries.iter().map(|entry| &**entry), env!("CARGO_PKG_VERSION"));
    Ok(HttpReply::json(200, &archive))
}

async fn show(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_text("id")?;
    let entry = call.emulator()?.journal.find(id).ok_or_else(|| unknown_request(id))?;
    let effects = load_effects(&call, &entry).await?;
    let variables = WorldEnvironment::curl_variables(&call, &entry).await?;
    let mut data = entry_json(&entry);
    let names = load_usernames(&call, std::slice::from_ref(&entry)).await?;
    if let Some(members) = data.as_object_mut() {
        members.insert("username".to_owned(), json!(entry.user.and_then(|user| names.get(&user))));
        members.insert("deliveries".to_owned(), deliveries_json(&effects));
        members.insert("curl".to_owned(), curl_command(&entry, &variables).into());
    }
    Ok(HttpReply::json(200, &json!({ "data": data })))
}

fn unknown_request(id: &str) -> Refusal {
    let message = format!("id: the journal has no request {id}: it keeps the newest only; `locum log` lists them");
    Refusal::named_reason(RefusalKind::NotFound, "id", id, message)
}

fn deliveries_json(effects: &RequestEffects) -> Value {
    let all = effects.deliveries.iter().map(|effect| {
        let attempts = effect.attempts.iter().map(|attempt| {
            json!({
                "at": attempt.at.to_string(),
                "status": attempt.status,
                "problem": attempt.problem,
                "duration_ms": attempt.duration_ms,
            })
        });
        json!({
            "webhook_id": effect.delivery.webhook_id.to_string(),
            "webhook_url": effect.webhook_url,
            "event_id": effect.delivery.event_id,
            "state": effect.delivery.state.name(),
            "attempts": attempts.collect::<Vec<_>>(),
        })
    });
    all.collect()
}

async fn assert_requests(call: RequestContext) -> Result<HttpReply, Error> {
    let checks = call.body().get("checks").cloned().unwrap_or_default();
    let checks = match checks {
        Value::Array(checks) => checks,
        one => vec![one],
    };
    if checks.is_empty() || checks.len() > MAX_CHECKS {
        let message = format!("checks: between 1 and {MAX_CHECKS} checks are accepted");
        return Err(Refusal::invalid_parameter("checks", checks.len(), message).into());
    }
    let mut assertions = Vec::new();
    for (at, check) in checks.iter().enumerate() {
        let mut assertion = read_assertion(check)
            .map_err(|error| Refusal::invalid_parameter("checks", check, format!("checks[{at}]: {error}")))?;
        resolve_user(&call, &mut assertion.filter).await?;
        if let Some(problem) = find_unknown_name(&call, &assertion.filter).await? {
            return Err(Refusal::invalid_parameter("checks", check, format!("checks[{at}]: {problem}")).into());
        }
        assertions.push(assertion);
    }
    let journal = &call.emulator()?.journal;
    let outcomes: Vec<_> = assertions.iter().map(|assertion| assertion.evaluate(journal)).collect();
    let results = outcomes
        .iter()
        .zip(&checks)
        .map(|(outcome, check)| outcome.to_json(&check.as_str().map_or_else(|| check.to_string(), str::to_owned)));
    let passed = outcomes.iter().all(|outcome| outcome.passed);
    let data = json!({"passed": passed, "results": results.collect::<Vec<_>>()});
    Ok(HttpReply::json(200, &json!({ "data": data })))
}

async fn start_run(call: RequestContext) -> Result<HttpReply, Error> {
    let label = checked_label(&call)?;
    let labels = &call.emulator()?.journal.run_labels;
    let others = labels.start(&label, base::clock::wall_time()).map_err(|_| {
        let message = "label: too many labelled programs run at the same time";
        Refusal::named_reason(RefusalKind::Conflict, "label", &label, message)
    })?;
    Ok(HttpReply::json(200, &json!({"data": {"label": label, "other_active_labels": others}})))
}

async fn end_run(call: RequestContext) -> Result<HttpReply, Error> {
    let label = checked_label(&call)?;
    call.emulator()?.journal.run_labels.end(&label);
    Ok(HttpReply::json(200, &json!({"data": {"label": label}})))
}

fn checked_label(call: &RequestContext) -> Result<String, Error> {
    let label = call.path_text("label")?;
    if is_valid_label(label) {
        return Ok(label.to_owned());
    }
    let message = "label: 1 to 64 visible ASCII characters without spaces are accepted";
    Err(Refusal::invalid_parameter("label", label, message).into())
}
