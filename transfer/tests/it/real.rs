//! Real posts, when they have been fetched (`scripts/fetch-test-data`).

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::PathBuf;

use crate::sample::lines;
use crate::world::{World, on_each_engine};

/// The bodies of all recorded answers, one a line.
fn bodies(folder: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let bytes = fs::read(&path).unwrap();
        let mut text = String::new();
        if path.extension().is_some_and(|ending| ending == "gz") {
            flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        } else {
            text = String::from_utf8(bytes).unwrap();
        }
        let cassette: serde_json::Value = serde_json::from_str(&text).unwrap();
        for exchange in cassette["http_interactions"].as_array().unwrap() {
            let body = exchange["response"]["body"]["string"].as_str().unwrap_or_default();
            match serde_json::from_str::<serde_json::Value>(body) {
                Ok(serde_json::Value::Array(items)) => {
                    all.extend(items.iter().map(ToString::to_string));
                }
                Ok(value @ serde_json::Value::Object(_)) => all.push(value.to_string()),
                _ => {}
            }
        }
    }
    all
}

#[test]
fn recorded_posts_are_imported() {
    let Ok(folder) = std::env::var("LOCUM_RTWEET_DIR") else {
        eprintln!("skipped: LOCUM_RTWEET_DIR is not set (scripts/fetch-test-data prints it)");
        return;
    };
    let bodies = bodies(&folder);
    on_each_engine(async |engine| {
        let world = World::new(engine).await;
        let (_folder, source) = lines("rtweet.jsonl", &bodies);
        let report = world.import(source.clone()).await;
        let shown = serde_json::to_string_pretty(&report.to_json()).unwrap();
        eprintln!("{shown}");
        let exported = world.lines().await;
        let kinds = |kind: &str| {
            let sign = format!("{{\"kind\":\"{kind}\"");
            exported.iter().filter(|line| line.starts_with(&sign)).count()
        };
        let (posts, users) = (kinds("post"), kinds("user"));
        eprintln!("{posts} posts, {users} users, {} media in the store", kinds("media"));
        assert_eq!(u64::try_from(posts).unwrap(), report.taken["post"]);
        assert!(posts > 1_900 && users > 1_300);
        world.import(source).await;
        assert_eq!(world.lines().await, exported);

        let copy = World::new(engine).await;
        let (_folder, source) = lines("again.jsonl", &exported);
        copy.import(source).await;
        let back: BTreeSet<String> = copy.lines().await.into_iter().collect();
        let lost: Vec<_> = exported.iter().filter(|line| !back.contains(*line)).collect();
        assert!(lost.is_empty(), "{} lines differ, the first: {:#?}", lost.len(), lost.first());
        assert_eq!(back.len(), exported.len());
    });
}
