//! Webhooks that receive the posts matching their app's filtered stream rules.

use base::{AppId, Fault, Time};

use crate::Tx;
use crate::db::{row, select};

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StreamLink from "stream_link" {
        pub webhook_id: i64,
        pub app_id: AppId,
        /// The requested fields and expansions, as a query string.
        pub fields: String,
        pub created_at: Time,
    }
}

/// Inserts a link or replaces its fields.
pub fn link_stream(tx: &mut Tx<'_>, webhook_id: i64, app: AppId, fields: &str) -> Result<(), Fault> {
    let now = tx.now();
    let sql = "INSERT INTO stream_link (webhook_id, app_id, fields, created_at) \
               VALUES ($1, $2, $3, $4) ON CONFLICT (webhook_id) DO UPDATE SET fields = excluded.fields";
    let args = [webhook_id.into(), app.into(), fields.into(), now.into()];
    tx.execute_later(sql, &args)
}

/// Returns false if there is none.
pub fn unlink_stream(tx: &mut Tx<'_>, webhook_id: i64, app: AppId) -> Result<bool, Fault> {
    let sql = "DELETE FROM stream_link WHERE webhook_id = $1 AND app_id = $2";
    Ok(tx.execute(sql, &[webhook_id.into(), app.into()])? > 0)
}

pub(super) fn delete_webhook_links(tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM stream_link WHERE webhook_id = $1";
    tx.execute_later(sql, &[webhook_id.into()])
}

pub fn stream_links(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<StreamLink>, Fault> {
    let sql = select!(StreamLink, "WHERE app_id = $1 ORDER BY webhook_id");
    tx.query_rows(sql, &[app.into()])
}

/// Those of active apps.
pub fn all_stream_links(tx: &mut Tx<'_>) -> Result<Vec<StreamLink>, Fault> {
    let sql = select!(StreamLink, "WHERE app_id IN (SELECT id FROM app WHERE state = 0) ORDER BY webhook_id");
    tx.query_rows(sql, &[])
}
