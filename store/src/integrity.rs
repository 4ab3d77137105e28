//! Integrity checks: counters compared with their rows, and rows that must not exist.

use base::Fault;

use crate::Tx;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterMismatch {
    /// Table and column, or the violated rule.
    pub counter: &'static str,
    pub id: i64,
    pub stored: i64,
    pub counted: i64,
}

/// Counts all rows in one pass, grouped by owner. The changes of a [shared counter](crate::counters) are added.
macro_rules! counter {
    ($table:literal . $column:literal = rows of $rows:literal by $owner:literal $(with changes $changes:literal)?) => {
        (
            concat!($table, ".", $column),
            concat!(
                "SELECT id, stored, counted FROM (SELECT o.id, o.",
                $column,
                $(" + COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM count_delta WHERE target_id = o.id AND counter = ",
                $changes,
                "), 0)",)?
                " AS stored, COALESCE(c.counted, 0) AS counted FROM ",
                $table,
                " o LEFT JOIN (SELECT ",
                $owner,
                " AS owner, COUNT(*) AS counted FROM ",
                $rows,
                " GROUP BY ",
                $owner,
                ") c ON c.owner = o.id) compared WHERE stored <> counted ORDER BY id LIMIT 1000"
            ),
        )
    };
}

const COUNTERS: &[(&str, &str)] = &[
    counter!("users"."followers_count" = rows of "follow" by "target_id" with changes 1),
    counter!("users"."verified_followers_count" = rows of
        "follow f JOIN users s ON s.id = f.source_id WHERE s.verified = 1" by "f.target_id" with changes 2),
    counter!("users"."following_count" = rows of "follow" by "source_id"),
    counter!("users"."post_count" = rows of "post WHERE state = 0" by "author_id"),
    counter!("users"."media_count" = rows of
        "post WHERE state = 0 AND media_keys <> ''" by "author_id"),
    counter!("users"."like_count" = rows of "post_like" by "user_id"),
    counter!("users"."listed_count" = rows of
        "list_member m JOIN list l ON l.id = m.list_id WHERE l.deleted_at IS NULL AND l.private = 0"
        by "m.user_id" with changes 3),
    counter!("post"."like_count" = rows of
        "post_like WHERE post_id NOT IN (SELECT post_id FROM post_removal)" by "post_id" with changes 4),
    counter!("post"."reply_count" = rows of
        "post WHERE in_reply_to_post_id IS NOT NULL AND state = 0" by "in_reply_to_post_id" with changes 5),
    counter!("post"."quote_count" = rows of
        "post WHERE quoted_post_id IS NOT NULL AND state = 0" by "quoted_post_id" with changes 7),
    counter!("post"."repost_count" = rows of
        "post WHERE repost_of_id IS NOT NULL AND state = 0 AND nullcast = 0 \
         AND repost_of_id NOT IN (SELECT post_id FROM post_removal)" by "repost_of_id" with changes 6),
    counter!("post"."bookmark_count" = rows of
        "bookmark WHERE post_id NOT IN (SELECT post_id FROM post_removal)" by "post_id" with changes 8),
    counter!("community"."member_count" = rows of "community_member" by "community_id"),
    (
        "poll_option.votes",
        "SELECT o.poll_id, o.votes, COALESCE(c.counted, 0) FROM poll_option o LEFT JOIN (SELECT poll_id, choice, \
         COUNT(*) AS counted FROM poll_vote GROUP BY poll_id, choice) c ON c.poll_id = o.poll_id \
         AND c.choice = o.choice WHERE o.votes <> COALESCE(c.counted, 0) ORDER BY o.poll_id LIMIT 1000",
    ),
    counter!("list"."member_count" = rows of "list_member" by "list_id"),
    counter!("list"."follower_count" = rows of "list_follow" by "list_id" with changes 9),
    counter!("space"."participant_count" = rows of "space_part WHERE role = 3" by "space_id"),
    counter!("space"."subscriber_count" = rows of "space_part WHERE role = 4" by "space_id"),
    counter!("dm_event"."copies" = rows of "dm_inbox" by "event_id"),
    counter!("media"."message_uses" = rows of
        "dm_event WHERE media_id IS NOT NULL" by "media_id"),
    (
        // Members whose copy of the list's privacy is wrong.
        "list_member.private",
        "SELECT l.id, COUNT(*), CAST(0 AS BIGINT) FROM list l JOIN list_member m \
         ON m.list_id = l.id WHERE m.private <> l.private GROUP BY l.id ORDER BY l.id LIMIT 1000",
    ),
    (
        "list_follow.private",
        "SELECT l.id, COUNT(*), CAST(0 AS BIGINT) FROM list l JOIN list_follow f \
         ON f.list_id = l.id WHERE l.private = 1 GROUP BY l.id ORDER BY l.id LIMIT 1000",
    ),
];

