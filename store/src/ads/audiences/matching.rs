//! Who has which keys, and which members that leads to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::secret::digest;
use base::{Fault, UserId};

use super::{Key, KeyKind};
use crate::Tx;

/// Makes what is matched elsewhere wait for this transaction's end.
fn claim(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if tx.on_server() {
        let sql = "SELECT CAST(CAST(pg_advisory_xact_lock(7306) AS TEXT) AS TEXT)";
        tx.row(sql, &[], |_| Ok(()))?;
    }
    Ok(())
}

/// Whether any audience has members: else nobody's keys are needed.
fn is_any(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM audience_member LIMIT 1";
    Ok(tx.row(sql, &[], |_| Ok(()))?.is_some())
}

/// Whether somebody's keys are to be written down: there are audiences, and users whose keys may be
/// others than before.
pub fn is_behind(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM users WHERE keyed = 0 LIMIT 1";
    Ok(is_any(tx)? && tx.row(sql, &[], |_| Ok(()))?.is_some())
}

/// Looks for the users of some members that were written since it was last done; true while there
/// are more.
pub fn match_waiting(tx: &mut Tx<'_>, audience: i64, limit: i64) -> Result<bool, Fault> {
    claim(tx)?;
    let sql = "SELECT number FROM audience_member WHERE audience_id = $1 AND waiting = 1 \
               ORDER BY number LIMIT $2";
    let waiting = tx.rows(sql, &[audience.into(), limit.into()], |row| row.int(0))?;
    let Some(last) = waiting.last().copied() else {
        return Ok(false);
    };
    let args = [audience.into(), last.into()];
    let sql = "DELETE FROM audience_user WHERE audience_id = $1 AND member IN (SELECT number FROM \
               audience_member WHERE audience_id = $1 AND waiting = 1 AND number <= $2)";
    tx.exec(sql, &args)?;
    // The join's order is said: few of an audience's members wait.
    let sql = "INSERT INTO audience_user (audience_id, user_id, member, effective_at, expires_at) \
               SELECT DISTINCT found.audience_id, user_key.user_id, found.number, \
               found.effective_at, found.expires_at FROM audience_member found \
               CROSS JOIN audience_key CROSS JOIN user_key WHERE found.audience_id = $1 \
               AND found.waiting = 1 AND found.number <= $2 \
               AND audience_key.audience_id = found.audience_id \
               AND audience_key.member = found.number AND user_key.key = audience_key.key \
               ON CONFLICT DO NOTHING";
    tx.exec(sql, &args)?;
    let sql = "UPDATE audience_member SET waiting = 0 WHERE audience_id = $1 AND waiting = 1 \
               AND number <= $2";
    tx.exec(sql, &args)?;
    Ok(i64::try_from(waiting.len()).unwrap_or(limit) >= limit)
}

/// Users whose keys may be others than before.
macro_rules! unkeyed {
    () => {
        "SELECT id, handle, email, email_confirmed, state, \
         COALESCE((SELECT phone FROM particulars WHERE user_id = users.id), '') \
         FROM users WHERE keyed = 0 ORDER BY id LIMIT $1"
    };
}

/// The keys that a user has: those of the handle, the id, a confirmed address and a phone number,
/// which is kept as it is sent.
fn keys_of(id: UserId, handle: &str, email: &str, phone: &str) -> HashSet<Key> {
    let mut keys = HashSet::from([
        KeyKind::Handle.key(&digest(handle)),
        KeyKind::User.key(&digest(&id.to_string())),
    ]);
    if !email.is_empty() {
        keys.insert(KeyKind::Email.key(&digest(&email.trim().to_lowercase())));
    }
    let phone = crate::hex::decode(phone).and_then(|phone| phone.try_into().ok());
    if let Some(phone) = phone {
        keys.insert(KeyKind::Phone.key(&phone));
    }
    keys
}

/// Writes down the keys of some users whose keys may be others than before, and what audiences that
/// moves them into or out of: how many users, and which audiences.
pub fn key_users(tx: &mut Tx<'_>, limit: i64) -> Result<(usize, BTreeSet<i64>), Fault> {
    claim(tx)?;
    let sql = if tx.on_server() {
        concat!(unkeyed!(), " FOR UPDATE OF users")
    } else {
        unkeyed!()
    };
    let users: Vec<(i64, HashSet<Key>)> = tx.rows(sql, &[limit.into()], |row| {
        let id: UserId = row.id(0)?;
        let keys = if row.int(4)? == 0 {
            let email = row.text(2)?;
            let email = if row.switch(3)? { email } else { String::new() };
            keys_of(id, &row.text(1)?, &email, &row.text(5)?)
        } else {
            HashSet::new()
        };
        Ok((id.get(), keys))
    })?;
    let ids: Vec<i64> = users.iter().map(|(id, _)| *id).collect();
    let mut known: HashMap<i64, HashSet<Key>> = HashMap::new();
    let sql = "SELECT user_id, key FROM user_key WHERE user_id = $1";
    for (user, key) in tx.of_each(sql, &ids, &[], |row| Ok((row.int(0)?, row.bytes(1)?)))? {
        let key = Key::try_from(key.as_slice()).map_err(Fault::when("a user's key"))?;
        known.entry(user).or_default().insert(key);
    }
    let mut moved = BTreeSet::new();
    for (user, keys) in &users {
        let before = known.remove(user).unwrap_or_default();
        if before != *keys {
            rekey(tx, *user, &before, keys, &mut moved)?;
        }
        let sql = "UPDATE users SET keyed = 1 WHERE id = $1";
        tx.exec(sql, &[(*user).into()])?;
    }
    Ok((users.len(), moved))
}

fn rekey(
    tx: &mut Tx<'_>,
    user: i64,
    before: &HashSet<Key>,
    keys: &HashSet<Key>,
    moved: &mut BTreeSet<i64>,
) -> Result<(), Fault> {
    for key in before.difference(keys) {
        let sql = "DELETE FROM user_key WHERE key = $1 AND user_id = $2";
        tx.exec(sql, &[key.as_slice().into(), user.into()])?;
    }
    for key in keys.difference(before) {
        let sql = "INSERT INTO user_key (key, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.exec(sql, &[key.as_slice().into(), user.into()])?;
    }
    let was = links(tx, user)?;
    let sql = "DELETE FROM audience_user WHERE user_id = $1";
    tx.exec(sql, &[user.into()])?;
    let sql = "INSERT INTO audience_user (audience_id, user_id, member, effective_at, expires_at) \
               SELECT DISTINCT found.audience_id, user_key.user_id, found.number, \
               found.effective_at, found.expires_at FROM user_key CROSS JOIN audience_key \
               CROSS JOIN audience_member found WHERE user_key.user_id = $1 \
               AND audience_key.key = user_key.key \
               AND found.audience_id = audience_key.audience_id \
               AND found.number = audience_key.member ON CONFLICT DO NOTHING";
    tx.exec(sql, &[user.into()])?;
    let is = links(tx, user)?;
    for audience in was.keys().chain(is.keys()) {
        if was.get(audience) != is.get(audience) {
            moved.insert(*audience);
        }
    }
    Ok(())
}

/// The members that a user is, by audience.
fn links(tx: &mut Tx<'_>, user: i64) -> Result<BTreeMap<i64, Vec<i64>>, Fault> {
    let sql = "SELECT audience_id, member FROM audience_user WHERE user_id = $1 \
               ORDER BY audience_id, member";
    let mut all: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (audience, member) in tx.rows(sql, &[user.into()], |row| Ok((row.int(0)?, row.int(1)?)))? {
        all.entry(audience).or_default().push(member);
    }
    Ok(all)
}
