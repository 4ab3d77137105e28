//! Advertising records: one table for every declared resource, a JSON body for its fields.

mod listing;
mod live;
mod shape;

use base::{Fault, Time};

use crate::Tx;
use crate::db::{Row, Value};

pub use listing::{At, By, Listing, Order, Place, Rows, before, page};
pub use live::line_items as line_items_with_something_to_see;
pub(crate) use shape::interned;
pub use shape::{Beside, Index, prepare};

/// Where a record is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Everywhere.
    Shown,
    /// Where drafts are asked for.
    Draft,
    /// Where deleted records are asked for: it is one, or belongs to one.
    Hidden,
}

impl Level {
    const fn number(self) -> i64 {
        match self {
            Self::Shown => 0,
            Self::Draft => 1,
            Self::Hidden => 2,
        }
    }

    const fn read(number: i64) -> Self {
        match number {
            0 => Self::Shown,
            1 => Self::Draft,
            _ => Self::Hidden,
        }
    }
}

/// A record as stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its id among those of its kind.
    pub id: i64,
    /// The account that it belongs to.
    pub account_id: i64,
    /// Where it is shown.
    pub level: Level,
    /// Whether it was deleted itself.
    pub deleted: bool,
    /// When it was made.
    pub created_at: Time,
    /// When it was changed last.
    pub updated_at: Time,
    /// Its name in lower case; empty where it has none.
    pub name_key: Vec<u8>,
    /// Its fields (JSON).
    pub body: String,
}

macro_rules! columns {
    () => {
        "id, account_id, level, deleted, created_at, updated_at, name_key, CAST(body AS TEXT)"
    };
}
pub(crate) use columns;

fn read(row: &Row<'_, '_>) -> Result<Stored, Fault> {
    Ok(Stored {
        id: row.int(0)?,
        account_id: row.int(1)?,
        level: Level::read(row.int(2)?),
        deleted: row.switch(3)?,
        created_at: row.time(4)?,
        updated_at: row.time(5)?,
        name_key: row.bytes(6)?,
        body: row.text(7)?,
    })
}

/// The next id of a kind.
pub fn next_id(tx: &mut Tx<'_>, kind: &str) -> Result<i64, Fault> {
    let sql = "INSERT INTO ads_sequence (kind, last) VALUES ($1, 1) \
               ON CONFLICT (kind) DO UPDATE SET last = ads_sequence.last + 1 RETURNING last";
    let last = tx.rows(sql, &[kind.into()], |row| row.int(0))?;
    last.first()
        .copied()
        .ok_or_else(|| Fault::new("a sequence without a number"))
}

/// Makes other work that locks the same record wait for this transaction's end. A SQLite file has
/// one writer, so there it waits already.
pub fn lock(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "SELECT id FROM ads_record WHERE kind = $1 AND id = $2 FOR UPDATE";
        tx.row(sql, &[kind.into(), id.into()], |_| Ok(()))?;
    }
    Ok(())
}

/// The record of a kind with an id, whoever's it is.
pub fn by_id(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<Option<Stored>, Fault> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM ads_record WHERE kind = $1 AND id = $2"
    );
    tx.row(sql, &[kind.into(), id.into()], read)
}

/// The records of a kind with these ids, in no order; unknown ids are left out.
pub fn by_ids(tx: &mut Tx<'_>, kind: &str, ids: &[i64]) -> Result<Vec<Stored>, Fault> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM ads_record WHERE id = $1 AND kind = $2"
    );
    tx.of_each(sql, ids, &[kind.into()], read)
}

/// Adds a record; false when its id is taken.
pub fn insert(tx: &mut Tx<'_>, kind: &str, row: &Stored) -> Result<bool, Fault> {
    let sql = "INSERT INTO ads_record (kind, id, account_id, level, deleted, name_key, created_at, \
               updated_at, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
    let args = [
        kind.into(),
        row.id.into(),
        row.account_id.into(),
        row.level.number().into(),
        row.deleted.into(),
        (&row.name_key).into(),
        row.created_at.into(),
        row.updated_at.into(),
        (&row.body).into(),
    ];
    Ok(tx.exec(sql, &args)? > 0)
}

