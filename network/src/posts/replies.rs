//! Rules for replies and quotes, and the leading mentions of replies.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::posts::{self, Post};
use store::users::{self, User, UserState};
use store::{Tx, follows, subscriptions};

use super::{NewPost, PostAuthor};
use crate::compose::MAX_LEADING_MENTIONS;
use crate::post_actions;
use crate::visibility::{AccessDenial, find_post_denial, is_blocked};

/// Refused if the user may not reply to the post.
pub(super) fn find_replyable_post(
    tx: &mut Tx<'_>,
    author: &PostAuthor,
    user: &User,
    id: PostId,
) -> Result<Post, Error> {
    let Some(post) = find_addressed_post(tx, user, id)? else {
        let message = "Your reply tweet ID is invalid.";
        return Err(Refusal::invalid_parameter("reply.in_reply_to_tweet_id", id, message).into());
    };
    let root = find_conversation_root(tx, &post)?;
    if let Some(root) = &root
        && is_blocked(tx, user.id, root.author_id)?
    {
        return Err(blocked_refusal(root));
    }
    if post.author_id == user.id {
        return Ok(post);
    }
    if let Some(root) = &root
        && !may_reply(tx, user, root)?
    {
        let detail = "The original Tweet author restricted who can reply to this Tweet.";
        return Err(Refusal::forbidden_with_code(433, detail).into());
    }
    if author.self_serve && !is_mentioned_or_quoted(tx, user.id, &post)? {
        let detail = "Reply to this conversation is not allowed because you have not been \
                      mentioned or otherwise engaged by the author of the post you are replying to.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(post)
}

/// The post replied to or quoted, or the original of a repost; none if it does not exist. Refused if the user may not
/// act on both.
fn find_addressed_post(tx: &mut Tx<'_>, user: &User, id: PostId) -> Result<Option<Post>, Error> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(None);
    };
    check_visible(tx, user, &post)?;
    let Some(original) = post.repost_of_id else {
        return Ok(Some(post));
    };
    let original = posts::find_by_id(tx, original)?;
    if let Some(original) = &original {
        check_visible(tx, user, original)?;
    }
    Ok(original)
}

/// The current version of a conversation's first post.
fn find_conversation_root(tx: &mut Tx<'_>, post: &Post) -> Result<Option<Post>, Fault> {
    let root = posts::find_by_id(tx, post.conversation_id)?;
    match root.as_ref().and_then(|root| root.edit_root_id) {
        Some(first) => Ok(posts::newest_version(tx, first)?.or(root)),
        None => Ok(root),
    }
}

/// Refuses targets that the user may not act on.
fn check_visible(tx: &mut Tx<'_>, user: &User, post: &Post) -> Result<(), Error> {
    let Some(denial) = find_post_denial(tx, user.id, post)? else {
        return Ok(());
    };
    if denial == AccessDenial::Blocked {
        return Err(blocked_refusal(post));
    }
    let detail = "You attempted to reply to a Tweet that is deleted or not visible to you.";
    Err(Refusal::forbidden_with_code(385, detail).into())
}

fn blocked_refusal(post: &Post) -> Error {
    AccessDenial::Blocked.to_refusal(ResourceRef::new("tweet", "id", post.id)).into()
}

/// Whether the root's author allows this user to reply.
fn may_reply(tx: &mut Tx<'_>, user: &User, root: &Post) -> Result<bool, Fault> {
    if root.author_id == user.id {
        return Ok(true);
    }
    let is_welcome = match root.reply_settings.as_str() {
        "following" => follows::exists(tx, root.author_id, user.id)?,
        "mentionedUsers" => false,
        "verified" => user.verified,
        "subscribers" => !subscriptions::filter_subscribed(tx, user.id, &[root.author_id])?.is_empty(),
        _ => true,
    };
    Ok(is_welcome || posts::is_mentioned(tx, user.id, root.id)?)
}

/// Whether the post mentions or quotes the user.
fn is_mentioned_or_quoted(tx: &mut Tx<'_>, user: UserId, post: &Post) -> Result<bool, Fault> {
    if posts::is_mentioned(tx, user, post.id)? {
        return Ok(true);
    }
    let Some(quoted) = post.quoted_post_id else {
        return Ok(false);
    };
    Ok(posts::find_by_id(tx, quoted)?.is_some_and(|quoted| quoted.author_id == user))
}

