//! Orders of lists.

use std::collections::HashMap;
use std::hash::Hash;

/// Each item once, in ascending order.
pub fn sorted_distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// Sorts rows into the order of `keys`; rows with other keys come first.
pub fn order_by_keys<V, K: Copy + Eq + Hash>(rows: &mut [V], keys: &[K], key: impl Fn(&V) -> K) {
    let positions: HashMap<K, usize> = keys.iter().enumerate().rev().map(|(at, key)| (*key, at)).collect();
    rows.sort_by_key(|row| positions.get(&key(row)).copied());
}

#[cfg(test)]
mod tests {
    use super::order_by_keys;

    #[test]
    fn rows_come_in_the_order_of_the_first_occurrence_of_their_keys() {
        let mut rows = [(1, 'a'), (2, 'b'), (9, 'c'), (1, 'd'), (3, 'e')];
        order_by_keys(&mut rows, &[3, 1, 2, 3], |row| row.0);
        assert_eq!(rows.map(|row| row.1), ['c', 'e', 'a', 'd', 'b']);
    }
}
