//! Who follows whom: begun, ended, listed.

use base::{UserId, VocabularyWord};
use network::follows as rules;
use serde_json::json;
use store::follows;

use super::edges::{To, list};
use crate::call::Call;
use crate::endpoint::Pending;

/// The user that a body names.
pub(super) const TARGET: VocabularyWord = VocabularyWord::same_in_both("target_user_id");

/// `POST /2/users/{id}/following`.
pub(crate) fn follow(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.own("id")?;
        let target: UserId = call.body().id(TARGET)?;
        let done = call.write(move |tx| rules::follow(tx, source, target));
        let standing = done.await?;
        call.say(json!({
            "following": standing.following,
            "pending_follow": standing.pending,
        }))
    })
}

/// `DELETE /2/users/{source_user_id}/following/{target_user_id}`.
pub(crate) fn unfollow(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.own("source_user_id")?;
        let target: UserId = call.path_id("target_user_id")?;
        call.write(move |tx| Ok(rules::unfollow(tx, source, target)?))
            .await?;
        call.say(json!({ "following": false }))
    })
}

/// `GET /2/users/{id}/followers`.
pub(crate) fn followers(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.path_id("id")?;
        list(&call, id, To::Readers, follows::follower_page).await
    })
}

/// `GET /2/users/{id}/following`.
pub(crate) fn following(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.path_id("id")?;
        list(&call, id, To::Readers, follows::following_page).await
    })
}
