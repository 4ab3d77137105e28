//! Erasing an account, in small parts that can be interrupted anywhere.

use base::{AppId, Error, Fault, PostId, UserId};
use store::account_deletions::{self, AccountDeletion};
use store::event_log;
use store::posts::{PageRange, Post};
use store::spaces::{self, SpaceState};
use store::{Tx, apps, bookmarks, communities, follows, likes, lists, messages, notes, posts, users};

use network::follows::remove_follow;

/// Rows per transaction; of posts, which have more consequences, [`POSTS_PER_PART`].
const ROWS_PER_PART: i64 = 100;
const POSTS_PER_PART: i64 = 20;

/// Does a part of a step; returns how much, 0 if nothing is left. Doing it again does no harm.
type EraseStep = fn(&mut Tx<'_>, UserId) -> Result<usize, Error>;

/// A step is added at the end, so that those that are done keep their numbers.
const STEPS: &[EraseStep] = &[
    erase_posts,
    erase_likes,
    erase_bookmarks,
    erase_follows,
    erase_followers,
    erase_lists,
    erase_memberships,
    erase_messages,
    erase_notes,
    erase_apps,
    |tx, user| Ok(usize::try_from(account_deletions::delete_rows(tx, user, ROWS_PER_PART)?).unwrap_or(usize::MAX)),
    |tx, user| Ok(account_deletions::delete_remaining_rows(tx, user).map(|()| 0)?),
    |tx, user| Ok(network::unpublished_posts::delete_some(tx, user, ROWS_PER_PART)?),
    erase_spaces,
    |tx, user| Ok(account_deletions::anonymize_ad_events(tx, user).map(|()| 0)?),
    |tx, user| Ok(account_deletions::release_files(tx, user).map(|()| 0)?),
    // What groups were sent until the account had left them.
    erase_messages,
];

/// How long an erasure waits that failed, so that it does not hold up those behind it.
const RETRY_DELAY_MS: i64 = 3600 * 1000;

/// The account whose erasure is due for the longest.
pub fn find_due(tx: &mut Tx<'_>) -> Result<Option<UserId>, Fault> {
    Ok(account_deletions::find_due(tx)?.map(|due| due.user_id))
}

/// Does a part of an erasure that is due, unless another node has finished it meanwhile. Nodes that do this at the same
/// time wait for each other.
pub fn erase_part(tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
    match account_deletions::begin(tx, user)? {
        Some(deletion) => do_step(tx, &deletion),
        None => Ok(()),
    }
}

/// Has an erasure that failed go on in an hour.
pub fn postpone(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let until = tx.now().plus_ms(RETRY_DELAY_MS);
    account_deletions::postpone(tx, user, until)
}

/// Has erasures go on that a program of an earlier version finished, which knew fewer steps. It may still run on another
/// node.
pub fn reopen_incomplete(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    account_deletions::reopen(tx, i64::try_from(STEPS.len()).unwrap_or(i64::MAX))
}

fn do_step(tx: &mut Tx<'_>, deletion: &AccountDeletion) -> Result<(), Error> {
    let user = deletion.user_id;
    let step = usize::try_from(deletion.step).ok().and_then(|step| STEPS.get(step));
    let Some(step) = step else {
        if let Some(found) = users::find_by_id(tx, user)? {
            network::profiles::release_pictures(tx, &found)?;
            account_deletions::erase_account(tx, &found)?;
            super::record_erasure(tx, &found)?;
        }
        return Ok(account_deletions::finish(tx, user)?);
    };
    if step(tx, user)? == 0 {
        account_deletions::set_step(tx, user, deletion.step + 1)?;
    }
    Ok(())
}

fn erase_posts(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let mut found: Vec<Post> = posts::list_own_posts(tx, (user, false, true), i64::MAX, POSTS_PER_PART)?;
    found.extend(posts::list_own_posts(tx, (user, true, true), i64::MAX, POSTS_PER_PART)?);
    for post in &found {
        network::posts::erase(tx, post)?;
    }
    Ok(found.len())
}

fn erase_likes(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = likes::page_by_user(tx, user, &PageRange::newest(ROWS_PER_PART))?;
    for (post, _) in &found {
        let post = PostId::new(*post);
        if !network::likes::unlike(tx, user, post)? {
            posts::lock_shared(tx, post);
            likes::delete(tx, user, post)?;
        }
    }
    Ok(found.len())
}

fn erase_bookmarks(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = bookmarks::page_by_user(tx, user, &PageRange::newest(ROWS_PER_PART))?;
    for (post, _) in &found {
        let post = PostId::new(*post);
        if !network::bookmarks::remove(tx, user, post)? {
            bookmarks::delete(tx, user, post)?;
        }
    }
    Ok(found.len())
}

fn erase_follows(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = follows::following_page(tx, user, &PageRange::newest(ROWS_PER_PART))?;
    for (target, _) in &found {
        remove_follow(tx, user, *target, "deletion")?;
    }
    Ok(found.len())
}

fn erase_followers(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = follows::follower_page(tx, user, &PageRange::newest(ROWS_PER_PART))?;
    for (source, _) in &found {
        remove_follow(tx, *source, user, "deletion")?;
    }
    Ok(found.len())
}

/// Each list may have many members and followers.
const LISTS_PER_PART: i64 = 5;

fn erase_lists(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = lists::page_by_owner(tx, user, true, &PageRange::newest(LISTS_PER_PART))?;
    for list in &found {
        lists::lock(tx, list.id)?;
        lists::delete(tx, list)?;
        event_log::append(tx, "list.delete", user.get(), list.id, "")?;
    }
    Ok(found.len())
}

/// What others did in them stays.
fn erase_spaces(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = spaces::list_unerased(tx, user, ROWS_PER_PART)?;
    for space in &found {
        match space.state {
            SpaceState::Scheduled => drop(network::spaces::cancel(tx, space.id)?),
            SpaceState::Live => drop(network::spaces::close(tx, space.id)?),
            SpaceState::Ended | SpaceState::Canceled => {}
        }
        spaces::erase_title(tx, space.id)?;
    }
    Ok(found.len())
}

/// Of lists and communities, and the follows of lists.
fn erase_memberships(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let memberships = lists::list_memberships(tx, user, ROWS_PER_PART)?;
    for id in &memberships {
        lists::lock(tx, *id)?;
        if let Some(list) = lists::find_by_id(tx, *id)?
            && lists::remove_member(tx, &list, user)?
        {
            let body = network::lists::user_event_body(user);
            event_log::append(tx, "list.remove", list.owner_id.get(), list.id, &body)?;
        }
    }
    let followed = lists::followed_page(tx, user, &PageRange::newest(ROWS_PER_PART))?;
    for (list, _) in &followed {
        network::lists::unfollow(tx, user, *list)?;
    }
    let joined = communities::list_joined(tx, user, ROWS_PER_PART)?;
    for community in &joined {
        communities::remove_member(tx, *community, user)?;
    }
    Ok(memberships.len() + followed.len() + joined.len())
}

/// The account's own copies; those of others stay.
fn erase_messages(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = messages::inbox_with_conversations(tx, user, &PageRange::newest(ROWS_PER_PART))?;
    let ids: Vec<i64> = found.iter().map(|(event, _)| *event).collect();
    for event in messages::find_events(tx, &ids)? {
        messages::remove_copy(tx, user, &event)?;
    }
    Ok(found.len())
}

fn erase_notes(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let range = PageRange::newest(ROWS_PER_PART);
    let mut found = notes::page_by_author(tx, user, false, &range)?;
    found.extend(notes::page_by_author(tx, user, true, &range)?);
    for note in &found {
        notes::delete(tx, note.id)?;
    }
    Ok(found.len())
}

const APPS_PER_PART: i64 = 5;

fn erase_apps(tx: &mut Tx<'_>, user: UserId) -> Result<usize, Error> {
    let found = apps::list(tx, Some(user), AppId::new(0), APPS_PER_PART)?;
    for app in &found {
        crate::apps::delete(tx, app.id)?;
    }
    Ok(found.len())
}
