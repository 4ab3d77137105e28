//! The accounts that one blocks or mutes.

use askama::Template;

use super::{BLOCKED_ACCOUNTS_PATH, MUTED_ACCOUNTS_PATH, PersonCard};
use crate::PageFrame;
use crate::page::{HtmlPage, Pager, html_page};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedAccountsTab {
    Blocked,
    Muted,
}

impl BlockedAccountsTab {
    pub const ALL: [Self; 2] = [Self::Blocked, Self::Muted];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Blocked => BLOCKED_ACCOUNTS_PATH,
            Self::Muted => MUTED_ACCOUNTS_PATH,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Blocked => "Blocked",
            Self::Muted => "Muted",
        }
    }
}

#[derive(Template)]
#[template(path = "members/blocked_accounts.html")]
pub struct BlockedAccountsPage {
    pub frame: PageFrame,
    pub tab: BlockedAccountsTab,
    /// Newest first.
    pub people: Vec<PersonCard>,
    pub pager: Pager,
}

impl BlockedAccountsPage {
    const SECTION: &'static str = "Blocked and muted";
}

html_page!(BlockedAccountsPage, |page| format!("{} accounts", page.tab.label()));
