//! Bookmarks, which are visible to their owner only.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::bookmarks::{self, BookmarkFolder};
use store::edges::Edge;
use store::posts::PageRange;
use store::{Tx, event_log};

use crate::lists::validate_length;
use crate::{post_actions, users};

/// The longest name of a folder, in characters (contract core §7.4).
pub const FOLDER_NAME_LENGTH: usize = 25;

/// Folders per user.
pub const MAX_FOLDERS: i64 = 1_000;

/// Only the newest bookmarks are listed (contract core §7.4).
const MAX_LISTED: i64 = 800;

/// Bookmarks a post (of a repost, the original) and adds it to a folder if given; returns false if it was already
/// bookmarked.
pub fn add(tx: &mut Tx<'_>, user: UserId, id: PostId, folder: Option<i64>) -> Result<bool, Error> {
    // The lock prevents removal of the bookmark while it is added to a folder.
    store::users::lock(tx, user)?;
    users::find_active(tx, user)?;
    let folder = folder.map(|id| find_folder(tx, user, id)).transpose()?;
    let post = post_actions::resolve_action_target(tx, user, id)?.id;
    let edge = tx.next_id::<()>().get();
    store::posts::lock_shared(tx, post);
    let new = bookmarks::insert(tx, user, post, edge)?;
    if let Some(folder) = folder {
        bookmarks::add_to_folder(tx, folder.id, user, post, edge)?;
    }
    if new {
        event_log::append(tx, "bookmark.create", user.get(), post.get(), "")?;
        post_actions::ensure_post_exists(bookmarks::add_to_post_count(tx, post, 1)?, id)?;
    }
    Ok(new)
}

/// Also removes it from all folders; returns false if there was none.
pub fn remove(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Error> {
    store::users::lock(tx, user)?;
    for post in post_actions::list_undo_targets(tx, id)? {
        store::posts::lock_shared(tx, post);
        if bookmarks::delete(tx, user, post)? {
            event_log::append(tx, "bookmark.delete", user.get(), post.get(), "")?;
            bookmarks::add_to_post_count(tx, post, -1)?;
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn list_user_bookmarks(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    let oldest = bookmarks::nth_newest_id(tx, user, MAX_LISTED - 1)?;
    let above = oldest.map_or(range.above, |oldest| range.above.max(oldest - 1));
    bookmarks::page_by_user(tx, user, &PageRange { above, ..*range })
}

/// A page that consists of the bookmark of one post, if there is one.
pub fn find_post_bookmark(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<Vec<Edge>, Fault> {
    for post in post_actions::list_undo_targets(tx, id)? {
        if bookmarks::exists(tx, user, post)? {
            return Ok(vec![(post.get(), 1)]);
        }
    }
    Ok(Vec::new())
}

pub fn create_folder(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<BookmarkFolder, Error> {
    // Concurrent calls must count each other's folders.
    store::users::lock(tx, user)?;
    users::find_active(tx, user)?;
    if bookmarks::count_folders(tx, user)? >= MAX_FOLDERS {
        let detail = format!("You have reached the limit of {MAX_FOLDERS} bookmark folders.");
        return Err(Refusal::forbidden(detail).into());
    }
    if name.trim().is_empty() {
        return Err(Refusal::missing_parameter("name").into());
    }
    let name = validate_length("name", name, 1, FOLDER_NAME_LENGTH)?;
    let folder = BookmarkFolder { id: tx.next_id::<()>().get(), user_id: user, name };
    bookmarks::insert_folder(tx, &folder)?;
    event_log::append(tx, "bookmark_folder.create", user.get(), folder.id, "")?;
    Ok(folder)
}

/// Folders of other users are refused as not found.
pub fn find_folder(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<BookmarkFolder, Error> {
    let folder = bookmarks::find_folder(tx, id)?.filter(|folder| folder.user_id == user);
    let subject = || ResourceRef::new("bookmark_folder", "folder_id", id);
    folder.ok_or_else(|| Refusal::NotFound(subject()).into())
}

pub fn list_folder_bookmarks(tx: &mut Tx<'_>, user: UserId, id: i64, range: &PageRange) -> Result<Vec<Edge>, Error> {
    let folder = find_folder(tx, user, id)?;
    Ok(bookmarks::page_by_folder(tx, folder.id, range)?)
}

/// The post stays bookmarked; returns false if it is not in the folder.
pub fn remove_from_folder(tx: &mut Tx<'_>, user: UserId, id: PostId, folder: i64) -> Result<bool, Error> {
    store::users::lock(tx, user)?;
    let folder = find_folder(tx, user, folder)?;
    for post in post_actions::list_undo_targets(tx, id)? {
        if bookmarks::remove_from_folder(tx, folder.id, post)? {
            return Ok(true);
        }
    }
    Ok(false)
}
