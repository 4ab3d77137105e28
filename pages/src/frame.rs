//! What surrounds every page: the signed-in account, links and notices.

use base::{AccountTimeZone, Time};

use crate::members::{MESSAGES_PATH, NOTIFICATIONS_PATH};

/// Of the paths that forms lead to, in bytes.
pub const MAX_PATH_LENGTH: usize = 8000;
pub const RULES_PATH: &str = "/rules";

#[derive(Clone, Default)]
pub struct PageFrame {
    /// Sent back by every form as `csrf`.
    pub csrf: String,
    pub account: Option<SignedInAccount>,
    /// Whether this is a development server: shows the ribbon and error details.
    pub dev: bool,
    /// Whether emails are delivered even though `dev` is set.
    pub sends_mail: bool,
    pub site: String,
    /// Host in the address bar, for the footer.
    pub host: String,
    /// Path and title of each text that the owners of the site have written, for the footer.
    pub site_texts: Vec<(&'static str, &'static str)>,
    pub notices: Vec<Notice>,
    /// Why the form as a whole was refused, if no single field is to blame.
    pub failure: Option<String>,
    /// Render time, for relative times such as "3 minutes ago".
    pub now: ZonedTime,
    pub links: SiteLinks,
    /// What the world's clock does, unless it is live.
    pub clock: Option<String>,
    /// Of the page, without a query.
    pub path: String,
    /// Of the page's address, without the question mark; may be empty.
    pub query: String,
    /// Whether search engines may index the page.
    pub is_indexable: bool,
    /// Notifications that the account has not seen; 100 if there are more.
    pub unread: i64,
    /// Conversations with messages that the account has not read; at most 100.
    pub unread_conversations: i64,
    /// Reports, appeals and applications that wait for a decision of the account; at least 100 if there are more.
    pub undecided: i64,
    /// Whether the account is a moderator, or more.
    pub is_moderator: bool,
    /// Whether the account is an administrator or owner.
    pub is_admin: bool,
}

impl PageFrame {
    /// Where buttons lead back to: the same part of a list.
    pub(crate) fn own_path(&self) -> String {
        // A form that leads to a longer path leads to the home page.
        if self.query.is_empty() || self.path.len() + self.query.len() >= MAX_PATH_LENGTH {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }

    /// Leads to `next` afterwards, a local path that may be empty.
    pub(crate) fn sign_in_path(&self, next: &str) -> String {
        let path = self.links.sign_in;
        if next.is_empty() { path.to_owned() } else { format!("{path}?next={}", base::percent::encode(next)) }
    }

    pub(crate) fn is_own_profile(&self) -> bool {
        let username = self.account.as_ref().map(|account| account.username.as_str());
        username.is_some() && self.path.strip_prefix('/') == username
    }

    /// Path of the rules, if there are any.
    pub(crate) fn rules(&self) -> Option<&'static str> {
        self.site_texts.iter().map(|(path, _)| *path).find(|path| *path == RULES_PATH)
    }

    /// For the link to a part of the site; none if everything there was seen.
    pub(crate) fn unread_count(&self, path: &str) -> Option<String> {
        let count = match path {
            NOTIFICATIONS_PATH => self.unread,
            MESSAGES_PATH => self.unread_conversations,
            _ => return None,
        };
        shown_count(count)
    }

    /// For the link to the moderation; none if nothing waits for the account.
    pub(crate) fn undecided_count(&self) -> Option<String> {
        shown_count(self.undecided)
    }
}

fn shown_count(count: i64) -> Option<String> {
    let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
    Some(crate::page::render_count(count))
}

/// A moment, and the zone in which the page shows times.
#[derive(Clone, Debug, Default)]
pub struct ZonedTime {
    pub at: Time,
    /// The signed-in member's, or UTC.
    pub zone: AccountTimeZone,
}

#[derive(Clone, Debug)]
pub struct SignedInAccount {
    /// Without the at sign.
    pub username: String,
    pub name: String,
}

impl SignedInAccount {
    /// Stand-in for an avatar.
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }
}

#[derive(Clone, Debug)]
pub struct Notice {
    pub level: NoticeLevel,
    pub text: String,
}

impl Notice {
    pub fn success(text: impl Into<String>) -> Self {
        Self { level: NoticeLevel::Success, text: text.into() }
    }

    pub fn info(text: impl Into<String>) -> Self {
        Self { level: NoticeLevel::Info, text: text.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    Success,
    Info,
}

impl NoticeLevel {
    pub const fn css_class(self) -> &'static str {
        match self {
            Self::Success => "good",
            Self::Info => "plain",
        }
    }
}

/// Paths that the layout and the pages link to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteLinks {
    pub home: &'static str,
    pub sign_in: &'static str,
    pub sign_up: &'static str,
    pub sign_out: &'static str,
    pub forgot_password: &'static str,
    pub account: &'static str,
    pub security: &'static str,
    pub sessions: &'static str,
    pub connected_apps: &'static str,
    pub data: &'static str,
    pub notifications: &'static str,
    pub apps: &'static str,
    pub new_app: &'static str,
    pub ads: &'static str,
    pub search: &'static str,
    pub signature: &'static str,
    pub mailbox: &'static str,
    /// Of a development server.
    pub console: &'static str,
}

pub const SITE_LINKS: SiteLinks = SiteLinks {
    home: "/",
    sign_in: "/login",
    sign_up: "/join",
    sign_out: "/logout",
    forgot_password: "/forgotten-password",
    account: "/settings/account",
    security: "/settings/security",
    sessions: "/settings/sessions",
    connected_apps: "/settings/apps",
    data: "/settings/data",
    notifications: "/notifications",
    apps: "/developer/apps",
    new_app: "/developer/apps/new",
    ads: "/ads",
    search: "/developer/search",
    signature: "/developer/explain",
    mailbox: "/mailbox",
    console: "/console",
};

impl Default for SiteLinks {
    fn default() -> Self {
        SITE_LINKS
    }
}
