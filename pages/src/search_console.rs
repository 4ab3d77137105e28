//! The search console and what its pieces say: a query taken apart, posts that meet it, how many.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame, TextDifference};
use askama::Template;
use base::Time;

/// What a query is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConsoleProduct {
    /// Search over the last seven days.
    #[default]
    Recent,
    /// Search over all time.
    All,
    /// A rule of the filtered stream.
    Stream,
    /// A rule of the powerstream.
    Powerstream,
}

impl ConsoleProduct {
    /// In the order of the page.
    pub const ALL: [Self; 4] = [Self::Recent, Self::All, Self::Stream, Self::Powerstream];

    /// The value in forms: `recent`, `all`, `stream`, `powerstream`.
    pub const fn form_value(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::All => "all",
            Self::Stream => "stream",
            Self::Powerstream => "powerstream",
        }
    }

    /// Reads the value of a form.
    pub fn parse(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.form_value() == value)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recent => "Recent search",
            Self::All => "Full archive",
            Self::Stream => "Stream rule",
            Self::Powerstream => "Powerstream rule",
        }
    }

    /// What it looks through.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Recent => "Posts from the last seven days. Ignores accents.",
            Self::All => "All posts. Ignores accents.",
            Self::Stream => "New posts and the posts they quote. Respects accents.",
            Self::Powerstream => "New posts, with its own set of operators.",
        }
    }
}

/// A query taken apart, as a list to be read from top to bottom: groups open and close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryTreeStep {
    /// A group begins.
    Open {
        /// Whether one of its parts is enough.
        any: bool,
        /// Whether a post meets it, where there is one.
        matched: Option<bool>,
    },
    /// The last group that began ends.
    Close,
    /// One term.
    Term {
        /// As it is printed, with its minus sign.
        text: String,
        /// What its operator matches.
        description: String,
        /// Whether a post meets it, where there is one.
        matched: Option<bool>,
    },
}

/// A query that can be read.
#[derive(Clone, Debug, Default)]
pub struct ParsedQuerySummary {
    /// Its canonical print.
    pub canonical: String,
    /// Characters.
    pub length: usize,
    /// Characters that it may have.
    pub max_length: usize,
    /// What it is made of.
    pub steps: Vec<QueryTreeStep>,
}

/// Why a query cannot be read.
#[derive(Clone, Debug)]
pub struct QueryErrorMessage {
    /// In the interface's own words.
    pub text: String,
    /// Where, in characters from 1; none where it is about the whole.
    pub position: Option<usize>,
}

impl QueryErrorMessage {
    /// The query, cut at the place.
    pub fn split_query<'a>(&self, query: &'a str) -> Option<TextDifference<'a>> {
        Some(TextDifference::split_at(query, self.position?))
    }
}

/// A post in a list, and how it meets a query.
#[derive(Clone, Debug)]
pub struct PostMatch {
    /// Its id.
    pub id: String,
    /// Its author's handle.
    pub username: String,
    /// Its text.
    pub text: String,
    /// When it was written.
    pub created_at: Time,
    /// Whether it meets the query.
    pub matched: bool,
    /// The query, with what the post meets of it.
    pub steps: Vec<QueryTreeStep>,
}

/// How many posts there were in each part of a span of time.
#[derive(Clone, Debug, Default)]
pub struct PostCountChart {
    /// Beginning and number of each part, oldest first.
    pub bars: Vec<(Time, u64)>,
    /// How long a part is, in words: "hour".
    pub bucket_unit: &'static str,
}

impl PostCountChart {
    /// All of them.
    pub fn total_count(&self) -> u64 {
        self.bars.iter().map(|(_, count)| count).sum()
    }

    /// Of the part with most, at least one.
    pub fn max_count(&self) -> u64 {
        let most = self.bars.iter().map(|(_, count)| *count).max();
        most.unwrap_or(0).max(1)
    }

    /// The width of the drawing: ten for each part.
    pub fn view_width(&self) -> usize {
        self.bars.len().max(1).saturating_mul(10)
    }

    /// Where each bar begins, where its top is, and how high it is, of a hundred.
    pub fn bar_rects(&self) -> Vec<(usize, u64, u64)> {
        let most = self.max_count();
        let bars = self.bars.iter().zip(0_usize..);
        bars.map(|((_, count), place)| {
            let height = count.saturating_mul(100) / most;
            // What is there at all is to be seen.
            let height = if *count > 0 { height.max(2) } else { 0 };
            (place.saturating_mul(10), 100_u64.saturating_sub(height), height)
        })
        .collect()
    }

    /// The parts that have any.
    pub fn nonempty_bars(&self) -> Vec<(Time, u64)> {
        let bars = self.bars.iter().filter(|(_, count)| *count > 0);
        bars.copied().collect()
    }
}

/// A line of the help.
#[derive(Clone, Debug)]
pub struct OperatorHelp {
    /// As it is written, and its other names.
    pub syntax: String,
    /// What it matches.
    pub description: &'static str,
    /// Whether it may stand alone.
    pub standalone: bool,
}

/// Search console. Form: `query`, `product` ([`QueryFor::value`]), `post`.
#[derive(Template)]
#[template(path = "search_console.html")]
pub struct SearchConsolePage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// The query.
    pub query: FormField,
    /// What it is for.
    pub product: ConsoleProduct,
    /// The id of a post to be held against it.
    pub post: FormField,
    /// Why it cannot be read.
    pub query_errors: Vec<QueryErrorMessage>,
    /// What it says.
    pub parsed: Option<ParsedQuerySummary>,
    /// How that post meets it.
    pub checked_post: Option<PostMatch>,
    /// How many posts meet it.
    pub chart: Option<PostCountChart>,
    /// The newest posts that meet it; none where nothing was looked for.
    pub matching_posts: Option<Vec<PostMatch>>,
    /// What was looked through, as a sentence.
    pub search_scope: String,
    /// The operators that it may have.
    pub operators: Vec<OperatorHelp>,
}

impl HtmlPage for SearchConsolePage {
    const NAME: &'static str = "search-console";

    fn title(&self) -> String {
        "Search console".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("query", &self.query), ("post", &self.post)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::search_console::search_console_states()
    }
}
