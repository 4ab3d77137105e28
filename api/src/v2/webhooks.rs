//! Webhooks: register, validate, list, delete and replay.

mod links;

use base::refusal::RefusalKind;
use base::{AppId, Error, Refusal};
use network::webhooks;
use serde_json::{Map, Value, json};
use store::replays::Replay;
use store::webhooks::{self as stored, Webhook};
use web::request_context::{HttpReply, RequestContext};
use web::webhooks::{challenge_failed, challenge_webhook, register_webhook, validate_webhook};

pub(crate) use links::{create_link, delete_link, list_links};

const URL: &str = "url";
const WEBHOOK_ID: &str = "webhook_id";
const FROM: &str = "from_date";
const TO: &str = "to_date";
const FIELDS: [&str; 4] = ["created_at", "id", "url", "valid"];

/// `POST /2/webhooks`: stored only after the receiver has passed the challenge.
pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let (caller, url) = (call.require_caller()?, call.body().required_text(URL)?);
    let webhook = register_webhook(&call, &caller.app, url).await?;
    call.respond_json(&duplicate_under_data(webhook_members(&webhook, &[])))
}

/// Repeats the members under `data`, since releases of the contract differ.
fn duplicate_under_data(members: Map<String, Value>) -> Value {
    let mut whole = members.clone();
    whole.insert("data".to_owned(), Value::Object(members));
    Value::Object(whole)
}

/// `GET /2/webhooks`: newest first.
pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let found = call.read(move |tx| Ok(stored::list_by_app(tx, app)?)).await?;
    let fields = call.query_texts("webhook_config.fields");
    let shown = found.iter().map(|one| Value::Object(webhook_members(one, &fields)));
    let data: Vec<Value> = shown.collect();
    call.respond_json(&json!({ "data": data, "meta": { "result_count": found.len() } }))
}

fn webhook_members(webhook: &Webhook, fields: &[String]) -> Map<String, Value> {
    let value = |name: &str| match name {
        "created_at" => json!(webhook.created_at.to_string()),
        "id" => json!(webhook.id.to_string()),
        "url" => json!(webhook.url),
        _ => json!(webhook.valid),
    };
    let is_requested = |name: &str| name == "id" || fields.is_empty() || fields.iter().any(|field| field == name);
    let all = FIELDS.iter().filter(|name| is_requested(name));
    all.map(|name| ((*name).to_owned(), value(name))).collect()
}

/// `PUT /2/webhooks/{webhook_id}`: challenges the webhook; once valid, it receives its queued events.
pub(crate) async fn validate(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, id) = (call.require_caller()?.app_id, path_webhook_id(&call)?);
    let webhook = call.read(move |tx| webhooks::find_owned(tx, app, id)).await?;
    let failure = validate_webhook(&call, &call.require_caller()?.app, &webhook).await?;
    match failure {
        Some(failure) => Err(challenge_failed("webhook_id", &id.to_string(), &failure).into()),
        None => call.respond_data(json!({ "valid": true, "attempted": true })),
    }
}

/// `DELETE /2/webhooks/{webhook_id}`: returns once no delivery is in flight.
pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, id) = (call.require_caller()?.app_id, path_webhook_id(&call)?);
    call.write(move |tx| webhooks::delete(tx, app, id)).await?;
    call.state.webhooks.stop_sending(id).await;
    call.respond_data(json!({ "deleted": true }))
}

fn path_webhook_id(call: &RequestContext) -> Result<i64, Error> {
    Ok(call.path_id::<()>("webhook_id")?.get())
}

pub(crate) async fn start_replay_job(call: RequestContext) -> Result<HttpReply, Error> {
    let body = call.body();
    let id = body.required_id::<()>(WEBHOOK_ID)?.get();
    let (from, to) = (body.required_text(FROM)?.to_owned(), body.required_text(TO)?.to_owned());
    let replay = begin_replay(&call, id, &from, &to).await?;
    respond_replay(&call, &replay)
}

/// `POST /2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all`: deprecated; its dates may be in the
/// query or in the body.
pub(crate) async fn start_replay_job_deprecated(call: RequestContext) -> Result<HttpReply, Error> {
    let id = path_webhook_id(&call)?;
    let date = |name: &'static str| {
        let text = call.query_text(name).or_else(|| call.body().optional_text(name));
        text.map(str::to_owned).ok_or_else(|| Refusal::missing_parameter(name))
    };
    let (from, to) = (date(FROM)?, date(TO)?);
    let replay = begin_replay(&call, id, &from, &to).await?;
    respond_replay(&call, &replay)
}

async fn begin_replay(call: &RequestContext, id: i64, from: &str, to: &str) -> Result<Replay, Error> {
    let app: AppId = call.require_caller()?.app_id;
    let webhook = call.read(move |tx| webhooks::find_owned(tx, app, id)).await?;
    let range = webhooks::parse_replay_range(call.now(), from, to)?;
    if !webhook.valid {
        let message = "CrcValidationFailed: The webhook is not valid; validate it first.";
        return Err(Refusal::named_reason(RefusalKind::Invalid, "webhook_id", id, message).into());
    }
    let challenged = challenge_webhook(call, &call.require_caller()?.app, &webhook).await?;
    if let Some(failure) = &challenged.failure {
        return Err(challenge_failed("webhook_id", &id.to_string(), failure).into());
    }
    call.write(move |tx| webhooks::start_replay(tx, app, id, range)).await
}

fn respond_replay(call: &RequestContext, replay: &Replay) -> Result<HttpReply, Error> {
    let created_at = replay.created_at.to_string();
    call.respond_data(json!({ "job_id": replay.id.to_string(), "created_at": created_at }))
}