/// Rows that violate a rule, counted by user.
const FORBIDDEN_ROWS: &[(&str, &str)] = &[
    (
        "follow of oneself",
        "SELECT source_id, COUNT(*) FROM follow WHERE source_id = target_id GROUP BY source_id \
         ORDER BY source_id LIMIT 1000",
    ),
    (
        "follow of a user whom one blocks",
        "SELECT f.source_id, COUNT(*) FROM block b JOIN follow f ON f.source_id = b.source_id \
         AND f.target_id = b.target_id GROUP BY f.source_id ORDER BY f.source_id LIMIT 1000",
    ),
    (
        "follow of a user who blocks one",
        "SELECT f.source_id, COUNT(*) FROM block b JOIN follow f ON f.source_id = b.target_id \
         AND f.target_id = b.source_id GROUP BY f.source_id ORDER BY f.source_id LIMIT 1000",
    ),
    (
        "follow request to a user who is not protected",
        "SELECT r.source_id, COUNT(*) FROM follow_request r JOIN users u ON u.id = r.target_id \
         WHERE u.protected = 0 GROUP BY r.source_id ORDER BY r.source_id LIMIT 1000",
    ),
    (
        "follow request to a user whom one follows",
        "SELECT r.source_id, COUNT(*) FROM follow_request r JOIN follow f ON f.source_id = r.source_id \
         AND f.target_id = r.target_id GROUP BY r.source_id ORDER BY r.source_id LIMIT 1000",
    ),
    (
        "follow request between users of whom one blocks the other",
        "SELECT r.source_id, COUNT(*) FROM follow_request r WHERE EXISTS (SELECT 1 FROM block b \
         WHERE b.source_id = r.source_id AND b.target_id = r.target_id) OR EXISTS (SELECT 1 \
         FROM block b WHERE b.source_id = r.target_id AND b.target_id = r.source_id) \
         GROUP BY r.source_id ORDER BY r.source_id LIMIT 1000",
    ),
    (
        "block, mute or request of oneself",
        "SELECT id, CAST(SUM(n) AS BIGINT) FROM (SELECT source_id AS id, COUNT(*) AS n FROM block \
         WHERE source_id = target_id GROUP BY source_id UNION ALL SELECT source_id, COUNT(*) FROM mute \
         WHERE source_id = target_id GROUP BY source_id UNION ALL SELECT source_id, COUNT(*) FROM dm_block \
         WHERE source_id = target_id GROUP BY source_id UNION ALL SELECT source_id, COUNT(*) FROM follow_request \
         WHERE source_id = target_id GROUP BY source_id) selves GROUP BY id ORDER BY id LIMIT 1000",
    ),
    (
        "affiliate without a badge",
        "SELECT a.user_id, COUNT(*) FROM affiliate a LEFT JOIN users u ON u.id = a.user_id \
         WHERE COALESCE(u.affiliation, '') = '' GROUP BY a.user_id ORDER BY a.user_id LIMIT 1000",
    ),
];

/// Rows that should not exist, counted by the row they refer to.
macro_rules! orphans {
    ($what:literal: $id:literal of $rows:literal) => {
        ($what, concat!("SELECT ", $id, ", COUNT(*) FROM ", $rows, " GROUP BY ", $id, " ORDER BY ", $id, " LIMIT 1000"))
    };
}

