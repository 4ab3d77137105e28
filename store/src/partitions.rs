//! Partitions by time of the tables that grow fastest, on PostgreSQL: expired rows are dropped with their partition.
//! SQLite has none of them.
//!
//! Partitions are created ahead of time; rows for which there is none go to the default partition. A range of which the
//! default partition has rows gets no partition any more. Rows of the default partition, and those that are in a
//! partition with much newer ones, are deleted one by one.

mod events;
#[cfg(test)]
mod tests;

use base::{Fault, Time};

use crate::Tx;
use crate::views::hour_number;

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Partitions that exist before their first row, besides that of now.
const PARTITIONS_AHEAD: i64 = 2;
/// A reader that takes long must not make all others wait behind a change of partitions.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '100ms'";

/// What [`drop_next_expired`] drops.
#[derive(Clone, Copy, Debug)]
pub struct PartitionExpiry {
    pub events_before: Time,
    pub deliveries_before: Time,
    /// Days since 1970.
    pub reads_before: i64,
    /// Hours since 1970; of views and playbacks.
    pub views_before: i64,
}

struct TimePartitions {
    table: &'static str,
    column: &'static str,
    /// In the column's unit: a day, or an hour.
    width: i64,
}

const DELIVERIES: TimePartitions = TimePartitions { table: "delivery", column: "at", width: DAY_MS };
const ATTEMPTS: TimePartitions = TimePartitions { table: "delivery_attempt", column: "at", width: DAY_MS };
const READS: TimePartitions = TimePartitions { table: "post_read", column: "day", width: 1 };
const VIEWS: TimePartitions = TimePartitions { table: "post_view", column: "hour", width: 1 };
const PLAYBACKS: TimePartitions = TimePartitions { table: "playback", column: "hour", width: 1 };

/// The first bound is missing from the default partition and, since it has no lower bound, from the first one.
const LIST_SQL: &str = "SELECT name, CAST(substring(bound FROM 'FROM \\(''?(-?[0-9]+)') AS BIGINT), \
    CAST(substring(bound FROM 'TO \\(''?(-?[0-9]+)') AS BIGINT) AS upper FROM (SELECT CAST(relname AS TEXT) AS name, \
    pg_get_expr(relpartbound, pg_class.oid) AS bound FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid \
    WHERE inhparent = to_regclass($1)) AS partitions WHERE bound <> 'DEFAULT' ORDER BY upper";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Partition {
    name: String,
    /// Inclusive; none for the first partition.
    lower: Option<i64>,
    /// Exclusive.
    upper: i64,
}

/// Creates the next partitions of the coming days or hours, of one table, so that no lock is held longer than for that;
/// returns how many. Times are those of the platform's clock and, of reads, the machine's.
pub fn create_next_coming(tx: &mut Tx<'_>, wall: Time) -> Result<u64, Fault> {
    if !tx.is_postgres() || !try_lock_maintenance(tx)? {
        return Ok(0);
    }
    let (now, today, hour) = (tx.now().ms(), wall.ms().div_euclid(DAY_MS), hour_number(tx.now()));
    let mut created = events::create_coming(tx)?;
    let tables = [(&DELIVERIES, now), (&ATTEMPTS, now), (&READS, today), (&VIEWS, hour), (&PLAYBACKS, hour)];
    for (partitions, now) in tables {
        if created == 0 {
            created = partitions.create_coming(tx, now)?;
        }
    }
    Ok(created)
}

/// Drops the next partition with nothing in it but expired rows; returns how many. A row that another rule keeps keeps
/// its partition.
pub fn drop_next_expired(tx: &mut Tx<'_>, expiry: PartitionExpiry) -> Result<u64, Fault> {
    if !tx.is_postgres() || !try_lock_maintenance(tx)? {
        return Ok(0);
    }
    let deliveries_before = expiry.deliveries_before.ms();
    let dropped = events::drop_next_expired(tx, expiry.events_before)?
        || drop_first(tx, DELIVERIES.table, deliveries_before, Some(waiting_deliveries))?
        || drop_first(tx, ATTEMPTS.table, deliveries_before, None)?
        || drop_first(tx, READS.table, expiry.reads_before, None)?
        || drop_first(tx, VIEWS.table, expiry.views_before, None)?
        || drop_first(tx, PLAYBACKS.table, expiry.views_before, None)?;
    Ok(u64::from(dropped))
}

