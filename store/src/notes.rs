//! Community notes: who may write them, what they say, how they are rated, what they may be
//! written on.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::edges::{directional_query, query_page, trim_page};
use crate::posts::PageRange;

/// A note as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommunityNote {
    /// Snowflake id.
    pub id: i64,
    /// Who wrote it.
    pub author_id: UserId,
    /// On which post.
    pub post_id: PostId,
    /// In the test pool rather than the public one.
    pub test_mode: bool,
    /// What it says.
    pub text: String,
    /// `misinformed_or_potentially_misleading` or `not_misleading`.
    pub classification: String,
    /// Why the post misleads; comma-separated, or empty.
    pub misleading_tags: String,
    /// Whether its sources are said to be trustworthy.
    pub trustworthy_sources: bool,
    /// Whether it is about the post's media.
    pub media_note: bool,
    /// How far its text is claims rather than opinions, in thousandths.
    pub score: i64,
    /// Who found it helpful.
    pub helpful: i64,
    /// Who did not.
    pub not_helpful: i64,
}

macro_rules! columns {
    ($after:expr) => {
        concat!(
            "SELECT id, author_id, post_id, test_mode, text, classification, misleading_tags, \
             trustworthy_sources, media_note, score, helpful, not_helpful FROM note ",
            $after
        )
    };
}

fn note_from_row(row: &SqlRow<'_, '_>) -> Result<CommunityNote, Fault> {
    Ok(CommunityNote {
        id: row.int(0)?,
        author_id: row.id(1)?,
        post_id: row.id(2)?,
        test_mode: row.bool(3)?,
        text: row.text(4)?,
        classification: row.text(5)?,
        misleading_tags: row.text(6)?,
        trustworthy_sources: row.bool(7)?,
        media_note: row.bool(8)?,
        score: row.int(9)?,
        helpful: row.int(10)?,
        not_helpful: row.int(11)?,
    })
}

/// Whether a user may write notes.
pub fn is_note_writer(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM note_writer WHERE user_id = $1";
    Ok(tx.query_row(sql, &[user.into()], |_| Ok(()))?.is_some())
}

/// Says whether a user may write notes; false when it was so already.
pub fn set_note_writer(tx: &mut Tx<'_>, user: UserId, may: bool) -> Result<bool, Fault> {
    let rows = if may {
        let sql = "INSERT INTO note_writer (user_id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.execute(sql, &[user.into(), tx.now().into()])?
    } else {
        tx.execute("DELETE FROM note_writer WHERE user_id = $1", &[user.into()])?
    };
    Ok(rows > 0)
}

