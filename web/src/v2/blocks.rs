//! Blocks, of users and of their direct messages: set, lifted, listed.

use base::UserId;
use network::blocks;
use serde_json::json;
use store::graph::{self, RelationKind};

use super::edges::{To, list};
use super::follows::TARGET;
use crate::call::Call;
use crate::endpoint::Pending;

/// `GET /2/users/{id}/blocking`.
pub(crate) fn blocking(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.own("id")?;
        list(&call, id, To::Readers, |tx, id, span| {
            graph::target_page(tx, RelationKind::Block, id, span)
        })
        .await
    })
}

/// `POST /2/users/{id}/blocking`.
pub(crate) fn block(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.own("id")?;
        let target: UserId = call.body().id(TARGET)?;
        call.write(move |tx| blocks::block(tx, source, target))
            .await?;
        call.say(json!({ "blocking": true }))
    })
}

/// `DELETE /2/users/{source_user_id}/blocking/{target_user_id}`.
pub(crate) fn unblock(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.own("source_user_id")?;
        let target: UserId = call.path_id("target_user_id")?;
        call.write(move |tx| Ok(blocks::unblock(tx, source, target)?))
            .await?;
        call.say(json!({ "blocking": false }))
    })
}

/// `POST /2/users/{id}/dm/block`.
pub(crate) fn block_messages(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.user()?;
        let target: UserId = call.path_id("id")?;
        call.write(move |tx| blocks::block_messages(tx, source, target))
            .await?;
        call.say(json!({ "blocked": true }))
    })
}

/// `POST /2/users/{id}/dm/unblock`.
pub(crate) fn unblock_messages(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.user()?;
        let target: UserId = call.path_id("id")?;
        call.write(move |tx| blocks::unblock_messages(tx, source, target))
            .await?;
        call.say(json!({ "blocked": false }))
    })
}
