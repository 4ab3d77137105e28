//! A store of its own for each test, on each engine, with an index of posts and an evaluator.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use ads::gazetteer::gazetteer;
use ads_delivery::evaluator::{AudienceEstimate, CriterionOperator, Evaluator, TargetedAudience, TargetingCriterion};
use base::{Clock, Error, PostId, Secret, UserId};
use network::audit::AuditActor;
use network::posts::{NewPost, PostAuthor};
use network::profiles::ProfileChanges;
use network::users::NewUser;
use post_search::PostSearch;
use post_search::insights::InsightsQuery;
use store::{DatabaseLocation, Store, TransactionWork};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub(crate) use test_stores::each_engine;

pub(crate) struct World {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Clock,
    pub(crate) evaluator: Arc<Evaluator>,
    search: Arc<PostSearch>,
    _folder: TempDir,
}

/// Runs a test on every engine that is there.
pub(crate) fn on_each_engine<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    test_stores::on_each_database(async |location, folder| test(World::open(location, folder).await).await);
}

impl World {
    async fn open(location: DatabaseLocation, folder: TempDir) -> Self {
        let clock = Clock::frozen_at(test_stores::START);
        let options = test_stores::options(location, folder.path(), &clock);
        let store = Arc::new(Store::open(options).await.unwrap());
        let search = PostSearch::open(&folder.path().join("search")).unwrap();
        Self { store, clock, evaluator: Evaluator::new(Some(Arc::clone(&search).into())), search, _folder: folder }
    }

    pub(crate) fn pass(&self, ms: i64) {
        self.clock.set(self.clock.now().plus_ms(ms));
    }

    pub(crate) async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> T {
        self.store.write(work).await.unwrap()
    }

    pub(crate) async fn user(&self, username: String) -> UserId {
        let new = NewUser { username, ..NewUser::default() };
        self.write(move |tx| network::users::create(tx, &new)).await.id
    }

    pub(crate) async fn say(&self, author: UserId, text: &str) -> PostId {
        let by = PostAuthor { user_id: author, app_id: None, self_serve: false };
        let new = NewPost { text: text.to_owned(), ..NewPost::default() };
        self.write(move |tx| network::posts::create(tx, &by, &new)).await.id
    }

    pub(crate) async fn live_at(&self, user: UserId, location: &str) {
        let edit = ProfileChanges { location: Some(location.to_owned()), ..ProfileChanges::default() };
        self.write(move |tx| network::profiles::update(tx, &AuditActor::user(user, ""), user, &edit)).await;
    }

    /// Starts a browser session of a day.
    pub(crate) async fn sign_in(&self, user: UserId, user_agent: &'static str) {
        self.write(move |tx| {
            let digest = base::secret::digest(&user.to_string());
            let new = store::sessions::NewSession {
                digest: &digest,
                user_id: user,
                form_key: &Secret::new("key".to_owned()),
                ttl_ms: 86_400_000,
                address: "",
                user_agent,
            };
            let now = tx.now();
            store::sessions::insert(tx, &new, now)?;
            Ok(())
        })
        .await;
    }

    /// Everything that was written can be found, and the log tells of it.
    pub(crate) async fn settled(&self) {
        self.store.wait_for_log_end(Duration::from_secs(10)).await.unwrap();
        self.search.drain_log(&self.store).await.unwrap();
    }

    pub(crate) async fn estimate(&self, audience: &TargetedAudience) -> AudienceEstimate {
        self.settled().await;
        let (evaluator, audience) = (Arc::clone(&self.evaluator), audience.clone());
        let read = move |tx: &mut store::Tx<'_>| evaluator.estimate(tx, &audience);
        self.store.read(read).await.unwrap()
    }

    /// Those of some users whom an audience admits.
    pub(crate) async fn admitted(&self, audience: &TargetedAudience, users: &[UserId]) -> Vec<UserId> {
        self.settled().await;
        let (evaluator, audience) = (Arc::clone(&self.evaluator), audience.clone());
        let users: Vec<_> = users.iter().copied().map(Some).collect();
        let read = move |tx: &mut store::Tx<'_>| {
            evaluator.refresh(tx)?;
            Ok(evaluator.filter_reached(tx, &audience, users.clone())?.into_iter().flatten().collect())
        };
        self.store.read(read).await.unwrap()
    }
}

impl World {
    /// How much is written, and what comes with it.
    pub(crate) async fn insights(&self, expected: &InsightsQuery, step_ms: i64) -> (Vec<u64>, Vec<String>) {
        self.settled().await;
        let (evaluator, expected) = (Arc::clone(&self.evaluator), expected.clone());
        let snapshot = self.search.snapshot();
        let read = move |tx: &mut store::Tx<'_>| {
            let volume = post_search::insights::count_volume(tx, &*snapshot, &expected, step_ms)?;
            let related = evaluator.insights.find_related_keywords(tx, &*snapshot, &expected)?;
            Ok((volume, related.to_vec()))
        };
        self.store.read(read).await.unwrap()
    }

    pub(crate) async fn people_of(&self, country: &str) -> Arc<HashSet<i64>> {
        self.settled().await;
        let evaluator = Arc::clone(&self.evaluator);
        let id = gazetteer().find_country(country).unwrap().id.clone();
        let read = move |tx: &mut store::Tx<'_>| evaluator.users_in_country(tx, &id);
        self.store.read(read).await.unwrap()
    }
}

/// Starts a transaction that ends some time after its work; returns once the work is done.
#[expect(clippy::disallowed_methods, reason = "a test is the home of its own tasks")]
pub(crate) async fn begin<T: Send + 'static>(
    world: &World,
    work: impl Fn(&mut store::Tx<'_>) -> Result<T, Error> + Send + Sync + 'static,
) -> JoinHandle<T> {
    let (store, done) = (Arc::clone(&world.store), Arc::new(Notify::new()));
    let is_done = Arc::clone(&done);
    let transaction = tokio::spawn(async move {
        let work = move |tx: &mut store::Tx<'_>| {
            let result = work(tx)?;
            // Sends the statements that are still queued.
            store::ads::audiences::has_members(tx)?;
            is_done.notify_one();
            std::thread::sleep(Duration::from_millis(500));
            Ok(result)
        };
        store.write(work).await.unwrap()
    });
    done.notified().await;
    transaction
}

pub(crate) fn criterion(kind: &str, value: impl ToString, operator: CriterionOperator) -> TargetingCriterion {
    TargetingCriterion { kind: kind.to_owned(), value: value.to_string(), operator }
}

pub(crate) fn audience(criteria: Vec<TargetingCriterion>) -> TargetedAudience {
    TargetedAudience { criteria, ..TargetedAudience::default() }
}
