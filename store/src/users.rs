//! Users: profiles, states and counters.

use base::secret::digest;
use base::{Fault, PostId, Time, UserId};

use crate::counters::PENDING_OF_USERS;
use crate::credential_versions::CredentialKey;
use crate::db::{insert_new, select, stored_enum, table, update};
use crate::locks::{LockMode, LockedResource};
use crate::{Tx, follows, graph, user_search};

stored_enum! {
    #[derive(Default)]
    pub enum UserState {
        #[default]
        Active = 0,
        Suspended = 1,
        Deleted = 2,
        /// Imported; little more than the id is known.
        Placeholder = 3,
    }
}

table! {
    #[derive(Clone, Debug, Default)]
    pub struct User in "users" joining PENDING_OF_USERS {
        pub id: UserId,
        /// As its owner writes it.
        pub username: String,
        pub name: String,
        pub created_at: Time,
        pub state: UserState,
        pub description: String,
        pub location: String,
        pub url: String,
        /// Ends in `_normal` if other sizes exist.
        pub profile_image_url: String,
        pub profile_banner_url: String,
        /// Entities of profile URL and biography as in the API (JSON), or empty.
        pub entities: String,
        /// Posts are visible to approved followers only.
        pub protected: bool,
        pub verified: bool,
        /// `blue`, `business`, `government` or `none`.
        pub verified_type: String,
        pub parody: bool,
        pub is_identity_verified: bool,
        /// `None`, `Basic`, `Premium` or `PremiumPlus`.
        pub subscription_type: String,
        /// Whether it accepts direct messages.
        pub receives_dm: bool,
        /// The affiliation as in the API (JSON), or empty.
        pub affiliation: String,
        /// The withheld notice as in the API (JSON), or empty.
        pub withheld: String,
        /// May be empty.
        pub email: String,
        pub email_confirmed: bool,
    }
    read_only {
        /// A moderator keeps its posts out of search, trends and recommendations.
        pub limited: bool,
        /// It may read, but not write.
        pub silenced: bool,
        pub pinned_post_id: Option<PostId>,
        /// The most recent live post that is not nullcast.
        pub most_recent_post_id: Option<PostId>,
        pub followers_count: i64 as "followers_count /*! + COALESCE(pending_followers, 0) */",
        /// The number of verified followers.
        pub verified_followers_count: i64 as "verified_followers_count /*! + COALESCE(pending_verified_followers, 0) */",
        pub following_count: i64,
        /// Live posts, including reposts.
        pub post_count: i64,
        /// Public lists it is a member of.
        pub listed_count: i64 as "listed_count /*! + COALESCE(pending_listed, 0) */",
        pub like_count: i64,
        /// Live posts with media.
        pub media_count: i64,
        /// Incremented by every change of its follows or mutes.
        pub following_version: i64,
    }
}

impl User {
    pub fn new(id: UserId, username: &str, created_at: Time) -> Self {
        Self {
            id,
            username: username.to_owned(),
            name: username.to_owned(),
            created_at,
            verified_type: "none".to_owned(),
            subscription_type: "None".to_owned(),
            receives_dm: true,
            ..Self::default()
        }
    }

    /// Regardless of blocks and of where it is withheld.
    pub fn is_public(&self) -> bool {
        self.state == UserState::Active && !self.protected
    }
}

/// In any state.
pub fn find_by_id(tx: &mut Tx<'_>, id: UserId) -> Result<Option<User>, Fault> {
    tx.query_row(select!(User, "WHERE id = $1"), &[id.into()])
}

/// Locks a user until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: UserId) -> Result<(), Fault> {
    tx.lock(LockedResource::User, id.get(), LockMode::Exclusive);
    tx.lock_row("SELECT id FROM users WHERE id = $1 FOR UPDATE", &[id.into()])
}

/// Keeps [`lock`] waiting until the end of the transaction, and nobody else. Holds from the next statement on.
pub fn lock_shared(tx: &mut Tx<'_>, id: UserId) {
    tx.lock(LockedResource::User, id.get(), LockMode::Shared);
}

/// In any state and no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<Vec<User>, Fault> {
    tx.query_by_ids(select!(User, "WHERE id = $1"), ids, &[])
}

/// Announces [`find_by_id`], so that it is asked together with what follows.
pub fn prefetch_by_id(tx: &mut Tx<'_>, id: UserId) -> Result<(), Fault> {
    tx.prefetch(select!(User, "WHERE id = $1"), &[id.into()])
}

/// Announces [`find_by_ids`] with the keys that a query selects for others.
pub(crate) fn prefetch_by_keys(tx: &mut Tx<'_>, keys: (&str, &[i64])) -> Result<(), Fault> {
    tx.prefetch_by_keys(select!(User, "WHERE id = $1"), keys, &[])
}

/// Case-insensitive.
pub fn find_by_username(tx: &mut Tx<'_>, username: &str) -> Result<Option<User>, Fault> {
    let handle = username.to_ascii_lowercase();
    tx.query_row(select!(User, "WHERE handle = $1"), &[handle.as_str().into()])
}

