//! Notifications, and the preview of an unpublished post.

use crate::members::PostTextPart;
use crate::page::{HtmlPage, html_page};
use crate::{PageFrame, Pager};
use askama::Template;
use base::Time;

pub struct NotificationItem {
    pub text: String,
    /// A path of this site, or empty.
    pub path: String,
    pub at: Time,
}

#[derive(Template)]
#[template(path = "notifications.html")]
pub struct NotificationsPage {
    pub frame: PageFrame,
    /// Newest first.
    pub notifications: Vec<NotificationItem>,
    pub pager: Pager,
}

html_page!(NotificationsPage, "notifications", crate::samples::tools::notifications_states, |_| "Notifications"
    .to_owned());

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

html_page!(PostPreviewPage, "preview", crate::samples::tools::post_preview_states, |page| format!(
    "Preview of a post by @{}",
    page.username
));
