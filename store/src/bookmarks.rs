//! Bookmarks and bookmark folders.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::db::{insert, insert_new, select, table};
use crate::edges::{self, Edge, edge_page_query};
use crate::posts::PageRange;

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BookmarkFolder in "bookmark_folder" {
        pub id: i64,
        pub user_id: UserId,
        pub name: String,
    }
}

/// Returns false if the bookmark exists. Does not change the post's counter.
pub fn insert(tx: &mut Tx<'_>, user: UserId, post: PostId, id: i64) -> Result<bool, Fault> {
    insert_new!(tx, "bookmark", user_id = user, post_id = post, id = id)
}

/// Removes a bookmark and its folder entries; returns false if there is none.
pub fn delete(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "DELETE FROM bookmark WHERE user_id = $1 AND post_id = $2";
    if tx.execute(sql, &[user.into(), post.into()])? == 0 {
        return Ok(false);
    }
    let sql = "DELETE FROM bookmark_filing WHERE post_id = $1 AND user_id = $2";
    tx.execute_later(sql, &[post.into(), user.into()])?;
    Ok(true)
}

/// Returns false if the post has been deleted. The caller has [locked](crate::posts::lock_shared) it.
pub fn add_to_post_count(tx: &mut Tx<'_>, post: PostId, by: i64) -> Result<bool, Fault> {
    counters::add_unless_deleted(tx, SharedCounter::Bookmarks, post, by)
}

pub fn exists(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM bookmark WHERE user_id = $1 AND post_id = $2";
    tx.row_exists(sql, &[user.into(), post.into()])
}

/// Those of some posts that the user has bookmarked.
pub fn filter_bookmarked(tx: &mut Tx<'_>, user: UserId, posts: &[PostId]) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT post_id FROM bookmark WHERE post_id = $1 AND user_id = $2";
    tx.query_by_ids(sql, posts, &[user.into()])
}

/// Returns false if the bookmark is already in the folder.
pub fn add_to_folder(tx: &mut Tx<'_>, folder: i64, user: UserId, post: PostId, id: i64) -> Result<bool, Fault> {
    insert_new!(tx, "bookmark_filing", folder_id = folder, post_id = post, user_id = user, id = id)
}

/// Returns false if the bookmark is not in the folder.
pub fn remove_from_folder(tx: &mut Tx<'_>, folder: i64, post: PostId) -> Result<bool, Fault> {
    let sql = "DELETE FROM bookmark_filing WHERE folder_id = $1 AND post_id = $2";
    Ok(tx.execute(sql, &[folder.into(), post.into()])? > 0)
}

/// Pairs of post and folder, of the user's folders that have some of these posts.
pub fn list_post_folders(tx: &mut Tx<'_>, user: UserId, posts: &[PostId]) -> Result<Vec<(PostId, i64)>, Fault> {
    let sql = "SELECT post_id, folder_id FROM bookmark_filing WHERE post_id = $1 AND user_id = $2";
    tx.query_by_ids(sql, posts, &[user.into()])
}

/// Pairs of folder and number of posts, of which at most a hundred are counted.
pub fn count_folder_posts(tx: &mut Tx<'_>, folders: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT d.id, (SELECT COUNT(*) FROM \
               (SELECT 1 FROM bookmark_filing f WHERE f.folder_id = d.id LIMIT 100) AS first_posts) \
               FROM bookmark_folder d WHERE d.id = $1";
    tx.query_by_keys(sql, folders, &[])
}

/// Latest first: the post and the bookmark's own id.
pub fn page_by_user(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = edge_page_query!("SELECT post_id, id FROM bookmark WHERE user_id = $1");
    edges::edge_page(tx, user, range, sql)
}

/// The id of the bookmark with `newer` newer ones, if there are that many.
pub fn nth_newest_id(tx: &mut Tx<'_>, user: UserId, newer: i64) -> Result<Option<i64>, Fault> {
    let sql = "SELECT id FROM bookmark WHERE user_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2";
    tx.query_row(sql, &[user.into(), newer.into()])
}

/// Latest first: the post and the folder entry's own id.
pub fn page_by_folder(tx: &mut Tx<'_>, folder: i64, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = edge_page_query!("SELECT post_id, id FROM bookmark_filing WHERE folder_id = $1");
    edges::edge_page(tx, folder, range, sql)
}

pub fn insert_folder(tx: &mut Tx<'_>, folder: &BookmarkFolder) -> Result<(), Fault> {
    insert!(tx, BookmarkFolder, folder)
}

pub fn count_folders(tx: &mut Tx<'_>, user: UserId) -> Result<i64, Fault> {
    tx.query_number("SELECT COUNT(*) FROM bookmark_folder WHERE user_id = $1", &[user.into()])
}

/// The folder may belong to any user.
pub fn find_folder(tx: &mut Tx<'_>, id: i64) -> Result<Option<BookmarkFolder>, Fault> {
    let sql = select!(BookmarkFolder, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// In no particular order.
pub fn find_folders(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<BookmarkFolder>, Fault> {
    tx.query_by_keys(select!(BookmarkFolder, "WHERE id = $1"), ids, &[])
}

/// Latest first.
pub fn list_folders(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<BookmarkFolder>, Fault> {
    let sql = edge_page_query!(select!(BookmarkFolder, "WHERE user_id = $1"));
    edges::query_page(tx, &[user.into()], range, sql)
}
