//! Activity subscriptions: an app's subscriptions to single event types.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, select, stored_enum, table, update};
use crate::edges::{directional_query, edge_page_query, query_page};
use crate::posts::PageRange;

stored_enum! {
    /// The direction of an event as seen by the user it is about.
    pub enum ActivityDirection {
        /// Others act on the user.
        Inbound = 1,
        /// The user acts.
        Outbound = 2,
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ActivitySubscription in "activity_subscription" {
        pub id: i64,
        pub app_id: AppId,
        pub event_type: String,
        /// A query over the event's text, or empty.
        pub keyword: String,
        /// The direction as the app wrote it, or empty.
        pub direction_name: String,
        /// The app's own label, or empty.
        pub tag: String,
        /// Whether it depends on the user's consent to the app.
        pub requires_consent: bool as "private",
        pub created_at: Time,
        pub updated_at: Time,
    }
    read_only {
        pub user_id: Option<UserId> as "NULLIF(user_id, 0)",
        pub direction: Option<ActivityDirection> as "NULLIF(direction, 0)",
        /// A webhook that receives the events as well as the stream.
        pub webhook_id: Option<i64> as "NULLIF(webhook_id, 0)",
        pub authorizing_user_id: Option<UserId> as "NULLIF(maker_id, 0)",
    }
}

fn user_number(user: Option<UserId>) -> i64 {
    user.map_or(0, UserId::get)
}

fn direction_number(direction: Option<ActivityDirection>) -> i64 {
    direction.map_or(0, ActivityDirection::to_number)
}

/// Returns false if the app already has an equal subscription for the same webhook.
pub fn insert(tx: &mut Tx<'_>, new: &ActivitySubscription) -> Result<bool, Fault> {
    insert_new!(
        tx,
        ActivitySubscription,
        new,
        user_id = user_number(new.user_id),
        direction = direction_number(new.direction),
        webhook_id = new.webhook_id.unwrap_or(0),
        maker_id = user_number(new.authorizing_user_id)
    )
}

pub fn find_duplicate(tx: &mut Tx<'_>, subscription: &ActivitySubscription) -> Result<Option<i64>, Fault> {
    let sql = "SELECT id FROM activity_subscription WHERE app_id = $1 AND event_type = $2 AND \
               user_id = $3 AND direction = $4 AND webhook_id = $5 AND keyword = $6";
    let args = [
        subscription.app_id.into(),
        (&subscription.event_type).into(),
        user_number(subscription.user_id).into(),
        direction_number(subscription.direction).into(),
        subscription.webhook_id.unwrap_or(0).into(),
        (&subscription.keyword).into(),
    ];
    tx.query_row(sql, &args)
}

/// Updates tag and webhook.
pub fn update(tx: &mut Tx<'_>, subscription: &ActivitySubscription) -> Result<(), Fault> {
    let webhook_id = subscription.webhook_id.unwrap_or(0);
    let id = subscription.id;
    update!(tx, "activity_subscription", subscription: [tag, updated_at], [webhook_id = webhook_id], id = id)
}

pub fn find_by_id(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Option<ActivitySubscription>, Fault> {
    let sql = select!(ActivitySubscription, "WHERE id = $1 AND app_id = $2");
    tx.query_row(sql, &[id.into(), app.into()])
}

/// Newest first; only those made by `maker` if given.
pub fn list_by_app(
    tx: &mut Tx<'_>,
    app: AppId,
    maker: Option<UserId>,
    range: &PageRange,
) -> Result<Vec<ActivitySubscription>, Fault> {
    match maker {
        None => {
            let sql = edge_page_query!(select!(ActivitySubscription, "WHERE app_id = $1"));
            query_page(tx, &[app.into()], range, sql)
        }
        Some(maker) => {
            let sql = directional_query!(
                select!(
                    ActivitySubscription,
                    "WHERE app_id = $1 AND maker_id = $2 AND id > $3 AND id < $4 ORDER BY id"
                ),
                " LIMIT $5"
            );
            query_page(tx, &[app.into(), maker.into()], range, sql)
        }
    }
}

/// Whether anything subscribes to events, or to all that happens to an account.
pub fn has_subscriptions(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(tx.row_exists("SELECT 1 FROM activity_subscription LIMIT 1", &[])?
        || tx.row_exists("SELECT 1 FROM account_subscription LIMIT 1", &[])?)
}

pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM activity_subscription WHERE app_id = $1";
    tx.query_number(sql, &[app.into()])
}

pub fn list_by_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<ActivitySubscription>, Fault> {
    tx.query_by_keys(select!(ActivitySubscription, "WHERE user_id = $1"), users, &[])
}

/// Subscriptions without a user, in id order after `after`.
pub fn list_unscoped(
    tx: &mut Tx<'_>,
    event_type: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<ActivitySubscription>, Fault> {
    let sql = select!(ActivitySubscription, "WHERE user_id = 0 AND event_type = $1 AND id > $2 ORDER BY id LIMIT $3");
    tx.query_rows(sql, &[event_type.into(), after.into(), limit.into()])
}

pub fn list_unscoped_by_app(tx: &mut Tx<'_>, event_type: &str, app: AppId) -> Result<Vec<ActivitySubscription>, Fault> {
    let sql = select!(ActivitySubscription, "WHERE app_id = $1 AND event_type = $2 AND user_id = 0 ORDER BY id");
    tx.query_rows(sql, &[app.into(), event_type.into()])
}

/// Returns false if the app has no subscription with this id.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM activity_subscription WHERE id = $1 AND app_id = $2";
    Ok(tx.execute(sql, &[id.into(), app.into()])? > 0)
}

pub fn delete_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<u64, Fault> {
    let sql = "DELETE FROM activity_subscription WHERE user_id = $1";
    tx.execute(sql, &[user.into()])
}

pub fn delete_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<u64, Fault> {
    let sql = "DELETE FROM activity_subscription WHERE app_id = $1";
    tx.execute(sql, &[app.into()])
}

pub fn delete_by_webhook(tx: &mut Tx<'_>, webhook: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM activity_subscription WHERE webhook_id = $1 AND webhook_id > 0";
    tx.execute(sql, &[webhook.into()])
}
