//! Account activity subscriptions: which webhooks receive which accounts' activity.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, select, table};

table! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AccountSubscription in "account_subscription" {
        pub user_id: UserId,
        pub webhook_id: i64,
        pub app_id: AppId,
        pub created_at: Time,
    }
}

/// Returns false if the webhook already receives the account's activity.
pub fn insert(tx: &mut Tx<'_>, account: &AccountSubscription) -> Result<bool, Fault> {
    insert_new!(tx, AccountSubscription, account)
}

pub fn exists(tx: &mut Tx<'_>, webhook: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM account_subscription WHERE user_id = $1 AND webhook_id = $2";
    tx.row_exists(sql, &[user.into(), webhook.into()])
}

pub fn list_by_webhook(tx: &mut Tx<'_>, webhook: i64) -> Result<Vec<AccountSubscription>, Fault> {
    let sql = select!(AccountSubscription, "WHERE webhook_id = $1 ORDER BY user_id");
    tx.query_rows(sql, &[webhook.into()])
}

pub fn list_by_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<AccountSubscription>, Fault> {
    let sql = select!(AccountSubscription, "WHERE user_id = $1");
    tx.query_by_keys(sql, users, &[])
}

/// Counts an app's subscriptions; an account with two webhooks counts twice.
pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM account_subscription WHERE app_id = $1";
    tx.query_number(sql, &[app.into()])
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
