//! The settings of notifications.

use askama::Template;

use crate::PageFrame;
use crate::page::{HtmlPage, html_page};

/// Values and labels of the fields.
pub const NOTIFICATION_SENDERS: [(&str, &str); 3] =
    [("everyone", "Everyone"), ("followed", "People you follow"), ("nobody", "Nobody")];

pub struct NotificationSettingItem {
    pub field: &'static str,
    pub label: &'static str,
    /// A value of [`NOTIFICATION_SENDERS`].
    pub senders: &'static str,
}

/// Form fields: that of each item.
#[derive(Template)]
#[template(path = "members/notification_settings.html")]
pub struct NotificationSettingsPage {
    pub frame: PageFrame,
    pub items: Vec<NotificationSettingItem>,
}

impl NotificationSettingsPage {
    const SECTION: &'static str = "Notifications";
}

html_page!(NotificationSettingsPage, |_| "Notifications".to_owned());
