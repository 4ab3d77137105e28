//! Posts: texts, conversations and counters.

use base::{AppId, Fault, PostId, Time, UserId};

use crate::Tx;
use crate::counters::PENDING_OF_POSTS;
use crate::db::{select, stored_enum, table};
use crate::locks::{LockMode, LockedResource};

pub(crate) use insertion::add_to_author_counts;
pub(crate) use insertion::insert_row_later;
pub use insertion::{NewPostDetails, insert, insert_without_counts, replace_placeholder};
pub use pages::{
    PageRange, PostText, count_videos_since, find_nth_by_author, find_nth_mentioning, find_texts, list_ids_by_author,
    list_ids_by_authors, list_live_between, list_own_posts, list_posts_with_media, list_recent,
    list_searchable_ids_by_author, page_by_author, page_by_community, page_mentioning, page_replies,
};
pub use removal::{continue_removal, delete, find_incomplete_removal, removal_times, restore};

stored_enum! {
    #[derive(Default)]
    pub enum PostState {
        #[default]
        Live = 0,
        /// Replaced by a later version.
        Superseded = 1,
        /// Only the id remains.
        Deleted = 2,
        /// Imported; little more than the id is known.
        Placeholder = 3,
    }
}

table! {
    #[derive(Clone, Debug, Default)]
    pub struct Post in "post" joining PENDING_OF_POSTS {
        pub id: PostId,
        pub author_id: UserId,
        pub created_at: Time,
        pub state: PostState,
        /// The full text, NFC, not escaped.
        pub text: String,
        /// BCP 47; `und` if unknown.
        pub lang: String,
        /// The root of the conversation; a root's own id.
        pub conversation_id: PostId,
        pub in_reply_to_post_id: Option<PostId>,
        /// The author of the post it replies to.
        pub in_reply_to_user_id: Option<UserId>,
        pub quoted_post_id: Option<PostId>,
        pub repost_of_id: Option<PostId>,
        /// The first version; set on every version of an edited post.
        pub edit_root_id: Option<PostId>,
        pub edits_remaining: i64,
        pub community_id: Option<i64>,
        pub place_id: Option<String>,
        /// Empty if there is none.
        pub card_uri: String,
        /// `everyone`, `mentionedUsers`, `following`, `subscribers` or `verified`.
        pub reply_settings: String,
        /// Promoted-only: excluded from timelines and search.
        pub nullcast: bool,
        /// Visible to the author's subscribers only.
        pub followers_only: bool,
        pub possibly_sensitive: bool,
        pub paid_partnership: bool,
        pub made_with_ai: bool,
        /// Entities of the full text as in the API (JSON), or empty.
        pub entities: String,
        /// Entities of the shortened text of a long post (JSON), or empty.
        pub short_entities: String,
        /// What it is about, as in the API (JSON), or empty.
        pub context_annotations: String,
        /// Start of the displayed text, in code points.
        pub display_start: i64,
        /// End of the displayed text (exclusive), in code points.
        pub display_end: i64,
        /// In order, comma-separated, or empty.
        pub media_keys: String,
        pub poll_id: Option<i64>,
        /// Coordinates as in the API (JSON), or empty.
        pub geo: String,
        /// The withheld notice as in the API (JSON), or empty.
        pub withheld: String,
        pub app_id: Option<AppId>,
        /// Posted to a community and not shared with the author's followers.
        pub unshared: bool,
        /// Posted to a closed community, so visible to its members only.
        pub members_only: bool,
        /// A moderator keeps it out of search, trends and recommendations.
        pub limited: bool,
    }
    read_only {
        pub like_count: i64 as "like_count + imported_like_count /*! + COALESCE(pending_likes, 0) */",
        /// Live replies.
        pub reply_count: i64 as "reply_count /*! + COALESCE(pending_replies, 0) */",
        /// Live reposts.
        pub repost_count: i64 as "repost_count + imported_repost_count /*! + COALESCE(pending_reposts, 0) */",
        /// Live quotes.
        pub quote_count: i64 as "quote_count /*! + COALESCE(pending_quotes, 0) */",
        pub bookmark_count: i64 as "bookmark_count /*! + COALESCE(pending_bookmarks, 0) */",
        pub impression_count: i64 as "impression_count /*! + COALESCE(pending_impressions, 0) */",
    }
}

mod insertion;
mod pages;
mod removal;

/// In any state.
pub fn find_by_id(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    tx.query_row(select!(Post, "WHERE id = $1"), &[id.into()])
}

/// Keeps the post from being deleted until the end of the transaction. Holds from the next statement on; a no-op on
/// SQLite, which has a single writer.
pub fn lock_shared(tx: &mut Tx<'_>, id: PostId) {
    tx.lock(LockedResource::Post, id.get(), LockMode::Shared);
}

