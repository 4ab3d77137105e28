//! Ads records: one table for every resource, with the fields in a JSON body.

mod line_items;
mod listing;

use base::{Fault, Time};

use crate::Tx;
use crate::db::{SqlValue, insert_new, record_indexes, select, stored_enum, table, update};

pub use crate::db::record_indexes::{IndexedFields, RecordIndex, RecordIndexBuild};
pub use line_items::servable_line_items;
pub use listing::{
    FieldRange, OrderValue, RecordCursor, RecordListing, RecordOrder, RecordOrderKey, RecordPage, compare_cursors,
    page_with_total,
};

stored_enum! {
    /// In which lists a record is included.
    pub enum RecordVisibility {
        /// All lists.
        Listed = 0,
        /// Lists with drafts.
        Draft = 1,
        /// Lists with deleted records: it or its parent was deleted.
        Hidden = 2,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct RecordRow in "ads_record" {
        /// Unique within its kind.
        pub id: i64,
        pub account_id: i64,
        pub level: RecordVisibility,
        /// Whether the record itself was deleted, rather than its parent.
        pub deleted: bool,
        pub created_at: Time,
        pub updated_at: Time,
    }
    read_only {
        /// JSON.
        pub body: String as "CAST(body AS TEXT)",
    }
}

/// The beginning of queries that depend on a field.
const RECORDS: &str = select!(RecordRow, "");

pub fn next_id(tx: &mut Tx<'_>, kind: &str) -> Result<i64, Fault> {
    let sql = "INSERT INTO ads_sequence (kind, last) VALUES ($1, 1) \
               ON CONFLICT (kind) DO UPDATE SET last = ads_sequence.last + 1 RETURNING last";
    let last = tx.query_row(sql, &[kind.into()])?;
    last.ok_or_else(|| Fault::new("a sequence without a number"))
}

/// Locks a record until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM ads_record WHERE kind = $1 AND id = $2 FOR UPDATE", &[kind.into(), id.into()])
}

/// In any account and state.
pub fn find_by_id(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<Option<RecordRow>, Fault> {
    let sql = select!(RecordRow, "WHERE kind = $1 AND id = $2");
    tx.query_row(sql, &[kind.into(), id.into()])
}

/// In no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, kind: &str, ids: &[i64]) -> Result<Vec<RecordRow>, Fault> {
    let sql = select!(RecordRow, "WHERE id = $1 AND kind = $2");
    tx.query_by_keys(sql, ids, &[kind.into()])
}

/// Returns false if the id is taken. The name is given in lower case; it is empty if the record has none.
pub fn insert(tx: &mut Tx<'_>, kind: &str, name_key: &[u8], row: &RecordRow) -> Result<bool, Fault> {
    insert_new!(tx, RecordRow, row, kind = kind, name_key = name_key, body = &row.body)
}

/// With the name in lower case.
pub fn update(tx: &mut Tx<'_>, kind: &str, name_key: &[u8], row: &RecordRow) -> Result<(), Fault> {
    update!(tx, "ads_record", row: [level, deleted, updated_at, body], [name_key = name_key], kind = kind, id = row.id)
}

/// Deletes the row.
pub fn delete(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM ads_record WHERE kind = $1 AND id = $2";
    tx.execute_later(sql, &[kind.into(), id.into()])
}

/// Selects records of all accounts whose indexed field is `$1`. The kind is a literal, as in the partial indexes.
fn select_by_field_sql(kind: &'static str, field: &'static str) -> String {
    format!("{RECORDS}WHERE kind = '{kind}' AND {} = $1", record_indexes::field_sql(field))
}

