//! `locum webhook`: what the platform sends to receivers, looked at and sent again.

use base::refusal::RefusalKind;
use base::{AppId, Error, Id, Refusal, Time};
use clap::Subcommand;
use deliver::webhooks::{TargetUrl, WebhookClient};
use network::webhooks;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Tx;
use store::apps::App;
use store::deliveries::{self, Delivery, DeliveryAttempt, NewDelivery};
use store::webhooks::{self as stored, Webhook};

use super::find;
use crate::world::World;

/// What may be done about webhooks.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WebhookCommand {
    /// The webhooks of an app, or all
    List {
        /// The app: name, id or API key
        #[arg(long)]
        app: Option<String>,
    },
    /// Challenges a receiver now, and says what it answered
    Crc {
        /// Id of the webhook
        webhook: String,
    },
    /// Sends test events to a receiver
    Send {
        /// Id of the webhook
        webhook: String,
        /// How many
        #[arg(long, default_value_t = 1)]
        count: u32,
        /// What orders them: those with one key arrive one after the other
        #[arg(long, default_value_t = 0)]
        key: i64,
    },
    /// Sends a delivery again
    Resend {
        /// Id of the webhook
        webhook: String,
        /// Number of the delivery, as `webhook log` shows it
        delivery: i64,
    },
    /// Sends the events of a span again
    Replay {
        /// Id of the webhook
        webhook: String,
        /// The first minute, `yyyymmddHHMM`, included
        from: String,
        /// The last minute, `yyyymmddHHMM`, excluded
        to: String,
    },
    /// The newest deliveries to a receiver, and each try
    Log {
        /// Id of the webhook
        webhook: String,
        /// How many
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Only this delivery, with its body
        #[arg(long)]
        delivery: Option<i64>,
    },
}

/// Does it.
pub(super) async fn execute(world: &World, command: WebhookCommand) -> Result<Value, Error> {
    match command {
        WebhookCommand::List { app } => list(world, app).await,
        WebhookCommand::Crc { webhook } => crc(world, number(&webhook)?).await,
        WebhookCommand::Send {
            webhook,
            count,
            key,
        } => send(world, number(&webhook)?, count, key).await,
        WebhookCommand::Resend { webhook, delivery } => {
            let id = number(&webhook)?;
            let job = world.store.write(move |tx| {
                known(tx, id)?;
                webhooks::resend_delivery(tx, id, delivery)
            });
            Ok(json!({ "delivery": delivery, "job_id": job.await?.to_string() }))
        }
        WebhookCommand::Replay { webhook, from, to } => {
            let id = number(&webhook)?;
            let replay = world.store.write(move |tx| {
                let app = known(tx, id)?.app_id;
                let span = webhooks::parse_replay_range(tx.now(), &from, &to)?;
                webhooks::start_replay(tx, app, id, span)
            });
            let replay = replay.await?;
            let created_at = replay.created_at.to_string();
            Ok(json!({ "job_id": replay.id.to_string(), "created_at": created_at }))
        }
        WebhookCommand::Log {
            webhook,
            limit,
            delivery,
        } => log(world, number(&webhook)?, limit, delivery).await,
    }
}

fn number(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text);
    id.map(Id::get)
        .ok_or_else(|| find::unknown("webhook", text))
}

fn known(tx: &mut Tx<'_>, id: i64) -> Result<Webhook, Error> {
    let found = stored::find_by_id(tx, id)?;
    found.ok_or_else(|| find::unknown("webhook", &id.to_string()))
}

async fn list(world: &World, app: Option<String>) -> Result<Value, Error> {
    let found = world.store.read(move |tx| {
        let mut all = Vec::new();
        if let Some(app) = &app {
            let app = find::app(tx, app)?;
            all = stored::list_by_app(tx, app.id)?;
        } else {
            let mut after = 0;
            while let page = stored::list_all(tx, after, 500)?
                && let Some(last) = page.last()
            {
                after = last.id;
                all.extend(page.into_iter().filter(|one| one.deleted_at.is_none()));
            }
        }
        Ok(all)
    });
    Ok(found.await?.iter().map(speak).collect())
}

fn speak(webhook: &Webhook) -> Value {
    let time = |time: Time| time.to_string();
    json!({
        "id": webhook.id.to_string(),
        "app": webhook.app_id.to_string(),
        "url": webhook.url,
        "valid": webhook.valid,
        "created_at": time(webhook.created_at),
        "checked_at": time(webhook.checked_at),
        "next_check_at": time(webhook.check_due_at),
        "failing_since": webhook.failing_since.map(time),
        "problem": webhook.problem,
    })
}

