//! Imports that are killed in the middle.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use transfer::{ImportOptions, ImportSource, TransferError, TransferProgress, TransferStage, import};

use crate::sample::{Files, ada, array, at, folder, post, text};
use crate::world::{Engine, START, World, each_engine};

/// Ada's archive with more of everything.
fn many() -> Files {
    let mut files = ada();
    let more: Vec<String> = (0..300)
        .rev()
        .map(|number| {
            let parent = at(1_000 + number - 1 - number % 7);
            let reply = format!(r#""in_reply_to_status_id_str":"{parent}","in_reply_to_user_id_str":"{}","in_reply_to_screen_name":"friend{}","favorite_count":"{number}""#, 100 + number % 9, number % 9);
            let words = format!("@friend{} number {number} #tag", number % 9);
            post(at(1_000 + number), &words, if number % 3 == 0 { "" } else { &reply })
        })
        .collect();
    files.retain(|(name, _)| name != "data/manifest.js");
    files.push(text("data/tweets-part1.js", &array("tweets", &more)));
    files
}

/// Imports and drops the import as soon as so many chunks are stored.
async fn kill(world: &World, source: ImportSource, options: ImportOptions, chunks: usize) -> bool {
    let left = AtomicUsize::new(chunks);
    let mut count = |progress: TransferProgress| {
        if progress.stage == TransferStage::Storing {
            let so_far = left.load(Relaxed);
            left.store(so_far.saturating_sub(1), Relaxed);
        }
    };
    let mut running = pin!(import(&world.store, source, options, &mut count));
    std::future::poll_fn(|context| {
        if left.load(Relaxed) == 0 {
            return Poll::Ready(true);
        }
        running.as_mut().poll(context).map(|done| {
            done.unwrap();
            false
        })
    })
    .await
}

/// Ids that were made here differ from one import to the other.
fn without_own_ids(lines: Vec<String>) -> Vec<String> {
    let own = base::id::first_snowflake_at(START.plus_ms(-1));
    let mut plain: Vec<String> = lines
        .into_iter()
        .map(|line| {
            let parts = line.split('"');
            let parts = parts.map(|part| match part.parse::<i64>() {
                Ok(id) if id > own => "OWN",
                _ => part,
            });
            parts.collect::<Vec<_>>().join("\"")
        })
        .collect();
    plain.sort();
    plain
}

#[each_engine]
async fn a_killed_import_ends_like_one_that_was_not(engine: Engine) {
    let archive = folder(&many());
    let world = World::new(engine).await;
    let options = || ImportOptions { messages: false, batch: 25, media_dir: None, owner: None };
    let whole = world.try_import(archive.source(), options()).await.unwrap();
    let wanted = without_own_ids(world.lines().await);
    for chunks in [2, 3, 5, 9, 13] {
        let mut world = World::new(engine).await;
        assert!(kill(&world, archive.source(), options(), chunks).await);
        world = world.restart().await;
        world.recount().await;
        let report = world.try_import(archive.source(), options()).await.unwrap();
        world.recount().await;
        assert_eq!(without_own_ids(world.lines().await), wanted, "{chunks}");
        assert!(report.resumed_from.is_some(), "{chunks}");
        assert_eq!(transfer::ImportReport { resumed_from: None, ..report }, whole, "{chunks}");
    }
}

#[each_engine]
async fn an_import_can_be_killed_again_and_again(engine: Engine) {
    let archive = folder(&many());
    let whole = World::new(engine).await;
    whole.import(archive.source()).await;
    let mut world = World::new(engine).await;
    let options = || ImportOptions { messages: false, batch: 15, media_dir: None, owner: None };
    let mut rounds = 0;
    while kill(&world, archive.source(), options(), 2).await {
        world = world.restart().await;
        rounds += 1;
    }
    assert!(rounds > 3, "{rounds}");
    world.recount().await;
    let (mut mine, mut theirs) = (world.lines().await, whole.lines().await);
    // Only the other one copied the film.
    for lines in [&mut mine, &mut theirs] {
        lines.retain(|line| !line.contains("high.mp4") && !line.contains("7_99"));
    }
    assert_eq!(without_own_ids(mine), without_own_ids(theirs));
}

#[each_engine]
async fn two_imports_of_one_source_do_not_mix(engine: Engine) {
    let world = World::new(engine).await;
    let archive = folder(&many());
    let options = || ImportOptions { messages: false, batch: 20, ..world.options() };
    let one = world.try_import(archive.source(), options());
    let other = world.try_import(archive.source(), options());
    let (one, other) = tokio::join!(one, other);
    for error in [one, other].into_iter().filter_map(Result::err) {
        assert!(matches!(error, TransferError::Busy), "{error:?}");
    }
    world.import(archive.source()).await;
}
