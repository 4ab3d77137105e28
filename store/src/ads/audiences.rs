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
use crate::db::Value;

pub use matching::{is_behind, key_users, match_waiting};

/// A key: a letter for its kind, and a SHA-256.
pub type Key = [u8; 33];

/// The kinds of keys by the letter that theirs begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
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

impl KeyKind {
    /// A key of this kind.
    pub fn key(self, digest: &[u8; 32]) -> Key {
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
pub struct Changes {
    /// Members that turned out to be others: from, to.
    pub merged: Vec<(i64, i64)>,
    /// Members that are gone.
    pub removed: Vec<i64>,
    /// Members that are new: their number, from when, until when.
    pub added: Vec<(i64, Time, Time)>,
    /// Members that were there and have other times.
    pub renewed: Vec<(i64, Time, Time)>,
    /// Keys that are new, and whose they are.
    pub keys: Vec<(Key, i64)>,
}

/// Rows, keys or numbers of one statement. The last statement says its last ones several times.
const ROWS: usize = 200;

/// `$2, $3, …`, for [`ROWS`] values.
fn marks(first: usize) -> String {
    let all: Vec<String> = (first..first + ROWS)
        .map(|mark| format!("${mark}"))
        .collect();
    all.join(", ")
}

/// A statement that is made once.
type Sql = LazyLock<&'static str>;

/// Some values, and the last of them again until there are [`ROWS`].
fn filled<T>(some: &[T]) -> impl Iterator<Item = &T> {
    some.iter()
        .chain(some.last().into_iter().cycle())
        .take(ROWS)
}

/// The members of an audience that hold some keys.
pub fn holders(tx: &mut Tx<'_>, audience: i64, keys: &[Key]) -> Result<Vec<(Key, i64)>, Fault> {
    static FIND: Sql = LazyLock::new(|| {
        String::leak(format!(
            "SELECT key, member FROM audience_key WHERE audience_id = $1 AND key IN ({})",
            marks(2)
        ))
    });
    let mut all = Vec::new();
    for some in keys.chunks(ROWS) {
        let mut args: Vec<Value<'_>> = vec![audience.into()];
        args.extend(filled(some).map(|key| Value::from(key.as_slice())));
        all.extend(tx.rows(*FIND, &args, |row| {
            let key = Key::try_from(row.bytes(0)?.as_slice());
            Ok((key.map_err(Fault::when("a key"))?, row.int(1)?))
        })?);
    }
    Ok(all)
}

/// Changes the members of an audience.
pub fn change(tx: &mut Tx<'_>, audience: i64, changes: &Changes) -> Result<(), Fault> {
    for (from, to) in &changes.merged {
        let sql = "UPDATE audience_key SET member = $1 WHERE audience_id = $2 AND member = $3";
        tx.exec(sql, &[(*to).into(), audience.into(), (*from).into()])?;
    }
    let merged = changes.merged.iter().map(|(from, _)| *from);
    let gone: Vec<i64> = merged.chain(changes.removed.iter().copied()).collect();
    remove(tx, audience, &gone)?;
    renew(tx, audience, &changes.renewed)?;
    add(tx, audience, &changes.added)?;
    add_keys(tx, audience, &changes.keys)
}

fn remove(tx: &mut Tx<'_>, audience: i64, members: &[i64]) -> Result<(), Fault> {
    static FORGET: LazyLock<[&'static str; 3]> = LazyLock::new(|| {
        [
            ("audience_key", "member"),
            ("audience_user", "member"),
            ("audience_member", "number"),
        ]
        .map(|(table, column)| {
            let text = format!(
                "DELETE FROM {table} WHERE audience_id = $1 AND {column} IN ({})",
                marks(2)
            );
            &*String::leak(text)
        })
    });
    for some in members.chunks(ROWS) {
        let mut args: Vec<Value<'_>> = vec![audience.into()];
        args.extend(filled(some).map(|member| Value::Int(*member)));
        for sql in *FORGET {
            tx.exec(sql, &args)?;
        }
    }
    Ok(())
}

fn renew(tx: &mut Tx<'_>, audience: i64, members: &[(i64, Time, Time)]) -> Result<(), Fault> {
    static RENEW: Sql = LazyLock::new(|| {
        String::leak(format!(
            "UPDATE audience_member SET effective_at = $1, expires_at = $2, waiting = 1 \
             WHERE audience_id = $3 AND number IN ({})",
            marks(4)
        ))
    });
    let mut alike: BTreeMap<(Time, Time), Vec<i64>> = BTreeMap::new();
    for (number, from, until) in members {
        alike.entry((*from, *until)).or_default().push(*number);
    }
    for ((from, until), numbers) in alike {
        for some in numbers.chunks(ROWS) {
            let mut args: Vec<Value<'_>> = vec![from.into(), until.into(), audience.into()];
            args.extend(filled(some).map(|member| Value::Int(*member)));
            tx.exec(*RENEW, &args)?;
        }
    }
    Ok(())
}

/// `($1, $2, $3), ($1, $4, $5), …`: rows that begin alike.
fn rows(columns: usize, last: &str) -> String {
    let row = |row: usize| {
        let first = 2 + row * columns;
        let own: Vec<String> = (first..first + columns)
            .map(|mark| format!("${mark}"))
            .collect();
        format!("($1, {}{last})", own.join(", "))
    };
    let all: Vec<String> = (0..ROWS).map(row).collect();
    all.join(", ")
}

fn add(tx: &mut Tx<'_>, audience: i64, members: &[(i64, Time, Time)]) -> Result<(), Fault> {
    static ADD: Sql = LazyLock::new(|| {
        String::leak(format!(
            "INSERT INTO audience_member (audience_id, number, effective_at, expires_at, waiting) \
             VALUES {} ON CONFLICT DO NOTHING",
            rows(3, ", 1")
        ))
    });
    for some in members.chunks(ROWS) {
        let mut args: Vec<Value<'_>> = vec![audience.into()];
        for (number, from, until) in filled(some) {
            args.extend([(*number).into(), (*from).into(), Value::from(*until)]);
        }
        tx.exec(*ADD, &args)?;
    }
    Ok(())
}

fn add_keys(tx: &mut Tx<'_>, audience: i64, keys: &[(Key, i64)]) -> Result<(), Fault> {
    static ADD: Sql = LazyLock::new(|| {
        String::leak(format!(
            "INSERT INTO audience_key (audience_id, key, member) VALUES {} ON CONFLICT DO NOTHING",
            rows(2, "")
        ))
    });
    for some in keys.chunks(ROWS) {
        let mut args: Vec<Value<'_>> = vec![audience.into()];
        for (key, member) in filled(some) {
            args.extend([Value::from(key.as_slice()), (*member).into()]);
        }
        tx.exec(*ADD, &args)?;
    }
    Ok(())
}

/// The users that an audience comes to at a moment, in the order of their ids. Nobody, once it was
/// deleted.
pub fn matched(tx: &mut Tx<'_>, audience: i64, at: Time) -> Result<Vec<UserId>, Fault> {
    matched_since(tx, audience, at, Time::from_ms(i64::MIN))
}

/// Those of them who are in it since a moment or later.
pub fn matched_since(
    tx: &mut Tx<'_>,
    audience: i64,
    at: Time,
    since: Time,
) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT DISTINCT user_id FROM audience_user WHERE audience_id = $1 \
               AND effective_at <= $2 AND expires_at > $3 AND effective_at >= $4 \
               AND NOT EXISTS (SELECT 1 FROM audience_gone WHERE audience_id = $5) \
               ORDER BY user_id";
    let args = [
        audience.into(),
        at.into(),
        at.into(),
        since.into(),
        audience.into(),
    ];
    tx.rows(sql, &args, |row| row.id(0))
}

