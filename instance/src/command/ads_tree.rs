//! `locum ads tree` and `locum ads audience show`.

use std::collections::{BTreeMap, HashMap};

use ads::budget::format_exact_money;
use ads::resources::audience_permissions::AUDIENCE_PERMISSION;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::custom_audiences::CUSTOM_AUDIENCE;
use ads::resources::line_items::{self, LINE_ITEM};
use ads::resources::media_creatives::MEDIA_CREATIVE;
use ads::resources::promoted_accounts::PROMOTED_ACCOUNT;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads_engine::{AccountContext, AdsRecord, IdFormat, RecordView, Resource, engine};
use base::{Error, Time, UserId};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use store::Tx;
use store::ledger::{self, AdEntity};
use store::records::{self, RecordVisibility};

use super::ads_accounts::{find_account, render_record};
use super::ads_report::mark_simulated;
use super::find;

/// Values of a targeting type that are shown by name.
const MAX_NAMED_VALUES: usize = 10;
/// Permissions and criteria of an audience that are shown.
const MAX_LISTED: usize = 100;
const CREATIVES: [(&Resource, AdEntity, &str); 3] = [
    (&PROMOTED_POST, AdEntity::PromotedPost, "post_id"),
    (&PROMOTED_ACCOUNT, AdEntity::PromotedAccount, "user_id"),
    (&MEDIA_CREATIVE, AdEntity::MediaCreative, "account_media_id"),
];

