//! Webhooks, registered, challenged, removed and replayed to.

mod links;

use base::refusal::RefusalKind;
use base::{AppId, Error, Refusal, Secret, VocabularyWord};
use deliver::webhooks::{ChallengeFailure, ChallengeResult, TargetUrl};
use http::HeaderValue;
use http::header::HeaderName;
use network::apps::AccessLevel;
use network::webhooks::{self, NewWebhook};
use serde_json::{Map, Value, json};
use store::replays::Replay;
use store::webhooks::{self as stored, Webhook};

use crate::call::{Call, Reply};
use crate::endpoint::Pending;

pub(crate) use links::{create_link, delete_link, links};

const URL: VocabularyWord = VocabularyWord::same_in_both("url");
const WEBHOOK_ID: VocabularyWord = VocabularyWord::same_in_both("webhook_id");
const FROM: VocabularyWord = VocabularyWord::same_in_both("from_date");
const TO: VocabularyWord = VocabularyWord::same_in_both("to_date");
const FIELDS: [&str; 4] = ["created_at", "id", "url", "valid"];

/// `POST /2/webhooks`: nothing is stored before the receiver has answered the challenge.
pub(crate) fn create(call: Call) -> Pending {
    Box::pin(async move {
        let new = wanted(&call)?;
        let place = call.home.webhooks.parse_url(&new.url);
        let place = place.map_err(|why| bad_url(&new.url, why))?;
        let asked = new.clone();
        call.read(move |tx| webhooks::check_registrable(tx, &asked))
            .await?;
        let challenged = challenge(&call, &place).await?;
        if let Some(failure) = &challenged.failure {
            return Err(not_answered("url", &new.url, failure).into());
        }
        let webhook = call
            .write(move |tx| {
                let webhook = webhooks::register(tx, &new)?;
                challenged.record_attempt(tx, webhook.id)?;
                Ok(webhook)
            })
            .await?;
        call.say_whole(&both(shown(&webhook, &[])))
    })
}

/// The members under `data`, and beside it: releases of the contract differ.
fn both(members: Map<String, Value>) -> Value {
    let mut whole = members.clone();
    whole.insert("data".to_owned(), Value::Object(members));
    Value::Object(whole)
}

fn wanted(call: &Call) -> Result<NewWebhook, Error> {
    let caller = call.caller()?;
    let settings = call.home.webhooks.settings();
    let enterprise = caller.app.access_level == AccessLevel::Enterprise.name();
    let (most, more) = settings.max_webhooks;
    let check_after = i64::try_from(settings.challenge_interval.as_millis()).unwrap_or(i64::MAX);
    Ok(NewWebhook {
        app: caller.app_id,
        url: call.body().text(URL)?.to_owned(),
        most: if enterprise { more } else { most },
        check_after_ms: check_after,
    })
}

fn bad_url(url: &str, why: &str) -> Refusal {
    Refusal::named_reason(
        RefusalKind::Invalid,
        "url",
        url,
        format!("UrlValidationFailed: {why}"),
    )
}

fn not_answered(parameter: &'static str, value: &str, failure: &ChallengeFailure) -> Refusal {
    let word = if failure.is_target_forbidden {
        "UrlValidationFailed"
    } else {
        "CrcValidationFailed"
    };
    let message = format!("{word}: {}", failure.message);
    Refusal::named_reason(RefusalKind::Invalid, parameter, value, message)
}

async fn challenge(call: &Call, place: &TargetUrl) -> Result<ChallengeResult, Error> {
    let secret: Secret = call.caller()?.app.api_secret.clone();
    let courier = call.home.webhooks.client();
    let chance = &call.context().rng;
    Ok(courier
        .send_challenge(place, &secret, chance, call.now())
        .await?)
}

/// `GET /2/webhooks`: the newest first; an empty list is there all the same.
pub(crate) fn list(call: Call) -> Pending {
    Box::pin(async move {
        let app = call.caller()?.app_id;
        let found = call
            .read(move |tx| Ok(stored::list_by_app(tx, app)?))
            .await?;
        let fields = call.texts("webhook_config.fields");
        let shown = found.iter().map(|one| Value::Object(shown(one, fields)));
        let data: Vec<Value> = shown.collect();
        call.say_whole(&json!({ "data": data, "meta": { "result_count": found.len() } }))
    })
}

