//! Community notes: writers, notes, ratings, and eligible posts.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::db::{insert_new, select, table};
use crate::edges::{directional_query, query_page, trim_page};
use crate::posts::PageRange;

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CommunityNote in "note" {
        pub id: i64,
        pub author_id: UserId,
        pub post_id: PostId,
        /// Whether it is in the test pool rather than the public one.
        pub test_mode: bool,
        pub text: String,
        /// `misinformed_or_potentially_misleading` or `not_misleading`.
        pub classification: String,
        /// Comma-separated, or empty.
        pub misleading_tags: String,
        pub trustworthy_sources: bool,
        /// Whether it is about the post's media.
        pub media_note: bool,
        /// The share of claims, as opposed to opinions, in thousandths.
        pub score: i64,
    }
    read_only {
        /// The number of users who found it helpful.
        pub helpful: i64,
        /// The number of users who did not.
        pub not_helpful: i64,
    }
}

pub fn is_note_writer(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM note_writer WHERE user_id = $1";
    tx.row_exists(sql, &[user.into()])
}

/// Returns false if nothing changed.
pub fn set_note_writer(tx: &mut Tx<'_>, user: UserId, is_writer: bool) -> Result<bool, Fault> {
    let rows = if is_writer {
        let sql = "INSERT INTO note_writer (user_id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.execute(sql, &[user.into(), tx.now().into()])?
    } else {
        tx.execute("DELETE FROM note_writer WHERE user_id = $1", &[user.into()])?
    };
    Ok(rows > 0)
}

/// Returns false if the author has a note on the post in the same pool.
pub fn insert(tx: &mut Tx<'_>, note: &CommunityNote) -> Result<bool, Fault> {
    insert_new!(tx, CommunityNote, note)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<CommunityNote>, Fault> {
    tx.query_row(select!(CommunityNote, "WHERE id = $1"), &[id.into()])
}

/// Also deletes its ratings.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM note_rating WHERE note_id = $1", &[id.into()])?;
    tx.execute_later("DELETE FROM note WHERE id = $1", &[id.into()])
}

/// A user's notes in a pool, newest first.
pub fn page_by_author(
    tx: &mut Tx<'_>,
    author: UserId,
    test_mode: bool,
    range: &PageRange,
) -> Result<Vec<CommunityNote>, Fault> {
    let sql = directional_query!(
        select!(CommunityNote, "WHERE author_id = $1 AND test_mode = $2 AND id > $3 AND id < $4 ORDER BY id"),
        " LIMIT $5"
    );
    query_page(tx, &[author.into(), test_mode.into()], range, sql)
}

/// Sets or replaces a user's rating and updates the counters.
pub fn insert_rating(tx: &mut Tx<'_>, id: i64, user: UserId, helpful: bool) -> Result<(), Fault> {
    let before = "SELECT helpful FROM note_rating WHERE note_id = $1 AND user_id = $2";
    let before = tx.query_row(before, &[id.into(), user.into()])?;
    if before == Some(helpful) {
        return Ok(());
    }
    let sql = "INSERT INTO note_rating (note_id, user_id, helpful, at) VALUES ($1, $2, $3, $4) ON CONFLICT (note_id, \
               user_id) DO UPDATE SET helpful = excluded.helpful, at = excluded.at";
    let now = tx.now();
    tx.execute_later(sql, &[id.into(), user.into(), helpful.into(), now.into()])?;
    let (mut more, mut fewer) = (i64::from(helpful), i64::from(!helpful));
    if before.is_some() {
        // The rating changes sides.
        (more, fewer) = (more - fewer, fewer - more);
    }
    let sql = "UPDATE note SET helpful = helpful + $1, not_helpful = not_helpful + $2 WHERE id = $3";
    tx.execute_later(sql, &[more.into(), fewer.into(), id.into()])
}

/// Returns false if the user has already requested one.
pub fn insert_request(tx: &mut Tx<'_>, post: PostId, user: UserId) -> Result<bool, Fault> {
    insert_new!(tx, "note_request", post_id = post, user_id = user, at = tx.now())
}

#[derive(Clone, Debug)]
pub struct NoteFeedQuery {
    pub writer: UserId,
    pub test_mode: bool,
    /// Empty for any language.
    pub lang: String,
    /// Only posts above this id, unless a note was requested.
    pub newest: i64,
    /// Only posts above this id.
    pub oldest: i64,
}

/// The id of the post with `depth` newer ones; 0 if there are fewer posts.
pub fn post_id_at_depth(tx: &mut Tx<'_>, depth: i64) -> Result<i64, Fault> {
    let sql = "SELECT id FROM post WHERE state = 0 AND nullcast = 0 ORDER BY id DESC LIMIT 1 OFFSET $1";
    tx.query_number(sql, &[depth.into()])
}

/// Public posts by others on which the writer has no note. Excludes withheld, limited, promoted, protected and
/// restricted posts.
macro_rules! fit {
    ($from:literal) => {
        directional_query!(
            concat!(
                "SELECT p.id FROM ",
                $from,
                " JOIN users u ON u.id = p.author_id WHERE p.id > $1 AND p.id < $2 AND p.state = 0 AND p.nullcast = 0 \
                 AND p.repost_of_id IS NULL AND p.limited = 0 AND u.limited = 0 AND p.withheld = '' \
                 AND p.members_only = 0 AND p.followers_only = 0 \
                 AND p.author_id <> $3 AND (p.lang = $4 OR $4 = '') AND u.state = 0 AND u.protected = 0 \
                 AND u.withheld = '' AND NOT EXISTS (SELECT 1 FROM note n WHERE n.post_id = p.id AND n.author_id = $3 \
                 AND n.test_mode = $5) ORDER BY p.id"
            ),
            " LIMIT $6"
        )
    };
}

/// Newest first.
pub fn eligible_posts(tx: &mut Tx<'_>, feed: &NoteFeedQuery, range: &PageRange) -> Result<Vec<PostId>, Fault> {
    let recent = fit!("post p");
    let requested = fit!(
        "(SELECT DISTINCT post_id FROM note_request WHERE post_id > $1 AND post_id < $2) r \
         JOIN post p ON p.id = r.post_id"
    );
    let mut found: Vec<PostId> = Vec::new();
    for (sql, above) in [(recent, feed.newest.max(feed.oldest)), (requested, feed.oldest)] {
        let args = [
            range.above.max(above).into(),
            range.below.into(),
            feed.writer.into(),
            (&feed.lang).into(),
            feed.test_mode.into(),
            range.limit.into(),
        ];
        found.extend(tx.query_rows::<PostId>(sql.select_direction(range), &args)?);
    }
    found.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    found.dedup();
    Ok(trim_page(found, range))
}
