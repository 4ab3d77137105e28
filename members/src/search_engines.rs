//! `/robots.txt` and `/sitemap.xml`: what search engines may read. Nothing, unless the owners of the site have allowed it.

use base::Refusal;
use http::HeaderValue;
use network::site_settings::allows_indexing;
use pages::members::Sitemap;
use portal::PageExit;
use store::{Tx, users};
use web::HttpReply;
use web::request_context::RequestContext;

const PLAIN_TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const XML: HeaderValue = HeaderValue::from_static("application/xml; charset=utf-8");
/// The newest public profiles are listed; the protocol's limit for a file is 50,000.
const MAX_PROFILES: i64 = 10_000;
/// Pages that show the same as others, or are of no use to readers.
const DISALLOWED: [&str; 9] =
    ["/1.1/", "/2/", "/12/", "/oauth/", "/oauth2/", "/settings/", "/search", "/developer/", "/i/"];

/// `GET /robots.txt` (RFC 9309).
pub(crate) async fn show_robots(call: RequestContext) -> Result<HttpReply, PageExit> {
    let is_allowed = call.read(|tx: &mut Tx<'_>| Ok(allows_indexing(tx)?)).await?;
    let text = if is_allowed {
        let paths = DISALLOWED.map(|path| format!("Disallow: {path}\n")).concat();
        format!("User-agent: *\n{paths}\nSitemap: {}/sitemap.xml\n", call.site().url)
    } else {
        "User-agent: *\nDisallow: /\n".to_owned()
    };
    Ok(HttpReply::bytes(200, PLAIN_TEXT, text))
}

/// `GET /sitemap.xml`: not there unless it is allowed.
pub(crate) async fn show_sitemap(call: RequestContext) -> Result<HttpReply, PageExit> {
    let read = call.read(|tx: &mut Tx<'_>| {
        if !allows_indexing(tx)? {
            return Err(Refusal::RouteNotFound.into());
        }
        Ok(users::list_public_usernames(tx, MAX_PROFILES)?)
    });
    let site = call.site().url;
    let usernames = read.await?;
    let sitemap = Sitemap { urls: usernames.into_iter().map(|name| format!("{site}/{name}")).collect() };
    Ok(HttpReply::bytes(200, XML, sitemap.render_xml()?))
}
