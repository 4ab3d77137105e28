//! What the control API and the console ask of the journal.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Error, Fault, Refusal, UserId, sorted_distinct};
use deliver::activity::{ActivityScope, match_events};
use emulator::journal::{JournalEntry, RequestFilter};
use store::deliveries::{self, Delivery, DeliveryAttempt};
use store::event_log::{self, LogEvent};
use store::{AppendedEvent, Tx, users, webhooks};
use web::request_context::RequestContext;

/// Of one delivery.
const MAX_ATTEMPTS: i64 = 10;
/// Log entries of the same time among which one without a number is looked for.
const MAX_SCANNED_EVENTS: i64 = 1_000;

/// What a request caused, as far as it is still stored.
#[derive(Default)]
pub(crate) struct RequestEffects {
    pub(crate) events: Vec<LogEvent>,
    pub(crate) deliveries: Vec<WebhookEffect>,
}

pub(crate) struct WebhookEffect {
    pub(crate) webhook_url: String,
    pub(crate) delivery: Delivery,
    /// Newest first.
    pub(crate) attempts: Vec<DeliveryAttempt>,
}

pub(crate) async fn load_effects(call: &RequestContext, entry: &JournalEntry) -> Result<RequestEffects, Error> {
    if entry.events.is_empty() {
        return Ok(RequestEffects::default());
    }
    let (caused, config) = (entry.events.clone(), call.state.event_context());
    call.read(move |tx| {
        let mut events = Vec::new();
        for event in &caused {
            events.extend(find_event(tx, event)?);
        }
        let mut found = Vec::new();
        for envelope in match_events(tx, &events, &ActivityScope::Webhooks, config)? {
            if let Some(webhook) = envelope.webhook {
                found.extend(load_deliveries(tx, webhook, envelope.id)?);
            }
        }
        Ok(RequestEffects { events, deliveries: found })
    })
    .await
}

fn find_event(tx: &mut Tx<'_>, event: &AppendedEvent) -> Result<Option<LogEvent>, Fault> {
    if let Some(seq) = event.seq {
        return event_log::find_by_seq(tx, seq);
    }
    let cursor = event_log::cursor_before(tx, event.at)?;
    let later = event_log::list_after(tx, cursor, MAX_SCANNED_EVENTS)?;
    let is_same = |one: &LogEvent| {
        one.at == event.at
            && one.kind == event.kind
            && (one.actor_id, one.subject_id) == (event.actor_id, event.subject_id)
    };
    Ok(later.into_iter().find(is_same))
}

fn load_deliveries(tx: &mut Tx<'_>, webhook: i64, event_id: i64) -> Result<Vec<WebhookEffect>, Fault> {
    let url = webhooks::find_by_id(tx, webhook)?.map(|webhook| webhook.url).unwrap_or_default();
    let mut effects = Vec::new();
    for delivery in deliveries::list_by_event(tx, webhook, &event_id.to_string())? {
        let attempts = deliveries::list_attempts(tx, webhook, delivery.seq, MAX_ATTEMPTS)?;
        effects.push(WebhookEffect { webhook_url: url.clone(), delivery, attempts });
    }
    Ok(effects)
}

/// Replaces a user's name by the id; refuses unknown names.
pub(crate) async fn resolve_user(call: &RequestContext, filter: &mut RequestFilter) -> Result<(), Error> {
    let Some(user) = filter.user.take().filter(|user| !user.is_empty()) else {
        return Ok(());
    };
    if user.bytes().all(|byte| byte.is_ascii_digit()) {
        filter.user = Some(user);
        return Ok(());
    }
    let name = user.trim_start_matches('@').to_owned();
    let found = call.read(move |tx| Ok(users::find_by_username(tx, &name)?)).await?;
    let message = format!("user: no user has the name {user}; a name such as @ada or an id is accepted");
    let found = found.ok_or_else(|| Refusal::invalid_parameter("user", &user, message))?;
    filter.user = Some(found.id.to_string());
    Ok(())
}

/// The names of the entries' users.
pub(crate) async fn load_usernames(
    call: &RequestContext,
    entries: &[Arc<JournalEntry>],
) -> Result<HashMap<UserId, String>, Error> {
    let ids = sorted_distinct(entries.iter().filter_map(|entry| entry.user));
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = call.read(move |tx| Ok(users::find_by_ids(tx, &ids)?)).await?;
    Ok(found.into_iter().map(|user| (user.id, user.username)).collect())
}
