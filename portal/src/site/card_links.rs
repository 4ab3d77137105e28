//! Redirects of card links, which count clicks by people.

use crate::site::PageExit;
use ads_delivery::clicks::{self, CardClick};
use ads_delivery::conversions::add_click_id;
use ads_delivery::serving::AdImpression;
use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal};
use http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY};
use store::ads::card_links::{self, CardLink};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::BrowserVisit;
use super::forms::PageQuery;

/// Parts of user agents of programs that fetch links on their own.
const BOT_AGENT_WORDS: [&str; 8] =
    ["bot", "crawl", "spider", "slurp", "preview", "facebookexternalhit", "embedly", "whatsapp"];

/// `GET /c/{link}`: to where a card leads.
pub(crate) async fn follow(call: RequestContext) -> Result<HttpReply, PageExit> {
    let link = find_link(&call).await?;
    Ok(redirect_to_link(&link.url))
}

/// `GET /c/{link}/{post}`: the same, from a post that carries the card.
pub(crate) async fn follow_from_post(call: RequestContext) -> Result<HttpReply, PageExit> {
    let link = find_link(&call).await?;
    let post: PostId = call.path_id("post")?;
    let mut attributed = None;
    if is_human_request(&call) {
        let click = build_click(&call, post).await?;
        let opened = link.clone();
        attributed = call.write(move |tx| Ok(clicks::record_card_click(tx, &opened, &click)?)).await?;
    }
    Ok(redirect_to_link(&landing_url(&call, &link.url, attributed)))
}

async fn find_link(call: &RequestContext) -> Result<CardLink, Error> {
    let id = call.path_id::<()>("link")?.get();
    let found = call.read(move |tx| Ok(card_links::find_by_id(tx, id)?)).await?;
    let missing = || Refusal::NotFound(ResourceRef::new("link", "link", id));
    let found = found.filter(|link| !link.url.is_empty());
    Ok(found.ok_or_else(missing)?)
}

/// The URL with the id of a click that is attributed to an impression, for conversions.
pub(super) fn landing_url(call: &RequestContext, url: &str, attributed: Option<i64>) -> String {
    let key = &call.state.page_context.config.page_key;
    attributed.map_or_else(|| url.to_owned(), |impression| add_click_id(url, key, impression))
}

/// Redirects only to a stored URL.
fn redirect_to_link(url: &str) -> HttpReply {
    HttpReply::redirect(url)
        .header(CACHE_CONTROL, HeaderValue::from_static("private, no-store"))
        .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

async fn build_click(call: &RequestContext, post: PostId) -> Result<CardClick, Error> {
    let viewer = identify_viewer(call).await?;
    let key = call.state.page_context.config.page_key;
    // A malformed query does not prevent the redirect.
    let query = PageQuery::from_call(call).ok();
    let token = query.as_ref().and_then(|query| query.get("impression_token"));
    Ok(CardClick { post, viewer, impression: token.and_then(|token| AdImpression::decode(&key, token)) })
}

/// The signed-in user, or a keyed digest of address and browser.
pub(super) async fn identify_viewer(call: &RequestContext) -> Result<i64, Error> {
    let visit = BrowserVisit::from_call(call).await?;
    let key = call.state.page_context.config.page_key;
    Ok(visit.person.as_ref().map_or_else(
        || clicks::anonymous_viewer_id(&key, &visit.client_info.address, &visit.client_info.user_agent),
        |person| person.user.id.get(),
    ))
}

/// Excludes bots, prefetches, previews and subresources.
pub(super) fn is_human_request(call: &RequestContext) -> bool {
    let head = call.head();
    head.method == http::Method::GET && is_human_navigation(&head.headers)
}

fn lowercase_header(headers: &HeaderMap, name: &'static str) -> Option<String> {
    let value = headers.get(HeaderName::from_static(name));
    value.map(|value| value.to_str().unwrap_or("?").to_ascii_lowercase())
}

/// Whether a user agent is named that does not say it is a bot.
pub(super) fn is_browser(headers: &HeaderMap) -> bool {
    let agent = lowercase_header(headers, "user-agent").filter(|agent| !agent.is_empty());
    agent.is_some_and(|agent| BOT_AGENT_WORDS.iter().all(|word| !agent.contains(word)))
}

fn is_human_navigation(headers: &HeaderMap) -> bool {
    let text = |name: &'static str| lowercase_header(headers, name);
    let ahead = ["purpose", "sec-purpose", "x-moz", "x-purpose"]
        .into_iter()
        .filter_map(text)
        .any(|purpose| purpose.contains("prefetch") || purpose.contains("preview"));
    let inside = text("sec-fetch-dest").is_some_and(|dest| dest != "document");
    is_browser(headers) && !ahead && !inside
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderMap, HeaderName, HeaderValue};

    use super::is_human_navigation;

    #[test]
    fn machines_and_looks_ahead_are_no_clicks() {
        let opened = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                let name = HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            });
            is_human_navigation(&pairs.collect::<HeaderMap>())
        };
        let browser = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)");
        assert!(opened(&[browser]));
        assert!(opened(&[browser, ("sec-fetch-dest", "document")]));
        assert!(!opened(&[]));
        assert!(!opened(&[("user-agent", "SomeBot/1.0")]));
        assert!(!opened(&[browser, ("sec-purpose", "prefetch;prerender")]));
        assert!(!opened(&[browser, ("sec-fetch-dest", "image")]));
    }
}
