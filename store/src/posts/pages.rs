//! Pages of posts: by author, by mentioned user, and the newest of all.

use base::{Fault, PostId, UserId};

use super::Post;
use crate::Tx;
use crate::counters::PENDING_OF_POSTS;
use crate::db::{DeclaredRow, SqlValue, row, select, sql};
use crate::edges::{directional_query, edge_page_query, query_page};
use crate::media::Media;

/// A keyset page: ids strictly between two bounds.
#[derive(Clone, Copy, Debug)]
pub struct PageRange {
    /// Exclusive.
    pub above: i64,
    /// Exclusive.
    pub below: i64,
    /// Take the oldest rows of the range, for pages towards newer ids. Results are newest first in any case.
    pub ascending: bool,
    pub limit: i64,
    pub without_replies: bool,
    pub without_reposts: bool,
}

impl PageRange {
    pub const fn newest(limit: i64) -> Self {
        Self { above: 0, below: i64::MAX, ascending: false, limit, without_replies: false, without_reposts: false }
    }
}

/// An author's live posts, newest first.
pub fn page_by_author(tx: &mut Tx<'_>, author: UserId, range: &PageRange) -> Result<Vec<Post>, Fault> {
    let sql = directional_query!(
        select!(
            Post,
            "WHERE author_id = $1 AND state = 0 AND nullcast = 0 AND ($2 = 0 OR in_reply_to_user_id IS NULL) \
         AND ($3 = 0 OR repost_of_id IS NULL) AND id > $4 AND id < $5 ORDER BY id"
        ),
        " LIMIT $6"
    );
    query_page(tx, &[author.into(), range.without_replies.into(), range.without_reposts.into()], range, sql)
}

/// The author's live post that `number - 1` newer ones precede.
pub fn find_nth_by_author(tx: &mut Tx<'_>, author: UserId, number: i64) -> Result<Option<PostId>, Fault> {
    let sql = "SELECT id FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
               ORDER BY id DESC LIMIT 1 OFFSET $2";
    tx.query_row(sql, &[author.into(), (number - 1).into()])
}

/// The post that mentions a user and that `number - 1` newer ones precede, deleted ones included.
pub fn find_nth_mentioning(tx: &mut Tx<'_>, user: UserId, number: i64) -> Result<Option<PostId>, Fault> {
    let sql = "SELECT post_id FROM mention WHERE user_id = $1 ORDER BY post_id DESC LIMIT 1 OFFSET $2";
    tx.query_row(sql, &[user.into(), (number - 1).into()])
}

/// A user's own live posts below an id, newest first: either the nullcast ones or all others; `replies` includes
/// replies and posts that begin with a mention.
pub fn list_own_posts(
    tx: &mut Tx<'_>,
    (user, nullcast, replies): (UserId, bool, bool),
    below: i64,
    limit: i64,
) -> Result<Vec<Post>, Fault> {
    macro_rules! own_posts_sql {
        ($nullcast:literal) => {
            select!(
                Post,
                "WHERE author_id = $1 AND state = 0 AND nullcast = ",
                $nullcast,
                " AND id < $2 AND ($3 = 1 OR (in_reply_to_user_id IS NULL \
                 AND text NOT LIKE '@%')) ORDER BY id DESC LIMIT $4"
            )
        };
    }
    let sql = if nullcast { own_posts_sql!("1") } else { own_posts_sql!("0") };
    let args = [user.into(), below.into(), replies.into(), limit.into()];
    tx.query_rows(sql, &args)
}

