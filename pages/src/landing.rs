//! The landing page.

use crate::PageFrame;
use crate::page::{HtmlPage, html_page};
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

html_page!(LandingPage, |_| "Welcome".to_owned());