/// Finds those of a partition that are still sent.
fn waiting_deliveries(partition: &str) -> String {
    format!("SELECT 1 FROM {partition} JOIN webhook ON webhook.id = webhook_id WHERE state = 0 AND valid = 1 LIMIT 1")
}

impl TimePartitions {
    fn create_coming(&self, tx: &mut Tx<'_>, now: i64) -> Result<u64, Fault> {
        let partitions = list_partitions(tx, self.table)?;
        let mut created = 0;
        for (from, to) in missing_ranges(&partitions, now, self.width) {
            created += u64::from(create_partition(tx, self.table, self.column, from, to)?);
        }
        Ok(created)
    }
}

/// Before which time events, deliveries and attempts are deleted one by one if those before `before` have expired: on
/// PostgreSQL a day earlier, so that this does not anticipate the dropping of a partition.
pub fn deletion_limit(tx: &Tx<'_>, before: Time) -> Time {
    if tx.is_postgres() { before.plus_ms(-DAY_MS) } else { before }
}

/// Whether no other process creates or drops partitions until the end of the transaction. The tables are not partitioned
/// while the migration waits for older programs to end.
fn try_lock_maintenance(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 WHERE to_regclass('delivery_default') IS NOT NULL AND pg_try_advisory_xact_lock(7314)";
    tx.row_exists(sql, &[])
}

/// In order, without the default partition.
fn list_partitions(tx: &mut Tx<'_>, table: &str) -> Result<Vec<Partition>, Fault> {
    let rows: Vec<(String, Option<i64>, i64)> = tx.query_rows(LIST_SQL, &[table.into()])?;
    Ok(rows.into_iter().map(|(name, lower, upper)| Partition { name, lower, upper }).collect())
}

/// The current range and the coming ones as far as they overlap no partition.
fn missing_ranges(partitions: &[Partition], now: i64, width: i64) -> Vec<(i64, i64)> {
    let current = now.div_euclid(width).max(0);
    let ranges = (current..=current + PARTITIONS_AHEAD).map(|number| (number * width, (number + 1) * width));
    let is_missing = |(from, to): &(i64, i64)| {
        let overlaps = |one: &Partition| one.upper > *from && one.lower.is_none_or(|first| first < *to);
        !partitions.iter().any(overlaps)
    };
    ranges.filter(is_missing).collect()
}

/// Returns false if the default partition has rows of the range, which stay there.
fn create_partition(tx: &mut Tx<'_>, table: &str, column: &str, from: i64, to: i64) -> Result<bool, Fault> {
    let found = format!("SELECT 1 FROM {table}_default WHERE {column} >= $1 AND {column} < $2 LIMIT 1");
    if tx.row_exists(&found, &[from.into(), to.into()])? {
        return Ok(false);
    }
    tx.execute(LOCK_TIMEOUT, &[])?;
    // To create it as a partition would lock out readers and writers of the whole table.
    tx.execute(&format!("CREATE TABLE {table}_{from} (LIKE {table} INCLUDING ALL)"), &[])?;
    tx.execute(
        &format!("ALTER TABLE {table} ATTACH PARTITION {table}_{from} FOR VALUES FROM ({from}) TO ({to})"),
        &[],
    )?;
    Ok(true)
}

/// Drops the first partition that ends at `limit` or before and of which a query finds no row to be kept.
fn drop_first(tx: &mut Tx<'_>, table: &str, limit: i64, kept_rows: Option<fn(&str) -> String>) -> Result<bool, Fault> {
    for partition in list_partitions(tx, table)?.iter().take_while(|one| one.upper <= limit) {
        let kept_rows = kept_rows.map(|query| query(&partition.name));
        if drop_partition(tx, table, &partition.name, kept_rows.as_deref())? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn drop_partition(tx: &mut Tx<'_>, table: &str, name: &str, kept_rows: Option<&str>) -> Result<bool, Fault> {
    let has_kept_rows = |tx: &mut Tx<'_>| kept_rows.map_or(Ok(false), |query| tx.row_exists(query, &[]));
    // Most often enough, and without a lock.
    if has_kept_rows(tx)? {
        return Ok(false);
    }
    tx.execute(LOCK_TIMEOUT, &[])?;
    tx.execute(&format!("LOCK TABLE ONLY {table} IN ACCESS EXCLUSIVE MODE"), &[])?;
    if has_kept_rows(tx)? {
        return Ok(false);
    }
    tx.execute(&format!("DROP TABLE {name}"), &[])?;
    Ok(true)
}
