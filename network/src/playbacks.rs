//! Playback of videos, as far as it is known from the bytes that were served: recorded in memory and stored in batches.
//! What is not stored yet is lost if the process is killed.

use std::collections::HashMap;
use std::fmt;

use base::refusal::ResourceRef;
use base::{Error, Fault, MediaId, Refusal, Time, UserId};
use parking_lot::Mutex;
use store::media::{self, Media};
use store::playbacks::{self, PART_COUNT, Playback, PlaybackCounts, PlaybackKey, STARTED};
use store::{Store, Tx};

use crate::analytics::AnalyticsWindow;

/// Playbacks that wait to be stored.
const MAX_WAITING: usize = 20_000;
/// Playbacks per transaction, so that it does not block other writers for long.
const BATCH_SIZE: usize = 500;

#[derive(Default)]
pub struct PlaybackRecorder {
    waiting: Mutex<WaitingPlaybacks>,
}

#[derive(Default)]
struct WaitingPlaybacks {
    playbacks: HashMap<PlaybackKey, Playback>,
    dropped: u64,
}

impl fmt::Debug for PlaybackRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaybackRecorder").field("waiting", &self.waiting.lock().playbacks.len()).finish()
    }
}

/// Bytes `first` to `end` (exclusive) of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedBytes {
    pub first: u64,
    pub end: u64,
    /// Of the whole file.
    pub length: u64,
}

impl ServedBytes {
    /// A part belongs to the response with its last byte, so that consecutive ranges of any size cover each part once.
    fn covered_parts(self) -> i64 {
        let last_byte = |part: u32| (u128::from(self.length) * u128::from(part + 1)).div_ceil(PART_COUNT.into()) - 1;
        let bytes = u128::from(self.first)..u128::from(self.end);
        if self.length == 0 || bytes.is_empty() {
            return 0;
        }
        let covered = (0..PART_COUNT).filter(|part| bytes.contains(&last_byte(*part)));
        let started = if self.first == 0 { STARTED } else { 0 };
        covered.fold(started, |parts, part| parts | 1 << part)
    }
}

impl PlaybackRecorder {
    /// Records what a viewer was sent of a film. Dropped while too many wait.
    pub fn record(&self, key: PlaybackKey, duration_ms: i64, served: ServedBytes) {
        let parts = served.covered_parts();
        if parts == 0 {
            return;
        }
        let mut waiting = self.waiting.lock();
        let has_room = waiting.playbacks.len() < MAX_WAITING;
        if let Some(playback) = waiting.playbacks.get_mut(&key) {
            playback.parts |= parts;
        } else if has_room {
            waiting.playbacks.insert(key, Playback { parts, duration_ms });
        } else {
            waiting.dropped = waiting.dropped.saturating_add(1);
        }
    }

    /// How many were not counted.
    pub fn dropped_count(&self) -> u64 {
        self.waiting.lock().dropped
    }

