//! The Ads Manager: every page of it is a heading, and blocks below it.

use askama::Template;
use base::Time;

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame, Pager};

/// A page of the Ads Manager.
#[derive(Default, Template)]
#[template(path = "manager.html")]
pub struct AdsManagerPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The account that is worked on; none where one is chosen.
    pub account: Option<AdsAccountSummary>,
    /// Every account that the person has a role on.
    pub accounts: Vec<AdsAccountSummary>,
    /// Parts of the account that the role may see.
    pub tabs: Vec<NavLink>,
    /// What the page is below.
    pub trail: Vec<NavLink>,
    /// What it is about.
    pub heading: String,
    /// In which state that is.
    pub badge: Option<StatusBadge>,
    /// A sentence below the heading.
    pub lead: String,
    /// What may be done.
    pub actions: Vec<NavLink>,
    /// What it shows.
    pub blocks: Vec<PageBlock>,
}

/// An advertising account.
#[derive(Clone, Default)]
pub struct AdsAccountSummary {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What the person is on it, in words.
    pub role: String,
    /// Whether it is of the sandbox.
    pub sandbox: bool,
    /// Where its pages begin.
    pub path: String,
}

/// A link.
#[derive(Clone, Default)]
pub struct NavLink {
    /// What it says.
    pub text: String,
    /// Where it leads.
    pub path: String,
    /// Whether it leads to this very page.
    pub current: bool,
    /// How it looks as a button: `primary`, `quiet`, `danger-quiet`.
    pub kind: &'static str,
}

impl NavLink {
    /// A link in a row of links.
    pub fn new(text: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            path: path.into(),
            current: false,
            kind: "quiet",
        }
    }

    /// Looks so as a button.
    #[must_use]
    pub fn with_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }
}

/// A state in a word or two.
#[derive(Clone, Default)]
pub struct StatusBadge {
    /// The word.
    pub text: String,
    /// `good`, `warn`, `bad` or nothing.
    pub kind: &'static str,
}

/// A part of a page.
pub enum PageBlock {
    /// Figures, large.
    Metrics(Vec<MetricTile>),
    /// Series by day.
    Charts(DailyCharts),
    /// Rows.
    Table(DataTable),
    /// What is known of one thing.
    Facts(DetailList),
    /// Something to fill in.
    Form(FormBlock),
    /// Creatives as they look.
    Previews(CreativePreviews),
    /// There is nothing.
    Empty(EmptyState),
    /// A sentence.
    Note(String),
}

/// A figure with what it is.
#[derive(Clone, Default)]
pub struct MetricTile {
    /// What it is.
    pub label: String,
    /// The figure, as it is written.
    pub value: String,
    /// What else there is to say of it.
    pub subtext: String,
}

/// Series of one span of time.
#[derive(Default)]
pub struct DailyCharts {
    /// What they are about.
    pub title: String,
    /// Other spans.
    pub spans: Vec<NavLink>,
    /// What may be done.
    pub actions: Vec<NavLink>,
    /// The series.
    pub series: Vec<DailySeries>,
}

impl DailyCharts {
    /// Each day, with what each series has of it beside the series' name.
    pub fn rows_by_day(&self) -> Vec<(&str, Vec<(&str, &str)>)> {
        let Some(first) = self.series.first() else {
            return Vec::new();
        };
        let days = first.bars.iter().zip(0_usize..);
        days.map(|(bar, place)| {
            let row = self.series.iter().filter_map(|one| {
                let same = one.bars.get(place)?;
                Some((one.label.as_str(), same.formatted.as_str()))
            });
            (bar.day.as_str(), row.collect())
        })
        .collect()
    }
}

/// A figure by day.
#[derive(Default)]
pub struct DailySeries {
    /// What it is.
    pub label: String,
    /// Of all days together, as it is written.
    pub total: String,
    /// Of each day, oldest first.
    pub bars: Vec<DailyBar>,
}

/// A figure of a day.
#[derive(Clone, Default)]
pub struct DailyBar {
    /// The day.
    pub day: String,
    /// The figure.
    pub value: u64,
    /// The same, as it is written.
    pub formatted: String,
}

impl DailySeries {
    /// The width of the drawing: ten for each day.
    pub fn view_width(&self) -> usize {
        self.bars.len().max(1).saturating_mul(10)
    }

