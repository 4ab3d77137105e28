//! API usage of apps: calls per operation, and last use of each credential.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::{row, select};

row! {
    /// Calls of one operation in one time window.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OperationCalls from "app_use" {
        pub operation: String,
        pub started_at: Time,
        pub calls: i64,
    }
}

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CredentialLastUse from "credential_use" {
        /// `bearer`, `oauth1` or `oauth2`.
        pub kind: String,
        /// None for the app itself.
        pub user_id: Option<UserId> as "NULLIF(user_id, 0)",
        pub at: Time as "last_used_at",
    }
}

pub fn add_calls(tx: &mut Tx<'_>, app: AppId, operation: &str, started: Time, calls: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO app_use (app_id, operation, started_at, calls) VALUES ($1, $2, $3, $4) ON CONFLICT (app_id, \
               operation, started_at) DO UPDATE SET calls = app_use.calls + excluded.calls";
    tx.execute_later(sql, &[app.into(), operation.into(), started.into(), calls.into()])
}

pub fn record_credential_use(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: &str,
    user: Option<UserId>,
    at: Time,
) -> Result<(), Fault> {
    let sql = "INSERT INTO credential_use (app_id, kind, user_id, last_used_at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (app_id, kind, user_id) DO UPDATE SET last_used_at = excluded.last_used_at \
               WHERE credential_use.last_used_at < excluded.last_used_at";
    let user = user.map_or(0, UserId::get);
    tx.execute_later(sql, &[app.into(), kind.into(), user.into(), at.into()])
}

/// Windows from a time on, oldest first.
pub fn list_calls(tx: &mut Tx<'_>, app: AppId, from: Time, limit: i64) -> Result<Vec<OperationCalls>, Fault> {
    let sql = select!(OperationCalls, "WHERE app_id = $1 AND started_at >= $2 ORDER BY started_at, operation LIMIT $3");
    tx.query_rows(sql, &[app.into(), from.into(), limit.into()])
}

/// For the app itself and for one user.
pub fn list_last_uses(tx: &mut Tx<'_>, app: AppId, user: Option<UserId>) -> Result<Vec<CredentialLastUse>, Fault> {
    let sql = select!(CredentialLastUse, "WHERE app_id = $1 AND (user_id = 0 OR user_id = $2) ORDER BY kind, user_id");
    let user = user.map_or(0, UserId::get);
    tx.query_rows(sql, &[app.into(), user.into()])
}

/// Deletes windows that started before a time; returns how many rows.
pub fn prune(tx: &mut Tx<'_>, before: Time) -> Result<u64, Fault> {
    tx.execute("DELETE FROM app_use WHERE started_at < $1", &[before.into()])
}
