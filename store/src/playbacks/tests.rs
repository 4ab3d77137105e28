use tempfile::TempDir;

use super::*;
use crate::Store;
use crate::test_stores::{locations, options};

/// The first `count` parts.
fn parts(count: u32) -> i64 {
    (1 << count) - 1
}

fn key(viewer_id: i64, hour: i64) -> PlaybackKey {
    PlaybackKey { hour, media_id: MediaId::new(7), viewer_id }
}

#[test]
fn parts_count_once_per_viewer_and_hour() {
    let folder = TempDir::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for location in locations(&folder) {
        let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
        let work = |tx: &mut Tx<'_>| {
            let mut record = |viewer, hour, parts| {
                record_playback(tx, key(viewer, hour), Playback { parts, duration_ms: 60_000 }).unwrap();
            };
            record(1, 10, STARTED | parts(1));
            record(1, 10, parts(31) & !parts(15));
            record(1, 10, parts(15));
            record(1, 10, parts(31));
            record(1, 11, parts(15));
            record(-2, 11, STARTED | parts(60));
            let hours = hourly_counts(tx, MediaId::new(7), (10, 12)).unwrap();
            let first = PlaybackCounts {
                starts: 1,
                quarters: 1,
                halves: 1,
                views: 1,
                watch_time_ms: 31_000,
                ..PlaybackCounts::default()
            };
            let second = PlaybackCounts {
                starts: 1,
                quarters: 2,
                halves: 1,
                three_quarters: 1,
                completions: 1,
                views: 2,
                watch_time_ms: 75_000,
            };
            assert_eq!(hours, [(first, 10), (second, 11)]);
            let mut both = first;
            both.add(second, 1);
            assert_eq!(total_counts(tx, &[7, 8]).unwrap(), [(both, 7)]);
            assert_eq!(prune(tx, 11, 9).unwrap(), 1);
            delete_by_media(tx, MediaId::new(7)).unwrap();
            assert_eq!(total_counts(tx, &[7]).unwrap(), []);
            Ok(())
        };
        runtime.block_on(store.write(work)).unwrap();
        store.close();
    }
}

#[test]
fn view_takes_two_seconds_or_all_of_a_shorter_film() {
    let views = |count, duration_ms| PlaybackCounts::from_parts(Playback { parts: parts(count), duration_ms }).views;
    assert_eq!([views(1, 60_000), views(2, 60_000), views(59, 1_000), views(60, 1_000)], [0, 1, 0, 1]);
    assert_eq!(views(0, 0), 0);
}
