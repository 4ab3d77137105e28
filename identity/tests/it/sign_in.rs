use std::sync::Arc;

use argon2::PasswordHasher;
use argon2::password_hash::phc::Salt;
use base::{Secret, UserId};
use identity::passwords::PasswordPool;
use identity::sign_in::{
    AttemptDecision, AttemptRateLimit, KnownDevice, PasswordProof, SignInAttempt, SignInLimits, SignInOutcome,
    SignInService,
};
use network::users::NewUser;
use store::{DatabaseLocation, Store, Tx};

use crate::sessions::{from, kinds};
use test_stores::{World, each_engine, options};

pub(crate) const PASSWORD: &str = "correct horse";

fn gate(world: &World) -> SignInService {
    SignInService::new(Arc::clone(&world.store), PasswordPool::new(2))
}

/// A gate that throttles nobody.
pub(crate) fn wide(world: &World) -> SignInService {
    let pace = AttemptRateLimit { burst: 1000, refill_interval_ms: 1 };
    SignInService { limits: SignInLimits { per_address: pace, per_account: pace }, ..gate(world) }
}

pub(crate) async fn account(world: &World, username: &'static str, password: &str) -> UserId {
    let hash = identity::passwords::hash(password, &base::Rng::Os).unwrap();
    let new = NewUser {
        username: username.to_owned(),
        password_hash: Some(hash),
        email: format!("{username}@Example.org"),
        ..NewUser::default()
    };
    let created = world.write(move |tx| network::users::create(tx, &new));
    created.await.id
}

pub(crate) fn attempt(login: &str, password: &str, address: &str) -> SignInAttempt {
    SignInAttempt {
        login: login.to_owned(),
        password: Secret::new(password),
        client_info: from(address),
        existing_session: None,
        device: None,
    }
}

pub(crate) async fn told(gate: &SignInService, login: &str, password: &str, address: &str) -> String {
    match gate.sign_in(&attempt(login, password, address)).await.unwrap() {
        SignInOutcome::Accepted { session, .. } => format!("accepted {}", session.user_id),
        SignInOutcome::CodeNeeded { .. } => "code needed".to_owned(),
        SignInOutcome::Wrong => "wrong".to_owned(),
        SignInOutcome::Throttled { retry_ms } => {
            assert!(retry_ms > 0);
            "throttled".to_owned()
        }
        SignInOutcome::Restorable(offer) => format!("restorable {}", offer.username),
        SignInOutcome::Suspended { .. } => "suspended by a decision".to_owned(),
        SignInOutcome::Closed { detail } => detail.to_owned(),
    }
}

#[each_engine]
async fn user_signs_in_with_username_or_email(world: World) {
    let ada = account(&world, "ada", PASSWORD).await;
    world.user("nobody").await;
    let gate = wide(&world);
    for login in ["ada", "@ADA ", "ada@example.org", "ADA@EXAMPLE.ORG"] {
        let response = told(&gate, login, PASSWORD, "192.0.2.1").await;
        assert_eq!(response, format!("accepted {ada}"), "{login}");
    }
    // Unknown, wrong, without a password, too long: one answer.
    let long = "x".repeat(5000);
    for (login, password) in [
        ("ada", "correct horsf"),
        ("nobody", ""),
        ("who", PASSWORD),
        ("who@example.org", PASSWORD),
        ("", ""),
        ("ada", long.as_str()),
    ] {
        assert_eq!(told(&gate, login, password, "192.0.2.1").await, "wrong", "{login}");
    }
    world.write(move |tx| identity::account_states::suspend(tx, ada)).await;
    assert_eq!(told(&gate, "ada", "wrong one", "192.0.2.1").await, "wrong");
    assert_eq!(told(&gate, "ada", PASSWORD, "192.0.2.1").await, "suspended by a decision");
    world
        .write(move |tx| {
            identity::account_deletion::order(tx, None, ada, identity::account_deletion::ErasureTime::Later)
        })
        .await;
    assert_eq!(told(&gate, "ada", "wrong one", "192.0.2.1").await, "wrong");
    assert!(told(&gate, "ada", PASSWORD, "192.0.2.1").await.contains("deleted"));
}

