//! The search console, and its parts: parsed queries, matching posts and counts.

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, TextDifference, ZonedTime};
use askama::Template;
use base::Time;

base::named_enum! {
    /// In display order, with the names in forms.
    #[derive(Default)]
    pub enum ConsoleProduct {
        #[default]
        Recent = "recent",
        All = "all",
        Stream = "stream",
        Powerstream = "powerstream",
    }
}

impl ConsoleProduct {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Recent => "Recent search",
            Self::All => "Full archive",
            Self::Stream => "Stream rule",
            Self::Powerstream => "Powerstream rule",
        }
    }

    pub const fn hint(self) -> &'static str {
        match self {
            Self::Recent => "Posts from the last seven days. Ignores accents.",
            Self::All => "All posts. Ignores accents.",
            Self::Stream => "New posts and the posts they quote. Respects accents.",
            Self::Powerstream => "New posts, with its own set of operators.",
        }
    }
}

/// A parsed query as a flat list, in which groups open and close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryTreeStep {
    Open {
        /// Whether one matching child suffices.
        any: bool,
        /// `None` if no post was tested.
        matched: Option<bool>,
    },
    Close,
    Term {
        /// As printed, including a minus sign.
        text: String,
        description: String,
        /// `None` if no post was tested.
        matched: Option<bool>,
    },
}

#[derive(Template)]
#[template(path = "query_tree.html")]
pub(crate) struct QueryTree<'query> {
    pub(crate) steps: &'query [QueryTreeStep],
}

#[derive(Clone, Debug, Default)]
pub struct ParsedQuerySummary {
    pub canonical: String,
    /// In characters.
    pub length: usize,
    pub max_length: usize,
    pub steps: Vec<QueryTreeStep>,
}

#[derive(Clone, Debug)]
pub struct QueryErrorMessage {
    /// As in API errors.
    pub text: String,
    /// In characters, from 1; `None` if it concerns the whole query.
    pub position: Option<usize>,
}

impl QueryErrorMessage {
    pub fn split_query<'a>(&self, query: &'a str) -> Option<TextDifference<'a>> {
        Some(TextDifference::split_at(query, self.position?))
    }
}

#[derive(Clone, Debug)]
pub struct PostMatch {
    pub id: String,
    pub username: String,
    pub text: String,
    pub created_at: Time,
    pub matched: bool,
    pub steps: Vec<QueryTreeStep>,
}

#[derive(Template)]
#[template(path = "post_match.html")]
pub(crate) struct PostMatchHtml<'page> {
    post: &'page PostMatch,
    now: &'page ZonedTime,
    is_open: bool,
}

impl PostMatch {
    pub(crate) fn html<'page>(&'page self, now: &'page ZonedTime, is_open: bool) -> PostMatchHtml<'page> {
        PostMatchHtml { post: self, now, is_open }
    }
}

#[derive(Clone, Debug, Default)]
pub struct PostCountChart {
    /// Start and count of each bucket, oldest first.
    pub bars: Vec<(Time, u64)>,
    /// For example "hour".
    pub bucket_unit: &'static str,
}

impl PostCountChart {
    pub fn total_count(&self) -> u64 {
        self.bars.iter().map(|(_, count)| count).sum()
    }

    /// At least 1.
    pub fn max_count(&self) -> u64 {
        let max = self.bars.iter().map(|(_, count)| *count).max();
        max.unwrap_or(0).max(1)
    }

    /// Ten units per bucket.
    pub fn view_width(&self) -> usize {
        self.bars.len().max(1).saturating_mul(10)
    }

    /// `(x, y, height)` of each bar in a chart that is 100 units high.
    pub fn bar_rects(&self) -> Vec<(usize, u64, u64)> {
        crate::page::bar_rects(self.bars.iter().map(|(_, count)| *count))
    }

    pub fn nonempty_bars(&self) -> Vec<(Time, u64)> {
        let bars = self.bars.iter().filter(|(_, count)| *count > 0);
        bars.copied().collect()
    }
}

#[derive(Clone, Debug)]
pub struct OperatorHelp {
    /// Including aliases.
    pub syntax: String,
    pub description: &'static str,
    pub standalone: bool,
}

/// Form fields: `query`, `product` ([`ConsoleProduct::name`]), `post` (a post ID).
#[derive(Template)]
#[template(path = "search_console.html")]
pub struct SearchConsolePage {
    pub frame: PageFrame,
    pub action: String,
    pub query: FormField,
    pub product: ConsoleProduct,
    pub post: FormField,
    pub query_errors: Vec<QueryErrorMessage>,
    pub parsed: Option<ParsedQuerySummary>,
    pub checked_post: Option<PostMatch>,
    pub chart: Option<PostCountChart>,
    /// `None` if nothing was searched.
    pub matching_posts: Option<Vec<PostMatch>>,
    /// What was searched, as a sentence.
    pub search_scope: String,
    pub operators: Vec<OperatorHelp>,
}

html_page!(SearchConsolePage, |_| "Search console".to_owned(), |page| vec![
    ("query", &page.query),
    ("post", &page.post)
]);
