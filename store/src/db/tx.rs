//! A transaction, as the verbs see it.

use std::sync::atomic::Ordering;

use base::{Chance, Fault, Id, Time};
use tokio::sync::watch;

use super::value::{Row, Value};
use super::{lite, postgres};
use crate::context::Context;

/// An open transaction. What a verb does through it is done as a whole or not at all.
pub struct Tx<'c> {
    conn: Conn<'c>,
    context: &'c Context,
    now: Time,
    pub(crate) marks: Marks,
}

/// What a commit must make known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// By how much the log got longer: its readers are woken.
    pub(crate) appended: u32,
    /// A credential may mean something else.
    pub(crate) credentials: bool,
    /// Something is to be sent: senders are woken.
    pub(crate) queued: bool,
}

impl Marks {
    pub(crate) fn add(&mut self, other: Self) {
        self.appended = self.appended.saturating_add(other.appended);
        self.credentials |= other.credentials;
        self.queued |= other.queued;
    }

    /// Makes it known, after the commit and before anyone is told of it.
    pub(crate) fn announce(self, context: &Context, waker: &watch::Sender<u64>) {
        if self.credentials {
            context.credentials.fetch_add(1, Ordering::SeqCst);
        }
        if self.queued {
            context.queued.send_modify(|commits| *commits += 1);
        }
        if self.appended > 0 {
            waker.send_modify(|commits| *commits += 1);
        }
    }
}

pub(crate) enum Conn<'c> {
    Lite(&'c rusqlite::Connection),
    Postgres(&'c mut postgres::Connection),
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: Conn<'c>, context: &'c Context) -> Self {
        Self {
            conn,
            context,
            now: context.clock.now(),
            marks: Marks::default(),
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
    pub fn ids_stay_above<K>(&self, id: Id<K>) {
        self.context.ids.stay_above(id.get());
    }

    /// What the log adds to a transaction's number on a database server.
    pub(crate) fn log_base(&self) -> i64 {
        self.context.log_base.load(Ordering::Relaxed)
    }

    /// Says that after the commit a credential may mean something else: a token revoked, an app
    /// or a user changed.
    pub fn credentials_changed(&mut self) {
        self.marks.credentials = true;
    }

    /// Says that after the commit something is to be sent.
    pub(crate) fn queued(&mut self) {
        self.marks.queued = true;
    }

    /// The source of random bytes.
    pub fn chance(&self) -> &Chance {
        &self.context.chance
    }

    /// Encrypts a secret for one place (`table.column:row`).
    pub(crate) fn seal(&self, place: &str, secret: &str) -> Result<Vec<u8>, Fault> {
        self.context
            .keyring
            .seal(place, secret.as_bytes(), &self.context.chance)
    }

    /// Decrypts what [`Tx::seal`] made for the same place.
    pub(crate) fn unseal(&self, place: &str, sealed: &[u8]) -> Result<base::Secret, Fault> {
        let plain = self
            .context
            .keyring
            .open(place, sealed)
            .map_err(|error| Fault::new(format!("{place} cannot be decrypted: {error}")))?;
        String::from_utf8(plain)
            .map(base::Secret::new)
            .map_err(Fault::when("a decrypted secret"))
    }

    /// The same for bytes.
    pub(crate) fn seal_bytes(&self, place: &str, plain: &[u8]) -> Result<Vec<u8>, Fault> {
        let context = self.context;
        context.keyring.seal(place, plain, &context.chance)
    }

    /// What was sealed for a place; none where it was not.
    pub(crate) fn opened(&self, place: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.context.keyring.open(place, sealed).ok()
    }

    /// Whether a sealed secret needs no new seal.
    pub(crate) fn is_sealed_with_current(&self, sealed: &[u8]) -> bool {
        self.context.keyring.sealed_with_current(sealed)
    }

    /// All rows of a query.
    pub(crate) fn rows<T>(
        &mut self,
        sql: &'static str,
        args: &[Value<'_>],
        mut read: impl FnMut(&Row<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::new();
        self.each(sql, args, |row| {
            all.push(read(row)?);
            Ok(true)
        })?;
        Ok(all)
    }

    /// The first row of a query, if there is one.
    pub(crate) fn row<T>(
        &mut self,
        sql: &'static str,
        args: &[Value<'_>],
        mut read: impl FnMut(&Row<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut first = None;
        self.each(sql, args, |row| {
            first = Some(read(row)?);
            Ok(false)
        })?;
        Ok(first)
    }

    /// Runs through the rows of a query until `read` answers false.
    pub(crate) fn each(
        &mut self,
        sql: &'static str,
        args: &[Value<'_>],
        read: impl FnMut(&Row<'_, '_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        match &mut self.conn {
            Conn::Lite(conn) => lite::each(conn, sql, args, read),
            Conn::Postgres(conn) => conn.each(sql, args, read),
        }
    }

    /// Rows for each of many keys, in no order that holds on both engines. The query names the
    /// key once, as `= $1`; `more` are its further arguments from `$2` on.
    pub(crate) fn of_each<T>(
        &mut self,
        sql: &'static str,
        keys: &[i64],
        more: &[Value<'_>],
        mut read: impl FnMut(&Row<'_, '_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::with_capacity(keys.len());
        let mut push = |row: &Row<'_, '_>| {
            all.push(read(row)?);
            Ok(true)
        };
        match &mut self.conn {
            Conn::Lite(conn) => lite::of_each(conn, sql, keys, more, &mut push)?,
            Conn::Postgres(conn) => conn.of_each(sql, keys, more, &mut push)?,
        }
        Ok(all)
    }

    /// Runs a statement; the number of rows that it touched.
    pub(crate) fn exec(&mut self, sql: &'static str, args: &[Value<'_>]) -> Result<u64, Fault> {
        match &mut self.conn {
            Conn::Lite(conn) => lite::exec(conn, sql, args),
            Conn::Postgres(conn) => conn.exec(sql, args),
        }
    }

    /// Whether this is a database server that others may write to at the same time.
    /// Whether others may write to the same database at the same time.
    pub const fn is_shared(&self) -> bool {
        self.on_server()
    }

    pub(crate) const fn on_server(&self) -> bool {
        matches!(self.conn, Conn::Postgres(_))
    }
}
