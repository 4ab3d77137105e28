//! Product catalogs: the products of a user, sets of them, and the feed from which they are imported.

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert, insert_new, select, table, update};

table! {
    #[derive(Clone, Debug)]
    pub struct ProductCatalog in "product_catalog" {
        pub id: i64,
        pub user_id: UserId,
        pub sandbox: bool,
        pub name: String,
        /// What it contains is still to be deleted.
        pub deleted: bool,
        pub created_at: Time,
        pub updated_at: Time,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct CatalogProduct in "catalog_product" {
        pub id: i64,
        pub catalog_id: i64,
        /// A hash of the id that the merchant uses.
        pub merchant_key: i64,
        /// A hash of the group of variants.
        pub group_key: Option<i64>,
        /// A JSON object.
        pub body: String,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct ProductSet in "product_set" {
        pub id: i64,
        pub catalog_id: i64,
        /// A JSON object.
        pub body: String,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct ScheduledFeed in "scheduled_feed" {
        pub id: i64,
        pub catalog_id: i64,
        /// The next import, or when a running one counts as interrupted.
        pub due_at: Time,
        /// Of the import that is running.
        pub import_id: Option<i64>,
        /// Since the last scheduled time.
        pub attempts: i64,
        /// A JSON object.
        pub body: String,
        pub created_at: Time,
        pub updated_at: Time,
    }
}

/// Returns false if the user has one.
pub fn insert(tx: &mut Tx<'_>, catalog: &ProductCatalog) -> Result<bool, Fault> {
    insert_new!(tx, ProductCatalog, catalog)
}

pub fn find_by_user(tx: &mut Tx<'_>, user: UserId, sandbox: bool) -> Result<Option<ProductCatalog>, Fault> {
    let sql = select!(ProductCatalog, "WHERE user_id = $1 AND sandbox = $2 AND deleted = 0");
    tx.query_row(sql, &[user.into(), sandbox.into()])
}

/// Unless it is deleted.
pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<ProductCatalog>, Fault> {
    tx.query_row(select!(ProductCatalog, "WHERE id = $1 AND deleted = 0"), &[id.into()])
}

/// Locks a catalog until the end of the transaction, so that limits hold. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM product_catalog WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn update(tx: &mut Tx<'_>, catalog: &ProductCatalog) -> Result<(), Fault> {
    update!(tx, "product_catalog", catalog: [name, deleted, updated_at], id = catalog.id)
}

/// In the order in which they were added, after an id. Of a group only the first product is listed, unless the group is
/// given.
pub fn list_products(
    tx: &mut Tx<'_>,
    catalog: i64,
    group: Option<i64>,
    (after, limit): (i64, i64),
) -> Result<Vec<CatalogProduct>, Fault> {
    let (catalog, after, limit) = (catalog.into(), after.into(), limit.into());
    if let Some(group) = group {
        let sql = select!(CatalogProduct, "WHERE catalog_id = $1 AND group_key = $2 AND id > $3 ORDER BY id LIMIT $4");
        return tx.query_rows(sql, &[catalog, group.into(), after, limit]);
    }
    let sql = select!(
        CatalogProduct,
        "WHERE catalog_id = $1 AND id > $2 AND (group_key IS NULL OR NOT EXISTS (SELECT 1 FROM catalog_product earlier \
         WHERE earlier.catalog_id = catalog_product.catalog_id AND earlier.group_key = catalog_product.group_key \
         AND earlier.id < catalog_product.id)) ORDER BY id LIMIT $3"
    );
    tx.query_rows(sql, &[catalog, after, limit])
}

/// All products, in the order of their ids.
pub fn list_all_products(
    tx: &mut Tx<'_>,
    catalog: i64,
    (after, limit): (i64, i64),
) -> Result<Vec<CatalogProduct>, Fault> {
    let sql = select!(CatalogProduct, "WHERE catalog_id = $1 AND id > $2 ORDER BY id LIMIT $3");
    tx.query_rows(sql, &[catalog.into(), after.into(), limit.into()])
}

pub fn count_products(tx: &mut Tx<'_>, catalog: i64) -> Result<i64, Fault> {
    tx.query_number("SELECT COUNT(*) FROM catalog_product WHERE catalog_id = $1", &[catalog.into()])
}

/// In no particular order; unknown keys are skipped.
pub fn find_products(tx: &mut Tx<'_>, catalog: i64, ids: &[i64]) -> Result<Vec<CatalogProduct>, Fault> {
    tx.query_by_keys(select!(CatalogProduct, "WHERE id = $1 AND catalog_id = $2"), ids, &[catalog.into()])
}

/// In no particular order; unknown keys are skipped.
pub fn find_products_of_merchant(tx: &mut Tx<'_>, catalog: i64, keys: &[i64]) -> Result<Vec<CatalogProduct>, Fault> {
    tx.query_by_keys(select!(CatalogProduct, "WHERE merchant_key = $1 AND catalog_id = $2"), keys, &[catalog.into()])
}

pub fn insert_product(tx: &mut Tx<'_>, product: &CatalogProduct) -> Result<(), Fault> {
    insert!(tx, CatalogProduct, product)
}

pub fn update_product(tx: &mut Tx<'_>, product: &CatalogProduct) -> Result<(), Fault> {
    update!(tx, "catalog_product", product: [group_key, body], id = product.id)
}

pub fn delete_product(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM catalog_product WHERE id = $1", &[id.into()])
}

pub fn find_set(tx: &mut Tx<'_>, catalog: i64, id: i64) -> Result<Option<ProductSet>, Fault> {
    tx.query_row(select!(ProductSet, "WHERE id = $1 AND catalog_id = $2"), &[id.into(), catalog.into()])
}

pub fn count_sets(tx: &mut Tx<'_>, catalog: i64) -> Result<i64, Fault> {
    tx.query_number("SELECT COUNT(*) FROM product_set WHERE catalog_id = $1", &[catalog.into()])
}

pub fn insert_set(tx: &mut Tx<'_>, set: &ProductSet) -> Result<(), Fault> {
    insert!(tx, ProductSet, set)
}

pub fn update_set(tx: &mut Tx<'_>, set: &ProductSet) -> Result<(), Fault> {
    update!(tx, "product_set", set: [body], id = set.id)
}

pub fn delete_set(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM product_set WHERE id = $1", &[id.into()])
}

/// A catalog has one at most.
pub fn find_feed(tx: &mut Tx<'_>, catalog: i64) -> Result<Option<ScheduledFeed>, Fault> {
    tx.query_row(select!(ScheduledFeed, "WHERE catalog_id = $1"), &[catalog.into()])
}

/// Returns false if the catalog has one.
pub fn insert_feed(tx: &mut Tx<'_>, feed: &ScheduledFeed) -> Result<bool, Fault> {
    insert_new!(tx, ScheduledFeed, feed)
}

pub fn update_feed(tx: &mut Tx<'_>, feed: &ScheduledFeed) -> Result<(), Fault> {
    update!(tx, "scheduled_feed", feed: [due_at, import_id, attempts, body, updated_at], id = feed.id)
}

pub fn delete_feed(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM scheduled_feed WHERE id = $1", &[id.into()])
}

/// Feeds of catalogs that are not deleted, those that have waited longest first.
pub fn list_due_feeds(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<ScheduledFeed>, Fault> {
    let now = tx.now();
    let sql = select!(
        ScheduledFeed,
        "WHERE due_at <= $1 AND EXISTS (SELECT 1 FROM product_catalog c WHERE c.id = catalog_id AND c.deleted = 0) \
         ORDER BY due_at, id LIMIT $2"
    );
    tx.query_rows(sql, &[now.into(), limit.into()])
}

/// When the next feed is due that is not due yet.
pub fn next_due_feed(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now();
    let sql = "SELECT due_at FROM scheduled_feed WHERE due_at > $1 ORDER BY due_at LIMIT 1";
    tx.query_row(sql, &[now.into()])
}

/// Deletes a part of a catalog that is deleted, and at last the catalog itself; returns how many rows.
pub fn prune(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let sql = "SELECT id FROM product_catalog WHERE deleted = 1 ORDER BY id LIMIT 1";
    let Some(catalog) = tx.query_row::<i64>(sql, &[])? else {
        return Ok(0);
    };
    let mut deleted = 0;
    for table in ["catalog_product", "product_set", "scheduled_feed"] {
        let sql = format!(
            "DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE catalog_id = $1 ORDER BY id LIMIT $2)"
        );
        deleted += tx.execute(&sql, &[catalog.into(), limit.into()])?;
    }
    if deleted == 0 {
        deleted = tx.execute("DELETE FROM product_catalog WHERE id = $1", &[catalog.into()])?;
    }
    Ok(deleted)
}
