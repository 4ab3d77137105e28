//! Appeals of the persons concerned, one against each action.

use base::secret::digest;
use base::{Error, Refusal, Time, UserId};
use serde_json::json;
use store::Tx;
use store::moderation::{self, Appeal, ModerationAction};

use super::{find_action, needed_role, notices, undo};
use network::audit::{self, AuditAction, AuditActor};
use network::emails::EmailSite;
use network::user_roles;

/// Characters.
pub const MAX_APPEAL_LENGTH: usize = 2_000;
/// How long after an action.
pub(super) const APPEAL_PERIOD_MS: i64 = 180 * 24 * 3600 * 1000;
pub(super) const APPEAL: &str = "appeal";

/// Refused for anyone but the person concerned, after half a year, and the second time with another text.
pub fn appeal(tx: &mut Tx<'_>, actor: &AuditActor, id: i64, text: &str) -> Result<(), Error> {
    let user = actor.require_user()?;
    let action = moderation::find(tx, id)?.filter(|action| action.user_id == user);
    let action = action.ok_or_else(|| network::lookup::not_found("action", &id.to_string()))?;
    insert_appeal(tx, actor, &action, user, text)
}

/// Whether an appeal is accepted, if there is none yet.
pub fn may_be_appealed(action: &ModerationAction, now: Time) -> bool {
    action.lifted_at.is_none() && now <= action.created_at().plus_ms(APPEAL_PERIOD_MS)
}

fn insert_appeal(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    action: &ModerationAction,
    user: UserId,
    text: &str,
) -> Result<(), Error> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_APPEAL_LENGTH {
        let message = format!("An appeal has 1 to {MAX_APPEAL_LENGTH} characters");
        return Err(Refusal::invalid_parameter("text", "", message).into());
    }
    if !may_be_appealed(action, tx.now()) {
        return Err(Refusal::forbidden("This decision can no longer be appealed.").into());
    }
    let appeal = Appeal {
        action_id: action.id,
        user_id: user,
        text: text.to_owned(),
        created_at: tx.now(),
        decided_at: None,
        accepted: false,
        answer: String::new(),
    };
    if !moderation::insert_appeal(tx, &appeal)? {
        // The form was sent twice.
        if moderation::find_appeal(tx, action.id)?.is_some_and(|first| first.text == appeal.text) {
            return Ok(());
        }
        return Err(Refusal::forbidden("This decision was already appealed.").into());
    }
    let detail = json!({ "action": action.id.to_string() });
    Ok(audit::append(tx, actor, AuditAction::MODERATION_APPEAL, None, &detail)?)
}

/// The action that a link in an email is about.
pub fn find_appeal_link(tx: &mut Tx<'_>, secret: &str) -> Result<ModerationAction, Error> {
    let dead = || Error::from(Refusal::forbidden("This link no longer works."));
    let link = store::emails::find_link(tx, &digest(secret), APPEAL)?.ok_or_else(dead)?;
    let id = link.email.parse().map_err(|_| dead())?;
    find_action(tx, id)
}

/// As [`appeal`], by the link that was sent to an account that cannot sign in. It keeps working, to show the answer.
pub fn appeal_by_link(tx: &mut Tx<'_>, address: &str, secret: &str, text: &str) -> Result<(), Error> {
    let action = find_appeal_link(tx, secret)?;
    let actor = AuditActor::user(action.user_id, address);
    insert_appeal(tx, &actor, &action, action.user_id, text)
}

/// Accepting lifts the action. The person concerned is told the decision and the answer, also by email.
pub fn decide_appeal(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    actor: &AuditActor,
    id: i64,
    accept: bool,
    answer: &str,
) -> Result<(), Error> {
    let action = find_action(tx, id)?;
    user_roles::require_authority(tx, actor, needed_role(action.kind), action.user_id)?;
    if answer.chars().count() > super::MAX_REASON_LENGTH {
        let message = format!("The answer must have at most {} characters", super::MAX_REASON_LENGTH);
        return Err(Refusal::invalid_parameter("answer", "", message).into());
    }
    if !moderation::decide_appeal(tx, id, actor.user, accept, answer.trim())? {
        let message = "There is no open appeal. You or another moderator may have decided it already";
        return Err(Refusal::invalid_parameter("action", id, message).into());
    }
    let detail = json!({ "action": id.to_string(), "accepted": accept });
    audit::append(tx, actor, AuditAction::MODERATION_DECIDE, None, &detail)?;
    let outcome = match (accept, action.lifted_at) {
        (true, None) => {
            undo(tx, actor, &action)?;
            "Your appeal was accepted, and the decision is no longer in force."
        }
        (true, Some(_)) => "Your appeal was accepted. The decision had ended already.",
        (false, _) => "Your appeal was read, and the decision stands.",
    };
    notices::announce_appeal_decision(tx, site, &action, outcome, answer.trim())
}
