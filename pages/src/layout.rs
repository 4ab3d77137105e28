//! What surrounds the content of a page. Templates of its own, because what `layout.html` contains is compiled for
//! each page that extends it.

use askama::Template;

use crate::{AppRef, AppTab, FormProblem, PageFrame, SiteLinks};

#[derive(Template)]
#[template(path = "layout_head.html")]
pub struct DocumentHead<'page> {
    pub(crate) frame: &'page PageFrame,
    pub(crate) title: String,
    pub(crate) has_problems: bool,
}

#[derive(Template)]
#[template(path = "layout_header.html")]
pub(crate) struct PageHeader<'page> {
    pub(crate) frame: &'page PageFrame,
}

#[derive(Template)]
#[template(path = "layout_messages.html")]
pub struct FormMessages<'page> {
    pub(crate) frame: &'page PageFrame,
    pub(crate) problems: Vec<FormProblem>,
}

#[derive(Template)]
#[template(path = "layout_footer.html")]
pub(crate) struct PageFooter<'page> {
    pub(crate) frame: &'page PageFrame,
}

#[derive(Template)]
#[template(path = "settings_sections.html")]
pub(crate) struct SettingsSections<'page> {
    pub(crate) links: &'page SiteLinks,
    pub(crate) current: &'static str,
}

#[derive(Template)]
#[template(path = "console_sections.html")]
pub(crate) struct ConsoleSections {
    pub(crate) current: &'static str,
}

/// The name of an app and the tabs of its settings.
#[derive(Template)]
#[template(path = "app_header.html")]
pub(crate) struct AppHeader<'page> {
    pub(crate) frame: &'page PageFrame,
    pub(crate) app: &'page AppRef,
    pub(crate) tab: AppTab,
}
