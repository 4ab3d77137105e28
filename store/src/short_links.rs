//! What short links in posts lead to, and clicks on them outside promotion.

use base::{Fault, PostId, Time};

use crate::Tx;
use crate::db::insert_new;
use crate::views::{self, PostHourCounts};

const DAY_MS: i64 = 24 * views::HOUR_MS;

/// The entities of a post whose links work (JSON, or empty): neither it nor its author is deleted, suspended or withheld.
pub fn find_entities(tx: &mut Tx<'_>, post: PostId) -> Result<Option<String>, Fault> {
    let sql = "SELECT p.entities FROM post p JOIN users u ON u.id = p.author_id \
               WHERE p.id = $1 AND p.state IN (0, 1) AND p.withheld = '' AND u.state IN (0, 3)";
    tx.query_row(sql, &[post.into()])
}

/// The entities of a message that a participant still has (JSON, or empty).
pub fn find_message_entities(tx: &mut Tx<'_>, message: i64) -> Result<Option<String>, Fault> {
    tx.query_row("SELECT entities FROM dm_event WHERE id = $1 AND copies > 0", &[message.into()])
}

/// Counts a click; returns whether it is the viewer's first on this day (UTC).
pub fn record_click(tx: &mut Tx<'_>, post: PostId, viewer: i64, at: Time) -> Result<bool, Fault> {
    let day = at.ms().div_euclid(DAY_MS);
    if !insert_new!(tx, "link_click", post_id = post, viewer_id = viewer, day = day)? {
        return Ok(false);
    }
    let counts = PostHourCounts { link_clicks: 1, ..PostHourCounts::default() };
    views::add_counts(tx, post, views::hour_number(at), counts)?;
    Ok(true)
}

/// Deletes who clicked before the day of `at`; returns how many rows.
pub fn prune_clicks(tx: &mut Tx<'_>, at: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "SELECT post_id, viewer_id, day FROM link_click WHERE day < $1 LIMIT $2";
    let old: Vec<(i64, i64, i64)> = tx.query_rows(sql, &[at.ms().div_euclid(DAY_MS).into(), limit.into()])?;
    let mut gone = 0;
    for (post, viewer, day) in old {
        let sql = "DELETE FROM link_click WHERE post_id = $1 AND viewer_id = $2 AND day = $3";
        gone += tx.execute(sql, &[post.into(), viewer.into(), day.into()])?;
    }
    Ok(gone)
}
