//! Campaigns: list, details and forms.

use base::Error;
use pages::Pager;
use pages::manager::{
    ActionButton, AdsManagerPage, DataTable, DetailList, EmptyState, NavLink, PageBlock, TableCell, TableRow,
};
use serde_json::Value;
use store::Tx;

use super::forms::{FormDefinition, FormFieldSpec, FormRedirect};
use super::labels::{self, status_badge};
use super::request::{ManagerAccount, json_text};
use super::route::{ManagerRoute, collect_links};
use super::stats::{self, EntityStats};
use super::{account, form_routes, line_items, number_column, text_column};

const PAGE_SIZE: usize = 20;

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount, route: &ManagerRoute) -> Result<AdsManagerPage, Error> {
    if !ctx.may_call("GET", "campaigns") {
        return Ok(AdsManagerPage {
            heading: "Campaigns".to_owned(),
            lead: "Your role on this account does not include campaigns.".to_owned(),
            ..AdsManagerPage::default()
        });
    }
    let mut pairs = vec![("with_draft", "true".to_owned()), ("count", PAGE_SIZE.to_string())];
    pairs.extend(route.cursor.clone().map(|cursor| ("cursor", cursor)));
    let found = ctx.list_entities(tx, "campaigns", &pairs)?;
    let ids: Vec<&str> = found.rows.iter().map(|one| json_text(one, "id")).collect();
    let figures = EntityStats::load(tx, ctx, "CAMPAIGN", &ids, stats::selected_days(route))?;
    let rows: Vec<TableRow> = found.rows.iter().map(|campaign| campaign_row(ctx, campaign, &figures)).collect();
    let create = ctx.permitted_link("POST", "campaigns", "Create campaign", "/campaigns/new");
    let create = create.map(|link| link.with_kind("primary"));
    let there = !rows.is_empty();
    let mut blocks = Vec::new();
    if there {
        blocks.extend(stats::account_charts(tx, ctx, route)?);
    }
    blocks.push(PageBlock::Table(DataTable {
        columns: figures.table_columns("Campaign"),
        lead: if there { figures.caption() } else { String::new() },
        empty: EmptyState {
            title: "No campaigns yet".to_owned(),
            text: "A campaign has a budget and the line items that spend it.".to_owned(),
            link: create.clone(),
        },
        pager: Pager {
            previous: None,
            next: found.next.map(|next| {
                let next = base::percent::encode(&next);
                ctx.page_path(&format!("?cursor={next}&days={}", stats::selected_days(route)))
            }),
        },
        rows,
        ..DataTable::default()
    }));
    Ok(AdsManagerPage {
        heading: "Campaigns".to_owned(),
        actions: create.filter(|_| there).into_iter().collect(),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn campaign_row(ctx: &ManagerAccount, campaign: &Value, figures: &EntityStats) -> TableRow {
    let (id, name) = (json_text(campaign, "id"), json_text(campaign, "name"));
    let (budget, total) = labels::budget_labels(campaign);
    let reasons = match json_text(campaign, "effective_status") {
        "RUNNING" | "PAUSED" => String::new(),
        _ => labels::word_list_label(campaign, "reasons_not_servable"),
    };
    let mut cells = vec![
        TableCell::from_text(name).with_link(ctx.page_path(&format!("/campaigns/{id}"))).with_subtext(id),
        TableCell::from_badge(status_badge(json_text(campaign, "effective_status"))).with_subtext(reasons),
        TableCell::from_text(budget).with_subtext(total),
    ];
    cells.extend(figures.table_cells(id, json_text(campaign, "currency")));
    TableRow { name: name.to_owned(), cells, action_buttons: status_button(ctx, "campaigns", campaign, "") }
}

/// `next` is the path to return to.
pub(super) fn status_button(ctx: &ManagerAccount, part: &str, one: &Value, next: &str) -> Vec<ActionButton> {
    let path = match part {
        "campaigns" => "campaigns/{}",
        _ => "line_items/{}",
    };
    let (text_of_act, act) = match json_text(one, "entity_status") {
        "ACTIVE" => ("Pause", "pause"),
        "PAUSED" => ("Resume", "resume"),
        _ => ("Activate", "resume"),
    };
    if !ctx.may_call("PUT", path) {
        return Vec::new();
    }
    let id = json_text(one, "id");
    vec![ActionButton {
        text: text_of_act,
        path: ctx.page_path(&format!("/{part}/{id}/{act}")),
        hidden: vec![("next", ctx.page_path(next))],
        ..ActionButton::default()
    }]
}

pub(super) fn show(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
    route: &ManagerRoute,
) -> Result<AdsManagerPage, Error> {
    let campaign = ctx.get_entity(tx, "campaigns/{}", id)?;
    let here = format!("/campaigns/{id}");
    let add = ctx.permitted_link("POST", "line_items", "Add line item", &format!("{here}/line-item"));
    let charts = stats::entity_charts(tx, ctx, route, "CAMPAIGN", &campaign, &here)?;
    let mut blocks: Vec<PageBlock> = charts.into_iter().collect();
    blocks.push(line_items::line_items_block(tx, ctx, id, route, add.clone())?);
    blocks.push(settings_block(tx, ctx, &campaign)?);
    blocks.extend(account::history_block(tx, ctx, "CAMPAIGN", &campaign)?);
    let status = status_badge(json_text(&campaign, "effective_status"));
    Ok(AdsManagerPage {
        trail: vec![NavLink::new("Campaigns", ctx.page_path(""))],
        heading: json_text(&campaign, "name").to_owned(),
        lead: match json_text(&campaign, "effective_status") {
            "RUNNING" => String::new(),
            _ => labels::word_list_label(&campaign, "reasons_not_servable"),
        },
        badge: Some(status),
        actions: collect_links([
            ctx.permitted_link("PUT", "campaigns/{}", "Edit", &format!("{here}/edit")),
            ctx.permitted_link("DELETE", "campaigns/{}", "Delete", &format!("{here}/delete"))
                .map(|link| link.with_kind("danger-quiet")),
        ]),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn settings_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, campaign: &Value) -> Result<PageBlock, Error> {
    let (budget, total) = labels::budget_labels(campaign);
    Ok(PageBlock::Facts(DetailList {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            ("Status", TableCell::from_badge(status_badge(json_text(campaign, "entity_status")))),
            ("Budget", TableCell::from_text(budget).with_subtext(total)),
            ("Budget set by", TableCell::from_text(labels::word_label(json_text(campaign, "budget_optimization")))),
            ("Funding", funding_cell(tx, ctx, campaign)?),
            ("Purchase order", TableCell::from_text(or_dash(json_text(campaign, "purchase_order_number")))),
            ("Created", TableCell::from_text(labels::format_time(json_text(campaign, "created_at")))),
            ("Updated", TableCell::from_text(labels::format_time(json_text(campaign, "updated_at")))),
            ("ID", TableCell::from_text(json_text(campaign, "id"))),
        ],
    }))
}

fn funding_cell(tx: &mut Tx<'_>, ctx: &ManagerAccount, campaign: &Value) -> Result<TableCell, Error> {
    let id = json_text(campaign, "funding_instrument_id");
    let ids = [("funding_instrument_ids", id.to_owned())];
    let found = ctx.list_entities(tx, "funding_instruments", &ids)?;
    let found = found.rows.first().map(account::instrument_label);
    Ok(TableCell::from_text(found.unwrap_or_else(|| id.to_owned())).with_subtext(id))
}

pub(super) fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

const BUDGET_LEVELS: &[&str] = &["CAMPAIGN", "LINE_ITEM"];

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Option<FormDefinition>, Error> {
    let pays = ctx.list_entities(tx, "funding_instruments", &[])?;
    let pays = pays.rows.iter().map(|one| {
        let id = json_text(one, "id").to_owned();
        let label = account::instrument_label(one);
        (id, label)
    });
    let mut fields = vec![
        FormFieldSpec::text("name", "Name"),
        FormFieldSpec::choice("funding_instrument_id", "Funding", pays.collect()),
    ];
    fields.extend(setting_fields(&Value::Null));
    Ok(Some(FormDefinition {
        heading: "Create campaign".to_owned(),
        trail: vec![NavLink::new("Campaigns", ctx.page_path(""))],
        path: "campaigns",
        fields,
        submit: "Create campaign",
        action: ctx.page_path("/campaigns/new"),
        redirect: FormRedirect::Created(ctx.page_path("/campaigns")),
        done_code: "created",
        ..FormDefinition::new(ctx, "")
    }))
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let now = ctx.get_entity(tx, "campaigns/{}", id)?;
    let here = format!("/campaigns/{id}");
    let mut fields = vec![FormFieldSpec::text("name", "Name").initial_value(json_text(&now, "name"))];
    fields.extend(setting_fields(&now));
    Ok(Some(FormDefinition {
        heading: "Edit campaign".to_owned(),
        trail: vec![
            NavLink::new("Campaigns", ctx.page_path("")),
            NavLink::new(json_text(&now, "name"), ctx.page_path(&here)),
        ],
        method: "PUT",
        path: "campaigns/{}",
        ids: vec![id.to_owned()],
        fields,
        submit: "Save changes",
        action: ctx.page_path(&format!("{here}/edit")),
        ..FormDefinition::new(ctx, &here)
    }))
}

fn setting_fields(now: &Value) -> Vec<FormFieldSpec> {
    let mut fields: Vec<FormFieldSpec> = form_routes::budget_fields(now).into();
    let level = FormFieldSpec::word_choice("budget_optimization", "Budget set by", BUDGET_LEVELS)
        .help("If set by line item, each line item has its own budget.");
    let level = match json_text(now, "budget_optimization") {
        "" => level,
        set => level.initial_value(set),
    };
    fields.extend([
        form_routes::status_field(json_text(now, "entity_status")),
        level.mark_advanced(),
        FormFieldSpec::text("purchase_order_number", "Purchase order number")
            .initial_value(json_text(now, "purchase_order_number"))
            .mark_advanced(),
    ]);
    fields
}

pub(super) fn stats_columns(name: &'static str, figures: bool) -> Vec<pages::manager::TableColumn> {
    let mut all = vec![text_column(name), text_column("Status"), text_column("Budget")];
    if figures {
        all.extend([number_column("Spend"), number_column("Results"), number_column("Cost per result")]);
    }
    all
}
