//! An app's webhooks: whether their receivers answer, and what was sent to them.

use crate::{App, Frame, Page, Tab};
use askama::Template;
use base::Time;

/// A challenge and its answer.
pub struct Challenge {
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
pub struct Try {
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
pub struct Sent {
    /// Its number.
    pub number: i64,
    /// What the receiver knows the event by.
    pub event_id: String,
    /// When it happened.
    pub at: Time,
    /// How far it is, in a word.
    pub state: &'static str,
    /// Whether it was sent again because somebody asked for it.
    pub again: bool,
    /// What is sent.
    pub body: String,
    /// Each try, newest first.
    pub tries: Vec<Try>,
}

/// A webhook.
pub struct Hook {
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
    pub challenge: Option<Challenge>,
    /// The newest deliveries.
    pub sent: Vec<Sent>,
}

/// An app's webhooks. Forms post `act` (`challenge`, `resend` or `replay`) and `webhook`, to resend
/// also `delivery`, to replay `from` and `to` (`yyyymmddHHMM`).
#[derive(Template)]
#[template(path = "webhooks.html")]
pub struct Webhooks {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: App,
    /// Where the forms post to.
    pub action: String,
    /// The webhooks, newest first.
    pub hooks: Vec<Hook>,
    /// The address of the built-in receiver, where there is one.
    pub sink: Option<String>,
}

impl Webhooks {
    const TAB: Tab = Tab::Webhooks;
}

impl Page for Webhooks {
    const NAME: &'static str = "webhooks";

    fn title(&self) -> String {
        format!("Webhooks: {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::webhooks::webhooks()
    }
}
