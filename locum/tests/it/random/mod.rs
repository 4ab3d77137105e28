//! A random program of many people against a model of what the network ought to be.
//!
//! `LOCUM_RANDOM_OPERATIONS` sets how many operations there are (3,000), `LOCUM_RANDOM_SEED` which
//! program it is. Groups of people work at the same time; each knows exactly what it ought to see,
//! and all of them act on the posts of one celebrity.

mod actions;
mod collections;
mod group;
mod model;
mod observations;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde_json::json;

use self::group::{Group, Star};
use crate::harness::{DatabaseEngine, TestServer, TestUser, suite_engine, suite_setting};

const GROUPS: usize = 4;

/// One operation of somebody.
fn step(group: &mut Group<'_>) {
    match group.dice.below(10) {
        0..=4 => actions::act(group),
        5 | 6 => collections::act(group),
        _ => observations::look(group),
    }
}

fn star(server: &TestServer) -> Star<'_> {
    let user: TestUser<'_> = server.new_user("star");
    let posts = (0..6).map(|number| user.publish_text(&format!("Everyone likes this, {number}")));
    Star { posts: posts.collect(), person: user }
}

fn seed() -> u64 {
    let now = u64::try_from(base::clock::wall_time().ms()).unwrap();
    suite_setting("LOCUM_RANDOM_SEED", now)
}

/// Does something, and says of which program it is a part where that fails.
fn guarded<T>(seed: u64, number: usize, step: &str, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        eprintln!("LOCUM_RANDOM_SEED={seed}: group {number}, {step}");
        resume_unwind(panic)
    })
}

fn is_sound(server: &TestServer) {
    let found = server.run_cli(&["fsck"]);
    assert_eq!(found.assert_success().json()["sound"], true, "{found:?}");
}

/// What all groups together did to the celebrity's posts is what these count.
fn check_star(groups: &[Group<'_>], star: &Star<'_>) {
    for (note, id) in star.posts.iter().enumerate() {
        let seen = star.person.fetch_post(id, "public_metrics");
        let names = ["like_count", "reply_count", "repost_count", "quote_count", "bookmark_count"];
        for (place, name) in names.iter().enumerate() {
            let all: usize = groups.iter().map(|group| group.model.counts(note)[place]).sum();
            assert_eq!(seen["public_metrics"][name], all, "{name} of the celebrity's post {note}");
        }
    }
    let me = star.person.get("/2/users/me?user.fields=public_metrics").assert_status(200);
    let counts = ["followers_count", "following_count", "post_count", "listed_count"];
    for (place, name) in counts.iter().enumerate().filter(|(place, _)| *place != 2) {
        let all: usize = groups.iter().map(|group| group.model.standing(0)[place]).sum();
        let message = &me["data"]["public_metrics"][name];
        assert_eq!(*message, all, "{name} of the celebrity: {me}");
    }
}

#[test]
fn random_operations_agree_with_the_model_in_counters_and_visibility() {
    let operations = usize::try_from(suite_setting("LOCUM_RANDOM_OPERATIONS", 3_000)).unwrap();
    let seed = seed();
    let server = TestServer::start(&["--world", "empty"]);
    let star = star(&server);
    let began = base::clock::monotonic_now();
    let groups: Vec<Group<'_>> = std::thread::scope(|scope| {
        let run = |number: usize| {
            let mut group = guarded(seed, number, "its people", || Group::gather(&server, number, seed, &star, 10));
            for index in 0..operations / GROUPS {
                guarded(seed, number, &format!("operation {index}"), || {
                    step(&mut group);
                });
            }
            group
        };
        let threads: Vec<_> = (1..=GROUPS).map(|number| scope.spawn(move || run(number))).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        let joined: Result<Vec<_>, _> = joined.collect();
        joined.unwrap_or_else(|panic| resume_unwind(panic))
    });
    let took = began.elapsed();
    is_sound(&server);
    check_star(&groups, &star);
    let pairs = 4 + operations / 2_000;
    for mut group in groups {
        let number = group.number;
        guarded(seed, number, "what it sees at the end", || {
            observations::audit(&mut group, pairs);
        });
    }
    println!("{operations} operations in {took:?}, {:?} with all looks", began.elapsed());
}

#[test]
fn random_operations_have_the_same_result_on_both_engines() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let operations = suite_setting("LOCUM_RANDOM_OPERATIONS", 3_000) / 5;
    let seed = seed();
    let servers = [DatabaseEngine::Sqlite, DatabaseEngine::Postgres]
        .map(|engine| TestServer::start_on_engine(engine, &["--world", "empty"]));
    let stars = [star(&servers[0]), star(&servers[1])];
    let mut sides = [0, 1].map(|side: usize| Group::gather(&servers[side], 7, seed, &stars[side], 10));
    for index in 0..operations {
        for side in &mut sides {
            side.told.clear();
            guarded(seed, 7, &format!("operation {index}"), || step(side));
        }
        let [one, other] = [&sides[0].told, &sides[1].told];
        assert_eq!(one, other, "LOCUM_RANDOM_SEED={seed}, operation {index}");
    }
    for (server, side) in servers.iter().zip(&mut sides) {
        is_sound(server);
        side.told.clear();
        guarded(seed, 7, "what it sees at the end", || observations::audit(side, 4));
    }
    assert_eq!(json!(sides[0].told), json!(sides[1].told), "LOCUM_RANDOM_SEED={seed}");
}
