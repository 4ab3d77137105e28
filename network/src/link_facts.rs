//! What is known about the pages that links lead to: title, description, images, final URL. Operators say it, or the
//! pages themselves where they are fetched.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use base::{Error, Fault, PostId, Refusal, Time};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::link_facts::{self, LinkFacts};
use store::posts::{Post, PostState};
use store::{Tx, posts, users};

/// In characters.
const MAX_URL: usize = 2_048;
const MAX_TITLE: usize = 300;
const MAX_DESCRIPTION: usize = 1_000;
const MAX_IMAGES: usize = 4;
/// Pixels per side.
const MAX_SIDE: i64 = 100_000;

/// A page, as an operator or the page itself describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkDescription {
    pub url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unwound_url: String,
    /// The HTTP status of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<DescribedImage>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DescribedImage {
    pub url: String,
    /// Pixels.
    pub width: i64,
    pub height: i64,
}

/// Facts by the digest of their URL.
#[derive(Debug, Default)]
pub struct KnownLinks(HashMap<i64, LinkFacts>);

impl KnownLinks {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn find(&self, url: &str) -> Option<&LinkFacts> {
        if self.0.is_empty() {
            return None;
        }
        let url = normalize_url(url)?;
        self.0.get(&digest_url(&url)).filter(|facts| facts.url == url)
    }
}

/// The links in entities as stored.
#[derive(Deserialize)]
struct LinkedText<'a> {
    #[serde(borrow, default)]
    urls: Vec<LinkedUrl<'a>>,
}

#[derive(Deserialize)]
struct LinkedUrl<'a> {
    #[serde(borrow, default)]
    expanded_url: Cow<'a, str>,
}

/// What is known about the links of posts, with one query, or none if they have no links.
pub fn load_for_posts<'a>(tx: &mut Tx<'_>, posts: impl Iterator<Item = &'a Post>) -> Result<KnownLinks, Fault> {
    let mut digests: Vec<i64> = posts.flat_map(normalized_links).map(|url| digest_url(&url)).collect();
    if digests.is_empty() {
        return Ok(KnownLinks::default());
    }
    digests.sort_unstable();
    digests.dedup();
    let found = link_facts::find_by_digests(tx, &digests)?;
    Ok(KnownLinks(found.into_iter().map(|facts| (facts.digest, facts)).collect()))
}

fn normalized_links(post: &Post) -> Vec<String> {
    if !post.entities.contains("\"urls\"") {
        return Vec::new();
    }
    let text = serde_json::from_str::<LinkedText<'_>>(&post.entities);
    let urls = text.map(|text| text.urls).unwrap_or_default();
    urls.iter().filter_map(|url| normalize_url(&url.expanded_url)).collect()
}

/// The links of public posts about which nothing is known, or only what was fetched before a time: `fetched_before` if
/// the page answered, otherwise `failed_before`.
pub fn list_unfetched_links(
    tx: &mut Tx<'_>,
    ids: &[PostId],
    fetched_before: Time,
    failed_before: Time,
) -> Result<Vec<String>, Fault> {
    let mut found = posts::find_by_ids(tx, ids)?;
    let is_open = |post: &Post| !post.nullcast && !post.members_only && !post.followers_only;
    found.retain(|post| post.state == PostState::Live && is_open(post) && !normalized_links(post).is_empty());
    let authors: Vec<_> = found.iter().map(|post| post.author_id).collect();
    let authors = users::find_by_ids(tx, &authors)?;
    let is_public = |post: &Post| authors.iter().any(|author| author.id == post.author_id && author.is_public());
    let links = found.iter().filter(|post| is_public(post)).flat_map(normalized_links);
    let links: BTreeSet<String> = links.filter(|url| url.chars().count() <= MAX_URL).collect();
    let digests: Vec<i64> = links.iter().map(|url| digest_url(url)).collect();
    let known = link_facts::find_by_digests(tx, &digests)?;
    let is_current = |facts: &LinkFacts| {
        let before = if facts.status == 0 { failed_before } else { fetched_before };
        !facts.is_fetched || facts.updated_at >= before
    };
    let is_known = |url: &String| known.iter().any(|facts| facts.url == *url && is_current(facts));
    Ok(links.into_iter().filter(|url| !is_known(url)).collect())
}

