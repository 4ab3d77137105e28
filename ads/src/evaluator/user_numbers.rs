//! Small numbers for users, so that a set of them is a bitmap.

use std::collections::HashMap;

/// The numbers that users were given, in the order in which they were first met. They hold for as
/// long as the process does.
#[derive(Debug, Default)]
pub(super) struct UserNumbers {
    ids: Vec<i64>,
    numbers: HashMap<i64, u32>,
}

impl UserNumbers {
    /// A user's number, given now if there is none.
    pub(super) fn assign_number(&mut self, id: i64) -> u32 {
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.ids.push(id);
        }
        number
    }

    /// A user's number, if there is one.
    pub(super) fn find_number(&self, id: i64) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// Who has a number.
    pub(super) fn user_id(&self, number: u32) -> Option<i64> {
        self.ids.get(usize::try_from(number).ok()?).copied()
    }
}
