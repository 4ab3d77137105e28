//! A list of posts under a heading.

use askama::Template;

use super::PostFeed;
use crate::PageFrame;
use crate::page::{HtmlPage, html_page};

#[derive(Template)]
#[template(path = "members/posts.html")]
pub struct PostListPage {
    pub frame: PageFrame,
    pub heading: String,
    /// Path and label of the page above.
    pub back: (String, &'static str),
    pub feed: PostFeed,
    /// What an empty list says.
    pub empty: &'static str,
}
html_page!(PostListPage, |page| page.heading.clone());
