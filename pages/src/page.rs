//! What all pages share.

use crate::{FormProblem, PageFrame};
use base::Fault;

pub trait HtmlPage: askama::Template + Sized {
    /// Name in the gallery.
    const NAME: &'static str;

    /// Without the site's name.
    fn title(&self) -> String;

    fn page_frame(&self) -> &PageFrame;

    /// Invalid fields, for the summary at the top.
    fn form_problems(&self) -> Vec<FormProblem> {
        Vec::new()
    }

    /// Every state worth reviewing, each with a short name.
    fn sample_states() -> Vec<(&'static str, Self)>;

    fn render_html(&self) -> Result<String, Fault> {
        self.render().map_err(Fault::context("failed to render a page"))
    }

    fn has_problems(&self) -> bool {
        self.page_frame().failure.is_some() || !self.form_problems().is_empty()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Pager {
    pub previous: Option<String>,
    pub next: Option<String>,
}

/// Whether the scheme is http or https.
pub(crate) fn is_web_url(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

/// First letter or digit in upper case, as a stand-in for an image.
pub(crate) fn initial_letter(name: &str) -> String {
    let letter = name.chars().find(|letter| letter.is_alphanumeric());
    letter.map_or_else(|| "·".to_owned(), |letter| letter.to_uppercase().collect())
}
