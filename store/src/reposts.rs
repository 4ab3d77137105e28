//! Reposts and quotes.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::edges::{self, DirectionalQuery, Edge, directional_query, edge_page_query, query_page};
use crate::follows::UserEdge;
use crate::posts::{self, NewPostDetails, PageRange, Post};

/// Also updates the author's counters; returns false if the author has already reposted the post. The original's
/// counter is updated last, by [`add_to_post_count`], because its row is contended.
pub fn insert(tx: &mut Tx<'_>, repost: &Post) -> Result<bool, Fault> {
    let added = posts::insert_without_counts(tx, repost, &NewPostDetails::default())?;
    if added {
        posts::add_to_author_counts(tx, repost, 1)?;
    }
    Ok(added)
}

/// Returns false if the post has been deleted. The caller has [locked](crate::posts::lock_shared) it.
pub fn add_to_post_count(tx: &mut Tx<'_>, post: PostId, by: i64) -> Result<bool, Fault> {
    counters::add_unless_deleted(tx, SharedCounter::Reposts, post, by)
}

/// A user's live repost of a post; there may be a public and a nullcast one.
pub fn find_by_user(tx: &mut Tx<'_>, user: UserId, post: PostId, nullcast: bool) -> Result<Option<PostId>, Fault> {
    let sql = "SELECT id FROM post WHERE repost_of_id = $1 AND author_id = $2 AND nullcast = $3 AND state = 0";
    let args = [post.into(), user.into(), nullcast.into()];
    tx.query_row(sql, &args)
}

/// Those of some posts of which the user has a live public repost.
pub fn filter_reposted(tx: &mut Tx<'_>, user: UserId, posts: &[PostId]) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT repost_of_id FROM post WHERE repost_of_id = $1 AND author_id = $2 AND nullcast = 0 AND state = 0";
    tx.query_by_ids(sql, posts, &[user.into()])
}

/// The first 100 live nullcast reposts: at most one per advertiser.
pub fn list_nullcast(tx: &mut Tx<'_>, post: PostId) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT id FROM post WHERE repost_of_id = $1 AND state = 0 AND nullcast = 1 ORDER BY id LIMIT 100";
    tx.query_rows(sql, &[post.into()])
}

/// Latest first: the reposting user and the repost's id.
pub fn page_by_post(tx: &mut Tx<'_>, post: PostId, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT author_id, id FROM post WHERE repost_of_id = $1 AND state = 0 AND nullcast = 0");
    edges::typed_edge_page(tx, post, range, sql)
}

/// An author's posts that others have reposted, newest first; both values are the post's id.
pub fn page_reposted_of_author(tx: &mut Tx<'_>, author: UserId, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    /// A part of the author's posts, and its page in a direction.
    macro_rules! reposted_sql {
        ($part:literal, $direction:literal) => {
            concat!(
                "SELECT id FROM post WHERE author_id = $1 AND state = 0 AND ",
                $part,
                " AND (imported_repost_count > 0 OR EXISTS (SELECT 1 FROM post other WHERE other.repost_of_id = post.id \
                 AND other.state = 0 AND other.nullcast = 0 AND other.author_id <> post.author_id)) \
                 AND id > $2 AND id < $3 ORDER BY id ",
                $direction,
                " LIMIT $4"
            )
        };
    }
    // Each half is in order by itself: those whose reposts are counted, and those whose first one is pending.
    macro_rules! page_sql {
        ($direction:literal) => {
            concat!(
                "SELECT id, id FROM (/*! ( */ ",
                reposted_sql!("repost_count + imported_repost_count > 0", $direction),
                " /*! ) UNION (",
                reposted_sql!("id = ANY (ARRAY(SELECT target_id FROM count_delta WHERE counter = 6))", $direction),
                ") */) AS listed ORDER BY id ",
                $direction,
                " LIMIT $4"
            )
        };
    }
    let sql = DirectionalQuery { descending: page_sql!("DESC"), ascending: page_sql!("ASC") };
    edges::edge_page(tx, author, range, sql)
}

/// Newest first; both values are the quoting post's id.
pub fn page_quotes(tx: &mut Tx<'_>, post: PostId, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = directional_query!(
        "SELECT id, id FROM post WHERE quoted_post_id = $1 AND state = 0 AND nullcast = 0 AND ($2 = 0 \
         OR in_reply_to_user_id IS NULL) AND ($3 = 0 OR repost_of_id IS NULL) AND id > $4 AND id < $5 ORDER BY id",
        " LIMIT $6"
    );
    let args = [post.into(), range.without_replies.into(), range.without_reposts.into()];
    query_page(tx, &args, range, sql)
}
