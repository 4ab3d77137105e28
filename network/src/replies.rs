//! Replies hidden by the author of a conversation.

use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, UserId};
use store::posts::{self, PostState};
use store::{Tx, event_log, replies};

use crate::{post_actions, users};

/// Hides or unhides a reply. Hidden replies stay accessible, but are marked as hidden. Refused for anyone but the
/// author of the conversation's root.
pub fn set_hidden(tx: &mut Tx<'_>, user: UserId, id: PostId, hidden: bool) -> Result<(), Error> {
    users::find_active(tx, user)?;
    let reply = posts::find_by_id(tx, id)?.filter(|post| matches!(post.state, PostState::Live | PostState::Superseded));
    let Some(reply) = reply else {
        return Err(Refusal::NotFound(ResourceRef::new("tweet", "id", id)).into());
    };
    let root = posts::find_by_id(tx, reply.conversation_id)?;
    let owns = root.is_some_and(|root| root.author_id == user && root.state != PostState::Deleted);
    if !owns || reply.in_reply_to_post_id.is_none() {
        return Err(post_actions::not_permitted());
    }
    let (changed, kind) =
        if hidden { (replies::hide(tx, id)?, "reply.hide") } else { (replies::unhide(tx, id)?, "reply.unhide") };
    if changed {
        event_log::append(tx, kind, user.get(), id.get(), "")?;
    }
    Ok(())
}
