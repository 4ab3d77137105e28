//! The Ads Manager, whose pages all consist of a heading and blocks.

use askama::Template;
use base::Time;

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame, Pager, ZonedTime};

#[derive(Default, Template)]
#[template(path = "manager.html")]
pub struct AdsManagerPage {
    pub frame: PageFrame,
    /// `None` on the page that lists the accounts.
    pub account: Option<AdsAccountSummary>,
    pub accounts: Vec<AdsAccountSummary>,
    pub tabs: Vec<NavLink>,
    pub trail: Vec<NavLink>,
    pub heading: String,
    pub badge: Option<StatusBadge>,
    pub lead: String,
    pub actions: Vec<NavLink>,
    /// Takes back what was just done.
    pub undo: Option<ActionButton>,
    /// Of the form among the blocks, which has its effect once.
    pub form_id: String,
    pub blocks: Vec<PageBlock>,
}

#[derive(Clone, Default)]
pub struct AdsAccountSummary {
    pub id: String,
    pub name: String,
    pub role: String,
    pub sandbox: bool,
    pub path: String,
}

#[derive(Clone, Default)]
pub struct NavLink {
    pub text: String,
    pub path: String,
    pub current: bool,
    /// Button style: `primary`, `quiet` or `danger-quiet`.
    pub kind: &'static str,
}

impl NavLink {
    pub fn new(text: impl Into<String>, path: impl Into<String>) -> Self {
        Self { text: text.into(), path: path.into(), current: false, kind: "quiet" }
    }

    #[must_use]
    pub fn with_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }
}

#[derive(Clone, Default)]
pub struct StatusBadge {
    pub text: String,
    /// `good`, `warn`, `bad` or empty.
    pub kind: &'static str,
}

pub enum PageBlock {
    Metrics(Vec<MetricTile>),
    Charts(DailyCharts),
    Table(DataTable),
    Facts(DetailList),
    Form(FormBlock),
    Query(QueryForm),
    Previews(CreativePreviews),
    Empty(EmptyState),
    Note(String),
    Code(CodeBlock),
}

/// Text to copy into another program.
#[derive(Clone, Default)]
pub struct CodeBlock {
    pub title: String,
    pub lead: String,
    pub text: String,
}

#[derive(Clone, Default)]
pub struct MetricTile {
    pub label: String,
    pub value: String,
    pub subtext: String,
}

#[derive(Default, Template)]
#[template(path = "manager_charts.html")]
pub struct DailyCharts {
    pub title: String,
    pub spans: Vec<NavLink>,
    pub actions: Vec<NavLink>,
    pub series: Vec<DailySeries>,
}

impl DailyCharts {
    /// Each day, with the label and formatted value of each series.
    pub fn rows_by_day(&self) -> Vec<(&str, Vec<(&str, &str)>)> {
        let Some(first) = self.series.first() else {
            return Vec::new();
        };
        let days = first.bars.iter().zip(0_usize..);
        days.map(|(bar, index)| {
            let row = self.series.iter().filter_map(|one| {
                let same = one.bars.get(index)?;
                Some((one.label.as_str(), same.formatted.as_str()))
            });
            (bar.day.as_str(), row.collect())
        })
        .collect()
    }
}

#[derive(Default, Template)]
#[template(path = "manager_series.html")]
pub struct DailySeries {
    pub label: String,
    pub total: String,
    /// Oldest first.
    pub bars: Vec<DailyBar>,
}

#[derive(Clone, Default)]
pub struct DailyBar {
    pub day: String,
    pub value: u64,
    pub formatted: String,
    /// Labels of a bar that is a seventh of a chart wide.
    pub short_day: String,
    pub short_value: String,
}

impl DailySeries {
    /// Ten units per bar.
    pub fn view_width(&self) -> usize {
        self.bars.len().max(1).saturating_mul(10)
    }

    /// `(x, y, height)` of each bar in a chart that is 100 units high.
    pub fn bar_rects(&self) -> Vec<(usize, u64, u64)> {
        crate::page::bar_rects(self.bars.iter().map(|bar| bar.value))
    }

    /// Whether there is room for a label at each bar.
    pub fn is_labelled(&self) -> bool {
        self.bars.len() <= 7
    }

    /// Each bar with its y and height in a chart that is 100 units high.
    pub fn labelled_bars(&self) -> Vec<(&DailyBar, u64, u64)> {
        let bars = self.bars.iter().zip(self.bar_rects());
        bars.map(|(bar, (_, y, height))| (bar, y, height)).collect()
    }

