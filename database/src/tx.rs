//! Transactions as queries see them.

use std::sync::Arc;

use base::clock_mode::ClockMode;
use base::{Fault, Id, Rng, Time};
use tokio::sync::watch;

use super::job::DatabaseJob;
use super::query_limits::ReservedId;
use super::rows::{FromCells, RowCells, RowReader};
use super::value::SqlValue;
use super::{postgres, sqlite};
use crate::context::StoreContext;
use crate::credential_changes;
use crate::credential_versions::CredentialKey;
use crate::locks::{LockMode, LockedResource, lock_sql};

pub struct Tx<'c> {
    conn: EngineConnection<'c>,
    context: &'c StoreContext,
    now: Time,
    /// Whether no request waits for it.
    is_background: bool,
    reserved_id: Option<Arc<ReservedId>>,
    has_audit_entry: bool,
    pub(crate) effects: CommitEffects,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CommitEffects {
    /// Event log entries appended; readers are woken.
    pub(crate) appended_events: u32,
    /// Cached credentials that depend on these are invalid.
    pub(crate) changed_credentials: Vec<CredentialKey>,
    /// What the senders know of webhooks is outdated.
    pub(crate) webhooks_changed: bool,
    /// Webhook senders are woken.
    pub(crate) deliveries_queued: bool,
}

impl CommitEffects {
    pub(crate) fn merge(&mut self, other: Self) {
        self.appended_events = self.appended_events.saturating_add(other.appended_events);
        self.changed_credentials.extend(other.changed_credentials);
        self.webhooks_changed |= other.webhooks_changed;
        self.deliveries_queued |= other.deliveries_queued;
    }

    /// Called after the commit and before its caller learns of it.
    pub(crate) fn publish(self, context: &StoreContext, waker: &watch::Sender<u64>) {
        if self.webhooks_changed || !self.changed_credentials.is_empty() {
            context.credential_versions.invalidate(&self.changed_credentials);
        }
        if self.deliveries_queued {
            context.delivery_commits.send_modify(|commits| *commits += 1);
        }
        if self.appended_events > 0 {
            waker.send_modify(|commits| *commits += 1);
        }
    }
}

