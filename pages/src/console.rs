//! The search console and what its pieces say: a query taken apart, posts that meet it, how many.

use crate::field::problems;
use crate::{Difference, Field, Frame, Page, Problem};
use askama::Template;
use base::Time;

/// What a query is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryFor {
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

impl QueryFor {
    /// In the order of the page.
    pub const ALL: [Self; 4] = [Self::Recent, Self::All, Self::Stream, Self::Powerstream];

    /// The value in forms: `recent`, `all`, `stream`, `powerstream`.
    pub const fn value(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::All => "all",
            Self::Stream => "stream",
            Self::Powerstream => "powerstream",
        }
    }

    /// Reads the value of a form.
    pub fn parse(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.value() == value)
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
            Self::Recent => "Posts of the last seven days. Accents do not count.",
            Self::All => "All posts. Accents do not count.",
            Self::Stream => "Posts to come, and what they quote. Accents count.",
            Self::Powerstream => "Posts to come, with operators of its own.",
        }
    }
}

/// A query taken apart, as a list to be read from top to bottom: groups open and close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A group begins.
    Open {
        /// Whether one of its parts is enough.
        any: bool,
        /// Whether a post meets it, where there is one.
        met: Option<bool>,
    },
    /// The last group that began ends.
    Close,
    /// One term.
    Term {
        /// As it is printed, with its minus sign.
        text: String,
        /// What its operator matches.
        about: String,
        /// Whether a post meets it, where there is one.
        met: Option<bool>,
    },
}

/// A query that can be read.
#[derive(Clone, Debug, Default)]
pub struct ReadQuery {
    /// Its canonical print.
    pub canonical: String,
    /// Characters.
    pub length: usize,
    /// Characters that it may have.
    pub longest: usize,
    /// What it is made of.
    pub steps: Vec<Step>,
}

/// Why a query cannot be read.
#[derive(Clone, Debug)]
pub struct Fault {
    /// In the interface's own words.
    pub text: String,
    /// Where, in characters from 1; none where it is about the whole.
    pub at: Option<usize>,
}

impl Fault {
    /// The query, cut at the place.
    pub fn of<'a>(&self, query: &'a str) -> Option<Difference<'a>> {
        Some(Difference::at(query, self.at?))
    }
}

/// A post in a list, and how it meets a query.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its id.
    pub id: String,
    /// Its author's handle.
    pub username: String,
    /// Its text.
    pub text: String,
    /// When it was written.
    pub at: Time,
    /// Whether it meets the query.
    pub met: bool,
    /// The query, with what the post meets of it.
    pub steps: Vec<Step>,
}

/// How many posts there were in each part of a span of time.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Beginning and number of each part, oldest first.
    pub bars: Vec<(Time, u64)>,
    /// How long a part is, in words: "hour".
    pub each: &'static str,
}

impl Chart {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.bars.iter().map(|(_, count)| count).sum()
    }

    /// Of the part with most, at least one.
    pub fn most(&self) -> u64 {
        let most = self.bars.iter().map(|(_, count)| *count).max();
        most.unwrap_or(0).max(1)
    }

    /// The width of the drawing: ten for each part.
    pub fn width(&self) -> usize {
        self.bars.len().max(1).saturating_mul(10)
    }

    /// Where each bar begins, where its top is, and how high it is, of a hundred.
    pub fn drawn(&self) -> Vec<(usize, u64, u64)> {
        let most = self.most();
        let bars = self.bars.iter().zip(0_usize..);
        bars.map(|((_, count), place)| {
            let height = count.saturating_mul(100) / most;
            // What is there at all is to be seen.
            let height = if *count > 0 { height.max(2) } else { 0 };
            (
                place.saturating_mul(10),
                100_u64.saturating_sub(height),
                height,
            )
        })
        .collect()
    }

    /// The parts that have any.
    pub fn filled(&self) -> Vec<(Time, u64)> {
        let bars = self.bars.iter().filter(|(_, count)| *count > 0);
        bars.copied().collect()
    }
}

/// A line of the help.
#[derive(Clone, Debug)]
pub struct OperatorLine {
    /// As it is written, and its other names.
    pub written: String,
    /// What it matches.
    pub about: &'static str,
    /// Whether it may stand alone.
    pub alone: bool,
}

/// Search console. Form: `query`, `product` ([`QueryFor::value`]), `post`.
#[derive(Template)]
#[template(path = "search_console.html")]
pub struct SearchConsole {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// The query.
    pub query: Field,
    /// What it is for.
    pub product: QueryFor,
    /// The id of a post to be held against it.
    pub post: Field,
    /// Why it cannot be read.
    pub faults: Vec<Fault>,
    /// What it says.
    pub read: Option<ReadQuery>,
    /// How that post meets it.
    pub judged: Option<Judged>,
    /// How many posts meet it.
    pub chart: Option<Chart>,
    /// The newest posts that meet it; none where nothing was looked for.
    pub found: Option<Vec<Judged>>,
    /// What was looked through, as a sentence.
    pub looked_through: String,
    /// The operators that it may have.
    pub operators: Vec<OperatorLine>,
}

impl Page for SearchConsole {
    const NAME: &'static str = "search-console";

    fn title(&self) -> String {
        "Search console".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("query", &self.query), ("post", &self.post)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::console::search()
    }
}
