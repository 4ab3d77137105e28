//! Account activity subscriptions: which webhooks receive which accounts' activity.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountSubscription {
    pub user_id: UserId,
    pub webhook_id: i64,
    pub app_id: AppId,
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

/// Returns false if the webhook already receives the account's activity.
pub fn insert(tx: &mut Tx<'_>, account: &AccountSubscription) -> Result<bool, Fault> {
    let sql = "INSERT INTO account_subscription (user_id, webhook_id, app_id, created_at) \
               VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    let args = [account.user_id.into(), account.webhook_id.into(), account.app_id.into(), account.created_at.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

pub fn exists(tx: &mut Tx<'_>, webhook: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM account_subscription WHERE user_id = $1 AND webhook_id = $2";
    tx.row_exists(sql, &[user.into(), webhook.into()])
}

pub fn list_by_webhook(tx: &mut Tx<'_>, webhook: i64) -> Result<Vec<AccountSubscription>, Fault> {
    let sql = "SELECT user_id, webhook_id, app_id, created_at FROM account_subscription \
               WHERE webhook_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[webhook.into()], subscription_from_row)
}

pub fn list_by_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<AccountSubscription>, Fault> {
    let sql = "SELECT user_id, webhook_id, app_id, created_at FROM account_subscription \
               WHERE user_id = $1";
    tx.query_by_keys(sql, users, &[], subscription_from_row)
}

/// Counts an app's subscriptions; an account with two webhooks counts twice.
pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM account_subscription WHERE app_id = $1";
    Ok(tx.query_row(sql, &[app.into()], |row| row.int(0))?.unwrap_or(0))
}

/// Returns false if there was no such subscription.
pub fn delete(tx: &mut Tx<'_>, webhook: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM account_subscription WHERE user_id = $1 AND webhook_id = $2";
    Ok(tx.execute(sql, &[user.into(), webhook.into()])? > 0)
}

/// Deletes a user's subscriptions, of one app or of all; returns the webhook ids.
pub fn delete_by_user(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>) -> Result<Vec<i64>, Fault> {
    let mut ended = list_by_users(tx, &[user.get()])?;
    ended.retain(|account| app.is_none_or(|app| app == account.app_id));
    for account in &ended {
        delete(tx, account.webhook_id, user)?;
    }
    Ok(ended.iter().map(|account| account.webhook_id).collect())
}

pub fn delete_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<u64, Fault> {
    let sql = "DELETE FROM account_subscription WHERE app_id = $1";
    tx.execute(sql, &[app.into()])
}

pub fn delete_by_webhook(tx: &mut Tx<'_>, webhook: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM account_subscription WHERE webhook_id = $1";
    tx.execute(sql, &[webhook.into()])
}
