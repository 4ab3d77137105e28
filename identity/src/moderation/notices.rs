//! What the person concerned is told about an action.

use base::{AccountTimeZone, Error, Fault, Secret, UserId};
use store::Tx;
use store::moderation::{ModerationAction, ModerationKind};
use store::users::{self, User};

use super::appeals::{APPEAL, APPEAL_PERIOD_MS};
use crate::email_links;
use network::emails::{self, APPEAL_PATH, EmailSite};
use network::{member_time_zones, notifications};

/// Where members see what was decided about their account.
pub(super) const DECISIONS_PATH: &str = "/settings/moderation";

pub(super) fn announce_action(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    user: &User,
    action: &ModerationAction,
) -> Result<(), Error> {
    let zone = member_time_zones::find(tx, user.id)?;
    let text = describe_action(action, &zone);
    notifications::notify_user(tx, user.id, &text, DECISIONS_PATH)?;
    if !user.email_confirmed || user.email.is_empty() {
        return Ok(());
    }
    // Whoever cannot sign in needs a way to appeal.
    let cannot_sign_in = matches!(action.kind, ModerationKind::Suspend | ModerationKind::Ban);
    let (link, expires_at) = if cannot_sign_in {
        let secret = create_appeal_link(tx, action, APPEAL_PERIOD_MS)?;
        (site.build_link(APPEAL_PATH, &secret), Some(tx.now().plus_ms(APPEAL_PERIOD_MS)))
    } else {
        (site.build_url(DECISIONS_PATH), None)
    };
    let text = format!("{text}\n\nTo read more or to appeal:\n\n{link}");
    Ok(emails::enqueue_to_member(tx, user, site.account_subject(user), &text, expires_at)?)
}

pub(super) fn announce_end(tx: &mut Tx<'_>, site: Option<&EmailSite>, action: &ModerationAction) -> Result<(), Error> {
    let Some(user) = users::find_by_id(tx, action.user_id)? else {
        return Ok(());
    };
    let text = format!("{} It is no longer in force.", describe_kind(action.kind));
    notifications::notify_user(tx, user.id, &text, DECISIONS_PATH)?;
    if let Some(site) = site {
        emails::enqueue_to_member(tx, &user, site.account_subject(&user), &text, None)?;
    }
    Ok(())
}

pub(super) fn announce_appeal_decision(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    action: &ModerationAction,
    outcome: &str,
    answer: &str,
) -> Result<(), Error> {
    let Some(user) = users::find_by_id(tx, action.user_id)? else {
        return Ok(());
    };
    let answer = if answer.is_empty() { String::new() } else { format!(" The answer: {}", end_sentence(answer)) };
    let text = format!("{outcome}{answer} The decision was: {}", describe_kind(action.kind));
    notifications::notify_user(tx, user.id, &text, DECISIONS_PATH)?;
    Ok(emails::enqueue_to_member(tx, &user, site.account_subject(&user), &text, None)?)
}

/// The link stores the action instead of an address.
fn create_appeal_link(tx: &mut Tx<'_>, action: &ModerationAction, ttl_ms: i64) -> Result<Secret, Fault> {
    email_links::create_link(tx, APPEAL, action.user_id, &action.id.to_string(), ttl_ms)
}

/// A link for someone whose suspended account does not sign in. None if no decision suspended it.
pub(crate) fn find_suspension_link(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Secret>, Fault> {
    let suspension = store::moderation::find_suspension(tx, user)?;
    suspension.map(|action| create_appeal_link(tx, &action, email_links::TTL_MS)).transpose()
}

/// A sentence to the person concerned.
pub const fn describe_kind(kind: ModerationKind) -> &'static str {
    match kind {
        ModerationKind::Remove => "A moderator removed a post of yours.",
        ModerationKind::Warn => "A moderator warned you.",
        ModerationKind::Label => "A moderator marked a post of yours as sensitive.",
        ModerationKind::Limit => "A moderator limited who finds your posts.",
        ModerationKind::Silence => "A moderator stopped your account from writing.",
        ModerationKind::Suspend => "A moderator suspended your account.",
        ModerationKind::Ban => "Your account was banned.",
    }
}

/// With a full stop, unless the text ends like a sentence already.
fn end_sentence(text: &str) -> String {
    let ends = text.ends_with(|last: char| !last.is_alphanumeric() && !")]\"'”’".contains(last));
    if ends { text.to_owned() } else { format!("{text}.") }
}

fn describe_action(action: &ModerationAction, zone: &AccountTimeZone) -> String {
    let reason =
        if action.reason.is_empty() { String::new() } else { format!(" Reason: {}", end_sentence(&action.reason)) };
    let end = action.ends_at.map_or_else(String::new, |end| format!(" It ends on {}.", zone.format_long(end)));
    format!("{}{reason}{end}", describe_kind(action.kind))
}
