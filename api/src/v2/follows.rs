//! Follows: create, remove and list.

use base::UserId;
use network::follows as rules;
use serde_json::json;
use store::follows;
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

use super::user_edges::{ListViewers, respond_user_list};

pub(super) const TARGET: &str = "target_user_id";

pub(crate) fn follow(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let source = call.require_own_user("id")?;
        let target: UserId = call.body().required_id(TARGET)?;
        let result = call.write(move |tx| rules::follow(tx, source, target));
        let state = result.await?;
        call.respond_data(json!({
            "following": state.following,
            "pending_follow": state.pending,
        }))
    })
}

pub(crate) fn unfollow(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let source = call.require_own_user("source_user_id")?;
        let target: UserId = call.path_id("target_user_id")?;
        call.write(move |tx| Ok(rules::unfollow(tx, source, target)?)).await?;
        call.respond_data(json!({ "following": false }))
    })
}

pub(crate) fn list_followers(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = call.path_id("id")?;
        respond_user_list(&call, id, ListViewers::Readers, follows::follower_page).await
    })
}

pub(crate) fn list_following(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = call.path_id("id")?;
        respond_user_list(&call, id, ListViewers::Readers, follows::following_page).await
    })
}
