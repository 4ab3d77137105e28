//! What other sites show of a page that they link to, and feeds for feed readers.

use askama::Template;
use base::{Fault, Time};

/// The Open Graph properties of a page.
#[derive(Clone, Debug)]
pub struct LinkPreview {
    /// `profile` or `article`.
    pub kind: &'static str,
    pub title: String,
    pub description: String,
    pub url: String,
    /// A URL, or empty.
    pub image: String,
    /// The URL of the author's feed, or empty.
    pub feed: String,
}

pub struct FeedEntry {
    pub url: String,
    pub title: String,
    pub at: Time,
    pub body: FeedEntryBody,
}

/// The HTML of an entry.
#[derive(Template)]
#[template(path = "members/feed_entry.html")]
pub struct FeedEntryBody {
    /// Text and URL, or an empty URL.
    pub text: Vec<(String, String)>,
    /// URL and description.
    pub pictures: Vec<(String, String)>,
}

/// The posts of a profile (RFC 4287).
#[derive(Template)]
#[template(path = "members/feed.xml")]
pub struct AtomFeed {
    pub title: String,
    pub author: String,
    /// The profile.
    pub url: String,
    pub feed_url: String,
    pub updated_at: Time,
    /// Newest first.
    pub entries: Vec<FeedEntry>,
}

impl AtomFeed {
    pub fn render_xml(&self) -> Result<String, Fault> {
        let mut text = self.render().map_err(Fault::context("failed to render a feed"))?;
        // XML 1.0 has no escape for other control characters.
        text.retain(|letter| letter >= ' ' || letter == '\n' || letter == '\t');
        Ok(text)
    }
}

/// The URLs of the pages that search engines may index.
#[derive(Template)]
#[template(path = "members/sitemap.xml")]
pub struct Sitemap {
    pub urls: Vec<String>,
}

impl Sitemap {
    pub fn render_xml(&self) -> Result<String, Fault> {
        self.render().map_err(Fault::context("failed to render a sitemap"))
    }
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{AtomFeed, FeedEntry, FeedEntryBody};

    #[test]
    fn text_is_no_markup_in_the_feed_nor_in_the_entry() {
        let hostile = "</title><script>&\u{1}\"";
        let feed = AtomFeed {
            title: hostile.to_owned(),
            author: hostile.to_owned(),
            url: "https://social.example/ada".to_owned(),
            feed_url: "https://social.example/ada/feed.xml".to_owned(),
            updated_at: Time::from_ms(0),
            entries: vec![FeedEntry {
                url: "https://social.example/ada/status/1".to_owned(),
                title: hostile.to_owned(),
                at: Time::from_ms(0),
                body: FeedEntryBody { text: vec![(hostile.to_owned(), String::new())], pictures: Vec::new() },
            }],
        };
        let text = feed.render_xml().unwrap();
        assert!(!text.contains("<script") && !text.contains('\u{1}'), "{text}");
        assert!(text.contains("&#60;p&#62;&#38;#60;/title&#38;#62;"), "the entry is escaped twice: {text}");
    }
}
