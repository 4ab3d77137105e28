//! The callback tester, and deleting an app.

use crate::page::{HtmlPage, html_page};
use crate::{AppRef, AppTab, FormField, PageFrame, TextDifference};
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

html_page!(CallbackTesterPage, |page| format!("Callback tester: {}", page.app.name), |page| vec![("url", &page.url)]);

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

html_page!(DeleteAppPage, |page| format!("Delete {}", page.app.name), |page| vec![("name", &page.name)]);
