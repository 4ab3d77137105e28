//! The live view of an app's stream.

use std::sync::Arc;
use std::time::Duration;

use crate::site::PageExit;
use base::{Error, Refusal, Vocabulary};
use deliver::streams::{ConnectionRequest, StreamEndpoint, StreamFormat};
use futures_util::StreamExt as _;
use pages::{AppTab, LiveStreamPage};
use serde_json::json;
use store::Store;
use store::rules::StreamProduct;
use tokio::time::sleep;
use view::{FieldSelection, ObjectKind, RenderOptions};
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::security_headers::allow_scripts;

use super::OwnedApp;
use super::stream::is_enterprise;

/// Limit per browser.
const POSTS_PER_SECOND: u32 = 20;
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(5);

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let id = own.app.id;
    let count = call.read(move |tx| Ok(store::rules::count(tx, id, StreamProduct::Stream)?));
    let rules = u64::try_from(count.await?).unwrap_or(0);
    let app = own.app_ref();
    let page = LiveStreamPage {
        frame: own.visit.page_frame(&call),
        events: format!("{}/events", AppTab::Stream.path_for_app(&app)),
        app,
        rules,
    };
    Ok(allow_scripts(own.visit.render_page(&call, &page)?))
}

/// `GET /developer/apps/{id}/stream/events`: the stream itself, as the app would have it. Takes one
/// of the app's connections, so that no other site may open it.
pub(crate) async fn events(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let site = call.head().headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin") {
        return Ok(error_reply(403, "The stream can only be opened from its own page."));
    }
    let enterprise = is_enterprise(&own);
    let opening = ConnectionRequest {
        app: own.app.id,
        endpoint: StreamEndpoint::Filtered,
        partition: 1,
        replay: false,
        max_connections: StreamEndpoint::Filtered.max_connections(enterprise),
        max_per_second: Some(POSTS_PER_SECOND),
        client: call.client_address(),
    };
    let session = match call.stream_hub().open(opening).await {
        Ok(session) => session,
        Err(Error::Refused(Refusal::Connection(_))) => {
            let text = "The app has reached its limit of open stream connections.";
            return Ok(error_reply(429, text));
        }
        Err(stop) => return Err(stop.into()),
    };
    let mut wants = FieldSelection::defaults(ObjectKind::POST);
    wants.add_expansions_param("expansions", "author_id")?;
    let format = StreamFormat {
        selection: wants,
        options: RenderOptions { vocabulary: Vocabulary::Post, both_metric_names: false, newer_models: false },
    };
    let session_end = wait_for_session_end(Arc::clone(call.store()), own.visit.person.session.digest);
    let feed = session.feed().take_until(Box::pin(session_end));
    call.state.post_streams.join(&session, format, None).await;
    Ok(call.respond_stream(feed))
}

/// Returns once the browser's session, given by its SHA-256, was revoked or has expired.
async fn wait_for_session_end(store: Arc<Store>, digest: [u8; 32]) {
    loop {
        sleep(SESSION_CHECK_INTERVAL).await;
        let found = store.read(move |tx| identity::sessions::find_user(tx, &digest)).await;
        if matches!(found, Err(Error::Refused(_))) {
            return;
        }
    }
}

fn error_reply(status: u16, detail: &str) -> HttpReply {
    HttpReply::json(status, &json!({ "detail": detail }))
}
