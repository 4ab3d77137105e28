//! Finds the long note that belongs to a shortened post.

use crate::ArchivedNote;
use std::collections::BTreeMap;

/// The number of characters of a note that its post repeats.
const NOTE_PREFIX_CHARS: usize = 200;
/// The maximum difference between the times of a note and its post.
const MAX_TIME_DIFFERENCE_MS: i64 = 1000;
/// Bytes of notes in memory; later notes are not joined to their posts.
const MAX_NOTE_BYTES: usize = 256 << 20;

#[derive(Debug, Default)]
pub(crate) struct NoteIndex {
    by_ms: BTreeMap<i64, Vec<IndexedNote>>,
    bytes: usize,
}

#[derive(Debug)]
struct IndexedNote {
    start: String,
    note: ArchivedNote,
}

impl NoteIndex {
    /// `plain` is the note's text before its links were expanded.
    pub(crate) fn insert(&mut self, note: ArchivedNote, plain: &str) {
        self.bytes = self.bytes.saturating_add(note.text.len());
        if self.bytes <= MAX_NOTE_BYTES && !plain.is_empty() {
            let start = plain.chars().take(NOTE_PREFIX_CHARS).collect();
            let notes = self.by_ms.entry(note.created_at_ms).or_default();
            notes.push(IndexedNote { start, note });
        }
    }

    /// The note of a post, by the post's unescaped text.
    pub(crate) fn find_note(&self, created_at_ms: i64, text: &str) -> Option<&ArchivedNote> {
        if self.by_ms.is_empty() {
            return None;
        }
        let near = self.by_ms.range(created_at_ms - MAX_TIME_DIFFERENCE_MS + 1..created_at_ms + MAX_TIME_DIFFERENCE_MS);
        let mut notes = near.flat_map(|(_, notes)| notes);
        notes.find(|indexed| text.contains(&indexed.start)).map(|indexed| &indexed.note)
    }
}
