//! The settings of muted words.

use askama::Template;
use base::Time;

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

/// Values and labels of the field `duration`.
pub const MUTE_DURATIONS: [(&str, &str); 4] =
    [("", "For good"), ("day", "24 hours"), ("week", "7 days"), ("month", "30 days")];

pub struct MutedWordItem {
    pub id: String,
    pub phrase: String,
    /// None if it is muted for good.
    pub expires_at: Option<Time>,
}

/// Form fields: `word` and `duration`, or `remove`, an id.
#[derive(Template)]
#[template(path = "members/muted_words.html")]
pub struct MutedWordsPage {
    pub frame: PageFrame,
    pub word: FormField,
    pub duration: String,
    pub words: Vec<MutedWordItem>,
}

impl MutedWordsPage {
    const SECTION: &'static str = "Muted words";
}

html_page!(MutedWordsPage, |_| "Muted words".to_owned(), |page| vec![("word", &page.word)]);
