//! The settings of a session: every wait of the server for its client or for a lock has a limit.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use base::Fault;

use super::{CONNECT_TIMEOUT, PostgresConnection};
use crate::query_limits::QueryLimits;

/// For work that no request waits for.
const BACKGROUND_TIMEOUT: Duration = Duration::from_mins(10);
/// Longer than the server's limits, so that its error arrives.
const ANSWER_GRACE: Duration = Duration::from_secs(5);

/// Whatever the session is for. A node that freezes or is cut off inside a transaction holds its locks for as long as
/// the first says. Compiling a statement takes longer than running it. A server of an older version does not have
/// all of them.
const COMMON_SETTINGS: [(&str, &str); 7] = [
    ("idle_in_transaction_session_timeout", "4s"),
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
    ("client_connection_check_interval", "1s"),
    ("jit", "off"),
];

/// Zero stands for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionLimits {
    /// For each statement.
    pub(super) statement: Duration,
    /// For each lock.
    pub(super) lock: Duration,
}

impl SessionLimits {
    pub(super) const BACKGROUND: Self = Self { statement: BACKGROUND_TIMEOUT, lock: Duration::from_secs(10) };
    /// Another migration may take hours.
    pub(super) const MIGRATION: Self = Self { statement: Duration::ZERO, lock: Duration::ZERO };

    pub(super) fn for_request(limits: &QueryLimits) -> Self {
        Self { statement: limits.timeout.min(limits.transaction_timeout), lock: Duration::from_secs(2) }
    }

    /// Planning a request's statement for the values of its parameters takes longer than running it; the server would do
    /// so each time if it expects more values than it gets. Imports have arrays of thousands, for which it pays.
    fn plan_cache_mode(&self) -> &'static str {
        let is_background = self.statement.is_zero() || self.statement >= BACKGROUND_TIMEOUT;
        if is_background { "auto" } else { "force_generic_plan" }
    }

    /// How long an answer is waited for where no request does.
    pub(super) const fn answer(&self) -> Duration {
        if self.statement.is_zero() { Duration::MAX } else { self.statement.saturating_add(ANSWER_GRACE) }
    }
}

impl PostgresConnection {
    pub(super) fn set_up_session(&mut self) -> Result<(), Fault> {
        let mut values = String::new();
        for (name, value) in COMMON_SETTINGS {
            let _infallible = write!(values, "('{name}', '{value}'), ");
        }
        let SessionLimits { statement, lock } = self.limits;
        let (statement, lock, plans) = (statement.as_millis(), lock.as_millis(), self.limits.plan_cache_mode());
        // Only some systems let the server check connections. `pg_settings` would read all settings of the server.
        let sql = format!(
            "SELECT set_config(name, setting, false) FROM (VALUES {values}\
             ('statement_timeout', '{statement}'), ('lock_timeout', '{lock}'), ('plan_cache_mode', '{plans}')) \
             AS v (name, setting) WHERE current_setting(name, true) IS NOT NULL \
             AND (name <> 'client_connection_check_interval' OR version() LIKE '%linux%')"
        );
        let client = Arc::clone(&self.client.client);
        let answer = self.client.wait(CONNECT_TIMEOUT, client.batch_execute(&sql));
        answer.map_err(|error| self.statement_fault(&sql, error))
    }

    pub(super) fn limit_statements(&mut self, limits: SessionLimits) -> Result<(), Fault> {
        if self.limits != limits {
            let SessionLimits { statement, lock } = limits;
            let (statement, lock, plans) = (statement.as_millis().max(1), lock.as_millis(), limits.plan_cache_mode());
            self.batch_execute(&format!(
                "SET statement_timeout = {statement}; SET lock_timeout = {lock}; SET plan_cache_mode = {plans}"
            ))?;
            self.limits = limits;
        }
        Ok(())
    }
}
