//! Campaigns: the list of them, one of them, and their forms.

use base::Error;
use pages::Pager;
use pages::manager::{Act, AdsManager, Block, Cell, Empty, Facts, Link, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, text};
use super::figures::{self, Figures};
use super::forms::{Ask, Plan, Then};
use super::stand::{Stand, offered};
use super::words::{self, badge};
use super::{account, column, line_items, numbers, plans};

const SHOWN: usize = 20;

/// Every campaign of the account, with the account's figures above.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk, stand: &Stand) -> Result<AdsManager, Error> {
    if !desk.may("GET", "campaigns") {
        return Ok(AdsManager {
            heading: "Campaigns".to_owned(),
            lead: "Your role on this account does not show campaigns.".to_owned(),
            ..AdsManager::default()
        });
    }
    let mut pairs = vec![
        ("with_draft", "true".to_owned()),
        ("count", SHOWN.to_string()),
    ];
    pairs.extend(stand.cursor.clone().map(|cursor| ("cursor", cursor)));
    let found = desk.list(tx, "campaigns", &pairs)?;
    let ids: Vec<&str> = found.rows.iter().map(|one| text(one, "id")).collect();
    let figures = Figures::of(tx, desk, "CAMPAIGN", &ids, figures::days(stand))?;
    let rows: Vec<Row> = found
        .rows
        .iter()
        .map(|campaign| row(desk, campaign, &figures))
        .collect();
    let create = desk.offer("POST", "campaigns", "Create campaign", "/campaigns/new");
    let create = create.map(|link| link.kind("primary"));
    let there = !rows.is_empty();
    let mut blocks = Vec::new();
    if there {
        blocks.extend(figures::of_account(tx, desk, stand)?);
    }
    blocks.push(Block::Table(Table {
        columns: figures.columns("Campaign"),
        lead: if there { figures.said() } else { String::new() },
        empty: Empty {
            title: "No campaign yet".to_owned(),
            text: "A campaign holds a budget and the line items that spend it.".to_owned(),
            link: create.clone(),
        },
        pager: Pager {
            previous: None,
            next: found.next.map(|next| {
                let next = base::percent::encode(&next);
                desk.path(&format!("?cursor={next}&days={}", figures::days(stand)))
            }),
        },
        rows,
        ..Table::default()
    }));
    Ok(AdsManager {
        heading: "Campaigns".to_owned(),
        actions: create.filter(|_| there).into_iter().collect(),
        blocks,
        ..AdsManager::default()
    })
}

fn row(desk: &Desk, campaign: &Value, figures: &Figures) -> Row {
    let (id, name) = (text(campaign, "id"), text(campaign, "name"));
    let (budget, total) = words::budget(campaign);
    let reasons = match text(campaign, "effective_status") {
        "RUNNING" | "PAUSED" => String::new(),
        _ => words::all_said(campaign, "reasons_not_servable"),
    };
    let mut cells = vec![
        Cell::of(name)
            .leads(desk.path(&format!("/campaigns/{id}")))
            .below(id),
        Cell::badge(badge(text(campaign, "effective_status"))).below(reasons),
        Cell::of(budget).below(total),
    ];
    cells.extend(figures.cells(id, text(campaign, "currency")));
    Row {
        name: name.to_owned(),
        cells,
        acts: turns(desk, "campaigns", campaign, ""),
    }
}

/// The button that pauses or resumes; `next` is where one is led then.
pub(super) fn turns(desk: &Desk, part: &str, one: &Value, next: &str) -> Vec<Act> {
    let path = match part {
        "campaigns" => "campaigns/{}",
        _ => "line_items/{}",
    };
    let (text_of_act, act) = match text(one, "entity_status") {
        "ACTIVE" => ("Pause", "pause"),
        "PAUSED" => ("Resume", "resume"),
        _ => ("Activate", "resume"),
    };
    if !desk.may("PUT", path) {
        return Vec::new();
    }
    let id = text(one, "id");
    vec![Act {
        text: text_of_act,
        path: desk.path(&format!("/{part}/{id}/{act}")),
        sends: vec![("next", desk.path(next))],
        ..Act::default()
    }]
}

/// One campaign, its line items and its history.
pub(super) fn one(
    tx: &mut Tx<'_>,
    desk: &Desk,
    id: &str,
    stand: &Stand,
) -> Result<AdsManager, Error> {
    let campaign = desk.one(tx, "campaigns/{}", id)?;
    let here = format!("/campaigns/{id}");
    let add = desk.offer(
        "POST",
        "line_items",
        "Add line item",
        &format!("{here}/line-item"),
    );
    let charts = figures::of_one(tx, desk, stand, "CAMPAIGN", &campaign, &here)?;
    let mut blocks: Vec<Block> = charts.into_iter().collect();
    blocks.push(line_items::table(tx, desk, id, stand, add.clone())?);
    blocks.push(facts(tx, desk, &campaign)?);
    blocks.extend(account::history(tx, desk, "CAMPAIGN", &campaign)?);
    let status = badge(text(&campaign, "effective_status"));
    Ok(AdsManager {
        trail: vec![Link::to("Campaigns", desk.path(""))],
        heading: text(&campaign, "name").to_owned(),
        lead: match text(&campaign, "effective_status") {
            "RUNNING" => String::new(),
            _ => words::all_said(&campaign, "reasons_not_servable"),
        },
        badge: Some(status),
        actions: offered([
            desk.offer("PUT", "campaigns/{}", "Edit", &format!("{here}/edit")),
            desk.offer(
                "DELETE",
                "campaigns/{}",
                "Delete",
                &format!("{here}/delete"),
            )
            .map(|link| link.kind("danger-quiet")),
        ]),
        blocks,
        ..AdsManager::default()
    })
}

