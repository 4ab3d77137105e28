//! Searching posts and people.

use askama::Template;

use super::{PersonCard, PostFeed};
use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

/// Query parameters: `q`, and `tab`, which is `people` or absent.
#[derive(Template)]
#[template(path = "members/search.html")]
pub struct MemberSearchPage {
    pub frame: PageFrame,
    pub query: FormField,
    pub is_people: bool,
    pub feed: PostFeed,
    pub people: Vec<PersonCard>,
    /// Name and path of what is talked about, shown without a query.
    pub trends: Vec<(String, String)>,
    /// Paths of the two tabs.
    pub tabs: [(&'static str, String); 2],
}

html_page!(
    MemberSearchPage,
    |page| match page.query.value.as_str() {
        "" => "Search".to_owned(),
        query => format!("Search: {query}"),
    },
    |page| vec![("q", &page.query)]
);
