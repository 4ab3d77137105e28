//! What somebody is told beside the interface: on a page of their own, and by a letter where it is
//! not they who caused it.

use base::{Fault, Secret, Stop, UserId};
use store::Tx;

use crate::letters::{self, Letter, Site};
use crate::users;

pub use store::notifications::{Notification, list_before};

/// Tells a user something, with the path of a page where there is more to see.
pub fn tell(tx: &mut Tx<'_>, user: UserId, text: &str, path: &str) -> Result<(), Fault> {
    store::notifications::insert(tx, user, text, path)
}

/// The same, and by a letter if they have an address.
pub fn tell_by_letter(
    tx: &mut Tx<'_>,
    site: &Site,
    user: UserId,
    (subject, text): (&str, &str),
) -> Result<(), Stop> {
    let user = users::find(tx, user)?;
    tell(tx, user.id, text, "")?;
    if user.email_confirmed && !user.email.is_empty() {
        let letter = Letter {
            to: user.email,
            subject: format!("{subject} on {}", site.name()),
            text: Secret::new(format!("Hello,\n\n{text}\n")),
            expires_at: None,
        };
        letters::queue(tx, &letter)?;
    }
    Ok(())
}
