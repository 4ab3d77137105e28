//! Notifications, and the preview of an unpublished post.

use crate::{HtmlPage, PageFrame, Pager};
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

impl HtmlPage for NotificationsPage {
    const NAME: &'static str = "notifications";

    fn title(&self) -> String {
        "Notifications".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::tools::notifications_states()
    }
}

/// A post on its own, which other sites may frame.
#[derive(Template)]
#[template(path = "preview.html")]
pub struct PostPreviewPage {
    pub frame: PageFrame,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    pub text: String,
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

impl HtmlPage for PostPreviewPage {
    const NAME: &'static str = "preview";

    fn title(&self) -> String {
        format!("Preview of a post by @{}", self.username)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::tools::post_preview_states()
    }
}
