//! Statements of the sequencer on PostgreSQL, which gives committed entries their numbers.
//!
//! The process that holds the lease in `event_sequencer` is the sequencer. Its statement fails to find the row once
//! another process has taken the lease, since that raises the token; the row's lock makes such statements follow each
//! other. Rows of open transactions are not visible to it, so it never waits for them.

use std::time::Duration;

/// Longer than the pauses of a busy machine, and short enough for followers to go on within five seconds after the
/// holder was killed.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// Entries numbered by one statement.
pub(crate) const BATCH_SIZE: i64 = 1_000;

macro_rules! database_ms {
    () => {
        "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    };
}

/// Takes the lease for the holder `$1` and `$2` ms if it has expired, or was this holder's before. Returns the last
/// number, the floor, ms until the lease expires, and the token if it was taken.
pub(crate) const ACQUIRE: &str = concat!(
    "WITH taken AS (UPDATE event_sequencer SET holder = $1, token = token + 1, until = ",
    database_ms!(),
    " + $2 WHERE until <= ",
    database_ms!(),
    " OR holder = $1 RETURNING token) \
     SELECT last_seq, floor_id, until - ",
    database_ms!(),
    ", (SELECT token FROM taken) FROM event_sequencer"
);

/// Lets another process take the lease with the token `$1` at once.
pub(crate) const RELEASE: &str = "UPDATE event_sequencer SET until = 0, holder = '' WHERE token = $1";

/// Numbers at most `$5` committed entries with ids above `$2` and renews the lease with the token `$1` for `$3` ms;
/// `$4` is the new floor. Returns the last number or null if the lease was lost, how many were numbered, and the
/// highest id among them.
pub(crate) const NUMBER_BATCH: &str = concat!(
    "WITH batch AS MATERIALIZED (SELECT id FROM pending_event WHERE id > $2 ORDER BY id LIMIT $5 \
     FOR UPDATE SKIP LOCKED), \
     lease AS (UPDATE event_sequencer SET until = ",
    database_ms!(),
    " + $3, last_seq = last_seq + (SELECT COUNT(*) FROM batch), floor_id = GREATEST(floor_id, $4) \
     WHERE token = $1 RETURNING last_seq), \
     moved AS (DELETE FROM pending_event WHERE id = ANY (ARRAY(SELECT id FROM batch)) \
     AND EXISTS (SELECT 1 FROM lease) RETURNING id, at, kind, actor_id, subject_id, body), \
     numbered AS (INSERT INTO event (seq, at, kind, actor_id, subject_id, body) \
     SELECT (SELECT last_seq FROM lease) - COUNT(*) OVER () + ROW_NUMBER() OVER (ORDER BY id), \
     at, kind, actor_id, subject_id, body FROM moved), \
     notice AS (SELECT pg_notify('locum_events', 'numbered') WHERE EXISTS (SELECT 1 FROM moved)) \
     SELECT (SELECT last_seq FROM lease), COUNT(*), MAX(id), (SELECT COUNT(*) FROM notice) FROM moved"
);
