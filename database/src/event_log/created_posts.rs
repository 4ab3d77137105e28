//! Which posts were created or restored, in the order of the event log.

use base::{Fault, PostId, UserId};

use crate::Tx;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedPost {
    /// The number of the log entry; 0 while it has none.
    pub seq: i64,
    pub id: PostId,
    pub author: UserId,
}

/// The posts of log entries after a cursor, without nullcast ones, as one statement sees them.
#[derive(Clone, Debug, Default)]
pub struct CreatedPosts {
    /// In the order of the log.
    pub numbered: Vec<CreatedPost>,
    /// Of committed entries that have no number yet. Transactions that took longer than several seconds are not looked
    /// for.
    pub waiting: Vec<CreatedPost>,
    /// `numbered` has all posts up to this entry.
    pub through: i64,
    /// The newest entry that has a number.
    pub log_end: i64,
    /// Whether nothing is left out because of the limit.
    pub is_complete: bool,
}

/// The last row is the end of the log. Entries of nullcast posts say so.
const CREATED_POSTS: &str = "\
    SELECT seq, subject_id, actor_id FROM (SELECT seq, subject_id, actor_id FROM event \
    WHERE seq > $1 AND kind IN ('post.create', 'post.restore') AND body NOT LIKE '%\"nullcast\":true%' \
    ORDER BY seq LIMIT $2) numbered \
    UNION ALL SELECT 0, subject_id, actor_id FROM (SELECT subject_id, actor_id FROM pending_event \
    WHERE id > (SELECT floor_id FROM event_sequencer) AND kind IN ('post.create', 'post.restore') \
    AND body NOT LIKE '%\"nullcast\":true%' ORDER BY id LIMIT $2) waiting \
    UNION ALL SELECT COALESCE(MAX(seq), 0), 0, 0 FROM /*! (SELECT last_seq AS seq FROM event_sequencer) AS */ event";

/// At most `limit` numbered and as many waiting ones.
pub fn list_created_posts(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<CreatedPosts, Fault> {
    let rows: Vec<(i64, PostId, UserId)> = tx.query_rows(CREATED_POSTS, &[after.into(), limit.into()])?;
    let mut created = CreatedPosts::default();
    for (seq, id, author) in rows {
        match (seq, id.get()) {
            (end, 0) => created.log_end = end,
            (0, _) => created.waiting.push(CreatedPost { seq, id, author }),
            _ => created.numbered.push(CreatedPost { seq, id, author }),
        }
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let last = created.numbered.last().filter(|_| created.numbered.len() >= limit);
    created.is_complete = last.is_none() && created.waiting.len() < limit;
    created.through = last.map_or(created.log_end, |post| post.seq);
    Ok(created)
}
