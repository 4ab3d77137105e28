//! The page of one post.

use askama::Template;
use base::Time;

use crate::PageFrame;
use crate::page::{HtmlPage, html_page, is_web_url};

/// A piece of a post's text; a link if it has a URL.
pub struct PostTextPart {
    pub text: String,
    pub url: Option<String>,
}

pub struct PostMedia {
    /// Of a video, its still; empty if there is none.
    pub picture: String,
    pub video: Option<String>,
    pub description: String,
}

pub struct PollResult {
    pub label: String,
    pub votes: i64,
    /// In percent, rounded down.
    pub share: i64,
}

/// A post that another one quotes or replies to.
pub struct RelatedPost {
    /// Without the at sign.
    pub username: String,
    pub path: String,
    /// Empty for a post that is replied to.
    pub text: String,
}

#[derive(Template)]
#[template(path = "post.html")]
pub struct PostPage {
    pub frame: PageFrame,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    /// BCP 47; `und` if unknown.
    pub language: String,
    pub text: Vec<PostTextPart>,
    pub media: Vec<PostMedia>,
    pub poll: Vec<PollResult>,
    pub quoted: Option<RelatedPost>,
    pub reply_to: Option<RelatedPost>,
    pub reposted_by: Option<String>,
    pub created_at: Time,
    /// Pairs of number and noun, such as 2 and `replies`.
    pub counts: Vec<(i64, &'static str)>,
    pub reply_path: String,
    pub oembed_url: String,
}

impl PostPage {
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }

    /// For the title, where a page of a browser's history has room for a few words.
    fn excerpt(&self) -> String {
        let text: String = self.text.iter().map(|part| part.text.as_str()).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
            None => text,
        }
    }
}

impl PostMedia {
    /// `None` unless it is a path of ours, or http or https.
    pub fn video_url(&self) -> Option<&str> {
        self.video.as_deref().filter(|url| url.starts_with('/') || is_web_url(url))
    }
}

impl PostTextPart {
    /// `None` unless the URL is http or https.
    pub fn web_url(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| is_web_url(url))
    }
}

html_page!(PostPage, "post", crate::samples::post::post_states, |page| match page.excerpt().as_str() {
    "" => format!("Post by @{}", page.username),
    excerpt => format!("@{}: {excerpt}", page.username),
});
