//! The database of one server.

use postgres::{Client, NoTls};

use super::fresh;

/// What the suite runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// What this run of the suite runs on.
pub(crate) fn engine() -> Engine {
    match administration() {
        Some(_) => Engine::Postgres,
        None => Engine::Sqlite,
    }
}

fn administration() -> Option<String> {
    std::env::var("LOCUM_TEST_POSTGRES")
        .ok()
        .filter(|url| !url.is_empty())
}

/// A database of its own, gone with its server; none on SQLite, where the data folder has it.
pub(crate) struct Database {
    name: String,
    pub(crate) url: String,
}

impl Database {
    pub(crate) fn make(engine: Engine) -> Option<Self> {
        let administration = administration().filter(|_| engine == Engine::Postgres)?;
        let name = format!("it_{}_{}", std::process::id(), fresh());
        execute(&administration, &format!("CREATE DATABASE {name}"));
        let (server, rest) = administration
            .rsplit_once('/')
            .expect("postgres://host/database");
        let options = rest
            .split_once('?')
            .map_or_else(String::new, |(_, more)| format!("?{more}"));
        let url = format!("{server}/{name}{options}");
        Some(Self { name, url })
    }

    /// Lets nobody in and sends everybody out, or opens it again.
    pub(crate) fn shut(&self, shut: bool) {
        let administration = administration().expect("it was made on a server");
        let Self { name, .. } = self;
        execute(
            &administration,
            &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {}", !shut),
        );
        if shut {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname";
            execute(&administration, &format!("{end} = '{name}'"));
        }
    }

    /// Runs statements in it.
    pub(crate) fn run(&self, sql: &str) {
        execute(&self.url, sql);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(administration) = administration() {
            execute(
                &administration,
                &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
            );
        }
    }
}

fn execute(url: &str, sql: &str) {
    let mut client = Client::connect(url, NoTls).expect("the PostgreSQL server answers");
    client
        .batch_execute(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}
