//! Mutes: set, lifted, listed.

use base::UserId;
use network::mutes;
use serde_json::json;
use store::graph::{self, RelationKind};

use super::edges::{To, list};
use super::follows::TARGET;
use crate::call::Call;
use crate::endpoint::Pending;

/// `GET /2/users/{id}/muting`.
pub(crate) fn muting(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.own("id")?;
        list(&call, id, To::Readers, |tx, id, span| {
            graph::target_page(tx, RelationKind::Mute, id, span)
        })
        .await
    })
}

/// `POST /2/users/{id}/muting`.
pub(crate) fn mute(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.own("id")?;
        let target: UserId = call.body().id(TARGET)?;
        call.write(move |tx| mutes::mute(tx, source, target))
            .await?;
        call.say(json!({ "muting": true }))
    })
}

/// `DELETE /2/users/{source_user_id}/muting/{target_user_id}`.
pub(crate) fn unmute(call: Call) -> Pending {
    Box::pin(async move {
        let source = call.own("source_user_id")?;
        let target: UserId = call.path_id("target_user_id")?;
        call.write(move |tx| Ok(mutes::unmute(tx, source, target)?))
            .await?;
        call.say(json!({ "muting": false }))
    })
}
