//! Accounts whose whole activity webhooks receive.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

/// An account whose activity a webhook receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountSubscription {
    /// Whose account.
    pub user_id: UserId,
    /// The webhook.
    pub webhook_id: i64,
    /// The app that the webhook belongs to.
    pub app_id: AppId,
    /// Since when.
    pub created_at: Time,
}

fn subscription_from_row(row: &SqlRow<'_, '_>) -> Result<AccountSubscription, Fault> {
    Ok(AccountSubscription {
        user_id: row.id(0)?,
        webhook_id: row.int(1)?,
        app_id: row.id(2)?,
        created_at: row.time(3)?,
    })
}

/// Lets a webhook receive an account's activity; false when it does.
pub fn insert(tx: &mut Tx<'_>, account: &AccountSubscription) -> Result<bool, Fault> {
    let sql = "INSERT INTO account_subscription (user_id, webhook_id, app_id, created_at) \
               VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    let args = [
        account.user_id.into(),
        account.webhook_id.into(),
        account.app_id.into(),
        account.created_at.into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Whether a webhook receives an account's activity.
pub fn exists(tx: &mut Tx<'_>, webhook: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM account_subscription WHERE user_id = $1 AND webhook_id = $2";
    let found = tx.query_row(sql, &[user.into(), webhook.into()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// The accounts whose activity a webhook receives.
pub fn list_by_webhook(tx: &mut Tx<'_>, webhook: i64) -> Result<Vec<AccountSubscription>, Fault> {
    let sql = "SELECT user_id, webhook_id, app_id, created_at FROM account_subscription \
               WHERE webhook_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[webhook.into()], subscription_from_row)
}

/// The webhooks that receive the activity of some accounts.
pub fn list_by_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<AccountSubscription>, Fault> {
    let sql = "SELECT user_id, webhook_id, app_id, created_at FROM account_subscription \
               WHERE user_id = $1";
    tx.query_by_keys(sql, users, &[], subscription_from_row)
}

/// How many accounts' activity an app receives; an account at two webhooks counts twice.
pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM account_subscription WHERE app_id = $1";
    Ok(tx.query_row(sql, &[app.into()], |row| row.int(0))?.unwrap_or(0))
}

/// Lets a webhook receive an account's activity no more; false when it did not.
pub fn delete(tx: &mut Tx<'_>, webhook: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM account_subscription WHERE user_id = $1 AND webhook_id = $2";
    Ok(tx.execute(sql, &[user.into(), webhook.into()])? > 0)
}

/// The same for every webhook of an app, or of all apps where none is named; which they were.
pub fn delete_by_user(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>) -> Result<Vec<i64>, Fault> {
    let mut ended = list_by_users(tx, &[user.get()])?;
    ended.retain(|account| app.is_none_or(|app| app == account.app_id));
    for account in &ended {
        delete(tx, account.webhook_id, user)?;
    }
    Ok(ended.iter().map(|account| account.webhook_id).collect())
}

/// Lets an app receive no account's activity any more.
pub fn delete_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<u64, Fault> {
    let sql = "DELETE FROM account_subscription WHERE app_id = $1";
    tx.execute(sql, &[app.into()])
}

/// Lets a webhook receive no account's activity any more.
pub fn delete_by_webhook(tx: &mut Tx<'_>, webhook: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM account_subscription WHERE webhook_id = $1";
    tx.execute(sql, &[webhook.into()])
}