/// An app that is there, for its secret.
fn app_of(tx: &mut Tx<'_>, id: AppId) -> Result<App, Error> {
    network::apps::find(tx, id)
}

async fn crc(world: &World, id: i64) -> Result<Value, Error> {
    let settings = &world.settings.webhooks;
    let found = world.store.read(move |tx| {
        let webhook = known(tx, id)?;
        let secret = app_of(tx, webhook.app_id)?.api_secret;
        Ok((webhook, secret))
    });
    let (webhook, secret) = found.await?;
    let place = TargetUrl::parse(&webhook.url, &settings.targets)
        .map_err(|why| Refusal::named_reason(RefusalKind::Invalid, "url", &webhook.url, why))?;
    let context = world.store.context();
    let challenged = WebhookClient::new(settings)
        .send_challenge(&place, &secret, &context.rng, context.clock.now())
        .await?;
    let every = settings.challenge_interval;
    let settled = world.store.write(move |tx| {
        challenged.record_for_webhook(tx, id, every)?;
        let webhook = known(tx, id)?;
        let tries = deliveries::list_challenges(tx, id, 1)?;
        Ok((webhook, tries))
    });
    let (webhook, tries) = settled.await?;
    let mut said = speak(&webhook);
    if let (Some(last), Some(members)) = (tries.first(), said.as_object_mut()) {
        members.insert("challenge".to_owned(), challenge(last));
    }
    Ok(said)
}

fn challenge(attempt: &DeliveryAttempt) -> Value {
    json!({
        "at": attempt.at.to_string(),
        "crc_token": attempt.signature_or_token,
        "expected": attempt.expected,
        "status": attempt.status,
        "answer": attempt.answer,
        "problem": attempt.problem,
        "took_ms": attempt.duration_ms,
    })
}

async fn send(world: &World, id: i64, count: u32, key: i64) -> Result<Value, Error> {
    let sent = world.store.write(move |tx| {
        known(tx, id)?;
        let mut ids = Vec::new();
        for number in 1..=count {
            let event: Id<()> = tx.next_id();
            let event_id = event.to_string();
            let body = json!({
                "test_event": {
                    "id": event_id,
                    "number": number,
                    "created_at": tx.now().to_string(),
                }
            });
            let new = NewDelivery {
                webhook_id: id,
                event_id: &event_id,
                order_key: key,
                post_id: None,
                at: tx.now(),
                body: &body.to_string(),
            };
            deliveries::enqueue(tx, &new)?;
            ids.push(event_id);
        }
        Ok(ids)
    });
    Ok(json!({ "events": sent.await? }))
}

async fn log(world: &World, id: i64, limit: u32, one: Option<i64>) -> Result<Value, Error> {
    let found = world.store.read(move |tx| {
        known(tx, id)?;
        let end = (Time::from_ms(i64::MAX), i64::MAX);
        let deliveries = match one {
            Some(seq) => {
                let found = deliveries::find_by_seq(tx, seq)?.filter(|one| one.webhook_id == id);
                vec![found.ok_or_else(|| find::unknown("delivery", &seq.to_string()))?]
            }
            None => deliveries::list_before(tx, id, end, i64::from(limit))?,
        };
        let mut all = Vec::new();
        for delivery in deliveries {
            let tries = deliveries::list_attempts(tx, id, delivery.seq, 50)?;
            all.push(shown(&delivery, &tries, one.is_some()));
        }
        let challenges = deliveries::list_challenges(tx, id, 5)?;
        let challenges: Value = challenges.iter().map(challenge).collect();
        Ok(json!({ "deliveries": all, "challenges": challenges }))
    });
    found.await
}

fn shown(delivery: &Delivery, tries: &[DeliveryAttempt], whole: bool) -> Value {
    let attempts: Value = tries
        .iter()
        .map(|one| {
            json!({
                "at": one.at.to_string(),
                "status": one.status,
                "problem": one.problem,
                "took_ms": one.duration_ms,
                "signature": one.signature_or_token,
                "answer": one.answer,
            })
        })
        .collect();
    let mut shown = json!({
        "delivery": delivery.seq,
        "event_id": delivery.event_id,
        "job_id": (delivery.job_id != 0).then(|| delivery.job_id.to_string()),
        "happened_at": delivery.at.to_string(),
        "state": delivery.state.name(),
        "due_at": delivery.due_at.to_string(),
        "tries": delivery.tries,
        "attempts": attempts,
    });
    if let Some(members) = shown.as_object_mut().filter(|_| whole) {
        members.insert("body".to_owned(), json!(delivery.body));
    }
    shown
}
