//! What serving clients report: taken as a whole or not at all, each thing once.

use std::collections::HashSet;

use base::refusal::AdsProblem;
use base::{Error, Refusal, Time};
use serde_json::{Value, json};
use store::Tx;
use store::ledger::{self, AdEventKind, AdEventOrigin};

use super::token::Impression;
use super::wrong;
use crate::kind::time;
use crate::ledger::{Event, record};

/// Events of one report.
pub const MOST: usize = 1000;

/// What may be reported. What people do on the platform is known there.
fn is_reported(kind: AdEventKind) -> bool {
    !matches!(
        kind,
        AdEventKind::Like
            | AdEventKind::Repost
            | AdEventKind::Reply
            | AdEventKind::Follow
            | AdEventKind::PollVote
    )
}

/// Something that became of an impression.
#[derive(Clone, Debug)]
pub struct Report {
    impression: Impression,
    kind: AdEventKind,
    at: Time,
}

impl Report {
    /// Reads the events of a body.
    pub fn read_all(body: &Value, key: &[u8; 32], now: Time) -> Result<Vec<Self>, Error> {
        let Some(items) = body.get("events").and_then(Value::as_array) else {
            return Err(AdsProblem::missing_parameter("events").into());
        };
        if items.is_empty() || items.len() > MOST {
            let message = format!("Expected 1..{MOST} events, got {}", items.len());
            return Err(AdsProblem::invalid_parameter("events", items.len(), message).into());
        }
        let mut problems = Vec::new();
        let mut all = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            match read(item, key, now) {
                Ok(report) => all.push(report),
                Err(mut problem) => {
                    problem.message = format!("events[{place}]: {}", problem.message);
                    problems.push(problem);
                }
            }
        }
        if problems.is_empty() {
            return Ok(all);
        }
        problems.truncate(100);
        Err(Refusal::from(problems).into())
    }
}

fn read(item: &Value, key: &[u8; 32], now: Time) -> Result<Report, AdsProblem> {
    let word = |name: &'static str| item.get(name).filter(|value| !value.is_null());
    let token = word("impression_token")
        .ok_or_else(|| AdsProblem::missing_parameter("impression_token"))?;
    let impression = token
        .as_str()
        .and_then(|token| Impression::open(key, token))
        .ok_or_else(|| wrong("impression_token", token, "a token that was given out"))?;
    let kind = word("kind").ok_or_else(|| AdsProblem::missing_parameter("kind"))?;
    let kind = kind
        .as_str()
        .and_then(AdEventKind::parse)
        .filter(|kind| is_reported(*kind))
        .ok_or_else(|| wrong("kind", kind, "a kind that is reported"))?;
    let at = match word("at") {
        None => now,
        Some(value) => value
            .as_str()
            .and_then(time)
            .ok_or_else(|| wrong("at", value, "a time in ISO 8601"))?,
    };
    let until = match kind {
        AdEventKind::Impression => impression.until(),
        _ => impression.over(),
    };
    // Tokens know milliseconds, times that are sent often seconds only.
    let from = impression.at.plus_ms(-1000);
    if at < from || at > now.plus_ms(1000) || at > until || now > until.plus_ms(86_400_000) {
        let shown = Value::from(crate::kind::instant(at));
        return Err(wrong("at", &shown, "a time at which the token holds"));
    }
    Ok(Report {
        impression,
        kind,
        at: at.max(impression_start(from, now)).min(now),
    })
}

fn impression_start(from: Time, now: Time) -> Time {
    from.plus_ms(1000).min(now)
}

/// Records reports; of each, whether it was new.
pub fn report(tx: &mut Tx<'_>, reports: &[Report]) -> Result<Value, Error> {
    let ids: Vec<i64> = reports.iter().map(|one| one.impression.id).collect();
    let known: HashSet<(i64, AdEventKind)> = ledger::event_kinds_by_impressions(tx, &ids)?
        .into_iter()
        .collect();
    let shown = |id: i64| {
        let now = reports.iter();
        let mut now = now.filter(|one| one.kind == AdEventKind::Impression);
        known.contains(&(id, AdEventKind::Impression)) || now.any(|one| one.impression.id == id)
    };
    for (place, one) in reports.iter().enumerate() {
        if !shown(one.impression.id) {
            let message = format!("events[{place}]: the impression itself was not reported");
            return Err(AdsProblem::invalid_parameter("kind", one.kind.name(), message).into());
        }
    }
    let events: Vec<Event> = reports.iter().map(|one| event(tx, one)).collect();
    let new: HashSet<i64> = record(tx, &events)?.iter().map(|fact| fact.id).collect();
    let told: Vec<Value> = events
        .iter()
        .map(|event| {
            let state = if new.contains(&event.id) {
                "RECORDED"
            } else {
                "REPEATED"
            };
            json!({ "kind": event.kind.name(), "status": state })
        })
        .collect();
    Ok(json!({ "data": told }))
}

fn event(tx: &Tx<'_>, report: &Report) -> Event {
    let of = &report.impression;
    Event {
        kind: report.kind,
        at: report.at,
        line_item_id: of.line_item_id,
        creative: of.creative,
        creative_id: of.creative_id,
        subject: of.subject,
        viewer: of.viewer,
        placement: of.placement,
        looks: of.looks.clone(),
        price: of.price,
        origin: AdEventOrigin::Served,
        id: tx.next_id::<()>().get(),
        once: of.id,
    }
}