/// Writes a record anew.
pub fn update(tx: &mut Tx<'_>, kind: &str, row: &Stored) -> Result<(), Fault> {
    let sql = "UPDATE ads_record SET level = $1, deleted = $2, name_key = $3, updated_at = $4, \
               body = $5 WHERE kind = $6 AND id = $7";
    let args = [
        row.level.number().into(),
        row.deleted.into(),
        (&row.name_key).into(),
        row.updated_at.into(),
        (&row.body).into(),
        kind.into(),
        row.id.into(),
    ];
    tx.exec(sql, &args).map(|_| ())
}

/// Removes a record for good.
pub fn delete(tx: &mut Tx<'_>, kind: &str, id: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM ads_record WHERE kind = $1 AND id = $2";
    tx.exec(sql, &[kind.into(), id.into()]).map(|_| ())
}

/// The records of a kind in an account whose declared field has a value, oldest first. Those that
/// are shown only, or all.
pub fn with(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    (field, value): (&'static str, i64),
    shown: bool,
) -> Result<Vec<Stored>, Fault> {
    let level = if shown { "AND level = 0 " } else { "" };
    let sql = interned(format!(
        "SELECT {} FROM ads_record WHERE kind = '{kind}' AND account_id = $1 AND {} = $2 \
         {level}ORDER BY created_at, id",
        columns!(),
        shape::field(field)
    ));
    tx.rows(sql, &[account.into(), value.into()], read)
}

/// The records of a kind in an account that are shown and whose declared field has one of some
/// values, in no order.
pub fn of_values(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    name: &'static str,
    values: &[i64],
) -> Result<Vec<Stored>, Fault> {
    let sql = interned(format!(
        "SELECT {} FROM ads_record WHERE kind = '{kind}' AND {} = $1 AND account_id = $2 \
         AND level = 0",
        columns!(),
        shape::field(name)
    ));
    tx.of_each(sql, values, &[account.into()], read)
}

/// All records of a kind in any account that are shown and whose declared field has a value.
pub fn all_with(
    tx: &mut Tx<'_>,
    kind: &'static str,
    (field, value): (&'static str, i64),
) -> Result<Vec<Stored>, Fault> {
    let sql = interned(format!(
        "SELECT {} FROM ads_record WHERE kind = '{kind}' AND {} = $1 AND level = 0",
        columns!(),
        shape::field(field)
    ));
    tx.rows(sql, &[value.into()], read)
}

/// The records of a kind in an account that are shown and have a name, in lower case.
pub fn named(
    tx: &mut Tx<'_>,
    kind: &str,
    account: i64,
    name_key: &[u8],
) -> Result<Vec<Stored>, Fault> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM ads_record WHERE kind = $1 AND account_id = $2 AND name_key = $3 AND level = 0"
    );
    tx.rows(sql, &[kind.into(), account.into(), name_key.into()], read)
}

