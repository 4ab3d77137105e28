//! An app's stream: its rules, what they would have found, and what comes.

use crate::field::collect_problems;
use crate::search_console::{PostMatch, QueryErrorMessage};
use crate::{AppRef, AppTab, FormField, FormProblem, HtmlPage, PageFrame, Pager};
use askama::Template;
use base::Time;

/// A rule of an app.
#[derive(Clone, Debug)]
pub struct StreamRuleItem {
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
pub struct StreamRulesPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// Where the form of a new rule posts to.
    pub action: String,
    /// Where a rule is deleted.
    pub delete: String,
    /// Where what comes is shown.
    pub live: String,
    /// The new rule.
    pub value: FormField,
    /// Its label.
    pub tag: FormField,
    /// Why it cannot be read.
    pub query_errors: Vec<QueryErrorMessage>,
    /// Of stored posts, those that it would have found; none where it was not tried.
    pub tried_posts: Option<Vec<PostMatch>>,
    /// What was looked through, as a sentence.
    pub search_scope: String,
    /// The rules.
    pub rules: Vec<StreamRuleItem>,
    /// How many there are, and may be.
    pub count: (u64, u64),
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl StreamRulesPage {
    const TAB: AppTab = AppTab::Stream;
}

impl HtmlPage for StreamRulesPage {
    const NAME: &'static str = "stream";

    fn title(&self) -> String {
        format!("Stream: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("value", &self.value), ("tag", &self.tag)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::search_console::stream_rules_states()
    }
}

/// What comes on an app's stream. The one page with a script, from [`crate::SCRIPT_PATH`]: it reads
/// [`Live::events`], which is the stream itself.
#[derive(Template)]
#[template(path = "live.html")]
pub struct LiveStreamPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// The address of the stream.
    pub events: String,
    /// How many rules there are.
    pub rules: u64,
}

impl LiveStreamPage {
    const TAB: AppTab = AppTab::Stream;
}

impl HtmlPage for LiveStreamPage {
    const NAME: &'static str = "live";

    fn title(&self) -> String {
        format!("Live: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::search_console::live_stream_states()
    }
}
