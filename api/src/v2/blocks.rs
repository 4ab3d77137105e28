//! Blocks of users and of their direct messages.

use base::{Error, UserId};
use network::blocks;
use serde_json::json;
use store::graph::{self, RelationKind};
use web::request_context::{HttpReply, RequestContext};

use super::follows::TARGET;
use super::user_edges::{ListViewers, respond_user_list};

pub(crate) async fn list_blocked(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.require_own_user("id")?;
    respond_user_list(&call, id, ListViewers::Readers, |tx, id, range| {
        graph::target_page(tx, RelationKind::Block, id, range)
    })
    .await
}

pub(crate) async fn block(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_own_user("id")?;
    let target: UserId = call.body().required_id(TARGET)?;
    call.write(move |tx| blocks::block(tx, source, target)).await?;
    call.respond_data(json!({ "blocking": true }))
}

pub(crate) async fn unblock(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_own_user("source_user_id")?;
    let target: UserId = call.path_id("target_user_id")?;
    call.write(move |tx| Ok(blocks::unblock(tx, source, target)?)).await?;
    call.respond_data(json!({ "blocking": false }))
}

pub(crate) async fn block_messages(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_user()?;
    let target: UserId = call.path_id("id")?;
    call.write(move |tx| blocks::block_messages(tx, source, target)).await?;
    call.respond_data(json!({ "blocked": true }))
}

pub(crate) async fn unblock_messages(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_user()?;
    let target: UserId = call.path_id("id")?;
    call.write(move |tx| blocks::unblock_messages(tx, source, target)).await?;
    call.respond_data(json!({ "blocked": false }))
}
