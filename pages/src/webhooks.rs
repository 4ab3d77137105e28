//! An app's webhooks, their challenges and deliveries.

use crate::page::{HtmlPage, html_page};
use crate::{AppRef, AppTab, PageFrame};
use askama::Template;
use base::Time;

pub struct LastChallenge {
    pub at: Time,
    pub token: String,
    pub expected: String,
    /// Start of the response body.
    pub answer: String,
    /// Empty if there was none.
    pub problem: String,
}

pub struct DeliveryAttemptItem {
    pub at: Time,
    /// HTTP status; 0 if there was no response.
    pub status: i64,
    /// Empty if there was none.
    pub problem: String,
    pub took_ms: i64,
    /// Of the request.
    pub headers: Vec<(&'static str, String)>,
    /// Start of the response body.
    pub answer: String,
}

pub struct DeliveryItem {
    pub number: i64,
    /// For example `post.create` or `tweet_create_events`.
    pub event: String,
    pub event_id: String,
    pub at: Time,
    pub state: &'static str,
    pub is_resend: bool,
    pub body: String,
    /// Newest first.
    pub attempts: Vec<DeliveryAttemptItem>,
}

pub struct WebhookItem {
    pub id: String,
    pub url: String,
    pub valid: bool,
    /// Why it is invalid, or what failed last; empty if nothing did.
    pub problem: String,
    pub checked: Time,
    pub challenge: Option<LastChallenge>,
    pub deliveries: Vec<DeliveryItem>,
    /// What was typed for a replay that was refused: from and to.
    pub replay: [String; 2],
}

/// A webhook with its last challenge and its deliveries.
#[derive(Template)]
#[template(path = "webhook.html")]
pub(crate) struct WebhookSection<'page> {
    hook: &'page WebhookItem,
    /// Empty on the page of the app.
    app: &'page str,
    action: &'page str,
    frame: &'page PageFrame,
}

impl WebhookItem {
    pub(crate) fn html<'page>(
        &'page self,
        app: &'page str,
        action: &'page str,
        frame: &'page PageFrame,
    ) -> WebhookSection<'page> {
        WebhookSection { hook: self, app, action, frame }
    }
}

/// Forms send `act` (`challenge`, `resend` or `replay`) and `webhook`; `resend` also `delivery`, `replay` also `from`
/// and `to` (`yyyymmddHHMM`).
#[derive(Template)]
#[template(path = "webhooks.html")]
pub struct WebhooksPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub action: String,
    /// Newest first.
    pub webhooks: Vec<WebhookItem>,
    /// URL of the built-in receiver; development only.
    pub sink_url: Option<String>,
}

impl DeliveryItem {
    pub(crate) fn badge_kind(&self) -> &'static str {
        match self.state {
            "delivered" => "good",
            "failed" => "bad",
            _ => "",
        }
    }

    /// Of the newest attempt; empty if there was none.
    pub(crate) fn last_status(&self) -> String {
        match self.attempts.first() {
            None => String::new(),
            Some(attempt) if attempt.status == 0 => "no response".to_owned(),
            Some(attempt) => attempt.status.to_string(),
        }
    }
}

impl WebhooksPage {
    const TAB: AppTab = AppTab::Webhooks;
}

html_page!(WebhooksPage, |page| format!("Webhooks: {}", page.app.name));