#[each_engine]
async fn password_guessing_is_slowed_without_locking_out_the_user(world: World) {
    let ada = account(&world, "ada", PASSWORD).await;
    let gate = gate(&world);
    for _ in 0..3 {
        assert_eq!(told(&gate, "ada", "guess", "192.0.2.1").await, "wrong");
    }
    for _ in 0..3 {
        assert_eq!(told(&gate, "ada", PASSWORD, "192.0.2.1").await, "throttled");
    }
    // Its owner, who comes from elsewhere, gets in as often as there is reason to.
    for _ in 0..5 {
        let response = told(&gate, "ada", PASSWORD, "2001:db8::1").await;
        assert_eq!(response, format!("accepted {ada}"));
    }
    // Neighbours in one /64 are one address, which IPv4 in its clothes is too.
    for (address, expected) in [
        ("2001:db8:0:1::1", "wrong"),
        ("2001:db8:0:1::2", "wrong"),
        ("2001:db8:0:1:ffff::3", "wrong"),
        ("2001:db8:0:1::4", "throttled"),
        ("2001:db8:0:2::4", "wrong"),
        ("::ffff:192.0.2.1", "throttled"),
    ] {
        assert_eq!(told(&gate, "who", "guess", address).await, expected, "{address}");
    }
    // Many addresses, one account, known or not.
    for login in ["ada", "stranger"] {
        let mut wrong = 0;
        for host in 0..30 {
            let address = format!("198.51.{}.{host}", login.len());
            if told(&gate, login, "guess", &address).await == "wrong" {
                wrong += 1;
            }
        }
        assert!((16..=20).contains(&wrong), "{login}: {wrong}");
    }
    let message = kinds(&world).await;
    let throttled = message.iter().filter(|kind| *kind == "sign_in.throttled");
    assert_eq!(throttled.count(), 4, "once until it is allowed again: {message:?}");
}

#[each_engine]
async fn owner_signs_in_from_a_known_browser_or_address_whatever_strangers_do(world: World) {
    let ada = account(&world, "ada", PASSWORD).await;
    let accepted = format!("accepted {ada}");
    let gate = gate(&world);
    assert_eq!(told(&gate, "ada", PASSWORD, "192.0.2.1").await, accepted);
    // By username and by email address, and one of them from the owner's own network.
    for host in 0..40 {
        let login = if host % 2 == 0 { "ada" } else { "ada@example.org" };
        told(&gate, login, "guess", &format!("198.51.100.{host}")).await;
    }
    assert_eq!(told(&gate, "ada", PASSWORD, "203.0.113.9").await, "throttled");
    assert_eq!(told(&gate, "ada", PASSWORD, "192.0.2.1").await, accepted);
    for _ in 0..4 {
        told(&gate, "ada", "guess", "192.0.2.1").await;
    }
    assert_eq!(told(&gate, "ada", PASSWORD, "192.0.2.1").await, "throttled");
    let with_device = async |user| {
        let device = Some(KnownDevice { user, digest: [7; 32] });
        let attempt = SignInAttempt { device, ..attempt("ada", PASSWORD, "192.0.2.1") };
        matches!(gate.sign_in(&attempt).await.unwrap(), SignInOutcome::Accepted { .. })
    };
    assert!(with_device(ada).await);
    assert!(!with_device(UserId::new(1)).await, "a device of somebody else");
}

#[each_engine]
async fn verifying_a_password_is_limited_like_signing_in(world: World) {
    let ada = account(&world, "ada", PASSWORD).await;
    let gate = gate(&world);
    let verify = async |password: &str, address: &str, device: Option<u8>| {
        let device = device.map(|number| KnownDevice { user: ada, digest: [number; 32] });
        let (password, client) = (Secret::new(password), from(address));
        let proof = PasswordProof { password: &password, client_info: &client, device };
        gate.verify_password(ada, &proof).await.map_err(|stop| format!("{stop:?}"))
    };
    let is_limited = |outcome: &Result<(), String>| outcome.as_ref().is_err_and(|stop| stop.contains("RateLimited"));
    // A session in another browser, and strangers who know the name.
    while !is_limited(&verify("guess", "198.51.100.1", Some(1)).await) {}
    for host in 0..30 {
        told(&gate, "ada", "guess", &format!("203.0.113.{host}")).await;
    }
    assert!(is_limited(&verify(PASSWORD, "192.0.2.1", Some(1)).await));
    assert!(is_limited(&verify(PASSWORD, "192.0.2.1", None).await), "unknown browser and address");
    assert_eq!(verify(PASSWORD, "192.0.2.1", Some(2)).await, Ok(()));
}

#[each_engine]
async fn concurrent_attempts_are_rate_limited(world: World) {
    account(&world, "ada", PASSWORD).await;
    let gate = gate(&world);
    let attempts: Vec<_> = (0..12).map(|_| attempt("ada", "guess", "192.0.2.1")).collect();
    let tries = attempts.into_iter().map(|attempt| {
        let gate = gate.clone();
        async move { matches!(gate.sign_in(&attempt).await.unwrap(), SignInOutcome::Wrong) }
    });
    let mut set = tokio::task::JoinSet::new();
    tries.for_each(|one| {
        set.spawn(one);
    });
    let passed = set.join_all().await;
    assert_eq!(passed.into_iter().filter(|passed| *passed).count(), 3);
}

#[each_engine]
async fn late_attempt_does_not_reset_the_rate_limit(world: World) {
    let pace = SignInLimits::default().per_address;
    let start = base::Time::from_seconds(1_780_315_200);
    let charged = async |after_ms: i64| {
        let now = start.plus_ms(after_ms);
        let charge = move |tx: &mut Tx<'_>| {
            Ok(store::attempt_limits::record_attempt(tx, &[7; 32], pace, now)? == AttemptDecision::Allowed)
        };
        world.store.write(charge).await.unwrap()
    };
    for allowed in [true, true, true, false] {
        assert_eq!(charged(0).await, allowed);
    }
    // Begun before the others, it comes after them.
    assert!(!charged(-5).await);
    assert!(!charged(-59_000).await);
    assert!(!charged(0).await);
    // A clock that was set back locks nobody out.
    assert!(charged(-3_600_000).await);
}

