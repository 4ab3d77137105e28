//! What all pages share.

use crate::{FormProblem, PageFrame};
use base::Fault;

/// A page: a value that becomes HTML.
pub trait HtmlPage: askama::Template + Sized {
    /// Its name in the gallery.
    const NAME: &'static str;

    /// What the browser's tab says, before the product's name.
    fn title(&self) -> String;

    /// The surroundings.
    fn page_frame(&self) -> &PageFrame;

    /// Everything wrong with what was typed, for the summary at the top.
    fn form_problems(&self) -> Vec<FormProblem> {
        Vec::new()
    }

    /// Every state worth looking at, each with a short name.
    fn sample_states() -> Vec<(&'static str, Self)>;

    /// The document.
    fn render_html(&self) -> Result<String, Fault> {
        self.render().map_err(Fault::context("render a page"))
    }

    /// Whether the summary of problems has anything to say.
    fn has_problems(&self) -> bool {
        self.page_frame().failure.is_some() || !self.form_problems().is_empty()
    }
}

/// Links to the neighbouring parts of a long list.
#[derive(Clone, Debug, Default)]
pub struct Pager {
    /// Path of the part before, if there is one.
    pub previous: Option<String>,
    /// Path of the part after, if there is one.
    pub next: Option<String>,
}

/// Whether a text is an address that may be a link.
pub(crate) fn is_web_url(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

/// The first letter or digit of a name, as a stand-in for a picture.
pub(crate) fn initial_letter(name: &str) -> String {
    let letter = name.chars().find(|letter| letter.is_alphanumeric());
    letter.map_or_else(|| "·".to_owned(), |letter| letter.to_uppercase().collect())
}
