//! What advertisers' sites load: the script of web event tags, and the image by which it reports events.

use ads_delivery::conversions::{CLICK_ID_PARAMETER, attribute_conversion, parse_micros};
use ads_delivery::web_events::{self, DEFAULT_CURRENCY, Identifier, WebEvent};
use ads_engine::CURRENCIES;
use base::Error;
use http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::BrowserVisit;
use super::card_links::is_browser;
use super::forms::PageQuery;

const MAX_TEXT: usize = 255;
/// Sites keep the path of the script, so it must be asked for again.
const SCRIPT_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=3600");
/// One transparent pixel.
const IMAGE: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

pub(crate) async fn serve_script(_call: RequestContext) -> Result<HttpReply, Error> {
    let reply = HttpReply::bytes(200, HeaderValue::from_static("text/javascript; charset=utf-8"), pages::TAG_SCRIPT);
    Ok(reply.header(CACHE_CONTROL, SCRIPT_CACHE))
}

/// `GET /ads/tag.gif`: answered with the image whatever it reports, since nobody on the site can mend it.
pub(crate) async fn record_event(call: RequestContext) -> Result<HttpReply, Error> {
    if is_browser(&call.head().headers) && !declines_tracking(&call) {
        let recorded = record(&call).await;
        if let Err(error) = recorded {
            tracing::warn!(%error, "failed to record an event of a site");
        }
    }
    let reply = HttpReply::bytes(200, HeaderValue::from_static("image/gif"), IMAGE);
    Ok(reply.header(CACHE_CONTROL, HeaderValue::from_static("private, no-store")))
}

/// Whether the browser asks not to be tracked.
fn declines_tracking(call: &RequestContext) -> bool {
    let headers = &call.head().headers;
    ["dnt", "sec-gpc"].into_iter().any(|name| headers.get(HeaderName::from_static(name)).is_some_and(|on| on == "1"))
}

async fn record(call: &RequestContext) -> Result<(), Error> {
    let Some(mut event) = parse_event(call) else {
        return Ok(());
    };
    let visit = BrowserVisit::from_call(call).await?;
    event.identifiers.extend(visit.person.as_ref().map(|person| Identifier::User(person.user.id)));
    let client = &visit.client_info;
    event.identifiers.push(Identifier::Browser(client.address.clone(), client.user_agent.clone()));
    let (key, rates) = (call.state.page_context.config.page_key, call.state.ads_config.rates.clone());
    call.write(move |tx| {
        let Some(tag) = web_events::find_tag(tx, &event.event_id)? else {
            return Ok(());
        };
        attribute_conversion(tx, &rates, &event.to_conversion(&key, &tag))
    })
    .await
}

/// `None` if the query names no event. Details that are malformed are left out.
fn parse_event(call: &RequestContext) -> Option<WebEvent> {
    let query = PageQuery::from_call(call).ok()?;
    let text = |name: &str| query.get(name).filter(|text| text.chars().count() <= MAX_TEXT).map(str::to_owned);
    let event_id = text("event_id").filter(|id| web_events::parse_event_id(id).is_some())?;
    let currency = text("currency").unwrap_or_else(|| DEFAULT_CURRENCY.to_owned());
    let amount = text("value").and_then(|value| parse_micros(&value));
    let count = text("num_items").and_then(|count| count.parse().ok());
    Some(WebEvent {
        event_id,
        at: call.now(),
        identifiers: text(CLICK_ID_PARAMETER).map(Identifier::ClickId).into_iter().collect(),
        conversion_id: text("conversion_id"),
        order_quantity: count.filter(|count| (1..=1_000_000).contains(count)).unwrap_or(1),
        sale_amount: amount.filter(|_| CURRENCIES.contains(&currency.as_str())).map(|amount| (amount, currency)),
    })
}
