//! Conversions on advertisers' sites, reported by their servers (contract ads §4.16).

use ads::resources::accounts::ACCOUNT;
use ads::resources::audience_users::parse_digest;
use ads::resources::web_event_tags::WEB_EVENT_TAG;
use ads_engine::account_context::{is_unknown_account, unknown_record};
use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRateClass, CURRENCIES, CustomOperation, FieldSpec, OperationOutput, ParsedParams, RequiredRole,
};
use base::refusal::AdsProblem;
use base::{Error, Refusal, Time};
use serde_json::{Map, Value, json};

use crate::conversions::attribute_conversion;
use crate::web_events::{self, DEFAULT_CURRENCY, Identifier, WebEvent};

pub(super) static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::post("createAdsConversions", "/measurement/conversions/{pixel_id}", create_conversions)
        .summary("Reports conversions on a site: all of them or none.")
        .requires_role(RequiredRole::Anyone)
        .params(&[FieldSpec::text("pixel_id", 1, 32).required()])
        .takes_json()
        .rate_limited(AdsRateClass::PerQuarterHour(100_000))
        .body_limit(MAX_BODY_BYTES)];

const MAX_BODY_BYTES: usize = 2_000_000;
const MAX_CONVERSIONS: usize = 500;
const MAX_IDENTIFIERS: usize = 20;
const MAX_PROBLEMS: usize = 100;

fn create_conversions(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let account = open_pixel_account(ctx, params.text("pixel_id").unwrap_or_default())?;
    let items = conversion_items(params.json.as_ref())?;
    let (mut events, mut problems) = (Vec::with_capacity(items.len()), Vec::new());
    for (number, item) in items.iter().enumerate() {
        match parse_conversion(item, ctx.now()) {
            Ok(event) => match web_events::find_tag(ctx.tx, &event.event_id)? {
                Some(tag) if tag.account_id == account => events.push((tag, event)),
                _ => problems.push(at_item(number, unknown_record(&WEB_EVENT_TAG, "event_id", &event.event_id))),
            },
            Err(some) => problems.extend(some.into_iter().map(|problem| at_item(number, problem))),
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(Refusal::from(problems).into());
    }
    let (key, rates) = (ctx.cursor_key, ctx.config.rates.clone());
    for (tag, event) in &events {
        attribute_conversion(ctx.tx, &rates, &event.to_conversion(&key, tag))?;
    }
    let debug_id = ctx.tx.rng().random_uuid()?;
    let data = json!({ "conversions_processed": events.len(), "debug_id": debug_id });
    Ok(OperationOutput::from_value(data))
}

/// Opens the account of a site's tag for a caller who may write its campaigns.
fn open_pixel_account(ctx: &mut AccountContext<'_, '_>, pixel: &str) -> Result<i64, Error> {
    let known = web_events::find_site_account(ctx.tx, pixel)?;
    let missing = || {
        let message = format!("The pixel {pixel} was not found");
        AdsProblem::invalid_parameter("pixel_id", pixel, message).with_code(WEB_EVENT_TAG.not_found)
    };
    let account = known.ok_or_else(missing)?;
    match ctx.open_account((&ACCOUNT, account), RequiredRole::CampaignWriter, true, false) {
        // Not the id of an account that was not named.
        Err(Error::Refused(refusal)) if is_unknown_account(&refusal) => Err(missing().into()),
        opened => opened.map(|()| account),
    }
}

fn conversion_items(body: Option<&Value>) -> Result<&[Value], AdsProblem> {
    let items = body.and_then(|body| body.get("conversions")).filter(|items| !items.is_null());
    let items = items.ok_or_else(|| AdsProblem::missing_parameter("conversions"))?;
    let wrong = |shown: String, message: String| AdsProblem::invalid_parameter("conversions", shown, message);
    let Some(items) = items.as_array() else {
        return Err(wrong(String::new(), "Expected an array of conversions".to_owned()));
    };
    let count = items.len();
    if !(1..=MAX_CONVERSIONS).contains(&count) {
        let message = format!("Expected 1 to {MAX_CONVERSIONS} conversions, got {count}");
        return Err(wrong(count.to_string(), message));
    }
    Ok(items)
}

fn at_item(number: usize, mut problem: AdsProblem) -> AdsProblem {
    problem.message = format!("conversions[{number}]: {}", problem.message);
    problem
}

/// What identifies people is not repeated in messages.
fn invalid_member(name: &'static str, expected: &str) -> AdsProblem {
    AdsProblem::at_parameter(name, "INVALID_PARAMETER", format!("Expected {expected} for {name}"))
}

fn parse_conversion(item: &Value, now: Time) -> Result<WebEvent, Vec<AdsProblem>> {
    let Some(members) = item.as_object() else {
        return Err(vec![invalid_member("conversions", "objects")]);
    };
    let mut problems = Vec::new();
    let mut keep = |result: Result<(), AdsProblem>| problems.extend(result.err());
    let mut event = WebEvent::default();
    keep(read_text(members, "event_id", 64).and_then(|id| {
        event.event_id = id.ok_or_else(|| AdsProblem::missing_parameter("event_id"))?;
        Ok(())
    }));
    keep(read_text(members, "conversion_time", 40).and_then(|time| {
        let time = time.ok_or_else(|| AdsProblem::missing_parameter("conversion_time"))?;
        event.at = web_events::parse_event_time(&time, now)?;
        Ok(())
    }));
    keep(read_identifiers(members).map(|identifiers| event.identifiers = identifiers));
    keep(read_text(members, "conversion_id", 255).map(|id| event.conversion_id = id));
    keep(read_text(members, "description", 255).map(drop));
    keep(read_amount(members).map(|amount| event.sale_amount = amount));
    keep(read_count(members).map(|count| event.order_quantity = count));
    keep(match members.get("contents") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(contents)) if contents.iter().all(Value::is_object) => Ok(()),
        Some(_) => Err(invalid_member("contents", "an array of objects")),
    });
    if problems.is_empty() { Ok(event) } else { Err(problems) }
}

