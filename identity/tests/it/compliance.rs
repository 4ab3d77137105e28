//! Compliance jobs: their times, and what is said of whom.

use base::{AppId, Error, PostId, UserId};
use identity::account_deletion::{self, ErasureTime};
use identity::apps::{AccessLevel, AppProfile, Permission};
use network::audit::AuditActor;
use network::compliance::{self, NewComplianceJob};
use network::posts::{NewPost, PostAuthor};
use network::users::{self, NewUser};
use serde_json::Value;
use store::Tx;
use store::compliance::ComplianceJob;

use test_stores::{START, World, each_engine};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

fn job(kind: &str) -> NewComplianceJob {
    NewComplianceJob { kind: kind.to_owned(), ..NewComplianceJob::default() }
}

async fn begin(world: &World, app: AppId, kind: &'static str) -> Result<ComplianceJob, Error> {
    let work = move |tx: &mut Tx<'_>| compliance::create(tx, app, &job(kind));
    world.store.write(work).await
}

/// The result of a job that is given these ids.
async fn told(world: &World, app: AppId, kind: &'static str, ids: Vec<i64>) -> Vec<Value> {
    let job = begin(world, app, kind).await.unwrap();
    let token = job.upload_token.clone();
    world.write(move |tx| compliance::store_uploaded_ids(tx, &token, &ids)).await;
    while world.write(|tx| Ok(compliance::process_next_part(tx)?)).await {}
    let token = job.download_token.clone();
    let read = move |tx: &mut Tx<'_>| {
        let job = compliance::find_download_job(tx, &token)?;
        Ok(compliance::list_results(tx, job.id, 0)?)
    };
    let lines = world.store.read(read).await.unwrap();
    let lines: String = lines.into_iter().map(|(_, lines)| lines).collect();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn app(world: &World) -> AppId {
    let owner = world.user("owner").await;
    let profile = AppProfile { permission: Permission::Read, ..AppProfile::new("keeper") };
    world.write(move |tx| Ok(identity::apps::create(tx, owner, AccessLevel::SelfServe, &profile)?.0.id)).await
}

/// A user and the ids of two posts.
type UserWithPosts = (UserId, Vec<PostId>);

fn create_users(tx: &mut Tx<'_>) -> Result<Vec<UserWithPosts>, Error> {
    let mut all = Vec::new();
    for name in ["plain", "gone", "hung", "shy"] {
        let new = NewUser { username: name.to_owned(), ..NewUser::default() };
        let user = users::create(tx, &new)?.id;
        let author = PostAuthor { user_id: user, app_id: None, self_serve: false };
        let mut posts = Vec::new();
        for text in ["one", "two"] {
            let new = NewPost { text: text.to_owned(), ..NewPost::default() };
            posts.push(network::posts::create(tx, &author, &new)?.id);
        }
        all.push((user, posts));
    }
    Ok(all)
}

/// Deletes, suspends and protects users or posts of theirs; nothing happens to the first user.
fn redact(tx: &mut Tx<'_>, [plain, gone, hung, shy]: &[UserWithPosts; 4]) -> Result<(), Error> {
    network::posts::delete(tx, plain.0, plain.1[1])?;
    network::posts::delete(tx, hung.0, hung.1[1])?;
    account_deletion::order(tx, None, gone.0, ErasureTime::Later)?;
    identity::account_states::suspend(tx, hung.0)?;
    network::profiles::set_protected(tx, &AuditActor::operator(), shy.0, true).map(|_| ())
}

