//! What moderators decide about posts and accounts, and undoing it.

mod appeals;
mod effects;
mod notices;

use base::refusal::{RefusalKind, ResourceRef};
use base::{Error, PostId, Refusal, Time, UserId};
use serde_json::{Value, json};
use store::moderation::{self, ModerationAction, ModerationKind};
use store::posts::{self, Post};
use store::reports::ReportSubjectKind;
use store::users::User;
use store::{Tx, users};

use network::audit::{self, AuditAction, AuditActor};
use network::emails::EmailSite;
use network::post_limits;
use network::user_roles::{self, UserRole};

pub use appeals::{MAX_APPEAL_LENGTH, appeal, appeal_by_link, decide_appeal, find_appeal_link, may_be_appealed};
pub use notices::describe_kind;
pub(crate) use notices::find_suspension_link;
pub use store::moderation::{
    Appeal, ModerationAction as Action, ModerationKind as Kind, count_undecided, find_appeal, list, list_by_user,
    list_open_appeals, next_end,
};

/// Characters.
pub const MAX_REASON_LENGTH: usize = 1_000;
/// The longest temporary action: a year.
const MAX_DURATION_MS: i64 = 366 * 24 * 3600 * 1000;

/// Every kind by its name.
pub const KIND_NAMES: [(ModerationKind, &str); 7] = [
    (ModerationKind::Remove, "remove"),
    (ModerationKind::Warn, "warn"),
    (ModerationKind::Label, "label"),
    (ModerationKind::Limit, "limit"),
    (ModerationKind::Silence, "silence"),
    (ModerationKind::Suspend, "suspend"),
    (ModerationKind::Ban, "ban"),
];

pub fn kind_name(kind: ModerationKind) -> &'static str {
    KIND_NAMES.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModerationTarget {
    Post(PostId),
    Account(UserId),
}

#[derive(Clone, Debug)]
pub struct NewModerationAction {
    pub kind: ModerationKind,
    pub target: ModerationTarget,
    /// The person concerned reads it. Required for a ban.
    pub reason: String,
    /// Required for a suspension; possible for limits and silences of accounts.
    pub ends_at: Option<Time>,
}

const fn needed_role(kind: ModerationKind) -> UserRole {
    match kind {
        ModerationKind::Ban => UserRole::Admin,
        _ => UserRole::Moderator,
    }
}

fn validate(tx: &Tx<'_>, new: &NewModerationAction) -> Result<(), Refusal> {
    use ModerationKind::{Ban, Label, Limit, Remove, Silence, Suspend, Warn};
    let is_about_post = matches!(new.target, ModerationTarget::Post(_));
    let name = kind_name(new.kind);
    match new.kind {
        Remove | Label if !is_about_post => {
            return Err(Refusal::invalid_parameter("target", name, format!("[{name}] is about a post")));
        }
        Warn | Silence | Suspend | Ban if is_about_post => {
            return Err(Refusal::invalid_parameter("target", name, format!("[{name}] is about an account")));
        }
        Ban if new.reason.trim().is_empty() => return Err(Refusal::missing_parameter("reason")),
        Suspend if new.ends_at.is_none() => {
            let message = "A suspension has an end, such as [7d]; use [ban] for one without";
            return Err(Refusal::invalid_parameter("for", "", message));
        }
        _ => {}
    }
    if new.reason.chars().count() > MAX_REASON_LENGTH {
        let message = format!("The reason must have at most {MAX_REASON_LENGTH} characters");
        return Err(Refusal::invalid_parameter("reason", "", message));
    }
    let may_end = matches!(new.kind, Limit | Silence | Suspend) && !is_about_post;
    match new.ends_at {
        Some(_) if !may_end => {
            let message = "Only limits, silences and suspensions of accounts have an end";
            Err(Refusal::invalid_parameter("for", name, message))
        }
        Some(end) if end <= tx.now() || end > tx.now().plus_ms(MAX_DURATION_MS) => {
            Err(Refusal::invalid_parameter("for", end, "The end must be within a year from now"))
        }
        _ => Ok(()),
    }
}

/// Takes an action: state, counters, events, audit entry and notices together. Refused without the role, about oneself,
/// about someone with the same or a higher role, if the same action is in force, and for a suspension of the last owner.
pub fn act(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    actor: &AuditActor,
    new: &NewModerationAction,
) -> Result<ModerationAction, Error> {
    validate(tx, new)?;
    let (user, _) = load_target(tx, new.target)?;
    user_roles::require_authority(tx, actor, needed_role(new.kind), user.id)?;
    users::lock(tx, user.id)?;
    // The account may have changed, or edited or deleted the post, until it was locked.
    let (user, post) = load_target(tx, new.target)?;
    require_not_in_force(tx, new.kind, &user, post.as_ref())?;
    if matches!(new.kind, ModerationKind::Suspend | ModerationKind::Ban) {
        user_roles::require_other_owner(tx, user.id)?;
    }
    let content = match &post {
        Some(post) => effects::render_undo_data(tx, new.kind, post)?,
        None => String::new(),
    };
    let action = ModerationAction {
        id: tx.next_id::<()>().get(),
        kind: new.kind,
        user_id: user.id,
        post_id: post.as_ref().map(|post| post.id),
        moderator_id: actor.user,
        reason: new.reason.trim().to_owned(),
        ends_at: new.ends_at,
        content,
        lifted_at: None,
    };
    moderation::insert(tx, &action)?;
    match &post {
        Some(post) => effects::apply_to_post(tx, action.kind, post)?,
        None => effects::apply_to_account(tx, actor, &user)?,
    }
    if action.kind == ModerationKind::Ban {
        store::sessions::revoke_user_tokens(tx, user.id)?;
        network::activity::end_user_subscriptions(tx, user.id)?;
    }
    close_reports(tx, actor, &action)?;
    audit::append(tx, actor, AuditAction::MODERATION_ACT, None, &action_detail(&action))?;
    notices::announce_action(tx, site, &user, &action)?;
    Ok(action)
}

