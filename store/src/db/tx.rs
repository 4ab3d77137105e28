//! A transaction, as the verbs see it.

use std::sync::atomic::Ordering;

use base::{Fault, Id, Rng, Time};
use tokio::sync::watch;

use super::value::{SqlRow, SqlValue};
use super::{postgres, sqlite};
use crate::context::StoreContext;

/// An open transaction. What a verb does through it is done as a whole or not at all.
pub struct Tx<'c> {
    conn: EngineConnection<'c>,
    context: &'c StoreContext,
    now: Time,
    pub(crate) effects: CommitEffects,
}

/// What a commit must make known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommitEffects {
    /// By how much the log got longer: its readers are woken.
    pub(crate) appended_events: u32,
    /// A credential may mean something else.
    pub(crate) credentials_changed: bool,
    /// Something is to be sent: senders are woken.
    pub(crate) deliveries_queued: bool,
}

impl CommitEffects {
    pub(crate) fn merge(&mut self, other: Self) {
        self.appended_events = self.appended_events.saturating_add(other.appended_events);
        self.credentials_changed |= other.credentials_changed;
        self.deliveries_queued |= other.deliveries_queued;
    }

    /// Makes it known, after the commit and before anyone is told of it.
    pub(crate) fn publish(self, context: &StoreContext, waker: &watch::Sender<u64>) {
        if self.credentials_changed {
            context.credentials_version.fetch_add(1, Ordering::SeqCst);
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
        Self {
            conn,
            context,
            now: context.clock.now(),
            effects: CommitEffects::default(),
        }
    }

    /// The platform's time when the work began; the same for all of it.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// A new id.
    pub fn next_id<K>(&self) -> Id<K> {
        self.context.ids.next()
    }

    /// Keeps later ids above one that an import brings along.
    pub fn keep_ids_above<K>(&self, id: Id<K>) {
        self.context.ids.raise_floor(id.get());
    }

    /// What the log adds to a transaction's number on a database server.
    pub(crate) fn log_base(&self) -> i64 {
        self.context.log_base.load(Ordering::Relaxed)
    }

    /// Says that after the commit a credential may mean something else: a token revoked, an app
    /// or a user changed.
    pub fn mark_credentials_changed(&mut self) {
        self.effects.credentials_changed = true;
    }

    /// Says that after the commit something is to be sent.
    pub(crate) fn mark_deliveries_queued(&mut self) {
        self.effects.deliveries_queued = true;
    }

    /// The source of random bytes.
    pub fn rng(&self) -> &Rng {
        &self.context.rng
    }

    /// Encrypts a secret for one place (`table.column:row`).
    pub(crate) fn encrypt(&self, place: &str, secret: &str) -> Result<Vec<u8>, Fault> {
        self.context
            .keyring
            .encrypt(place, secret.as_bytes(), &self.context.rng)
    }

    /// Decrypts what [`Tx::seal`] made for the same place.
    pub(crate) fn decrypt(&self, place: &str, sealed: &[u8]) -> Result<base::Secret, Fault> {
        let plain = self
            .context
            .keyring
            .decrypt(place, sealed)
            .map_err(|error| Fault::new(format!("{place} cannot be decrypted: {error}")))?;
        String::from_utf8(plain)
            .map(base::Secret::new)
            .map_err(Fault::context("a decrypted secret"))
    }

    /// The same for bytes.
    pub(crate) fn encrypt_bytes(&self, place: &str, plain: &[u8]) -> Result<Vec<u8>, Fault> {
        let context = self.context;
        context.keyring.encrypt(place, plain, &context.rng)
    }

    /// What was sealed for a place; none where it was not.
    pub(crate) fn try_decrypt(&self, place: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.context.keyring.decrypt(place, sealed).ok()
    }

    /// Whether a sealed secret needs no new seal.
    pub(crate) fn is_encrypted_with_current_key(&self, sealed: &[u8]) -> bool {
        self.context.keyring.is_encrypted_with_current_key(sealed)
    }

    /// All rows of a query.
    pub(crate) fn query_rows<T>(
        &mut self,
        sql: &str,
        args: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::new();
        self.for_each_row(sql, args, |row| {
            all.push(read(row)?);
            Ok(true)
        })?;
        Ok(all)
    }

    /// The first row of a query, if there is one.
    pub(crate) fn query_row<T>(
        &mut self,
        sql: &str,
        args: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut first = None;
        self.for_each_row(sql, args, |row| {
            first = Some(read(row)?);
            Ok(false)
        })?;
        Ok(first)
    }

    /// Runs through the rows of a query until `read` answers false.
    pub(crate) fn for_each_row(
        &mut self,
        sql: &str,
        args: &[SqlValue<'_>],
        read: impl FnMut(&SqlRow<'_, '_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::for_each_row(conn, sql, args, read),
            EngineConnection::Postgres(conn) => conn.for_each_row(sql, args, read),
        }
    }

    /// Rows for each of many keys, in no order that holds on both engines. The query names the
    /// key once, as `= $1`; `more` are its further arguments from `$2` on.
    pub(crate) fn query_by_keys<T>(
        &mut self,
        sql: &str,
        keys: &[i64],
        more: &[SqlValue<'_>],
        mut read: impl FnMut(&SqlRow<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::with_capacity(keys.len());
        let mut push = |row: &SqlRow<'_, '_>| {
            all.push(read(row)?);
            Ok(true)
        };
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::for_each_key(conn, sql, keys, more, &mut push)?,
            EngineConnection::Postgres(conn) => conn.for_each_key(sql, keys, more, &mut push)?,
        }
        Ok(all)
    }

    /// Runs a statement; the number of rows that it touched.
    pub(crate) fn execute(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<u64, Fault> {
        match &mut self.conn {
            EngineConnection::Sqlite(conn) => sqlite::exec(conn, sql, args),
            EngineConnection::Postgres(conn) => conn.exec(sql, args),
        }
    }

    /// Whether this is a database server that others may write to at the same time.
    /// Whether others may write to the same database at the same time.
    pub const fn is_shared(&self) -> bool {
        self.is_postgres()
    }

    pub(crate) const fn is_postgres(&self) -> bool {
        matches!(self.conn, EngineConnection::Postgres(_))
    }
}