pub(crate) enum EngineConnection<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut postgres::PostgresConnection),
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: EngineConnection<'c>, context: &'c StoreContext) -> Self {
        let (now, effects) = (context.clock.now(), CommitEffects::default());
        Self { conn, context, now, is_background: false, reserved_id: None, has_audit_entry: false, effects }
    }

    pub(crate) fn for_job(conn: EngineConnection<'c>, context: &'c StoreContext, job: &DatabaseJob) -> Self {
        let control = job.control();
        let reserved_id = control.and_then(|control| control.reserved_id.clone());
        Self { is_background: control.is_none(), reserved_id, ..Self::new(conn, context) }
    }

    /// Whether the clock is the machine's and was not moved.
    pub fn has_live_clock(&self) -> bool {
        self.context.clock.mode() == ClockMode::Live
    }

    /// The clock's time when the transaction started.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Whether the transaction has appended to the audit log.
    pub const fn has_audit_entry(&self) -> bool {
        self.has_audit_entry
    }

    /// For the audit log, which appended an entry.
    pub const fn mark_audited(&mut self) {
        self.has_audit_entry = true;
    }

    pub const fn context(&self) -> &'c StoreContext {
        self.context
    }

    pub fn next_id<K>(&self) -> Id<K> {
        let reserved = self.reserved_id.as_ref().and_then(|reserved| reserved.take());
        reserved.map_or_else(|| self.context.ids.next(), Id::new)
    }

    /// Makes later ids higher than an imported one.
    pub fn keep_ids_above<K>(&self, id: Id<K>) {
        self.context.ids.raise_floor(id.get());
    }

    /// Invalidates cached credentials after the commit, on all nodes: a token was revoked, an app or a user changed.
    pub fn invalidate_credentials(&mut self, key: CredentialKey) -> Result<(), Fault> {
        self.effects.changed_credentials.push(key);
        if self.is_shared() { credential_changes::insert(self, key) } else { Ok(()) }
    }

    /// Makes the senders of this process read webhooks again after the commit.
    pub fn mark_webhooks_changed(&mut self) {
        self.effects.webhooks_changed = true;
    }

    /// Wakes the webhook senders after the commit.
    pub fn mark_deliveries_queued(&mut self) {
        self.effects.deliveries_queued = true;
    }

    pub fn rng(&self) -> &Rng {
        self.context.rng_for(self.is_background)
    }

    /// Encrypts a secret for one cell (`table.column:row`).
    pub fn encrypt(&self, cell: &str, secret: &str) -> Result<Vec<u8>, Fault> {
        self.context.keyring.encrypt(cell, secret.as_bytes(), self.rng())
    }

    /// Decrypts what [`Tx::encrypt`] returned for the same cell.
    pub fn decrypt(&self, cell: &str, encrypted: &[u8]) -> Result<base::Secret, Fault> {
        let plain = self.decrypt_bytes(cell, encrypted)?;
        String::from_utf8(plain).map(base::Secret::new).map_err(Fault::context("decoding a decrypted secret"))
    }

    pub fn encrypt_bytes(&self, cell: &str, plain: &[u8]) -> Result<Vec<u8>, Fault> {
        self.context.keyring.encrypt(cell, plain, self.rng())
    }

    pub(crate) fn decrypt_bytes(&self, cell: &str, encrypted: &[u8]) -> Result<Vec<u8>, Fault> {
        let plain = self.context.keyring.decrypt(cell, encrypted);
        plain.map_err(|error| Fault::from_cause(format!("failed to decrypt {cell}"), error))
    }

    /// None if it was not encrypted for this cell.
    pub fn try_decrypt(&self, cell: &str, encrypted: &[u8]) -> Option<Vec<u8>> {
        self.context.keyring.decrypt(cell, encrypted).ok()
    }

    /// False if key rotation has to encrypt it again.
    pub fn is_encrypted_with_current_key(&self, encrypted: &[u8]) -> bool {
        self.context.keyring.is_encrypted_with_current_key(encrypted)
    }

    pub fn query_rows<T: FromCells>(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<Vec<T>, Fault> {
        self.map_rows(sql, args, T::from_cells)
    }

    /// For rows whose columns depend on the query.
    pub fn map_rows<T>(
        &mut self,
        sql: &str,
        args: &[SqlValue<'_>],
        mut read: impl FnMut(&mut RowCells<'_, '_, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::new();
        self.for_each_row(sql, args, &mut |cells| {
            all.push(read(cells)?);
            Ok(true)
        })?;
        Ok(all)
    }

    pub fn query_row<T: FromCells>(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<Option<T>, Fault> {
        let mut first = None;
        self.for_each_row(sql, args, &mut |cells| {
            first = Some(cells.read()?);
            Ok(false)
        })?;
        Ok(first)
    }

    /// A count, or another number that is 0 if there is no row or it is null.
    pub fn query_number(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<i64, Fault> {
        Ok(self.query_row::<Option<i64>>(sql, args)?.flatten().unwrap_or(0))
    }

    pub fn row_exists(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<bool, Fault> {
        Ok(self.query_row::<()>(sql, args)?.is_some())
    }

    /// Runs a `SELECT … FOR UPDATE`. A no-op on SQLite, which has a single writer.
    pub fn lock_row(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<(), Fault> {
        if self.is_shared() { self.execute_later(sql, args) } else { Ok(()) }
    }

    /// Waits for the lock with the next statement. A no-op on SQLite, which has a single writer.
    pub fn lock(&mut self, resource: LockedResource, id: i64, mode: LockMode) {
        if let EngineConnection::Postgres(conn) = &mut self.conn {
            conn.run_with_next(&lock_sql(resource, id, mode));
        }
    }

    /// Stops when `read` returns false.
    fn for_each_row(&mut self, sql: &str, args: &[SqlValue<'_>], read: &mut RowReader<'_>) -> Result<(), Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::for_each_row(conn, sql, args, read),
            EngineConnection::Postgres(conn) => conn.for_each_row(sql, args, read),
        }
    }

    /// Rows for each of many keys, in no order that holds on both engines. The query must contain the key once, as `=
    /// $1`; `more` are its further arguments from `$2` on.
    pub fn query_by_keys<T: FromCells>(
        &mut self,
        sql: &str,
        keys: &[i64],
        more: &[SqlValue<'_>],
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::with_capacity(keys.len());
        let mut push = |cells: &mut RowCells<'_, '_, '_>| {
            all.push(cells.read()?);
            Ok(true)
        };
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::for_each_key(conn, sql, keys, more, &mut push)?,
            EngineConnection::Postgres(conn) => conn.for_each_key(sql, keys, more, &mut push)?,
        }
        Ok(all)
    }

    /// As [`Tx::query_by_keys`], for typed ids.
    pub fn query_by_ids<K, T: FromCells>(
        &mut self,
        sql: &str,
        ids: &[Id<K>],
        more: &[SqlValue<'_>],
    ) -> Result<Vec<T>, Fault> {
        let keys: Vec<i64> = ids.iter().map(|id| id.get()).collect();
        self.query_by_keys(sql, &keys, more)
    }

    /// Returns the number of affected rows.
    pub fn execute(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<u64, Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::exec(conn, sql, args),
            EngineConnection::Postgres(conn) => conn.exec(sql, args),
        }
    }

    /// As [`Tx::execute`], if the number does not matter. PostgreSQL gets the statement together with the next one, whose
    /// caller learns of a failure, or with the commit.
    pub fn execute_later(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<(), Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::exec(conn, sql, args).map(|_| ()),
            EngineConnection::Postgres(conn) => conn.exec_later(sql, args),
        }
    }

    /// The number of the row that was inserted last, on SQLite.
    pub(crate) fn last_inserted_row(&self) -> Option<i64> {
        match &self.conn {
            EngineConnection::Sqlite(conn) => Some(conn.last_insert_rowid()),
            EngineConnection::Postgres(_) => None,
        }
    }

    /// Announces a query that will be run, so that PostgreSQL gets several together. A write before it undoes this. Does
    /// nothing on SQLite.
    pub fn prefetch(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<(), Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(_) => Ok(()),
            EngineConnection::Postgres(conn) => conn.prefetch(sql, args),
        }
    }

    /// As [`Tx::prefetch`], for a query of [`Tx::query_by_keys`] whose first column is the key: the keys are those that
    /// another query (of `= ANY($1)`) selects for other keys. They must be told to [`Tx::set_prefetched_keys`].
    pub fn prefetch_by_keys(&mut self, sql: &str, keys: (&str, &[i64]), more: &[SqlValue<'_>]) -> Result<(), Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(_) => Ok(()),
            EngineConnection::Postgres(conn) => conn.prefetch_by_keys(sql, keys, more),
        }
    }

    pub fn set_prefetched_keys(&mut self, keys: &[i64]) {
        if let EngineConnection::Postgres(conn) = &mut self.conn {
            conn.set_prefetched_keys(keys);
        }
    }

    /// Whether others may write to the database at the same time.
    pub const fn is_shared(&self) -> bool {
        self.is_postgres()
    }

    pub const fn is_postgres(&self) -> bool {
        matches!(self.conn, EngineConnection::Postgres(_))
    }
}
