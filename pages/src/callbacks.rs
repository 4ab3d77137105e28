//! The callback tester, and deleting an app.

use crate::field::collect_problems;
use crate::{AppRef, AppTab, FormField, FormProblem, HtmlPage, PageFrame, TextDifference};
use askama::Template;

#[derive(Clone, Debug)]
pub struct CallbackDiff {
    pub registered: String,
    pub submitted: String,
    pub oauth1: bool,
    pub oauth2: bool,
}

impl CallbackDiff {
    pub fn registered_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.registered, &self.submitted)
    }

    pub fn submitted_difference(&self) -> Option<TextDifference<'_>> {
        TextDifference::compare(&self.submitted, &self.registered)
    }

    /// In characters, from 1.
    pub fn difference_position(&self) -> Option<usize> {
        crate::difference::difference_position(&self.submitted, &self.registered).map(|shared| shared.saturating_add(1))
    }
}

#[derive(Clone, Debug)]
pub struct CallbackVerdict {
    pub oauth1: bool,
    pub oauth2: bool,
    /// Why the URL could not be registered at all, as a sentence.
    pub rejection: Option<String>,
    /// One per registered URL, the closest match first.
    pub comparisons: Vec<CallbackDiff>,
}

/// Form fields: `url`.
#[derive(Template)]
#[template(path = "callbacks.html")]
pub struct CallbackTesterPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub action: String,
    pub url: FormField,
    pub registered: usize,
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

/// Form fields: `name`, which must be the app's name.
#[derive(Template)]
#[template(path = "delete.html")]
pub struct DeleteAppPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub action: String,
    pub connected: u64,
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
