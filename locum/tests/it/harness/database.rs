//! The database of one server.

use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use postgres::{Client, NoTls};
use tempfile::TempDir;

use super::process::{binary, run_command};
use super::unique_number;

/// What the suite runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DatabaseEngine {
    Sqlite,
    Postgres,
}

/// What this run of the suite runs on.
pub(crate) fn suite_engine() -> DatabaseEngine {
    match admin_url() {
        Some(_) => DatabaseEngine::Postgres,
        None => DatabaseEngine::Sqlite,
    }
}

fn admin_url() -> Option<String> {
    std::env::var("LOCUM_TEST_POSTGRES").ok().filter(|url| !url.is_empty())
}

/// A database of its own, gone with its server; none on SQLite, where the data folder has it.
pub(crate) struct TestDatabase {
    name: String,
    /// The address of the server's own database.
    administration: String,
    pub(crate) url: String,
}

impl TestDatabase {
    pub(crate) fn create(engine: DatabaseEngine) -> Option<Self> {
        let administration = admin_url().filter(|_| engine == DatabaseEngine::Postgres)?;
        // An earlier version applies its own migrations.
        if std::env::var_os("LOCUM_PREVIOUS_BINARY").is_some() {
            return Some(Self::create_on(&administration));
        }
        Some(Self::create_from(&administration, migrated_database(&administration)))
    }

    /// Without any table.
    pub(super) fn create_empty() -> Option<Self> {
        admin_url().map(|administration| Self::create_on(&administration))
    }

    /// On a server whose own database has this address.
    pub(crate) fn create_on(administration: &str) -> Self {
        Self::create_from(administration, "template1")
    }

    fn create_from(administration: &str, template: &str) -> Self {
        let name = format!("it_{}_{}", std::process::id(), unique_number());
        execute_sql(administration, &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        let url = database_url(administration, &name);
        Self { name, administration: administration.to_owned(), url }
    }

    /// Of one that no server uses.
    pub(super) fn copy(&self) -> Self {
        Self::create_from(&self.administration, &self.name)
    }

    /// Lets nobody in and sends everybody out, or opens it again.
    pub(crate) fn set_closed(&self, shut: bool) {
        let Self { name, administration, .. } = self;
        execute_sql(administration, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {}", !shut));
        if shut {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname";
            execute_sql(administration, &format!("{end} = '{name}'"));
        }
    }

    /// Ends one of the connections to it that are at work, if there is one.
    pub(crate) fn terminate_busy_connection(&self) {
        let Self { name, administration, .. } = self;
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state <> 'idle' AND datname";
        execute_sql(administration, &format!("{end} = '{name}' ORDER BY random() LIMIT 1"));
    }

    /// Keeps everyone else from a table until the result is dropped.
    pub(crate) fn lock_table(&self, table: &str) -> Client {
        let mut client = self.connect();
        client.batch_execute(&format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).unwrap();
        client
    }

    /// Keeps a transaction with a number of its own open until the result is dropped: in this database, or in
    /// another one of the server.
    pub(crate) fn open_transaction(&self, elsewhere: bool) -> Client {
        let url = if elsewhere { admin_url().expect("it was made on a server") } else { self.url.clone() };
        let mut client = Client::connect(&url, NoTls).expect("the PostgreSQL server answers");
        client.batch_execute("BEGIN; SELECT pg_current_xact_id()").unwrap();
        client
    }

    /// Keeps others from changing a table's rows until the result is dropped.
    pub(crate) fn lock_rows(&self, table: &str) -> Client {
        let mut client = self.connect();
        client.batch_execute(&format!("BEGIN; SELECT * FROM {table} FOR UPDATE")).unwrap();
        client
    }

    /// What a query finds, a number.
    pub(crate) fn query_number(&self, sql: &str) -> i64 {
        self.connect().query_one(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    /// The same database, reached at another address.
    pub(super) fn at_address(mut self, address: std::net::SocketAddr) -> Self {
        let server = self.server_address();
        self.url = self.url.replacen(&server, &address.to_string(), 1);
        self
    }

    /// Host and port.
    pub(super) fn server_address(&self) -> String {
        let (_, rest) = self.url.split_once("://").expect("postgres://user@host:port/database");
        let (authority, _) = rest.split_once('/').expect("postgres://user@host:port/database");
        authority.rsplit('@').next().expect("a part").to_owned()
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.url, NoTls).expect("the PostgreSQL server answers")
    }

    /// Connections that wait for a lock.
    pub(crate) fn count_waiting_for_locks(&self) -> i64 {
        self.count_connections("wait_event_type = 'Lock'")
    }

    /// Connections of servers that are inside a transaction.
    pub(crate) fn count_open_transactions(&self) -> i64 {
        self.count_connections("state LIKE 'idle in transaction%' AND application_name = 'locum'")
    }

    fn count_connections(&self, condition: &str) -> i64 {
        let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND";
        self.query_number(&format!("{sql} {condition}"))
    }

    /// Runs statements in it.
    pub(crate) fn run_sql(&self, sql: &str) {
        execute_sql(&self.url, sql);
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        execute_sql(&self.administration, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

/// A database with all migrations applied and nothing else stored, which stays on the server for the next run of the
/// same binary: to copy it takes a tenth of the time that the migrations take.
fn migrated_database(administration: &str) -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let built = std::fs::metadata(binary()).and_then(|file| file.modified()).unwrap();
        let name = format!("it_schema_{}", built.duration_since(UNIX_EPOCH).unwrap().as_nanos());
        let mut client = Client::connect(administration, NoTls).expect("the PostgreSQL server answers");
        // Every test may be a process of its own.
        client.batch_execute("SELECT pg_advisory_lock(7265)").unwrap();
        let existing =
            client.query("SELECT datname FROM pg_database WHERE datname LIKE 'it\\_schema\\_%'", &[]).unwrap();
        let existing: Vec<String> = existing.iter().map(|row| row.get(0)).collect();
        if !existing.contains(&name) {
            for outdated in existing {
                execute_sql(administration, &format!("DROP DATABASE {outdated} WITH (FORCE)"));
            }
            create_migrated_database(administration, &name);
        }
        name
    })
}

/// It has its name once it is complete.
fn create_migrated_database(administration: &str, name: &str) {
    let incomplete = "it_schema_incomplete";
    execute_sql(administration, &format!("CREATE DATABASE {incomplete}"));
    let url = database_url(administration, incomplete);
    let folder = TempDir::new().unwrap();
    // `migrate up` wants a data folder.
    let start = ["dev", "--world", "empty", "--until-eof", "--port", "0", "--control-port", "0", "--data-dir", "data"];
    run_command(folder.path(), &start).assert_success();
    run_command(folder.path(), &["migrate", "up", "--data-dir", "data", "--db", &url]).assert_success();
    // What is known of the data folder.
    execute_sql(&url, "DELETE FROM meta WHERE key <> 'schema_compatible_from'");
    execute_sql(administration, &format!("ALTER DATABASE {incomplete} RENAME TO {name}"));
}

/// The address of a database on the server whose own database has this address.
fn database_url(administration: &str, name: &str) -> String {
    let (server, rest) = administration.rsplit_once('/').expect("postgres://host/database");
    let options = rest.split_once('?').map_or_else(String::new, |(_, more)| format!("?{more}"));
    format!("{server}/{name}{options}")
}

fn execute_sql(url: &str, sql: &str) {
    let mut client = Client::connect(url, NoTls).expect("the PostgreSQL server answers");
    client.batch_execute(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}
