//! What others did that concerns a member, notices of the site, and requests to follow.

use askama::Template;
use base::Time;

use super::{NOTIFICATIONS_PATH, PersonCard, PostCard};
use crate::PageFrame;
use crate::page::{HtmlPage, Pager, html_page};

base::named_enum! {
    /// The names are values of the query parameter `tab`.
    pub enum NotificationTab {
        All = "all",
        Mentions = "mentions",
        Notices = "notices",
    }
}

impl NotificationTab {
    pub const fn label(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Mentions => "Mentions",
            Self::Notices => "Notices",
        }
    }

    pub fn path(self) -> String {
        match self {
            Self::All => NOTIFICATIONS_PATH.to_owned(),
            other => format!("{NOTIFICATIONS_PATH}?tab={}", other.name()),
        }
    }

    const fn empty_text(self) -> &'static str {
        match self {
            Self::All => "Likes, reposts, replies, mentions and new followers appear here.",
            Self::Mentions => "Posts that mention you, reply to you or quote you appear here.",
            Self::Notices => "Notices about your account appear here.",
        }
    }
}

/// The same action of several people about one post, or of one.
pub struct ActionItem {
    pub icon: &'static str,
    /// Names and usernames, newest first.
    pub people: Vec<(String, String)>,
    /// People who are not named.
    pub others: usize,
    /// "liked your post".
    pub verb: &'static str,
    /// The post's path and the beginning of its text.
    pub post: Option<(String, String)>,
    /// Of the newest.
    pub at: Time,
    pub is_new: bool,
}

pub enum NotificationItem {
    /// A post of somebody else, what it has to do with the member, and whether it is new.
    Post(Box<PostCard>, &'static str, bool),
    Action(ActionItem),
    Notice {
        text: String,
        /// A path of this site, or empty.
        path: String,
        at: Time,
        is_new: bool,
    },
}

#[derive(Template)]
#[template(path = "members/notifications.html")]
pub struct NotificationsPage {
    pub frame: PageFrame,
    pub tab: NotificationTab,
    /// Newest first.
    pub items: Vec<NotificationItem>,
    /// Of the site, at most 100.
    pub unread_notices: i64,
    /// Waiting for an answer, at most 100.
    pub follow_requests: usize,
    pub pager: Pager,
}

impl NotificationsPage {
    /// Whose buttons need a form.
    fn has_posts(&self) -> bool {
        self.items.iter().any(|item| matches!(item, NotificationItem::Post(..)))
    }

    fn follow_request_count(&self) -> String {
        crate::page::render_count(self.follow_requests)
    }
}

html_page!(NotificationsPage, |_| "Notifications".to_owned());

#[derive(Template)]
#[template(path = "members/follow_requests.html")]
pub struct FollowRequestsPage {
    pub frame: PageFrame,
    /// Newest first.
    pub people: Vec<PersonCard>,
    pub pager: Pager,
}

html_page!(FollowRequestsPage, |_| "Requests to follow you".to_owned());
