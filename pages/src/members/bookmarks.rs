//! Bookmarks, and the folders that they are in.

use askama::Template;

use super::{BOOKMARKS_PATH, PostCard};
use crate::page::{HtmlPage, Pager, html_page};
use crate::{FormField, PageFrame};

pub struct BookmarkFolderItem {
    pub id: String,
    pub name: String,
    /// Such as `3 posts`, or a lower bound; empty in a select.
    pub size: String,
}

impl BookmarkFolderItem {
    pub fn path(&self) -> String {
        format!("{BOOKMARKS_PATH}/{}", self.id)
    }
}

pub struct BookmarkCard {
    pub post: PostCard,
    pub folder_ids: Vec<String>,
}

impl BookmarkCard {
    fn is_in(&self, folder: &BookmarkFolderItem) -> bool {
        self.folder_ids.contains(&folder.id)
    }
}

/// Form fields: `name`, `form`. The select of a post has actions.
#[derive(Template)]
#[template(path = "members/bookmarks.html")]
pub struct BookmarksPage {
    pub frame: PageFrame,
    /// The id and name of the folder whose posts are shown; of all bookmarks, none.
    pub open: Option<(String, String)>,
    /// Latest first; with the open one.
    pub folders: Vec<BookmarkFolderItem>,
    /// What the posts' selects offer; empty if it is `folders`.
    pub choices: Vec<BookmarkFolderItem>,
    pub folder_pager: Pager,
    pub name: FormField,
    pub form_id: String,
    pub cards: Vec<BookmarkCard>,
    pub pager: Pager,
}

impl BookmarksPage {
    fn folder_choices(&self) -> &[BookmarkFolderItem] {
        if self.choices.is_empty() { &self.folders } else { &self.choices }
    }
}

html_page!(
    BookmarksPage,
    |page| page.open.as_ref().map_or_else(|| "Bookmarks".to_owned(), |(_, name)| name.clone()),
    |page| vec![("name", &page.name)]
);
