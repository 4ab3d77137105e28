//! Would this callback be accepted? And: the end of an app.

use crate::field::collect_problems;
use crate::{AppRef, AppTab, FormField, FormProblem, HtmlPage, PageFrame, TextDifference};
use askama::Template;

/// An address beside a registered one.
#[derive(Clone, Debug)]
pub struct CallbackDiff {
    /// What the app registered.
    pub registered: String,
    /// What was given.
    pub submitted: String,
    /// Whether OAuth 1.0a takes the one for the other.
    pub oauth1: bool,
    /// Whether OAuth 2.0 does.
    pub oauth2: bool,
}

impl CallbackDiff {
    /// The registered address, cut where they part.
    pub fn registered_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.registered, &self.submitted)
    }

    /// The given address, cut where they part.
    pub fn submitted_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.submitted, &self.registered)
    }

    /// At which character they part, counted from one.
    pub fn difference_position(&self) -> Option<usize> {
        crate::difference::difference_position(&self.submitted, &self.registered).map(|shared| shared.saturating_add(1))
    }
}

/// What the tester found.
#[derive(Clone, Debug)]
pub struct CallbackVerdict {
    /// Whether OAuth 1.0a would accept the address.
    pub oauth1: bool,
    /// Whether OAuth 2.0 would.
    pub oauth2: bool,
    /// Why the address could not be registered at all, as a sentence.
    pub rejection: Option<String>,
    /// Beside each registered address, the nearest first.
    pub comparisons: Vec<CallbackDiff>,
}

/// Callback tester. Form: `url`.
#[derive(Template)]
#[template(path = "callbacks.html")]
pub struct CallbackTesterPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// Where the form posts to.
    pub action: String,
    /// The address to test.
    pub url: FormField,
    /// How many addresses the app has registered.
    pub registered: usize,
    /// What was found.
    pub verdict: Option<CallbackVerdict>,
}

impl CallbackTesterPage {
    const TAB: AppTab = AppTab::Callbacks;
}

impl HtmlPage for CallbackTesterPage {
    const NAME: &'static str = "callbacks";

    fn title(&self) -> String {
        format!("Callback tester: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("url", &self.url)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::app::callback_tester_states()
    }
}

/// Delete an app. Form: `name`, which must be the app's.
#[derive(Template)]
#[template(path = "delete.html")]
pub struct DeleteAppPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// Where the form posts to.
    pub action: String,
    /// How many accounts are connected.
    pub connected: u64,
    /// What was typed.
    pub name: FormField,
}

impl DeleteAppPage {
    const TAB: AppTab = AppTab::Delete;
}

impl HtmlPage for DeleteAppPage {
    const NAME: &'static str = "delete";

    fn title(&self) -> String {
        format!("Delete {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("name", &self.name)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::app::delete_app_states()
    }
}
