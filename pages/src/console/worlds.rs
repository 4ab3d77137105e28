use askama::Template;

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

#[derive(Template)]
#[template(path = "console/worlds.html")]
pub struct ConsoleWorldsPage {
    pub frame: PageFrame,
    /// The main one first.
    pub worlds: Vec<WorldRow>,
    pub name: FormField,
    pub from: FormField,
    /// What a world can be made of: built-in worlds, then snapshots.
    pub sources: Vec<String>,
    /// The keys of one of the worlds.
    pub keys: Option<WorldKeysSection>,
}

pub struct WorldRow {
    pub name: String,
    pub url: String,
    pub from: String,
    pub is_open: bool,
    pub is_main: bool,
}

pub struct WorldKeysSection {
    pub name: String,
    /// As in `dev.env`.
    pub text: String,
}

impl ConsoleWorldsPage {
    const SECTION: &'static str = "Worlds";
}

html_page!(ConsoleWorldsPage, |_| "Worlds".to_owned(), |page| vec![("name", &page.name)]);
