//! The API explorer: all operations, a form for each, and the response.

use super::SelectOption;
use crate::page::{HtmlPage, html_page};
use crate::{FormField, FormProblem, PageFrame};
use askama::Template;

pub struct ExplorerOperation {
    pub id: &'static str,
    pub method: &'static str,
    /// With its parameters in braces.
    pub path: String,
    pub summary: &'static str,
    /// Path of its form.
    pub link: String,
    /// Whether it can be called; others are declared only.
    pub is_built: bool,
    /// For example "OAuth 1.0a, app".
    pub credentials: String,
}

pub struct ExplorerGroup {
    pub name: String,
    pub operations: Vec<ExplorerOperation>,
}

/// The form sends `q` and `group`.
#[derive(Template)]
#[template(path = "console/explorer.html")]
pub struct ExplorerPage {
    pub frame: PageFrame,
    pub path: &'static str,
    pub query: FormField,
    pub group_options: Vec<SelectOption>,
    /// Operations that were searched for; empty if nothing was.
    pub groups: Vec<ExplorerGroup>,
    /// Link, name and number of operations of each group, if nothing was searched for.
    pub index: Vec<(String, String, usize)>,
    pub found: usize,
    pub built: usize,
    pub total: usize,
}

impl ExplorerPage {
    const SECTION: &'static str = "API explorer";
}

html_page!(ExplorerPage, |_| "API explorer".to_owned());

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplorerInput {
    Text,
    Area,
    /// The first option is empty unless a value is required.
    Select(Vec<SelectOption>),
}

pub struct ExplorerField {
    /// Name in the form: `path.id`, `query.max_results`, `body.text`.
    pub name: String,
    pub label: String,
    /// For example "integer, 5 to 100".
    pub kind: String,
    pub help: String,
    /// Accepted items of a list; may be empty.
    pub items: Vec<String>,
    pub is_required: bool,
    pub input: ExplorerInput,
    pub field: FormField,
}

pub struct ExplorerFieldSet {
    pub title: &'static str,
    pub fields: Vec<ExplorerField>,
}

pub struct ExplorerResponse {
    pub status: u16,
    pub took_ms: u128,
    /// Method and target.
    pub request_line: String,
    pub request_headers: Vec<(String, String)>,
    /// Empty if there was none.
    pub request_body: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Said below the body; may be empty.
    pub note: String,
    pub curl: String,
}

impl ExplorerResponse {
    pub(crate) const fn badge_kind(&self) -> &'static str {
        if self.status < 400 { "good" } else { "bad" }
    }
}

#[derive(Template)]
#[template(path = "console/operation.html")]
pub struct ExplorerOperationPage {
    pub frame: PageFrame,
    pub explorer: &'static str,
    pub operation: ExplorerOperation,
    /// Vocabulary, its path, and whether it is shown; empty if both are the same.
    pub vocabularies: Vec<(String, String, bool)>,
    pub vocabulary: &'static str,
    pub apps: Vec<SelectOption>,
    pub credential_options: Vec<SelectOption>,
    /// The username for credentials of a user.
    pub user: FormField,
    /// Whether the sandbox of the Ads API is called; none for other operations.
    pub sandbox: Option<bool>,
    pub field_sets: Vec<ExplorerFieldSet>,
    /// A JSON body instead of single fields, if the operation takes JSON.
    pub json: Option<FormField>,
    /// Why it cannot be called here; empty if it can.
    pub obstacle: &'static str,
    pub response: Option<ExplorerResponse>,
}

impl ExplorerOperationPage {
    const SECTION: &'static str = "API explorer";

    fn fields(&self) -> impl Iterator<Item = &ExplorerField> {
        self.field_sets.iter().flat_map(|set| &set.fields)
    }
}

impl HtmlPage for ExplorerOperationPage {
    fn title(&self) -> String {
        format!("{} {}", self.operation.method, self.operation.path)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        let own = self.fields().map(|input| (input.name.as_str(), &input.field));
        let rest = [("user", Some(&self.user)), ("json", self.json.as_ref())];
        let all = own.chain(rest.into_iter().filter_map(|(name, field)| Some((name, field?))));
        all.filter_map(|(name, field)| Some(FormProblem { field: name.to_owned().into(), text: field.error.clone()? }))
            .collect()
    }
}
