//! What targets a custom audience: criteria, their line items and campaigns.

use std::collections::{BTreeMap, BTreeSet};

use ads_engine::listing::{cursor_scope, parse_cursor};
use ads_engine::{AccountContext, AdsRecord, OperationOutput, ParsedParams, cursor};
use base::{Error, UserId, sorted_distinct};
use serde_json::{Value, json};
use store::Tx;
use store::records::{self, OrderValue, RecordVisibility};

use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::custom_audiences::{CUSTOM_AUDIENCE, require_audience};
use crate::resources::line_items::{self, LINE_ITEM};
use crate::resources::servability;
use crate::resources::targeting_criteria::{TARGETING_CRITERION, group_key};

const PAGE_SIZE: usize = 200;

/// The account's line items that target an audience, by campaign.
pub fn list_targeting_line_items(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    let (audience, _) = require_audience(ctx, params)?;
    let scope = cursor_scope(ctx, &params.echo);
    let after = match parse_cursor(ctx, &scope, params)? {
        Some((OrderValue::Number(_), id)) => id,
        _ => i64::MIN,
    };
    let mut by_campaign = line_items_by_campaign(ctx, audience.id, after)?;
    let ids: Vec<i64> = by_campaign.keys().copied().collect();
    let mut campaigns = ctx.find_records(&CAMPAIGN, &ids)?;
    campaigns.sort_by_key(|campaign| campaign.id);
    let (approval, now) = (ctx.account()?.record.text("approval_status").to_owned(), ctx.now());
    let all: Vec<AdsRecord> = by_campaign.values().flatten().chain(&campaigns).cloned().collect();
    let resources = servability::load_delivery_resources(ctx, &all)?;
    let mut data: Vec<(i64, Value)> = Vec::new();
    for campaign in &campaigns {
        let mut shown = by_campaign.remove(&campaign.id).unwrap_or_default();
        shown.sort_by_key(|item| item.id);
        let mut entries = Vec::new();
        for item in &shown {
            let state = servability::line_item_servability(item, campaign, &approval, &resources, now);
            let servable = state.servable_value();
            if servable == Value::Bool(true) || !params.flag("with_active") {
                let name = item.get("name");
                entries.push(json!({ "id": item.formatted_id(), "name": name, "servable": servable }));
            }
        }
        if !entries.is_empty() {
            let entry = json!({
                "campaign_id": campaign.formatted_id(),
                "campaign_name": campaign.text("name"),
                "line_items": entries,
            });
            data.push((campaign.id, entry));
        }
    }
    let has_more = data.len() > PAGE_SIZE;
    data.truncate(PAGE_SIZE);
    let last = data.last().filter(|_| has_more);
    let next = last.map(|(id, _)| cursor::encode(&ctx.cursor_key, &scope, &(OrderValue::Number(*id), *id)));
    let next = next.transpose()?;
    let mut output = OperationOutput::from_value(data.into_iter().map(|(_, entry)| entry).collect());
    output.next_cursor = Some(next);
    Ok(output)
}

/// Line items that target an audience, by campaigns after one.
fn line_items_by_campaign(
    ctx: &mut AccountContext<'_, '_>,
    audience: i64,
    after: i64,
) -> Result<BTreeMap<i64, Vec<AdsRecord>>, Error> {
    let criteria = ctx.list_visible_records(&TARGETING_CRITERION, "audience", audience)?;
    let ids = sorted_distinct(criteria.iter().filter_map(|one| one.int("line_item_id")));
    let mut by_campaign: BTreeMap<i64, Vec<AdsRecord>> = BTreeMap::new();
    for item in ctx.find_records(&LINE_ITEM, &ids)? {
        let campaign = item.int("campaign_id").unwrap_or(0);
        if item.level != RecordVisibility::Hidden && campaign > after {
            by_campaign.entry(campaign).or_default().push(item);
        }
    }
    Ok(by_campaign)
}

/// Updates all line items that target an audience whose targetability changed.
pub fn refresh_targeting_line_items(tx: &mut Tx<'_>, audience: i64) -> Result<(), Error> {
    let mut items: BTreeSet<(i64, i64)> = BTreeSet::new();
    for row in records::list_all_by_field(tx, TARGETING_CRITERION.name, "audience", &[audience])? {
        let criterion = AdsRecord::from_stored(&TARGETING_CRITERION, row)?;
        let item = criterion.int("line_item_id").unwrap_or(0);
        items.insert((criterion.account_id, item));
    }
    for (account, item) in items {
        records::lock(tx, ACCOUNT.name, account)?;
        if let Some(account) = accounts::find(tx, account)? {
            let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
            refresh_line_item_reach(&mut ctx, item)?;
        }
    }
    Ok(())
}

/// Records whether a line item has lost its last targetable audience.
pub fn refresh_line_item_reach(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<(), Error> {
    let mut audiences = Vec::new();
    for kind in ["CUSTOM_AUDIENCE", "CUSTOM_AUDIENCE_EXPANDED"] {
        for one in ctx.list_visible_records(&TARGETING_CRITERION, "alike", group_key(item, kind))? {
            if one.text("operator_type") == "EQ" && one.text("targeting_type") == kind {
                audiences.extend(one.int("audience"));
            }
        }
    }
    let targetable = |record: &AdsRecord| record.flag("targetable") && !record.deleted;
    // Also those that another account shares, which the criterion was allowed to name.
    let reaches = records::find_by_ids(ctx.tx, CUSTOM_AUDIENCE.name, &audiences)?;
    let reaches = AdsRecord::from_rows(&CUSTOM_AUDIENCE, reaches)?;
    let unreached = !audiences.is_empty() && !reaches.iter().any(targetable);
    line_items::set_unreached(ctx, item, unreached)
}
