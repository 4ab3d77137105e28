//! Statements that are sent without waiting for their answers: those whose results nobody needs, and queries whose
//! rows will be asked for. The answers arrive with that of the next statement that is waited for.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use base::Fault;
use futures_util::future::{MaybeDone, join, maybe_done};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row, Statement};

use super::client::WaitError;
use super::set_inserts::{SetInsert, is_plain_insert};
use super::{PostgresConnection, TransactionState, read_rows};
use crate::rows::RowReader;
use crate::value::{OwnedValue, SqlValue};

/// Beyond this, the answers are waited for.
const MAX_IN_FLIGHT: usize = 1_000;

type Answer = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send>>;

pub(super) struct SentStatement {
    sql: String,
    answer: Pin<Box<MaybeDone<Answer>>>,
    /// What the rows answer, if they are to be kept.
    query: Option<PrefetchedQuery>,
}

pub(super) struct PrefetchedQuery {
    sql: String,
    args: Vec<OwnedValue>,
    keys: PrefetchedKeys,
}

enum PrefetchedKeys {
    /// The query has none.
    NotKeyed,
    /// Another query has selected them.
    Unknown,
    Known(HashSet<i64>),
}

/// Rows that arrived before they were asked for.
pub(super) struct PrefetchedRows {
    query: PrefetchedQuery,
    rows: Vec<Row>,
}

/// Why there is no answer to a statement.
pub(super) enum PipelineError {
    /// A statement failed that was sent before it.
    Earlier(Fault),
    Own(WaitError),
}