/// Stores what a page says, cut to the bounds of descriptions, unless an operator has described it.
pub fn record_fetched(tx: &mut Tx<'_>, page: &LinkDescription) -> Result<(), Error> {
    let is_url = |url: &str| normalize_url(url).is_some() && url.chars().count() <= MAX_URL;
    let is_image = |image: &DescribedImage| {
        let is_side = |side| (1..=MAX_SIDE).contains(&side);
        is_url(&image.url) && is_side(image.width) && is_side(image.height)
    };
    let page = LinkDescription {
        url: page.url.clone(),
        unwound_url: Some(page.unwound_url.clone()).filter(|url| is_url(url)).unwrap_or_default(),
        status: page.status.filter(|status| (100..=599).contains(status)),
        title: shorten_text(&page.title, MAX_TITLE),
        description: shorten_text(&page.description, MAX_DESCRIPTION),
        images: page.images.iter().filter(|image| is_image(image)).take(MAX_IMAGES).cloned().collect(),
    };
    let facts = LinkFacts { is_fetched: true, ..check_description(&page, tx.now())? };
    Ok(link_facts::upsert(tx, &facts)?)
}

/// On one line, with an ellipsis where it is cut.
fn shorten_text(text: &str, limit: usize) -> String {
    let printable = text.replace(char::is_control, " ");
    let text = printable.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= limit {
        return text;
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}

/// Replaces what is known about a page.
pub fn describe(tx: &mut Tx<'_>, page: &LinkDescription) -> Result<(), Error> {
    let facts = check_description(page, tx.now())?;
    Ok(link_facts::upsert(tx, &facts)?)
}

pub fn find_description(tx: &mut Tx<'_>, url: &str) -> Result<Option<LinkDescription>, Fault> {
    let Some(url) = normalize_url(url) else {
        return Ok(None);
    };
    let found = link_facts::find_by_digests(tx, &[digest_url(&url)])?.pop();
    Ok(found.filter(|facts| facts.url == url).map(|facts| LinkDescription {
        images: serde_json::from_str(&facts.images).unwrap_or_default(),
        status: Some(facts.status).filter(|status| *status > 0),
        url: facts.url,
        unwound_url: facts.unwound_url,
        title: facts.title,
        description: facts.description,
    }))
}

fn check_description(page: &LinkDescription, now: Time) -> Result<LinkFacts, Refusal> {
    let too_long = |name: &'static str, limit| {
        Refusal::invalid_parameter(name, "", format!("The {name} has more than {limit} characters."))
    };
    for (name, text, limit) in [
        ("url", &page.url, MAX_URL),
        ("unwound_url", &page.unwound_url, MAX_URL),
        ("title", &page.title, MAX_TITLE),
        ("description", &page.description, MAX_DESCRIPTION),
    ] {
        if text.chars().count() > limit {
            return Err(too_long(name, limit));
        }
        if text.contains(char::is_control) {
            return Err(Refusal::invalid_parameter(name, text, format!("The {name} contains control characters.")));
        }
    }
    let url = require_web_url("url", &page.url)?;
    if !page.unwound_url.is_empty() {
        require_web_url("unwound_url", &page.unwound_url)?;
    }
    if page.status.is_some_and(|status| !(100..=599).contains(&status)) {
        let value = page.status.unwrap_or(0);
        return Err(Refusal::invalid_parameter("status", value, "The status is not between 100 and 599."));
    }
    check_images(&page.images)?;
    let images = serde_json::to_string(&page.images).unwrap_or_default();
    Ok(LinkFacts {
        digest: digest_url(&url),
        url,
        unwound_url: page.unwound_url.clone(),
        status: page.status.unwrap_or(0),
        title: page.title.clone(),
        description: page.description.clone(),
        images: if page.images.is_empty() { String::new() } else { images },
        updated_at: now,
        is_fetched: false,
    })
}

