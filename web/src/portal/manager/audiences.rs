//! Audiences: how large they are, who may use them, and what targets them.

use base::Stop;
use pages::manager::{AdsManager, Block, Cell, Empty, Figure, Link, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, Listed, items, number, text};
use super::stand::Stand;
use super::words::{all_said, said, whole};
use super::{column, numbers};

/// The account's own audiences, and those that others share with it.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk, _: &Stand) -> Result<AdsManager, Stop> {
    let mut blocks = Vec::new();
    for (scope, title, none) in [
        ("OWNER", "Own audiences", "No audience yet"),
        ("SHARED", "Shared with this account", "Nothing is shared"),
    ] {
        let found = desk.list(
            tx,
            "custom_audiences",
            &[("permission_scope", scope.to_owned())],
        )?;
        let rows = found.rows.iter().map(|one| row(desk, one));
        blocks.push(Block::Table(Table {
            title: title.to_owned(),
            columns: vec![
                column("Audience"),
                column("State"),
                column("Kind"),
                numbers("Size"),
            ],
            rows: rows.collect(),
            empty: Empty {
                title: none.to_owned(),
                text: "Apps make audiences and send hashed members to them.".to_owned(),
                link: None,
            },
            ..Table::default()
        }));
    }
    Ok(AdsManager {
        heading: "Audiences".to_owned(),
        lead: "People whom line items target or leave out, by lists that you brought.".to_owned(),
        blocks,
        ..AdsManager::default()
    })
}

fn row(desk: &Desk, audience: &Value) -> Row {
    let id = text(audience, "id");
    Row {
        name: text(audience, "name").to_owned(),
        cells: vec![
            Cell::of(text(audience, "name"))
                .leads(desk.path(&format!("/audiences/{id}")))
                .below(text(audience, "description")),
            state(audience),
            Cell::of(said(text(audience, "audience_type")))
                .below(said(text(audience, "permission_level"))),
            Cell::of(size(audience)),
        ],
        acts: Vec::new(),
    }
}

fn state(audience: &Value) -> Cell {
    let targetable = audience.get("targetable").and_then(Value::as_bool) == Some(true);
    let mut state = super::words::badge(if targetable { "READY" } else { "PROCESSING" });
    if !targetable {
        "Not targetable".clone_into(&mut state.text);
    }
    Cell::badge(state).below(all_said(audience, "reasons_not_targetable"))
}

fn size(audience: &Value) -> String {
    number(audience, "audience_size").map_or_else(|| "–".to_owned(), whole)
}

/// One audience.
pub(super) fn one(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<AdsManager, Stop> {
    let audience = desk.one(tx, "custom_audiences/{}", id)?;
    let mut blocks = vec![Block::Figures(vec![
        Figure {
            label: "Size".to_owned(),
            value: size(&audience),
            below: "people of this network".to_owned(),
        },
        Figure {
            label: "Kind".to_owned(),
            value: said(text(&audience, "audience_type")),
            below: String::new(),
        },
        Figure {
            label: "This account may".to_owned(),
            value: said(text(&audience, "permission_level")),
            below: String::new(),
        },
    ])];
    blocks.push(targeted(tx, desk, id)?);
    if audience.get("is_owner").and_then(Value::as_bool) == Some(true) {
        blocks.push(permissions(tx, desk, id)?);
    }
    let about = text(&audience, "description");
    Ok(AdsManager {
        trail: vec![Link::to("Audiences", desk.path("/audiences"))],
        heading: text(&audience, "name").to_owned(),
        badge: state(&audience).badge,
        lead: about.to_owned(),
        blocks,
        ..AdsManager::default()
    })
}

fn targeted(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Stop> {
    let path = "custom_audiences/{}/targeted";
    let found = if desk.may("GET", path) {
        let all = [("with_active", "false".to_owned())];
        Listed::of(&desk.ask(tx, "GET", path, &[id], &all)?)
    } else {
        Listed::default()
    };
    let rows = found.rows.iter().flat_map(|campaign| {
        let name = text(campaign, "campaign_name");
        let above = desk.path(&format!("/campaigns/{}", text(campaign, "campaign_id")));
        items(campaign, "line_items").iter().map(move |item| {
            let own = text(item, "id");
            let serves = item.get("servable").and_then(Value::as_bool) == Some(true);
            let state = if serves { "RUNNING" } else { "UNKNOWN" };
            Row {
                name: own.to_owned(),
                cells: vec![
                    Cell::of(super::line_items::name_of(item))
                        .leads(desk.path(&format!("/line-items/{own}"))),
                    Cell::of(name).leads(above.clone()),
                    Cell::badge(super::words::badge(state)),
                ],
                acts: Vec::new(),
            }
        })
    });
    Ok(Block::Table(Table {
        title: "Targeted by".to_owned(),
        columns: ["Line item", "Campaign", "Status"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "No line item targets it".to_owned(),
            ..Empty::default()
        },
        ..Table::default()
    }))
}

fn permissions(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Block, Stop> {
    let path = "custom_audiences/{}/permissions";
    let found = if desk.may("GET", path) {
        Listed::of(&desk.ask(tx, "GET", path, &[id], &[])?)
    } else {
        Listed::default()
    };
    let rows = found.rows.iter().map(|one| Row {
        name: text(one, "granted_account_id").to_owned(),
        cells: vec![
            Cell::of(text(one, "granted_account_id")),
            Cell::of(said(text(one, "permission_level"))),
            Cell::of(super::words::day(text(one, "created_at"))),
        ],
        acts: Vec::new(),
    });
    Ok(Block::Table(Table {
        title: "Shared with".to_owned(),
        columns: ["Account", "May", "Since"].map(column).into(),
        rows: rows.collect(),
        empty: Empty {
            title: "Shared with nobody".to_owned(),
            ..Empty::default()
        },
        ..Table::default()
    }))
}
