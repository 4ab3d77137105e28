//! Bookmarks, which only their owner sees.

use base::refusal::Subject;
use base::{Fault, PostId, Refusal, Stop, UserId};
use store::bookmarks::{self, BookmarkFolder};
use store::edges::Edge;
use store::posts::PageRange;
use store::{Tx, event_log};

use crate::{acts, users};

/// How many bookmarks are listed: the newest (contract §7.4).
const REACH: i64 = 800;

/// Bookmarks a post, or of a repost its original, and puts it into a folder of the user; false
/// when it was bookmarked already.
pub fn set(tx: &mut Tx<'_>, user: UserId, id: PostId, into: Option<i64>) -> Result<bool, Stop> {
    // A bookmark that is filed is not removed meanwhile.
    store::users::lock(tx, user)?;
    users::active(tx, user)?;
    let into = into.map(|id| folder(tx, user, id)).transpose()?;
    let post = acts::target(tx, user, id)?.id;
    let edge = tx.next_id::<()>().get();
    let new = bookmarks::insert(tx, user, post, edge)?;
    if let Some(folder) = into {
        bookmarks::add_to_folder(tx, folder.id, user, post, edge)?;
    }
    if new {
        event_log::append(tx, "bookmark.create", user.get(), post.get(), "")?;
        acts::unless_gone(bookmarks::add_to_post_count(tx, post, 1)?, id)?;
    }
    Ok(new)
}

/// Removes a bookmark, also from the folders that hold it; false when there was none.
pub fn remove(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Stop> {
    store::users::lock(tx, user)?;
    let post = acts::original(tx, id)?.map_or(id, |post| post.id);
    let was = bookmarks::delete(tx, user, post)?;
    if was {
        event_log::append(tx, "bookmark.delete", user.get(), post.get(), "")?;
        bookmarks::add_to_post_count(tx, post, -1)?;
    }
    Ok(was)
}

/// A page of a user's newest bookmarks.
pub fn of_user(tx: &mut Tx<'_>, user: UserId, span: &PageRange) -> Result<Vec<Edge>, Fault> {
    let oldest = bookmarks::nth_newest_id(tx, user, REACH - 1)?;
    let above = oldest.map_or(span.above, |oldest| span.above.max(oldest - 1));
    bookmarks::page_by_user(tx, user, &PageRange { above, ..*span })
}

/// The bookmark of one post, as a page of it.
pub fn of_post(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<Vec<Edge>, Fault> {
    let post = acts::original(tx, id)?.map_or(id, |post| post.id);
    let there = bookmarks::exists(tx, user, post)?;
    Ok(there.then_some((post.get(), 1)).into_iter().collect())
}

/// Makes a folder.
pub fn create_folder(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<BookmarkFolder, Stop> {
    users::active(tx, user)?;
    let name = base::text::normalize(name.trim()).into_owned();
    if name.is_empty() {
        return Err(Refusal::missing("name").into());
    }
    let folder = BookmarkFolder {
        id: tx.next_id::<()>().get(),
        user_id: user,
        name,
    };
    bookmarks::insert_folder(tx, &folder)?;
    event_log::append(tx, "bookmark_folder.create", user.get(), folder.id, "")?;
    Ok(folder)
}

/// A folder of a user. Another's is as good as none.
pub fn folder(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<BookmarkFolder, Stop> {
    let folder = bookmarks::find_folder(tx, id)?.filter(|folder| folder.user_id == user);
    let subject = || Subject::new("bookmark_folder", "folder_id", id);
    folder.ok_or_else(|| Refusal::NotFound(subject()).into())
}

/// A page of what a folder of the user holds.
pub fn of_folder(
    tx: &mut Tx<'_>,
    user: UserId,
    id: i64,
    span: &PageRange,
) -> Result<Vec<Edge>, Stop> {
    let folder = folder(tx, user, id)?;
    Ok(bookmarks::page_by_folder(tx, folder.id, span)?)
}
