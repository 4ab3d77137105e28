//! Campaigns: list, details and forms.

use ads::resources::ab_tests;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads_engine::{RecordView, ResourceVerb};
use base::Error;
use pages::FormField;
use pages::manager::{
    AdsManagerPage, DataTable, DetailList, EmptyState, FormInput, NavLink, PageBlock, QueryForm, TableCell, TableRow,
};
use serde_json::json;
use store::Tx;
use store::ledger::AdEntity;

use super::choices::instrument_label;
use super::fields::declared_fields;
use super::forms::{FormDefinition, FormRedirect};
use super::labels::{budget_labels, or_dash, status_badge, word_label, word_list_label};
use super::request::ManagerAccount;
use super::serving::{serving_cells, status_button};
use super::stats::{self, EntityStats};
use super::{history, line_items, selection};
use crate::site::page_ranges::build_pager;

const PAGE_SIZE: usize = 20;

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let page = AdsManagerPage { heading: "Campaigns".to_owned(), ..AdsManagerPage::default() };
    if !ctx.may(ResourceVerb::List, &CAMPAIGN) {
        let lead = "Your role on this account does not include campaigns.".to_owned();
        return Ok(AdsManagerPage { lead, ..page });
    }
    let query = &ctx.request.query;
    let search = query.get("q").unwrap_or_default().to_owned();
    let mut params = json!({ "with_draft": true, "count": PAGE_SIZE, "cursor": query.get("cursor") });
    if let Some(params) = params.as_object_mut().filter(|_| !search.is_empty()) {
        params.insert("q".to_owned(), search.as_str().into());
    }
    let found = ctx.list(tx, &CAMPAIGN, params)?;
    let figures = EntityStats::load(tx, ctx, AdEntity::Campaign, &found.rows)?;
    let create = ctx.permitted_link(ResourceVerb::Create, &CAMPAIGN, "Create campaign", "/campaigns/new");
    let create = create.map(|link| link.with_kind("primary"));
    let is_empty = found.rows.is_empty() && search.is_empty();
    let charts = if is_empty || !search.is_empty() { None } else { stats::account_charts(tx, ctx)? };
    let has_drafts = found.rows.iter().any(|campaign| campaign.text("entity_status") == "DRAFT");
    let drafts = ctx.permitted_link(ResourceVerb::Update, &CAMPAIGN, "Review drafts", "/campaigns/drafts");
    let here = |more: &str| {
        let search = base::percent::encode(&search);
        ctx.page_path(&format!("?days={}&q={search}{more}", ctx.request.days))
    };
    let cursor = query.get("cursor").map(|cursor| format!("&cursor={}", base::percent::encode(cursor)));
    let all = here(&format!("{}&select=all", cursor.unwrap_or_default()));
    let empty = if search.is_empty() {
        EmptyState::new("No campaigns yet", "A campaign has a budget and the line items that spend it.", create.clone())
    } else {
        let all = NavLink::new("Show all campaigns", ctx.page_path(""));
        EmptyState::new("No campaign found", "No campaign’s name begins with these words.", Some(all))
    };
    let table = DataTable {
        columns: figures.table_columns("Campaign", "Budget"),
        lead: if is_empty { String::new() } else { figures.caption() },
        rows: found.rows.iter().map(|campaign| campaign_row(ctx, campaign, &figures)).collect(),
        search: (!is_empty).then(|| search_form(ctx, &search).into()),
        selection: selection::row_selection(ctx, &CAMPAIGN, "campaigns", all),
        empty,
        pager: build_pager(&here(""), "cursor", true, found.next.as_deref().map(base::percent::encode)),
        ..DataTable::default()
    };
    Ok(AdsManagerPage {
        actions: create.filter(|_| !is_empty).into_iter().chain(drafts.filter(|_| has_drafts)).collect(),
        blocks: charts.into_iter().chain([PageBlock::Table(table)]).collect(),
        ..page
    })
}

fn search_form(ctx: &ManagerAccount, typed: &str) -> QueryForm {
    QueryForm {
        action: ctx.page_path(""),
        inputs: vec![FormInput {
            name: "q",
            label: "Name begins with".to_owned(),
            field: FormField::new(typed),
            ..FormInput::default()
        }],
        hidden: vec![("days", ctx.request.days.to_string())],
        submit: "Search",
        reset: Some(NavLink::new("Clear", ctx.page_path(""))).filter(|_| !typed.is_empty()),
        is_search: true,
        ..QueryForm::default()
    }
}