fn load_target(tx: &mut Tx<'_>, target: ModerationTarget) -> Result<(User, Option<Post>), Error> {
    match target {
        ModerationTarget::Account(id) => Ok((network::users::find(tx, id)?, None)),
        ModerationTarget::Post(id) => {
            let missing = || Error::from(Refusal::NotFound(ResourceRef::new("tweet", "id", id)));
            let post = post_limits::find_newest_version(tx, id)?.ok_or_else(missing)?;
            // A deleted account may be restored with its posts.
            let author = users::find_by_id(tx, post.author_id)?.ok_or_else(missing)?;
            Ok((author, Some(post)))
        }
    }
}

fn require_not_in_force(tx: &mut Tx<'_>, kind: ModerationKind, user: &User, post: Option<&Post>) -> Result<(), Error> {
    let is_in_force = match post {
        Some(post) => moderation::is_post_action_active(tx, post_limits::root_of(post), kind)?,
        None if kind == ModerationKind::Warn => false,
        None => moderation::active_account_kinds(tx, user.id)?.contains(&kind),
    };
    if is_in_force {
        let message = format!("The action [{}] is already in force", kind_name(kind));
        return Err(Refusal::named_reason(RefusalKind::Conflict, "kind", kind_name(kind), message).into());
    }
    Ok(())
}

/// The text of the post that an action is about, also if the action removed it. Empty for an action about an account.
pub fn find_post_text(tx: &mut Tx<'_>, action: &ModerationAction) -> Result<String, Error> {
    if let Some(removed) = effects::removed_text(action)? {
        return Ok(removed);
    }
    let post = action.post_id.map(|id| posts::find_by_id(tx, id)).transpose()?.flatten();
    Ok(post.map(|post| post.text).unwrap_or_default())
}

/// Undoes an action. What it deleted besides the content, such as likes of a removed post, stays deleted.
pub fn lift(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, id: i64) -> Result<ModerationAction, Error> {
    let action = find_action(tx, id)?;
    user_roles::require_authority(tx, actor, needed_role(action.kind), action.user_id)?;
    undo(tx, actor, &action)?;
    notices::announce_end(tx, Some(site), &action)?;
    find_action(tx, id)
}

pub fn find_action(tx: &mut Tx<'_>, id: i64) -> Result<ModerationAction, Error> {
    let missing = || network::lookup::not_found("action", &id.to_string());
    moderation::find(tx, id)?.ok_or_else(missing)
}

/// Ends the actions whose time has come; returns how many.
pub fn lift_ended(tx: &mut Tx<'_>, limit: i64) -> Result<usize, Error> {
    let ended = moderation::list_ended(tx, limit)?;
    for id in &ended {
        let action = find_action(tx, *id)?;
        undo(tx, &AuditActor::default(), &action)?;
        notices::announce_end(tx, None, &action)?;
    }
    Ok(ended.len())
}

fn undo(tx: &mut Tx<'_>, actor: &AuditActor, action: &ModerationAction) -> Result<(), Error> {
    users::lock(tx, action.user_id)?;
    if !moderation::mark_lifted(tx, action.id, actor.user)? {
        let message = "The action is no longer in force";
        return Err(Refusal::named_reason(RefusalKind::Conflict, "action", action.id, message).into());
    }
    match action.post_id {
        Some(post) => effects::undo_on_post(tx, action, post)?,
        None => {
            if let Some(user) = users::find_by_id(tx, action.user_id)? {
                effects::apply_to_account(tx, actor, &user)?;
            }
        }
    }
    Ok(audit::append(tx, actor, AuditAction::MODERATION_LIFT, None, &action_detail(action))?)
}

/// Reports about the subject of an action are settled by it.
fn close_reports(tx: &mut Tx<'_>, actor: &AuditActor, action: &ModerationAction) -> Result<(), Error> {
    let (kind, subject) = match action.post_id {
        Some(post) => (ReportSubjectKind::Post, post.get()),
        None => (ReportSubjectKind::User, action.user_id.get()),
    };
    network::reports::close(tx, actor, kind, subject, true)
}

fn action_detail(action: &ModerationAction) -> Value {
    let mut detail = json!({
        "action": action.id.to_string(),
        "kind": kind_name(action.kind),
        "user": action.user_id.to_string(),
    });
    if let (Some(post), Some(members)) = (action.post_id, detail.as_object_mut()) {
        members.insert("post".to_owned(), json!(post.to_string()));
    }
    detail
}
