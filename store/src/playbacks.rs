//! Which parts of a video viewers got in an hour.
//!
//! A film has [`PART_COUNT`] equal parts, each of which counts once per viewer and hour.

use base::{Fault, MediaId};

use crate::Tx;
use crate::db::{row, select};

/// Divisible by four.
pub const PART_COUNT: u32 = 60;
/// In a mask of parts: the film was begun.
pub const STARTED: i64 = 1 << PART_COUNT;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaybackKey {
    /// Since 1970.
    pub hour: i64,
    pub media_id: MediaId,
    /// A user, or a negative number for an anonymous viewer.
    pub viewer_id: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playback {
    /// A bit per part, and [`STARTED`].
    pub parts: i64,
    /// Of the whole film.
    pub duration_ms: i64,
}

row! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PlaybackCounts from "media_hour" {
        pub starts: i64,
        pub quarters: i64,
        pub halves: i64,
        pub three_quarters: i64,
        pub completions: i64,
        /// At least two seconds, or all of a shorter film.
        pub views: i64,
        pub watch_time_ms: i64,
    }
}

const VIEW_MS: i64 = 2_000;

impl PlaybackCounts {
    /// Of one viewer in one hour.
    fn from_parts(playback: Playback) -> Self {
        let count = (playback.parts & (STARTED - 1)).count_ones();
        let watch_time_ms = playback.duration_ms.saturating_mul(count.into()) / i64::from(PART_COUNT);
        let reached = |quarters: u32| i64::from(count >= PART_COUNT / 4 * quarters);
        Self {
            starts: i64::from(playback.parts & STARTED != 0),
            quarters: reached(1),
            halves: reached(2),
            three_quarters: reached(3),
            completions: reached(4),
            views: i64::from(watch_time_ms >= VIEW_MS || count == PART_COUNT),
            watch_time_ms,
        }
    }

    pub const fn add(&mut self, other: Self, sign: i64) {
        self.starts += other.starts * sign;
        self.quarters += other.quarters * sign;
        self.halves += other.halves * sign;
        self.three_quarters += other.three_quarters * sign;
        self.completions += other.completions * sign;
        self.views += other.views * sign;
        self.watch_time_ms += other.watch_time_ms * sign;
    }
}

/// Adds the parts to those the viewer got in that hour, and what is new to the sums. To be called in the order of the
/// keys, so that concurrent transactions do not deadlock.
pub fn record_playback(tx: &mut Tx<'_>, key: PlaybackKey, playback: Playback) -> Result<(), Fault> {
    let sql = "INSERT INTO playback (hour, media_id, viewer_id, parts, counted_parts) VALUES ($1, $2, $3, $4, 0) \
               ON CONFLICT (hour, media_id, viewer_id) DO UPDATE SET parts = playback.parts | excluded.parts \
               RETURNING parts, counted_parts";
    let PlaybackKey { hour, media_id, viewer_id } = key;
    let args = [hour.into(), media_id.into(), viewer_id.into(), playback.parts.into()];
    let Some((parts, counted)) = tx.query_row::<(i64, i64)>(sql, &args)? else { return Ok(()) };
    if parts == counted {
        return Ok(());
    }
    let sql = "UPDATE playback SET counted_parts = $1 WHERE hour = $2 AND media_id = $3 AND viewer_id = $4";
    tx.execute_later(sql, &[parts.into(), hour.into(), media_id.into(), viewer_id.into()])?;
    let mut more = PlaybackCounts::from_parts(Playback { parts, ..playback });
    more.add(PlaybackCounts::from_parts(Playback { parts: counted, ..playback }), -1);
    add_counts(tx, media_id, hour, more)
}

fn add_counts(tx: &mut Tx<'_>, media: MediaId, hour: i64, counts: PlaybackCounts) -> Result<(), Fault> {
    let sql = "INSERT INTO media_hour (media_id, hour, starts, quarters, halves, three_quarters, completions, views, \
               watch_time_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (media_id, hour) DO UPDATE \
               SET starts = media_hour.starts + excluded.starts, quarters = media_hour.quarters + excluded.quarters, \
               halves = media_hour.halves + excluded.halves, \
               three_quarters = media_hour.three_quarters + excluded.three_quarters, \
               completions = media_hour.completions + excluded.completions, \
               views = media_hour.views + excluded.views, \
               watch_time_ms = media_hour.watch_time_ms + excluded.watch_time_ms";
    let PlaybackCounts { starts, quarters, halves, three_quarters, completions, views, watch_time_ms } = counts;
    let counts = [starts, quarters, halves, three_quarters, completions, views, watch_time_ms];
    let mut args = vec![media.into(), hour.into()];
    args.extend(counts.map(crate::db::SqlValue::from));
    tx.execute_later(sql, &args)
}

/// Pairs of counts and hour (since 1970), from one hour to before another.
pub fn hourly_counts(
    tx: &mut Tx<'_>,
    media: MediaId,
    (from, to): (i64, i64),
) -> Result<Vec<(PlaybackCounts, i64)>, Fault> {
    let sql = select!(PlaybackCounts + "hour", "WHERE media_id = $1 AND hour >= $2 AND hour < $3 ORDER BY hour");
    tx.query_rows(sql, &[media.into(), from.into(), to.into()])
}

/// The sums of each media object that was played.
pub fn total_counts(tx: &mut Tx<'_>, media: &[i64]) -> Result<Vec<(PlaybackCounts, i64)>, Fault> {
    let sql = "SELECT CAST(SUM(starts) AS BIGINT), CAST(SUM(quarters) AS BIGINT), CAST(SUM(halves) AS BIGINT), \
               CAST(SUM(three_quarters) AS BIGINT), CAST(SUM(completions) AS BIGINT), CAST(SUM(views) AS BIGINT), \
               CAST(SUM(watch_time_ms) AS BIGINT), media_id FROM media_hour WHERE media_id = $1 GROUP BY media_id";
    tx.query_by_keys(sql, media, &[])
}

/// Deletes what is known of a media object.
pub(crate) fn delete_by_media(tx: &mut Tx<'_>, media: MediaId) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM media_hour WHERE media_id = $1", &[media.into()])
}

/// Deletes playbacks before an hour (since 1970), but not the sums; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM playback WHERE hour < $1 AND (hour, media_id, viewer_id) IN \
               (SELECT hour, media_id, viewer_id FROM playback WHERE hour < $1 ORDER BY hour LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}

#[cfg(test)]
mod tests;
