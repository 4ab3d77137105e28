//! Places that posts can be tagged with.

use base::Fault;

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Debug)]
pub struct Place {
    /// The API shows it as sixteen hexadecimal digits.
    pub id: i64,
    pub name: String,
    /// The name with the containing place.
    pub full_name: String,
    /// Empty if unknown.
    pub country: String,
    /// ISO 3166-1 alpha-2, or empty.
    pub country_code: String,
    /// `poi`, `neighborhood`, `city`, `admin`, `country` or `unknown`.
    pub kind: String,
    /// West, south, east, north (a JSON array), or empty.
    pub bbox: String,
    /// Public ids of the containing places, comma-separated, or empty.
    pub contained_within: String,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!($before, "id, name, full_name, country, country_code, kind, bbox, contained_within", $after)
    };
}

fn place_from_row(row: &SqlRow<'_, '_>) -> Result<Place, Fault> {
    Ok(Place {
        id: row.int(0)?,
        name: row.text(1)?,
        full_name: row.text(2)?,
        country: row.text(3)?,
        country_code: row.text(4)?,
        kind: row.text(5)?,
        bbox: row.text(6)?,
        contained_within: row.text(7)?,
    })
}

/// Returns false if the id is taken.
pub fn insert(tx: &mut Tx<'_>, place: &Place) -> Result<bool, Fault> {
    let sql = columns!("INSERT INTO place (", ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING");
    let args = [
        place.id.into(),
        (&place.name).into(),
        (&place.full_name).into(),
        (&place.country).into(),
        (&place.country_code).into(),
        (&place.kind).into(),
        (&place.bbox).into(),
        (&place.contained_within).into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Place>, Fault> {
    let sql = columns!("SELECT ", " FROM place WHERE id = $1");
    tx.query_by_keys(sql, ids, &[], place_from_row)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Place>, Fault> {
    Ok(find_by_ids(tx, &[id])?.pop())
}

/// In the order of ids, after an id.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<Place>, Fault> {
    let sql = columns!("SELECT ", " FROM place WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()], place_from_row)
}
