//! A store of its own for each test, on each engine, and imports into it.

use base::{Clock, PostId, UserId};
use network::users::NewUser;
use store::posts::Post;
use store::users::User;
use store::{DatabaseLocation, Store, Tx};
use tempfile::TempDir;
use test_stores::options;
pub(crate) use test_stores::{START, each_engine};
use transfer::{ImportOptions, ImportReport, ImportSource, TransferError, TransferProgress, export_json_lines, import};

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) folder: TempDir,
    location: DatabaseLocation,
    clock: Clock,
}

/// Where a test's stores are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Lite,
    Postgres,
}

/// Runs a story on every engine that is there.
pub(crate) fn on_each_engine<F: Future<Output = ()>>(story: impl Fn(Engine) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        story(Engine::Lite).await;
        if std::env::var_os("LOCUM_TEST_POSTGRES").is_some() {
            story(Engine::Postgres).await;
        } else {
            eprintln!("LOCUM_TEST_POSTGRES is not set: not run on PostgreSQL");
        }
    });
}

fn create_database() -> DatabaseLocation {
    test_stores::create_database(&std::env::var("LOCUM_TEST_POSTGRES").unwrap())
}

impl World {
    pub(crate) async fn new(engine: Engine) -> Self {
        Self::at(engine, Clock::frozen_at(START)).await
    }

    pub(crate) async fn at(engine: Engine, clock: Clock) -> Self {
        let folder = TempDir::new().unwrap();
        let location = match engine {
            Engine::Lite => DatabaseLocation::File(folder.path().join("locum.db")),
            Engine::Postgres => tokio::task::spawn_blocking(create_database).await.unwrap(),
        };
        let store = Store::open(options(location.clone(), folder.path(), &clock));
        Self { store: store.await.unwrap(), folder, location, clock }
    }

    /// Closes the store, as the end of a process does, and opens it again.
    pub(crate) async fn restart(self) -> Self {
        let Self { store, folder, location, clock } = self;
        tokio::task::spawn_blocking(move || store.close()).await.unwrap();
        let store = Store::open(options(location.clone(), folder.path(), &clock));
        Self { store: store.await.unwrap(), folder, location, clock }
    }

    /// The engines that are there.
    pub(crate) fn engines() -> Vec<Engine> {
        let mut engines = vec![Engine::Lite];
        if std::env::var_os("LOCUM_TEST_POSTGRES").is_some() {
            engines.push(Engine::Postgres);
        }
        engines
    }

    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions { media_dir: Some(self.folder.path().join("media")), ..ImportOptions::default() }
    }

    pub(crate) async fn try_import(
        &self,
        source: ImportSource,
        options: ImportOptions,
    ) -> Result<ImportReport, TransferError> {
        let mut last: Option<TransferProgress> = None;
        let mut rises = |progress: TransferProgress| {
            if let Some(last) = last.filter(|last| last.stage == progress.stage) {
                assert!(last.records <= progress.records);
            }
            last = Some(progress);
        };
        import(&self.store, source, options, &mut rises).await
    }

    /// Imports with the default options, and finds every counter right.
    pub(crate) async fn import(&self, source: ImportSource) -> ImportReport {
        let report = self.try_import(source, self.options()).await.unwrap();
        self.recount().await;
        report
    }

    /// Tables of the import that the database cannot plan for; none on SQLite.
    pub(crate) async fn count_tables_without_statistics(&self) -> i64 {
        let DatabaseLocation::Server(url) = self.location.clone() else { return 0 };
        let sql = "SELECT COUNT(*) FROM pg_class WHERE relname IN ('post', 'mention', 'users') AND reltuples < 0";
        let count = move || -> i64 {
            postgres::Client::connect(&url, postgres::NoTls).unwrap().query_one(sql, &[]).unwrap().get(0)
        };
        tokio::task::spawn_blocking(count).await.unwrap()
    }

    /// The export's lines in order.
    pub(crate) async fn lines(&self) -> Vec<String> {
        let mut out = Vec::new();
        export_json_lines(&self.store, &mut out, &mut |_| {}).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Every counter agrees with its rows.
    pub(crate) async fn recount(&self) {
        let work = |tx: &mut Tx<'_>| Ok(store::integrity::find_mismatches(tx)?);
        assert_eq!(self.store.read(work).await.unwrap(), []);
    }

    pub(crate) async fn post(&self, id: i64) -> Option<Post> {
        let work = move |tx: &mut Tx<'_>| Ok(store::posts::find_by_id(tx, PostId::new(id))?);
        self.store.read(work).await.unwrap()
    }

    pub(crate) async fn user(&self, id: i64) -> Option<User> {
        let work = move |tx: &mut Tx<'_>| Ok(store::users::find_by_id(tx, UserId::new(id))?);
        self.store.read(work).await.unwrap()
    }

    pub(crate) async fn named(&self, username: &'static str) -> Option<User> {
        let work = move |tx: &mut Tx<'_>| Ok(store::users::find_by_username(tx, username)?);
        self.store.read(work).await.unwrap()
    }

    /// Somebody who signed up here.
    pub(crate) async fn join(&self, username: &'static str) -> UserId {
        let new = NewUser { username: username.to_owned(), ..NewUser::default() };
        let work = move |tx: &mut Tx<'_>| network::users::create(tx, &new);
        self.store.write(work).await.unwrap().id
    }

    /// Kinds of the log's entries, all that were appended until now.
    pub(crate) async fn log(&self) -> Vec<String> {
        self.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
        let work = |tx: &mut Tx<'_>| Ok(store::event_log::list_after(tx, 0, 10_000)?);
        let events = self.store.read(work).await.unwrap();
        events.into_iter().map(|event| event.kind).collect()
    }
}
