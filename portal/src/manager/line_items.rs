//! Line items: list, details and forms.

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::{self, LINE_ITEM};
use ads_engine::{RecordView, RequiredRole, ResourceVerb};
use base::Error;
use pages::manager::{AdsManagerPage, DataTable, DetailList, NavLink, PageBlock, TableCell, TableRow};
use serde_json::json;
use store::Tx;
use store::ledger::AdEntity;

use super::fields::declared_fields;
use super::forms::{FormDefinition, FormRedirect};
use super::labels::{budget_labels, format_money, record_name, status_badge, word_label, word_labels, word_list_label};
use super::request::ManagerAccount;
use super::serving::{serving_cells, status_button};
use super::stats::{self, EntityStats};
use super::tables::{extendable_table, table_pager};
use super::{history, line_item_parts, selection};

/// The effective status of each line item, and the reasons if it cannot serve.
fn effective_states(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    items: &[RecordView],
) -> Result<Vec<(&'static str, String)>, Error> {
    let mut records = ctx.open_context(tx, RequiredRole::CampaignReader, false)?;
    let items: Vec<_> = items.iter().map(|item| &item.record).collect();
    let states = line_items::line_item_states(&mut records, &items)?;
    Ok(states.into_iter().map(|state| (state.effective, word_labels(&state.reasons))).collect())
}

/// A whole page can be selected.
const PAGE_SIZE: usize = selection::MAX_SELECTED;
/// The query parameter with the cursor of a campaign's line items.
const CURSOR: &str = "line-items";

