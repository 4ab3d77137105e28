//! Finds the long note that belongs to a shortened post.

use crate::NoteTweet;
use std::collections::BTreeMap;

/// How many characters of a note its post repeats.
const REPEATED: usize = 200;
/// How far the times of a note and its post may lie apart, in ms.
const APART_MS: i64 = 1000;
/// How many bytes of notes are kept in memory; later ones are not joined.
const KEPT: usize = 256 << 20;

/// The notes of an archive by their time.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    by_ms: BTreeMap<i64, Vec<Kept>>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    start: String,
    note: NoteTweet,
}

impl Notes {
    /// `plain` is the note's text before its links were expanded.
    pub(crate) fn keep(&mut self, note: NoteTweet, plain: &str) {
        self.bytes = self.bytes.saturating_add(note.text.len());
        if self.bytes <= KEPT && !plain.is_empty() {
            let start = plain.chars().take(REPEATED).collect();
            let notes = self.by_ms.entry(note.created_at_ms).or_default();
            notes.push(Kept { start, note });
        }
    }

    /// The note that the post with this unescaped text shortens.
    pub(crate) fn of_post(&self, created_at_ms: i64, text: &str) -> Option<&NoteTweet> {
        if self.by_ms.is_empty() {
            return None;
        }
        let near = self
            .by_ms
            .range(created_at_ms - APART_MS + 1..created_at_ms + APART_MS);
        let mut notes = near.flat_map(|(_, notes)| notes);
        notes
            .find(|kept| text.contains(&kept.start))
            .map(|kept| &kept.note)
    }
}
