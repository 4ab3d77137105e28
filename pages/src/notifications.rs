//! What a person was told, and what a post that is not published yet looks like.

use crate::{HtmlPage, PageFrame, Pager};
use askama::Template;
use base::Time;

/// Something that a person was told.
pub struct NotificationItem {
    /// One or two sentences.
    pub text: String,
    /// A path of this site, or empty.
    pub path: String,
    /// When.
    pub at: Time,
}

/// What a person was told, newest first.
#[derive(Template)]
#[template(path = "notifications.html")]
pub struct NotificationsPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// All of it on this page.
    pub notifications: Vec<NotificationItem>,
    /// The neighbouring parts of the list.
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

/// What a post looks like, alone: other sites may show it within their own.
#[derive(Template)]
#[template(path = "preview.html")]
pub struct PostPreviewPage {
    /// The surroundings, of which nothing is shown.
    pub frame: PageFrame,
    /// The author's name.
    pub name: String,
    /// Without the at sign.
    pub username: String,
    /// The whole text.
    pub text: String,
    /// Addresses of pictures.
    pub pictures: Vec<String>,
    /// What a poll asks for.
    pub choices: Vec<String>,
    /// What is beside it: that it is promoted, who may answer.
    pub notes: Vec<String>,
    /// Words and address of what it leads to.
    pub link: Option<(String, String)>,
}

impl PostPreviewPage {
    /// The first letter of the name.
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }

    /// Where it leads, if that is somewhere on the web.
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
