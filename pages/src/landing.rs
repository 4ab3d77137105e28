//! The first page: what this server is, and where to go from here.

use crate::{HtmlPage, PageFrame};
use askama::Template;

/// The first page.
#[derive(Template)]
#[template(path = "landing.html")]
pub struct LandingPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where a new account is created; `None`: nobody can without an invitation, or at all.
    pub sign_up: Option<String>,
    /// Whether an invitation is needed.
    pub invited_only: bool,
    /// The address that clients of the interface use.
    pub api: String,
    /// Where the interface is described.
    pub description: String,
}

impl HtmlPage for LandingPage {
    const NAME: &'static str = "landing";

    fn title(&self) -> String {
        "Welcome".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::sign_in::landing_states()
    }
}