/// Refused if the user may not see the post, or may not quote it through a self-serve app.
pub(super) fn find_quotable_post(tx: &mut Tx<'_>, author: &PostAuthor, user: &User, id: PostId) -> Result<Post, Error> {
    let Some(post) = find_addressed_post(tx, user, id)? else {
        let message = "Your quote tweet ID is invalid.";
        return Err(Refusal::invalid_parameter("quote_tweet_id", id, message).into());
    };
    if author.self_serve && !is_in_conversation(tx, user.id, &post)? {
        let detail = "Quoting this post is not allowed because you have not been mentioned or are not \
                      part of the conversation thread of the post you are quoting.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(post)
}

/// Whether the user wrote the post or began its conversation, or the post addresses them.
fn is_in_conversation(tx: &mut Tx<'_>, user: UserId, post: &Post) -> Result<bool, Fault> {
    if post.author_id == user || post.in_reply_to_user_id == Some(user) || is_mentioned_or_quoted(tx, user, post)? {
        return Ok(true);
    }
    let root = posts::find_by_id(tx, post.conversation_id)?;
    Ok(root.is_some_and(|root| root.author_id == user))
}

pub(super) fn resolve_reply_settings(new: &NewPost, previous: Option<&Post>) -> String {
    let before = previous.map_or("everyone", |post| &post.reply_settings);
    let settings = Some(new.reply_settings.as_str()).filter(|settings| !settings.is_empty());
    settings.unwrap_or(before).to_owned()
}

/// Refuses unknown users.
pub(super) fn check_excluded_users(tx: &mut Tx<'_>, excluded: &[UserId]) -> Result<(), Error> {
    let known = users::find_by_ids(tx, excluded)?;
    let unknown = excluded.iter().find(|id| !known.iter().any(|user| user.id == **id));
    unknown.map_or(Ok(()), |id| {
        let message = "Your exclude reply user IDs are invalid.";
        Err(Refusal::invalid_parameter("reply.exclude_reply_user_ids", id, message).into())
    })
}

/// The text after everything that may be a leading mention which does not count.
pub(super) fn skip_leading_mentions(text: &str) -> &str {
    let mut rest = text.trim_start();
    for _ in 0..MAX_LEADING_MENTIONS {
        let Some(name) = rest.strip_prefix(['@', '＠']) else {
            break;
        };
        let after = name.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        rest = after.trim_start();
        if rest.len() == after.len() {
            break;
        }
    }
    rest
}

/// The text of a reply with the leading mentions it lacks: of the author replied to and of the users mentioned there,
/// except excluded ones.
pub(super) fn prepend_mentions(tx: &mut Tx<'_>, user: &User, new: &NewPost) -> Result<String, Fault> {
    let parent = new.reply_to.filter(|_| new.auto_populate_reply_metadata);
    let parent = parent.map(|id| post_actions::resolve_original_post(tx, id)).transpose()?.flatten();
    let Some(parent) = parent else {
        return Ok(new.text.clone());
    };
    let mut ids = vec![parent.author_id];
    for id in posts::list_mentioned_users(tx, parent.id)? {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.retain(|id| *id != user.id && !new.exclude_reply_user_ids.contains(id));
    ids.truncate(MAX_LEADING_MENTIONS);
    let known = users::find_by_ids(tx, &ids)?;
    let found = base::text::extract_entities(&new.text);
    let leading = found.leading_mentions(&new.text);
    let mut text = String::new();
    for id in ids {
        let mentionable = known.iter().find(|user| user.id == id && user.state == UserState::Active);
        let mentionable = mentionable.filter(|user| {
            let is_mentioned = |name: &str| name.eq_ignore_ascii_case(&user.username);
            !leading.iter().any(|mention| is_mentioned(&mention.text))
        });
        if let Some(user) = mentionable {
            text.extend(["@", &user.username, " "]);
        }
    }
    text.push_str(&new.text);
    Ok(text)
}

/// Whom a `direct_message_deep_link` names: `https://{host}/messages/compose?recipient_id={id}`.
pub fn message_link_recipient(link: &str) -> Option<UserId> {
    let (_, query) = link.strip_prefix("https://")?.split_once("/messages/compose?")?;
    query.split('&').find_map(|pair| UserId::parse(pair.strip_prefix("recipient_id=")?))
}

/// The link must name an active recipient.
pub(super) fn check_deep_link(tx: &mut Tx<'_>, link: &str) -> Result<(), Error> {
    if link.is_empty() {
        return Ok(());
    }
    let recipient = match message_link_recipient(link) {
        Some(id) => users::find_by_id(tx, id)?,
        None => None,
    };
    if recipient.is_some_and(|user| user.state == UserState::Active) {
        return Ok(());
    }
    let message = "Your direct message deep link is invalid.";
    Err(Refusal::invalid_parameter("direct_message_deep_link", link, message).into())
}
