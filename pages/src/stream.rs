//! An app's stream: its rules, what they would have found, and what comes.

use crate::console::{Fault, Judged};
use crate::field::problems;
use crate::{App, Field, Frame, Page, Pager, Problem, Tab};
use askama::Template;
use base::Time;

/// A rule of an app.
#[derive(Clone, Debug)]
pub struct RuleLine {
    /// Its id.
    pub id: String,
    /// As it was written.
    pub value: String,
    /// The app's own label, or empty.
    pub tag: String,
    /// When it was added.
    pub added: Time,
}

/// The rules of an app's filtered stream. Form: `value`, `tag`, and `do`, which is `try` or `add`;
/// to delete one: `rule`.
#[derive(Template)]
#[template(path = "stream.html")]
pub struct StreamRules {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: App,
    /// Where the form of a new rule posts to.
    pub action: String,
    /// Where a rule is deleted.
    pub delete: String,
    /// Where what comes is shown.
    pub live: String,
    /// The new rule.
    pub value: Field,
    /// Its label.
    pub tag: Field,
    /// Why it cannot be read.
    pub faults: Vec<Fault>,
    /// Of stored posts, those that it would have found; none where it was not tried.
    pub tried: Option<Vec<Judged>>,
    /// What was looked through, as a sentence.
    pub looked_through: String,
    /// The rules.
    pub rules: Vec<RuleLine>,
    /// How many there are, and may be.
    pub count: (u64, u64),
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl StreamRules {
    const TAB: Tab = Tab::Stream;
}

impl Page for StreamRules {
    const NAME: &'static str = "stream";

    fn title(&self) -> String {
        format!("Stream: {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("value", &self.value), ("tag", &self.tag)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::console::stream()
    }
}

/// What comes on an app's stream. The one page with a script, from [`crate::SCRIPT_PATH`]: it reads
/// [`Live::events`], which is the stream itself.
#[derive(Template)]
#[template(path = "live.html")]
pub struct Live {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: App,
    /// The address of the stream.
    pub events: String,
    /// How many rules there are.
    pub rules: u64,
}

impl Live {
    const TAB: Tab = Tab::Stream;
}

impl Page for Live {
    const NAME: &'static str = "live";

    fn title(&self) -> String {
        format!("Live: {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::console::live()
    }
}
