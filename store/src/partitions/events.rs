//! Partitions of the event log, by the number, of which nobody knows in advance when it is reached.

use base::{Fault, Time};

use super::{DAY_MS, create_partition, drop_partition, list_partitions};
use crate::{Tx, event_log};

const TABLE: &str = "event";
/// A partition has this many numbers, or a multiple of it for networks with more events a day.
const MIN_WIDTH: i64 = 1_000_000;
/// How far beyond the last number a partition begins if that number has none.
const DEFAULT_MARGIN: i64 = 100_000;

/// So that two of the widest partitions are free.
pub(super) fn create_coming(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    let last_seq = event_log::end_cursor(tx)?;
    let (upper, newest_width) = match list_partitions(tx, TABLE)?.last() {
        Some(newest) => (newest.upper, newest.lower.map_or(MIN_WIDTH, |lower| newest.upper - lower)),
        None => (0, MIN_WIDTH),
    };
    if upper - last_seq >= 2 * newest_width {
        return Ok(0);
    }
    let day_ago = tx.now().plus_ms(-DAY_MS);
    let width = width_for(last_seq - event_log::cursor_before(tx, day_ago)?);
    let mut from = if last_seq < upper { upper } else { last_seq + DEFAULT_MARGIN };
    let mut created = 0;
    while from < last_seq + 2 * width {
        created += u64::from(create_partition(tx, TABLE, "seq", from, from + width)?);
        from += width;
    }
    Ok(created)
}

/// For a number of events a day.
const fn width_for(daily: i64) -> i64 {
    let millions = (daily + MIN_WIDTH - 1) / MIN_WIDTH;
    if millions > 1 { millions * MIN_WIDTH } else { MIN_WIDTH }
}

/// Nothing is added to a partition whose numbers are used up. The one with the newest entry stays, and those that a
/// consumer has not read.
pub(super) fn drop_next_expired(tx: &mut Tx<'_>, before: Time) -> Result<bool, Fault> {
    let newest = tx.query_number("SELECT MAX(seq) FROM event", &[])?;
    let limit = newest.min(event_log::min_cursor(tx)?.saturating_add(1));
    let before = before.ms();
    for partition in list_partitions(tx, TABLE)?.iter().take_while(|one| one.upper <= limit) {
        let name = &partition.name;
        // From the newest entry, so that one is read unless most have expired.
        let kept = format!("SELECT 1 FROM {name} WHERE at >= {before} ORDER BY seq DESC LIMIT 1");
        if !tx.row_exists(&kept, &[])? {
            return drop_partition(tx, TABLE, name, None);
        }
    }
    Ok(false)
}
