//! The webhooks of all apps.

use super::SelectOption;
use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, WebhookItem};
use askama::Template;

pub struct AppWebhook {
    /// Name of the app.
    pub app: String,
    pub webhook: WebhookItem,
}

/// Forms send `act`: `register` with `app` and `url`, and those of [`crate::WebhooksPage`].
#[derive(Template)]
#[template(path = "console/webhooks.html")]
pub struct ConsoleWebhooksPage {
    pub frame: PageFrame,
    pub path: &'static str,
    /// Newest first.
    pub webhooks: Vec<AppWebhook>,
    /// Whether older ones are not shown.
    pub is_truncated: bool,
    pub apps: Vec<SelectOption>,
    pub url: FormField,
    /// The start of the URL of the built-in receiver, to which the id of the app is added.
    pub sink: String,
}

impl ConsoleWebhooksPage {
    const SECTION: &'static str = "Webhooks";
}

html_page!(ConsoleWebhooksPage, |_| "Webhooks".to_owned(), |page| vec![("url", &page.url)]);
