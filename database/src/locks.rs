//! Locks that last until the end of a transaction, for rows that many transactions depend on without changing them.
//!
//! PostgreSQL grants these locks in the order of the requests, so a stream of transactions that share one does not keep
//! a transaction waiting that needs it alone, as locks of rows would. SQLite has a single writer and needs none.

use base::id::mix_id;

#[derive(Clone, Copy, Debug)]
pub enum LockedResource {
    User,
    Post,
    List,
    /// By a hash of the email address.
    Email,
}

#[derive(Clone, Copy, Debug)]
pub enum LockMode {
    /// The row must not change in what the transaction has checked.
    Shared,
    Exclusive,
}

/// Two ids may have the same lock, which only makes their transactions wait for each other.
pub(crate) fn lock_sql(resource: LockedResource, id: i64, mode: LockMode) -> String {
    let suffix = match mode {
        LockMode::Shared => "_shared",
        LockMode::Exclusive => "",
    };
    let space = match resource {
        LockedResource::User => 7310,
        LockedResource::Post => 7311,
        LockedResource::List => 7312,
        LockedResource::Email => 7313,
    };
    let [a, b, c, d, ..] = mix_id(id).to_le_bytes();
    format!("SELECT pg_advisory_xact_lock{suffix}({space}, {})", i32::from_le_bytes([a, b, c, d]))
}
