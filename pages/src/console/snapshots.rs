use askama::Template;

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

#[derive(Template)]
#[template(path = "console/snapshots.html")]
pub struct ConsoleSnapshotsPage {
    pub frame: PageFrame,
    /// Of the world that the page is about.
    pub world: String,
    pub snapshots: Vec<SnapshotRow>,
    pub name: FormField,
    pub comparison: Option<ComparisonSection>,
}

pub struct SnapshotRow {
    pub name: String,
    pub world: String,
    pub created_at: String,
    pub version: String,
    pub kibibytes: u64,
    pub media_files: usize,
}

pub struct ComparisonSection {
    /// The snapshot that the world was compared with.
    pub name: String,
    pub tables: Vec<ComparedTable>,
}

pub struct ComparedTable {
    pub table: String,
    pub added: u64,
    pub removed: u64,
    pub changed: u64,
    /// A line for each of the first rows.
    pub rows: Vec<String>,
}

impl ConsoleSnapshotsPage {
    const SECTION: &'static str = "Snapshots";
}

html_page!(ConsoleSnapshotsPage, |_| "Snapshots".to_owned(), |page| vec![("name", &page.name)]);