#[each_engine]
async fn failed_attempts_survive_a_restart(world: World) {
    if world.store.is_shared() {
        return;
    }
    account(&world, "ada", PASSWORD).await;
    let one = gate(&world);
    for _ in 0..3 {
        assert_eq!(told(&one, "ada", "guess", "192.0.2.1").await, "wrong");
    }
    drop(one);
    let World { store, clock, folder } = world;
    Arc::into_inner(store).unwrap().close();
    let file = DatabaseLocation::File(folder.path().join("locum.db"));
    let store = Store::open(options(file, folder.path(), &clock)).await.unwrap();
    let world = World { store: Arc::new(store), clock, folder };
    let other = gate(&world);
    assert_eq!(told(&other, "ada", PASSWORD, "192.0.2.1").await, "throttled");
}

#[each_engine]
async fn outdated_password_hash_is_renewed_on_sign_in(world: World) {
    let ada = account(&world, "ada", "another one").await;
    let params = argon2::Params::new(8 * 1024, 1, 1, None).unwrap();
    let weak = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
    let salt = Salt::new(&[7; 16]).unwrap();
    let weak = weak.hash_password_with_salt(PASSWORD.as_bytes(), salt.as_ref());
    let weak = weak.unwrap().to_string();
    world.write(move |tx| Ok(store::users::set_password_hash(tx, ada, &weak)?)).await;
    let stored = async || {
        let read = move |tx: &mut Tx<'_>| Ok(store::users::find_password_hash(tx, ada)?);
        world.store.read(read).await.unwrap().unwrap()
    };
    let gate = wide(&world);
    assert_eq!(told(&gate, "ada", "guess", "192.0.2.1").await, "wrong");
    assert!(stored().await.contains("m=8192"));
    assert!(told(&gate, "ada", PASSWORD, "192.0.2.1").await.contains("accepted"));
    assert!(stored().await.contains("m=19456"));
    assert!(told(&gate, "ada", PASSWORD, "192.0.2.1").await.contains("accepted"));
}

/// What two kinds of attempts take, the middle of many that take turns.
pub(crate) async fn medians<F: Future<Output = ()>>(rounds: usize, attempt: impl Fn(usize) -> F) -> [u128; 2] {
    let mut took = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        // Neither always comes first.
        for turn in [round % 2, (round + 1) % 2] {
            let start = base::clock::monotonic_now();
            attempt(turn).await;
            took[turn].push(start.elapsed().as_micros());
        }
    }
    took.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

/// Samples of each kind where times are compared.
pub(crate) fn timing_samples(default: usize) -> usize {
    std::env::var("LOCUM_TIMING_SAMPLES").map_or(default, |text| text.parse().unwrap())
}

/// Two medians of so many samples. Few samples on a busy machine differ by less than a factor that could be told apart
/// over a network; a thousand on an idle one, within noise.
pub(crate) fn assert_same_time(samples: usize, [one, other]: [u128; 2], few_slack_us: u128, what: &str) {
    let (low, high) = (one.min(other), one.max(other));
    eprintln!("{what}: medians of {samples}: {one} \u{b5}s, {other} \u{b5}s");
    let most = if samples < 1000 { low * 2 + few_slack_us } else { low + low / 10 };
    assert!(high <= most, "{what}: {one} \u{b5}s, {other} \u{b5}s");
}

/// Without the hash of nobody's password an unknown name would be told many times sooner; what a
/// busy machine adds falls on both alike.
#[each_engine]
async fn unknown_name_takes_as_long_as_a_wrong_password(world: World) {
    account(&world, "ada", PASSWORD).await;
    world.user("nopassword").await;
    let (gate, samples) = (&wide(&world), timing_samples(9));
    for unknown in ["who", "nopassword"] {
        let both = medians(samples, async |turn| {
            let login = ["ada", unknown][turn];
            assert_eq!(told(gate, login, "guess", "192.0.2.1").await, "wrong");
        });
        assert_same_time(samples, both.await, 0, unknown);
    }
}

/// However many want in at once, only so many passwords are hashed at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_password_hashes_are_limited() {
    let pool = PasswordPool::new(2);
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let pool = pool.clone();
        all.spawn(async move { pool.verify(&Secret::new("guess"), "").await.unwrap() });
    }
    let mut most = 0;
    while !all.is_empty() {
        most = most.max(pool.running_count());
        assert!(pool.running_count() <= 2);
        let wait = std::time::Duration::from_millis(1);
        let _more = tokio::time::timeout(wait, all.join_next()).await;
    }
    assert_eq!((most, pool.running_count()), (2, 0));
}
