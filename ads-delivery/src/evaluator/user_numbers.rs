//! Small numbers for users, so that sets of users are bitmaps.

use std::collections::HashMap;

/// User numbers in order of first use, valid for the lifetime of the process.
#[derive(Debug, Default)]
pub(super) struct UserNumbers {
    ids: Vec<i64>,
    numbers: HashMap<i64, u32>,
}

impl UserNumbers {
    /// Returns a user's number, assigning one if needed.
    pub(super) fn assign_number(&mut self, id: i64) -> u32 {
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.ids.push(id);
        }
        number
    }

    pub(super) fn find_number(&self, id: i64) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    pub(super) fn user_id(&self, number: u32) -> Option<i64> {
        self.ids.get(usize::try_from(number).ok()?).copied()
    }
}
