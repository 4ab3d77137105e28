//! Custom audiences: members and their keys, and whom they come to.
//!
//! A member is one person as the advertiser knows them: some keys, from when, until when. Members
//! stay whether or not anyone has their keys. Whom they come to is kept in `audience_user`, a row
//! for each member and user, with the member's times: who is in an audience changes with the clock
//! and needs no work for that.

mod matching;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlValue;

pub use matching::{has_pending_matches, match_pending_members, refresh_user_keys};

/// A key: a letter for its kind, and a SHA-256.
pub type AudienceKey = [u8; 33];

/// The kinds of keys by the letter that theirs begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AudienceKeyKind {
    /// An address of email.
    Email,
    /// A handle.
    Handle,
    /// A user's id.
    User,
    /// A phone number.
    Phone,
    /// A device.
    Device,
    /// What a partner calls the person.
    Partner,
}

impl AudienceKeyKind {
    /// A key of this kind.
    pub fn to_key(self, digest: &[u8; 32]) -> AudienceKey {
        let letter = match self {
            Self::Email => b'e',
            Self::Handle => b'h',
            Self::User => b'i',
            Self::Phone => b'p',
            Self::Device => b'd',
            Self::Partner => b'r',
        };
        let mut key = [letter; 33];
        for (place, byte) in key.iter_mut().skip(1).zip(digest) {
            *place = *byte;
        }
        key
    }
}

/// How members of an audience change, all at once.
#[derive(Clone, Debug, Default)]
pub struct AudienceMemberChanges {
    /// Members that turned out to be others: from, to.
    pub merged: Vec<(i64, i64)>,
    /// Members that are gone.
    pub removed: Vec<i64>,
    /// Members that are new: their number, from when, until when.
    pub added: Vec<(i64, Time, Time)>,
    /// Members that were there and have other times.
    pub renewed: Vec<(i64, Time, Time)>,
    /// Keys that are new, and whose they are.
    pub keys: Vec<(AudienceKey, i64)>,
}

/// Rows, keys or numbers of one statement. The last statement says its last ones several times.
const BATCH_SIZE: usize = 200;

/// `$2, $3, …`, for [`ROWS`] values.
fn placeholder_list(first: usize) -> String {
    let all: Vec<String> = (first..first + BATCH_SIZE).map(|mark| format!("${mark}")).collect();
    all.join(", ")
}

/// A statement that is made once.
type CachedSql = LazyLock<&'static str>;

/// Some values, and the last of them again until there are [`ROWS`].
fn pad_to_batch<T>(some: &[T]) -> impl Iterator<Item = &T> {
    some.iter().chain(some.last().into_iter().cycle()).take(BATCH_SIZE)
}

/// The members of an audience that hold some keys.
pub fn find_key_members(
    tx: &mut Tx<'_>,
    audience: i64,
    keys: &[AudienceKey],
) -> Result<Vec<(AudienceKey, i64)>, Fault> {
    static FIND: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "SELECT key, member FROM audience_key WHERE audience_id = $1 AND key IN ({})",
            placeholder_list(2)
        ))
    });
    let mut all = Vec::new();
    for some in keys.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        args.extend(pad_to_batch(some).map(|key| SqlValue::from(key.as_slice())));
        all.extend(tx.query_rows(*FIND, &args, |row| {
            let key = AudienceKey::try_from(row.bytes(0)?.as_slice());
            Ok((key.map_err(Fault::context("a key"))?, row.int(1)?))
        })?);
    }
    Ok(all)
}

/// Changes the members of an audience.
pub fn apply_changes(tx: &mut Tx<'_>, audience: i64, changes: &AudienceMemberChanges) -> Result<(), Fault> {
    for (from, to) in &changes.merged {
        let sql = "UPDATE audience_key SET member = $1 WHERE audience_id = $2 AND member = $3";
        tx.execute(sql, &[(*to).into(), audience.into(), (*from).into()])?;
    }
    let merged = changes.merged.iter().map(|(from, _)| *from);
    let gone: Vec<i64> = merged.chain(changes.removed.iter().copied()).collect();
    remove_members(tx, audience, &gone)?;
    update_member_times(tx, audience, &changes.renewed)?;
    insert_members(tx, audience, &changes.added)?;
    insert_keys(tx, audience, &changes.keys)
}

fn remove_members(tx: &mut Tx<'_>, audience: i64, members: &[i64]) -> Result<(), Fault> {
    static FORGET: LazyLock<[&'static str; 3]> = LazyLock::new(|| {
        [
            ("audience_key", "member"),
            ("audience_user", "member"),
            ("audience_member", "number"),
        ]
        .map(|(table, column)| {
            let text = format!(
                "DELETE FROM {table} WHERE audience_id = $1 AND {column} IN ({})",
                placeholder_list(2)
            );
            &*String::leak(text)
        })
    });
    for some in members.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        args.extend(pad_to_batch(some).map(|member| SqlValue::Int(*member)));
        for sql in *FORGET {
            tx.execute(sql, &args)?;
        }
    }
    Ok(())
}

