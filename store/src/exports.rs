//! Reads all rows of a kind for exports, page by page in key order.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::db::{row, select};
use crate::imports::EdgeKind;

pub type IdPair = (i64, i64);

/// Source and target, and the edge's own id.
pub type EdgeWithId = (IdPair, i64);

/// In the order of source and target, after a pair.
pub fn list_edges(tx: &mut Tx<'_>, kind: EdgeKind, after: IdPair, limit: i64) -> Result<Vec<EdgeWithId>, Fault> {
    macro_rules! edges_sql {
        ($table:literal) => {
            concat!(
                "SELECT source_id, target_id, id FROM ",
                $table,
                " WHERE (source_id, target_id) > ($1, $2) ORDER BY source_id, target_id LIMIT $3"
            )
        };
    }
    let sql = match kind {
        EdgeKind::Follow => edges_sql!("follow"),
        EdgeKind::Block => edges_sql!("block"),
        EdgeKind::Mute => edges_sql!("mute"),
        EdgeKind::Request => edges_sql!("follow_request"),
        EdgeKind::DmBlock => edges_sql!("dm_block"),
    };
    tx.query_rows(sql, &[after.0.into(), after.1.into(), limit.into()])
}

row! {
    /// A like, with the post's text if the post is a placeholder.
    #[derive(Clone, Debug)]
    pub struct ExportedLike from "post_like l JOIN post p ON p.id = l.post_id" {
        pub user_id: UserId as "l.user_id",
        pub post_id: PostId as "l.post_id",
        /// Its high bits are the time of the like.
        pub id: i64 as "l.id",
        /// The placeholder's text, or empty.
        pub text: String as "CASE WHEN p.state = 3 THEN p.text ELSE '' END",
    }
}

/// In the order of user and post, after a pair.
pub fn list_likes(tx: &mut Tx<'_>, after: IdPair, limit: i64) -> Result<Vec<ExportedLike>, Fault> {
    let sql = select!(
        ExportedLike,
        "WHERE (l.user_id, l.post_id) > ($1, $2) AND p.state <> 2 ORDER BY l.user_id, l.post_id LIMIT $3"
    );
    tx.query_rows(sql, &[after.0.into(), after.1.into(), limit.into()])
}

row! {
    #[derive(Clone, Debug)]
    pub struct MentionedUser from "mention m JOIN users u ON u.id = m.user_id" {
        pub post_id: PostId as "m.post_id",
        pub user_id: UserId as "u.id",
        pub username: String as "u.username",
        pub name: String as "u.name",
    }
}

pub fn list_mentioned_users(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<MentionedUser>, Fault> {
    let sql = select!(MentionedUser, "WHERE m.post_id = $1 ORDER BY u.id");
    tx.query_by_keys(sql, posts, &[])
}

/// The links that open a private conversation, of those posts that have one.
pub fn message_links(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<(PostId, String)>, Fault> {
    let sql = "SELECT id, direct_message_deep_link FROM post WHERE id = $1 AND direct_message_deep_link <> ''";
    tx.query_by_keys(sql, posts, &[])
}