pub(super) fn line_items_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, campaign: &str) -> Result<PageBlock, Error> {
    let cursor = ctx.request.query.get(CURSOR);
    let params = json!({ "campaign_ids": [campaign], "with_draft": true, "count": PAGE_SIZE, "cursor": cursor });
    let found = ctx.list(tx, &LINE_ITEM, params)?;
    let figures = EntityStats::load(tx, ctx, AdEntity::LineItem, &found.rows)?;
    let here = format!("/campaigns/{campaign}");
    let states = effective_states(tx, ctx, &found.rows)?;
    let rows = found.rows.iter().zip(states).map(|(item, (effective, reasons))| {
        let name = TableCell::from_text(record_name(item))
            .with_link(ctx.page_path(&format!("/line-items/{}", item.id())))
            .with_subtext(word_label(item.text("objective")));
        TableRow {
            name: record_name(item),
            box_name: selection::box_name(&item.id()),
            cells: serving_cells(name, item, (effective, reasons), &figures),
            action_buttons: status_button(ctx, ("line-items", &LINE_ITEM), item, &here),
        }
    });
    let rows: Vec<TableRow> = rows.collect();
    let add = ctx.permitted_link(ResourceVerb::Create, &LINE_ITEM, "Add line item", &format!("{here}/line-item"));
    let is_empty = rows.is_empty();
    let empty = ("No line items yet", "A line item defines what is promoted, to whom, when and at what price.");
    let first_page = format!("{here}?days={}", ctx.request.days);
    let this_page = match cursor {
        Some(cursor) => format!("{first_page}&{CURSOR}={}", base::percent::encode(cursor)),
        None => first_page.clone(),
    };
    let mut table = DataTable {
        title: "Line items".to_owned(),
        columns: figures.table_columns("Line item", "Budget"),
        lead: if is_empty { String::new() } else { figures.caption() },
        selection: selection::row_selection(
            ctx,
            &LINE_ITEM,
            "line-items",
            ctx.page_path(&format!("{this_page}&select=all")),
        ),
        pager: table_pager(ctx, &first_page, CURSOR, found.next.as_deref()),
        ..extendable_table(add, rows, empty)
    };
    table.empty.link = table.empty.link.map(|link| link.with_kind("primary"));
    Ok(PageBlock::Table(table))
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<AdsManagerPage, Error> {
    let item = ctx.get(tx, &LINE_ITEM, id)?;
    let campaign = ctx.get(tx, &CAMPAIGN, &item.rendered_text("campaign_id"))?;
    let state = effective_states(tx, ctx, std::slice::from_ref(&item))?.pop();
    let (effective, reasons) = state.unwrap_or_default();
    let here = format!("/line-items/{id}");
    let above = ctx.page_path(&format!("/campaigns/{}", campaign.id()));
    let charts = stats::entity_charts(tx, ctx, AdEntity::LineItem, &item, &here)?;
    let mut blocks: Vec<PageBlock> = charts.into_iter().collect();
    blocks.extend(line_item_parts::part_blocks(tx, ctx, &item)?);
    blocks.push(settings_block(ctx, &item));
    blocks.extend(history::history_block(tx, ctx, &item)?);
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Campaigns", ctx.page_path("")), NavLink::new(campaign.text("name"), above)],
        heading: record_name(&item),
        badge: Some(status_badge(effective)),
        lead: reasons,
        actions: ctx.change_links(&LINE_ITEM, &here),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn settings_block(ctx: &ManagerAccount, item: &RecordView) -> PageBlock {
    let (budget, total) = budget_labels(item);
    let bid = item.int("bid_amount_local_micro");
    let bid = bid.map(|bid| format_money(bid, item.text("currency")));
    let word = |name: &str| TableCell::from_text(word_label(item.text(name)));
    PageBlock::Facts(DetailList {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            ("Objective", word("objective")),
            ("Goal", word("goal")),
            ("Pay by", word("pay_by")),
            ("Bid", word("bid_strategy").with_subtext(bid.unwrap_or_default())),
            ("Placements", TableCell::from_text(word_list_label(item, "placements"))),
            ("Budget", TableCell::from_text(budget).with_subtext(total)),
            ("Starts", TableCell::from_text(ctx.format_time(item.time("start_time")))),
            ("Ends", TableCell::from_text(ctx.format_time(item.time("end_time")))),
            ("Product type", word("product_type")),
            ("ID", TableCell::from_text(item.id())),
        ],
    })
}

const EDITABLE_FIELDS: &[&str] = &[
    "bid_strategy",
    "bid_amount_local_micro",
    "start_time",
    "end_time",
    "entity_status",
    "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro",
    "goal",
    "pay_by",
    "frequency_cap",
    "duration_in_days",
    "categories",
    "advertiser_domain",
    "primary_web_event_tag",
    "android_app_store_identifier",
    "ios_app_store_identifier",
];

const PLACEMENTS: &[(&str, &str)] = &[
    ("ALL_ON_TWITTER", "Everywhere"),
    ("TWITTER_TIMELINE", "Timelines"),
    ("TWITTER_SEARCH", "Search results"),
    ("TWITTER_PROFILE,TWITTER_TIMELINE", "Profiles and timelines"),
    ("PUBLISHER_NETWORK", "Publisher network"),
];

/// A line item has a budget only if its campaign's is set by line item.
fn field_names(campaign: &RecordView, first: &[&'static str]) -> Vec<&'static str> {
    let has_budget = campaign.text("budget_optimization") == "LINE_ITEM";
    let editable = EDITABLE_FIELDS.iter().filter(|name| has_budget || !name.contains("_budget_"));
    first.iter().chain(editable).copied().collect()
}

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let campaign = ctx.get(tx, &CAMPAIGN, id)?;
    let here = format!("/campaigns/{id}");
    let names = field_names(&campaign, &["name", "objective", "product_type", "placements"]);
    let form = FormDefinition {
        heading: "Add line item".to_owned(),
        trail: ctx.trail(&[("Campaigns", ""), (campaign.text("name"), &here)]),
        fixed_params: vec![("campaign_id", id.into())],
        fields: declared_fields(tx, ctx, &LINE_ITEM, None, &names)?,
        submit: "Create line item",
        redirect: FormRedirect::Created(ctx.page_path("/line-items")),
        ..FormDefinition::create(ctx, &LINE_ITEM, &here, "line-item")
    };
    let form = form.adjust_field("objective", |field| field.initial_value("ENGAGEMENTS"));
    let form = form.adjust_field("product_type", |field| field.initial_value("PROMOTED_POSTS"));
    Ok(form.adjust_field("placements", |field| field.with_options(PLACEMENTS)))
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &LINE_ITEM, id)?;
    let campaign = ctx.get(tx, &CAMPAIGN, &now.rendered_text("campaign_id"))?;
    let here = format!("/line-items/{id}");
    Ok(FormDefinition {
        heading: "Edit line item".to_owned(),
        trail: ctx.trail(&[("Campaigns", ""), (&record_name(&now), &here)]),
        fields: declared_fields(tx, ctx, &LINE_ITEM, Some(&now), &field_names(&campaign, &["name"]))?,
        ..FormDefinition::update(ctx, &LINE_ITEM, id, (&here, &here))
    })
}
