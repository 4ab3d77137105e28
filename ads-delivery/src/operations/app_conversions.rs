//! Events in advertisers' apps, reported by measurement providers, which learn at once what they are attributed to
//! (contract ads §4.16).

use std::collections::BTreeSet;

use ads::resources::accounts::ACCOUNT;
use ads::resources::app_event_tags::{APP_EVENT_TAG, CONVERSION_TYPES, OS_TYPES, app_key, conversion_kind};
use ads::resources::audience_users::parse_digest;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::hash_key;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::web_event_tags::check_windows;
use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::format_time;
use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams, RequiredRole,
};
use base::refusal::AdsProblem;
use base::{Error, Time};
use serde_json::{Value, json};
use store::ads::audiences::AudienceKeyKind;
use store::ledger::{AdEntity, ConversionKind, ConversionPath, ConversionSource};
use store::records::{self, RecordVisibility};

use crate::conversions::{Attribution, ConversionIdentity, ReportedConversion, find_attribution, record_conversion};
use crate::serving::viewer_id_from_digest;
use crate::web_events::parse_event_time;

pub(super) static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsConversionAttribution", "/conversion_attribution", show_attribution)
        .summary("What an event in an app would be attributed to.")
        .requires_role(RequiredRole::Anyone)
        .params(PARAMS),
    CustomOperation::post("createAdsConversionEvent", "/conversion_event", record_event)
        .summary("Reports an event in an app, and returns what it is attributed to.")
        .requires_role(RequiredRole::Anyone)
        .params(PARAMS),
];

const PARAMS: &[FieldSpec] = &[
    FieldSpec::text("app_id", 1, 255).required(),
    FieldSpec::text("conversion_time", 1, 40).required(),
    FieldSpec::one_of("conversion_type", CONVERSION_TYPES).required(),
    FieldSpec::text("hashed_device_id", 1, 255).required(),
    FieldSpec::one_of("os_type", OS_TYPES).required(),
    FieldSpec::new("click_window", Kind::int(1, 30)).default_number(DEFAULT_CLICK_DAYS),
    FieldSpec::new("view_through_window", Kind::int(0, 30)).default_number(DEFAULT_VIEW_DAYS),
    FieldSpec::new("extra_device_ids", Kind::text(1, 255).list(1, 20)),
    FieldSpec::new("non_twitter_engagement_time", Kind::TIME),
    FieldSpec::one_of("non_twitter_engagement_type", &["IMPRESSION", "CLICK", "INSTALL"]),
    FieldSpec::new("number_items", Kind::int(1, 1_000_000)),
    FieldSpec::text("price_currency", 3, 3),
    FieldSpec::new("price_micro", Kind::int(0, i64::MAX)),
];
const DEFAULT_CLICK_DAYS: i64 = 14;
const DEFAULT_VIEW_DAYS: i64 = 1;

fn show_attribution(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let mut found = Vec::new();
    for conversion in parse_event(ctx, params, false)? {
        found.extend(find_attribution(ctx.tx, &conversion)?);
    }
    render(ctx, latest(found))
}

fn record_event(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let conversions = parse_event(ctx, params, true)?;
    // Several advertisers may promote an app; the last ad of them all is what led to the event.
    let mut best: Option<(usize, Attribution)> = None;
    for (number, conversion) in conversions.iter().enumerate() {
        let found = find_attribution(ctx.tx, conversion)?;
        best = match (best, found) {
            (Some((_, known)), Some(found)) if rank(&found) > rank(&known) => Some((number, found)),
            (None, Some(found)) => Some((number, found)),
            (best, _) => best,
        };
    }
    let rates = ctx.config.rates.clone();
    for (number, conversion) in conversions.iter().enumerate() {
        let own = best.as_ref().filter(|(place, _)| *place == number);
        record_conversion(ctx.tx, &rates, conversion, own.map(|(_, attribution)| attribution))?;
    }
    render(ctx, best.map(|(_, attribution)| attribution))
}

fn rank(attribution: &Attribution) -> (ConversionPath, Time, i64) {
    (attribution.path, attribution.touch.at, attribution.touch.id)
}

fn latest(found: Vec<Attribution>) -> Option<Attribution> {
    found.into_iter().max_by_key(rank)
}

