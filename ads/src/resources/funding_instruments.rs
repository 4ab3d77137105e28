//! Funding instruments: what pays for campaigns.

use std::collections::HashMap;

use base::refusal::AdsProblem;
use base::{Error, Time, VocabularyWord};
use serde_json::{Value, json};
use store::ledger::AdEntity;

use crate::access::Who;
use crate::change::Change;
use crate::declare::{Field, Filter, Need, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::Kind;
use crate::ledger::purse;
use crate::record::Record;
use crate::resources::accounts::ACCOUNT;
use crate::resources::bidding::{CURRENCIES, is_whole};

/// What pays for campaigns. Operators bring them into production; the sandbox makes its own.
pub static FUNDING_INSTRUMENT: Resource = Resource {
    name: "funding_instrument",
    id: VocabularyWord::same_in_both("funding_instrument_id"),
    path: "funding_instruments",
    about: "funding instrument",
    not_found: "FUNDING_INSTRUMENT_NOT_FOUND",
    fields: &[
        Field::one_of("type", TYPES).required().fixed(),
        Field::text("description", 0, 255)
            .kept()
            .or("(no payment method has been set up yet)"),
        Field::one_of("currency", CURRENCIES).required().fixed(),
        Field::one_of("entity_status", &["ACTIVE", "PAUSED"])
            .kept()
            .or("ACTIVE"),
        Field::new("start_time", Kind::Time).required().fixed(),
        Field::new("end_time", Kind::Time).fixed(),
        Field::money("credit_limit_local_micro").fixed(),
        Field::money("funded_amount_local_micro"),
        Field::text("io_header", 0, 255).kept(),
        Field::new("paused", Kind::Bool).update(Need::May).hidden(),
        // When it is looked for what could do better.
        Field::new("advise_at", Kind::Time)
            .kept()
            .hidden()
            .or_number(0),
    ],
    filters: &[Filter::ids(
        "funding_instrument_ids",
        "id",
        &FUNDING_INSTRUMENT,
    )],
    sorts: &["funded_amount_local_micro", "start_time", "end_time"],
    writes: Who::Admin,
    sandbox: &[Verb::Create, Verb::Delete],
    rules: &[
        Rule::Own(ends_after_it_starts),
        Rule::Own(has_amounts_of_its_type),
        Rule::Own(is_changed_by_its_manager),
        Rule::Within(status),
    ],
    computed: Some(computed),
    ..Resource::DEFAULT
};

const TYPES: &[&str] = &[
    "AGENCY_CREDIT_LINE",
    "CREDIT_CARD",
    "CREDIT_LINE",
    "INSERTION_ORDER",
    "PARTNER_MANAGED",
];

fn ends_after_it_starts(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    match (record.int("start_time"), record.int("end_time")) {
        (Some(start), Some(end)) if end <= start => Err(AdsProblem::invalid_attribute(
            "end_time",
            "The end time must be after the start time",
        )),
        _ => Ok(()),
    }
}

fn has_amounts_of_its_type(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    let funded = record.get("funded_amount_local_micro").is_some();
    let limited = record.get("credit_limit_local_micro").is_some();
    let kind = record.text("type");
    let (takes_funds, takes_limit) = match kind {
        "INSERTION_ORDER" | "PARTNER_MANAGED" => (true, false),
        _ => (false, true),
    };
    let wrong = |name, message: String| Err(AdsProblem::invalid_attribute(name, message));
    if funded && !takes_funds {
        return wrong(
            "funded_amount_local_micro",
            format!("A {kind} is not funded"),
        );
    }
    if limited && !takes_limit {
        return wrong(
            "credit_limit_local_micro",
            format!("A {kind} has no credit limit"),
        );
    }
    if kind == "INSERTION_ORDER" && !funded {
        return Err(AdsProblem::missing_parameter("funded_amount_local_micro"));
    }
    let currency = record.text("currency");
    for name in ["funded_amount_local_micro", "credit_limit_local_micro"] {
        is_whole(name, record.int(name), currency)?;
    }
    Ok(())
}

fn is_changed_by_its_manager(change: &Change) -> Result<(), AdsProblem> {
    let managed = change.record.text("type") == "PARTNER_MANAGED";
    if change.verb == Verb::Update && !managed {
        let message = "Only a partner-managed funding instrument can be changed";
        return Err(AdsProblem::new(
            "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED",
            message,
        ));
    }
    Ok(())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "a rule may refuse; this one only sets"
)]
fn status(_: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.sent("paused") {
        let status = if change.record.flag("paused") {
            "PAUSED"
        } else {
            "ACTIVE"
        };
        change.record.set("entity_status", status);
    }
    Ok(())
}

/// Why an instrument that has paid so much cannot pay now, in the contract's order.
pub fn reasons(record: &Record, spent: i64, now: Time) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    if record.deleted {
        reasons.push("DELETED");
    }
    if record.text("entity_status") == "PAUSED" {
        reasons.push("PAUSED");
    }
    if record.time("start_time").is_some_and(|start| start > now) {
        reasons.push("STARTS_IN_FUTURE");
    }
    if record.time("end_time").is_some_and(|end| end <= now) {
        reasons.push("EXPIRED");
    }
    let limits = purse::limits(AdEntity::Funding, record);
    if limits.total.is_some_and(|most| spent >= most) {
        reasons.push("BUDGET_EXHAUSTED");
    }
    reasons
}

fn computed(
    desk: &mut Desk<'_, '_>,
    records: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let now = desk.now();
    let ids: Vec<i64> = records.iter().map(|record| record.id).collect();
    let spent = store::ledger::total_spend(desk.tx, AdEntity::Funding, &ids)?;
    let spent: HashMap<i64, i64> = spent.into_iter().collect();
    let of = |record: &Record| {
        let spent = spent.get(&record.id).copied().unwrap_or(0);
        let reasons = reasons(record, spent, now);
        let credit = matches!(record.text("type"), "CREDIT_LINE" | "AGENCY_CREDIT_LINE");
        let limit = record.int("credit_limit_local_micro").filter(|_| credit);
        // The last event may have cost more than was left.
        let remaining = limit.map(|limit| limit.saturating_sub(spent).max(0));
        vec![
            ("account_id", ACCOUNT.ids.write(record.account_id).into()),
            ("credit_remaining_local_micro", remaining.into()),
            ("able_to_fund", reasons.is_empty().into()),
            ("reasons_not_able_to_fund", json!(reasons)),
        ]
    };
    Ok(records.iter().map(of).collect())
}
