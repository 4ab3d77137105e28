//! The account itself: what it is, who works on it, what pays, and what was changed.

use base::{Error, UserId};
use pages::manager::{AdsManager, Badge, Block, Cell, Empty, Facts, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, Listed, items, number, text};
use super::words::{badge, day, money, role, said, time};
use super::{column, numbers, people};

const HOUR: i64 = 3_600_000;
/// Changes on a page.
const CHANGES: &str = "20";

/// All of it.
pub(super) fn show(tx: &mut Tx<'_>, desk: &Desk) -> Result<AdsManager, Error> {
    let account = desk.one(tx, "", "")?;
    let features = desk.ask(tx, "GET", "features", &[], &[])?;
    let features: Vec<String> = items(&features, "data")
        .iter()
        .filter_map(Value::as_str)
        .map(said)
        .collect();
    let mut blocks = vec![Block::Facts(Facts {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            (
                "Review",
                Cell::badge(badge(text(&account, "approval_status"))),
            ),
            ("Time zone", Cell::of(text(&account, "timezone"))),
            ("Industry", Cell::of(said(text(&account, "industry_type")))),
            ("Your role", Cell::of(role(desk.role))),
            ("Created", Cell::of(day(text(&account, "created_at")))),
            ("ID", Cell::of(text(&account, "id"))),
            ("Features", Cell::of(features.join(", "))),
        ],
    })];
    blocks.extend(instruments(tx, desk)?);
    blocks.push(people::table(tx, desk)?);
    Ok(AdsManager {
        heading: "Account".to_owned(),
        blocks,
        ..AdsManager::default()
    })
}

/// What pays, in words.
pub(super) fn instrument(one: &Value) -> String {
    let about = match text(one, "description") {
        // What stands in brackets says that nobody described it.
        about if about.is_empty() || about.starts_with('(') => said(text(one, "type")),
        about => about.to_owned(),
    };
    format!("{about} ({})", text(one, "currency"))
}

fn instruments(tx: &mut Tx<'_>, desk: &Desk) -> Result<Option<Block>, Error> {
    if !desk.may("GET", "funding_instruments") {
        return Ok(None);
    }
    let found = desk.list(tx, "funding_instruments", &[])?;
    let rows = found.rows.iter().map(|one| {
        let currency = text(one, "currency");
        let amounts = ["funded_amount_local_micro", "credit_limit_local_micro"];
        let amount = amounts.iter().find_map(|name| number(one, name));
        let remaining = number(one, "credit_remaining_local_micro");
        let remaining = remaining.map(|left| format!("{} left", money(left, currency)));
        let able = one.get("able_to_fund").and_then(Value::as_bool) == Some(true);
        let state = Badge {
            text: if able { "Pays" } else { "Does not pay" }.to_owned(),
            kind: if able { "good" } else { "warn" },
        };
        Row {
            name: text(one, "id").to_owned(),
            cells: vec![
                Cell::of(instrument(one)).below(text(one, "id")),
                Cell::badge(state).below(super::words::all_said(one, "reasons_not_able_to_fund")),
                Cell::of(day(text(one, "start_time"))).below(match text(one, "end_time") {
                    "" => String::new(),
                    end => format!("until {}", day(end)),
                }),
                Cell::of(amount.map_or_else(|| "–".to_owned(), |all| money(all, currency)))
                    .below(remaining.unwrap_or_default()),
            ],
            acts: Vec::new(),
        }
    });
    Ok(Some(Block::Table(Table {
        title: "Funding".to_owned(),
        columns: vec![
            column("Instrument"),
            column("State"),
            column("From"),
            numbers("Amount"),
        ],
        rows: rows.collect(),
        empty: Empty {
            title: "Nothing pays yet".to_owned(),
            text: "An operator gives the account something to pay with.".to_owned(),
            link: None,
        },
        ..Table::default()
    })))
}

/// What was changed of something, newest first.
pub(super) fn history(
    tx: &mut Tx<'_>,
    desk: &Desk,
    entity: &str,
    of: &Value,
) -> Result<Option<Block>, Error> {
    let open = !desk.account.has("refused", "ACCOUNT_HISTORY");
    if !open || !desk.may("GET", "account_history") {
        return Ok(None);
    }
    let from = time(text(of, "created_at")).map_or(0, |at| at.ms().div_euclid(HOUR) * HOUR);
    let to = (desk.asking.now.ms().div_euclid(HOUR).saturating_add(1)).saturating_mul(HOUR);
    let written = |ms: i64| ads::field_kind::format_time(base::Time::from_ms(ms));
    let pairs = [
        ("entity_type", entity.to_owned()),
        ("entity_id", text(of, "id").to_owned()),
        ("start_time", written(from)),
        ("end_time", written(to)),
        ("count", CHANGES.to_owned()),
    ];
    let found = Listed::of(&desk.ask(tx, "GET", "account_history", &[], &pairs)?);
    let mut rows = Vec::new();
    for change in &found.rows {
        let by = change.get("change_by").cloned().unwrap_or_default();
        let user = match UserId::parse(text(&by, "user_id")) {
            Some(user) => store::users::find_by_id(tx, user)?,
            None => None,
        };
        let who = user.map_or_else(
            || "The platform".to_owned(),
            |user| format!("@{}", user.username),
        );
        rows.push(Row {
            name: String::new(),
            cells: vec![
                Cell {
                    at: time(text(change, "change_time")),
                    ..Cell::default()
                },
                Cell::of(who).below(said(text(&by, "platform"))),
                Cell::of(match text(change, "change_type") {
                    "CREATE" => "Created",
                    "DELETE" => "Deleted",
                    _ => "Changed",
                }),
                Cell::of(differences(change)),
            ],
            acts: Vec::new(),
        });
    }
    Ok(Some(Block::Table(Table {
        title: "History".to_owned(),
        columns: ["When", "Who", "What", "Changes"].map(column).into(),
        rows,
        empty: Empty {
            title: "Nothing was changed yet".to_owned(),
            ..Empty::default()
        },
        ..Table::default()
    })))
}

/// Whether a text is a word of the interface, in capitals.
pub(super) fn is_word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

fn differences(change: &Value) -> String {
    let changes = change.get("changes").and_then(Value::as_object);
    let each = changes.into_iter().flatten().map(|(name, one)| {
        let side = |side: &str| match one.get(side) {
            Some(Value::String(word)) if is_word(word) => said(word),
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "nothing".to_owned(),
            Some(Value::Number(micros)) if name.ends_with("_micro") => {
                super::words::amount(micros.as_i64().unwrap_or(0))
            }
            Some(other) => other.to_string(),
        };
        let plain = name.replace("_amount_local_micro", "");
        let plain = plain.replace("entity_", "");
        format!("{}: {} → {}", said(&plain), side("old"), side("new"))
    });
    let all: Vec<String> = each.collect();
    if all.is_empty() {
        "–".to_owned()
    } else {
        all.join("; ")
    }
}