#[derive(Args, Clone, Debug)]
pub struct AdsTreeArgs {
    /// The account's id
    account: String,
    /// A campaign's id; repeatable [default: all]
    #[arg(long = "campaign", value_name = "CAMPAIGN")]
    campaigns: Vec<String>,
    /// The maximum number of campaigns, newest first
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AudienceCommand {
    /// Show an audience's size, who may use it and what targets it
    Show {
        /// The audience's id
        audience: String,
    },
}

/// Campaigns, newest first, or those with these ids; deleted ones too.
pub(super) fn find_campaigns(ctx: &mut AccountContext<'_, '_>, ids: &[String]) -> Result<Vec<AdsRecord>, Error> {
    if ids.is_empty() {
        let ids = records::list_ids_by_account(ctx.tx, CAMPAIGN.name, ctx.account_id()?)?;
        let mut all = ctx.find_records(&CAMPAIGN, &ids)?;
        all.sort_by_key(|campaign| std::cmp::Reverse((campaign.created_at, campaign.id)));
        return Ok(all);
    }
    let mut found = Vec::with_capacity(ids.len());
    for text in ids {
        let id = IdFormat::Short.parse(text).unwrap_or(-1);
        found.push(ctx.find_record(&CAMPAIGN, id)?.ok_or_else(|| find::not_found("campaign", text))?);
    }
    Ok(found)
}

/// Rows in the order of the tree, with their level.
pub(super) fn build_tree(tx: &mut Tx<'_>, args: &AdsTreeArgs) -> Result<Value, Error> {
    let account = find_account(tx, &args.account)?;
    let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
    let mut campaigns = find_campaigns(&mut ctx, &args.campaigns)?;
    if args.campaigns.is_empty() {
        campaigns.retain(|campaign| campaign.level == RecordVisibility::Listed);
        campaigns.truncate(args.limit.into());
    }
    let ids: Vec<i64> = campaigns.iter().map(|campaign| campaign.id).collect();
    let spent = load_spend(&mut ctx, AdEntity::Campaign, &ids)?;
    let mut rows = Vec::new();
    for campaign in engine::view_records(&mut ctx, campaigns)? {
        let record = &campaign.record;
        let reasons = campaign.texts("reasons_not_servable");
        let row = tree_row((0, "campaign"), record, record.text("name"), campaign.text("effective_status"));
        rows.push(with_facts(row, &reasons, Some((&spent, record, record.text("currency")))));
        add_line_items(&mut ctx, record.id, &mut rows)?;
    }
    let mut rows = rows.into();
    // What was spent at any time.
    let (id, now) = (ctx.account_id()?, ctx.now());
    if ledger::has_simulated_events(ctx.tx, id, (Time::from_ms(0), now))? {
        mark_simulated(&mut rows);
    }
    Ok(rows)
}

fn add_line_items(ctx: &mut AccountContext<'_, '_>, campaign: i64, rows: &mut Vec<Value>) -> Result<(), Error> {
    let items = ctx.list_visible_records(&LINE_ITEM, "campaign_id", campaign)?;
    let ids: Vec<i64> = items.iter().map(|item| item.id).collect();
    let spent = load_spend(ctx, AdEntity::LineItem, &ids)?;
    let states = line_items::line_item_states(ctx, &items.iter().collect::<Vec<_>>())?;
    for (item, state) in items.iter().zip(states) {
        let name = Some(item.text("name")).filter(|name| !name.is_empty());
        let row = tree_row((1, "line item"), item, name.unwrap_or(item.text("objective")), state.effective);
        rows.push(with_facts(row, &state.reasons, Some((&spent, item, item.text("currency")))));
        add_creatives(ctx, item, rows)?;
        add_criteria(ctx, item, rows)?;
    }
    Ok(())
}

fn add_creatives(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord, rows: &mut Vec<Value>) -> Result<(), Error> {
    for (resource, entity, subject) in CREATIVES {
        let creatives = ctx.list_visible_records(resource, "line_item_id", item.id)?;
        let ids: Vec<i64> = creatives.iter().map(|creative| creative.id).collect();
        let spent = load_spend(ctx, entity, &ids)?;
        for record in creatives {
            let creative = RecordView { record, computed: Vec::new() };
            let (name, record) = (creative.rendered_text(subject), &creative.record);
            let row = tree_row((2, resource.label), record, &name, record.text("approval_status"));
            rows.push(with_facts(row, &[], Some((&spent, record, item.text("currency")))));
        }
    }
    Ok(())
}

/// One row for each targeting type and operator.
fn add_criteria(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord, rows: &mut Vec<Value>) -> Result<(), Error> {
    let criteria = ctx.list_visible_records(&TARGETING_CRITERION, "line_item_id", item.id)?;
    let mut by_type: BTreeMap<(&str, &str), Vec<&AdsRecord>> = BTreeMap::new();
    for criterion in &criteria {
        let key = (criterion.text("targeting_type"), criterion.text("operator_type"));
        by_type.entry(key).or_default().push(criterion);
    }
    for ((kind, operator), criteria) in by_type {
        let names: Vec<&str> = criteria.iter().take(MAX_NAMED_VALUES).map(|one| one.text("name")).collect();
        let more = criteria.len().saturating_sub(MAX_NAMED_VALUES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let row = json!({
            "level": 2,
            "type": "targeting criteria",
            "id": null,
            "name": format!("{kind}: {}{more}", names.join(", ")),
            "status": operator,
        });
        rows.push(with_facts(row, &[], None));
    }
    Ok(())
}

fn load_spend(ctx: &mut AccountContext<'_, '_>, entity: AdEntity, ids: &[i64]) -> Result<HashMap<i64, i64>, Error> {
    Ok(ledger::total_spend(ctx.tx, entity, ids)?.into_iter().collect())
}

fn tree_row((level, kind): (u8, &str), record: &AdsRecord, name: &str, status: &str) -> Value {
    json!({ "level": level, "type": kind, "id": record.formatted_id(), "name": name, "status": status })
}

/// Adds why a row does not serve, and what it spent, if it spends: its currency is that of the line item.
fn with_facts(mut row: Value, reasons: &[&str], spender: Option<(&HashMap<i64, i64>, &AdsRecord, &str)>) -> Value {
    let spend = spender
        .map(|(spent, record, currency)| format_exact_money(spent.get(&record.id).copied().unwrap_or(0), currency));
    if let Some(members) = row.as_object_mut() {
        members.insert("reasons".to_owned(), json!(reasons));
        members.insert("spend".to_owned(), json!(spend));
    }
    row
}

/// Shows the levels as indented names, for a table.
pub(super) fn indent_names(rows: &mut Value) {
    for row in rows.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        let level = row.remove("level").and_then(|level| level.as_u64()).unwrap_or(0);
        let indent = "  ".repeat(usize::try_from(level).unwrap_or(0));
        if let Some(name) = row.get_mut("name") {
            *name = format!("{indent}{}", name.as_str().unwrap_or_default()).into();
        }
    }
}

pub(super) fn show_audience(tx: &mut Tx<'_>, text: &str) -> Result<Value, Error> {
    let missing = || find::not_found("audience", text);
    let id = CUSTOM_AUDIENCE.id_format.parse(text).ok_or_else(missing)?;
    let audience = AdsRecord::find(tx, &CUSTOM_AUDIENCE, id)?.ok_or_else(missing)?;
    let owner = IdFormat::Short.format(audience.account_id);
    let account = find_account(tx, &owner)?;
    let now = tx.now();
    let next_change = store::ads::audiences::next_membership_change(tx, id, now)?;
    let permissions = records::list_all_by_field(tx, AUDIENCE_PERMISSION.name, "custom_audience_id", &[id])?;
    let criteria = records::list_all_by_field(tx, TARGETING_CRITERION.name, "audience", &[id])?;
    let mut shared = Vec::new();
    for row in permissions.into_iter().filter(|row| !row.deleted).take(MAX_LISTED) {
        let permission = AdsRecord::from_stored(&AUDIENCE_PERMISSION, row)?;
        let account = permission.int("granted_account_id").map(|id| IdFormat::Short.format(id));
        shared.push(json!({ "account": account, "permission": permission.text("permission_level") }));
    }
    let mut targeted = Vec::new();
    for row in criteria.into_iter().filter(|row| !row.deleted).take(MAX_LISTED) {
        let criterion = AdsRecord::from_stored(&TARGETING_CRITERION, row)?;
        targeted.push(json!({
            "account": IdFormat::Short.format(criterion.account_id),
            "line_item": criterion.int("line_item_id").map(|id| LINE_ITEM.id_format.format(id)),
            "targeting_type": criterion.text("targeting_type"),
            "operator": criterion.text("operator_type"),
        }));
    }
    let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
    let mut shown = render_record(&mut ctx, &audience)?;
    if let Some(members) = shown.as_object_mut() {
        let next_change = next_change.map(ads_engine::field_kind::format_time);
        members.insert("next_membership_change".to_owned(), next_change.into());
        members.insert("shared_with".to_owned(), shared.into());
        members.insert("targeted_by".to_owned(), targeted.into());
    }
    Ok(shown)
}