fn update_member_times(tx: &mut Tx<'_>, audience: i64, members: &[(i64, Time, Time)]) -> Result<(), Fault> {
    static RENEW: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "UPDATE audience_member SET effective_at = $1, expires_at = $2, waiting = 1 \
             WHERE audience_id = $3 AND number IN ({})",
            placeholder_list(4)
        ))
    });
    let mut alike: BTreeMap<(Time, Time), Vec<i64>> = BTreeMap::new();
    for (number, from, until) in members {
        alike.entry((*from, *until)).or_default().push(*number);
    }
    for ((from, until), numbers) in alike {
        for some in numbers.chunks(BATCH_SIZE) {
            let mut args: Vec<SqlValue<'_>> = vec![from.into(), until.into(), audience.into()];
            args.extend(pad_to_batch(some).map(|member| SqlValue::Int(*member)));
            tx.execute(*RENEW, &args)?;
        }
    }
    Ok(())
}

/// `($1, $2, $3), ($1, $4, $5), …`: rows that begin alike.
fn values_list(columns: usize, last: &str) -> String {
    let row = |row: usize| {
        let first = 2 + row * columns;
        let own: Vec<String> = (first..first + columns).map(|mark| format!("${mark}")).collect();
        format!("($1, {}{last})", own.join(", "))
    };
    let all: Vec<String> = (0..BATCH_SIZE).map(row).collect();
    all.join(", ")
}

fn insert_members(tx: &mut Tx<'_>, audience: i64, members: &[(i64, Time, Time)]) -> Result<(), Fault> {
    static ADD: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "INSERT INTO audience_member (audience_id, number, effective_at, expires_at, waiting) \
             VALUES {} ON CONFLICT DO NOTHING",
            values_list(3, ", 1")
        ))
    });
    for some in members.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        for (number, from, until) in pad_to_batch(some) {
            args.extend([(*number).into(), (*from).into(), SqlValue::from(*until)]);
        }
        tx.execute(*ADD, &args)?;
    }
    Ok(())
}

fn insert_keys(tx: &mut Tx<'_>, audience: i64, keys: &[(AudienceKey, i64)]) -> Result<(), Fault> {
    static ADD: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "INSERT INTO audience_key (audience_id, key, member) VALUES {} ON CONFLICT DO NOTHING",
            values_list(2, "")
        ))
    });
    for some in keys.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        for (key, member) in pad_to_batch(some) {
            args.extend([SqlValue::from(key.as_slice()), (*member).into()]);
        }
        tx.execute(*ADD, &args)?;
    }
    Ok(())
}

