//! Notifications on the platform's own pages, and by email.

use base::{Error, Fault, UserId};
use store::Tx;

use crate::emails::{self, EmailSite};
use crate::users;

pub use store::notifications::{Notification, list_before};

/// `path` leads to a page with more information; may be empty.
pub fn notify_user(tx: &mut Tx<'_>, user: UserId, text: &str, path: &str) -> Result<(), Fault> {
    store::notifications::insert(tx, user, text, path)
}

/// Also sends an email if the user has a confirmed address.
pub fn notify_user_by_email(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    user: UserId,
    (subject, text): (&str, &str),
) -> Result<(), Error> {
    let user = users::find(tx, user)?;
    notify_user(tx, user.id, text, "")?;
    Ok(emails::enqueue_to_member(tx, &user, format!("{subject} on {}", site.name()), text, None)?)
}
