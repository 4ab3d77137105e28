//! An app's webhooks: whether their receivers answer, and what was sent to them.

use crate::{AppRef, AppTab, HtmlPage, PageFrame};
use askama::Template;
use base::Time;

/// A challenge and its answer.
pub struct LastChallenge {
    /// When.
    pub at: Time,
    /// The token that was sent.
    pub token: String,
    /// The right answer.
    pub expected: String,
    /// How the answer began.
    pub answer: String,
    /// What was wrong with it; empty where nothing was.
    pub problem: String,
}

/// A try to deliver something.
pub struct DeliveryAttemptItem {
    /// When.
    pub at: Time,
    /// The status of the answer; 0 where there was none.
    pub status: i64,
    /// What went wrong; empty where nothing did.
    pub problem: String,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// The signature that was sent.
    pub signature: String,
    /// How the answer began.
    pub answer: String,
}

/// Something that was sent, or waits to be.
pub struct DeliveryItem {
    /// Its number.
    pub number: i64,
    /// What the receiver knows the event by.
    pub event_id: String,
    /// When it happened.
    pub at: Time,
    /// How far it is, in a word.
    pub state: &'static str,
    /// Whether it was sent again because somebody asked for it.
    pub is_resend: bool,
    /// What is sent.
    pub body: String,
    /// Each try, newest first.
    pub attempts: Vec<DeliveryAttemptItem>,
}

/// A webhook.
pub struct WebhookItem {
    /// Its id.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// Whether it gets anything.
    pub valid: bool,
    /// Why not, or what went wrong last; empty where nothing did.
    pub problem: String,
    /// When it last answered rightly.
    pub checked: Time,
    /// The last challenge.
    pub challenge: Option<LastChallenge>,
    /// The newest deliveries.
    pub deliveries: Vec<DeliveryItem>,
}

/// An app's webhooks. Forms post `act` (`challenge`, `resend` or `replay`) and `webhook`, to resend
/// also `delivery`, to replay `from` and `to` (`yyyymmddHHMM`).
#[derive(Template)]
#[template(path = "webhooks.html")]
pub struct WebhooksPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// Where the forms post to.
    pub action: String,
    /// The webhooks, newest first.
    pub webhooks: Vec<WebhookItem>,
    /// The address of the built-in receiver, where there is one.
    pub sink_url: Option<String>,
}

impl WebhooksPage {
    const TAB: AppTab = AppTab::Webhooks;
}

impl HtmlPage for WebhooksPage {
    const NAME: &'static str = "webhooks";

    fn title(&self) -> String {
        format!("Webhooks: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::webhooks::webhooks_states()
    }
}
