//! What comes on an app's stream, for its owner in a browser.

use base::{Error, Refusal, Vocabulary};
use deliver::streams::{ConnectionRequest, StreamEndpoint, StreamFormat};
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use pages::{Live, Tab};
use serde_json::json;
use store::rules::StreamProduct;
use view::{FieldSelection, ObjectKind, RenderOptions};

use super::Own;
use super::stream::is_enterprise;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::run;
use crate::reply::Reply;

/// As on other pages, and the one script, which reads the stream.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' https: data:; script-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);
/// Posts a second in a browser.
const PACE: u32 = 20;

/// `GET /developer/apps/{id}/stream/live`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let id = own.app.id;
        let count = call.read(move |tx| Ok(store::rules::count(tx, id, StreamProduct::Stream)?));
        let rules = u64::try_from(count.await?).unwrap_or(0);
        let app = own.shown();
        let page = Live {
            frame: own.visit.frame(&call),
            events: format!("{}/events", Tab::Stream.of(&app)),
            app,
            rules,
        };
        let reply = own.visit.page(&call, &page)?;
        Ok(reply.header(CONTENT_SECURITY_POLICY, POLICY))
    })
}

/// `GET /developer/apps/{id}/stream/events`: the stream itself, as the app would have it. Takes one
/// of the app's connections, so that no other site may open it.
pub(crate) fn events(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let site = call.head().headers.get("sec-fetch-site");
        if site.is_some_and(|site| site != "same-origin") {
            return Ok(why(403, "Open it from its own page."));
        }
        let enterprise = is_enterprise(&own);
        let opening = ConnectionRequest {
            app: own.app.id,
            endpoint: StreamEndpoint::Filtered,
            partition: 1,
            replay: false,
            max_connections: StreamEndpoint::Filtered.max_connections(enterprise),
            max_per_second: Some(PACE),
            client: call.address(),
        };
        let session = match call.hub().open(opening).await {
            Ok(session) => session,
            Err(Error::Refused(Refusal::Connection(_))) => {
                let text = "The app has all the connections open that it may have.";
                return Ok(why(429, text));
            }
            Err(stop) => return Err(stop.into()),
        };
        let mut wants = FieldSelection::defaults(ObjectKind::Post);
        wants.add_expansions_param("expansions", "author_id")?;
        let format = StreamFormat {
            selection: wants,
            options: RenderOptions {
                vocabulary: Vocabulary::Post,
                both_metric_names: false,
            },
        };
        let feed = session.feed();
        call.home.streams.join(&session, format, None).await;
        Ok(call.stream(feed))
    })
}

fn why(status: u16, detail: &str) -> Reply {
    Reply::json(status, &json!({ "detail": detail }))
}
