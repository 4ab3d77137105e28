//! Posts: their text, their place in a conversation, their counters.

use base::{AppId, Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

pub(crate) use insertion::add_to_author_counts;
pub use insertion::{NewPostDetails, insert, insert_without_counts, replace_placeholder};
pub use pages::{
    PageRange, PostText, count_videos_since, find_texts, list_ids_by_author, list_live_between, list_own_posts,
    list_recent, list_recent_by_authors, page_by_author, page_mentioning,
};
pub use removal::{delete, removal_times};

/// Whether a post is there for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostState {
    /// It is.
    Live,
    /// A later version has taken its place.
    Superseded,
    /// It was deleted; only its id is kept.
    Deleted,
    /// Known by its id only, from an import.
    Placeholder,
}

impl PostState {
    const ALL: [Self; 4] = [Self::Live, Self::Superseded, Self::Deleted, Self::Placeholder];

    pub(crate) fn to_number(self) -> i64 {
        match self {
            Self::Live => 0,
            Self::Superseded => 1,
            Self::Deleted => 2,
            Self::Placeholder => 3,
        }
    }

    pub(crate) fn from_number(number: i64) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|state| state.to_number() == number);
        known.ok_or_else(|| Fault::new(format!("a post in state {number}")))
    }
}

/// A post as stored.
#[derive(Clone, Debug)]
pub struct Post {
    /// Snowflake id.
    pub id: PostId,
    /// Who wrote it.
    pub author_id: UserId,
    /// When.
    pub created_at: Time,
    /// Whether it is there for others.
    pub state: PostState,
    /// The whole text, NFC, not escaped.
    pub text: String,
    /// BCP 47, `und` when unknown.
    pub lang: String,
    /// The root of the conversation; its own id for a root.
    pub conversation_id: PostId,
    /// The post it replies to.
    pub in_reply_to_post_id: Option<PostId>,
    /// The author it replies to.
    pub in_reply_to_user_id: Option<UserId>,
    /// The post it quotes.
    pub quoted_post_id: Option<PostId>,
    /// The post it reposts.
    pub repost_of_id: Option<PostId>,
    /// The first version, on every version of an edited post.
    pub edit_root_id: Option<PostId>,
    /// Edits that are left.
    pub edits_remaining: i64,
    /// The community it was posted to.
    pub community_id: Option<i64>,
    /// The place it is tagged with.
    pub place_id: Option<String>,
    /// The card it carries, or empty.
    pub card_uri: String,
    /// `everyone`, `mentionedUsers`, `following`, `subscribers` or `verified`.
    pub reply_settings: String,
    /// For promotion only: in no timeline, in no search.
    pub nullcast: bool,
    /// For subscribers of the author only.
    pub followers_only: bool,
    /// Marked as possibly sensitive.
    pub possibly_sensitive: bool,
    /// Marked as a paid partnership.
    pub paid_partnership: bool,
    /// Marked as made with AI.
    pub made_with_ai: bool,
    /// Entities of the whole text as the interface shows them (JSON), or empty.
    pub entities: String,
    /// Entities of the shortened text of a long post (JSON), or empty.
    pub short_entities: String,
    /// Where the text to be displayed starts, in code points.
    pub display_start: i64,
    /// Where it ends (exclusive).
    pub display_end: i64,
    /// Media keys in order, comma-separated, or empty.
    pub media_keys: String,
    /// The poll it carries.
    pub poll_id: Option<i64>,
    /// Coordinates as the interface shows them (JSON), or empty.
    pub geo: String,
    /// Withheld notice as the interface shows it (JSON), or empty.
    pub withheld: String,
    /// The app that posted it.
    pub app_id: Option<AppId>,
    /// Posted to a community and kept out of the home timelines of the author's followers.
    pub unshared: bool,
    /// Posted to a closed community: for its members only.
    pub members_only: bool,
    /// Likes.
    pub like_count: i64,
    /// Live replies.
    pub reply_count: i64,
    /// Live reposts.
    pub repost_count: i64,
    /// Live quotes.
    pub quote_count: i64,
    /// Bookmarks.
    pub bookmark_count: i64,
    /// Views.
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

/// The post with an id, in whatever state.
pub fn find_by_id(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    tx.query_row(
        columns!("SELECT ", " FROM post WHERE id = $1"),
        &[id.into()],
        post_from_row,
    )
}

/// The posts with these ids, in whatever state and no particular order; unknown ids are left out.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Post>, Fault> {
    let keys: Vec<_> = ids.iter().map(|id| id.get()).collect();
    tx.query_by_keys(
        columns!("SELECT ", " FROM post WHERE id = $1"),
        &keys,
        &[],
        post_from_row,
    )
}

/// All versions of an edited post, oldest first; empty for one that was never edited.
pub fn list_versions(tx: &mut Tx<'_>, root: PostId) -> Result<Vec<PostId>, Fault> {
    tx.query_rows(
        "SELECT id FROM post WHERE edit_root_id = $1 ORDER BY id",
        &[root.into()],
        |row| row.id(0),
    )
}

/// The highest id that any post has.
pub fn highest_id(tx: &mut Tx<'_>) -> Result<PostId, Fault> {
    let highest = tx.query_row("SELECT MAX(id) FROM post", &[], |row| row.opt_id(0))?;
    Ok(highest.flatten().unwrap_or(PostId::new(0)))
}

/// Whether the author has a live post above an id with the same fingerprint.
pub fn has_duplicate(tx: &mut Tx<'_>, author: UserId, fingerprint: &[u8], above: i64) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM post WHERE author_id = $1 AND fingerprint = $2 AND state = 0 \
               AND id > $3 LIMIT 1";
    Ok(tx
        .query_row(sql, &[author.into(), fingerprint.into(), above.into()], |_| Ok(()))?
        .is_some())
}

/// Puts a notice on a post that it is withheld, or takes it away (empty).
pub fn set_withheld(tx: &mut Tx<'_>, id: PostId, notice: &str) -> Result<(), Fault> {
    let sql = "UPDATE post SET withheld = $1 WHERE id = $2";
    tx.execute(sql, &[notice.into(), id.into()]).map(|_| ())
}

/// The live version of an edited post.
pub fn newest_version(tx: &mut Tx<'_>, root: PostId) -> Result<Option<Post>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM post WHERE edit_root_id = $1 AND state = 0 ORDER BY id DESC LIMIT 1"
    );
    tx.query_row(sql, &[root.into()], post_from_row)
}

/// Whether a post mentions a user.
pub fn is_mentioned(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM mention WHERE user_id = $1 AND post_id = $2";
    Ok(tx.query_row(sql, &[user.into(), post.into()], |_| Ok(()))?.is_some())
}

/// Whom a post mentions, in no particular order.
pub fn list_mentioned_users(tx: &mut Tx<'_>, post: PostId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM mention WHERE post_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[post.into()], |row| row.id(0))
}

/// The posts after an id in whatever state, oldest first.
pub fn list(tx: &mut Tx<'_>, after: PostId, limit: i64) -> Result<Vec<Post>, Fault> {
    let sql = columns!("SELECT ", " FROM post WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()], post_from_row)
}
