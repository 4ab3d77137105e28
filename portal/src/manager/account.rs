//! The account: settings, funding and users.

use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads_engine::{RecordView, ResourceVerb};
use base::Error;
use pages::manager::{AdsManagerPage, DataTable, DetailList, EmptyState, PageBlock, StatusBadge, TableCell, TableRow};
use serde_json::Value;
use store::Tx;

use super::account_users;
use super::choices::instrument_label;
use super::labels::{format_money, role_label, status_badge, word_label, word_labels, word_list_label};
use super::request::ManagerAccount;
use super::tables::{number_column, text_column};

pub(super) fn account_page(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let account = &ctx.record;
    let mut features = account.texts("features");
    features.sort_unstable();
    let mut blocks = vec![PageBlock::Facts(DetailList {
        title: "Settings".to_owned(),
        actions: Vec::new(),
        rows: vec![
            ("Review", TableCell::from_badge(status_badge(account.text("approval_status")))),
            ("Time zone", TableCell::from_text(account.text("timezone"))),
            ("Industry", TableCell::from_text(word_label(account.text("industry_type")))),
            ("Your role", TableCell::from_text(role_label(ctx.role))),
            ("Created", TableCell::from_text(ctx.format_time(Some(account.created_at)))),
            ("ID", TableCell::from_text(account.formatted_id())),
            ("Features", TableCell::from_text(word_labels(features))),
        ],
    })];
    blocks.extend(funding_block(tx, ctx)?);
    blocks.push(account_users::users_block(tx, ctx)?);
    Ok(AdsManagerPage { heading: "Account".to_owned(), blocks, ..AdsManagerPage::default() })
}

fn funding_block(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Option<PageBlock>, Error> {
    if !ctx.may(ResourceVerb::List, &FUNDING_INSTRUMENT) {
        return Ok(None);
    }
    let found = ctx.list(tx, &FUNDING_INSTRUMENT, Value::Null)?;
    Ok(Some(PageBlock::Table(DataTable {
        title: "Funding".to_owned(),
        columns: vec![text_column("Instrument"), text_column("Status"), text_column("Period"), number_column("Amount")],
        rows: found.rows.iter().map(|one| instrument_row(ctx, one)).collect(),
        empty: EmptyState::new("No funding yet", "An operator of this server adds funding to the account.", None),
        ..DataTable::default()
    })))
}

fn instrument_row(ctx: &ManagerAccount, one: &RecordView) -> TableRow {
    let currency = one.text("currency");
    let amounts = ["funded_amount_local_micro", "credit_limit_local_micro"];
    let amount = amounts.iter().find_map(|name| one.int(name));
    let amount = amount.map_or_else(|| "–".to_owned(), |all| format_money(all, currency));
    let remaining = one.int("credit_remaining_local_micro");
    let remaining = remaining.map(|left| format!("{} left", format_money(left, currency)));
    let (text, kind) = if one.flag("able_to_fund") { ("Active", "good") } else { ("Inactive", "warn") };
    let state = StatusBadge { text: text.to_owned(), kind };
    let end = one.time("end_time").map(|end| format!("until {}", ctx.format_time(Some(end))));
    TableRow {
        name: one.id(),
        cells: vec![
            TableCell::from_text(instrument_label(one)).with_subtext(one.id()),
            TableCell::from_badge(state).with_subtext(word_list_label(one, "reasons_not_able_to_fund")),
            TableCell::from_text(ctx.format_time(one.time("start_time"))).with_subtext(end.unwrap_or_default()),
            TableCell::from_text(amount).with_subtext(remaining.unwrap_or_default()),
        ],
        ..TableRow::default()
    }
}