fn check_images(images: &[DescribedImage]) -> Result<(), Refusal> {
    if images.len() > MAX_IMAGES {
        let message = format!("There are more than {MAX_IMAGES} images.");
        return Err(Refusal::invalid_parameter("images", images.len(), message));
    }
    for image in images {
        require_web_url("images", &image.url)?;
        let is_side = |side: i64| (1..=MAX_SIDE).contains(&side);
        if image.url.chars().count() > MAX_URL || !is_side(image.width) || !is_side(image.height) {
            let message = "An image needs a URL, a width and a height in pixels.";
            return Err(Refusal::invalid_parameter("images", &image.url, message));
        }
    }
    Ok(())
}

/// The normalized URL.
fn require_web_url(name: &'static str, url: &str) -> Result<String, Refusal> {
    let refused = || Refusal::invalid_parameter(name, url, format!("The {name} is not a URL of the web."));
    normalize_url(url).ok_or_else(refused)
}

/// Whether it is an http or https URL with a host and without whitespace.
pub(crate) fn is_web_url(url: &str) -> bool {
    normalize_url(url).is_some()
}

/// The URL without its fragment, scheme and host in lower case; `None` unless it is http or https.
fn normalize_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let rest = rest.split('#').next().unwrap_or_default();
    let host_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(host_end)?;
    let path = if path == "/" { "" } else { path };
    let is_web = ["http", "https"].contains(&scheme.as_str()) && !host.is_empty() && !url.contains(char::is_whitespace);
    is_web.then(|| [scheme.as_str(), "://", &host.to_lowercase(), path].concat())
}

/// Never negative.
fn digest_url(normalized: &str) -> i64 {
    let digest = Sha256::digest(normalized.as_bytes());
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(first) & i64::MAX
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{DescribedImage, LinkDescription, check_description, normalize_url};

    #[test]
    fn spellings_of_a_url_are_one() {
        for (url, normalized) in [
            ("HTTPS://Example.COM/", Some("https://example.com")),
            ("https://example.com#top", Some("https://example.com")),
            ("https://example.com/A?b=C#d", Some("https://example.com/A?b=C")),
            ("http://Bücher.example?x", Some("http://bücher.example?x")),
            ("ftp://example.com", None),
            ("https://", None),
            ("https://example.com/a b", None),
            ("example.com", None),
        ] {
            assert_eq!(normalize_url(url).as_deref(), normalized, "{url}");
        }
    }

    #[test]
    fn description_has_bounds() {
        let page = LinkDescription { url: "https://example.com".to_owned(), ..LinkDescription::default() };
        let image = |width| DescribedImage { url: "https://example.com/i.png".to_owned(), width, height: 1 };
        let check = |page: LinkDescription| check_description(&page, Time::from_ms(0)).is_ok();
        assert!(check(page.clone()));
        assert!(check(LinkDescription { images: vec![image(1); 4], status: Some(200), ..page.clone() }));
        for wrong in [
            LinkDescription { url: "x".to_owned(), ..page.clone() },
            LinkDescription { url: format!("https://e.com/{}", "x".repeat(2_048)), ..page.clone() },
            LinkDescription { unwound_url: "javascript:alert(1)".to_owned(), ..page.clone() },
            LinkDescription { title: "x".repeat(301), ..page.clone() },
            LinkDescription { title: "a\u{0}".to_owned(), ..page.clone() },
            LinkDescription { description: "x".repeat(1_001), ..page.clone() },
            LinkDescription { status: Some(99), ..page.clone() },
            LinkDescription { images: vec![image(1); 5], ..page.clone() },
            LinkDescription { images: vec![image(0)], ..page.clone() },
        ] {
            assert!(!check(wrong.clone()), "{wrong:?}");
        }
    }
}
