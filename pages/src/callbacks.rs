//! Would this callback be accepted? And: the end of an app.

use crate::field::problems;
use crate::{App, Difference, Field, Frame, Page, Problem, Tab};
use askama::Template;

/// An address beside a registered one.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What the app registered.
    pub registered: String,
    /// What was given.
    pub given: String,
    /// Whether OAuth 1.0a takes the one for the other.
    pub oauth1: bool,
    /// Whether OAuth 2.0 does.
    pub oauth2: bool,
}

impl Compared {
    /// The registered address, cut where they part.
    pub fn of_registered(&self) -> Option<Difference<'_>> {
        Difference::of(&self.registered, &self.given)
    }

    /// The given address, cut where they part.
    pub fn of_given(&self) -> Option<Difference<'_>> {
        Difference::of(&self.given, &self.registered)
    }

    /// At which character they part, counted from one.
    pub fn character(&self) -> Option<usize> {
        crate::difference::position(&self.given, &self.registered)
            .map(|shared| shared.saturating_add(1))
    }
}

/// What the tester found.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whether OAuth 1.0a would accept the address.
    pub oauth1: bool,
    /// Whether OAuth 2.0 would.
    pub oauth2: bool,
    /// Why the address could not be registered at all, as a sentence.
    pub unfit: Option<String>,
    /// Beside each registered address, the nearest first.
    pub compared: Vec<Compared>,
}

/// Callback tester. Form: `url`.
#[derive(Template)]
#[template(path = "callbacks.html")]
pub struct CallbackTester {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: App,
    /// Where the form posts to.
    pub action: String,
    /// The address to test.
    pub url: Field,
    /// How many addresses the app has registered.
    pub registered: usize,
    /// What was found.
    pub verdict: Option<Verdict>,
}

impl CallbackTester {
    const TAB: Tab = Tab::Callbacks;
}

impl Page for CallbackTester {
    const NAME: &'static str = "callbacks";

    fn title(&self) -> String {
        format!("Callback tester: {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("url", &self.url)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::app::callbacks()
    }
}

/// Delete an app. Form: `name`, which must be the app's.
#[derive(Template)]
#[template(path = "delete.html")]
pub struct Delete {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: App,
    /// Where the form posts to.
    pub action: String,
    /// How many accounts are connected.
    pub connected: u64,
    /// What was typed.
    pub name: Field,
}

impl Delete {
    const TAB: Tab = Tab::Delete;
}

impl Page for Delete {
    const NAME: &'static str = "delete";

    fn title(&self) -> String {
        format!("Delete {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("name", &self.name)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::app::delete()
    }
}
