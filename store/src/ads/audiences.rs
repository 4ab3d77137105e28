//! Custom audiences: members, their keys, and the users they match.
//!
//! A member is one person as the advertiser knows them: a set of keys with a start and an end time. Members stay
//! whether or not a user has one of their keys. Matches are materialized in `audience_user`, one row per member and
//! user with the member's times, so membership changes with the clock without further writes.

mod matching;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{SqlValue, insert_new_later};

pub use matching::{
    MembersByAudience, find_users_by_keys, has_members, has_pending_members, has_unkeyed_users, lock_matching,
    mark_members_pending, match_pending_members, refresh_user_keys,
};

/// A letter for the kind, then a SHA-256 digest.
pub type AudienceKey = [u8; 33];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AudienceKeyKind {
    Email,
    Handle,
    User,
    Phone,
    Device,
    /// A partner's id of the person.
    Partner,
}

impl AudienceKeyKind {
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

/// Changes that are applied together.
#[derive(Clone, Debug, Default)]
pub struct AudienceMemberChanges {
    /// Members found to be the same person: from, to.
    pub merged: Vec<(i64, i64)>,
    pub removed: Vec<i64>,
    /// Member number, start, end.
    pub added: Vec<(i64, Time, Time)>,
    /// Member number, start, end.
    pub renewed: Vec<(i64, Time, Time)>,
    pub keys: Vec<(AudienceKey, i64)>,
}

/// Rows, keys or numbers per statement; a shorter batch repeats its last item.
const BATCH_SIZE: usize = 200;

/// `$2, $3, …`, for [`BATCH_SIZE`] values.
fn placeholder_list(first: usize) -> String {
    let all: Vec<String> = (first..first + BATCH_SIZE).map(|mark| format!("${mark}")).collect();
    all.join(", ")
}

type CachedSql = LazyLock<&'static str>;

fn pad_to_batch<T>(batch: &[T]) -> impl Iterator<Item = &T> {
    batch.iter().chain(batch.last().into_iter().cycle()).take(BATCH_SIZE)
}

pub fn find_key_members(
    tx: &mut Tx<'_>,
    audience: i64,
    keys: &[AudienceKey],
) -> Result<Vec<(AudienceKey, i64)>, Fault> {
    static QUERY: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "SELECT key, member FROM audience_key WHERE audience_id = $1 AND key IN ({})",
            placeholder_list(2)
        ))
    });
    let mut all = Vec::new();
    for batch in keys.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        args.extend(pad_to_batch(batch).map(|key| SqlValue::from(key.as_slice())));
        all.extend(tx.query_rows::<(AudienceKey, i64)>(*QUERY, &args)?);
    }
    Ok(all)
}

/// When members start and end, in no particular order.
pub fn find_member_times(tx: &mut Tx<'_>, audience: i64, members: &[i64]) -> Result<Vec<(Time, Time)>, Fault> {
    let sql = "SELECT effective_at, expires_at FROM audience_member WHERE number = $1 AND audience_id = $2";
    tx.query_by_keys(sql, members, &[audience.into()])
}

pub fn apply_changes(tx: &mut Tx<'_>, audience: i64, changes: &AudienceMemberChanges) -> Result<(), Fault> {
    for (from, to) in &changes.merged {
        let sql = "UPDATE audience_key SET member = $1 WHERE audience_id = $2 AND member = $3";
        tx.execute_later(sql, &[(*to).into(), audience.into(), (*from).into()])?;
    }
    let merged = changes.merged.iter().map(|(from, _)| *from);
    let gone: Vec<i64> = merged.chain(changes.removed.iter().copied()).collect();
    remove_members(tx, audience, &gone)?;
    update_member_times(tx, audience, &changes.renewed)?;
    insert_members(tx, audience, &changes.added)?;
    insert_keys(tx, audience, &changes.keys)
}

