//! Matching: which users have which keys, and which audience members they match.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use base::secret::digest;
use base::{Fault, UserId, sorted_distinct};
use data_encoding::HEXLOWER_PERMISSIVE;

use super::{AudienceKey, AudienceKeyKind, BATCH_SIZE, CachedSql, pad_to_batch, placeholder_list};
use crate::Tx;
use crate::db::{SqlValue, insert_new_later, row, select, sql};
use crate::users::UserState;

/// Serializes matching until the end of the transaction. Taken before the locks of accounts.
pub fn lock_matching(tx: &mut Tx<'_>) -> Result<(), Fault> {
    if tx.is_postgres() {
        let sql = "SELECT CAST(CAST(pg_advisory_xact_lock(7306) AS TEXT) AS TEXT)";
        tx.row_exists(sql, &[])?;
    }
    Ok(())
}

/// Whether any audience has members.
pub fn has_members(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM audience_member LIMIT 1";
    tx.row_exists(sql, &[])
}

/// Whether there are users whose keys may have changed.
pub fn has_unkeyed_users(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM users WHERE keyed = 0 LIMIT 1";
    tx.row_exists(sql, &[])
}

/// Marks members to be matched again.
pub fn mark_members_pending(tx: &mut Tx<'_>, audience: i64, members: &BTreeSet<i64>) -> Result<(), Fault> {
    static UPDATE: CachedSql = LazyLock::new(|| {
        String::leak(format!(
            "UPDATE audience_member SET waiting = 1 WHERE audience_id = $1 AND number IN ({})",
            placeholder_list(2)
        ))
    });
    let members: Vec<i64> = members.iter().copied().collect();
    for batch in members.chunks(BATCH_SIZE) {
        let mut args: Vec<SqlValue<'_>> = vec![audience.into()];
        args.extend(pad_to_batch(batch).map(|member| SqlValue::Int(*member)));
        tx.execute_later(*UPDATE, &args)?;
    }
    Ok(())
}

pub fn has_pending_members(tx: &mut Tx<'_>, audience: i64) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM audience_member WHERE audience_id = $1 AND waiting = 1 LIMIT 1";
    tx.row_exists(sql, &[audience.into()])
}

/// Matches members that were marked or written since the last call; returns true while there are more. Requires
/// [`lock_matching`] and the lock of the audience's account.
pub fn match_pending_members(tx: &mut Tx<'_>, audience: i64, limit: i64) -> Result<bool, Fault> {
    let sql = "SELECT number FROM audience_member WHERE audience_id = $1 AND waiting = 1 ORDER BY number LIMIT $2";
    let waiting: Vec<i64> = tx.query_rows(sql, &[audience.into(), limit.into()])?;
    let Some(last) = waiting.last().copied() else {
        return Ok(false);
    };
    let args = [audience.into(), last.into()];
    let sql = "DELETE FROM audience_user WHERE audience_id = $1 AND member IN (SELECT number FROM \
               audience_member WHERE audience_id = $1 AND waiting = 1 AND number <= $2)";
    tx.execute_later(sql, &args)?;
    // `CROSS JOIN` fixes the join order: few of an audience's members are waiting.
    let sql = "INSERT INTO audience_user (audience_id, user_id, member, effective_at, expires_at) \
               SELECT DISTINCT found.audience_id, user_key.user_id, found.number, found.effective_at, found.expires_at \
               FROM audience_member found CROSS JOIN audience_key CROSS JOIN user_key WHERE found.audience_id = $1 \
               AND found.waiting = 1 AND found.number <= $2 AND audience_key.audience_id = found.audience_id \
               AND audience_key.member = found.number AND user_key.key = audience_key.key ON CONFLICT DO NOTHING";
    tx.execute_later(sql, &args)?;
    let sql = "UPDATE audience_member SET waiting = 0 WHERE audience_id = $1 AND waiting = 1 AND number <= $2";
    tx.execute_later(sql, &args)?;
    Ok(i64::try_from(waiting.len()).unwrap_or(limit) >= limit)
}

row! {
    /// A user whose keys may have changed.
    struct UnkeyedUser from "users" {
        id: UserId,
        handle: String,
        email: String,
        email_confirmed: bool,
        state: UserState,
        /// A digest in hex, or empty.
        phone: String as "COALESCE((SELECT phone FROM particulars WHERE user_id = users.id), '')",
    }
}

