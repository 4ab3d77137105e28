//! Lists: one's own and followed ones, their posts and members, and the forms that change them.

use askama::Template;

use super::{LISTS_PATH, PersonCard, PostFeed};
use crate::page::{HtmlPage, Pager, html_page};
use crate::{FormField, PageFrame};

pub struct ListCard {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Without the at sign; empty if unknown.
    pub owner: String,
    pub is_private: bool,
    pub members: i64,
    pub followers: i64,
}

impl ListCard {
    pub fn path(&self) -> String {
        format!("{LISTS_PATH}/{}", self.id)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListsTab {
    Own,
    Followed,
}

impl ListsTab {
    pub const ALL: [Self; 2] = [Self::Own, Self::Followed];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Own => LISTS_PATH,
            Self::Followed => "/lists?tab=followed",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Own => "Your lists",
            Self::Followed => "Followed",
        }
    }
}

#[derive(Template)]
#[template(path = "members/lists.html")]
pub struct ListsPage {
    pub frame: PageFrame,
    pub tab: ListsTab,
    /// Latest first; on the first page of one's own lists only.
    pub pinned: Vec<ListCard>,
    pub lists: Vec<ListCard>,
    pub pager: Pager,
}

html_page!(ListsPage, |_| "Lists".to_owned());

/// Form fields: `name`, `description`, `private`, `form`.
#[derive(Clone, Default)]
pub struct ListForm {
    pub name: FormField,
    pub description: FormField,
    pub is_private: bool,
    /// Makes a form that is sent twice count once.
    pub form_id: String,
}

#[derive(Template)]
#[template(path = "members/new_list.html")]
pub struct NewListPage {
    pub frame: PageFrame,
    pub form: ListForm,
}

html_page!(NewListPage, |_| "New list".to_owned(), |page| vec![
    ("name", &page.form.name),
    ("description", &page.form.description)
]);

#[derive(Template)]
#[template(path = "members/edit_list.html")]
pub struct EditListPage {
    pub frame: PageFrame,
    pub path: String,
    pub form: ListForm,
}

html_page!(EditListPage, |_| "Edit list".to_owned(), |page| vec![
    ("name", &page.form.name),
    ("description", &page.form.description)
]);

/// Form fields: `form`.
#[derive(Template)]
#[template(path = "members/delete_list.html")]
pub struct DeleteListPage {
    pub frame: PageFrame,
    pub list: ListCard,
    pub form_id: String,
}

html_page!(DeleteListPage, |_| "Delete list".to_owned());

/// How a signed-in viewer is related to a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListRelationship {
    pub is_own: bool,
    pub is_following: bool,
    pub is_pinned: bool,
}

#[derive(Template)]
#[template(path = "members/list.html")]
pub struct ListTimelinePage {
    pub frame: PageFrame,
    pub list: ListCard,
    /// None for visitors who are not signed in.
    pub relationship: Option<ListRelationship>,
    pub feed: PostFeed,
}

impl ListTimelinePage {
    fn is_own(&self) -> bool {
        self.relationship.is_some_and(|relationship| relationship.is_own)
    }
}

html_page!(ListTimelinePage, |page| page.list.name.clone());

/// Form fields: `username`.
#[derive(Template)]
#[template(path = "members/list_members.html")]
pub struct ListMembersPage {
    pub frame: PageFrame,
    pub list: ListCard,
    pub is_own: bool,
    pub username: FormField,
    pub people: Vec<PersonCard>,
    pub pager: Pager,
}

html_page!(ListMembersPage, |page| format!("Members of {}", page.list.name), |page| vec![("username", &page.username)]);

/// One's own lists, with whether a person is on them.
#[derive(Template)]
#[template(path = "members/add_to_list.html")]
pub struct AddToListPage {
    pub frame: PageFrame,
    pub user_id: String,
    /// Without the at sign.
    pub username: String,
    pub lists: Vec<(ListCard, bool)>,
    pub pager: Pager,
}

html_page!(AddToListPage, |page| format!("Add @{} to your lists", page.username));