    /// Where each bar begins, where its top is, and how high it is, of a hundred.
    pub fn bar_rects(&self) -> Vec<(usize, u64, u64)> {
        let most = self.bars.iter().map(|bar| bar.value).max();
        let most = most.unwrap_or(0).max(1);
        let height = |value: u64| {
            let share = u128::from(value).saturating_mul(100) / u128::from(most);
            // What is there at all is to be seen.
            let least = u64::from(value > 0).saturating_mul(2);
            u64::try_from(share).unwrap_or(100).max(least)
        };
        let bars = self.bars.iter().zip(0_usize..);
        bars.map(|(bar, place)| {
            let height = height(bar.value);
            let top = 100_u64.saturating_sub(height);
            (place.saturating_mul(10), top, height)
        })
        .collect()
    }

    /// The day that had most, as it is written.
    pub fn max_label(&self) -> &str {
        let most = self.bars.iter().max_by_key(|bar| bar.value);
        most.map_or("", |bar| bar.formatted.as_str())
    }

    /// The first day.
    pub fn first_day(&self) -> &str {
        self.bars.first().map_or("", |bar| bar.day.as_str())
    }

    /// The last day.
    pub fn last_day(&self) -> &str {
        self.bars.last().map_or("", |bar| bar.day.as_str())
    }
}

/// Rows under a heading.
#[derive(Default)]
pub struct DataTable {
    /// What they are.
    pub title: String,
    /// What there is to say of all of them.
    pub lead: String,
    /// What may be done.
    pub actions: Vec<NavLink>,
    /// What the columns hold.
    pub columns: Vec<TableColumn>,
    /// The rows.
    pub rows: Vec<TableRow>,
    /// Other ways to see it, each with what it is about.
    pub views: Vec<(&'static str, Vec<NavLink>)>,
    /// What may be done with all of it, by buttons.
    pub action_buttons: Vec<ActionButton>,
    /// What is said where there is no row.
    pub empty: EmptyState,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl DataTable {
    /// The cells of a row, each with its column.
    pub fn row_cells<'t>(&'t self, row: &'t TableRow) -> Vec<(&'t TableColumn, &'t TableCell)> {
        self.columns.iter().zip(&row.cells).collect()
    }

    /// Whether something may be done about a row.
    pub fn has_action_buttons(&self) -> bool {
        self.rows.iter().any(|row| !row.action_buttons.is_empty())
    }
}

/// A column.
#[derive(Clone, Default)]
pub struct TableColumn {
    /// What it holds.
    pub name: &'static str,
    /// Whether that is numbers, which stand below each other.
    pub is_numeric: bool,
}

/// A row.
#[derive(Clone, Default)]
pub struct TableRow {
    /// What the row is about, for buttons.
    pub name: String,
    /// One for each column.
    pub cells: Vec<TableCell>,
    /// What may be done about it.
    pub action_buttons: Vec<ActionButton>,
}

/// A part of a row.
#[derive(Clone, Default)]
pub struct TableCell {
    /// What it says.
    pub text: String,
    /// The same in small below it.
    pub subtext: String,
    /// Where it leads.
    pub path: Option<String>,
    /// What it says as a state instead.
    pub badge: Option<StatusBadge>,
    /// A moment instead.
    pub at: Option<Time>,
}

impl TableCell {
    /// Words.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Words below.
    #[must_use]
    pub fn with_subtext(self, below: impl Into<String>) -> Self {
        Self {
            subtext: below.into(),
            ..self
        }
    }

    /// Leads somewhere.
    #[must_use]
    pub fn with_link(self, path: impl Into<String>) -> Self {
        Self {
            path: Some(path.into()),
            ..self
        }
    }