/// The event as a conversion of each of the tags that wait for it, in accounts that the caller may use.
fn parse_event(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
    writes: bool,
) -> Result<Vec<ReportedConversion>, Error> {
    ensure_valid_params(params)?;
    let text = |name: &str| params.text(name).unwrap_or_default().to_owned();
    let at = parse_event_time(&text("conversion_time"), ctx.now())?;
    let days = |name: &str, usual: i64| params.int(name).unwrap_or(usual);
    let (click, view) = (days("click_window", DEFAULT_CLICK_DAYS), days("view_through_window", DEFAULT_VIEW_DAYS));
    check_windows(("click_window", click), ("view_through_window", view))?;
    let tags = find_tags(ctx, &text("app_id"), &text("os_type"), writes)?;
    let kind = conversion_kind(params.text("conversion_type").unwrap_or_default()).unwrap_or(ConversionKind::Custom);
    let mut identity = ConversionIdentity::default();
    for device in [vec![text("hashed_device_id")], params.texts("extra_device_ids")].concat() {
        if let Some(digest) = parse_digest(&device) {
            identity.viewers.push(viewer_id_from_digest(&digest));
            identity.keys.push(AudienceKeyKind::Device.to_key(&digest));
        }
    }
    let currency = params.text("price_currency").unwrap_or("USD").to_ascii_uppercase();
    let conversion = |tag: AdsRecord| ReportedConversion {
        source: ConversionSource::App,
        kind,
        tag,
        at,
        click_window: click,
        view_window: view,
        identity: identity.clone(),
        order_quantity: params.int("number_items").unwrap_or(1),
        sale_amount: params.int("price_micro").map(|micros| (micros, currency.clone())),
        dedup_key: Some(hash_key(&["app", &text("hashed_device_id"), &text("conversion_time")])),
    };
    let wanted = text("conversion_type");
    let tags = tags.into_iter().filter(|tag| tag.text("conversion_type") == wanted);
    Ok(tags.map(conversion).collect())
}

/// The event tags of an app in accounts of the caller.
fn find_tags(
    ctx: &mut AccountContext<'_, '_>,
    app: &str,
    os_type: &str,
    writes: bool,
) -> Result<Vec<AdsRecord>, Error> {
    let role = if writes { RequiredRole::CampaignWriter } else { RequiredRole::CampaignReader };
    let accesses = store::ads::list_access_by_user(ctx.tx, ctx.caller.user)?;
    // Accounts are locked in the same order by everybody.
    let accounts: BTreeSet<i64> = accesses.iter().map(|access| access.account_id).collect();
    let field = ("app", app_key(os_type, app));
    let mut tags = Vec::new();
    for account in accounts {
        let rows = records::list_by_field(ctx.tx, APP_EVENT_TAG.name, account, field, RecordVisibility::Listed)?;
        if rows.is_empty() {
            continue;
        }
        match ctx.open_account((&ACCOUNT, account), role, writes, false) {
            Ok(()) => tags.extend(AdsRecord::from_rows(&APP_EVENT_TAG, rows)?),
            Err(Error::Refused(_)) => {}
            Err(other) => return Err(other),
        }
    }
    if tags.is_empty() {
        let message = format!("The app {app} has no event tags");
        return Err(AdsProblem::invalid_parameter("app_id", app, message).with_code("MACT_APP_NOT_FOUND").into());
    }
    Ok(tags)
}

fn render(ctx: &mut AccountContext<'_, '_>, attribution: Option<Attribution>) -> Result<OperationOutput, Error> {
    let Some(Attribution { touch, path, .. }) = attribution else {
        return Ok(OperationOutput::from_value(json!({ "twitter_attribution": null })));
    };
    let mut name = |resource: &'static ads_engine::Resource, id: i64| -> Result<Value, Error> {
        let record = AdsRecord::find(ctx.tx, resource, id)?;
        Ok(record.and_then(|record| record.get("name").cloned()).unwrap_or_default())
    };
    let post = Some(touch.subject_id).filter(|id| touch.creative == AdEntity::PromotedPost && *id != 0);
    let data = json!({
        "account_id": ACCOUNT.id_format.format(touch.account_id),
        "account_name": name(&ACCOUNT, touch.account_id)?,
        "campaign_id": CAMPAIGN.id_format.format(touch.campaign_id),
        "campaign_name": name(&CAMPAIGN, touch.campaign_id)?,
        "line_item_id": LINE_ITEM.id_format.format(touch.line_item_id),
        "line_item_name": name(&LINE_ITEM, touch.line_item_id)?,
        "tweet_id": post.map(|id| id.to_string()),
        "engagement_type": if path == ConversionPath::Engagement { "CLICK" } else { "VIEW" },
        "engagement_time": format_time(touch.at),
    });
    Ok(OperationOutput::from_value(json!({ "twitter_attribution": data })))
}
