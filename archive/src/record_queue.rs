//! Hands out the records of one element with the position behind each.

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

    /// Takes the records of the element at `at`, leaving out the parts that were given before;
    /// the last one points to `next`.
    pub(crate) fn push_element(&mut self, records: Vec<ArchiveRecord>, at: ReadPosition, next: ReadPosition) {
        let count = records.len();
        for (part, record) in records.into_iter().enumerate().skip(at.part) {
            let behind = match part + 1 {
                part if part < count => ReadPosition { part, ..at },
                _ => next,
            };
            self.ready.push_back((behind, record));
        }
    }
}