/// Rows whose parent is missing. Imports may contain reposts with a text but without the original.
const ORPHANED_ROWS: &[(&str, &str)] = &[
    orphans!("bookmark_filing without its bookmark": "f.post_id" of
        "bookmark_filing f LEFT JOIN bookmark b ON b.user_id = f.user_id AND b.post_id = f.post_id WHERE b.id IS NULL"),
    orphans!("bookmark_filing in another's folder": "f.post_id" of
        "bookmark_filing f LEFT JOIN bookmark_folder d ON d.id = f.folder_id \
         WHERE d.id IS NULL OR d.user_id <> f.user_id"),
    orphans!("repost of a deleted post": "r.id" of
        "post r JOIN post o ON o.id = r.repost_of_id WHERE r.state = 0 AND o.state = 2 AND r.text = '' \
         AND o.id NOT IN (SELECT post_id FROM post_removal)"),
    orphans!("bookmark of a deleted post": "b.post_id" of
        "bookmark b JOIN post p ON p.id = b.post_id WHERE p.state = 2 \
         AND p.id NOT IN (SELECT post_id FROM post_removal)"),
    orphans!("message copy without its message": "i.event_id" of
        "dm_inbox i LEFT JOIN dm_event e ON e.id = i.event_id WHERE e.id IS NULL \
         OR e.conversation_id <> i.conversation_id OR e.kind <> i.kind"),
    orphans!("message copy of someone outside its conversation": "i.event_id" of
        "dm_inbox i LEFT JOIN dm_participant p ON p.conversation_id = i.conversation_id \
         AND p.user_id = i.user_id WHERE p.user_id IS NULL"),
    orphans!("message that nobody has": "e.id" of "dm_event e WHERE e.copies <= 0"),
    orphans!("stranger in a conversation of two": "p.conversation_id" of
        "dm_participant p LEFT JOIN dm_conversation c ON c.id = p.conversation_id WHERE c.id IS NULL \
         OR (c.lower_id > 0 AND p.user_id <> c.lower_id AND p.user_id <> c.higher_id)"),
    orphans!("account subscription without its webhook": "s.webhook_id" of
        "account_subscription s LEFT JOIN webhook w ON w.id = s.webhook_id AND w.deleted_at IS NULL \
         WHERE s.webhook_id > 0 AND w.id IS NULL"),
    orphans!("activity subscription without its webhook": "s.webhook_id" of
        "activity_subscription s LEFT JOIN webhook w ON w.id = s.webhook_id AND w.deleted_at IS NULL \
         WHERE s.webhook_id > 0 AND w.id IS NULL"),
    orphans!("stream link without its webhook": "s.webhook_id" of
        "stream_link s LEFT JOIN webhook w ON w.id = s.webhook_id AND w.deleted_at IS NULL \
         WHERE s.webhook_id > 0 AND w.id IS NULL"),
    orphans!("like of a deleted post": "l.post_id" of
        "post_like l JOIN post p ON p.id = l.post_id WHERE p.state = 2 \
         AND p.id NOT IN (SELECT post_id FROM post_removal)"),
];

/// At most a thousand mismatches per check.
pub fn find_mismatches(tx: &mut Tx<'_>) -> Result<Vec<CounterMismatch>, Fault> {
    let mut all = Vec::new();
    for (counter, sql) in COUNTERS {
        let rows: Vec<(i64, i64, i64)> = tx.query_rows(sql, &[])?;
        all.extend(rows.into_iter().map(|(id, stored, counted)| CounterMismatch { counter, id, stored, counted }));
    }
    for (counter, sql) in FORBIDDEN_ROWS.iter().chain(ORPHANED_ROWS) {
        let rows: Vec<(i64, i64)> = tx.query_rows(sql, &[])?;
        all.extend(rows.into_iter().map(|(id, stored)| CounterMismatch { counter, id, stored, counted: 0 }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::COUNTERS;
    use crate::counters::SHARED_COUNTERS;

    #[test]
    fn changes_of_shared_counters_are_added() {
        // Impressions have no rows to be counted from.
        for (table, column, number) in SHARED_COUNTERS.iter().filter(|(_, column, _)| *column != "impression_count") {
            let checked = COUNTERS.iter().find(|(counter, _)| *counter == format!("{table}.{column}"));
            let (_, sql) = checked.unwrap();
            assert!(sql.contains(&format!("AND counter = {number})")), "{sql}");
        }
    }
}
