//! What all pages share.

use crate::layout::{DocumentHead, FormMessages};
use crate::{FormProblem, PageFrame};
use base::Fault;

pub trait HtmlPage: askama::Template + Sized {
    /// Without the site's name.
    fn title(&self) -> String;

    fn page_frame(&self) -> &PageFrame;

    /// Invalid fields, for the summary at the top.
    fn form_problems(&self) -> Vec<FormProblem>;

    fn render_html(&self) -> Result<String, Fault> {
        self.render().map_err(Fault::context("failed to render a page"))
    }

    fn document_head(&self) -> DocumentHead<'_> {
        let frame = self.page_frame();
        let has_problems = frame.failure.is_some() || !self.form_problems().is_empty();
        DocumentHead { frame, title: self.title(), has_problems }
    }

    fn form_messages(&self) -> FormMessages<'_> {
        FormMessages { frame: self.page_frame(), problems: self.form_problems() }
    }
}

/// Implements [`HtmlPage`]: the page's title and, if it has a form, its fields by their IDs.
macro_rules! html_page {
    ($page:ty, $title:expr) => {
        crate::page::html_page!($page, $title, |_| Vec::new());
    };
    ($page:ty, $title:expr, $fields:expr) => {
        impl crate::HtmlPage for $page {
            fn title(&self) -> String {
                let title: fn(&Self) -> String = $title;
                title(self)
            }

            fn page_frame(&self) -> &crate::PageFrame {
                &self.frame
            }

            fn form_problems(&self) -> Vec<crate::FormProblem> {
                let fields: fn(&Self) -> Vec<(&'static str, &crate::FormField)> = $fields;
                crate::field::collect_problems(&fields(self))
            }
        }
    };
}
pub(crate) use html_page;

#[derive(Clone, Debug, Default)]
pub struct Pager {
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl Pager {
    /// Whether there are no pages before and after this one.
    pub(crate) const fn is_only_page(&self) -> bool {
        self.previous.is_none() && self.next.is_none()
    }
}

/// A number of something of which at most 100 were counted.
pub(crate) fn render_count(count: usize) -> String {
    if count > 99 { "99+".to_owned() } else { count.to_string() }
}

/// `(x, y, height)` of each bar in a chart that is 100 units high and has ten units per bar.
pub(crate) fn bar_rects(values: impl Iterator<Item = u64> + Clone) -> Vec<(usize, u64, u64)> {
    let max = values.clone().max().unwrap_or(0).max(1);
    let bars = values.zip(0_usize..).map(|(value, index)| {
        let share = u128::from(value).saturating_mul(100) / u128::from(max);
        // Non-zero values stay visible.
        let min = u64::from(value > 0).saturating_mul(2);
        let height = u64::try_from(share).unwrap_or(100).max(min);
        (index.saturating_mul(10), 100_u64.saturating_sub(height), height)
    });
    bars.collect()
}

/// Whether the scheme is http or https.
pub(crate) fn is_web_url(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

/// The beginning of a text on one line, with an ellipsis if there is more.
pub fn excerpt(text: &str, max_characters: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}

/// First letter or digit in upper case, as a stand-in for an image.
pub(crate) fn initial_letter(name: &str) -> String {
    let letter = name.chars().find(|letter| letter.is_alphanumeric());
    letter.map_or_else(|| "·".to_owned(), |letter| letter.to_uppercase().collect())
}
