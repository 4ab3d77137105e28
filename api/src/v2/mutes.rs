//! Mutes: create, remove and list.

use base::UserId;
use network::mutes;
use serde_json::json;
use store::graph::{self, RelationKind};
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

use super::follows::TARGET;
use super::user_edges::{ListViewers, respond_user_list};

pub(crate) fn list_muted(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = call.require_own_user("id")?;
        respond_user_list(&call, id, ListViewers::Readers, |tx, id, range| {
            graph::target_page(tx, RelationKind::Mute, id, range)
        })
        .await
    })
}

pub(crate) fn mute(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let source = call.require_own_user("id")?;
        let target: UserId = call.body().required_id(TARGET)?;
        call.write(move |tx| mutes::mute(tx, source, target)).await?;
        call.respond_data(json!({ "muting": true }))
    })
}

pub(crate) fn unmute(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let source = call.require_own_user("source_user_id")?;
        let target: UserId = call.path_id("target_user_id")?;
        call.write(move |tx| Ok(mutes::unmute(tx, source, target)?)).await?;
        call.respond_data(json!({ "muting": false }))
    })
}
