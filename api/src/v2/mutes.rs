//! Mutes: create, remove and list.

use base::{Error, UserId};
use network::mutes;
use serde_json::json;
use store::graph::{self, RelationKind};
use web::request_context::{HttpReply, RequestContext};

use super::follows::TARGET;
use super::user_edges::{ListViewers, respond_user_list};

pub(crate) async fn list_muted(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.require_own_user("id")?;
    respond_user_list(&call, id, ListViewers::Readers, |tx, id, range| {
        graph::target_page(tx, RelationKind::Mute, id, range)
    })
    .await
}

pub(crate) async fn mute(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_own_user("id")?;
    let target: UserId = call.body().required_id(TARGET)?;
    call.write(move |tx| mutes::mute(tx, source, target)).await?;
    call.respond_data(json!({ "muting": true }))
}

pub(crate) async fn unmute(call: RequestContext) -> Result<HttpReply, Error> {
    let source = call.require_own_user("source_user_id")?;
    let target: UserId = call.path_id("target_user_id")?;
    call.write(move |tx| Ok(mutes::unmute(tx, source, target)?)).await?;
    call.respond_data(json!({ "muting": false }))
}
