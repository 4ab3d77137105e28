//! The preview of an unpublished post.

use crate::PageFrame;
use crate::members::PostTextPart;
use crate::page::{HtmlPage, html_page};
use askama::Template;

/// A post on its own, which other sites may frame.
#[derive(Template)]
#[template(path = "preview.html")]
pub struct PostPreviewPage {
    pub frame: PageFrame,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    pub text: Vec<PostTextPart>,
    pub pictures: Vec<String>,
    pub choices: Vec<String>,
    pub notes: Vec<String>,
    /// Text and URL.
    pub link: Option<(String, String)>,
}

impl PostPreviewPage {
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }

    /// `None` unless the URL is http or https.
    pub fn web_link(&self) -> Option<(&str, &str)> {
        let (words, url) = self.link.as_ref()?;
        crate::page::is_web_url(url).then_some((words.as_str(), url.as_str()))
    }
}

html_page!(PostPreviewPage, |page| format!("Preview of a post by @{}", page.username));
