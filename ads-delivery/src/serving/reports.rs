//! Reports of serving clients: accepted as a whole or not at all, each event once.

use std::collections::HashSet;

use ads_engine::field_kind::parse_time;
use base::refusal::AdsProblem;
use base::{Error, Refusal, Time};
use serde_json::{Value, json};
use store::Tx;
use store::ledger::{self, AdEventKind, AdEventOrigin};

use super::impression_token::AdImpression;
use super::invalid_member;
use crate::ledger::{LedgerEvent, record_events};

pub const MAX_REPORTS: usize = 1000;

/// Whether clients may report the event; engagement on the platform is recorded there, and advertisers report
/// conversions.
fn is_reportable(kind: AdEventKind) -> bool {
    !matches!(
        kind,
        AdEventKind::Like
            | AdEventKind::Repost
            | AdEventKind::Reply
            | AdEventKind::Follow
            | AdEventKind::PollVote
            | AdEventKind::Conversion
    )
}

#[derive(Clone, Debug)]
pub struct ImpressionReport {
    impression: AdImpression,
    kind: AdEventKind,
    at: Time,
}

impl ImpressionReport {
    pub fn parse_all(body: &Value, key: &[u8; 32], now: Time) -> Result<Vec<Self>, Error> {
        let Some(items) = body.get("events").and_then(Value::as_array) else {
            return Err(AdsProblem::missing_parameter("events").into());
        };
        if items.is_empty() || items.len() > MAX_REPORTS {
            let message = format!("Expected 1..{MAX_REPORTS} events, got {}", items.len());
            return Err(AdsProblem::invalid_parameter("events", items.len(), message).into());
        }
        let mut problems = Vec::new();
        let mut all = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            match parse(item, key, now) {
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

fn parse(item: &Value, key: &[u8; 32], now: Time) -> Result<ImpressionReport, AdsProblem> {
    let word = |name: &'static str| item.get(name).filter(|value| !value.is_null());
    let token = word("impression_token").ok_or_else(|| AdsProblem::missing_parameter("impression_token"))?;
    let impression = token
        .as_str()
        .and_then(|token| AdImpression::decode(key, token))
        .ok_or_else(|| invalid_member("impression_token", token, "a token that was given out"))?;
    let kind = word("kind").ok_or_else(|| AdsProblem::missing_parameter("kind"))?;
    let kind = kind
        .as_str()
        .and_then(AdEventKind::parse)
        .filter(|kind| is_reportable(*kind))
        .ok_or_else(|| invalid_member("kind", kind, "a kind that is reported"))?;
    let at = match word("at") {
        None => now,
        Some(value) => {
            value.as_str().and_then(parse_time).ok_or_else(|| invalid_member("at", value, "a time in ISO 8601"))?
        }
    };
    let until = match kind {
        AdEventKind::Impression => impression.viewable_until(),
        _ => impression.engageable_until(),
    };
    // Tokens have milliseconds, while reported times often have only seconds.
    let from = impression.requested_at.plus_ms(-1000);
    if at < from || at > now.plus_ms(1000) || at > until || now > until.plus_ms(86_400_000) {
        let shown = Value::from(ads_engine::field_kind::format_time(at));
        return Err(invalid_member("at", &shown, "a time at which the token holds"));
    }
    Ok(ImpressionReport { impression, kind, at: at.max(impression_start(from, now)).min(now) })
}

fn impression_start(from: Time, now: Time) -> Time {
    from.plus_ms(1000).min(now)
}

/// Records reports; the result says for each whether it was new.
pub fn record_reports(tx: &mut Tx<'_>, reports: &[ImpressionReport]) -> Result<Value, Error> {
    let ids: Vec<i64> = reports.iter().map(|one| one.impression.id).collect();
    let known: HashSet<(i64, AdEventKind)> = ledger::event_kinds_by_impressions(tx, &ids)?.into_iter().collect();
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
    let events: Vec<LedgerEvent> = reports.iter().map(|one| event_from_report(tx, one)).collect();
    let new: HashSet<i64> = record_events(tx, &events)?.iter().map(|fact| fact.id).collect();
    let results: Vec<Value> = events
        .iter()
        .map(|event| {
            let state = if new.contains(&event.id) { "RECORDED" } else { "REPEATED" };
            json!({ "kind": event.kind.name(), "status": state })
        })
        .collect();
    Ok(json!({ "data": results }))
}

fn event_from_report(tx: &Tx<'_>, report: &ImpressionReport) -> LedgerEvent {
    let id = tx.next_id::<()>().get();
    LedgerEvent::from_impression(&report.impression, (report.kind, report.at), AdEventOrigin::Served, id)
}
