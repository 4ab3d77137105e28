//! Matching: which users have which keys, and which audience members they match.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::secret::digest;
use base::{Fault, UserId};

use super::{AudienceKey, AudienceKeyKind};
use crate::Tx;

/// Serializes matching until the end of the transaction.
fn lock_matching(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if tx.is_postgres() {
        let sql = "SELECT CAST(CAST(pg_advisory_xact_lock(7306) AS TEXT) AS TEXT)";
        tx.query_row(sql, &[], |_| Ok(()))?;
    }
    Ok(())
}

fn has_members(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM audience_member LIMIT 1";
    tx.row_exists(sql, &[])
}

/// Whether there are audience members, and users whose keys may have changed.
pub fn has_pending_matches(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM users WHERE keyed = 0 LIMIT 1";
    Ok(has_members(tx)? && tx.row_exists(sql, &[])?)
}

/// Matches members that were written since the last call; returns true while there are more.
pub fn match_pending_members(tx: &mut Tx<'_>, audience: i64, limit: i64) -> Result<bool, Fault> {
    lock_matching(tx)?;
    let sql = "SELECT number FROM audience_member WHERE audience_id = $1 AND waiting = 1 \
               ORDER BY number LIMIT $2";
    let waiting = tx.query_rows(sql, &[audience.into(), limit.into()], |row| row.int(0))?;
    let Some(last) = waiting.last().copied() else {
        return Ok(false);
    };
    let args = [audience.into(), last.into()];
    let sql = "DELETE FROM audience_user WHERE audience_id = $1 AND member IN (SELECT number FROM \
               audience_member WHERE audience_id = $1 AND waiting = 1 AND number <= $2)";
    tx.execute(sql, &args)?;
    // `CROSS JOIN` fixes the join order: few of an audience's members are waiting.
    let sql = "INSERT INTO audience_user (audience_id, user_id, member, effective_at, expires_at) \
               SELECT DISTINCT found.audience_id, user_key.user_id, found.number, \
               found.effective_at, found.expires_at FROM audience_member found \
               CROSS JOIN audience_key CROSS JOIN user_key WHERE found.audience_id = $1 \
               AND found.waiting = 1 AND found.number <= $2 \
               AND audience_key.audience_id = found.audience_id \
               AND audience_key.member = found.number AND user_key.key = audience_key.key \
               ON CONFLICT DO NOTHING";
    tx.execute(sql, &args)?;
    let sql = "UPDATE audience_member SET waiting = 0 WHERE audience_id = $1 AND waiting = 1 \
               AND number <= $2";
    tx.execute(sql, &args)?;
    Ok(i64::try_from(waiting.len()).unwrap_or(limit) >= limit)
}

/// Users whose keys may have changed.
macro_rules! unkeyed {
    () => {
        "SELECT id, handle, email, email_confirmed, state, \
         COALESCE((SELECT phone FROM particulars WHERE user_id = users.id), '') \
         FROM users WHERE keyed = 0 ORDER BY id LIMIT $1"
    };
}

/// The keys of handle, id, confirmed email and phone number (stored as a digest in hex).
fn user_keys(id: UserId, handle: &str, email: &str, phone: &str) -> HashSet<AudienceKey> {
    let mut keys = HashSet::from([
        AudienceKeyKind::Handle.to_key(&digest(handle)),
        AudienceKeyKind::User.to_key(&digest(&id.to_string())),
    ]);
    if !email.is_empty() {
        keys.insert(AudienceKeyKind::Email.to_key(&digest(&email.trim().to_lowercase())));
    }
    let phone = crate::hex::decode(phone).and_then(|phone| phone.try_into().ok());
    if let Some(phone) = phone {
        keys.insert(AudienceKeyKind::Phone.to_key(&phone));
    }
    keys
}

