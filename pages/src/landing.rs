//! The landing page.

use crate::{HtmlPage, PageFrame};
use askama::Template;

#[derive(Template)]
#[template(path = "landing.html")]
pub struct LandingPage {
    pub frame: PageFrame,
    /// `None` if registration is closed or by invitation only.
    pub sign_up: Option<String>,
    pub invited_only: bool,
    /// Base URL of the API.
    pub api: String,
    /// Path of the OpenAPI document.
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
