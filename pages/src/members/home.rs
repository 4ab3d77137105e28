//! The home timeline.

use askama::Template;

use super::PostFeed;
use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

/// Form fields: `text`, `form`, `next`.
#[derive(Clone, Default)]
pub struct ComposeBox {
    pub text: FormField,
    /// Makes a form that is sent twice count once.
    pub form_id: String,
    /// About the text, such as how long it may be; may be empty.
    pub help: String,
}

#[derive(Template)]
#[template(path = "members/home.html")]
pub struct HomePage {
    pub frame: PageFrame,
    pub compose: ComposeBox,
    pub feed: PostFeed,
    /// Where the number of new posts is told; none unless it is the newest page.
    pub events: Option<String>,
    /// The member's address, where a link was sent that confirms it.
    pub unconfirmed_email: Option<String>,
}

impl HomePage {
    const fn is_newest(&self) -> bool {
        self.events.is_some()
    }
}

html_page!(HomePage, |_| "Home".to_owned(), |page| vec![("text", &page.compose.text)]);