impl PrefetchedQuery {
    fn matches(&self, sql: &str, keys: Option<&[i64]>, args: &[SqlValue<'_>]) -> bool {
        let has_keys = match (&self.keys, keys) {
            (PrefetchedKeys::NotKeyed, None) => true,
            (PrefetchedKeys::Known(known), Some(keys)) => keys.iter().all(|key| known.contains(key)),
            _ => false,
        };
        has_keys && self.sql == sql && args.iter().map(OwnedValue::from).eq(self.args.iter().cloned())
    }
}

impl PostgresConnection {
    /// For a statement whose result nobody needs. Its failure is that of the next statement that is waited for, or of
    /// the commit.
    pub(crate) fn exec_later(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<(), Fault> {
        if self.transaction != TransactionState::Open {
            return self.exec(sql, args).map(|_| ());
        }
        self.forget_prefetched();
        let args = args.iter().map(OwnedValue::from).collect();
        if is_plain_insert(sql) {
            if self.inserts.push(sql, args) { Ok(()) } else { self.send_inserts() }
        } else {
            self.send_inserts()?;
            let statement = self.prepare_cached(sql)?;
            self.send_statement(sql, statement, args, None)
        }
    }

    /// Sends a query that the transaction will run unless it ends early or writes before.
    pub(crate) fn prefetch(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<(), Fault> {
        self.send_inserts()?;
        let statement = self.prepare_in_snapshot(sql)?;
        let args: Vec<_> = args.iter().map(OwnedValue::from).collect();
        let query = PrefetchedQuery { sql: sql.to_owned(), args: args.clone(), keys: PrefetchedKeys::NotKeyed };
        self.send_statement(sql, statement, args, Some(query))
    }

    /// As [`Self::prefetch`], for a query of [`Self::for_each_key`] whose keys another query selects for others. The key
    /// must be the first column.
    pub(crate) fn prefetch_by_keys(
        &mut self,
        sql: &str,
        (select_keys, others): (&str, &[i64]),
        more: &[SqlValue<'_>],
    ) -> Result<(), Fault> {
        self.send_inserts()?;
        let selected = sql.replacen("= $1", &["IN (", select_keys, ")"].concat(), 1);
        let statement = self.prepare_in_snapshot(&selected)?;
        let more: Vec<_> = more.iter().map(OwnedValue::from).collect();
        let args = std::iter::once(OwnedValue::Keys(others.to_vec())).chain(more.iter().cloned()).collect();
        let query = PrefetchedQuery { sql: sql.to_owned(), args: more, keys: PrefetchedKeys::Unknown };
        self.send_statement(&selected, statement, args, Some(query))
    }

    /// Tells which keys the queries of [`Self::prefetch_by_keys`] selected.
    pub(crate) fn set_prefetched_keys(&mut self, keys: &[i64]) {
        let sent = self.in_flight.iter_mut().filter_map(|sent| sent.query.as_mut());
        for query in sent.chain(self.prefetched.iter_mut().map(|prefetched| &mut prefetched.query)) {
            if matches!(query.keys, PrefetchedKeys::Unknown) {
                query.keys = PrefetchedKeys::Known(keys.iter().copied().collect());
            }
        }
    }

    /// Reads the rows of a query if it was sent before; returns false if it was not.
    pub(super) fn read_prefetched(
        &mut self,
        sql: &str,
        keys: Option<&[i64]>,
        args: &[SqlValue<'_>],
        read: &mut RowReader<'_>,
    ) -> Result<bool, Fault> {
        if !self.may_have_prefetched() {
            return Ok(false);
        }
        let is_sent = |sent: &SentStatement| sent.query.as_ref().is_some_and(|query| query.matches(sql, keys, args));
        if self.in_flight.iter().any(is_sent) {
            self.run(sql, async { Ok(()) })?;
        }
        let Some(found) = self.prefetched.iter().find(|prefetched| prefetched.query.matches(sql, keys, args)) else {
            return Ok(false);
        };
        let is_asked = |row: &&Row| keys.is_none_or(|keys| row.try_get(0).is_ok_and(|key| keys.contains(&key)));
        read_rows(sql, found.rows.iter().filter(is_asked), read)?;
        Ok(true)
    }

    /// A query that writes or locks rows makes those that were read before outdated.
    pub(super) fn forget_before(&mut self, sql: &str) {
        if !sql.starts_with("SELECT") || sql.contains(" FOR UPDATE") {
            self.forget_prefetched();
        }
    }

    fn may_have_prefetched(&self) -> bool {
        !self.prefetched.is_empty() || self.in_flight.iter().any(|sent| sent.query.is_some())
    }

    /// To be called before a write, after which they could be outdated.
    pub(super) fn forget_prefetched(&mut self) {
        self.prefetched.clear();
        for sent in &mut self.in_flight {
            sent.query = None;
        }
    }

    /// A single statement of a read is not followed by others.
    fn prepare_in_snapshot(&mut self, sql: &str) -> Result<Statement, Fault> {
        if matches!(self.transaction, TransactionState::SingleStatement { .. }) {
            self.transaction = TransactionState::NeedsSnapshot;
        }
        self.prepare_cached(sql)
    }

    /// Rows of the same table are inserted by one statement, in their order.
    pub(super) fn send_inserts(&mut self) -> Result<(), Fault> {
        for SetInsert { sql, mut rows } in self.inserts.take() {
            let statement = self.prepare_cached(&sql)?;
            match rows.pop() {
                Some(row) if rows.is_empty() => self.send_statement(&sql, statement, row, None)?,
                Some(row) => {
                    rows.push(row);
                    let insert = SetInsert { sql, rows };
                    let sql = insert.to_set_sql(statement.params());
                    let statement = self.prepare_cached(&sql)?;
                    self.send_statement(&sql, statement, insert.into_columns(), None)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn send_statement(
        &mut self,
        sql: &str,
        statement: Statement,
        args: Vec<OwnedValue>,
        query: Option<PrefetchedQuery>,
    ) -> Result<(), Fault> {
        if self.in_flight.len() >= MAX_IN_FLIGHT {
            self.run(sql, async { Ok(()) })?;
        }
        self.start_unsent();
        let client = Arc::clone(&self.client.client);
        let answer: Answer = Box::pin(async move {
            let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| -> &(dyn ToSql + Sync) { arg }).collect();
            client.query(&statement, &args).await
        });
        self.start(sql, answer, query);
        Ok(())
    }

    /// The end of the last transaction and the beginning of this one.
    fn start_unsent(&mut self) {
        let unsent = std::mem::take(&mut self.unsent);
        self.unsent_begin = None;
        if !unsent.is_empty() {
            let client = Arc::clone(&self.client.client);
            let sql = unsent.clone();
            self.start(&sql, Box::pin(async move { client.batch_execute(&unsent).await.map(|()| Vec::new()) }), None);
        }
    }

    /// The driver sends what a future asks for when it is polled for the first time.
    fn start(&mut self, sql: &str, answer: Answer, query: Option<PrefetchedQuery>) {
        let mut answer = Box::pin(maybe_done(answer));
        let _not_answered_yet = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.in_flight.push(SentStatement { sql: sql.to_owned(), answer, query });
    }

    /// Waits for the answers to everything that was sent, and to one more statement.
    pub(super) fn wait_for_all<T>(
        &mut self,
        limit: std::time::Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, PipelineError> {
        self.start_unsent();
        let mut earlier = std::mem::take(&mut self.in_flight);
        let all = async {
            let arrive = async {
                for sent in &mut earlier {
                    sent.answer.as_mut().await;
                }
            };
            Ok(join(arrive, answer).await.1)
        };
        let answer = self.client.wait(limit, all).map_err(PipelineError::Own)?;
        for mut sent in earlier {
            match sent.answer.as_mut().take_output() {
                Some(Ok(rows)) => {
                    self.prefetched.extend(sent.query.map(|query| PrefetchedRows { query, rows }));
                }
                Some(Err(error)) => {
                    let fault = self.deferred_fault(&sent.sql, error);
                    return Err(PipelineError::Earlier(fault));
                }
                None => {}
            }
        }
        answer.map_err(|error| PipelineError::Own(WaitError::Server(error)))
    }

    /// What is in flight belongs to a transaction that has ended.
    pub(super) fn forget_pipeline(&mut self) {
        self.in_flight.clear();
        self.prefetched.clear();
        self.inserts.clear();
    }
}