fn campaign_row(ctx: &ManagerAccount, campaign: &RecordView, figures: &EntityStats) -> TableRow {
    let (id, name) = (campaign.id(), campaign.text("name"));
    let status = (campaign.text("effective_status"), word_list_label(campaign, "reasons_not_servable"));
    let first = TableCell::from_text(name).with_link(ctx.page_path(&format!("/campaigns/{id}"))).with_subtext(&*id);
    TableRow {
        name: name.to_owned(),
        box_name: selection::box_name(id.as_str()),
        cells: serving_cells(first, campaign, status, figures),
        action_buttons: status_button(ctx, ("campaigns", &CAMPAIGN), campaign, ""),
    }
}

pub(super) fn show(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<AdsManagerPage, Error> {
    let campaign = ctx.get(tx, &CAMPAIGN, id)?;
    let here = format!("/campaigns/{id}");
    let charts = stats::entity_charts(tx, ctx, AdEntity::Campaign, &campaign, &here)?;
    let mut blocks: Vec<PageBlock> = charts.into_iter().collect();
    blocks.push(line_items::line_items_block(tx, ctx, id)?);
    blocks.push(settings_block(tx, ctx, &campaign)?);
    blocks.extend(history::history_block(tx, ctx, &campaign)?);
    let status = campaign.text("effective_status");
    Ok(AdsManagerPage {
        trail: ctx.trail(&[("Campaigns", "")]),
        heading: campaign.text("name").to_owned(),
        lead: match status {
            "RUNNING" => String::new(),
            _ => word_list_label(&campaign, "reasons_not_servable"),
        },
        badge: Some(status_badge(status)),
        actions: ctx.change_links(&CAMPAIGN, &here),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn settings_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, campaign: &RecordView) -> Result<PageBlock, Error> {
    let (budget, total) = budget_labels(campaign);
    let instrument = campaign.rendered_text("funding_instrument_id");
    let found = ctx.list(tx, &FUNDING_INSTRUMENT, json!({ "funding_instrument_ids": [instrument] }))?;
    let named = found.rows.first().map_or_else(|| instrument.clone(), instrument_label);
    let record = &campaign.record;
    let test = ab_tests::find_unfinished_of(tx, (record.account_id, record.id), ctx.request.now)?;
    let test = test.map(|test| {
        let (start, end) = ab_tests::period(&test);
        let during = format!("{} to {}", ctx.format_time(Some(start)), ctx.format_time(Some(end)));
        ("A/B test", TableCell::from_text(test.text("name")).with_subtext(during))
    });
    let mut rows = vec![
        ("Status", TableCell::from_badge(status_badge(campaign.text("entity_status")))),
        ("Budget", TableCell::from_text(budget).with_subtext(total)),
        ("Budget set by", TableCell::from_text(word_label(campaign.text("budget_optimization")))),
        ("Funding", TableCell::from_text(named).with_subtext(instrument)),
        ("Purchase order", TableCell::from_text(or_dash(campaign.text("purchase_order_number")))),
    ];
    rows.extend(test);
    rows.extend([
        ("Created", TableCell::from_text(ctx.format_time(campaign.time("created_at")))),
        ("Updated", TableCell::from_text(ctx.format_time(campaign.time("updated_at")))),
        ("ID", TableCell::from_text(campaign.id())),
    ]);
    Ok(PageBlock::Facts(DetailList { title: "Settings".to_owned(), actions: Vec::new(), rows }))
}

const EDITABLE_FIELDS: &[&str] = &[
    "name",
    "funding_instrument_id",
    "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro",
    "entity_status",
    "budget_optimization",
    "purchase_order_number",
];

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<FormDefinition, Error> {
    Ok(FormDefinition {
        heading: "Create campaign".to_owned(),
        trail: ctx.trail(&[("Campaigns", "")]),
        fields: declared_fields(tx, ctx, &CAMPAIGN, None, EDITABLE_FIELDS)?,
        submit: "Create campaign",
        action: ctx.page_path("/campaigns/new"),
        redirect: FormRedirect::Created(ctx.page_path("/campaigns")),
        ..FormDefinition::create(ctx, &CAMPAIGN, "", "")
    })
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &CAMPAIGN, id)?;
    let here = format!("/campaigns/{id}");
    let names: Vec<&str> = EDITABLE_FIELDS.iter().copied().filter(|name| *name != "funding_instrument_id").collect();
    Ok(FormDefinition {
        heading: "Edit campaign".to_owned(),
        trail: ctx.trail(&[("Campaigns", ""), (now.text("name"), &here)]),
        fields: declared_fields(tx, ctx, &CAMPAIGN, Some(&now), &names)?,
        ..FormDefinition::update(ctx, &CAMPAIGN, id, (&here, &here))
    })
}