const UNKEYED: &str = select!(UnkeyedUser, "WHERE keyed = 0 ORDER BY id LIMIT $1");

impl UnkeyedUser {
    /// The keys of handle, id, confirmed email and phone number of an active user.
    fn keys(&self) -> HashSet<AudienceKey> {
        if self.state != UserState::Active {
            return HashSet::new();
        }
        let mut keys = HashSet::from([
            AudienceKeyKind::Handle.to_key(&digest(&self.handle)),
            AudienceKeyKind::User.to_key(&digest(&self.id.to_string())),
        ]);
        if self.email_confirmed && !self.email.is_empty() {
            keys.insert(AudienceKeyKind::Email.to_key(&digest(&self.email.trim().to_lowercase())));
        }
        let phone = HEXLOWER_PERMISSIVE.decode(self.phone.as_bytes()).ok().and_then(|phone| phone.try_into().ok());
        keys.extend(phone.map(|phone| AudienceKeyKind::Phone.to_key(&phone)));
        keys
    }
}

/// The users who have one of these keys, in id order.
pub fn find_users_by_keys(tx: &mut Tx<'_>, keys: &[AudienceKey]) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM user_key WHERE key = $1";
    let mut all = Vec::new();
    for key in keys {
        all.extend(tx.query_rows::<UserId>(sql, &[key.as_slice().into()])?);
    }
    Ok(sorted_distinct(all))
}

/// The members of an audience.
pub type MembersByAudience = BTreeMap<i64, BTreeSet<i64>>;

/// Refreshes the keys of users whose keys may have changed; returns how many users, and the members that have a key which
/// a user got or lost. These are to be matched again.
pub fn refresh_user_keys(tx: &mut Tx<'_>, limit: i64) -> Result<(usize, MembersByAudience), Fault> {
    lock_matching(tx)?;
    let sql = if tx.is_postgres() { sql!(UNKEYED, " FOR UPDATE OF users") } else { UNKEYED };
    let users: Vec<UnkeyedUser> = tx.query_rows(sql, &[limit.into()])?;
    let users: Vec<(i64, HashSet<AudienceKey>)> = users.into_iter().map(|user| (user.id.get(), user.keys())).collect();
    let ids: Vec<i64> = users.iter().map(|(id, _)| *id).collect();
    let mut known: HashMap<i64, HashSet<AudienceKey>> = HashMap::new();
    let sql = "SELECT user_id, key FROM user_key WHERE user_id = $1";
    for (user, key) in tx.query_by_keys::<(i64, AudienceKey)>(sql, &ids, &[])? {
        known.entry(user).or_default().insert(key);
    }
    let mut changed = Vec::new();
    for (user, keys) in &users {
        let before = known.remove(user).unwrap_or_default();
        replace_user_keys(tx, *user, &before, keys)?;
        changed.extend(before.symmetric_difference(keys).copied());
        let sql = "UPDATE users SET keyed = 1 WHERE id = $1";
        tx.execute_later(sql, &[(*user).into()])?;
    }
    Ok((users.len(), find_members_by_keys(tx, &changed)?))
}

fn replace_user_keys(
    tx: &mut Tx<'_>,
    user: i64,
    before: &HashSet<AudienceKey>,
    keys: &HashSet<AudienceKey>,
) -> Result<(), Fault> {
    for key in before.difference(keys) {
        let sql = "DELETE FROM user_key WHERE key = $1 AND user_id = $2";
        tx.execute_later(sql, &[key.as_slice().into(), user.into()])?;
    }
    for key in keys.difference(before) {
        insert_new_later!(tx, "user_key", key = key.as_slice(), user_id = user)?;
    }
    Ok(())
}

/// Of all audiences.
fn find_members_by_keys(tx: &mut Tx<'_>, keys: &[AudienceKey]) -> Result<MembersByAudience, Fault> {
    static QUERY: CachedSql = LazyLock::new(|| {
        String::leak(format!("SELECT audience_id, member FROM audience_key WHERE key IN ({})", placeholder_list(1)))
    });
    let mut found = MembersByAudience::new();
    for batch in keys.chunks(BATCH_SIZE) {
        let args: Vec<SqlValue<'_>> = pad_to_batch(batch).map(|key| SqlValue::from(key.as_slice())).collect();
        for (audience, member) in tx.query_rows(*QUERY, &args)? {
            found.entry(audience).or_default().insert(member);
        }
    }
    Ok(found)
}
