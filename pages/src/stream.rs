//! An app's filtered stream: its rules and the live view.

use crate::page::{HtmlPage, html_page};
use crate::search_console::{PostMatch, QueryErrorMessage};
use crate::{AppRef, AppTab, FormField, PageFrame, Pager};
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

/// Form fields: `form`, `value`, `tag`, and `do` (`try` or `add`); to delete a rule: `rule`.
#[derive(Template)]
#[template(path = "stream.html")]
pub struct StreamRulesPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub action: String,
    pub delete: String,
    pub live: String,
    pub form_id: String,
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

html_page!(StreamRulesPage, |page| format!("Stream: {}", page.app.name), |page| vec![
    ("value", &page.value),
    ("tag", &page.tag)
]);

/// Its script ([`crate::STREAM_SCRIPT`]) reads the stream at `events`.
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

html_page!(LiveStreamPage, |page| format!("Live: {}", page.app.name));