fn facts(tx: &mut Tx<'_>, desk: &Desk, campaign: &Value) -> Result<Block, Error> {
    let (budget, total) = words::budget(campaign);
    Ok(Block::Facts(Facts {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            (
                "Status",
                Cell::badge(badge(text(campaign, "entity_status"))),
            ),
            ("Budget", Cell::of(budget).below(total)),
            (
                "Budget is set by",
                Cell::of(words::said(text(campaign, "budget_optimization"))),
            ),
            ("Paid by", paid_by(tx, desk, campaign)?),
            (
                "Purchase order",
                Cell::of(or_dash(text(campaign, "purchase_order_number"))),
            ),
            (
                "Created",
                Cell::of(words::day(text(campaign, "created_at"))),
            ),
            (
                "Changed",
                Cell::of(words::day(text(campaign, "updated_at"))),
            ),
            ("ID", Cell::of(text(campaign, "id"))),
        ],
    }))
}

fn paid_by(tx: &mut Tx<'_>, desk: &Desk, campaign: &Value) -> Result<Cell, Error> {
    let id = text(campaign, "funding_instrument_id");
    let ids = [("funding_instrument_ids", id.to_owned())];
    let found = desk.list(tx, "funding_instruments", &ids)?;
    let found = found.rows.first().map(account::instrument);
    Ok(Cell::of(found.unwrap_or_else(|| id.to_owned())).below(id))
}

/// A text, or that there is none.
pub(super) fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

const LEVELS: &[&str] = &["CAMPAIGN", "LINE_ITEM"];

/// The form of a new one.
pub(super) fn create(tx: &mut Tx<'_>, desk: &Desk) -> Result<Option<Plan>, Error> {
    let pays = desk.list(tx, "funding_instruments", &[])?;
    let pays = pays.rows.iter().map(|one| {
        let id = text(one, "id").to_owned();
        let said = account::instrument(one);
        (id, said)
    });
    let mut asks = vec![
        Ask::text("name", "Name"),
        Ask::choice("funding_instrument_id", "Paid by", pays.collect()),
    ];
    asks.extend(settings(&Value::Null));
    Ok(Some(Plan {
        heading: "Create a campaign".to_owned(),
        trail: vec![Link::to("Campaigns", desk.path(""))],
        path: "campaigns",
        asks,
        submit: "Create campaign",
        action: desk.path("/campaigns/new"),
        then: Then::Made(desk.path("/campaigns")),
        done: "created",
        ..Plan::at(desk, "")
    }))
}

/// The form of a change.
pub(super) fn edit(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let now = desk.one(tx, "campaigns/{}", id)?;
    let here = format!("/campaigns/{id}");
    let mut asks = vec![Ask::text("name", "Name").at_first(text(&now, "name"))];
    asks.extend(settings(&now));
    Ok(Some(Plan {
        heading: "Edit the campaign".to_owned(),
        trail: vec![
            Link::to("Campaigns", desk.path("")),
            Link::to(text(&now, "name"), desk.path(&here)),
        ],
        method: "PUT",
        path: "campaigns/{}",
        ids: vec![id.to_owned()],
        asks,
        submit: "Save changes",
        action: desk.path(&format!("{here}/edit")),
        ..Plan::at(desk, &here)
    }))
}

fn settings(now: &Value) -> Vec<Ask> {
    let mut asks: Vec<Ask> = plans::budgets(now).into();
    let level = Ask::words("budget_optimization", "Budget is set by", LEVELS)
        .help("With line items, each of them has a budget of its own.");
    let level = match text(now, "budget_optimization") {
        "" => level,
        set => level.at_first(set),
    };
    asks.extend([
        plans::status(text(now, "entity_status")),
        level.rarely(),
        Ask::text("purchase_order_number", "Purchase order number")
            .at_first(text(now, "purchase_order_number"))
            .rarely(),
    ]);
    asks
}

/// The columns of a table with figures: what it is about comes first.
pub(super) fn columns(name: &'static str, figures: bool) -> Vec<pages::manager::Column> {
    let mut all = vec![column(name), column("Status"), column("Budget")];
    if figures {
        all.extend([
            numbers("Spend"),
            numbers("Results"),
            numbers("Cost per result"),
        ]);
    }
    all
}
