//! Drafts and scheduled posts.

use askama::Template;
use base::Time;

use super::{COMPOSE_PATH, DRAFTS_PATH, SCHEDULED_PATH};
use crate::PageFrame;
use crate::page::{HtmlPage, Pager, html_page};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftsTab {
    Drafts,
    Scheduled,
}

impl DraftsTab {
    pub const ALL: [Self; 2] = [Self::Drafts, Self::Scheduled];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Drafts => DRAFTS_PATH,
            Self::Scheduled => SCHEDULED_PATH,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Drafts => "Drafts",
            Self::Scheduled => "Scheduled",
        }
    }
}

pub struct DraftItem {
    pub id: String,
    /// The beginning of its text; may be empty.
    pub text: String,
    /// Name and path of the community that it goes to.
    pub community: Option<(String, String)>,
    /// What else it contains, such as "A poll".
    pub contents: Vec<String>,
    /// None for a draft.
    pub scheduled_at: Option<Time>,
    /// Why it was not published, or empty.
    pub problem: String,
}

impl DraftItem {
    fn edit_path(&self) -> String {
        format!("{COMPOSE_PATH}?draft={}", self.id)
    }
}

#[derive(Template)]
#[template(path = "members/drafts.html")]
pub struct DraftsPage {
    pub frame: PageFrame,
    pub tab: DraftsTab,
    pub items: Vec<DraftItem>,
    pub pager: Pager,
}

html_page!(DraftsPage, |page| match page.tab {
    DraftsTab::Drafts => "Drafts",
    DraftsTab::Scheduled => "Scheduled posts",
}
.to_owned());
