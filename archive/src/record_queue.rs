//! Queues the records of an element with the position after each.

use crate::{ArchiveRecord, ReadPosition};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct RecordQueue {
    ready: VecDeque<(ReadPosition, ArchiveRecord)>,
}

impl RecordQueue {
    pub(crate) fn next(&mut self) -> Option<(ReadPosition, ArchiveRecord)> {
        self.ready.pop_front()
    }

    /// Adds the records of the element at `at`, except the parts that were returned before; the
    /// position of the last record is `next`.
    pub(crate) fn push_element(&mut self, records: Vec<ArchiveRecord>, at: ReadPosition, next: ReadPosition) {
        let count = records.len();
        for (part, record) in records.into_iter().enumerate().skip(at.part) {
            let after = match part + 1 {
                part if part < count => ReadPosition { part, ..at },
                _ => next,
            };
            self.ready.push_back((after, record));
        }
    }
}
