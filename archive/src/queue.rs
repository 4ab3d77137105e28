//! Hands out the records of one element with the position behind each.

use crate::{Position, Record};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Queue {
    ready: VecDeque<(Position, Record)>,
}

impl Queue {
    pub(crate) fn next(&mut self) -> Option<(Position, Record)> {
        self.ready.pop_front()
    }

    /// Takes the records of the element at `at`, leaving out the parts that were given before;
    /// the last one points to `next`.
    pub(crate) fn fill(&mut self, records: Vec<Record>, at: Position, next: Position) {
        let count = records.len();
        for (part, record) in records.into_iter().enumerate().skip(at.part) {
            let behind = match part + 1 {
                part if part < count => Position { part, ..at },
                _ => next,
            };
            self.ready.push_back((behind, record));
        }
    }
}
