//! Activity subscriptions: an app's subscriptions to single event types.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::edges::{directional_query, edge_page_query, query_page};
use crate::posts::PageRange;

/// The direction of an event as seen by the user it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityDirection {
    /// Others act on the user.
    Inbound,
    /// The user acts.
    Outbound,
}

impl ActivityDirection {
    const fn to_number(direction: Option<Self>) -> i64 {
        match direction {
            None => 0,
            Some(Self::Inbound) => 1,
            Some(Self::Outbound) => 2,
        }
    }

    const fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::Inbound),
            2 => Some(Self::Outbound),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivitySubscription {
    pub id: i64,
    pub app_id: AppId,
    pub event_type: String,
    pub user_id: Option<UserId>,
    /// A query over the event's text, or empty.
    pub keyword: String,
    pub direction: Option<ActivityDirection>,
    /// The direction as the app wrote it, or empty.
    pub direction_name: String,
    /// The app's own label, or empty.
    pub tag: String,
    /// A webhook that receives the events as well as the stream.
    pub webhook_id: Option<i64>,
    pub authorizing_user_id: Option<UserId>,
    /// Whether it depends on the user's consent to the app.
    pub requires_consent: bool,
    pub created_at: Time,
    pub updated_at: Time,
}

macro_rules! columns {
    ($after:expr) => {
        concat!(
            "SELECT id, app_id, event_type, user_id, keyword, direction, direction_name, tag, \
             webhook_id, maker_id, private, created_at, updated_at FROM activity_subscription ",
            $after
        )
    };
}

fn subscription_from_row(row: &SqlRow<'_, '_>) -> Result<ActivitySubscription, Fault> {
    let user = |id: i64| (id > 0).then(|| UserId::new(id));
    Ok(ActivitySubscription {
        id: row.int(0)?,
        app_id: row.id(1)?,
        event_type: row.text(2)?,
        user_id: user(row.int(3)?),
        keyword: row.text(4)?,
        direction: ActivityDirection::from_number(row.int(5)?),
        direction_name: row.text(6)?,
        tag: row.text(7)?,
        webhook_id: Some(row.int(8)?).filter(|id| *id > 0),
        authorizing_user_id: user(row.int(9)?),
        requires_consent: row.bool(10)?,
        created_at: row.time(11)?,
        updated_at: row.time(12)?,
    })
}

fn user_number(user: Option<UserId>) -> i64 {
    user.map_or(0, UserId::get)
}

/// Returns false if the app already has an equal subscription for the same webhook.
pub fn insert(tx: &mut Tx<'_>, new: &ActivitySubscription) -> Result<bool, Fault> {
    let sql = "INSERT INTO activity_subscription (id, app_id, event_type, user_id, keyword, \
               direction, direction_name, tag, webhook_id, maker_id, private, created_at, \
               updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
               ON CONFLICT DO NOTHING";
    let args = [
        new.id.into(),
        new.app_id.into(),
        (&new.event_type).into(),
        user_number(new.user_id).into(),
        (&new.keyword).into(),
        ActivityDirection::to_number(new.direction).into(),
        (&new.direction_name).into(),
        (&new.tag).into(),
        new.webhook_id.unwrap_or(0).into(),
        user_number(new.authorizing_user_id).into(),
        i64::from(new.requires_consent).into(),
        new.created_at.into(),
        new.updated_at.into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

pub fn find_duplicate(tx: &mut Tx<'_>, subscription: &ActivitySubscription) -> Result<Option<i64>, Fault> {
    let sql = "SELECT id FROM activity_subscription WHERE app_id = $1 AND event_type = $2 AND \
               user_id = $3 AND direction = $4 AND webhook_id = $5 AND keyword = $6";
    let args = [
        subscription.app_id.into(),
        (&subscription.event_type).into(),
        user_number(subscription.user_id).into(),
        ActivityDirection::to_number(subscription.direction).into(),
        subscription.webhook_id.unwrap_or(0).into(),
        (&subscription.keyword).into(),
    ];
    tx.query_row(sql, &args, |row| row.int(0))
}

/// Updates tag and webhook.
pub fn update(tx: &mut Tx<'_>, subscription: &ActivitySubscription) -> Result<(), Fault> {
    let sql = "UPDATE activity_subscription SET tag = $1, webhook_id = $2, updated_at = $3 \
               WHERE id = $4";
    let args = [
        (&subscription.tag).into(),
        subscription.webhook_id.unwrap_or(0).into(),
        subscription.updated_at.into(),
        subscription.id.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

pub fn find_by_id(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Option<ActivitySubscription>, Fault> {
    let sql = columns!("WHERE id = $1 AND app_id = $2");
    tx.query_row(sql, &[id.into(), app.into()], subscription_from_row)
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
            let sql = edge_page_query!(columns!("WHERE app_id = $1"));
            query_page(tx, &[app.into()], range, sql, subscription_from_row)
        }
        Some(maker) => {
            let sql = directional_query!(
                columns!("WHERE app_id = $1 AND maker_id = $2 AND id > $3 AND id < $4 ORDER BY id"),
                " LIMIT $5"
            );
            query_page(tx, &[app.into(), maker.into()], range, sql, subscription_from_row)
        }
    }
}

pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM activity_subscription WHERE app_id = $1";
    Ok(tx.query_row(sql, &[app.into()], |row| row.int(0))?.unwrap_or(0))
}

pub fn list_by_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<ActivitySubscription>, Fault> {
    tx.query_by_keys(columns!("WHERE user_id = $1"), users, &[], subscription_from_row)
}

/// Subscriptions without a user, in id order after `after`.
pub fn list_unscoped(
    tx: &mut Tx<'_>,
    event_type: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<ActivitySubscription>, Fault> {
    let sql = columns!("WHERE user_id = 0 AND event_type = $1 AND id > $2 ORDER BY id LIMIT $3");
    tx.query_rows(sql, &[event_type.into(), after.into(), limit.into()], subscription_from_row)
}

pub fn list_unscoped_by_app(tx: &mut Tx<'_>, event_type: &str, app: AppId) -> Result<Vec<ActivitySubscription>, Fault> {
    let sql = columns!("WHERE app_id = $1 AND event_type = $2 AND user_id = 0 ORDER BY id");
    tx.query_rows(sql, &[app.into(), event_type.into()], subscription_from_row)
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
