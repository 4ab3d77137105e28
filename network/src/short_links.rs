//! Where short links lead: to the URL that the author wrote, as long as the post or message is there.

use base::short_links::{LinkSource, ShortLinkTarget};
use base::{Fault, SiteLinks};
use serde_json::Value;
use store::{Tx, short_links};

/// The destination of a short link, with one query; `None` if the text is deleted or withheld or has no such link.
pub fn find_destination(
    tx: &mut Tx<'_>,
    (source, target): (LinkSource, ShortLinkTarget),
    site: SiteLinks,
) -> Result<Option<String>, Fault> {
    let entities = match source {
        LinkSource::Post(post) => short_links::find_entities(tx, post)?,
        LinkSource::Message(message) => short_links::find_message_entities(tx, message)?,
    };
    let Some(entities) = entities else {
        return Ok(None);
    };
    let number = match (target, source) {
        (ShortLinkTarget::Link(number), _) => number,
        (ShortLinkTarget::Post, LinkSource::Post(post)) => return Ok(Some(site.post_page(post))),
        (ShortLinkTarget::Post, LinkSource::Message(_)) => return Ok(None),
    };
    let parsed: Value = serde_json::from_str(&entities).unwrap_or_default();
    let link = parsed.get("urls").and_then(|urls| urls.get(usize::from(number))?.get("expanded_url")?.as_str());
    Ok(link.filter(|url| is_web_url(url)).map(str::to_owned))
}

fn is_web_url(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}
