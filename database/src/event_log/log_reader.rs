use base::{Error, Fault};

use super::{LogEvent, end_cursor, list_after, set_cursor};
use crate::{Store, Tx};

/// A consumer whose cursor is stored with what it does, so that each entry is processed once, by one node.
#[derive(Clone, Copy, Debug)]
pub struct LogReader {
    name: &'static str,
    starts_at_end: bool,
}

impl LogReader {
    /// Entries that are processed in one transaction.
    pub const BATCH_SIZE: usize = 500;

    /// A new reader starts at the oldest entry.
    pub const fn from_start(name: &'static str) -> Self {
        Self { name, starts_at_end: false }
    }

    /// A new reader starts at the end of the log.
    pub const fn from_end(name: &'static str) -> Self {
        Self { name, starts_at_end: true }
    }

    pub fn find_cursor(self, tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
        tx.query_row("SELECT seq FROM follower WHERE name = $1", &[self.name.into()])
    }

    /// The cursor, locked until the end of the transaction.
    pub fn claim_cursor(self, tx: &mut Tx<'_>) -> Result<i64, Fault> {
        let first = if self.starts_at_end { end_cursor(tx)? } else { 0 };
        let sql =
            "INSERT INTO follower (name, seq) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET seq = follower.seq";
        tx.execute_later(sql, &[self.name.into(), first.into()])?;
        Ok(self.find_cursor(tx)?.unwrap_or(first))
    }

    pub fn set_cursor(self, tx: &mut Tx<'_>, seq: i64) -> Result<(), Fault> {
        set_cursor(tx, self.name, seq)
    }

    /// Whether the cursor is behind the log, or has yet to be placed at its end.
    pub fn has_unread(self, tx: &mut Tx<'_>) -> Result<bool, Fault> {
        match self.find_cursor(tx)? {
            None if self.starts_at_end => Ok(true),
            from => Ok(!list_after(tx, from.unwrap_or(0), 1)?.is_empty()),
        }
    }

    /// Processes the next entries, oldest first, and moves the cursor behind them; returns how many.
    pub fn process_batch(
        self,
        tx: &mut Tx<'_>,
        process: impl FnOnce(&mut Tx<'_>, &[LogEvent]) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let from = self.claim_cursor(tx)?;
        let events = list_after(tx, from, i64::try_from(Self::BATCH_SIZE).unwrap_or(i64::MAX))?;
        if let Some(last) = events.last() {
            process(tx, &events)?;
            self.set_cursor(tx, last.seq)?;
        }
        Ok(events.len())
    }

    /// As [`LogReader::process_batch`], in a transaction that is begun only if there are entries.
    pub async fn process_unread(
        self,
        store: &Store,
        process: impl Fn(&mut Tx<'_>, &[LogEvent]) -> Result<(), Fault> + Send + 'static,
    ) -> Result<usize, Error> {
        if !store.read(move |tx| Ok(self.has_unread(tx)?)).await? {
            return Ok(0);
        }
        store.write(move |tx| Ok(self.process_batch(tx, &process)?)).await
    }
}
