//! Which notifications members want to see.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::{insert, select, stored_enum, table};
use crate::interactions::InteractionKind;

stored_enum! {
    /// Whose actions a member is notified of.
    #[derive(Default)]
    pub enum NotificationSenders {
        #[default]
        Everyone = 0,
        /// Those whom the member follows.
        Followed = 1,
        Nobody = 2,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct NotificationSetting in "notification_setting" {
        pub user_id: UserId,
        pub kind: InteractionKind,
        pub senders: NotificationSenders,
    }
}

/// Kinds without a setting come from everyone.
pub fn list_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<NotificationSetting>, Fault> {
    tx.query_rows(select!(NotificationSetting, "WHERE user_id = $1"), &[user.into()])
}

pub fn delete_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM notification_setting WHERE user_id = $1", &[user.into()])
}

/// The caller has deleted earlier ones.
pub fn insert(tx: &mut Tx<'_>, setting: &NotificationSetting) -> Result<(), Fault> {
    insert!(tx, NotificationSetting, setting)
}
