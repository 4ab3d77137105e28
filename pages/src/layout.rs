//! What surrounds the content of a page. Templates of its own, because what `layout.html` contains is compiled for
//! each page that extends it.

use askama::Template;

use crate::{FormProblem, PageFrame};

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
    frame: &'page PageFrame,
}

pub(crate) fn page_header(frame: &PageFrame) -> PageHeader<'_> {
    PageHeader { frame }
}

#[derive(Template)]
#[template(path = "layout_messages.html")]
pub struct FormMessages<'page> {
    pub(crate) frame: &'page PageFrame,
    pub(crate) problems: Vec<FormProblem>,
}