    /// A state.
    pub fn from_badge(badge: StatusBadge) -> Self {
        Self {
            badge: Some(badge),
            ..Self::default()
        }
    }
}

/// What may be done about a row: a button that sends a form, or a link to one.
#[derive(Clone, Default)]
pub struct ActionButton {
    /// What the button says.
    pub text: &'static str,
    /// Where it leads.
    pub path: String,
    /// What it sends; a link where it sends nothing.
    pub hidden: Vec<(&'static str, String)>,
    /// Whether it is what one would do first.
    pub is_primary: bool,
}

/// What is known of one thing.
#[derive(Default)]
pub struct DetailList {
    /// What it is.
    pub title: String,
    /// What may be done.
    pub actions: Vec<NavLink>,
    /// What is known.
    pub rows: Vec<(&'static str, TableCell)>,
}

/// Something to fill in. Every input's name is its field's.
#[derive(Default)]
pub struct FormBlock {
    /// Where it posts to.
    pub action: String,
    /// What it asks for.
    pub inputs: Vec<FormInput>,
    /// What is asked for rarely.
    pub advanced_inputs: Vec<FormInput>,
    /// What its button says.
    pub submit: &'static str,
    /// Whether it takes something away.
    pub is_dangerous: bool,
    /// Where one goes who does not want to.
    pub cancel_path: String,
    /// Whether it sends a file.
    pub has_file: bool,
}

impl FormBlock {
    /// Whether what is asked for rarely is to be seen: something stands in it.
    pub fn is_open(&self) -> bool {
        let filled = |input: &FormInput| {
            let choice = matches!(input.kind, FormInputKind::Choice(_));
            input.field.error.is_some() || !choice && !input.field.value.is_empty()
        };
        self.advanced_inputs.iter().any(filled)
    }
}

/// An input.
#[derive(Default)]
pub struct FormInput {
    /// Its name.
    pub name: &'static str,
    /// What stands beside it.
    pub label: String,
    /// What there is to know about it.
    pub help: String,
    /// What is typed.
    pub field: FormField,
    /// What it takes.
    pub kind: FormInputKind,
}

/// What an input takes.
#[derive(Default)]
pub enum FormInputKind {
    /// A line.
    #[default]
    Text,
    /// An amount.
    Amount,
    /// A moment.
    Timestamp,
    /// One of these: each with its words.
    Choice(Vec<(String, String)>),
    /// Lines.
    Area,
    /// A file, of these types.
    File(&'static str),
}

/// Creatives as they look.
#[derive(Default)]
pub struct CreativePreviews {
    /// What they are.
    pub title: String,
    /// What there is to say of all of them.
    pub lead: String,
    /// What may be done.
    pub actions: Vec<NavLink>,
    /// The creatives.
    pub items: Vec<CreativePreview>,
    /// What is said where there is none.
    pub empty: EmptyState,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

/// A creative.
#[derive(Default)]
pub struct CreativePreview {
    /// What it is called.
    pub name: String,
    /// What it is, in words.
    pub kind: String,
    /// A picture below our own `/media/`.
    pub picture: Option<String>,
    /// What the picture shows, in words.
    pub alt_text: String,
    /// What it says, largest first.
    pub lines: Vec<String>,
    /// What its buttons say.
    pub buttons: Vec<String>,
    /// The host that it leads to.
    pub host: String,
    /// What is small below it.
    pub subtext: String,
    /// The post that it is shown in.
    pub post: Option<EnclosingPost>,
    /// Where there is more about it.
    pub path: Option<String>,
    /// What may be done about it.
    pub action_buttons: Vec<ActionButton>,
}

/// A post around a creative.
#[derive(Clone, Default)]
pub struct EnclosingPost {
    /// The name of who says it.
    pub name: String,
    /// Their username.
    pub username: String,
    /// What is said.
    pub text: String,
}

impl CreativePreview {
    /// Whether there is anything but the post around it.
    pub fn has_card(&self) -> bool {
        !(self.lines.is_empty() && self.buttons.is_empty() && self.alt_text.is_empty())
    }

    /// The picture, if it is one of ours.
    pub fn local_picture(&self) -> Option<&str> {
        let own = |path: &&str| path.starts_with("/media/");
        self.picture.as_deref().filter(own)
    }
}

/// There is nothing.
#[derive(Clone, Default)]
pub struct EmptyState {
    /// What there is not.
    pub title: String,
    /// What to do about it.
    pub text: String,
    /// Where that is done.
    pub link: Option<NavLink>,
}

impl HtmlPage for AdsManagerPage {
    const NAME: &'static str = "ads-manager";

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
        let forms = self.blocks.iter().filter_map(|block| match block {
            PageBlock::Form(form) => Some(form),
            _ => None,
        });
        let inputs = forms.flat_map(|form| form.inputs.iter().chain(&form.advanced_inputs));
        let fields: Vec<_> = inputs.map(|input| (input.name, &input.field)).collect();
        collect_problems(&fields)
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::manager::ads_manager_states()
    }
}
