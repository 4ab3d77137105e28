//! Which notifications a member wants to see, by kind and sender. All of them, unless the member says otherwise.

use std::collections::HashSet;

use base::{Error, Fault, UserId};
use store::interactions::{Interaction, InteractionKind};
use store::notification_settings::{self, NotificationSetting};
use store::{Tx, follows};

pub use store::notification_settings::NotificationSenders;

/// Of one member, at one time.
#[derive(Clone, Debug)]
pub struct NotificationSettings {
    user: UserId,
    settings: Vec<NotificationSetting>,
}

impl NotificationSettings {
    pub fn load(tx: &mut Tx<'_>, user: UserId) -> Result<Self, Fault> {
        Ok(Self { user, settings: notification_settings::list_by_user(tx, user)? })
    }

    pub const fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    pub fn find_senders(&self, kind: InteractionKind) -> NotificationSenders {
        let setting = self.settings.iter().find(|setting| setting.kind == kind);
        setting.map(|setting| setting.senders).unwrap_or_default()
    }

    /// Removes what the member does not want to see.
    pub fn remove_unwanted(&self, tx: &mut Tx<'_>, interactions: &mut Vec<Interaction>) -> Result<(), Fault> {
        if self.is_empty() || interactions.is_empty() {
            return Ok(());
        }
        let actors: Vec<UserId> = interactions.iter().map(|one| one.actor_id).collect();
        let followed: HashSet<UserId> = follows::filter_followed(tx, self.user, &actors)?.into_iter().collect();
        interactions.retain(|one| match self.find_senders(one.kind) {
            NotificationSenders::Everyone => true,
            NotificationSenders::Followed => followed.contains(&one.actor_id),
            NotificationSenders::Nobody => false,
        });
        Ok(())
    }
}

/// Replaces all settings; kinds that are left out come from everyone.
pub fn save(tx: &mut Tx<'_>, user: UserId, settings: &[(InteractionKind, NotificationSenders)]) -> Result<(), Error> {
    store::users::lock(tx, user)?;
    crate::users::find_active(tx, user)?;
    notification_settings::delete_by_user(tx, user)?;
    for (kind, senders) in settings.iter().copied() {
        if senders != NotificationSenders::Everyone {
            notification_settings::insert(tx, &NotificationSetting { user_id: user, kind, senders })?;
        }
    }
    Ok(())
}