fn shown(webhook: &Webhook, fields: &[String]) -> Map<String, Value> {
    let value = |name: &str| match name {
        "created_at" => json!(webhook.created_at.to_string()),
        "id" => json!(webhook.id.to_string()),
        "url" => json!(webhook.url),
        _ => json!(webhook.valid),
    };
    let asked =
        |name: &str| name == "id" || fields.is_empty() || fields.iter().any(|field| field == name);
    let all = FIELDS.iter().filter(|name| asked(name));
    all.map(|name| ((*name).to_owned(), value(name))).collect()
}

/// `PUT /2/webhooks/{webhook_id}`: challenged now; one that answers gets all that waits for it.
pub(crate) fn validate(call: Call) -> Pending {
    Box::pin(async move {
        let (app, id) = (call.caller()?.app_id, webhook_id(&call)?);
        let webhook = call
            .read(move |tx| webhooks::find_owned(tx, app, id))
            .await?;
        let challenged = checked(&call, &webhook).await?;
        let failure = challenged.failure.clone();
        let desk = call.home.webhooks.clone();
        let settled = {
            let desk = desk.clone();
            move |tx: &mut store::Tx<'_>| desk.apply_challenge(tx, id, &challenged)
        };
        call.write(settled).await?;
        desk.wake_sender();
        match failure {
            Some(failure) => Err(not_answered("webhook_id", &id.to_string(), &failure).into()),
            None => call.say(json!({ "valid": true, "attempted": true })),
        }
    })
}

/// Challenges a webhook that is registered, at an address that may not be allowed any more.
async fn checked(call: &Call, webhook: &Webhook) -> Result<ChallengeResult, Error> {
    let place = call.home.webhooks.parse_url(&webhook.url);
    let place = place.map_err(|why| bad_url(&webhook.url, why))?;
    challenge(call, &place).await
}

/// `DELETE /2/webhooks/{webhook_id}`: nothing is on its way any more when it is answered.
pub(crate) fn delete(call: Call) -> Pending {
    Box::pin(async move {
        let (app, id) = (call.caller()?.app_id, webhook_id(&call)?);
        call.write(move |tx| webhooks::delete(tx, app, id)).await?;
        call.home.webhooks.stop_sending(id).await;
        call.say(json!({ "deleted": true }))
    })
}

fn webhook_id(call: &Call) -> Result<i64, Error> {
    Ok(call.path_id::<()>("webhook_id")?.get())
}

/// `POST /2/webhooks/replay`.
pub(crate) fn replay(call: Call) -> Pending {
    Box::pin(async move {
        let body = call.body();
        let id = body.id::<()>(WEBHOOK_ID)?.get();
        let (from, to) = (body.text(FROM)?.to_owned(), body.text(TO)?.to_owned());
        let replay = begin(&call, id, &from, &to).await?;
        answer(&call, &replay)
    })
}

/// The deprecated operation that does the same; its dates stand in the query or in the body.
pub(crate) fn replay_older(call: Call) -> Pending {
    Box::pin(async move {
        let id = webhook_id(&call)?;
        let date = |name: &'static str, word: VocabularyWord| {
            let text = call.text(name).or_else(|| call.body().text_if(word));
            text.map(str::to_owned)
                .ok_or_else(|| Refusal::missing_parameter(name))
        };
        let (from, to) = (date("from_date", FROM)?, date("to_date", TO)?);
        let replay = begin(&call, id, &from, &to).await?;
        let deprecated = HeaderName::from_static("deprecation");
        Ok(answer(&call, &replay)?.header(deprecated, HeaderValue::from_static("true")))
    })
}

async fn begin(call: &Call, id: i64, from: &str, to: &str) -> Result<Replay, Error> {
    let app: AppId = call.caller()?.app_id;
    let webhook = call
        .read(move |tx| webhooks::find_owned(tx, app, id))
        .await?;
    let span = webhooks::parse_replay_range(call.now(), from, to)?;
    if !webhook.valid {
        let message = "CrcValidationFailed: The webhook is not valid; validate it first.";
        return Err(Refusal::named_reason(RefusalKind::Invalid, "webhook_id", id, message).into());
    }
    let challenged = checked(call, &webhook).await?;
    if let Some(failure) = &challenged.failure {
        return Err(not_answered("webhook_id", &id.to_string(), failure).into());
    }
    call.write(move |tx| webhooks::start_replay(tx, app, id, span))
        .await
}

fn answer(call: &Call, replay: &Replay) -> Result<Reply, Error> {
    let created_at = replay.created_at.to_string();
    call.say(json!({ "job_id": replay.id.to_string(), "created_at": created_at }))
}
