//! The account history: what changed, who changed it, and how.

use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::{format_time, parse_time_in_zone};
use ads_engine::listing::{cursor_scope, parse_cursor};
use ads_engine::{
    AccountContext, AccountTimeZone, COUNT, CURSOR, CustomOperation, FieldSpec, IdFormat, Kind, OperationOutput,
    ParsedParams, RequiredRole, cursor, parse_record_id,
};
use base::refusal::AdsProblem;
use base::time::HOUR_MS;
use base::{Error, Refusal, Time, UserId, VocabularyWord};
use serde_json::{Map, Value, json};
use store::ads::{self, AdsChangeQuery};
use store::records::OrderValue;

use crate::resources::accounts;

const ENTITIES: &[VocabularyWord] = &[
    VocabularyWord::same_in_both("CAMPAIGN"),
    VocabularyWord::same_in_both("LINE_ITEM"),
    VocabularyWord::new("PROMOTED_POST", "PROMOTED_TWEET"),
    VocabularyWord::same_in_both("TARGETING_CRITERIA"),
    VocabularyWord::same_in_both("PROMOTED_ACCOUNT"),
];

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::get("getAdsAccountHistory", "account_history", list_account_changes)
        .summary("Changes of an account's entities.")
        .requires_role(RequiredRole::CampaignReader)
        .params(&[
            FieldSpec::new("entity_type", Kind::word(ENTITIES)).required(),
            FieldSpec::text("entity_id", 1, 20).required(),
            FieldSpec::text("start_time", 1, 40).required(),
            FieldSpec::text("end_time", 1, 40).required(),
            FieldSpec::new("user_id", Kind::LONG),
            COUNT,
            CURSOR,
        ])];

fn list_account_changes(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    accounts::require_opt_in_feature(ctx, "ACCOUNT_HISTORY")?;
    let zone = AccountTimeZone::from_name(ctx.account()?.record.text("timezone"));
    let (from, to) = parse_hour_range(&zone, params)?;
    let entity = params.text("entity_type").unwrap_or_default();
    let of = parse_record_id(IdFormat::Short, "entity_id", params.text("entity_id").unwrap_or_default())?;
    let scope = cursor_scope(ctx, &params.echo);
    let after = match parse_cursor(ctx, &scope, params)? {
        Some((OrderValue::Number(at), id)) => Some((at, id)),
        _ => None,
    };
    let count = params.int("count").unwrap_or(200);
    let mut query = AdsChangeQuery {
        account: ctx.account_id()?,
        entity,
        entity_id: of,
        includes_children: false,
        user: params.int("user_id").map(UserId::new),
        from,
        to,
        after,
        limit: count + 1,
    };
    let mut rows = ads::list_changes(ctx.tx, &query)?;
    if entity == "TARGETING_CRITERIA" {
        // Criteria are also found by their line item; both use short ids from 1.
        query.includes_children = true;
        rows.extend(ads::list_changes(ctx.tx, &query)?);
        rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.id)));
        rows.dedup_by_key(|row| row.id);
    }
    let count = usize::try_from(count).unwrap_or(1);
    let has_more = rows.len() > count;
    rows.truncate(count);
    let next = rows.last().filter(|_| has_more);
    let next = next.map(|row| cursor::encode(&ctx.cursor_key, &scope, &(OrderValue::Number(row.at.ms()), row.id)));
    let next = next.transpose()?;
    let vocabulary = ctx.caller.vocabulary;
    let data: Vec<Value> = rows
        .iter()
        .map(|row| {
            let body: Value = serde_json::from_str(&row.body).unwrap_or_default();
            let kind = Kind::word(ENTITIES);
            json!({
                "change_by": { "user_id": row.user_id.to_string(), "platform": row.platform },
                "change_time": format_time(row.at),
                "change_type": row.action,
                "entity": kind.render_value(&row.entity.as_str().into(), vocabulary),
                "entity_id": IdFormat::Short.format(row.entity_id),
                "entity_data": body.get("entity_data"),
                "changes": body.get("changes"),
            })
        })
        .collect();
    let mut output = OperationOutput::from_value(data.into());
    output.next_cursor = Some(next);
    let echo = [("start_time", from), ("end_time", to)].map(|(name, at)| (name.to_owned(), format_time(at).into()));
    output.echo_params = Map::from_iter(echo);
    Ok(output)
}

/// Parses the time range: whole hours of UTC or of the account's time zone, at least one.
fn parse_hour_range(zone: &AccountTimeZone, params: &ParsedParams) -> Result<(Time, Time), Refusal> {
    let read = |name: &'static str| {
        let text = params.text(name).unwrap_or_default();
        let message = || format!("Expected a time in ISO 8601, got \"{text}\" for {name}");
        parse_time_in_zone(zone, text).ok_or_else(|| AdsProblem::invalid_parameter(name, text, message()))
    };
    let (from, to) = match (read("start_time"), read("end_time")) {
        (Ok(from), Ok(to)) => (from, to),
        (from, to) => return Err(Refusal::from([from.err(), to.err()].into_iter().flatten().collect::<Vec<_>>())),
    };
    let wrong = |message: &str| Refusal::from(AdsProblem::new("INVALID_TIME_WINDOW", message));
    let is_full_hour = |at: Time| at.ms() % HOUR_MS == 0 || zone.is_full_hour(at);
    if !is_full_hour(from) || !is_full_hour(to) {
        return Err(wrong("The times must be whole hours"));
    }
    if to <= from {
        return Err(wrong("The end time must be after the start time"));
    }
    Ok((from, to))
}