/// Those of some audiences that a user is in at a moment.
pub fn with_user(tx: &mut Tx<'_>, user: UserId, at: Time) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT DISTINCT audience_id FROM audience_user WHERE user_id = $1 \
               AND effective_at <= $2 AND expires_at > $3 AND NOT EXISTS (SELECT 1 FROM \
               audience_gone WHERE audience_gone.audience_id = audience_user.audience_id) \
               ORDER BY audience_id";
    tx.rows(sql, &[user.into(), at.into(), at.into()], |row| row.int(0))
}

/// The users whom an audience comes to at a moment, in it since `from` or later, who were there
/// since another: who joined, posted, liked, followed, signed in or had an app act for them since
/// then (as in [`super::viewers`]). In the order of their ids.
pub fn present(
    tx: &mut Tx<'_>,
    audience: i64,
    (at, from): (Time, Time),
    since: Time,
) -> Result<Vec<i64>, Fault> {
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
    let first = base::id::first_at(since);
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
    tx.rows(sql, &args, |row| row.int(0))
}

/// Writes down of which other audiences one is made.
pub fn set_parts(tx: &mut Tx<'_>, audience: i64, parts: &[i64]) -> Result<(), Fault> {
    let sql = "INSERT INTO audience_part (part_id, audience_id) VALUES ($1, $2) \
               ON CONFLICT DO NOTHING";
    for part in parts {
        tx.exec(sql, &[(*part).into(), audience.into()])?;
    }
    Ok(())
}