    pub fn max_bar(&self) -> Option<&DailyBar> {
        self.bars.iter().max_by_key(|bar| bar.value).filter(|bar| bar.value > 0)
    }

    pub fn max_label(&self) -> &str {
        self.max_bar().map_or("0", |bar| bar.formatted.as_str())
    }

    pub fn first_day(&self) -> &str {
        self.bars.first().map_or("", |bar| bar.day.as_str())
    }

    pub fn last_day(&self) -> &str {
        self.bars.last().map_or("", |bar| bar.day.as_str())
    }
}

#[derive(Default)]
pub struct DataTable {
    pub title: String,
    pub lead: String,
    pub actions: Vec<NavLink>,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<TableRow>,
    pub action_buttons: Vec<ActionButton>,
    pub search: Option<Box<QueryForm>>,
    pub selection: Option<Box<RowSelection>>,
    pub empty: EmptyState,
    pub pager: Pager,
}

/// A form that sends the rows whose box is ticked.
#[derive(Clone, Default)]
pub struct RowSelection {
    pub action: String,
    pub submit: &'static str,
    /// Leads to the page with every box ticked.
    pub all: NavLink,
    pub is_all: bool,
}

/// A form whose fields become the query string.
#[derive(Clone, Default, Template)]
#[template(path = "manager_query.html")]
pub struct QueryForm {
    pub title: String,
    pub action: String,
    pub inputs: Vec<FormInput>,
    pub hidden: Vec<(&'static str, String)>,
    pub submit: &'static str,
    /// To the page without the query.
    pub reset: Option<NavLink>,
    pub is_search: bool,
}

#[derive(Template)]
#[template(path = "manager_table.html")]
struct DataTableHtml<'page> {
    table: &'page DataTable,
    frame: &'page PageFrame,
}

impl DataTable {
    fn html<'page>(&'page self, frame: &'page PageFrame) -> DataTableHtml<'page> {
        DataTableHtml { table: self, frame }
    }

    pub fn row_cells<'t>(&'t self, row: &'t TableRow) -> Vec<(&'t TableColumn, &'t TableCell)> {
        self.columns.iter().zip(&row.cells).collect()
    }

    pub fn has_action_buttons(&self) -> bool {
        self.rows.iter().any(|row| !row.action_buttons.is_empty())
    }
}

#[derive(Clone, Default)]
pub struct TableColumn {
    pub name: &'static str,
    pub is_numeric: bool,
}

#[derive(Clone, Default)]
pub struct TableRow {
    /// Names the row in button labels for screen readers.
    pub name: String,
    /// The name of its box in a [`RowSelection`]; empty for a row without one.
    pub box_name: String,
    /// One per column.
    pub cells: Vec<TableCell>,
    pub action_buttons: Vec<ActionButton>,
}

#[derive(Clone, Default)]
pub struct TableCell {
    pub text: String,
    pub subtext: String,
    pub path: Option<String>,
    pub badge: Option<StatusBadge>,
    pub at: Option<Time>,
}

#[derive(Template)]
#[template(path = "manager_cell.html")]
struct TableCellHtml<'cell> {
    cell: &'cell TableCell,
    now: &'cell ZonedTime,
}

impl TableCell {
    fn html<'cell>(&'cell self, now: &'cell ZonedTime) -> TableCellHtml<'cell> {
        TableCellHtml { cell: self, now }
    }

    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    #[must_use]
    pub fn with_subtext(self, below: impl Into<String>) -> Self {
        Self { subtext: below.into(), ..self }
    }

    #[must_use]
    pub fn with_link(self, path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..self }
    }

    pub fn from_badge(badge: StatusBadge) -> Self {
        Self { badge: Some(badge), ..Self::default() }
    }
}

/// A link if `hidden` is empty, otherwise a form with one button.
#[derive(Clone, Default)]
pub struct ActionButton {
    pub text: &'static str,
    pub path: String,
    pub hidden: Vec<(&'static str, String)>,
    pub is_primary: bool,
}

#[derive(Template)]
#[template(path = "manager_action.html")]
struct ActionButtonHtml<'page> {
    button: &'page ActionButton,
    name: &'page str,
    csrf: &'page str,
}

impl ActionButton {
    /// `name` tells screen readers what the button is about.
    fn html<'page>(&'page self, name: &'page str, csrf: &'page str) -> ActionButtonHtml<'page> {
        ActionButtonHtml { button: self, name, csrf }
    }
}