fn remove_members(tx: &mut Tx<'_>, audience: i64, members: &[i64]) -> Result<(), Fault> {
    static DELETES: LazyLock<[&'static str; 3]> = LazyLock::new(|| {
        [("audience_key", "member"), ("audience_user", "member"), ("audience_member", "number")].map(
            |(table, column)| {
                let text =
                    format!("DELETE FROM {table} WHERE audience_id = $1 AND {column} IN ({})", placeholder_list(2));
                &*String::leak(text)
            },
        )
    });
    for batch in members.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        args.extend(pad_to_batch(batch).map(|member| SqlValue::Int(*member)));
        for sql in *DELETES {
            tx.execute_later(sql, &args)?;
        }
    }
    Ok(())
}

fn update_member_times(tx: &mut Tx<'_>, audience: i64, members: &[(i64, Time, Time)]) -> Result<(), Fault> {
    static UPDATE: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "UPDATE audience_member SET effective_at = $1, expires_at = $2, waiting = 1 \
             WHERE audience_id = $3 AND number IN ({})",
            placeholder_list(4)
        ))
    });
    let mut by_times: BTreeMap<(Time, Time), Vec<i64>> = BTreeMap::new();
    for (number, from, until) in members {
        by_times.entry((*from, *until)).or_default().push(*number);
    }
    for ((from, until), numbers) in by_times {
        for batch in numbers.chunks(BATCH_SIZE) {
            let mut args: Vec<SqlValue<'_>> = vec![from.into(), until.into(), audience.into()];
            args.extend(pad_to_batch(batch).map(|member| SqlValue::Int(*member)));
            tx.execute_later(*UPDATE, &args)?;
        }
    }
    Ok(())
}

/// `($1, $2, $3), ($1, $4, $5), …`: rows that share their first value.
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
    static INSERT: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "INSERT INTO audience_member (audience_id, number, effective_at, expires_at, waiting) \
             VALUES {} ON CONFLICT DO NOTHING",
            values_list(3, ", 1")
        ))
    });
    for batch in members.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        for (number, from, until) in pad_to_batch(batch) {
            args.extend([(*number).into(), (*from).into(), SqlValue::from(*until)]);
        }
        tx.execute_later(*INSERT, &args)?;
    }
    Ok(())
}

fn insert_keys(tx: &mut Tx<'_>, audience: i64, keys: &[(AudienceKey, i64)]) -> Result<(), Fault> {
    static INSERT: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "INSERT INTO audience_key (audience_id, key, member) VALUES {} ON CONFLICT DO NOTHING",
            values_list(2, "")
        ))
    });
    for batch in keys.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        for (key, member) in pad_to_batch(batch) {
            args.extend([SqlValue::from(key.as_slice()), (*member).into()]);
        }
        tx.execute_later(*INSERT, &args)?;
    }
    Ok(())
}

/// The users whom an audience matches at a time, in id order; none once it is deleted.
pub fn matched_users(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<Vec<UserId>, Fault> {
    matched_users_since(tx, audience, at, Time::from_ms(i64::MIN))
}

/// As [`matched_users`], limited to users who became members at `since` or later.
pub fn matched_users_since(tx: &mut Tx<'_>, audience: i64, at: Time, since: Time) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT DISTINCT user_id FROM audience_user WHERE audience_id = $1 AND effective_at <= $2 \
               AND expires_at > $3 AND effective_at >= $4 AND NOT EXISTS (SELECT 1 FROM audience_gone \
               WHERE audience_id = $5) ORDER BY user_id";
    let args = [audience.into(), at.into(), at.into(), since.into(), audience.into()];
    tx.query_rows(sql, &args)
}

/// The users whom an audience matches at a time, who became members at `from` or later and were active since `since`:
/// joined, posted, liked, followed, signed in or had an app act for them (as in [`super::viewers`]). In id order.
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
    tx.query_rows(sql, &args)
}

pub fn set_component_audiences(tx: &mut Tx<'_>, audience: i64, parts: &[i64]) -> Result<(), Fault> {
    for part in parts {
        insert_new_later!(tx, "audience_part", part_id = *part, audience_id = audience)?;
    }
    Ok(())
}

