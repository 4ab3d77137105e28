//! Rows of portable tables.

use std::collections::HashMap;

use base::{AppId, Fault, PostId, Secret, Time, UserId};
use identity::apps::{self, App};
use store::portable_tables::{self, CellValue, ColumnType, InsertOutcome, PortableColumn};
use store::posts::PostState;
use store::{Tx, communities};

use super::batch_state::{ImportBatchState, UNKNOWN_USER};
use super::{placeholders, posts};
use crate::portable_rows::PortableRow;
use crate::reader::PreparedRecord;

/// Existence of referenced rows, by table and id.
type RowExistenceCache = HashMap<(&'static str, i64), bool>;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let rows = items.iter().filter_map(|item| match item {
        PreparedRecord::Row(row) => Some(&**row),
        _ => None,
    });
    let mut rows: Vec<&PortableRow> = rows.collect();
    // Referenced rows come first, whatever the order of the lines.
    rows.sort_by_cached_key(|row| row.table.position());
    let mut unknown: Vec<i64> = rows.iter().flat_map(|row| row.required_post_ids()).collect();
    unknown.retain(|post| !batch.known_posts.contains_key(post));
    unknown.sort_unstable();
    unknown.dedup();
    posts::load_known_posts(tx, batch, unknown)?;
    let mut cache = RowExistenceCache::new();
    rows.into_iter().try_for_each(|row| store_row(tx, batch, &mut cache, row))
}

fn store_row(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    cache: &mut RowExistenceCache,
    row: &PortableRow,
) -> Result<(), Fault> {
    let kind = row.table.name;
    let mut cells = Vec::with_capacity(row.cells.len());
    for (column, cell) in row.table.columns.iter().zip(&row.cells) {
        match resolve_cell(tx, batch, cache, column, cell)? {
            Ok(cell) => cells.push(cell),
            Err(reason) => {
                batch.report.skip(kind, &reason, || row.report_label());
                return Ok(());
            }
        }
    }
    let row = PortableRow { table: row.table, cells: sort_conversation_pair(kind, cells) };
    match insert_row(tx, &row)? {
        InsertOutcome::Added => {}
        InsertOutcome::AlreadyExists => {
            batch.report.count_known(kind);
            return Ok(());
        }
        InsertOutcome::Refused => {
            let reason = "a row that it refers to is missing, or it conflicts with an existing row";
            batch.report.skip(kind, reason, || row.report_label());
            return Ok(());
        }
    }
    for (column, cell) in row.table.columns.iter().zip(&row.cells) {
        if let (ColumnType::Id | ColumnType::Stamp, Some(id)) = (column.kind, cell.as_int()) {
            batch.track_id(id);
            if column.kind == ColumnType::Id {
                cache.insert((kind, id), true);
                index_for_search(tx, kind, id)?;
            }
        }
    }
    batch.report.count_stored(kind);
    Ok(())
}

/// The cell with local ids; the inner error tells why the row cannot be stored.
fn resolve_cell(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    cache: &mut RowExistenceCache,
    column: &PortableColumn,
    cell: &CellValue,
) -> Result<Result<CellValue, String>, Fault> {
    let local_id = |id: i64| batch.find_user(Some(id)).map_or(id, UserId::get);
    Ok(Ok(match (column.kind, cell) {
        (ColumnType::User, CellValue::Int(id)) => CellValue::Int(local_id(*id)),
        (ColumnType::UserOrNone, CellValue::Int(id)) if *id > 0 => CellValue::Int(local_id(*id)),
        (ColumnType::Users, CellValue::Text(ids)) => {
            let ids = ids.split(',').filter_map(|id| id.parse().ok());
            let ids: Vec<String> = ids.map(|id| local_id(id).to_string()).collect();
            CellValue::Text(ids.join(","))
        }
        (ColumnType::Post, CellValue::Int(id)) => {
            let summary = placeholders::ensure(tx, batch, PostId::new(*id), UNKNOWN_USER, None)?;
            if summary.state == PostState::Deleted {
                return Ok(Err("the post was deleted here".to_owned()));
            }
            cell.clone()
        }
        (ColumnType::Reference(table), CellValue::Int(id)) if !row_exists(tx, cache, table, *id)? => {
            return Ok(Err(format!("its {table} does not exist")));
        }
        (ColumnType::OptReference(table), CellValue::Int(id)) if !row_exists(tx, cache, table, *id)? => CellValue::Null,
        _ => cell.clone(),
    }))
}

fn row_exists(tx: &mut Tx<'_>, cache: &mut RowExistenceCache, table: &'static str, id: i64) -> Result<bool, Fault> {
    if let Some(exists) = cache.get(&(table, id)) {
        return Ok(*exists);
    }
    let exists = portable_tables::row_exists(tx, table, id)?;
    cache.insert((table, id), exists);
    Ok(exists)
}

/// The pair of a conversation is sorted by the local ids of its users.
fn sort_conversation_pair(kind: &str, mut cells: Vec<CellValue>) -> Vec<CellValue> {
    if kind == "dm_conversation"
        && let [_, lower, higher] = cells.as_mut_slice()
        && lower.as_int() > higher.as_int()
    {
        std::mem::swap(lower, higher);
    }
    cells
}

fn insert_row(tx: &mut Tx<'_>, row: &PortableRow) -> Result<InsertOutcome, Fault> {
    match row.table.name {
        "app" if apps::import_app(tx, app_from_row(row)?)? => Ok(InsertOutcome::Added),
        "app" => Ok(InsertOutcome::AlreadyExists),
        _ => portable_tables::insert_row(tx, row.table, &row.cells),
    }
}

fn app_from_row(row: &PortableRow) -> Result<App, Fault> {
    let cell = |name: &str| row.table.find_cell(&row.cells, name);
    let number = |name: &str| cell(name).and_then(CellValue::as_int).unwrap_or(0);
    let text = |name: &str| cell(name).and_then(CellValue::as_text).unwrap_or_default().to_owned();
    Ok(App {
        id: AppId::new(number("id")),
        owner_id: UserId::new(number("owner_id")),
        name: text("name"),
        description: text("description"),
        website_url: text("website_url"),
        created_at: Time::from_ms(number("created_at")),
        state: if number("state") == 0 { apps::AppStatus::Active } else { apps::AppStatus::Suspended },
        api_key: String::new(),
        api_secret: Secret::new(""),
        client_id: String::new(),
        client_secret_digest: None,
        kind: text("kind").parse()?,
        permission: text("permission").parse()?,
        request_email: number("request_email") != 0,
        sign_in: number("sign_in") != 0,
        access_level: text("access_level").parse()?,
        entitlements: text("entitlements"),
        callback_urls: text("callback_urls"),
        vocabulary: text("vocabulary"),
    })
}

fn index_for_search(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<(), Fault> {
    match kind {
        "community" => match communities::find_by_id(tx, id)? {
            Some(community) => network::communities::index_words(tx, &community),
            None => Ok(()),
        },
        "space" => network::spaces::index_title(tx, id),
        "story" => network::news::index_story(tx, id),
        _ => Ok(()),
    }
}
