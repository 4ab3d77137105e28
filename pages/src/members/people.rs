//! Lists of accounts.

use std::borrow::Cow;

use askama::Template;

use crate::PageFrame;
use crate::page::{HtmlPage, Pager, html_page};

pub struct PersonCard {
    pub id: String,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    /// Empty if there is none.
    pub avatar: String,
    pub description: String,
    pub is_protected: bool,
    pub is_verified: bool,
    /// What a button does, before the id, and its label; none for oneself and visitors who are not signed in.
    pub actions: Vec<(Cow<'static, str>, &'static str)>,
}

impl PersonCard {
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }
}

#[derive(Template)]
#[template(path = "members/person_list.html")]
pub(crate) struct PersonList<'page> {
    pub(crate) people: &'page [PersonCard],
    pub(crate) frame: &'page PageFrame,
}

#[derive(Template)]
#[template(path = "members/people.html")]
pub struct PeoplePage {
    pub frame: PageFrame,
    pub heading: String,
    /// Without the at sign.
    pub username: String,
    pub people: Vec<PersonCard>,
    pub pager: Pager,
    /// What an empty list says.
    pub empty: &'static str,
}

html_page!(PeoplePage, |page| format!("{} · @{}", page.heading, page.username));
