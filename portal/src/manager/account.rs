//! The account: settings, funding, users and history of changes.

use base::{Error, UserId};
use pages::manager::{AdsManagerPage, DataTable, DetailList, EmptyState, PageBlock, StatusBadge, TableCell, TableRow};
use serde_json::Value;
use store::Tx;

use super::labels::{format_money, format_time, parse_time, role_label, status_badge, value_label, word_label};
use super::request::{EntityListPage, ManagerAccount, json_array, json_int, json_text};
use super::{account_users, number_column, text_column};

const HOUR_MS: i64 = 3_600_000;
const PAGE_SIZE: &str = "20";

pub(super) fn account_page(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let account = ctx.get_entity(tx, "", "")?;
    let features = ctx.call_api(tx, "GET", "features", &[], &[])?;
    let features: Vec<String> =
        json_array(&features, "data").iter().filter_map(Value::as_str).map(word_label).collect();
    let mut blocks = vec![PageBlock::Facts(DetailList {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            ("Review", TableCell::from_badge(status_badge(json_text(&account, "approval_status")))),
            ("Time zone", TableCell::from_text(json_text(&account, "timezone"))),
            ("Industry", TableCell::from_text(word_label(json_text(&account, "industry_type")))),
            ("Your role", TableCell::from_text(role_label(ctx.role))),
            ("Created", TableCell::from_text(format_time(json_text(&account, "created_at")))),
            ("ID", TableCell::from_text(json_text(&account, "id"))),
            ("Features", TableCell::from_text(features.join(", "))),
        ],
    })];
    blocks.extend(funding_block(tx, ctx)?);
    blocks.push(account_users::users_block(tx, ctx)?);
    Ok(AdsManagerPage { heading: "Account".to_owned(), blocks, ..AdsManagerPage::default() })
}

pub(super) fn instrument_label(one: &Value) -> String {
    let about = match json_text(one, "description") {
        // A description in parentheses is generated, not written by anyone.
        about if about.is_empty() || about.starts_with('(') => word_label(json_text(one, "type")),
        about => about.to_owned(),
    };
    format!("{about} ({})", json_text(one, "currency"))
}

fn funding_block(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Option<PageBlock>, Error> {
    if !ctx.may_call("GET", "funding_instruments") {
        return Ok(None);
    }
    let found = ctx.list_entities(tx, "funding_instruments", &[])?;
    let rows = found.rows.iter().map(|one| {
        let currency = json_text(one, "currency");
        let amounts = ["funded_amount_local_micro", "credit_limit_local_micro"];
        let amount = amounts.iter().find_map(|name| json_int(one, name));
        let remaining = json_int(one, "credit_remaining_local_micro");
        let remaining = remaining.map(|left| format!("{} left", format_money(left, currency)));
        let able = one.get("able_to_fund").and_then(Value::as_bool) == Some(true);
        let state = StatusBadge {
            text: if able { "Active" } else { "Inactive" }.to_owned(),
            kind: if able { "good" } else { "warn" },
        };
        TableRow {
            name: json_text(one, "id").to_owned(),
            cells: vec![
                TableCell::from_text(instrument_label(one)).with_subtext(json_text(one, "id")),
                TableCell::from_badge(state)
                    .with_subtext(super::labels::word_list_label(one, "reasons_not_able_to_fund")),
                TableCell::from_text(format_time(json_text(one, "start_time"))).with_subtext(
                    match json_text(one, "end_time") {
                        "" => String::new(),
                        end => format!("until {}", format_time(end)),
                    },
                ),
                TableCell::from_text(amount.map_or_else(|| "–".to_owned(), |all| format_money(all, currency)))
                    .with_subtext(remaining.unwrap_or_default()),
            ],
            action_buttons: Vec::new(),
        }
    });
    Ok(Some(PageBlock::Table(DataTable {
        title: "Funding".to_owned(),
        columns: vec![text_column("Instrument"), text_column("Status"), text_column("Period"), number_column("Amount")],
        rows: rows.collect(),
        empty: EmptyState {
            title: "No funding yet".to_owned(),
            text: "An operator of this server adds funding to the account.".to_owned(),
            link: None,
        },
        ..DataTable::default()
    })))
}

/// Newest first.
pub(super) fn history_block(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    entity: &str,
    of: &Value,
) -> Result<Option<PageBlock>, Error> {
    let open = !ctx.record.has("refused", "ACCOUNT_HISTORY");
    if !open || !ctx.may_call("GET", "account_history") {
        return Ok(None);
    }
    let from = parse_time(json_text(of, "created_at")).map_or(0, |at| at.ms().div_euclid(HOUR_MS) * HOUR_MS);
    let to = (ctx.request.now.ms().div_euclid(HOUR_MS).saturating_add(1)).saturating_mul(HOUR_MS);
    let written = |ms: i64| ads_engine::field_kind::format_time(base::Time::from_ms(ms));
    let pairs = [
        ("entity_type", entity.to_owned()),
        ("entity_id", json_text(of, "id").to_owned()),
        ("start_time", written(from)),
        ("end_time", written(to)),
        ("count", PAGE_SIZE.to_owned()),
    ];
    let found = EntityListPage::from_response(&ctx.call_api(tx, "GET", "account_history", &[], &pairs)?);
    let mut rows = Vec::new();
    for change in &found.rows {
        let by = change.get("change_by").cloned().unwrap_or_default();
        let user = match UserId::parse(json_text(&by, "user_id")) {
            Some(user) => store::users::find_by_id(tx, user)?,
            None => None,
        };
        let who = user.map_or_else(|| "System".to_owned(), |user| format!("@{}", user.username));
        rows.push(TableRow {
            name: String::new(),
            cells: vec![
                TableCell { at: parse_time(json_text(change, "change_time")), ..TableCell::default() },
                TableCell::from_text(who).with_subtext(word_label(json_text(&by, "platform"))),
                TableCell::from_text(match json_text(change, "change_type") {
                    "CREATE" => "Created",
                    "DELETE" => "Deleted",
                    _ => "Changed",
                }),
                TableCell::from_text(describe_changes(change)),
            ],
            action_buttons: Vec::new(),
        });
    }
    Ok(Some(PageBlock::Table(DataTable {
        title: "History".to_owned(),
        columns: ["Time", "User", "Action", "Changes"].map(text_column).into(),
        rows,
        empty: EmptyState { title: "No changes yet".to_owned(), ..EmptyState::default() },
        ..DataTable::default()
    })))
}

fn describe_changes(change: &Value) -> String {
    let changes = change.get("changes").and_then(Value::as_object);
    let each = changes.into_iter().flatten().map(|(name, one)| {
        let side = |side: &str| match one.get(side) {
            None | Some(Value::Null) => "none".to_owned(),
            Some(value) => value_label(name, value),
        };
        let plain = name.replace("_amount_local_micro", "");
        let plain = plain.replace("entity_", "");
        format!("{}: {} → {}", word_label(&plain), side("old"), side("new"))
    });
    let all: Vec<String> = each.collect();
    if all.is_empty() { "–".to_owned() } else { all.join("; ") }
}
