//! Follows: create, remove and list.

use base::{Error, UserId};
use network::follows as rules;
use serde_json::json;
use store::follows;
use web::request_context::{HttpReply, RequestContext};

use super::user_edges::{ListViewers, respond_user_list};

pub(super) const TARGET: &str = "target_user_id";

pub(crate) async fn follow(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_own_user("id")?;
    let target: UserId = call.body().required_id(TARGET)?;
    let result = call.write(move |tx| rules::follow(tx, source, target));
    let state = result.await?;
    call.respond_data(json!({
        "following": state.following,
        "pending_follow": state.pending,
    }))
}

pub(crate) async fn unfollow(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_own_user("source_user_id")?;
    let target: UserId = call.path_id("target_user_id")?;
    call.write(move |tx| Ok(rules::unfollow(tx, source, target)?)).await?;
    call.respond_data(json!({ "following": false }))
}

pub(crate) async fn list_followers(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id("id")?;
    respond_user_list(&call, id, ListViewers::Readers, follows::follower_page).await
}

pub(crate) async fn list_following(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id("id")?;
    respond_user_list(&call, id, ListViewers::Readers, follows::following_page).await
}