    /// Stores what was recorded so far; on failure it stays in memory.
    pub async fn flush(&self, store: &Store) -> Result<(), Error> {
        let mut pending: Vec<_> = std::mem::take(&mut self.waiting.lock().playbacks).into_iter().collect();
        pending.sort_unstable_by_key(|(key, _)| *key);
        while !pending.is_empty() {
            let batch: Vec<_> = pending.iter().take(BATCH_SIZE).copied().collect();
            let work = move |tx: &mut Tx<'_>| {
                for (key, playback) in &batch {
                    playbacks::record_playback(tx, *key, *playback)?;
                }
                Ok(())
            };
            if let Err(error) = store.write(work).await {
                self.put_back(pending);
                return Err(error);
            }
            pending.drain(..pending.len().min(BATCH_SIZE));
        }
        Ok(())
    }

    fn put_back(&self, pending: Vec<(PlaybackKey, Playback)>) {
        let mut waiting = self.waiting.lock();
        for (key, playback) in pending {
            let has_room = waiting.playbacks.len() < MAX_WAITING;
            if let Some(newer) = waiting.playbacks.get_mut(&key) {
                newer.parts |= playback.parts;
            } else if has_room {
                waiting.playbacks.insert(key, playback);
            } else {
                waiting.dropped = waiting.dropped.saturating_add(1);
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct MediaAnalytics {
    pub media_key: String,
    pub total: PlaybackCounts,
    /// One per bucket between the upload and now, with its start, oldest first.
    pub buckets: Vec<(Time, PlaybackCounts)>,
}

/// Analytics in the order of the keys, and a refusal for each key that is not of the user's media.
pub fn load_media_analytics(
    tx: &mut Tx<'_>,
    user: UserId,
    keys: &[String],
    window: &AnalyticsWindow,
) -> Result<(Vec<MediaAnalytics>, Vec<Refusal>), Fault> {
    let ids: Vec<i64> = keys.iter().filter_map(|key| key.split_once('_')?.1.parse().ok()).collect();
    let found = media::find_by_ids(tx, &ids)?;
    let (mut counted, mut refused): (Vec<MediaAnalytics>, Vec<Refusal>) = Default::default();
    for key in keys {
        let subject = ResourceRef::new("media", "media_keys", key);
        let known = found.iter().find(|media| media.media_key == *key && media.kind != "subtitles");
        let refusal = match known {
            Some(media) if media.owner_id == user => {
                if !counted.iter().any(|one| one.media_key == *key) {
                    counted.push(count_playbacks(tx, media, window)?);
                }
                continue;
            }
            // Media that no post uses are private to their owner.
            Some(media) if media.uses.is_none_or(|uses| uses > 0) => Refusal::NotVisible(subject),
            _ => Refusal::NotFound(subject),
        };
        if !refused.contains(&refusal) {
            refused.push(refusal);
        }
    }
    Ok((counted, refused))
}

fn count_playbacks(tx: &mut Tx<'_>, media: &Media, window: &AnalyticsWindow) -> Result<MediaAnalytics, Fault> {
    let (first, mut buckets) = window.buckets::<PlaybackCounts>(media.created_at, tx.now());
    let mut total = PlaybackCounts::default();
    for (counts, hour) in playbacks::hourly_counts(tx, media.id, window.hours())? {
        total.add(counts, 1);
        // An hour may begin before the upload.
        let position = usize::try_from((window.bucket_of_hour(hour) - first).max(0)).unwrap_or(usize::MAX);
        if let Some((_, bucket)) = buckets.get_mut(position) {
            bucket.add(counts, 1);
        }
    }
    Ok(MediaAnalytics { media_key: media.media_key.clone(), total, buckets })
}

/// The identity of a playback that begins now.
pub fn playback_key(media: MediaId, viewer_id: i64, now: Time) -> PlaybackKey {
    PlaybackKey { hour: store::views::hour_number(now), media_id: media, viewer_id }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: i64 = STARTED - 1;

    fn parts(first: u64, end: u64, length: u64) -> i64 {
        ServedBytes { first, end, length }.covered_parts()
    }

    #[test]
    fn consecutive_ranges_cover_each_part_once() {
        for length in [60, 61, 100, 4_099, 1_000_003] {
            for size in [1, 7, 64, 1_000, 65_536] {
                let mut covered = 0;
                let mut first = 0;
                while first < length {
                    let end = (first + size).min(length);
                    let more = parts(first, end, length);
                    assert_eq!(covered & more, 0, "{length} {size} {first}");
                    covered |= more;
                    first = end;
                }
                assert_eq!(covered, ALL | STARTED, "{length} {size}");
            }
        }
    }

    #[test]
    fn part_is_covered_by_its_last_byte() {
        assert_eq!(parts(0, 0, 600), 0);
        assert_eq!(parts(0, 9, 600), STARTED);
        assert_eq!(parts(0, 10, 600), STARTED | 1);
        assert_eq!(parts(0, 150, 600).count_ones(), 15 + 1);
        assert_eq!(parts(590, 600, 600), 1 << 59);
        assert_eq!(parts(0, 600, 600), ALL | STARTED);
        assert_eq!(parts(0, 5, 5), ALL | STARTED);
        assert_eq!(parts(0, 1, 0), 0);
    }

    #[test]
    fn playbacks_over_the_bound_are_dropped() {
        let recorder = PlaybackRecorder::default();
        let served = ServedBytes { first: 0, end: 10, length: 600 };
        for viewer in 0..=i64::try_from(MAX_WAITING).unwrap() {
            recorder.record(playback_key(MediaId::new(1), viewer, Time::from_ms(0)), 1_000, served);
        }
        let waiting = recorder.waiting.lock().playbacks.len();
        assert_eq!((waiting, recorder.dropped_count()), (MAX_WAITING, 1));
    }
}
