//! What an action changes, and how that is undone.

use base::{Error, Fault, PostId, UserId};
use serde_json::{Value, json};
use store::moderation::{self, ModerationAction, ModerationKind};
use store::posts::{self, Post};
use store::users::{User, UserState};
use store::{Tx, event_log};

use super::appeals::APPEAL_PERIOD_MS;
use crate::{account_states, apps};
use network::audit::AuditActor;
use network::media;
use network::post_limits::{root_of, set_post_limited};

/// How long an appeal on the last day may take to be decided.
const APPEAL_DECISION_MS: i64 = 30 * 24 * 3600 * 1000;
/// Of a labelled post whose author had marked its media as sensitive.
const ALREADY_SENSITIVE: &str = r#"{"possibly_sensitive":true}"#;

/// What [`undo_on_post`] needs of a post before the action.
pub(super) fn render_undo_data(tx: &mut Tx<'_>, kind: ModerationKind, post: &Post) -> Result<String, Fault> {
    match kind {
        ModerationKind::Remove => post_content(tx, post),
        ModerationKind::Label if post.possibly_sensitive => Ok(ALREADY_SENSITIVE.to_owned()),
        _ => Ok(String::new()),
    }
}

fn post_content(tx: &mut Tx<'_>, post: &Post) -> Result<String, Fault> {
    let mentioned = posts::list_mentioned_users(tx, post.id)?;
    let content = json!({
        "text": post.text,
        "entities": post.entities,
        "short_entities": post.short_entities,
        "context_annotations": post.context_annotations,
        "media_keys": post.media_keys,
        "geo": post.geo,
        "place_id": post.place_id,
        "card_uri": post.card_uri,
        "mentioned": mentioned.iter().map(UserId::to_string).collect::<Vec<_>>(),
    });
    Ok(content.to_string())
}

pub(super) fn apply_to_post(tx: &mut Tx<'_>, kind: ModerationKind, post: &Post) -> Result<(), Error> {
    match kind {
        ModerationKind::Remove => {
            let expires_at = tx.now().plus_ms(APPEAL_PERIOD_MS + APPEAL_DECISION_MS);
            network::posts::remove(tx, post, expires_at)
        }
        ModerationKind::Label => Ok(moderation::set_post_sensitive(tx, root_of(post), true)?),
        ModerationKind::Limit => Ok(set_post_limited(tx, post, true)?),
        _ => Ok(()),
    }
}

pub(super) fn undo_on_post(tx: &mut Tx<'_>, action: &ModerationAction, id: PostId) -> Result<(), Error> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(());
    };
    match action.kind {
        ModerationKind::Remove => Ok(restore_post(tx, post, &action.content)?),
        ModerationKind::Label if action.content == ALREADY_SENSITIVE => Ok(()),
        ModerationKind::Label => Ok(moderation::set_post_sensitive(tx, root_of(&post), false)?),
        ModerationKind::Limit => Ok(set_post_limited(tx, &post, false)?),
        _ => Ok(()),
    }
}

/// Brings an account into the state that the actions in force ask for.
pub(super) fn apply_to_account(tx: &mut Tx<'_>, actor: &AuditActor, user: &User) -> Result<(), Error> {
    let kinds = moderation::active_account_kinds(tx, user.id)?;
    let has = |kind| kinds.contains(&kind);
    let (limited, silenced) = (has(ModerationKind::Limit), has(ModerationKind::Silence));
    if (limited, silenced) != (user.limited, user.silenced) {
        moderation::set_account_restrictions(tx, user.id, limited, silenced)?;
    }
    if limited != user.limited {
        event_log::append(tx, "user.limit", user.id.get(), user.id.get(), "")?;
    }
    apps::set_owner_banned(tx, user.id, has(ModerationKind::Ban))?;
    match (has(ModerationKind::Suspend) || has(ModerationKind::Ban), user.state) {
        (true, UserState::Active) => account_states::set_suspended(tx, actor, user.clone(), true),
        (false, UserState::Suspended) => account_states::set_suspended(tx, actor, user.clone(), false),
        _ => Ok(()),
    }
}

/// None if the action removed no post.
pub(super) fn removed_text(action: &ModerationAction) -> Result<Option<String>, Fault> {
    if action.kind != ModerationKind::Remove || action.content.is_empty() {
        return Ok(None);
    }
    let content = parse_content(&action.content)?;
    Ok(content.get("text").and_then(Value::as_str).map(str::to_owned))
}

fn parse_content(content: &str) -> Result<Value, Fault> {
    serde_json::from_str(content).map_err(Fault::context("reading a removed post"))
}

fn restore_post(tx: &mut Tx<'_>, removed: Post, content: &str) -> Result<(), Fault> {
    let deletion = store::account_deletions::find(tx, removed.author_id)?;
    if content.is_empty() || deletion.is_some_and(|deletion| deletion.started_at.is_some()) {
        // The author's account was or is being erased.
        return Ok(());
    }
    let content = parse_content(content)?;
    let text = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let post = Post {
        text: text("text"),
        entities: text("entities"),
        short_entities: text("short_entities"),
        context_annotations: text("context_annotations"),
        media_keys: text("media_keys"),
        geo: text("geo"),
        place_id: Some(text("place_id")).filter(|place| !place.is_empty()),
        card_uri: text("card_uri"),
        ..removed
    };
    let mentioned = content.get("mentioned").and_then(Value::as_array).into_iter().flatten();
    let mentioned: Vec<UserId> = mentioned.filter_map(|id| UserId::parse(id.as_str()?)).collect();
    if !posts::restore(tx, &post, &mentioned)? {
        return Ok(());
    }
    let attached = media::list_attached_media(tx, &post)?;
    store::media::add_post_uses(tx, &attached)?;
    // Timelines take it in as they do new posts.
    let body = if post.nullcast { r#"{"nullcast":true}"# } else { "" };
    event_log::append(tx, "post.restore", post.author_id.get(), post.id.get(), body)
}
