//! Invitations that were not accepted yet. Their links are known to those who got them only.

use base::{Error, Time, UserId};
use serde_json::json;
use store::{Tx, emails};

use crate::email_links::INVITE;
use network::audit::{self, AuditAction, AuditActor};
use network::user_roles::{self, UserRole};

/// Of the newest, what moderators see and may revoke.
const MAX_LISTED: i64 = 200;

#[derive(Clone, Debug)]
pub struct OpenInvitation {
    pub id: String,
    /// None for an operator.
    pub inviter: Option<UserId>,
    /// The address it was sent to, or empty.
    pub email: String,
    pub created_at: Time,
    pub expires_at: Time,
    digest: [u8; 32],
}

/// Newest first.
pub fn list_open(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<Vec<OpenInvitation>, Error> {
    user_roles::require_role(tx, actor, UserRole::Moderator)?;
    let links = emails::list_open_links(tx, INVITE, MAX_LISTED)?;
    let invitations = links.into_iter().map(|link| OpenInvitation {
        id: link.digest.map(|byte| format!("{byte:02x}")).concat(),
        inviter: Some(link.user_id).filter(|user| user.get() != 0),
        email: link.email,
        created_at: link.created_at,
        expires_at: link.expires_at,
        digest: link.digest,
    });
    Ok(invitations.collect())
}

/// Refused if it was accepted or has expired.
pub fn revoke(tx: &mut Tx<'_>, actor: &AuditActor, id: &str) -> Result<(), Error> {
    let found = list_open(tx, actor)?.into_iter().find(|invitation| invitation.id == id);
    let missing = || network::lookup::not_found("invitation", id);
    if !emails::mark_link_used(tx, &found.ok_or_else(missing)?.digest)? {
        return Err(missing());
    }
    Ok(audit::append(tx, actor, AuditAction::USER_INVITE, None, &json!({ "revoked": true }))?)
}