/// Records whose indexed field has a value, oldest first; only those in the lists up to a visibility.
pub fn list_by_field(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    (field, value): (&'static str, i64),
    up_to: RecordVisibility,
) -> Result<Vec<RecordRow>, Fault> {
    let level = match up_to {
        RecordVisibility::Listed => "AND level = 0 ",
        RecordVisibility::Draft => "AND level < 2 ",
        RecordVisibility::Hidden => "",
    };
    let field = record_indexes::field_sql(field);
    let sql =
        format!("{RECORDS}WHERE kind = '{kind}' AND account_id = $1 AND {field} = $2 {level}ORDER BY created_at, id");
    tx.query_rows(&sql, &[account.into(), value.into()])
}

/// Ids of records whose indexed field has a value, deleted ones included, in no particular order.
pub fn list_ids_by_field(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    (field, value): (&'static str, i64),
) -> Result<Vec<i64>, Fault> {
    let field = record_indexes::field_sql(field);
    let sql = format!("SELECT id FROM ads_record WHERE kind = '{kind}' AND account_id = $1 AND {field} = $2");
    tx.query_rows(&sql, &[account.into(), value.into()])
}

/// Listed records whose indexed field has one of some values, in no particular order.
pub fn list_by_field_values(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    field: &'static str,
    values: &[i64],
) -> Result<Vec<RecordRow>, Fault> {
    let sql = format!("{} AND account_id = $2 AND level = 0", select_by_field_sql(kind, field));
    tx.query_by_keys(&sql, values, &[account.into()])
}

/// Listed records of all accounts whose indexed field has one of some values, in no particular order.
pub fn list_all_by_field(
    tx: &mut Tx<'_>,
    kind: &'static str,
    field: &'static str,
    values: &[i64],
) -> Result<Vec<RecordRow>, Fault> {
    let sql = format!("{} AND level = 0", select_by_field_sql(kind, field));
    tx.query_by_keys(&sql, values, &[])
}

/// Listed records with a name, given in lower case.
pub fn list_by_name(tx: &mut Tx<'_>, kind: &str, account: i64, name_key: &[u8]) -> Result<Vec<RecordRow>, Fault> {
    let sql = select!(RecordRow, "WHERE kind = $1 AND account_id = $2 AND name_key = $3 AND level = 0");
    tx.query_rows(sql, &[kind.into(), account.into(), name_key.into()])
}

/// The number of listed records that [`list_by_field`] finds.
pub fn count_by_field(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    (field, value): (&'static str, i64),
) -> Result<i64, Fault> {
    let field = record_indexes::field_sql(field);
    let sql = format!(
        "SELECT COUNT(*) FROM ads_record WHERE kind = '{kind}' AND account_id = $1 AND {field} = $2 AND level = 0"
    );
    tx.query_number(&sql, &[account.into(), value.into()])
}

/// Hides records whose indexed field has one of some values; returns their ids.
pub fn hide_by_field(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    field: &'static str,
    values: &[i64],
) -> Result<Vec<i64>, Fault> {
    let field = record_indexes::field_sql(field);
    let sql = format!(
        "UPDATE ads_record SET level = 2 WHERE kind = '{kind}' AND {field} = $1 AND account_id = $2 \
         AND level < 2 RETURNING id"
    );
    tx.query_by_keys(&sql, values, &[account.into()])
}

/// Listed records of all accounts whose indexed field is at most `max`, lowest first.
pub fn list_due(
    tx: &mut Tx<'_>,
    kind: &'static str,
    field: &'static str,
    max: i64,
    limit: i64,
) -> Result<Vec<RecordRow>, Fault> {
    // -1 stands for records without the field.
    let field = record_indexes::sort_field_sql(field);
    let sql = format!(
        "{RECORDS}WHERE kind = '{kind}' AND {field} > $1 AND {field} <= $2 AND level = 0 ORDER BY {field}, id LIMIT $3"
    );
    tx.query_rows(&sql, &[SqlValue::Int(-1), max.into(), limit.into()])
}

/// The lowest value of an indexed field that is above `min`, in listed records of all accounts.
pub fn next_due(tx: &mut Tx<'_>, kind: &'static str, field: &'static str, min: i64) -> Result<Option<i64>, Fault> {
    let field = record_indexes::sort_field_sql(field);
    let sql = format!(
        "SELECT {field} FROM ads_record WHERE kind = '{kind}' AND {field} > $1 AND level = 0 ORDER BY {field}, id LIMIT 1"
    );
    tx.query_row(&sql, &[min.into()])
}

/// The number of listed records.
pub fn count(tx: &mut Tx<'_>, kind: &str, account: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM ads_record WHERE kind = $1 AND account_id = $2 AND level = 0";
    tx.query_number(sql, &[kind.into(), account.into()])
}

/// The first 10,000 listed records, oldest first.
pub fn list_by_account(tx: &mut Tx<'_>, kind: &str, account: i64) -> Result<Vec<RecordRow>, Fault> {
    let sql =
        select!(RecordRow, "WHERE kind = $1 AND account_id = $2 AND level = 0 ORDER BY created_at, id LIMIT 10000");
    tx.query_rows(sql, &[kind.into(), account.into()])
}

/// The listed records of some accounts, in no particular order.
pub fn list_by_accounts(tx: &mut Tx<'_>, kind: &str, accounts: &[i64]) -> Result<Vec<RecordRow>, Fault> {
    let sql = select!(RecordRow, "WHERE account_id = $1 AND kind = $2 AND level = 0");
    tx.query_by_keys(sql, accounts, &[kind.into()])
}

/// Deleted records included, oldest first.
pub fn list_ids_by_account(tx: &mut Tx<'_>, kind: &str, account: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM ads_record WHERE kind = $1 AND account_id = $2 ORDER BY (created_at + 0), id";
    tx.query_rows(sql, &[kind.into(), account.into()])
}

/// Whether any account has, or had, a record of a kind.
pub fn exists(tx: &mut Tx<'_>, kind: &str) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM ads_record WHERE kind = $1 LIMIT 1";
    tx.row_exists(sql, &[kind.into()])
}

/// The first 100 listed records of all accounts whose indexed field has a value, oldest first.
pub fn list_in_all_accounts(
    tx: &mut Tx<'_>,
    kind: &'static str,
    (field, value): (&'static str, i64),
) -> Result<Vec<RecordRow>, Fault> {
    let sql = format!("{} AND level = 0 ORDER BY created_at, id LIMIT 100", select_by_field_sql(kind, field));
    tx.query_rows(&sql, &[value.into()])
}

/// Those of some values that an indexed field of a listed record has, in any account; in no particular order.
pub fn filter_field_values(
    tx: &mut Tx<'_>,
    kind: &'static str,
    field: &'static str,
    values: &[i64],
) -> Result<Vec<i64>, Fault> {
    let field = record_indexes::field_sql(field);
    let sql = format!("SELECT DISTINCT {field} FROM ads_record WHERE kind = '{kind}' AND {field} = $1 AND level = 0");
    tx.query_by_keys(&sql, values, &[])
}

/// The newest 100 listed records whose indexed field has a value, newest first; of accounts with ids above
/// `min_account`.
pub fn list_newest(
    tx: &mut Tx<'_>,
    kind: &'static str,
    (field, value): (&'static str, i64),
    min_account: i64,
) -> Result<Vec<RecordRow>, Fault> {
    let sql = format!(
        "{} AND account_id > $2 AND level = 0 ORDER BY created_at DESC, id DESC LIMIT 100",
        select_by_field_sql(kind, field)
    );
    tx.query_rows(&sql, &[value.into(), min_account.into()])
}

/// Ids of listed records whose indexed field is above `min`, of accounts with ids above `min_account`. Of more than
/// `limit`, a sample that depends on `seed`, with as many from each account, as far as it has so many.
pub fn sample_ids_above(
    tx: &mut Tx<'_>,
    kind: &'static str,
    (field, min): (&'static str, i64),
    min_account: i64,
    (limit, seed): (i64, i64),
) -> Result<Vec<i64>, Fault> {
    /// Prime, so that each multiplier up to it gives another order.
    const ORDERS: i64 = 1_000_003;
    let ordered = record_indexes::sort_field_sql(field);
    // SQLite numbers parameters in the order in which they appear.
    let drawn = format!("id % {ORDERS} * $1 % {ORDERS}");
    let sql = format!(
        "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY {drawn}, id) AS place \
         FROM ads_record WHERE kind = '{kind}' AND {ordered} > $2 AND level = 0 AND account_id > $3) AS r \
         ORDER BY place, {drawn}, id LIMIT $4"
    );
    let multiplier = seed.rem_euclid(ORDERS - 1) + 1;
    tx.query_rows(&sql, &[multiplier.into(), min.into(), min_account.into(), limit.into()])
}

/// Listed records of some accounts whose indexed field is above `min`, in no particular order.
pub fn list_accounts_above(
    tx: &mut Tx<'_>,
    kind: &'static str,
    accounts: &[i64],
    (field, min): (&'static str, i64),
) -> Result<Vec<RecordRow>, Fault> {
    let ordered = record_indexes::sort_field_sql(field);
    let sql = format!("{RECORDS}WHERE account_id = $1 AND kind = '{kind}' AND {ordered} > $2 AND level = 0");
    tx.query_by_keys(&sql, accounts, &[min.into()])
}

/// The number of listed records whose field is present and at most `max`.
pub fn count_up_to(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    field: &'static str,
    max: i64,
) -> Result<i64, Fault> {
    let ordered = record_indexes::sort_field_sql(field);
    let sql = format!(
        "SELECT COUNT(*) FROM ads_record WHERE kind = '{kind}' AND account_id = $1 \
         AND {ordered} > $2 AND {ordered} <= $3 AND level = 0"
    );
    let args = [account.into(), SqlValue::Int(-1), max.into()];
    tx.query_number(&sql, &args)
}
