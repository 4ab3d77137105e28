//! The history of a campaign or line item.

use ads_engine::RecordView;
use ads_engine::field_kind::parse_time;
use std::collections::HashMap;

use base::{Error, Time, UserId};
use pages::manager::{DataTable, EmptyState, PageBlock, TableCell, TableRow};
use serde_json::Value;
use store::Tx;
use store::ads::{AdsChangeQuery, AdsChangeRecord};

use super::labels::{value_label, word_label};
use super::request::ManagerAccount;
use super::tables::text_column;

const PAGE_SIZE: i64 = 20;

/// Newest first.
pub(super) fn history_block(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    one: &RecordView,
) -> Result<Option<PageBlock>, Error> {
    if ctx.record.has("refused", "ACCOUNT_HISTORY") || !ctx.may_call("GET", "account_history") {
        return Ok(None);
    }
    let query = AdsChangeQuery {
        account: ctx.record.id,
        entity: one.record.resource.history_name,
        entity_id: one.record.id,
        includes_children: false,
        user: None,
        from: one.record.created_at,
        to: Time::from_ms(ctx.request.now.ms().saturating_add(1)),
        after: None,
        limit: PAGE_SIZE,
    };
    let changes = store::ads::list_changes(tx, &query)?;
    let ids: Vec<UserId> = changes.iter().map(|change| change.user_id).collect();
    let users = store::users::find_by_ids(tx, &ids)?;
    let names: HashMap<UserId, String> = users.into_iter().map(|user| (user.id, user.username)).collect();
    Ok(Some(PageBlock::Table(DataTable {
        title: "History".to_owned(),
        columns: ["Time", "User", "Action", "Changes"].map(text_column).into(),
        rows: changes.iter().map(|change| change_row(ctx, change, &names)).collect(),
        empty: EmptyState { title: "No changes yet".to_owned(), ..EmptyState::default() },
        ..DataTable::default()
    })))
}

fn change_row(ctx: &ManagerAccount, change: &AdsChangeRecord, names: &HashMap<UserId, String>) -> TableRow {
    let who = names.get(&change.user_id);
    let who = who.map_or_else(|| "System".to_owned(), |name| format!("@{name}"));
    let action = match change.action.as_str() {
        "CREATE" => "Created",
        "DELETE" => "Deleted",
        _ => "Changed",
    };
    TableRow {
        cells: vec![
            TableCell::from_text(ctx.format_time(Some(change.at))),
            TableCell::from_text(who).with_subtext(word_label(&change.platform)),
            TableCell::from_text(action),
            TableCell::from_text(describe_changes(ctx, &change.body)),
        ],
        ..TableRow::default()
    }
}

/// `body` is the stored JSON of a change.
fn describe_changes(ctx: &ManagerAccount, body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let changes = body.get("changes").and_then(Value::as_object);
    let each = changes.into_iter().flatten().map(|(name, one)| {
        let side = |side: &str| match one.get(side) {
            None | Some(Value::Null) => "none".to_owned(),
            Some(Value::String(text)) if name.ends_with("_time") => match parse_time(text) {
                Some(at) => ctx.format_time(Some(at)),
                None => text.clone(),
            },
            Some(value) => value_label(name, value),
        };
        let plain = name.replace("_amount_local_micro", "").replace("entity_", "");
        format!("{}: {} → {}", word_label(&plain), side("old"), side("new"))
    });
    let all: Vec<String> = each.collect();
    if all.is_empty() { "–".to_owned() } else { all.join("; ") }
}