/// Refreshes the keys of users whose keys may have changed, and their audience memberships; returns how many users,
/// and the affected audiences.
pub fn refresh_user_keys(tx: &mut Tx<'_>, limit: i64) -> Result<(usize, BTreeSet<i64>), Fault> {
    lock_matching(tx)?;
    let sql = if tx.is_postgres() { concat!(unkeyed!(), " FOR UPDATE OF users") } else { unkeyed!() };
    let users: Vec<(i64, HashSet<AudienceKey>)> = tx.query_rows(sql, &[limit.into()], |row| {
        let id: UserId = row.id(0)?;
        let keys = if row.int(4)? == 0 {
            let email = row.text(2)?;
            let email = if row.bool(3)? { email } else { String::new() };
            user_keys(id, &row.text(1)?, &email, &row.text(5)?)
        } else {
            HashSet::new()
        };
        Ok((id.get(), keys))
    })?;
    let ids: Vec<i64> = users.iter().map(|(id, _)| *id).collect();
    let mut known: HashMap<i64, HashSet<AudienceKey>> = HashMap::new();
    let sql = "SELECT user_id, key FROM user_key WHERE user_id = $1";
    for (user, key) in tx.query_by_keys(sql, &ids, &[], |row| Ok((row.int(0)?, row.bytes(1)?)))? {
        let key = AudienceKey::try_from(key.as_slice()).map_err(Fault::context("reading a user's key"))?;
        known.entry(user).or_default().insert(key);
    }
    let mut affected = BTreeSet::new();
    for (user, keys) in &users {
        let before = known.remove(user).unwrap_or_default();
        if before != *keys {
            replace_user_keys(tx, *user, &before, keys, &mut affected)?;
        }
        let sql = "UPDATE users SET keyed = 1 WHERE id = $1";
        tx.execute(sql, &[(*user).into()])?;
    }
    Ok((users.len(), affected))
}

fn replace_user_keys(
    tx: &mut Tx<'_>,
    user: i64,
    before: &HashSet<AudienceKey>,
    keys: &HashSet<AudienceKey>,
    affected: &mut BTreeSet<i64>,
) -> Result<(), Fault> {
    for key in before.difference(keys) {
        let sql = "DELETE FROM user_key WHERE key = $1 AND user_id = $2";
        tx.execute(sql, &[key.as_slice().into(), user.into()])?;
    }
    for key in keys.difference(before) {
        let sql = "INSERT INTO user_key (key, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.execute(sql, &[key.as_slice().into(), user.into()])?;
    }
    let old_members = user_memberships(tx, user)?;
    let sql = "DELETE FROM audience_user WHERE user_id = $1";
    tx.execute(sql, &[user.into()])?;
    let sql = "INSERT INTO audience_user (audience_id, user_id, member, effective_at, expires_at) \
               SELECT DISTINCT found.audience_id, user_key.user_id, found.number, \
               found.effective_at, found.expires_at FROM user_key CROSS JOIN audience_key \
               CROSS JOIN audience_member found WHERE user_key.user_id = $1 \
               AND audience_key.key = user_key.key \
               AND found.audience_id = audience_key.audience_id \
               AND found.number = audience_key.member ON CONFLICT DO NOTHING";
    tx.execute(sql, &[user.into()])?;
    let new_members = user_memberships(tx, user)?;
    for audience in old_members.keys().chain(new_members.keys()) {
        if old_members.get(audience) != new_members.get(audience) {
            affected.insert(*audience);
        }
    }
    Ok(())
}

fn user_memberships(tx: &mut Tx<'_>, user: i64) -> Result<BTreeMap<i64, Vec<i64>>, Fault> {
    let sql = "SELECT audience_id, member FROM audience_user WHERE user_id = $1 \
               ORDER BY audience_id, member";
    let mut all: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (audience, member) in tx.query_rows(sql, &[user.into()], |row| Ok((row.int(0)?, row.int(1)?)))? {
        all.entry(audience).or_default().push(member);
    }
    Ok(all)
}
