//! The last requests, with secrets masked, and what they caused.

mod assertion;
mod assertion_json;
mod assertion_parser;
mod curl;
mod entry;
mod entry_json;
mod entry_texts;
mod filter;
mod har;
mod journal_file;
mod json_path;
mod masking;
mod run_labels;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

pub use assertion::{AssertionOutcome, BodyCheck, CountCheck, RequestAssertion};
pub use assertion_json::read_assertion;
pub use assertion_parser::{AssertionSyntaxError, parse_assertion};
pub use curl::{CurlVariables, curl_command};
pub use entry::{JournalEntry, MAX_BODY_BYTES, ObservedBody, ObservedRequest, RecordedBody, StreamStart};
pub use entry_json::{entry_json, entry_summary_json};
pub use entry_texts::HeaderLines;
pub use filter::{RequestFilter, StatusFilter};
pub use har::har_document;
pub use journal_file::JournalFile;
pub use json_path::JsonPath;
pub use masking::{MASK, mask_form, mask_header, mask_json};
pub use run_labels::{LABEL_LEASE_MS, RUN_HEADER, RunLabels, is_valid_label};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalLimits {
    /// 0 turns the journal off.
    pub entries: usize,
    /// Of all entries together.
    pub bytes: usize,
    pub stores_bodies: bool,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { entries: 10_000, bytes: 64 * 1024 * 1024, stores_bodies: true }
    }
}

/// A ring: the oldest entries make room for new ones.
pub struct Journal {
    limits: JournalLimits,
    ring: RwLock<JournalRing>,
    /// The number of the newest entry, kept up to date only while somebody waits for entries.
    newest: watch::Sender<u64>,
    file: Option<Mutex<JournalFile>>,
    pub run_labels: RunLabels,
}

#[derive(Default)]
struct JournalRing {
    entries: VecDeque<Arc<JournalEntry>>,
    bytes: usize,
    last_seq: u64,
}

/// What a ring contains at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalUsage {
    pub entries: usize,
    pub bytes: usize,
    /// Since the server started.
    pub recorded: u64,
}

impl Default for Journal {
    fn default() -> Self {
        Self::new(JournalLimits::default(), None)
    }
}

impl Journal {
    pub fn new(limits: JournalLimits, file: Option<JournalFile>) -> Self {
        Self {
            limits,
            ring: RwLock::default(),
            newest: watch::Sender::new(0),
            file: file.map(Mutex::new),
            run_labels: RunLabels::default(),
        }
    }

    pub const fn is_enabled(&self) -> bool {
        self.limits.entries > 0
    }

    pub const fn limits(&self) -> JournalLimits {
        self.limits
    }

    /// Returns the entry's number.
    pub fn insert(&self, mut entry: JournalEntry) -> u64 {
        let size = entry.memory_size();
        let mut ring = self.ring.write();
        ring.last_seq = ring.last_seq.saturating_add(1);
        entry.seq = ring.last_seq;
        let (seq, entry) = (entry.seq, Arc::new(entry));
        ring.entries.push_back(Arc::clone(&entry));
        ring.bytes = ring.bytes.saturating_add(size);
        let removed = ring.shrink(self.limits);
        drop(ring);
        // Freed without the lock.
        drop(removed);
        if let Some(file) = &self.file {
            file.lock().append(&entry);
        }
        // Waking nobody costs a lock for each of the places where somebody could wait.
        if self.newest.receiver_count() > 0 {
            self.newest.send_replace(seq);
        }
        seq
    }

    /// Changes with each entry.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    pub fn usage(&self) -> JournalUsage {
        let ring = self.ring.read();
        JournalUsage { entries: ring.entries.len(), bytes: ring.bytes, recorded: ring.last_seq }
    }

    /// Returns how many there were.
    pub fn clear(&self) -> usize {
        let mut ring = self.ring.write();
        ring.bytes = 0;
        let removed = std::mem::take(&mut ring.entries);
        drop(ring);
        removed.len()
    }

    /// By the request's id: the newest, since clients may repeat theirs.
    pub fn find(&self, id: &str) -> Option<Arc<JournalEntry>> {
        let ring = self.ring.read();
        ring.entries.iter().rev().find(|entry| entry.id() == id).cloned()
    }

    /// Newest first, older than `before`.
    pub fn list_before(&self, filter: &RequestFilter, before: Option<u64>, limit: usize) -> Vec<Arc<JournalEntry>> {
        let ring = self.ring.read();
        let before = before.unwrap_or(u64::MAX);
        let entries = ring.entries.iter().rev().filter(|entry| entry.seq < before && filter.matches(entry));
        entries.take(limit).cloned().collect()
    }

    /// Oldest first, newer than `after`.
    pub fn list_after(&self, filter: &RequestFilter, after: u64, limit: usize) -> Vec<Arc<JournalEntry>> {
        let ring = self.ring.read();
        let known = ring.entries.partition_point(|entry| entry.seq <= after);
        let entries = ring.entries.range(known..).filter(|entry| filter.matches(entry));
        entries.take(limit).cloned().collect()
    }
}

impl JournalRing {
    /// The newest entry stays.
    fn shrink(&mut self, limits: JournalLimits) -> Vec<Arc<JournalEntry>> {
        let mut removed = Vec::new();
        while self.entries.len() > limits.entries.max(1) || self.bytes > limits.bytes && self.entries.len() > 1 {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(oldest.memory_size());
            removed.push(oldest);
        }
        removed
    }
}

#[cfg(test)]
mod tests;