/// Newest first.
pub fn page_mentioning(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<Post>, Fault> {
    let sql = directional_query!(
        sql!(
            "SELECT ",
            Post::COLUMNS,
            " FROM mention JOIN post ON id = post_id",
            PENDING_OF_POSTS,
            "WHERE user_id = $1 AND state = 0 AND nullcast = 0 AND ($2 = 0 \
         OR in_reply_to_user_id IS NULL) AND ($3 = 0 OR repost_of_id IS NULL) AND post_id > $4 AND post_id < $5 \
         ORDER BY post_id"
        ),
        " LIMIT $6"
    );
    query_page(tx, &[user.into(), range.without_replies.into(), range.without_reposts.into()], range, sql)
}

/// Live replies to a post.
pub fn page_replies(tx: &mut Tx<'_>, post: PostId, range: &PageRange) -> Result<Vec<Post>, Fault> {
    let sql = edge_page_query!(select!(Post, "WHERE in_reply_to_post_id = $1 AND state = 0 AND nullcast = 0"));
    query_page(tx, &[post.into()], range, sql)
}

/// Live posts of a community.
pub fn page_by_community(tx: &mut Tx<'_>, community: i64, range: &PageRange) -> Result<Vec<Post>, Fault> {
    let sql = edge_page_query!(select!(Post, "WHERE community_id = $1 AND state = 0 AND nullcast = 0"));
    query_page(tx, &[community.into()], range, sql)
}

/// Ids and authors of everyone's newest live posts above an id, newest first.
pub fn list_recent(tx: &mut Tx<'_>, above: PostId, limit: i64) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT id, author_id FROM post WHERE state = 0 AND nullcast = 0 AND id > $1 ORDER BY id DESC LIMIT $2";
    tx.query_rows(sql, &[above.into(), limit.into()])
}

/// As [`list_ids_by_author`], with posts that are only promoted.
pub fn list_searchable_ids_by_author(
    tx: &mut Tx<'_>,
    author: UserId,
    below: i64,
    limit: i64,
) -> Result<Vec<PostId>, Fault> {
    // Each half has an index of its own.
    let sql = "SELECT id FROM (SELECT id FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 AND id < $2 \
               ORDER BY id DESC LIMIT $3) AS p UNION ALL SELECT id FROM (SELECT id FROM post WHERE author_id = $1 \
               AND state = 0 AND nullcast = 1 AND id < $2 ORDER BY id DESC LIMIT $3) AS n ORDER BY id DESC LIMIT $3";
    tx.query_rows(sql, &[author.into(), below.into(), limit.into()])
}

/// Live posts below an id, newest first.
pub fn list_ids_by_author(tx: &mut Tx<'_>, author: UserId, below: i64, limit: i64) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT id FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
               AND id < $2 ORDER BY id DESC LIMIT $3";
    tx.query_rows(sql, &[author.into(), below.into(), limit.into()])
}

/// Of authors with exclusive upper bounds, each one's newest live posts between `above` and the bound, at most
/// `limit`, in any order: the author and the post.
pub fn list_ids_by_authors(
    tx: &mut Tx<'_>,
    authors: &[(UserId, i64)],
    above: i64,
    limit: i64,
) -> Result<Vec<(UserId, PostId)>, Fault> {
    if tx.is_postgres() {
        let sql = "SELECT author.id, listed.id FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) \
                   AS author (id, below) CROSS JOIN LATERAL (SELECT id FROM post WHERE author_id = author.id \
                   AND state = 0 AND nullcast = 0 AND id > $3 AND id < author.below ORDER BY id DESC LIMIT $4) AS listed";
        let users: Vec<i64> = authors.iter().map(|author| author.0.get()).collect();
        let bounds: Vec<i64> = authors.iter().map(|author| author.1).collect();
        let args = [SqlValue::Keys(&users), SqlValue::Keys(&bounds), above.into(), limit.into()];
        return tx.query_rows(sql, &args);
    }
    let sql = "SELECT author_id, id FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
               AND id > $2 AND id < $3 ORDER BY id DESC LIMIT $4";
    let mut all = Vec::new();
    for (author, below) in authors {
        let args = [(*author).into(), above.into(), (*below).into(), limit.into()];
        all.append(&mut tx.query_rows(sql, &args)?);
    }
    Ok(all)
}

/// The number of an author's live posts with a video from an id on.
pub fn count_videos_since(tx: &mut Tx<'_>, author: UserId, from: i64) -> Result<i64, Fault> {
    // Media keys of videos begin with 7 or 13.
    let sql = "SELECT COUNT(*) FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
               AND id >= $2 AND (',' || media_keys LIKE '%,7_%' OR ',' || media_keys LIKE '%,13_%')";
    tx.query_number(sql, &[author.into(), from.into()])
}

/// An author's first ten posts with a media object, also earlier versions of edited ones. Looks at the author's first 1,000
/// live posts after its upload, and at as many nullcast ones.
pub fn list_posts_with_media(tx: &mut Tx<'_>, author: UserId, media: &Media) -> Result<Vec<PostId>, Fault> {
    let sql = "WITH listed AS (SELECT id, media_keys, edit_root_id FROM post WHERE author_id = $1 AND state = 0 \
               AND nullcast = 0 AND id > $2 ORDER BY id LIMIT 1000) SELECT id FROM listed WHERE ',' || media_keys || ',' \
               LIKE $3 UNION ALL SELECT id FROM (SELECT id, media_keys FROM post WHERE author_id = $1 AND state = 0 \
               AND nullcast = 1 AND id > $2 ORDER BY id LIMIT 1000) promoted WHERE ',' || media_keys || ',' LIKE $3 \
               UNION ALL SELECT p.id FROM listed JOIN post p ON p.edit_root_id = listed.edit_root_id WHERE p.state = 1 \
               AND ',' || p.media_keys || ',' LIKE $3 LIMIT 10";
    let pattern = format!("%,{},%", media.media_key);
    tx.query_rows(sql, &[author.into(), media.id.into(), pattern.as_str().into()])
}

/// Live posts of everyone, oldest first, with ids above `above` up to `last`.
pub fn list_live_between(tx: &mut Tx<'_>, above: i64, last: i64, limit: i64) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT id FROM post WHERE id > $1 AND id <= $2 AND state = 0 ORDER BY id LIMIT $3";
    tx.query_rows(sql, &[above.into(), last.into(), limit.into()])
}

row! {
    /// A post's text, for counting terms.
    #[derive(Clone, Debug)]
    pub struct PostText from "post" {
        pub id: i64,
        pub author_id: i64,
        pub text: String,
        pub lang: String,
    }
}

/// Texts of live posts that are neither reposts nor nullcast, in no particular order.
pub fn find_texts(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<PostText>, Fault> {
    let sql = select!(PostText, "WHERE id = $1 AND state = 0 AND nullcast = 0 AND repost_of_id IS NULL");
    tx.query_by_keys(sql, ids, &[])
}
