//! Places that posts can be tagged with.

use base::Fault;

use crate::Tx;
use crate::db::{insert_new, select, table};

table! {
    #[derive(Clone, Debug)]
    pub struct Place in "place" {
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
}

/// Returns false if the id is taken.
pub fn insert(tx: &mut Tx<'_>, place: &Place) -> Result<bool, Fault> {
    insert_new!(tx, Place, place)
}

/// Unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Place>, Fault> {
    let sql = select!(Place, "WHERE id = $1");
    tx.query_by_keys(sql, ids, &[])
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Place>, Fault> {
    Ok(find_by_ids(tx, &[id])?.pop())
}

/// In the order of ids, after an id.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<Place>, Fault> {
    let sql = select!(Place, "WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}
