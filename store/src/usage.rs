//! What apps have called, and when each of their credentials was last used.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;

/// Calls of one operation in one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationCalls {
    /// The operation.
    pub operation: String,
    /// When the window began.
    pub started_at: Time,
    /// How many.
    pub calls: i64,
}

/// When a kind of credential was last used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialLastUse {
    /// `bearer`, `oauth1` or `oauth2`.
    pub kind: String,
    /// For whom; none: for the app itself.
    pub user_id: Option<UserId>,
    /// When.
    pub at: Time,
}

/// Adds calls to a window.
pub fn add_calls(tx: &mut Tx<'_>, app: AppId, operation: &str, started: Time, calls: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO app_use (app_id, operation, started_at, calls) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (app_id, operation, started_at) \
               DO UPDATE SET calls = app_use.calls + excluded.calls";
    tx.execute(sql, &[app.into(), operation.into(), started.into(), calls.into()])
        .map(|_| ())
}

/// Says that a credential was used at a moment.
pub fn record_credential_use(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: &str,
    user: Option<UserId>,
    at: Time,
) -> Result<(), Fault> {
    let sql = "INSERT INTO credential_use (app_id, kind, user_id, last_used_at) \
               VALUES ($1, $2, $3, $4) ON CONFLICT (app_id, kind, user_id) \
               DO UPDATE SET last_used_at = excluded.last_used_at \
               WHERE credential_use.last_used_at < excluded.last_used_at";
    let user = user.map_or(0, UserId::get);
    tx.execute(sql, &[app.into(), kind.into(), user.into(), at.into()])
        .map(|_| ())
}

/// The calls of an app in the windows from a moment on, oldest first.
pub fn list_calls(tx: &mut Tx<'_>, app: AppId, from: Time, limit: i64) -> Result<Vec<OperationCalls>, Fault> {
    let sql = "SELECT operation, started_at, calls FROM app_use \
               WHERE app_id = $1 AND started_at >= $2 ORDER BY started_at, operation LIMIT $3";
    tx.query_rows(sql, &[app.into(), from.into(), limit.into()], |row| {
        Ok(OperationCalls {
            operation: row.text(0)?,
            started_at: row.time(1)?,
            calls: row.int(2)?,
        })
    })
}

/// When an app last used its credentials: one row for itself and one for each user asked for.
pub fn list_last_uses(tx: &mut Tx<'_>, app: AppId, user: Option<UserId>) -> Result<Vec<CredentialLastUse>, Fault> {
    let sql = "SELECT kind, user_id, last_used_at FROM credential_use \
               WHERE app_id = $1 AND (user_id = 0 OR user_id = $2) ORDER BY kind, user_id";
    let user = user.map_or(0, UserId::get);
    tx.query_rows(sql, &[app.into(), user.into()], |row| {
        Ok(CredentialLastUse {
            kind: row.text(0)?,
            user_id: Some(row.id(1)?).filter(|user: &UserId| user.get() != 0),
            at: row.time(2)?,
        })
    })
}

/// Forgets the calls of windows that began before a moment; how many rows.
pub fn prune(tx: &mut Tx<'_>, before: Time) -> Result<u64, Fault> {
    tx.execute("DELETE FROM app_use WHERE started_at < $1", &[before.into()])
}
