//! Users: profiles, states and counters.

use base::{Fault, PostId, Time, UserId};

use crate::db::SqlRow;
use crate::db::stored_enum;
use crate::{Tx, follows, graph, user_search};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserState {
    Active,
    Suspended,
    Deleted,
    /// Imported; little more than the id is known.
    Placeholder,
}

stored_enum!(UserState "user state" { Active = 0, Suspended = 1, Deleted = 2, Placeholder = 3 });

#[derive(Clone, Debug)]
pub struct User {
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
    pub pinned_post_id: Option<PostId>,
    /// The most recent live post that is not nullcast.
    pub most_recent_post_id: Option<PostId>,
    pub followers_count: i64,
    /// The number of verified followers.
    pub verified_followers_count: i64,
    pub following_count: i64,
    /// Live posts, including reposts.
    pub post_count: i64,
    /// Public lists it is a member of.
    pub listed_count: i64,
    pub like_count: i64,
    /// Live posts with media.
    pub media_count: i64,
    /// Incremented by every change of its follows or mutes.
    pub following_version: i64,
    /// May be empty.
    pub email: String,
    pub email_confirmed: bool,
}

impl User {
    pub fn new(id: UserId, username: &str, created_at: Time) -> Self {
        Self {
            id,
            username: username.to_owned(),
            name: username.to_owned(),
            created_at,
            state: UserState::Active,
            description: String::new(),
            location: String::new(),
            url: String::new(),
            profile_image_url: String::new(),
            profile_banner_url: String::new(),
            entities: String::new(),
            protected: false,
            verified: false,
            verified_type: "none".to_owned(),
            parody: false,
            is_identity_verified: false,
            subscription_type: "None".to_owned(),
            receives_dm: true,
            affiliation: String::new(),
            withheld: String::new(),
            pinned_post_id: None,
            most_recent_post_id: None,
            followers_count: 0,
            verified_followers_count: 0,
            following_count: 0,
            post_count: 0,
            listed_count: 0,
            like_count: 0,
            media_count: 0,
            following_version: 0,
            email: String::new(),
            email_confirmed: false,
        }
    }
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, username, name, created_at, state, description, location, url, \
             profile_image_url, profile_banner_url, entities, protected, verified, verified_type, \
             parody, is_identity_verified, subscription_type, receives_dm, affiliation, withheld, \
             pinned_post_id, most_recent_post_id, followers_count, following_count, post_count, \
             listed_count, like_count, media_count, following_version, email, email_confirmed, \
             verified_followers_count",
            $after
        )
    };
}

fn user_from_row(row: &SqlRow<'_, '_>) -> Result<User, Fault> {
    Ok(User {
        id: row.id(0)?,
        username: row.text(1)?,
        name: row.text(2)?,
        created_at: row.time(3)?,
        state: UserState::from_number(row.int(4)?)?,
        description: row.text(5)?,
        location: row.text(6)?,
        url: row.text(7)?,
        profile_image_url: row.text(8)?,
        profile_banner_url: row.text(9)?,
        entities: row.text(10)?,
        protected: row.bool(11)?,
        verified: row.bool(12)?,
        verified_type: row.text(13)?,
        parody: row.bool(14)?,
        is_identity_verified: row.bool(15)?,
        subscription_type: row.text(16)?,
        receives_dm: row.bool(17)?,
        affiliation: row.text(18)?,
        withheld: row.text(19)?,
        pinned_post_id: row.opt_id(20)?,
        most_recent_post_id: row.opt_id(21)?,
        followers_count: row.int(22)?,
        following_count: row.int(23)?,
        post_count: row.int(24)?,
        listed_count: row.int(25)?,
        like_count: row.int(26)?,
        media_count: row.int(27)?,
        following_version: row.int(28)?,
        email: row.text(29)?,
        email_confirmed: row.bool(30)?,
        verified_followers_count: row.int(31)?,
    })
}

/// In any state.
pub fn find_by_id(tx: &mut Tx<'_>, id: UserId) -> Result<Option<User>, Fault> {
    tx.query_row(columns!("SELECT ", " FROM users WHERE id = $1"), &[id.into()], user_from_row)
}

/// Locks a user until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: UserId) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM users WHERE id = $1 FOR UPDATE", &[id.into()])
}

/// In any state and no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<Vec<User>, Fault> {
    tx.query_by_ids(columns!("SELECT ", " FROM users WHERE id = $1"), ids, &[], user_from_row)
}

/// Case-insensitive.
pub fn find_by_username(tx: &mut Tx<'_>, username: &str) -> Result<Option<User>, Fault> {
    let handle = username.to_ascii_lowercase();
    tx.query_row(columns!("SELECT ", " FROM users WHERE handle = $1"), &[handle.as_str().into()], user_from_row)
}

/// Case-insensitive; prefers a user who has confirmed the address, then the oldest.
pub fn find_by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<User>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM users WHERE LOWER(email) = LOWER(CAST($1 AS TEXT)) AND email <> '' AND state < 2 \
         ORDER BY email_confirmed DESC, id LIMIT 1"
    );
    tx.query_row(sql, &[email.into()], user_from_row)
}

