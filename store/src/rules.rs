//! Stream rules: what an app wants to receive on a stream.

use base::{AppId, Fault, Time};

use crate::Tx;
use crate::db::{insert_new, select, table};

base::named_enum! {
    /// The names are those of the database and the API.
    pub enum StreamProduct {
        Stream = "stream",
        Powerstream = "powerstream",
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StreamRule in "rule" {
        pub id: i64,
        pub app_id: AppId,
        /// As the app wrote it.
        pub value: String,
        /// The app's own label, or empty.
        pub tag: String,
        pub created_at: Time,
    }
}

/// Returns false if the app already has a rule with this canonical form.
pub fn insert(tx: &mut Tx<'_>, product: StreamProduct, rule: &StreamRule, digest: &[u8; 32]) -> Result<bool, Fault> {
    insert_new!(tx, StreamRule, rule, product = product.name(), digest = digest)
}

/// Finds a rule by the digest of its canonical form.
pub fn find_id_by_digest(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    digest: &[u8; 32],
) -> Result<Option<i64>, Fault> {
    let sql = "SELECT id FROM rule WHERE app_id = $1 AND product = $2 AND digest = $3";
    let args = [app.into(), product.name().into(), digest.into()];
    tx.query_row(sql, &args)
}

/// Oldest first, after an id.
pub fn list_by_app(
    tx: &mut Tx<'_>,
    app: AppId,
    product: StreamProduct,
    after: i64,
    limit: i64,
) -> Result<Vec<StreamRule>, Fault> {
    let sql = select!(StreamRule, "WHERE app_id = $1 AND product = $2 AND id > $3 ORDER BY id LIMIT $4");
    let args = [app.into(), product.name().into(), after.into(), limit.into()];
    tx.query_rows(sql, &args)
}

pub fn find_by_id(tx: &mut Tx<'_>, app: AppId, product: StreamProduct, id: i64) -> Result<Option<StreamRule>, Fault> {
    let sql = select!(StreamRule, "WHERE id = $1 AND app_id = $2 AND product = $3");
    tx.query_row(sql, &[id.into(), app.into(), product.name().into()])
}

pub fn count(tx: &mut Tx<'_>, app: AppId, product: StreamProduct) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM rule WHERE app_id = $1 AND product = $2";
    let args = [app.into(), product.name().into()];
    tx.query_number(sql, &args)
}

/// Returns false if the app has no rule with this id.
pub fn delete(tx: &mut Tx<'_>, app: AppId, product: StreamProduct, id: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM rule WHERE id = $1 AND app_id = $2 AND product = $3";
    let args = [id.into(), app.into(), product.name().into()];
    Ok(tx.execute(sql, &args)? > 0)
}

pub fn delete_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM rule WHERE app_id = $1", &[app.into()])
}
