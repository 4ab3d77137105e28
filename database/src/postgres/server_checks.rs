//! Which servers are refused: poolers that break sessions, and a former primary that came back.

use std::path::PathBuf;
use std::sync::Arc;

use base::Fault;
use parking_lot::Mutex;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::session::SessionLimits;
use super::tls::ConnectionTarget;
use super::{CONNECT_TIMEOUT, PostgresConnection, is_transient};

/// A pooler may give a connection the same server process several times by chance.
const SESSION_CHECKS: usize = 3;
/// In the data directory.
const IDENTITY_FILE: &str = "database-server";
/// The timeline is known where the server is not in recovery.
const IDENTITY_SQL: &str = "SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN 0 ELSE \
    CAST(CAST('x' || SUBSTR(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS BIT(32)) AS BIGINT) END \
    FROM pg_control_system()";

/// Fails if statements of one connection run in different sessions: locks, settings and prepared statements would be
/// lost or shared.
pub(crate) fn check_sessions(target: &Arc<ConnectionTarget>) -> Result<(), Fault> {
    let mut first = PostgresConnection::connect(target, SessionLimits::BACKGROUND)?;
    let mut second = PostgresConnection::connect(target, SessionLimits::BACKGROUND)?;
    for _ in 0..SESSION_CHECKS {
        let before = first.session_process()?;
        second.query_text("BEGIN")?;
        let other = second.session_process()?;
        let after = first.session_process()?;
        second.query_text("ROLLBACK")?;
        if before != after || before == other {
            return Err(Fault::new(
                "the database address leads to a connection pooler that shares sessions between transactions \
                 (PgBouncer with pool_mode=transaction): connect to PostgreSQL itself, or set pool_mode=session",
            ));
        }
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerIdentity {
    /// The same on a primary and its replicas.
    system: String,
    /// Raised by every promotion of a replica; 0 if unknown.
    timeline: i64,
}

impl ServerIdentity {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (system, timeline) = text.trim().split_once(' ')?;
        Some(Self { system: system.to_owned(), timeline: timeline.parse().ok()? })
    }
}

/// The server that holds this node's data, remembered in the data directory.
pub(super) struct KnownServer {
    file: PathBuf,
    identity: Mutex<Option<ServerIdentity>>,
}

impl KnownServer {
    pub(super) fn load(data_dir: &std::path::Path) -> Self {
        let file = data_dir.join(IDENTITY_FILE);
        let identity = std::fs::read_to_string(&file).ok().and_then(|text| ServerIdentity::parse(&text));
        Self { file, identity: Mutex::new(identity) }
    }

    /// Refuses another server than before, and one that was replaced by a replica since.
    pub(super) fn check(&self, found: ServerIdentity) -> Result<(), Fault> {
        let mut known = self.identity.lock();
        let file = self.file.display();
        match &*known {
            Some(known) if known.system != found.system => {
                return Err(Fault::new(format!(
                    "the PostgreSQL server {} is not the one that this node used, {}; if the database was moved, \
                     remove {file}",
                    found.system, known.system
                ))
                .into_transient());
            }
            Some(known) if found.timeline != 0 && found.timeline < known.timeline => {
                return Err(Fault::new(format!(
                    "the PostgreSQL server is on timeline {}, and this node has used timeline {}: it is a former \
                     primary. Rejoin it as a replica of the current one; if it was restored on purpose, remove {file}",
                    found.timeline, known.timeline
                ))
                .into_transient());
            }
            Some(known) if found.timeline <= known.timeline => return Ok(()),
            _ => {}
        }
        let written = std::fs::write(&self.file, format!("{} {}\n", found.system, found.timeline));
        written.map_err(Fault::context("remembering the database server"))?;
        *known = Some(found);
        Ok(())
    }
}

impl PostgresConnection {
    fn session_process(&mut self) -> Result<Vec<String>, Fault> {
        self.query_text("SELECT pg_backend_pid()")
    }

    /// Refuses the server if it is not the one that is known.
    pub(super) fn check_server(&mut self) -> Result<(), Fault> {
        let (client, target) = (Arc::clone(&self.client.client), Arc::clone(&self.target));
        let Some(known) = &target.known_server else {
            return Ok(());
        };
        let answer = self.client.wait(CONNECT_TIMEOUT, find_identity(&client));
        let identity = answer.map_err(|error| self.statement_fault(IDENTITY_SQL, error))?;
        identity.map_or(Ok(()), |identity| known.check(identity))
    }

    fn query_text(&mut self, sql: &str) -> Result<Vec<String>, Fault> {
        let client = Arc::clone(&self.client.client);
        let answer = self.client.wait(CONNECT_TIMEOUT, query_cells(&client, sql));
        answer.map_err(|error| self.statement_fault(sql, error))
    }
}

/// None where the server does not tell.
pub(super) async fn find_identity(client: &Client) -> Result<Option<ServerIdentity>, Error> {
    match query_cells(client, IDENTITY_SQL).await {
        Ok(cells) => Ok(ServerIdentity::parse(&cells.join(" "))),
        Err(error) if is_transient(&error) => Err(error),
        Err(error) => {
            tracing::debug!(%error, "the database server does not tell its identity");
            Ok(None)
        }
    }
}

/// The cells of all rows, without a prepared statement.
async fn query_cells(client: &Client, sql: &str) -> Result<Vec<String>, Error> {
    let answer = client.simple_query(sql).await?;
    let rows = answer.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    Ok(rows.flat_map(|row| (0..row.len()).filter_map(|cell| row.get(cell).map(str::to_owned))).collect())
}