/// How many there are of those that [`with`] finds.
pub fn count_with(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    (field, value): (&'static str, i64),
) -> Result<i64, Fault> {
    let sql = interned(format!(
        "SELECT COUNT(*) FROM ads_record WHERE kind = '{kind}' AND account_id = $1 AND {} = $2 \
         AND level = 0",
        shape::field(field)
    ));
    let found = tx.row(sql, &[account.into(), value.into()], |row| row.int(0))?;
    Ok(found.unwrap_or(0))
}

/// Hides the records of a kind whose declared field has a value; their ids.
pub fn hide(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    (field, value): (&'static str, i64),
) -> Result<Vec<i64>, Fault> {
    let sql = interned(format!(
        "UPDATE ads_record SET level = 2 WHERE kind = '{kind}' AND account_id = $1 AND {} = $2 \
         AND level < 2 RETURNING id",
        shape::field(field)
    ));
    tx.rows(sql, &[account.into(), value.into()], |row| row.int(0))
}

/// Records of a kind in every account whose declared field is at most `most`, those with the
/// least first: work that is due. Hidden ones are left out.
pub fn due(
    tx: &mut Tx<'_>,
    kind: &'static str,
    field: &'static str,
    most: i64,
    limit: i64,
) -> Result<Vec<Stored>, Fault> {
    // The least value is that of records without the field.
    let sql = interned(format!(
        "SELECT {} FROM ads_record WHERE kind = '{kind}' AND {} > $1 AND {} <= $2 AND level = 0 \
         ORDER BY {}, id LIMIT $3",
        columns!(),
        shape::ordered(field),
        shape::ordered(field),
        shape::ordered(field)
    ));
    let args = [Value::Int(-1), most.into(), limit.into()];
    tx.rows(sql, &args, read)
}

/// How many records of a kind an account has at a level.
pub fn count(tx: &mut Tx<'_>, kind: &str, account: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM ads_record WHERE kind = $1 AND account_id = $2 AND level = 0";
    let found = tx.row(sql, &[kind.into(), account.into()], |row| row.int(0))?;
    Ok(found.unwrap_or(0))
}

/// The records of a kind in an account that are shown, oldest first: of kinds of which an account
/// has few.
pub fn of_account(tx: &mut Tx<'_>, kind: &str, account: i64) -> Result<Vec<Stored>, Fault> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM ads_record WHERE kind = $1 AND account_id = $2 AND level = 0 \
         ORDER BY created_at, id LIMIT 1000"
    );
    tx.rows(sql, &[kind.into(), account.into()], read)
}

/// The ids of all records of a kind in an account, deleted ones too.
pub fn ids_of(tx: &mut Tx<'_>, kind: &str, account: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM ads_record WHERE kind = $1 AND account_id = $2 \
               ORDER BY (created_at + 0), id";
    tx.rows(sql, &[kind.into(), account.into()], |row| row.int(0))
}

/// Records of a kind in every account whose declared field has a value, oldest first; those that
/// are shown only.
pub fn anywhere(
    tx: &mut Tx<'_>,
    kind: &'static str,
    (field, value): (&'static str, i64),
) -> Result<Vec<Stored>, Fault> {
    let sql = interned(format!(
        "SELECT {} FROM ads_record WHERE kind = '{kind}' AND {} = $1 AND level = 0 \
         ORDER BY created_at, id LIMIT 100",
        columns!(),
        shape::field(field)
    ));
    tx.rows(sql, &[value.into()], read)
}

/// Records of a kind in every account whose declared field is above `least`, those with the least
/// first. Hidden ones are left out.
pub fn beyond(
    tx: &mut Tx<'_>,
    kind: &'static str,
    (field, least): (&'static str, i64),
    limit: i64,
) -> Result<Vec<Stored>, Fault> {
    let ordered = shape::ordered(field);
    let sql = interned(format!(
        "SELECT {} FROM ads_record WHERE kind = '{kind}' AND {ordered} > $1 AND level = 0 \
         ORDER BY {ordered}, id LIMIT $2",
        columns!()
    ));
    tx.rows(sql, &[least.into(), limit.into()], read)
}

/// How many of an account's shown records of a kind have a field of at most `most`; those without
/// it are not counted.
pub fn count_up_to(
    tx: &mut Tx<'_>,
    kind: &'static str,
    account: i64,
    field: &'static str,
    most: i64,
) -> Result<i64, Fault> {
    let ordered = shape::ordered(field);
    let sql = interned(format!(
        "SELECT COUNT(*) FROM ads_record WHERE kind = '{kind}' AND account_id = $1 \
         AND {ordered} > $2 AND {ordered} <= $3 AND level = 0"
    ));
    let args = [account.into(), Value::Int(-1), most.into()];
    Ok(tx.row(sql, &args, |row| row.int(0))?.unwrap_or(0))
}
