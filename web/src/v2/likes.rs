//! Likes, given, taken back and listed.

use base::{PostId, UserId};
use network::likes;
use serde_json::json;

use super::{POST_ID, linked};
use crate::call::Call;
use crate::endpoint::Pending;

/// `POST /2/users/{id}/likes`.
pub(crate) fn like(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post) = (call.own("id")?, call.body().id(POST_ID)?);
        call.write(move |tx| likes::like(tx, user, post)).await?;
        call.say(json!({ "liked": true }))
    })
}

/// `DELETE /2/users/{id}/likes/{post_id}`.
pub(crate) fn unlike(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post) = (call.own("id")?, call.path_id("post_id")?);
        call.write(move |tx| likes::unlike(tx, user, post)).await?;
        call.say(json!({ "liked": false }))
    })
}

/// `GET /2/posts/{id}/liking_users`.
pub(crate) fn of_post(call: Call) -> Pending {
    Box::pin(async move {
        let (viewer, post): (_, PostId) = (call.user()?, call.path_id("id")?);
        let read =
            move |tx: &mut store::Tx<'_>, span: &_| likes::list_post_likers(tx, viewer, post, span);
        linked::users(&call, read, linked::everyone).await
    })
}

/// `GET /2/users/{id}/liked_posts`.
pub(crate) fn of_user(call: Call) -> Pending {
    Box::pin(async move {
        let (viewer, user): (_, UserId) = (call.user()?, call.path_id("id")?);
        let read =
            move |tx: &mut store::Tx<'_>, span: &_| likes::list_user_likes(tx, viewer, user, span);
        linked::posts(&call, read).await
    })
}
