//! What somebody is told beside the interface: on a page of their own, and by a letter where it is
//! not they who caused it.

use base::{Error, Fault, Secret, UserId};
use store::Tx;

use crate::emails::{self, EmailMessage, EmailSite};
use crate::users;

pub use store::notifications::{Notification, list_before};

/// Tells a user something, with the path of a page where there is more to see.
pub fn notify_user(tx: &mut Tx<'_>, user: UserId, text: &str, path: &str) -> Result<(), Fault> {
    store::notifications::insert(tx, user, text, path)
}

/// The same, and by a letter if they have an address.
pub fn notify_user_by_email(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    user: UserId,
    (subject, text): (&str, &str),
) -> Result<(), Error> {
    let user = users::find(tx, user)?;
    notify_user(tx, user.id, text, "")?;
    if user.email_confirmed && !user.email.is_empty() {
        let letter = EmailMessage {
            to: user.email,
            subject: format!("{subject} on {}", site.name()),
            text: Secret::new(format!("Hello,\n\n{text}\n")),
            expires_at: None,
        };
        emails::enqueue(tx, &letter)?;
    }
    Ok(())
}