#[each_engine]
async fn result_lists_each_redacted_post_and_user_with_its_reason(world: World) {
    let app = app(&world).await;
    let people = world.write(create_users).await;
    world.pass(MINUTE);
    let all: [UserWithPosts; 4] = people.clone().try_into().unwrap();
    world.write(move |tx| redact(tx, &all)).await;
    world.pass(MINUTE);
    let ids: Vec<i64> = people.iter().flat_map(|(_, posts)| posts.iter().map(|id| id.get())).collect();
    let mut requested = vec![17];
    requested.extend(&ids);
    let lines = told(&world, app, "tweets", requested).await;
    let found: Vec<(i64, &str, bool)> = lines
        .iter()
        .map(|line| {
            assert_eq!(line["action"], "delete");
            assert_eq!(line["created_at"], START.to_string());
            let id = line["id"].as_str().unwrap().parse().unwrap();
            let since = line.get("redacted_at");
            if let Some(since) = since {
                assert_eq!(*since, START.plus_ms(MINUTE).to_string());
            }
            (id, line["reason"].as_str().unwrap(), since.is_some())
        })
        .collect();
    assert_eq!(
        found,
        [
            (ids[1], "deleted", true),
            (ids[2], "deactivated", true),
            (ids[3], "deactivated", true),
            (ids[4], "suspended", true),
            (ids[5], "deleted", true),
            (ids[6], "protected", false),
            (ids[7], "protected", false),
        ]
    );
    let users: Vec<i64> = people.iter().map(|(user, _)| user.get()).collect();
    let lines = told(&world, app, "users", users.clone()).await;
    let found: Vec<(String, &str)> =
        lines.iter().map(|line| (line["id"].as_str().unwrap().to_owned(), line["reason"].as_str().unwrap())).collect();
    let expected = [(users[1], "deleted"), (users[2], "suspended"), (users[3], "protected")];
    assert_eq!(found, expected.map(|(id, why)| (id.to_string(), why)));
}

async fn status(world: &World, app: AppId, job: &ComplianceJob) -> &'static str {
    let id = job.id;
    let read = move |tx: &mut Tx<'_>| {
        let found = compliance::find(tx, app, id)?.unwrap();
        Ok(compliance::status(&found, tx.now()))
    };
    world.store.read(read).await.unwrap()
}

#[each_engine]
async fn job_of_a_type_is_open_alone_until_it_expires(world: World) {
    let app = app(&world).await;
    let (one, other) = tokio::join!(begin(&world, app, "tweets"), begin(&world, app, "tweets"));
    assert_ne!(one.is_ok(), other.is_ok(), "one of two at once");
    let first = one.or(other).unwrap();
    begin(&world, app, "users").await.unwrap();
    let status = async |job: &ComplianceJob| status(&world, app, job).await;
    assert_eq!(status(&first).await, "created");
    world.pass(15 * MINUTE - 1);
    assert_eq!(status(&first).await, "created");
    world.pass(1);
    assert_eq!(status(&first).await, "expired");
    let token = first.upload_token.clone();
    let late = world.store.write(move |tx| compliance::store_uploaded_ids(tx, &token, &[1]));
    assert!(late.await.is_err());
}

#[each_engine]
async fn uploaded_ids_are_processed_in_parts_and_pruned_after_the_job_expired(world: World) {
    let app = app(&world).await;
    let status = async |job: &ComplianceJob| status(&world, app, job).await;
    // Of two uploads at once one is taken.
    let second = begin(&world, app, "tweets").await.unwrap();
    let take = || {
        let token = second.upload_token.clone();
        let ids: Vec<i64> = (1..=2_500).collect();
        world.store.write(move |tx| compliance::store_uploaded_ids(tx, &token, &ids))
    };
    let (one, other) = tokio::join!(take(), take());
    assert_ne!(one.is_ok(), other.is_ok());
    assert_eq!(status(&second).await, "in_progress");
    assert!(begin(&world, app, "tweets").await.is_err());
    let work = || world.store.write(|tx| Ok(compliance::process_next_part(tx)?));
    let mut rounds = 0;
    while work().await.unwrap() {
        rounds += 1;
    }
    assert_eq!(rounds, 4, "three parts and the end");
    assert_eq!(status(&second).await, "complete");
    world.pass(7 * DAY);
    assert_eq!(status(&second).await, "expired");
    let token = second.download_token.clone();
    let late = world.store.read(move |tx| compliance::find_download_job(tx, &token).map(|_| ()));
    assert!(late.await.is_err());

    world.pass(7 * DAY + 1);
    let stored = network::retention::RetentionPeriods {
        session_ttl_ms: DAY,
        log_ms: DAY,
        deliveries_ms: i64::MAX,
        audit_ms: DAY,
    };
    network::retention::prune_expired(&world.store, stored, world.clock.now()).await.unwrap();
    let read = move |tx: &mut Tx<'_>| {
        let jobs = compliance::list(tx, app, "tweets", None)?.len();
        Ok((jobs, compliance::list_results(tx, second.id, 0)?.len()))
    };
    assert_eq!(world.store.read(read).await.unwrap(), (0, 0));
}
