//! Funding instruments, which pay for campaigns.

use std::collections::HashMap;

use ads_engine::{
    AccountContext, AdsRecord, CURRENCIES, FieldRequirement, FieldSpec, Kind, ListFilter, RecordChange, RequiredRole,
    Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{AppId, Error, Time, VocabularyWord};
use serde_json::{Value, json};
use store::ledger::AdEntity;

use crate::budget;
use crate::resources::accounts::ACCOUNT;
use crate::resources::bidding_rules::validate_amount;

/// Created by operators in production, and by clients in the sandbox.
pub static FUNDING_INSTRUMENT: Resource = Resource {
    name: "funding_instrument",
    id: VocabularyWord::same_in_both("funding_instrument_id"),
    path: "funding_instruments",
    label: "funding instrument",
    not_found: "FUNDING_INSTRUMENT_NOT_FOUND",
    fields: &[
        FieldSpec::one_of("type", INSTRUMENT_TYPES).required().immutable(),
        FieldSpec::text("description", 0, 255).set_by_server().default_word("(no payment method has been set up yet)"),
        FieldSpec::one_of("currency", CURRENCIES).required().immutable(),
        FieldSpec::one_of("entity_status", &["ACTIVE", "PAUSED"]).set_by_server().default_word("ACTIVE"),
        FieldSpec::new("start_time", Kind::TIME).required().immutable(),
        FieldSpec::new("end_time", Kind::TIME).immutable(),
        FieldSpec::money("credit_limit_local_micro").immutable(),
        FieldSpec::money("funded_amount_local_micro"),
        FieldSpec::text("io_header", 0, 255).set_by_server(),
        FieldSpec::new("paused", Kind::BOOL).update(FieldRequirement::Optional).hidden(),
        // The only app that may change a partner-managed instrument; set by the operator.
        FieldSpec::new("managing_app_id", Kind::LONG).set_by_server().hidden(),
        // When recommendations are computed next.
        FieldSpec::new("advise_at", Kind::TIME).set_by_server().hidden().default_number(0),
    ],
    filters: &[ListFilter::ids("funding_instrument_ids", "id", &FUNDING_INSTRUMENT)],
    sort_fields: &["funded_amount_local_micro", "start_time", "end_time"],
    write_role: RequiredRole::Admin,
    sandbox_verbs: &[ResourceVerb::Create, ResourceVerb::Delete],
    rules: &[
        ValidationRule::OnRecord(validate_time_range),
        ValidationRule::OnRecord(validate_amounts),
        ValidationRule::InContext(validate_manager),
        ValidationRule::InContext(set_status),
    ],
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

const INSTRUMENT_TYPES: &[&str] =
    &["AGENCY_CREDIT_LINE", "CREDIT_CARD", "CREDIT_LINE", "INSERTION_ORDER", "PARTNER_MANAGED"];

fn validate_time_range(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    match (record.int("start_time"), record.int("end_time")) {
        (Some(start), Some(end)) if end <= start => {
            Err(AdsProblem::invalid_attribute("end_time", "The end time must be after the start time"))
        }
        _ => Ok(()),
    }
}

/// Whether the instrument is funded with an amount, instead of having a credit limit.
pub fn is_order(instrument: &AdsRecord) -> bool {
    matches!(instrument.text("type"), "INSERTION_ORDER" | "PARTNER_MANAGED")
}

fn validate_amounts(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    let funded = record.get("funded_amount_local_micro").is_some();
    let limited = record.get("credit_limit_local_micro").is_some();
    let kind = record.text("type");
    let takes_funds = is_order(record);
    let wrong = |name, message: String| Err(AdsProblem::invalid_attribute(name, message));
    if funded && !takes_funds {
        return wrong("funded_amount_local_micro", format!("A {kind} is not funded"));
    }
    if limited && takes_funds {
        return wrong("credit_limit_local_micro", format!("A {kind} has no credit limit"));
    }
    if takes_funds && !funded && (change.is_new() || change.was_sent("funded_amount_local_micro")) {
        return Err(AdsProblem::missing_parameter("funded_amount_local_micro"));
    }
    let currency = record.text("currency");
    for name in ["funded_amount_local_micro", "credit_limit_local_micro"] {
        validate_amount(name, record.int(name), currency)?;
    }
    Ok(())
}

/// Otherwise whoever administers an account could give it money.
fn validate_manager(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb != ResourceVerb::Update {
        return Ok(());
    }
    let record = &change.record;
    let refuse = |message| Err(AdsProblem::new("FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED", message).into());
    if record.text("type") != "PARTNER_MANAGED" {
        return refuse("Only a partner-managed funding instrument can be changed");
    }
    let manager = record.int("managing_app_id");
    let is_manager = manager.is_some() && manager == ctx.caller.app.map(AppId::get);
    if !is_manager && !ctx.account()?.record.flag("sandbox") {
        return refuse("Only the app that manages a funding instrument can change it");
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of validation rules")]
fn set_status(_: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.was_sent("paused") {
        let status = if change.record.flag("paused") { "PAUSED" } else { "ACTIVE" };
        change.record.set("entity_status", status);
    }
    Ok(())
}

/// Why an instrument cannot pay, in the contract's order. `spent` is in micros.
pub fn reasons_not_able_to_fund(record: &AdsRecord, spent: i64, now: Time) -> Vec<&'static str> {
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
    let limits = budget::budget_limits(AdEntity::Funding, record);
    if limits.total.is_some_and(|most| spent >= most) {
        reasons.push("BUDGET_EXHAUSTED");
    }
    reasons
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    records: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let now = ctx.now();
    let ids: Vec<i64> = records.iter().map(|record| record.id).collect();
    let spent = store::ledger::total_spend(ctx.tx, AdEntity::Funding, &ids)?;
    let spent: HashMap<i64, i64> = spent.into_iter().collect();
    let fields = |record: &AdsRecord| {
        let spent = spent.get(&record.id).copied().unwrap_or(0);
        let reasons = reasons_not_able_to_fund(record, spent, now);
        let credit = matches!(record.text("type"), "CREDIT_LINE" | "AGENCY_CREDIT_LINE");
        let limit = record.int("credit_limit_local_micro").filter(|_| credit);
        // The last event may have cost more than the remaining amount.
        let remaining = limit.map(|limit| limit.saturating_sub(spent).max(0));
        vec![
            ("account_id", ACCOUNT.id_format.format(record.account_id).into()),
            ("credit_remaining_local_micro", remaining.into()),
            ("able_to_fund", reasons.is_empty().into()),
            ("reasons_not_able_to_fund", json!(reasons)),
        ]
    };
    Ok(records.iter().map(fields).collect())
}