/// Of active accounts whose posts everyone may see and find, newest account first.
pub fn list_public_usernames(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<String>, Fault> {
    let sql = "SELECT username FROM users WHERE state = 0 AND protected = 0 AND limited = 0 ORDER BY id DESC LIMIT $1";
    tx.query_rows(sql, &[limit.into()])
}

/// Active accounts that everyone may find, newest first.
pub fn list_newest(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<User>, Fault> {
    tx.query_rows(select!(User, "WHERE state = 0 AND limited = 0 ORDER BY id DESC LIMIT $1"), &[limit.into()])
}

/// Keeps others from confirming the address until the end of the transaction. Case-insensitive; holds from the next statement
/// on. Users are locked first.
pub fn lock_email(tx: &mut Tx<'_>, email: &str) {
    let digest = digest(&email.to_lowercase());
    let id = i64::from_be_bytes(digest.first_chunk().copied().unwrap_or_default());
    tx.lock(LockedResource::Email, id, LockMode::Exclusive);
}

/// Case-insensitive; prefers a user who has confirmed the address, then the oldest.
pub fn find_by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<User>, Fault> {
    let sql = select!(
        User,
        "WHERE LOWER(email) = LOWER(CAST($1 AS TEXT)) AND email <> '' AND state < 2 ORDER BY email_confirmed DESC, \
         id LIMIT 1"
    );
    tx.query_row(sql, &[email.into()])
}

/// Of deleted accounts that were not erased, the newest. Case-insensitive.
pub fn find_deleted_by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<User>, Fault> {
    let sql = select!(
        User,
        "WHERE LOWER(email) = LOWER(CAST($1 AS TEXT)) AND email <> '' AND email_confirmed = 1 AND state = 2 \
         ORDER BY id DESC LIMIT 1"
    );
    tx.query_row(sql, &[email.into()])
}

/// Case-insensitive, in any state and no particular order; unknown names are skipped.
pub fn find_by_usernames(tx: &mut Tx<'_>, usernames: &[&str]) -> Result<Vec<User>, Fault> {
    let found = usernames.iter().map(|username| find_by_username(tx, username));
    let found: Vec<Option<User>> = found.collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Oldest first, after an id.
pub fn list(tx: &mut Tx<'_>, after: UserId, limit: i64) -> Result<Vec<User>, Fault> {
    let sql = select!(User, "WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}

/// Returns false if the id or the handle is taken.
pub fn insert(tx: &mut Tx<'_>, user: &User, password_hash: &str) -> Result<bool, Fault> {
    let handle = user.username.to_ascii_lowercase();
    let added = insert_new!(tx, User, user, handle = &handle, password_hash = password_hash)?;
    if added {
        user_search::index_user(tx, user)?;
    }
    Ok(added)
}

/// Stores profile and state, not the counters. Deletes follow requests if the user is not protected.
pub fn update(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    // Locks the user, so that `verified` stays consistent with the follow counts.
    lock(tx, user.id)?;
    let before = find_by_id(tx, user.id)?;
    if before.as_ref().is_none_or(|before| before.state != user.state) {
        tx.invalidate_credentials(CredentialKey::User(user.id))?;
    }
    user_search::reindex_user(tx, before.as_ref(), user)?;
    let handle = user.username.to_ascii_lowercase();
    update!(
        tx, "users",
        user: [
            username, name, state, description, location, url, profile_image_url, profile_banner_url, entities,
            protected, verified, verified_type, parody, is_identity_verified, subscription_type, receives_dm,
            affiliation, withheld, pinned_post_id, email, email_confirmed, created_at
        ],
        [handle = &handle],
        id = user.id
    )?;
    if let Some(before) = before {
        mark_keys_outdated(tx, &before, user)?;
        if before.verified != user.verified {
            let by = if before.verified { -1 } else { 1 };
            follows::add_to_verified_counts(tx, user.id, by)?;
        }
        if before.state != user.state {
            let sql = "UPDATE users SET state_at = $1 WHERE id = $2";
            let now = tx.now();
            tx.execute_later(sql, &[now.into(), user.id.into()])?;
        }
    }
    if !user.protected {
        graph::delete_follow_requests(tx, user.id)?;
    }
    Ok(())
}

/// For those users whose state has ever changed.
pub fn state_change_times(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<(i64, Time)>, Fault> {
    let sql = "SELECT id, state_at FROM users WHERE id = $1 AND state_at IS NOT NULL";
    tx.query_by_keys(sql, users, &[])
}

/// Marks the user for audience matching if its keys have changed.
fn mark_keys_outdated(tx: &mut Tx<'_>, before: &User, user: &User) -> Result<(), Fault> {
    let same = before.username == user.username
        && before.email == user.email
        && before.email_confirmed == user.email_confirmed
        && before.state == user.state;
    if same {
        return Ok(());
    }
    let sql = "UPDATE users SET keyed = 0 WHERE id = $1";
    tx.execute_later(sql, &[user.id.into()])
}

pub fn set_email(tx: &mut Tx<'_>, id: UserId, email: &str, confirmed: bool) -> Result<(), Fault> {
    let sql = "UPDATE users SET email = $1, email_confirmed = $2, keyed = 0 WHERE id = $3";
    tx.execute_later(sql, &[email.into(), confirmed.into(), id.into()])
}

/// Empty if the user has no password.
pub fn find_password_hash(tx: &mut Tx<'_>, id: UserId) -> Result<Option<String>, Fault> {
    tx.query_row("SELECT password_hash FROM users WHERE id = $1", &[id.into()])
}

/// Returns false if there is no such user.
pub fn set_password_hash(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<bool, Fault> {
    let sql = "UPDATE users SET password_hash = $1 WHERE id = $2";
    Ok(tx.execute(sql, &[hash.into(), id.into()])? > 0)
}

pub fn invalidate_timeline(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "UPDATE users SET following_version = following_version + 1 WHERE id = $1";
    tx.execute_later(sql, &[user.into()])
}

/// Pairs of post and user, for users with live posts.
pub fn most_recent_posts(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT most_recent_post_id, id FROM users WHERE id = $1 AND most_recent_post_id IS NOT NULL";
    tx.query_by_ids(sql, users, &[])
}
