//! Draft campaigns: review and publication of several at once.

use std::collections::HashMap;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads_engine::{OperationOutput, RecordView, Resource};
use base::{Error, Fault};
use pages::manager::{AdsManagerPage, DataTable, EmptyState, NavLink, PageBlock, RowSelection, TableCell, TableRow};
use serde_json::{Map, json};
use store::Tx;

use super::forms::{FormDefinition, SubmittedFields};
use super::labels::{budget_labels, word_label};
use super::request::ManagerAccount;
use super::sections::Section;
use super::selection;
use super::tables::{number_column, text_column};

/// Campaigns or line items that are read at once.
const PAGE_SIZE: usize = 200;
const CAMPAIGNS_PATH: &str = "/12/batch/accounts/{}/campaigns";
const LINE_ITEMS_PATH: &str = "/12/batch/accounts/{}/line_items";

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let drafts = find_records(tx, ctx, (&CAMPAIGN, &[]), (is_draft, selection::MAX_SELECTED))?;
    let here = ctx.page_path("/campaigns/drafts?select=all");
    let publish = RowSelection {
        action: ctx.page_path("/campaigns/publish"),
        submit: "Review and publish",
        all: NavLink::new("Select all", here),
        is_all: ctx.request.query.get("select") == Some("all"),
    };
    let table = drafts_table(tx, ctx, &drafts)?;
    Ok(AdsManagerPage {
        heading: "Draft campaigns".to_owned(),
        lead: "Drafts spend nothing. Publishing a campaign publishes its draft line items too.".to_owned(),
        trail: ctx.trail(&[("Campaigns", "")]),
        blocks: vec![PageBlock::Table(DataTable {
            selection: ctx.may_call("POST", CAMPAIGNS_PATH).then(|| publish.into()),
            empty: EmptyState::new(
                "No drafts",
                "Campaigns that are created with the status Draft wait here until they are published.",
                Some(NavLink::new("All campaigns", ctx.page_path(""))),
            ),
            ..table
        })],
        ..AdsManagerPage::default()
    })
}

/// The first records that are wanted, of some campaigns or of all.
fn find_records(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    (resource, campaigns): (&Resource, &[String]),
    (is_wanted, limit): (fn(&RecordView) -> bool, usize),
) -> Result<Vec<RecordView>, Error> {
    let mut params = Map::from_iter([("with_draft".to_owned(), true.into()), ("count".to_owned(), PAGE_SIZE.into())]);
    if !campaigns.is_empty() {
        params.insert("campaign_ids".to_owned(), campaigns.into());
    }
    let mut all = Vec::new();
    loop {
        let page = ctx.list(tx, resource, params.clone().into())?;
        all.extend(page.rows.into_iter().filter(is_wanted));
        let Some(next) = page.next.filter(|_| all.len() < limit) else {
            break;
        };
        params.insert("cursor".to_owned(), next.into());
    }
    all.truncate(limit);
    Ok(all)
}

fn is_draft(record: &RecordView) -> bool {
    record.text("entity_status") == "DRAFT"
}

fn drafts_table(tx: &mut Tx<'_>, ctx: &ManagerAccount, campaigns: &[RecordView]) -> Result<DataTable, Error> {
    let items = line_items_by_campaign(tx, ctx, campaigns)?;
    let rows = campaigns.iter().map(|campaign| {
        let (budget, total) = budget_labels(campaign);
        let (id, name) = (campaign.id(), campaign.text("name").to_owned());
        let count = items.get(&id).map_or(0, Vec::len);
        // That it is a draft, and so not active, is why it is here.
        let missing = campaign.texts("reasons_not_servable");
        let missing = missing.into_iter().filter(|reason| !reason.ends_with("_BY_ADVERTISER")).map(word_label);
        let missing: Vec<String> = missing.collect();
        let missing = if missing.is_empty() { "Nothing".to_owned() } else { missing.join(", ") };
        TableRow {
            box_name: selection::box_name(&id),
            cells: vec![
                TableCell::from_text(name.clone())
                    .with_link(ctx.page_path(&format!("/campaigns/{id}")))
                    .with_subtext(id),
                TableCell::from_text(budget).with_subtext(total),
                TableCell::from_text(count.to_string()),
                TableCell::from_text(missing),
            ],
            name,
            ..TableRow::default()
        }
    });
    Ok(DataTable {
        columns: vec![
            text_column("Campaign"),
            text_column("Budget"),
            number_column("Line items"),
            text_column("Prevents serving"),
        ],
        rows: rows.collect(),
        ..DataTable::default()
    })
}

fn line_items_by_campaign(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    campaigns: &[RecordView],
) -> Result<HashMap<String, Vec<RecordView>>, Error> {
    let mut all: HashMap<String, Vec<RecordView>> = HashMap::new();
    if campaigns.is_empty() {
        return Ok(all);
    }
    let ids: Vec<String> = campaigns.iter().map(RecordView::id).collect();
    for item in find_records(tx, ctx, (&LINE_ITEM, &ids), (|_| true, usize::MAX))? {
        all.entry(item.rendered_text("campaign_id")).or_default().push(item);
    }
    Ok(all)
}

pub(super) fn publish_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<FormDefinition, Error> {
    let ids = selection::selected_ids(&ctx.request.query)?;
    let section = Section::find("campaigns").ok_or_else(|| Fault::new("no section campaigns"))?;
    let mut campaigns = selection::load_records(tx, ctx, section, &ids)?;
    campaigns.retain(is_draft);
    let campaigns = selection::require_some(campaigns)?;
    Ok(FormDefinition {
        heading: match campaigns.len() {
            1 => "Publish 1 campaign?".to_owned(),
            count => format!("Publish {count} campaigns?"),
        },
        lead: "They and their draft line items become active: all of them, or none.".to_owned(),
        trail: ctx.trail(&[("Campaigns", ""), ("Draft campaigns", "/campaigns/drafts")]),
        path: CAMPAIGNS_PATH.to_owned(),
        submit: "Publish",
        action: ctx.page_path(&format!("/campaigns/publish?ids={}", ids.join(","))),
        back_path: ctx.page_path("/campaigns/drafts"),
        done_code: "published",
        handler: Some(publish),
        leading_blocks: vec![PageBlock::Table(drafts_table(tx, ctx, &campaigns)?)],
        ids: campaigns.iter().map(RecordView::id).collect(),
        ..FormDefinition::new(ctx, "")
    })
}

fn publish(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    _: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let active = json!({ "entity_status": "ACTIVE" });
    let items = find_records(tx, ctx, (&LINE_ITEM, &form.ids), (is_draft, usize::MAX))?;
    let items: Vec<String> = items.iter().map(RecordView::id).collect();
    for some in items.chunks(selection::MAX_SELECTED) {
        selection::update_batch(tx, ctx, LINE_ITEMS_PATH, some, ("line_item_id", &active))?;
    }
    selection::update_batch(tx, ctx, &form.path, &form.ids, ("campaign_id", &active))
}
