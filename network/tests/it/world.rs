//! A store of its own for each test, on each engine.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::encryption::{Keyring, MasterKey};
use base::{Clock, Error, Rng, Time, UserId};
use network::posts::{NewPost, PostAuthor};
use network::users::NewUser;
use store::posts::Post;
use store::{DatabaseLocation, Store, StoreOptions, TransactionWork, Tx};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Clock,
    pub(crate) folder: TempDir,
}

/// 2026-06-01T12:00:00Z.
pub(crate) const START: Time = Time::from_seconds(1_780_315_200);

/// Runs a story on every engine that is there.
pub(crate) fn on_each_engine<F: Future<Output = ()>>(story: impl Fn(World) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = TempDir::new().unwrap();
        let file = DatabaseLocation::File(folder.path().join("locum.db"));
        story(World::open(file, folder).await).await;
        match std::env::var("LOCUM_TEST_POSTGRES") {
            Err(_) => eprintln!("LOCUM_TEST_POSTGRES is not set: not run on PostgreSQL"),
            Ok(server) => {
                let location = tokio::task::spawn_blocking(move || fresh_database(&server));
                let folder = TempDir::new().unwrap();
                story(World::open(location.await.unwrap(), folder).await).await;
            }
        }
    });
}

pub(crate) fn fresh_database(server: &str) -> DatabaseLocation {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("it_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    let (before, _) = server.rsplit_once('/').unwrap();
    DatabaseLocation::Server(format!("{before}/{name}"))
}

pub(crate) fn options(location: DatabaseLocation, folder: &Path, clock: &Clock) -> StoreOptions {
    let key = MasterKey::generate(&Rng::from_seed(1)).unwrap();
    StoreOptions {
        location,
        data_dir: folder.to_owned(),
        connections: 2,
        node: 0,
        purpose: store::NodePurpose::Server(store::NodeRoles::ALL),
        migrate: true,
        clock: clock.clone(),
        rng: Rng::Os,
        keyring: Keyring::new(key, Vec::new()),
    }
}

impl World {
    pub(crate) async fn open(location: DatabaseLocation, folder: TempDir) -> Self {
        let clock = Clock::frozen_at(START);
        let options = options(location, folder.path(), &clock);
        let store = Arc::new(Store::open(options).await.unwrap());
        Self { store, clock, folder }
    }

    pub(crate) fn pass(&self, ms: i64) {
        self.clock.set(self.clock.now().plus_ms(ms));
    }

    pub(crate) async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> T {
        self.store.write(work).await.unwrap()
    }

    pub(crate) async fn refused<T: Send + std::fmt::Debug + 'static>(&self, work: impl TransactionWork<T>) -> String {
        match self.store.write(work).await.unwrap_err() {
            Error::Refused(refusal) => format!("{refusal:?}"),
            Error::Failed(fault) => panic!("{fault}"),
        }
    }

    pub(crate) async fn user(&self, username: &str) -> UserId {
        let new = NewUser { username: username.to_owned(), ..NewUser::default() };
        self.write(move |tx| network::users::create(tx, &new)).await.id
    }

    pub(crate) async fn post(&self, author: UserId, new: NewPost) -> Post {
        self.write(move |tx| network::posts::create(tx, &by(author), &new)).await
    }

    pub(crate) async fn say(&self, author: UserId, text: &str) -> Post {
        self.post(author, NewPost { text: text.to_owned(), ..NewPost::default() }).await
    }

    /// All that is in the log.
    pub(crate) async fn log(&self) -> Vec<store::event_log::LogEvent> {
        self.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
        let read = |tx: &mut Tx<'_>| Ok(store::event_log::list_after(tx, 0, 20_000)?);
        self.store.read(read).await.unwrap()
    }

    /// Every counter agrees with its rows.
    pub(crate) async fn recount(&self) {
        let work = |tx: &mut Tx<'_>| Ok(store::integrity::find_mismatches(tx)?);
        assert_eq!(self.store.read(work).await.unwrap(), []);
    }
}

pub(crate) fn by(author: UserId) -> PostAuthor {
    PostAuthor { user_id: author, app_id: None, self_serve: false }
}