fn read_text(members: &Map<String, Value>, name: &'static str, max: usize) -> Result<Option<String>, AdsProblem> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= max => Ok(Some(text.clone())),
        Some(_) => Err(invalid_member(name, &format!("String of length 1..{max}"))),
    }
}

fn read_amount(members: &Map<String, Value>) -> Result<Option<(i64, String)>, AdsProblem> {
    let currency = read_text(members, "price_currency", 3)?.unwrap_or_else(|| DEFAULT_CURRENCY.to_owned());
    if !CURRENCIES.contains(&currency.as_str()) {
        return Err(invalid_member("price_currency", "a currency of ISO 4217"));
    }
    let text = match members.get("value") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let micros = crate::conversions::parse_micros(&text);
    let micros = micros.ok_or_else(|| invalid_member("value", "a decimal number that is not negative"))?;
    Ok(Some((micros, currency)))
}

fn read_count(members: &Map<String, Value>) -> Result<i64, AdsProblem> {
    let count = match members.get("number_items") {
        None | Some(Value::Null) => return Ok(1),
        Some(Value::String(text)) => text.parse().ok(),
        Some(value) => value.as_i64(),
    };
    count
        .filter(|count| (1..=1_000_000).contains(count))
        .ok_or_else(|| invalid_member("number_items", "a number above 0"))
}

fn read_identifiers(members: &Map<String, Value>) -> Result<Vec<Identifier>, AdsProblem> {
    let none = || AdsProblem {
        message: "At least one identifier is required".to_owned(),
        ..AdsProblem::missing_parameter("identifiers")
    };
    let items = match members.get("identifiers") {
        None | Some(Value::Null) => return Err(none()),
        Some(Value::Array(items)) if items.len() <= MAX_IDENTIFIERS => items,
        Some(_) => {
            return Err(invalid_member("identifiers", &format!("an array of at most {MAX_IDENTIFIERS} objects")));
        }
    };
    let (mut identifiers, mut network) = (Vec::new(), (None, None));
    for item in items {
        let members = item.as_object().ok_or_else(|| invalid_member("identifiers", "objects"))?;
        identifiers.extend(read_text(members, "twclid", 255)?.map(Identifier::ClickId));
        identifiers.extend(read_digest(members, "hashed_email")?.map(Identifier::Email));
        identifiers.extend(read_digest(members, "hashed_phone_number")?.map(Identifier::Phone));
        network.0 = read_text(members, "ip_address", 64)?.or(network.0);
        network.1 = read_text(members, "user_agent", 2048)?.or(network.1);
    }
    match network {
        (Some(address), Some(agent)) => identifiers.push(Identifier::Browser(address, agent)),
        (Some(_), None) | (None, Some(_)) if identifiers.is_empty() => {
            let message = "ip_address and user_agent need a second identifier";
            return Err(AdsProblem { message: message.to_owned(), ..AdsProblem::missing_parameter("identifiers") });
        }
        _ => {}
    }
    if identifiers.is_empty() { Err(none()) } else { Ok(identifiers) }
}

fn read_digest(members: &Map<String, Value>, name: &'static str) -> Result<Option<[u8; 32]>, AdsProblem> {
    let Some(text) = read_text(members, name, 255)? else {
        return Ok(None);
    };
    let not_a_hash =
        || AdsProblem::at_parameter(name, "INVALID_PARAMETER", format!("{name} is not a valid SHA-256 hash"));
    parse_digest(&text).map(Some).ok_or_else(not_a_hash)
}

#[cfg(test)]
mod tests {
    use base::Time;
    use serde_json::json;

    use super::parse_conversion;

    #[test]
    fn conversion_names_what_is_wrong_with_it_without_repeating_identifiers() {
        let now = Time::parse("2026-04-02T09:00:00Z").unwrap();
        let hash = "0".repeat(64);
        let good = json!({
            "conversion_time": "2026-04-02T08:00:00.123Z",
            "event_id": "tw-a1-b2",
            "identifiers": [{ "hashed_email": hash }, { "twclid": "x" }],
            "value": "12.5",
            "number_items": 2,
        });
        let event = parse_conversion(&good, now).unwrap();
        assert_eq!(event.sale_amount, Some((12_500_000, "USD".to_owned())));
        assert_eq!((event.order_quantity, event.identifiers.len()), (2, 2));
        for (name, value, message) in [
            ("event_id", json!(null), "event_id"),
            ("conversion_time", json!("2026-04-02T10:00:00Z"), "conversion_time"),
            ("conversion_time", json!("2025-04-02T10:00:00Z"), "conversion_time"),
            ("identifiers", json!([]), "At least one identifier"),
            ("identifiers", json!([{ "hashed_email": "ana@bikes.example" }]), "not a valid SHA-256 hash"),
            ("identifiers", json!([{ "ip_address": "192.0.2.1" }]), "second identifier"),
            ("value", json!("-1"), "value"),
            ("price_currency", json!("XXX"), "price_currency"),
            ("number_items", json!(0), "number_items"),
            ("contents", json!("x"), "contents"),
        ] {
            let mut item = good.clone();
            item[name] = value;
            let problems = parse_conversion(&item, now).unwrap_err();
            let texts: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            assert!(texts.len() == 1 && texts[0].contains(message), "{texts:?} {message}");
            assert!(!texts[0].contains("ana@"), "{texts:?}");
        }
    }
}
