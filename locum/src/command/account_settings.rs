//! `locum ads account set`: what an account may have, what it is held to, and what came of its
//! review.

use ads::field_kind::FieldKind;
use ads::record::AdsRecord;
use ads::resources::accounts::{ACCOUNT, MAX_CAMPAIGNS, MAX_LINE_ITEMS, OPT_IN_FEATURES};
use base::Error;
use serde_json::Value;
use store::Tx;

use super::ads::{AccountCommand, invalid_parameter, show_account};

/// Sets what is given, and nothing else.
pub(super) fn update_account(tx: &mut Tx<'_>, account: AdsRecord, command: &AccountCommand) -> Result<Value, Error> {
    let AccountCommand::Set {
        campaigns,
        line_items,
        gates,
        approval,
        business,
        allow,
        refuse,
        estimate,
        ..
    } = command
    else {
        return Ok(Value::Null);
    };
    let account = apply_opt_ins(account, allow, refuse)?;
    let account = apply_business(account, business.as_deref())?;
    let account = apply_choice(account, ("estimate", "estimate"), estimate.as_deref())?;
    let account = apply_choice(account, ("gates", "feature_gates"), gates.as_deref())?;
    let account = apply_choice(account, ("approval", "approval_status"), approval.as_deref())?;
    let most = MAX_CAMPAIGNS;
    let account = apply_limit(account, ("campaigns", "campaign_limit"), *campaigns, most)?;
    let most = MAX_LINE_ITEMS;
    let account = apply_limit(account, ("line_items", "line_item_limit"), *line_items, most)?;
    save_account(tx, account)
}

fn save_account(tx: &mut Tx<'_>, mut account: AdsRecord) -> Result<Value, Error> {
    account.updated_at = tx.now();
    store::records::update(tx, ACCOUNT.name, &account.to_stored())?;
    show_account(tx, account)
}

/// With another limit, if one is given.
fn apply_limit(
    mut account: AdsRecord,
    (name, field): (&'static str, &'static str),
    limit: Option<i64>,
    most: i64,
) -> Result<AdsRecord, Error> {
    let Some(limit) = limit else {
        return Ok(account);
    };
    if !(1..=most).contains(&limit) {
        let message = format!("A limit is one of 1 to {most}");
        return Err(invalid_parameter(name, &limit.to_string(), &message));
    }
    account.set(field, limit);
    Ok(account)
}

/// With one of the words that a field may hold, if one is given.
fn apply_choice(
    mut account: AdsRecord,
    (name, field): (&'static str, &'static str),
    word: Option<&str>,
) -> Result<AdsRecord, Error> {
    if let (Some(word), Some(declared)) = (word, ACCOUNT.field(field)) {
        let text = [word.to_owned()];
        let value = declared
            .kind
            .parse_value(name, ads::field_kind::RawParam::Text(&text))?;
        account.set(field, value);
    }
    Ok(account)
}

/// The business that an account belongs to.
fn apply_business(mut account: AdsRecord, business: Option<&str>) -> Result<AdsRecord, Error> {
    let Some(business) = business else {
        return Ok(account);
    };
    let text = [business.to_owned()];
    let value = FieldKind::Text(0, 20).parse_value("business", ads::field_kind::RawParam::Text(&text))?;
    account.set("business_id", value);
    Ok(account)
}

/// What is opened to an account one by one.
fn apply_opt_ins(mut account: AdsRecord, allow: &[String], refuse: &[String]) -> Result<AdsRecord, Error> {
    if let Some(unknown) = allow
        .iter()
        .chain(refuse)
        .find(|name| !OPT_IN_FEATURES.contains(&name.as_str()))
    {
        return Err(invalid_parameter(
            "allow",
            unknown,
            &format!("It is one of {}", OPT_IN_FEATURES.join(", ")),
        ));
    }
    let mut refused: Vec<String> = account.texts("refused").into_iter().map(str::to_owned).collect();
    refused.retain(|name| !allow.contains(name));
    refused.extend(refuse.iter().cloned());
    refused.sort_unstable();
    refused.dedup();
    account.set("refused", refused);
    Ok(account)
}
