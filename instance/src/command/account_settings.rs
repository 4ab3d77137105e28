//! `locum ads account set`: an account's limits, feature gates and review status.

use ads::resources::accounts::{ACCOUNT, MAX_CAMPAIGNS, MAX_LINE_ITEMS, OPT_IN_FEATURES};
use ads_engine::{AdsRecord, Kind, parse_value};
use base::Error;
use serde_json::Value;
use store::Tx;

use super::ads_accounts::{AccountCommand, invalid_parameter, show_account};

pub(super) fn update_account(tx: &mut Tx<'_>, account: AdsRecord, command: &AccountCommand) -> Result<Value, Error> {
    let AccountCommand::Set { campaigns, line_items, gates, approval, business, allow, refuse, estimate, .. } = command
    else {
        return Ok(Value::Null);
    };
    let account = apply_opt_ins(account, allow, refuse)?;
    let account = apply_business(account, business.as_deref())?;
    let account = apply_choice(account, ("estimate", "estimate"), estimate.as_deref())?;
    let account = apply_choice(account, ("gates", "feature_gates"), gates.as_deref())?;
    let account = apply_choice(account, ("approval", "approval_status"), approval.as_deref())?;
    let max = MAX_CAMPAIGNS;
    let account = apply_limit(account, ("campaigns", "campaign_limit"), *campaigns, max)?;
    let max = MAX_LINE_ITEMS;
    let account = apply_limit(account, ("line_items", "line_item_limit"), *line_items, max)?;
    save_account(tx, account)
}

fn save_account(tx: &mut Tx<'_>, mut account: AdsRecord) -> Result<Value, Error> {
    account.updated_at = tx.now();
    account.update(tx)?;
    show_account(tx, account)
}

fn apply_limit(
    mut account: AdsRecord,
    (name, field): (&'static str, &'static str),
    limit: Option<i64>,
    max: i64,
) -> Result<AdsRecord, Error> {
    let Some(limit) = limit else {
        return Ok(account);
    };
    if !(1..=max).contains(&limit) {
        let message = format!("A limit must be between 1 and {max}");
        return Err(invalid_parameter(name, &limit.to_string(), &message));
    }
    account.set(field, limit);
    Ok(account)
}

fn apply_choice(
    mut account: AdsRecord,
    (name, field): (&'static str, &'static str),
    word: Option<&str>,
) -> Result<AdsRecord, Error> {
    if let (Some(word), Some(declared)) = (word, ACCOUNT.field(field)) {
        let text = [word.to_owned()];
        let value = parse_value(declared.kind, name, ads_engine::RawParam::Text(&text))?;
        account.set(field, value);
    }
    Ok(account)
}

fn apply_business(mut account: AdsRecord, business: Option<&str>) -> Result<AdsRecord, Error> {
    let Some(business) = business else {
        return Ok(account);
    };
    let text = [business.to_owned()];
    let value = parse_value(Kind::text(0, 20), "business", ads_engine::RawParam::Text(&text))?;
    account.set("business_id", value);
    Ok(account)
}

fn apply_opt_ins(mut account: AdsRecord, allow: &[String], refuse: &[String]) -> Result<AdsRecord, Error> {
    if let Some(unknown) = allow.iter().chain(refuse).find(|name| !OPT_IN_FEATURES.contains(&name.as_str())) {
        return Err(invalid_parameter("allow", unknown, &format!("Expected one of {}", OPT_IN_FEATURES.join(", "))));
    }
    let mut refused: Vec<String> = account.texts("refused").into_iter().map(str::to_owned).collect();
    refused.retain(|name| !allow.contains(name));
    refused.extend(refuse.iter().cloned());
    refused.sort_unstable();
    refused.dedup();
    account.set("refused", refused);
    Ok(account)
}