/// The audiences that are made of one, among others.
pub fn made_of(tx: &mut Tx<'_>, part: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT audience_id FROM audience_part WHERE part_id = $1 ORDER BY audience_id";
    tx.rows(sql, &[part.into()], |row| row.int(0))
}

/// When the first of those whom an audience comes to begins or ends to be in it, after a moment.
pub fn next_turn(tx: &mut Tx<'_>, audience: i64, after: Time) -> Result<Option<Time>, Fault> {
    let begins = "SELECT MIN(effective_at) FROM audience_user \
                  WHERE audience_id = $1 AND effective_at > $2";
    let ends = "SELECT MIN(expires_at) FROM audience_user \
                WHERE audience_id = $1 AND expires_at > $2";
    let mut first = |sql| tx.row(sql, &[audience.into(), after.into()], |row| row.opt_time(0));
    let (begins, ends) = (first(begins)?.flatten(), first(ends)?.flatten());
    Ok(begins.into_iter().chain(ends).min())
}

/// Ends an audience: it comes to nobody any more, and its members are forgotten by and by.
pub fn end(tx: &mut Tx<'_>, audience: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM audience_part WHERE audience_id = $1";
    tx.exec(sql, &[audience.into()])?;
    let sql = "INSERT INTO audience_gone (audience_id) VALUES ($1) ON CONFLICT DO NOTHING";
    tx.exec(sql, &[audience.into()]).map(|_| ())
}

/// Forgets members whose time is over, and those of audiences that were deleted; how many.
pub fn prune(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "SELECT audience_id, number FROM audience_member WHERE expires_at <= $1 \
               ORDER BY expires_at LIMIT $2";
    let over = tx.rows(sql, &[now.into(), limit.into()], |row| {
        Ok((row.int(0)?, row.int(1)?))
    })?;
    let mut by_audience: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (audience, member) in &over {
        by_audience.entry(*audience).or_default().push(*member);
    }
    let mut count = over.len();
    let sql = "SELECT audience_id FROM audience_gone ORDER BY audience_id LIMIT 1";
    if let Some(gone) = tx.row(sql, &[], |row| row.int(0))? {
        let sql = "SELECT number FROM audience_member WHERE audience_id = $1 \
                   ORDER BY number LIMIT $2";
        let left = tx.rows(sql, &[gone.into(), limit.into()], |row| row.int(0))?;
        if left.is_empty() {
            // What was looked at for new users at that time may have come in later.
            for sql in [
                "DELETE FROM audience_user WHERE audience_id = $1",
                "DELETE FROM audience_key WHERE audience_id = $1",
                "DELETE FROM audience_gone WHERE audience_id = $1",
            ] {
                tx.exec(sql, &[gone.into()])?;
            }
            count += 1;
        }
        count += left.len();
        by_audience.entry(gone).or_default().extend(left);
    }
    for (audience, mut members) in by_audience {
        members.sort_unstable();
        members.dedup();
        remove(tx, audience, &members)?;
    }
    Ok(u64::try_from(count).unwrap_or(u64::MAX))
}