/// The users that an audience comes to at a moment, in the order of their ids. Nobody, once it was
/// deleted.
pub fn matched_users(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<Vec<UserId>, Fault> {
    matched_users_since(tx, audience, at, Time::from_ms(i64::MIN))
}

/// Those of them who are in it since a moment or later.
pub fn matched_users_since(tx: &mut Tx<'_>, audience: i64, at: Time, since: Time) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT DISTINCT user_id FROM audience_user WHERE audience_id = $1 \
               AND effective_at <= $2 AND expires_at > $3 AND effective_at >= $4 \
               AND NOT EXISTS (SELECT 1 FROM audience_gone WHERE audience_id = $5) \
               ORDER BY user_id";
    let args = [audience.into(), at.into(), at.into(), since.into(), audience.into()];
    tx.query_rows(sql, &args, |row| row.id(0))
}

/// Those of some audiences that a user is in at a moment.
pub fn list_audiences_of_user(tx: &mut Tx<'_>, user: UserId, at: Time) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT DISTINCT audience_id FROM audience_user WHERE user_id = $1 \
               AND effective_at <= $2 AND expires_at > $3 AND NOT EXISTS (SELECT 1 FROM \
               audience_gone WHERE audience_gone.audience_id = audience_user.audience_id) \
               ORDER BY audience_id";
    tx.query_rows(sql, &[user.into(), at.into(), at.into()], |row| row.int(0))
}

/// The users whom an audience comes to at a moment, in it since `from` or later, who were there
/// since another: who joined, posted, liked, followed, signed in or had an app act for them since
/// then (as in [`super::viewers`]). In the order of their ids.
pub fn active_users(tx: &mut Tx<'_>, audience: i64, (at, from): (Time, Time), since: Time) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT users.id FROM (SELECT DISTINCT user_id FROM audience_user \
               WHERE audience_id = $1 AND effective_at <= $2 AND expires_at > $3 \
               AND effective_at >= $4 AND NOT EXISTS (SELECT 1 FROM audience_gone \
               WHERE audience_id = $5)) AS found \
               JOIN users ON users.id = found.user_id AND users.state = 0 \
               WHERE users.id >= $6 \
               OR EXISTS (SELECT 1 FROM post WHERE post.author_id = found.user_id \
                   AND post.id >= $7 AND state = 0 AND nullcast = 0) \
               OR EXISTS (SELECT 1 FROM post_like WHERE post_like.user_id = found.user_id \
                   AND post_like.id >= $8) \
               OR EXISTS (SELECT 1 FROM follow WHERE follow.source_id = found.user_id \
                   AND follow.id >= $9) \
               OR EXISTS (SELECT 1 FROM session WHERE session.user_id = found.user_id \
                   AND session.revoked_at IS NULL AND session.last_seen_at >= $10) \
               OR EXISTS (SELECT 1 FROM credential_use WHERE \
                   credential_use.user_id = found.user_id AND credential_use.last_used_at >= $11) \
               ORDER BY users.id";
    let first = base::id::first_snowflake_at(since);
    let args = [
        audience.into(),
        at.into(),
        at.into(),
        from.into(),
        audience.into(),
        first.into(),
        first.into(),
        first.into(),
        first.into(),
        since.into(),
        since.into(),
    ];
    tx.query_rows(sql, &args, |row| row.int(0))
}

/// Writes down of which other audiences one is made.
pub fn set_component_audiences(tx: &mut Tx<'_>, audience: i64, parts: &[i64]) -> Result<(), Fault> {
    let sql = "INSERT INTO audience_part (part_id, audience_id) VALUES ($1, $2) \
               ON CONFLICT DO NOTHING";
    for part in parts {
        tx.execute(sql, &[(*part).into(), audience.into()])?;
    }
    Ok(())
}

/// The audiences that are made of one, among others.
pub fn list_containing_audiences(tx: &mut Tx<'_>, part: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT audience_id FROM audience_part WHERE part_id = $1 ORDER BY audience_id";
    tx.query_rows(sql, &[part.into()], |row| row.int(0))
}

/// When the first of those whom an audience comes to begins or ends to be in it, after a moment.
pub fn next_membership_change(tx: &mut Tx<'_>, audience: i64, after: Time) -> Result<Option<Time>, Fault> {
    let begins = "SELECT MIN(effective_at) FROM audience_user \
                  WHERE audience_id = $1 AND effective_at > $2";
    let ends = "SELECT MIN(expires_at) FROM audience_user \
                WHERE audience_id = $1 AND expires_at > $2";
    let mut first = |sql| tx.query_row(sql, &[audience.into(), after.into()], |row| row.opt_time(0));
    let (begins, ends) = (first(begins)?.flatten(), first(ends)?.flatten());
    Ok(begins.into_iter().chain(ends).min())
}

/// Ends an audience: it comes to nobody any more, and its members are forgotten by and by.
pub fn delete(tx: &mut Tx<'_>, audience: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM audience_part WHERE audience_id = $1";
    tx.execute(sql, &[audience.into()])?;
    let sql = "INSERT INTO audience_gone (audience_id) VALUES ($1) ON CONFLICT DO NOTHING";
    tx.execute(sql, &[audience.into()]).map(|_| ())
}

/// Forgets members whose time is over, and those of audiences that were deleted; how many.
pub fn prune_members(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "SELECT audience_id, number FROM audience_member WHERE expires_at <= $1 \
               ORDER BY expires_at LIMIT $2";
    let over = tx.query_rows(sql, &[now.into(), limit.into()], |row| Ok((row.int(0)?, row.int(1)?)))?;
    let mut by_audience: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (audience, member) in &over {
        by_audience.entry(*audience).or_default().push(*member);
    }
    let mut count = over.len();
    let sql = "SELECT audience_id FROM audience_gone ORDER BY audience_id LIMIT 1";
    if let Some(gone) = tx.query_row(sql, &[], |row| row.int(0))? {
        let sql = "SELECT number FROM audience_member WHERE audience_id = $1 \
                   ORDER BY number LIMIT $2";
        let left = tx.query_rows(sql, &[gone.into(), limit.into()], |row| row.int(0))?;
        if left.is_empty() {
            // What was looked at for new users at that time may have come in later.
            for sql in [
                "DELETE FROM audience_user WHERE audience_id = $1",
                "DELETE FROM audience_key WHERE audience_id = $1",
                "DELETE FROM audience_gone WHERE audience_id = $1",
            ] {
                tx.execute(sql, &[gone.into()])?;
            }
            count += 1;
        }
        count += left.len();
        by_audience.entry(gone).or_default().extend(left);
    }
    for (audience, mut members) in by_audience {
        members.sort_unstable();
        members.dedup();
        remove_members(tx, audience, &members)?;
    }
    Ok(u64::try_from(count).unwrap_or(u64::MAX))
}
