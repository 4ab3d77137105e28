//! Posts: texts, conversations and counters.

use base::{AppId, Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::db::stored_enum;

pub(crate) use insertion::add_to_author_counts;
pub use insertion::{NewPostDetails, insert, insert_without_counts, replace_placeholder};
pub use pages::{
    PageRange, PostText, count_videos_since, find_texts, list_ids_by_author, list_live_between, list_own_posts,
    list_recent, list_recent_by_authors, page_by_author, page_mentioning,
};
pub use removal::{delete, removal_times};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostState {
    Live,
    /// Replaced by a later version.
    Superseded,
    /// Only the id remains.
    Deleted,
    /// Imported; little more than the id is known.
    Placeholder,
}

stored_enum!(PostState "post state" { Live = 0, Superseded = 1, Deleted = 2, Placeholder = 3 });

#[derive(Clone, Debug)]
pub struct Post {
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
    pub like_count: i64,
    /// Live replies.
    pub reply_count: i64,
    /// Live reposts.
    pub repost_count: i64,
    /// Live quotes.
    pub quote_count: i64,
    pub bookmark_count: i64,
    pub impression_count: i64,
}

macro_rules! columns {
    ($before:expr, $after:expr) => {
        concat!(
            $before,
            "id, author_id, created_at, state, text, lang, conversation_id, in_reply_to_post_id, \
             in_reply_to_user_id, quoted_post_id, repost_of_id, edit_root_id, edits_remaining, \
             community_id, place_id, card_uri, reply_settings, nullcast, followers_only, \
             possibly_sensitive, paid_partnership, made_with_ai, entities, short_entities, \
             display_start, display_end, media_keys, poll_id, geo, withheld, app_id, \
             like_count + imported_like_count, reply_count, repost_count + imported_repost_count, \
             quote_count, bookmark_count, impression_count, unshared, members_only",
            $after
        )
    };
}

mod insertion;
mod pages;
mod removal;

fn post_from_row(row: &SqlRow<'_, '_>) -> Result<Post, Fault> {
    Ok(Post {
        id: row.id(0)?,
        author_id: row.id(1)?,
        created_at: row.time(2)?,
        state: PostState::from_number(row.int(3)?)?,
        text: row.text(4)?,
        lang: row.text(5)?,
        conversation_id: row.id(6)?,
        in_reply_to_post_id: row.opt_id(7)?,
        in_reply_to_user_id: row.opt_id(8)?,
        quoted_post_id: row.opt_id(9)?,
        repost_of_id: row.opt_id(10)?,
        edit_root_id: row.opt_id(11)?,
        edits_remaining: row.int(12)?,
        community_id: row.opt_int(13)?,
        place_id: row.opt_text(14)?,
        card_uri: row.text(15)?,
        reply_settings: row.text(16)?,
        nullcast: row.bool(17)?,
        followers_only: row.bool(18)?,
        possibly_sensitive: row.bool(19)?,
        paid_partnership: row.bool(20)?,
        made_with_ai: row.bool(21)?,
        entities: row.text(22)?,
        short_entities: row.text(23)?,
        display_start: row.int(24)?,
        display_end: row.int(25)?,
        media_keys: row.text(26)?,
        poll_id: row.opt_int(27)?,
        geo: row.text(28)?,
        withheld: row.text(29)?,
        app_id: row.opt_id(30)?,
        like_count: row.int(31)?,
        reply_count: row.int(32)?,
        repost_count: row.int(33)?,
        quote_count: row.int(34)?,
        bookmark_count: row.int(35)?,
        impression_count: row.int(36)?,
        unshared: row.bool(37)?,
        members_only: row.bool(38)?,
    })
}

/// In any state.
pub fn find_by_id(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    tx.query_row(columns!("SELECT ", " FROM post WHERE id = $1"), &[id.into()], post_from_row)
}

/// In any state and no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Post>, Fault> {
    tx.query_by_ids(columns!("SELECT ", " FROM post WHERE id = $1"), ids, &[], post_from_row)
}

/// Oldest first; empty if the post was never edited.
pub fn list_versions(tx: &mut Tx<'_>, root: PostId) -> Result<Vec<PostId>, Fault> {
    tx.query_rows("SELECT id FROM post WHERE edit_root_id = $1 ORDER BY id", &[root.into()], |row| row.id(0))
}

/// 0 if there are no posts.
pub fn highest_id(tx: &mut Tx<'_>) -> Result<PostId, Fault> {
    let highest = tx.query_row("SELECT MAX(id) FROM post", &[], |row| row.opt_id(0))?;
    Ok(highest.flatten().unwrap_or(PostId::new(0)))
}

/// Whether the author has a live post above an id with the same fingerprint.
pub fn has_duplicate(tx: &mut Tx<'_>, author: UserId, fingerprint: &[u8], above: i64) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM post WHERE author_id = $1 AND fingerprint = $2 AND state = 0 \
               AND id > $3 LIMIT 1";
    tx.row_exists(sql, &[author.into(), fingerprint.into(), above.into()])
}

/// Sets or, with an empty text, removes the withheld notice.
pub fn set_withheld(tx: &mut Tx<'_>, id: PostId, notice: &str) -> Result<(), Fault> {
    let sql = "UPDATE post SET withheld = $1 WHERE id = $2";
    tx.execute(sql, &[notice.into(), id.into()]).map(|_| ())
}

/// The live version of an edited post.
pub fn newest_version(tx: &mut Tx<'_>, root: PostId) -> Result<Option<Post>, Fault> {
    let sql = columns!("SELECT ", " FROM post WHERE edit_root_id = $1 AND state = 0 ORDER BY id DESC LIMIT 1");
    tx.query_row(sql, &[root.into()], post_from_row)
}

pub fn is_mentioned(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM mention WHERE user_id = $1 AND post_id = $2";
    tx.row_exists(sql, &[user.into(), post.into()])
}

pub fn list_mentioned_users(tx: &mut Tx<'_>, post: PostId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM mention WHERE post_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[post.into()], |row| row.id(0))
}

/// Oldest first, after an id, in any state.
pub fn list(tx: &mut Tx<'_>, after: PostId, limit: i64) -> Result<Vec<Post>, Fault> {
    let sql = columns!("SELECT ", " FROM post WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()], post_from_row)
}
