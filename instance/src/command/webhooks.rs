//! `locum webhook`: inspects and resends webhook deliveries.

use base::refusal::RefusalKind;
use base::{AppId, Error, Id, Refusal, Time};
use clap::Subcommand;
use deliver::webhooks::{ChallengeSubject, TargetUrl, WebhookClient};
use network::webhooks;
use serde_json::{Value, json};
use store::Tx;
use store::apps::App;
use store::deliveries::{self, Delivery, DeliveryAttempt, NewDelivery};
use store::webhooks::{self as stored, Webhook};

use super::find;
use crate::Instance;
use crate::arguments::WebhookListenArgs;

#[derive(Clone, Debug, Subcommand)]
pub enum WebhookCommand {
    /// Start a local receiver that answers challenges and prints deliveries
    Listen(WebhookListenArgs),
    /// List all webhooks, or those of one app
    List {
        /// The app: name, id or API key
        #[arg(long)]
        app: Option<String>,
    },
    /// Send a challenge (CRC) to a receiver now and show its response
    Crc {
        /// The webhook's id
        webhook: String,
    },
    /// Send test events to a receiver
    Send {
        /// The webhook's id
        webhook: String,
        /// The number of events
        #[arg(long, default_value_t = 1)]
        count: u32,
        /// The ordering key: events with the same key arrive in order
        #[arg(long, default_value_t = 0)]
        key: i64,
    },
    /// Resend a delivery
    Resend {
        /// The webhook's id
        webhook: String,
        /// The delivery's number, as shown by `webhook log`
        delivery: i64,
    },
    /// Replay the events of a time range
    Replay {
        /// The webhook's id
        webhook: String,
        /// The first minute, `yyyymmddHHMM`, inclusive
        from: String,
        /// The last minute, `yyyymmddHHMM`, exclusive
        to: String,
    },
    /// List the newest deliveries to a receiver with every attempt
    Log {
        /// The webhook's id
        webhook: String,
        /// The number of results
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Show only this delivery, with its body
        #[arg(long)]
        delivery: Option<i64>,
    },
}

pub(super) async fn execute(instance: &Instance, command: WebhookCommand) -> Result<Value, Error> {
    match command {
        WebhookCommand::Listen(_) => {
            Err(Refusal::forbidden("a receiver runs in the process that is asked for it").into())
        }
        WebhookCommand::List { app } => list_webhooks(instance, app).await,
        WebhookCommand::Crc { webhook } => send_challenge(instance, parse_id(&webhook)?).await,
        WebhookCommand::Send { webhook, count, key } => {
            send_test_events(instance, parse_id(&webhook)?, count, key).await
        }
        WebhookCommand::Resend { webhook, delivery } => {
            let id = parse_id(&webhook)?;
            let job = instance.write(move |tx| {
                find_webhook(tx, id)?;
                webhooks::resend_delivery(tx, id, delivery)
            });
            Ok(json!({ "delivery": delivery, "job_id": job.await?.to_string() }))
        }
        WebhookCommand::Replay { webhook, from, to } => {
            let id = parse_id(&webhook)?;
            let replay = instance.write(move |tx| {
                let app = find_webhook(tx, id)?.app_id;
                let span = webhooks::parse_replay_range(tx.now(), &from, &to)?;
                webhooks::start_replay(tx, app, id, span)
            });
            let replay = replay.await?;
            let created_at = replay.created_at.to_string();
            Ok(json!({ "job_id": replay.id.to_string(), "created_at": created_at }))
        }
        WebhookCommand::Log { webhook, limit, delivery } => {
            list_deliveries(instance, parse_id(&webhook)?, limit, delivery).await
        }
    }
}

fn parse_id(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text);
    id.map(Id::get).ok_or_else(|| find::not_found("webhook", text))
}

fn find_webhook(tx: &mut Tx<'_>, id: i64) -> Result<Webhook, Error> {
    let found = stored::find_by_id(tx, id)?;
    found.ok_or_else(|| find::not_found("webhook", &id.to_string()))
}

async fn list_webhooks(instance: &Instance, app: Option<String>) -> Result<Value, Error> {
    let found = instance.store.read(move |tx| {
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
    Ok(found.await?.iter().map(render_webhook).collect())
}

fn render_webhook(webhook: &Webhook) -> Value {
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

fn find_app(tx: &mut Tx<'_>, id: AppId) -> Result<App, Error> {
    identity::apps::find(tx, id)
}

async fn send_challenge(instance: &Instance, id: i64) -> Result<Value, Error> {
    let settings = &instance.settings.webhooks;
    let found = instance.store.read(move |tx| {
        let webhook = find_webhook(tx, id)?;
        let secret = find_app(tx, webhook.app_id)?.api_secret;
        Ok((webhook, secret))
    });
    let (webhook, secret) = found.await?;
    let place = TargetUrl::parse(&webhook.url, &settings.targets)
        .map_err(|why| Refusal::named_reason(RefusalKind::Invalid, "url", &webhook.url, why))?;
    let context = instance.store.context();
    let subject = ChallengeSubject { app: webhook.app_id, webhook: Some(id) };
    let client = WebhookClient::new(settings);
    let challenged = client.send_challenge(subject, &place, &secret, &context.rng, context.clock.now()).await?;
    let every = settings.challenge_interval;
    let settled = instance.write(move |tx| {
        challenged.record_for_webhook(tx, id, every)?;
        let webhook = find_webhook(tx, id)?;
        let tries = deliveries::list_challenges(tx, id, 1)?;
        Ok((webhook, tries))
    });
    let (webhook, tries) = settled.await?;
    let mut said = render_webhook(&webhook);
    if let (Some(last), Some(members)) = (tries.first(), said.as_object_mut()) {
        members.insert("challenge".to_owned(), render_challenge(last));
    }
    Ok(said)
}

fn render_challenge(attempt: &DeliveryAttempt) -> Value {
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

async fn send_test_events(instance: &Instance, id: i64, count: u32, key: i64) -> Result<Value, Error> {
    let sent = instance.write(move |tx| {
        find_webhook(tx, id)?;
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

async fn list_deliveries(instance: &Instance, id: i64, limit: u32, one: Option<i64>) -> Result<Value, Error> {
    let found = instance.store.read(move |tx| {
        find_webhook(tx, id)?;
        let end = (Time::from_ms(i64::MAX), i64::MAX);
        let deliveries = match one {
            Some(seq) => {
                let found = deliveries::find_by_seq(tx, seq)?.filter(|one| one.webhook_id == id);
                vec![found.ok_or_else(|| find::not_found("delivery", &seq.to_string()))?]
            }
            None => deliveries::list_before(tx, id, end, i64::from(limit))?,
        };
        let mut all = Vec::new();
        for delivery in deliveries {
            let tries = deliveries::list_attempts(tx, id, delivery.seq, 50)?;
            all.push(render_delivery(&delivery, &tries, one.is_some()));
        }
        let challenges = deliveries::list_challenges(tx, id, 5)?;
        let challenges: Value = challenges.iter().map(render_challenge).collect();
        Ok(json!({ "deliveries": all, "challenges": challenges }))
    });
    found.await
}

fn render_delivery(delivery: &Delivery, tries: &[DeliveryAttempt], whole: bool) -> Value {
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
