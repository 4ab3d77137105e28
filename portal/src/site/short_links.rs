//! Redirects of short links, which count clicks by people.

use crate::site::PageExit;
use ads_delivery::clicks::{self, LinkClick};
use base::refusal::ResourceRef;
use base::short_links::{LinkSource, ShortLinkTarget};
use base::{Error, Refusal};
use http::header::{CACHE_CONTROL, HeaderValue, REFERRER_POLICY};
use network::short_links;
use url::Url;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::card_links::{identify_viewer, is_human_request, landing_url};

/// `GET /t/{code}`: to where a link in a post or message leads.
pub(crate) async fn follow(call: RequestContext) -> Result<HttpReply, PageExit> {
    let code = call.path_text("code")?.to_owned();
    let site = call.site();
    let missing = || Refusal::NotFound(ResourceRef::new("link", "code", &code));
    let link = site.codec.and_then(|codec| codec.decode(&code)).ok_or_else(missing)?;
    let destination = call.read(move |tx| Ok(short_links::find_destination(tx, link, site)?)).await?;
    let destination = destination.ok_or_else(missing)?;
    let mut attributed = None;
    if let (LinkSource::Post(post), ShortLinkTarget::Link(_)) = link
        && is_human_request(&call)
    {
        let click = LinkClick { post, viewer: identify_viewer(&call).await? };
        attributed = record_click(&call, click).await;
    }
    Ok(redirect_to_destination(&landing_url(&call, &destination, attributed)))
}

/// A click that cannot be recorded does not prevent the redirect.
async fn record_click(call: &RequestContext, click: LinkClick) -> Option<i64> {
    let recorded: Result<Option<i64>, Error> = call.write(move |tx| Ok(clicks::record_link_click(tx, click)?)).await;
    recorded.unwrap_or_else(|error| {
        tracing::warn!(%error, "failed to record a click");
        None
    })
}

/// Permanent, but asked again after a while, so that deleted posts stop redirecting and viewers are counted daily.
fn redirect_to_destination(url: &str) -> HttpReply {
    let reply = match Url::parse(url) {
        // Names with other letters need their ASCII form.
        Ok(parsed) if !url.is_ascii() => HttpReply::redirect(parsed.as_str()),
        _ => HttpReply::redirect(url),
    };
    reply
        .status(301)
        .header(CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"))
        .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}