/// Stores a note without ratings; false when its author has one on the post in its pool.
pub fn insert(tx: &mut Tx<'_>, note: &CommunityNote) -> Result<bool, Fault> {
    let sql = "INSERT INTO note (id, author_id, post_id, test_mode, text, classification, \
               misleading_tags, trustworthy_sources, media_note, score) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
    let args = [
        note.id.into(),
        note.author_id.into(),
        note.post_id.into(),
        note.test_mode.into(),
        (&note.text).into(),
        (&note.classification).into(),
        (&note.misleading_tags).into(),
        note.trustworthy_sources.into(),
        note.media_note.into(),
        note.score.into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// The note with an id.
pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<CommunityNote>, Fault> {
    tx.query_row(columns!("WHERE id = $1"), &[id.into()], note_from_row)
}

/// Removes a note and what it was rated.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.execute("DELETE FROM note_rating WHERE note_id = $1", &[id.into()])?;
    tx.execute("DELETE FROM note WHERE id = $1", &[id.into()]).map(|_| ())
}

/// A page of a user's notes in a pool, newest first.
pub fn page_by_author(
    tx: &mut Tx<'_>,
    author: UserId,
    test_mode: bool,
    span: &PageRange,
) -> Result<Vec<CommunityNote>, Fault> {
    let sql = directional_query!(
        columns!("WHERE author_id = $1 AND test_mode = $2 AND id > $3 AND id < $4 ORDER BY id"),
        " LIMIT $5"
    );
    query_page(tx, &[author.into(), test_mode.into()], span, sql, note_from_row)
}

/// Sets what a user thinks of a note, in the place of what they thought before; the counters
/// follow.
pub fn insert_rating(tx: &mut Tx<'_>, id: i64, user: UserId, helpful: bool) -> Result<(), Fault> {
    let before = "SELECT helpful FROM note_rating WHERE note_id = $1 AND user_id = $2";
    let before = tx.query_row(before, &[id.into(), user.into()], |row| row.bool(0))?;
    if before == Some(helpful) {
        return Ok(());
    }
    let sql = "INSERT INTO note_rating (note_id, user_id, helpful, at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (note_id, user_id) DO UPDATE SET helpful = excluded.helpful, \
               at = excluded.at";
    let now = tx.now();
    tx.execute(sql, &[id.into(), user.into(), helpful.into(), now.into()])?;
    let (mut more, mut fewer) = (i64::from(helpful), i64::from(!helpful));
    if before.is_some() {
        // It moves from one side to the other.
        (more, fewer) = (more - fewer, fewer - more);
    }
    let sql = "UPDATE note SET helpful = helpful + $1, not_helpful = not_helpful + $2 WHERE id = $3";
    tx.execute(sql, &[more.into(), fewer.into(), id.into()]).map(|_| ())
}

/// Asks for a note on a post; false when the user has done so already.
pub fn insert_request(tx: &mut Tx<'_>, post: PostId, user: UserId) -> Result<bool, Fault> {
    let sql = "INSERT INTO note_request (post_id, user_id, at) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    Ok(tx.execute(sql, &[post.into(), user.into(), tx.now().into()])? > 0)
}

/// What a writer may be shown to write on.
#[derive(Clone, Debug)]
pub struct NoteFeedQuery {
    /// Who is to write.
    pub writer: UserId,
    /// In which pool.
    pub test_mode: bool,
    /// The language of the posts; empty: any.
    pub lang: String,
    /// Only posts above this id, unless a note was asked for.
    pub newest: i64,
    /// Only posts above this id at all.
    pub oldest: i64,
}

/// The id of the post that has `depth` newer ones; 0 when there are not so many.
pub fn post_id_at_depth(tx: &mut Tx<'_>, depth: i64) -> Result<i64, Fault> {
    let sql = "SELECT id FROM post WHERE state = 0 AND nullcast = 0 ORDER BY id DESC \
               LIMIT 1 OFFSET $1";
    Ok(tx.query_row(sql, &[depth.into()], |row| row.int(0))?.unwrap_or(0))
}

/// Posts of a feed, everyone may see them: not the writer's own, and none that the writer has a
/// note on. What is withheld anywhere, promoted, protected or for some only is none.
macro_rules! fit {
    ($from:literal) => {
        directional_query!(
            concat!(
                "SELECT p.id FROM ",
                $from,
                " JOIN users u ON u.id = p.author_id WHERE p.id > $1 AND p.id < $2 \
                 AND p.state = 0 AND p.nullcast = 0 AND p.repost_of_id IS NULL \
                 AND p.withheld = '' AND p.members_only = 0 AND p.followers_only = 0 \
                 AND p.author_id <> $3 AND (p.lang = $4 OR $4 = '') AND u.state = 0 \
                 AND u.protected = 0 AND u.withheld = '' AND NOT EXISTS (SELECT 1 FROM note n \
                 WHERE n.post_id = p.id AND n.author_id = $3 AND n.test_mode = $5) ORDER BY p.id"
            ),
            " LIMIT $6"
        )
    };
}

/// A page of a feed, newest first.
pub fn eligible_posts(tx: &mut Tx<'_>, feed: &NoteFeedQuery, span: &PageRange) -> Result<Vec<PostId>, Fault> {
    let recent = fit!("post p");
    let asked = fit!(
        "(SELECT DISTINCT post_id FROM note_request WHERE post_id > $1 AND post_id < $2) r \
         JOIN post p ON p.id = r.post_id"
    );
    let mut found: Vec<PostId> = Vec::new();
    for (sql, above) in [(recent, feed.newest.max(feed.oldest)), (asked, feed.oldest)] {
        let args = [
            span.above.max(above).into(),
            span.below.into(),
            feed.writer.into(),
            (&feed.lang).into(),
            feed.test_mode.into(),
            span.limit.into(),
        ];
        found.extend(tx.query_rows(sql.select_direction(span), &args, |row| row.id(0))?);
    }
    found.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    found.dedup();
    Ok(trim_page(found, span))
}
