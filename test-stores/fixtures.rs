//! A store of its own for each integration test, on each engine.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a failure ends the test")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::encryption::{Keyring, MasterKey};
use base::{Clock, Error, Id, Rng, Time, UserId};
use network::posts::{NewPost, PostAuthor};
use network::users::NewUser;
use store::media::Media;
use store::posts::Post;
use store::{DatabaseLocation, Store, StoreOptions, TransactionWork, Tx};
use tempfile::TempDir;
pub use test_stores_macros::each_engine;

pub struct World {
    pub store: Arc<Store>,
    pub clock: Clock,
    pub folder: TempDir,
}

/// 2026-06-01T12:00:00Z.
pub const START: Time = Time::from_seconds(1_780_315_200);

/// Runs a test on SQLite, and on PostgreSQL where `LOCUM_TEST_POSTGRES` names a server on which databases may be created.
pub fn on_each_engine<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    on_each_database(async |location, folder| test(World::open(location, folder).await).await);
}

/// As [`on_each_engine`], with the location of a new database.
pub fn on_each_database(test: impl AsyncFn(DatabaseLocation, TempDir)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = TempDir::new().unwrap();
        let file = DatabaseLocation::File(folder.path().join("locum.db"));
        test(file, folder).await;
        match std::env::var("LOCUM_TEST_POSTGRES") {
            Err(_) => eprintln!("LOCUM_TEST_POSTGRES is not set: not run on PostgreSQL"),
            Ok(server) => {
                let location = tokio::task::spawn_blocking(move || create_database(&server)).await.unwrap();
                test(location, TempDir::new().unwrap()).await;
            }
        }
    });
}

/// A new database on the server at the URL.
pub fn create_database(server: &str) -> DatabaseLocation {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let program = std::env::current_exe().unwrap();
    let program = program.file_stem().unwrap().to_string_lossy().replace('-', "_");
    let name = format!("{program}_{}_{count}", std::process::id());
    let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
    for action in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
        client.batch_execute(&format!("{action} {name}")).unwrap();
    }
    let (before, _) = server.rsplit_once('/').unwrap();
    DatabaseLocation::Server(format!("{before}/{name}"))
}

pub fn options(location: DatabaseLocation, folder: &Path, clock: &Clock) -> StoreOptions {
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
    pub async fn open(location: DatabaseLocation, folder: TempDir) -> Self {
        let clock = Clock::frozen_at(START);
        let options = options(location, folder.path(), &clock);
        let store = Arc::new(Store::open(options).await.unwrap());
        Self { store, clock, folder }
    }

    pub fn pass(&self, ms: i64) {
        self.clock.set(self.clock.now().plus_ms(ms));
    }

    pub async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> T {
        self.store.write(work).await.unwrap()
    }

    pub async fn refused<T: Send + std::fmt::Debug + 'static>(&self, work: impl TransactionWork<T>) -> String {
        match self.store.write(work).await.unwrap_err() {
            Error::Refused(refusal) => format!("{refusal:?}"),
            Error::Failed(fault) => panic!("{fault}"),
        }
    }

    pub async fn user(&self, username: &str) -> UserId {
        let new = NewUser { username: username.to_owned(), ..NewUser::default() };
        self.write(move |tx| network::users::create(tx, &new)).await.id
    }

    pub async fn post(&self, author: UserId, new: NewPost) -> Post {
        self.write(move |tx| network::posts::create(tx, &by(author), &new)).await
    }

    pub async fn say(&self, author: UserId, text: &str) -> Post {
        self.post(author, NewPost { text: text.to_owned(), ..NewPost::default() }).await
    }

    /// All that is in the log.
    pub async fn log(&self) -> Vec<store::event_log::LogEvent> {
        self.store.wait_for_log_end(std::time::Duration::from_secs(10)).await.unwrap();
        let read = |tx: &mut Tx<'_>| Ok(store::event_log::list_after(tx, 0, 20_000)?);
        self.store.read(read).await.unwrap()
    }

    /// Every counter agrees with its rows.
    pub async fn recount(&self) {
        let work = |tx: &mut Tx<'_>| Ok(store::integrity::find_mismatches(tx)?);
        assert_eq!(self.store.read(work).await.unwrap(), []);
    }
}

pub fn by(author: UserId) -> PostAuthor {
    PostAuthor { user_id: author, app_id: None, self_serve: false }
}

/// A post with a new file that nothing else uses; `prefix` is the kind's in media keys.
pub async fn new_media_post(world: &World, owner: UserId, number: i64, prefix: i64, kind: &str) -> NewPost {
    let media = Media {
        media_key: format!("{prefix}_{number}"),
        id: Id::new(number),
        owner_id: owner,
        kind: kind.to_owned(),
        path: String::new(),
        url: String::new(),
        preview_image_url: String::new(),
        width: 0,
        height: 0,
        duration_ms: 0,
        alt_text: String::new(),
        variants: String::new(),
        created_at: world.clock.now(),
        content_type: String::new(),
        size: 0,
        bit_rate: 0,
        sizes: String::new(),
        uses: Some(0),
        expires_at: None,
        variant_files: String::new(),
    };
    world.write(move |tx| Ok(store::media::insert(tx, &media)?)).await;
    NewPost { media_ids: vec![Id::new(number)], text: format!("with {kind}"), ..NewPost::default() }
}
