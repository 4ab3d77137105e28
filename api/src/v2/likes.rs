//! Likes: create, remove and list.

use base::{Error, PostId, UserId};
use network::likes;
use serde_json::json;
use web::request_context::{HttpReply, RequestContext};

use super::{POST_ID, edge_pages};

pub(crate) async fn like(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post) = (call.require_own_user("id")?, call.body().required_id(POST_ID)?);
    call.write(move |tx| likes::like(tx, user, post)).await?;
    call.respond_data(json!({ "liked": true }))
}

pub(crate) async fn unlike(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post) = (call.require_own_user("id")?, call.path_id("post_id")?);
    call.write(move |tx| likes::unlike(tx, user, post)).await?;
    call.respond_data(json!({ "liked": false }))
}

pub(crate) async fn list_liking_users(call: RequestContext) -> Result<HttpReply, Error> {
    let (viewer, post): (_, PostId) = (call.require_user()?, call.path_id("id")?);
    let read = move |tx: &mut store::Tx<'_>, range: &_| likes::list_post_likers(tx, viewer, post, range);
    edge_pages::respond_users(&call, read, edge_pages::keep_all_users).await
}

pub(crate) async fn list_liked_posts(call: RequestContext) -> Result<HttpReply, Error> {
    let (viewer, user): (_, UserId) = (call.require_user()?, call.path_id("id")?);
    let read = move |tx: &mut store::Tx<'_>, range: &_| likes::list_user_likes(tx, viewer, user, range);
    edge_pages::respond_posts(&call, read).await
}