pub fn list_containing_audiences(tx: &mut Tx<'_>, part: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT audience_id FROM audience_part WHERE part_id = $1 ORDER BY audience_id";
    tx.query_rows(sql, &[part.into()])
}

/// The next time after `after` at which a user enters or leaves an audience.
pub fn next_membership_change(tx: &mut Tx<'_>, audience: i64, after: Time) -> Result<Option<Time>, Fault> {
    let starts = "SELECT MIN(effective_at) FROM audience_user WHERE audience_id = $1 AND effective_at > $2";
    let ends = "SELECT MIN(expires_at) FROM audience_user WHERE audience_id = $1 AND expires_at > $2";
    let mut first = |sql| tx.query_row(sql, &[audience.into(), after.into()]);
    let (starts, ends) = (first(starts)?.flatten(), first(ends)?.flatten());
    Ok(starts.into_iter().chain(ends).min())
}

/// Marks an audience as deleted: it matches nobody, and [`prune_members`] removes its rows.
pub fn delete(tx: &mut Tx<'_>, audience: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM audience_part WHERE audience_id = $1";
    tx.execute_later(sql, &[audience.into()])?;
    insert_new_later!(tx, "audience_gone", audience_id = audience)
}

/// Deletes expired members, or members of a deleted audience; returns how many it looked at.
pub fn prune_members(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<u64, Fault> {
    let count = match prune_expired_members(tx, now, limit)? {
        0 => prune_deleted_audience(tx, limit)?,
        count => count,
    };
    Ok(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Takes the lock that writers of an audience's members hold, which is that of its account.
fn lock_members(tx: &mut Tx<'_>, audience: i64) -> Result<(), Fault> {
    let sql = "SELECT id FROM ads_record WHERE kind = 'account' AND id IN (SELECT account_id FROM ads_record \
               WHERE id = $1 AND kind IN ('custom_audience', 'do_not_reach_list')) FOR UPDATE";
    tx.lock_row(sql, &[audience.into()])
}

fn prune_expired_members(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<usize, Fault> {
    let sql = "SELECT audience_id, number FROM audience_member WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2";
    let over: Vec<(i64, i64)> = tx.query_rows(sql, &[now.into(), limit.into()])?;
    // In the order in which the job that stores keys locks accounts.
    let mut by_audience: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (audience, member) in &over {
        by_audience.entry(*audience).or_default().push(*member);
    }
    for (audience, members) in by_audience {
        lock_members(tx, audience)?;
        // A member may have been renewed until the lock was granted.
        let sql = "SELECT number FROM audience_member WHERE number = $1 AND audience_id = $2 AND expires_at <= $3";
        let expired = tx.query_by_keys(sql, &members, &[audience.into(), now.into()])?;
        remove_members(tx, audience, &expired)?;
    }
    Ok(over.len())
}

fn prune_deleted_audience(tx: &mut Tx<'_>, limit: i64) -> Result<usize, Fault> {
    let sql = "SELECT audience_id FROM audience_gone ORDER BY audience_id LIMIT 1";
    let Some(gone) = tx.query_row::<i64>(sql, &[])? else {
        return Ok(0);
    };
    lock_members(tx, gone)?;
    let sql = "SELECT number FROM audience_member WHERE audience_id = $1 ORDER BY number LIMIT $2";
    let left: Vec<i64> = tx.query_rows(sql, &[gone.into(), limit.into()])?;
    if left.is_empty() {
        // Earlier versions left matches without members.
        for sql in [
            "DELETE FROM audience_user WHERE audience_id = $1",
            "DELETE FROM audience_key WHERE audience_id = $1",
            "DELETE FROM audience_gone WHERE audience_id = $1",
        ] {
            tx.execute_later(sql, &[gone.into()])?;
        }
        return Ok(1);
    }
    remove_members(tx, gone, &left)?;
    Ok(left.len())
}
