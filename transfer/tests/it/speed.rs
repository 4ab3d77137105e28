//! How many posts a second are imported. Only for a release build:
//! `cargo test -p transfer --release -- --ignored --nocapture posts_a_second`.
#![expect(
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "measures itself, no product code"
)]

use std::path::PathBuf;
use std::time::Instant;

use crate::sample::{array, at, folder, lines, parts, post, text};
use crate::world::{Engine, World};
use base::Clock;
use transfer::{ImportOptions, ImportSource};

const POSTS: i64 = 200_000;

/// One in three answers somebody, one in five has a link, one in eight a hashtag, one in ten is a
/// repost.
fn one(number: i64) -> String {
    let id = at(number * 60);
    let friend = number % 997;
    let link = if number % 5 == 0 { " https://t.co/abcdefghij" } else { "" };
    let urls = if number % 5 == 0 {
        format!(
            r#"{{"url":"https://t.co/abcdefghij","expanded_url":"https://example.org/{number}","display_url":"example.org/{number}"}}"#
        )
    } else {
        String::new()
    };
    let tag = if number % 8 == 0 { " #weather" } else { "" };
    let mention = format!(r#"{{"name":"Friend","screen_name":"friend{friend}","id_str":"{}"}}"#, 1_000 + friend);
    let (words, mentions, more) = match number % 30 {
        0 | 3 | 9 => (
            format!("RT @friend{friend}: This is what a post of a usual length says to everybody {number}"),
            mention,
            String::new(),
        ),
        1 | 4 | 7 | 10 | 13 | 16 | 19 | 22 | 25 | 28 => (
            format!("@friend{friend} This is &amp; remains a typical answer of a usual length 🦀 {number}{tag}{link}"),
            mention,
            format!(
                r#","in_reply_to_status_id_str":"{}","in_reply_to_user_id_str":"{}","in_reply_to_screen_name":"friend{friend}""#,
                at(number * 60 - 30),
                1_000 + friend
            ),
        ),
        _ => (
            format!("What a post of a usual length says to everybody who reads it, number {number}{tag}{link}"),
            String::new(),
            String::new(),
        ),
    };
    post(
        id,
        &words,
        &format!(
            r#""created_at":"Sat Feb 18 12:33:11 +0000 2023","favorite_count":"1","retweet_count":"0","entities":{{"urls":[{urls}],"user_mentions":[{mentions}]}}{more}"#
        ),
    )
}

fn report(what: &str, begun: Instant, count: u64) {
    let seconds = begun.elapsed().as_secs_f64();
    eprintln!("{what}: {count} in {seconds:.2} s, {:.0}/s", count as f64 / seconds);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn posts_a_second() {
    let posts: Vec<String> = (0..POSTS).rev().map(one).collect();
    let mut files = parts("12", "ada", "Ada");
    files.push(text("data/tweets.js", &array("tweets", &posts)));
    let archive = folder(&files);
    measure_parts(&archive.source());

    let world = World::new(Engine::Lite).await;
    let begun = Instant::now();
    let done = world.try_import(archive.source(), world.options()).await.unwrap();
    report("archive, check included", begun, done.taken["post"]);
    world.recount().await;
    let begun = Instant::now();
    world.try_import(archive.source(), world.options()).await.unwrap();
    report("the same again", begun, done.taken["post"]);
    let begun = Instant::now();
    let exported = world.lines().await;
    report("export, lines", begun, u64::try_from(exported.len()).unwrap());

    let copy = World::new(Engine::Lite).await;
    let (_folder, source) = lines("a.jsonl", &exported);
    let begun = Instant::now();
    let done = copy.try_import(source, copy.options()).await.unwrap();
    report("lines, check included", begun, done.taken["post"]);
    if std::env::var_os("LOCUM_TEST_POSTGRES").is_some() {
        let world = World::new(Engine::Postgres).await;
        let begun = Instant::now();
        let done = world.try_import(archive.source(), world.options()).await.unwrap();
        report("PostgreSQL, archive", begun, done.taken["post"]);
    }
}

/// What the reading thread does, piece by piece.
fn measure_parts(source: &ImportSource) {
    let ImportSource::Archive(path) = source else {
        return;
    };
    let archive = archive::Archive::open(path).unwrap();
    let begun = Instant::now();
    let posts: Vec<_> = archive
        .records(archive::ReadPosition::START)
        .filter_map(|item| match item.unwrap().1 {
            archive::ArchiveRecord::Post(post) => Some(post),
            _ => None,
        })
        .collect();
    let count = u64::try_from(posts.len()).unwrap();
    report("parsing alone", begun, count);
    let begun = Instant::now();
    let drafts: Vec<_> = posts.iter().map(|post| network::compose::PostTextDraft::parse(&post.text)).collect();
    report("entities alone", begun, count);
    let begun = Instant::now();
    let languages = drafts.iter().filter(|draft| draft.language() == "en").count();
    report("language alone", begun, count);
    let begun = Instant::now();
    let known = [("friend1".to_owned(), base::UserId::new(1))];
    let texts: usize = drafts.iter().map(|draft| draft.compose(&known, false, "und").entities.len()).sum();
    report("entities as JSON alone", begun, count);
    assert!(languages > 0 && texts > 0);
}

/// The data set of the benches, where `LOCUM_BENCH_LINES` names its folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn lines_of_the_benches() {
    let Some(folder) = std::env::var_os("LOCUM_BENCH_LINES").map(PathBuf::from) else {
        eprintln!("skipped: LOCUM_BENCH_LINES is not set");
        return;
    };
    let server = std::env::var_os("LOCUM_TEST_POSTGRES").map(|_| Engine::Postgres);
    for engine in std::iter::once(Engine::Lite).chain(server) {
        let world = World::at(engine, Clock::System).await;
        for (file, kind) in [("users", "user"), ("posts", "post"), ("follows", "follow")] {
            let source = ImportSource::JsonLines(folder.join(file).with_extension("jsonl"));
            let begun = Instant::now();
            let done = world.try_import(source, ImportOptions::default()).await;
            report(&format!("{engine:?}, {file}"), begun, done.unwrap().taken[kind]);
        }
    }
}