/// Case-insensitive, in any state and no particular order; unknown names are skipped.
pub fn find_by_usernames(tx: &mut Tx<'_>, usernames: &[&str]) -> Result<Vec<User>, Fault> {
    let found = usernames.iter().map(|username| find_by_username(tx, username));
    let found: Vec<Option<User>> = found.collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Oldest first, after an id.
pub fn list(tx: &mut Tx<'_>, after: UserId, limit: i64) -> Result<Vec<User>, Fault> {
    let sql = columns!("SELECT ", " FROM users WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()], user_from_row)
}

/// Returns false if the id or the handle is taken.
pub fn insert(tx: &mut Tx<'_>, user: &User, password_hash: &str) -> Result<bool, Fault> {
    let sql = "INSERT INTO users (id, username, handle, name, created_at, state, description, \
               location, url, profile_image_url, profile_banner_url, entities, protected, \
               verified, verified_type, parody, is_identity_verified, subscription_type, \
               receives_dm, affiliation, withheld, email, email_confirmed, password_hash) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
               $18, $19, $20, $21, $22, $23, $24) ON CONFLICT DO NOTHING";
    let handle = user.username.to_ascii_lowercase();
    let args = [
        user.id.into(),
        (&user.username).into(),
        (&handle).into(),
        (&user.name).into(),
        user.created_at.into(),
        user.state.to_number().into(),
        (&user.description).into(),
        (&user.location).into(),
        (&user.url).into(),
        (&user.profile_image_url).into(),
        (&user.profile_banner_url).into(),
        (&user.entities).into(),
        user.protected.into(),
        user.verified.into(),
        (&user.verified_type).into(),
        user.parody.into(),
        user.is_identity_verified.into(),
        (&user.subscription_type).into(),
        user.receives_dm.into(),
        (&user.affiliation).into(),
        (&user.withheld).into(),
        (&user.email).into(),
        user.email_confirmed.into(),
        password_hash.into(),
    ];
    let added = tx.execute(sql, &args)? > 0;
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
        tx.mark_credentials_changed();
    }
    user_search::reindex_user(tx, before.as_ref(), user)?;
    let sql = "UPDATE users SET username = $1, handle = $2, name = $3, state = $4, \
               description = $5, location = $6, url = $7, profile_image_url = $8, \
               profile_banner_url = $9, entities = $10, protected = $11, verified = $12, \
               verified_type = $13, parody = $14, is_identity_verified = $15, \
               subscription_type = $16, receives_dm = $17, affiliation = $18, withheld = $19, \
               pinned_post_id = $20, email = $21, email_confirmed = $22, created_at = $23 \
               WHERE id = $24";
    let handle = user.username.to_ascii_lowercase();
    let args = [
        (&user.username).into(),
        (&handle).into(),
        (&user.name).into(),
        user.state.to_number().into(),
        (&user.description).into(),
        (&user.location).into(),
        (&user.url).into(),
        (&user.profile_image_url).into(),
        (&user.profile_banner_url).into(),
        (&user.entities).into(),
        user.protected.into(),
        user.verified.into(),
        (&user.verified_type).into(),
        user.parody.into(),
        user.is_identity_verified.into(),
        (&user.subscription_type).into(),
        user.receives_dm.into(),
        (&user.affiliation).into(),
        (&user.withheld).into(),
        user.pinned_post_id.into(),
        (&user.email).into(),
        user.email_confirmed.into(),
        user.created_at.into(),
        user.id.into(),
    ];
    tx.execute(sql, &args)?;
    if let Some(before) = before {
        mark_keys_outdated(tx, &before, user)?;
        if before.verified != user.verified {
            let by = if before.verified { -1 } else { 1 };
            follows::add_to_verified_counts(tx, user.id, by)?;
        }
        if before.state != user.state {
            let sql = "UPDATE users SET state_at = $1 WHERE id = $2";
            let now = tx.now();
            tx.execute(sql, &[now.into(), user.id.into()])?;
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
    tx.query_by_keys(sql, users, &[], |row| Ok((row.int(0)?, row.time(1)?)))
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
    tx.execute(sql, &[user.id.into()]).map(|_| ())
}

pub fn set_email(tx: &mut Tx<'_>, id: UserId, email: &str, confirmed: bool) -> Result<(), Fault> {
    let sql = "UPDATE users SET email = $1, email_confirmed = $2, keyed = 0 WHERE id = $3";
    tx.execute(sql, &[email.into(), confirmed.into(), id.into()]).map(|_| ())
}

/// Empty if the user has no password.
pub fn find_password_hash(tx: &mut Tx<'_>, id: UserId) -> Result<Option<String>, Fault> {
    tx.query_row("SELECT password_hash FROM users WHERE id = $1", &[id.into()], |row| row.text(0))
}

/// Returns false if there is no such user.
pub fn set_password_hash(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<bool, Fault> {
    let sql = "UPDATE users SET password_hash = $1 WHERE id = $2";
    Ok(tx.execute(sql, &[hash.into(), id.into()])? > 0)
}

/// Invalidates the home timelines of the author and the followers, and lists with the author: posts older than their
/// newest were added.
pub fn invalidate_followers_timelines(tx: &mut Tx<'_>, author: UserId) -> Result<(), Fault> {
    let sql = "UPDATE users SET following_version = following_version + 1 \
               WHERE id = $1 OR id IN (SELECT source_id FROM follow WHERE target_id = $1)";
    tx.execute(sql, &[author.into()])?;
    let sql = "UPDATE list SET member_version = member_version + 1 \
               WHERE id IN (SELECT list_id FROM list_member WHERE user_id = $1)";
    tx.execute(sql, &[author.into()]).map(|_| ())
}

pub fn invalidate_timeline(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "UPDATE users SET following_version = following_version + 1 WHERE id = $1";
    tx.execute(sql, &[user.into()]).map(|_| ())
}

/// Pairs of post and user, for users with live posts.
pub fn most_recent_posts(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT most_recent_post_id, id FROM users WHERE id = $1 \
               AND most_recent_post_id IS NOT NULL";
    tx.query_by_ids(sql, users, &[], |row| Ok((row.id(0)?, row.id(1)?)))
}
