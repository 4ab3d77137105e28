//! Stream connections: list and close (contract core §9.5).

use base::Error;
use deliver::streams::DisconnectReason;
use network::connections::{self as network_connections, ConnectionSelector};
use serde_json::{Value, json};
use store::connections::{self as stored, StreamConnectionFilter};
use view::ObjectKind;
use web::request_context::{HttpReply, RequestContext};

/// `GET /2/connections`: newest first.
pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, page) = (call.require_caller()?.app_id, call.page_request()?);
    // Show connections that have just ended as inactive.
    call.stream_hub().record_ended().await?;
    let (above, below) = page.descending_bounds();
    let filter = StreamConnectionFilter {
        open: match call.query_word("status") {
            "all" => None,
            "inactive" => Some(false),
            _ => Some(true),
        },
        endpoints: call.query_texts("endpoints").join(","),
        above,
        below,
        ascending: page.is_backward(),
        limit: page.fetch_limit(),
    };
    let backward = page.is_backward();
    let mut found = call.read(move |tx| Ok(stored::list_by_app(tx, app, &filter)?)).await?;
    if backward {
        found.reverse();
    }
    let slice = page.slice_rows(found, |row| row.id);
    let request = call.render_request(ObjectKind::CONNECTION);
    let answer = view::render_connections(&request, &slice.rows);
    call.respond_page(&answer, &slice.tokens)
}

pub(crate) async fn close_all(call: RequestContext) -> Result<HttpReply, Error> {
    close_matching(&call, ConnectionSelector::All).await
}

pub(crate) async fn close_endpoint(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("endpoint_id")?.to_owned();
    close_matching(&call, ConnectionSelector::Endpoint(name)).await
}

/// `DELETE /2/connections`: those that the body names.
pub(crate) async fn close_listed(call: RequestContext) -> Result<HttpReply, Error> {
    let uuids = call.body().text_array("uuids");
    let uuids: Vec<String> = uuids.map(str::to_owned).collect();
    close_matching(&call, ConnectionSelector::Named(uuids)).await
}

async fn close_matching(call: &RequestContext, selector: ConnectionSelector) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    // Do not close connections that have just ended.
    call.stream_hub().record_ended().await?;
    let reason = DisconnectReason::Killed;
    let ended = call.write(move |tx| Ok(network_connections::terminate(tx, app, &selector, reason.name())?)).await?;
    // Other nodes close theirs when they read the event log.
    let is_closed = |uuid: &str| ended.iter().any(|one| one.uuid == uuid);
    let sessions = call.stream_hub().sessions(|session| session.app() == app);
    for session in sessions.iter().filter(|session| is_closed(session.uuid())) {
        session.end(reason);
    }
    let results: Vec<Value> = ended
        .iter()
        .map(|one| match one.failure {
            None => json!({ "uuid": one.uuid, "success": true }),
            Some(reason) => json!({ "uuid": one.uuid, "success": false, "error_message": reason }),
        })
        .collect();
    let failed = ended.iter().filter(|one| one.failure.is_some()).count();
    call.respond_data(json!({
        "successful_kills": ended.len() - failed,
        "failed_kills": failed,
        "results": results,
    }))
}