/// In any state and no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Post>, Fault> {
    tx.query_by_ids(select!(Post, "WHERE id = $1"), ids, &[])
}

/// As [`find_by_id`]. The author, and whether they block the viewer, are asked for at the same time.
pub fn find_by_id_with_author(tx: &mut Tx<'_>, id: PostId, viewer: Option<UserId>) -> Result<Option<Post>, Fault> {
    // The post first: whoever sees it sees its author.
    tx.prefetch(select!(Post, "WHERE id = $1"), &[id.into()])?;
    prefetch_authors(tx, &[id], viewer)?;
    let post = find_by_id(tx, id)?;
    let author: Vec<i64> = post.iter().map(|post| post.author_id.get()).collect();
    tx.set_prefetched_keys(&author);
    Ok(post)
}

/// As [`find_by_ids`], in a snapshot. The authors, and who of them blocks the viewer, are asked for at the same time.
pub fn find_by_ids_with_authors(tx: &mut Tx<'_>, ids: &[PostId], viewer: Option<UserId>) -> Result<Vec<Post>, Fault> {
    if !tx.is_postgres() || ids.is_empty() {
        return find_by_ids(tx, ids);
    }
    prefetch_authors(tx, ids, viewer)?;
    let posts = find_by_ids(tx, ids)?;
    let authors: Vec<i64> = posts.iter().map(|post| post.author_id.get()).collect();
    tx.set_prefetched_keys(&authors);
    Ok(posts)
}

fn prefetch_authors(tx: &mut Tx<'_>, posts: &[PostId], viewer: Option<UserId>) -> Result<(), Fault> {
    if !tx.is_postgres() {
        return Ok(());
    }
    let posts: Vec<i64> = posts.iter().map(|id| id.get()).collect();
    let authors = ("SELECT author_id FROM post WHERE id = ANY($1)", posts.as_slice());
    crate::users::prefetch_by_keys(tx, authors)?;
    viewer.map_or(Ok(()), |viewer| crate::graph::prefetch_blockers(tx, authors, viewer))
}

/// Oldest first; empty if the post was never edited.
pub fn list_versions(tx: &mut Tx<'_>, root: PostId) -> Result<Vec<PostId>, Fault> {
    tx.query_rows("SELECT id FROM post WHERE edit_root_id = $1 ORDER BY id", &[root.into()])
}

/// As [`list_versions`], for several roots: pairs of root and version, by root.
pub fn list_versions_of_roots(tx: &mut Tx<'_>, roots: &[PostId]) -> Result<Vec<(PostId, PostId)>, Fault> {
    let sql = "SELECT edit_root_id, id FROM post WHERE edit_root_id = $1";
    let mut versions: Vec<(PostId, PostId)> = tx.query_by_ids(sql, roots, &[])?;
    versions.sort_unstable();
    Ok(versions)
}

/// 0 if there are no posts.
pub fn highest_id(tx: &mut Tx<'_>) -> Result<PostId, Fault> {
    let highest = tx.query_row("SELECT MAX(id) FROM post", &[])?;
    Ok(highest.flatten().unwrap_or(PostId::new(0)))
}

/// Whether the author has a live post above an id with the same fingerprint.
pub fn has_duplicate(tx: &mut Tx<'_>, author: UserId, fingerprint: &[u8], above: i64) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM post WHERE author_id = $1 AND fingerprint = $2 AND state = 0 AND id > $3 LIMIT 1";
    tx.row_exists(sql, &[author.into(), fingerprint.into(), above.into()])
}

/// Sets or, with an empty text, removes the withheld notice.
pub fn set_withheld(tx: &mut Tx<'_>, id: PostId, notice: &str) -> Result<(), Fault> {
    let sql = "UPDATE post SET withheld = $1 WHERE id = $2";
    tx.execute_later(sql, &[notice.into(), id.into()])
}

/// The live version of an edited post.
pub fn newest_version(tx: &mut Tx<'_>, root: PostId) -> Result<Option<Post>, Fault> {
    let sql = select!(Post, "WHERE edit_root_id = $1 AND state = 0 ORDER BY id DESC LIMIT 1");
    tx.query_row(sql, &[root.into()])
}

pub fn is_mentioned(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM mention WHERE user_id = $1 AND post_id = $2";
    tx.row_exists(sql, &[user.into(), post.into()])
}

pub fn list_mentioned_users(tx: &mut Tx<'_>, post: PostId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM mention WHERE post_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[post.into()])
}

/// Oldest first, after an id, in any state.
pub fn list(tx: &mut Tx<'_>, after: PostId, limit: i64) -> Result<Vec<Post>, Fault> {
    let sql = select!(Post, "WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}
