//! An app's filtered stream: its rules and the live view.

use crate::field::collect_problems;
use crate::search_console::{PostMatch, QueryErrorMessage};
use crate::{AppRef, AppTab, FormField, FormProblem, HtmlPage, PageFrame, Pager};
use askama::Template;
use base::Time;

#[derive(Clone, Debug)]
pub struct StreamRuleItem {
    pub id: String,
    pub value: String,
    /// May be empty.
    pub tag: String,
    pub added: Time,
}

/// Form fields: `value`, `tag`, and `do` (`try` or `add`); to delete a rule: `rule`.
#[derive(Template)]
#[template(path = "stream.html")]
pub struct StreamRulesPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub action: String,
    pub delete: String,
    pub live: String,
    pub value: FormField,
    pub tag: FormField,
    pub query_errors: Vec<QueryErrorMessage>,
    /// `None` if the rule was not tested.
    pub tried_posts: Option<Vec<PostMatch>>,
    /// What was searched, as a sentence.
    pub search_scope: String,
    pub rules: Vec<StreamRuleItem>,
    /// Number of rules, and maximum.
    pub count: (u64, u64),
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

/// The only page with a script ([`crate::SCRIPT_PATH`]), which reads the stream at `events`.
#[derive(Template)]
#[template(path = "live.html")]
pub struct LiveStreamPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub events: String,
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