#[derive(Default)]
pub struct DetailList {
    pub title: String,
    pub actions: Vec<NavLink>,
    pub rows: Vec<(&'static str, TableCell)>,
}

#[derive(Default)]
pub struct FormBlock {
    pub action: String,
    pub inputs: Vec<FormInput>,
    pub advanced_inputs: Vec<FormInput>,
    pub submit: &'static str,
    pub is_dangerous: bool,
    pub cancel_path: String,
    pub has_file: bool,
    /// Digests of the values of an update's inputs, which come back with it; empty for other forms.
    pub shown: String,
}

impl FormBlock {
    /// Whether an advanced input has a value or an error.
    pub fn is_open(&self) -> bool {
        let filled = |input: &FormInput| {
            let choice = matches!(input.kind, FormInputKind::Choice(_));
            input.field.error.is_some() || !choice && !input.field.value.is_empty()
        };
        self.advanced_inputs.iter().any(filled)
    }
}

#[derive(Clone, Default)]
pub struct FormInput {
    pub name: &'static str,
    pub label: String,
    pub help: String,
    pub field: FormField,
    pub kind: FormInputKind,
}

#[derive(Template)]
#[template(path = "manager_input.html")]
struct FormInputHtml<'form> {
    input: &'form FormInput,
}

impl FormInput {
    fn html(&self) -> FormInputHtml<'_> {
        FormInputHtml { input: self }
    }
}

#[derive(Clone, Default)]
pub enum FormInputKind {
    #[default]
    Text,
    Amount,
    Timestamp,
    /// Pairs of value and label.
    Choice(Vec<(String, String)>),
    Area,
    /// Accepted MIME types and extensions.
    File(&'static str),
    Date,
    /// The name and label of each box, and whether it is ticked.
    Boxes(Vec<(&'static str, String, bool)>),
}

#[derive(Default)]
pub struct CreativePreviews {
    pub title: String,
    pub lead: String,
    pub actions: Vec<NavLink>,
    pub items: Vec<CreativePreview>,
    pub empty: EmptyState,
    pub pager: Pager,
}

#[derive(Template)]
#[template(path = "manager_previews.html")]
struct CreativePreviewsHtml<'page> {
    previews: &'page CreativePreviews,
    csrf: &'page str,
}

impl CreativePreviews {
    fn html<'page>(&'page self, csrf: &'page str) -> CreativePreviewsHtml<'page> {
        CreativePreviewsHtml { previews: self, csrf }
    }
}

#[derive(Default)]
pub struct CreativePreview {
    pub name: String,
    pub kind: String,
    /// Rendered only if it is below `/media/`.
    pub picture: Option<String>,
    pub alt_text: String,
    /// Most prominent first.
    pub lines: Vec<String>,
    pub buttons: Vec<String>,
    pub host: String,
    pub subtext: String,
    pub post: Option<EnclosingPost>,
    pub path: Option<String>,
    pub action_buttons: Vec<ActionButton>,
}

#[derive(Clone, Default)]
pub struct EnclosingPost {
    pub name: String,
    pub username: String,
    pub text: String,
}

impl CreativePreview {
    pub fn has_card(&self) -> bool {
        !(self.lines.is_empty() && self.buttons.is_empty() && self.alt_text.is_empty())
    }

    pub fn local_picture(&self) -> Option<&str> {
        let own = |path: &&str| path.starts_with("/media/");
        self.picture.as_deref().filter(own)
    }
}

#[derive(Clone, Default, Template)]
#[template(path = "manager_empty.html")]
pub struct EmptyState {
    pub title: String,
    pub text: String,
    pub link: Option<NavLink>,
}

impl EmptyState {
    pub fn new(title: &str, text: &str, link: Option<NavLink>) -> Self {
        Self { title: title.to_owned(), text: text.to_owned(), link }
    }
}

impl HtmlPage for AdsManagerPage {
    fn title(&self) -> String {
        match &self.account {
            Some(account) => format!("{}: {}", self.heading, account.name),
            None => self.heading.clone(),
        }
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        let inputs = self.blocks.iter().flat_map(|block| match block {
            PageBlock::Form(form) => form.inputs.iter().chain(&form.advanced_inputs),
            PageBlock::Query(form) => form.inputs.iter().chain(&[]),
            _ => [].iter().chain(&[]),
        });
        let fields: Vec<_> = inputs.map(|input| (input.name, &input.field)).collect();
        collect_problems(&fields)
    }
}
