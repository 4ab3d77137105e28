//! Posts: their text, their place in a conversation, their counters.

mod removal;

use base::{AppId, Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::Row;

pub use removal::delete;

/// Whether a post is there for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is.
    Live,
    /// A later version has taken its place.
    Superseded,
    /// It was deleted; only its id is kept.
    Deleted,
    /// Known by its id only, from an import.
    Placeholder,
}

impl State {
    const ALL: [Self; 4] = [
        Self::Live,
        Self::Superseded,
        Self::Deleted,
        Self::Placeholder,
    ];

    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Live => 0,
            Self::Superseded => 1,
            Self::Deleted => 2,
            Self::Placeholder => 3,
        }
    }

    pub(crate) fn read(number: i64) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|state| state.number() == number);
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
    pub state: State,
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

fn read(row: &Row<'_, '_>) -> Result<Post, Fault> {
    Ok(Post {
        id: row.id(0)?,
        author_id: row.id(1)?,
        created_at: row.time(2)?,
        state: State::read(row.int(3)?)?,
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
        nullcast: row.switch(17)?,
        followers_only: row.switch(18)?,
        possibly_sensitive: row.switch(19)?,
        paid_partnership: row.switch(20)?,
        made_with_ai: row.switch(21)?,
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
        unshared: row.switch(37)?,
        members_only: row.switch(38)?,
    })
}

/// The post with an id, in whatever state.
pub fn by_id(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    tx.row(
        columns!("SELECT ", " FROM post WHERE id = $1"),
        &[id.into()],
        read,
    )
}

/// The posts with these ids, in whatever state and no particular order; unknown ids are left out.
pub fn by_ids(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Post>, Fault> {
    let keys: Vec<_> = ids.iter().map(|id| id.get()).collect();
    tx.of_each(
        columns!("SELECT ", " FROM post WHERE id = $1"),
        &keys,
        &[],
        read,
    )
}

/// All versions of an edited post, oldest first; empty for one that was never edited.
pub fn versions(tx: &mut Tx<'_>, root: PostId) -> Result<Vec<PostId>, Fault> {
    tx.rows(
        "SELECT id FROM post WHERE edit_root_id = $1 ORDER BY id",
        &[root.into()],
        |row| row.id(0),
    )
}

/// Which part of a timeline is asked for: ids strictly between two bounds.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Only ids above this.
    pub above: i64,
    /// Only ids below this.
    pub below: i64,
    /// From the old end on, for a page towards the newer ones. The answer is newest first all
    /// the same.
    pub rising: bool,
    /// At most so many.
    pub limit: i64,
    /// Leaves replies out.
    pub without_replies: bool,
    /// Leaves reposts out.
    pub without_reposts: bool,
}

impl Span {
    /// The newest `limit` of everything.
    pub const fn newest(limit: i64) -> Self {
        Self {
            above: 0,
            below: i64::MAX,
            rising: false,
            limit,
            without_replies: false,
            without_reposts: false,
        }
    }
}

macro_rules! author_page {
    ($order:literal) => {
        columns!(
            "SELECT ",
            concat!(
                " FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
                 AND id > $2 AND id < $3 AND ($4 = 0 OR in_reply_to_user_id IS NULL) \
                 AND ($5 = 0 OR repost_of_id IS NULL) ORDER BY id ",
                $order,
                " LIMIT $6"
            )
        )
    };
}

macro_rules! mention_page {
    ($order:literal) => {
        columns!(
            "SELECT ",
            concat!(
                " FROM mention JOIN post ON id = post_id WHERE user_id = $1 AND state = 0 \
                 AND nullcast = 0 AND post_id > $2 AND post_id < $3 \
                 AND ($4 = 0 OR in_reply_to_user_id IS NULL) \
                 AND ($5 = 0 OR repost_of_id IS NULL) ORDER BY post_id ",
                $order,
                " LIMIT $6"
            )
        )
    };
}

/// A page of an author's live posts, newest first.
pub fn of_author(tx: &mut Tx<'_>, author: UserId, span: &Span) -> Result<Vec<Post>, Fault> {
    page(tx, author, span, author_page!("DESC"), author_page!("ASC"))
}

/// A page of the live posts that mention a user, newest first.
pub fn mentioning(tx: &mut Tx<'_>, user: UserId, span: &Span) -> Result<Vec<Post>, Fault> {
    page(tx, user, span, mention_page!("DESC"), mention_page!("ASC"))
}

fn page(
    tx: &mut Tx<'_>,
    user: UserId,
    span: &Span,
    falling: &'static str,
    rising: &'static str,
) -> Result<Vec<Post>, Fault> {
    let args = [
        user.into(),
        span.above.into(),
        span.below.into(),
        span.without_replies.into(),
        span.without_reposts.into(),
        span.limit.into(),
    ];
    let mut posts = tx.rows(if span.rising { rising } else { falling }, &args, read)?;
    if span.rising {
        posts.reverse();
    }
    Ok(posts)
}

/// Ids and authors of the newest live posts of everyone above an id, newest first.
pub fn recent(tx: &mut Tx<'_>, above: PostId, limit: i64) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT id, author_id FROM post WHERE state = 0 AND nullcast = 0 AND id > $1 \
               ORDER BY id DESC LIMIT $2";
    tx.rows(sql, &[above.into(), limit.into()], |row| {
        Ok((row.id(0)?, row.id(1)?))
    })
}

/// Ids of an author's live posts below an id, newest first.
pub fn ids_of_author(
    tx: &mut Tx<'_>,
    author: UserId,
    below: i64,
    limit: i64,
) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT id FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
               AND id < $2 ORDER BY id DESC LIMIT $3";
    tx.rows(sql, &[author.into(), below.into(), limit.into()], |row| {
        row.id(0)
    })
}

/// The highest id that any post has.
pub fn highest(tx: &mut Tx<'_>) -> Result<PostId, Fault> {
    let highest = tx.row("SELECT MAX(id) FROM post", &[], |row| row.opt_id(0))?;
    Ok(highest.flatten().unwrap_or(PostId::new(0)))
}

/// Whether the author has a live post above an id with the same fingerprint.
pub fn repeats(
    tx: &mut Tx<'_>,
    author: UserId,
    fingerprint: &[u8],
    above: i64,
) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM post WHERE author_id = $1 AND fingerprint = $2 AND state = 0 \
               AND id > $3 LIMIT 1";
    Ok(tx
        .row(
            sql,
            &[author.into(), fingerprint.into(), above.into()],
            |_| Ok(()),
        )?
        .is_some())
}

/// What comes with a post when it is stored.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Of text, attachments and targets; what the duplicate rule goes by.
    pub fingerprint: Option<Vec<u8>>,
    /// Users whose mentions timeline it goes to.
    pub mentioned: Vec<UserId>,
    /// Likes that an import brought along.
    pub imported_likes: i64,
    /// Reposts that an import brought along.
    pub imported_reposts: i64,
    /// The version that it takes the place of.
    pub replaces: Option<PostId>,
    /// The address that opens a private conversation, or empty.
    pub direct_message_deep_link: String,
}

/// Stores a post with its mentions and every counter that it moves; false when the id is taken.
pub fn insert(tx: &mut Tx<'_>, post: &Post, beside: &Beside) -> Result<bool, Fault> {
    if !insert_row(tx, post, beside)? {
        return Ok(false);
    }
    if post.state != State::Live {
        return Ok(true);
    }
    for user in &beside.mentioned {
        let sql = "INSERT INTO mention (user_id, post_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.exec(sql, &[(*user).into(), post.id.into()])?;
    }
    if let Some(replaced) = beside.replaces {
        let sql = "UPDATE post SET state = 1, edit_root_id = $1 WHERE id = $2";
        tx.exec(sql, &[post.edit_root_id.into(), replaced.into()])?;
        // The version before stood for what this one stands for now, perhaps not all of it.
        if let Some(before) = by_id(tx, replaced)? {
            count_author(tx, &before, -1)?;
            count_targets(tx, &before, -1)?;
        }
    }
    count_author(tx, post, 1)?;
    count_targets(tx, post, 1)?;
    Ok(true)
}

fn insert_row(tx: &mut Tx<'_>, post: &Post, beside: &Beside) -> Result<bool, Fault> {
    let sql = "INSERT INTO post (id, author_id, created_at, state, text, lang, conversation_id, \
               in_reply_to_post_id, in_reply_to_user_id, quoted_post_id, repost_of_id, \
               edit_root_id, edits_remaining, community_id, place_id, card_uri, reply_settings, \
               nullcast, followers_only, possibly_sensitive, paid_partnership, made_with_ai, \
               entities, short_entities, display_start, display_end, media_keys, poll_id, geo, \
               withheld, app_id, imported_like_count, imported_repost_count, fingerprint, \
               unshared, members_only, direct_message_deep_link) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
               $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, \
               $35, $36, $37) \
               ON CONFLICT DO NOTHING";
    let args = [
        post.id.into(),
        post.author_id.into(),
        post.created_at.into(),
        post.state.number().into(),
        (&post.text).into(),
        (&post.lang).into(),
        post.conversation_id.into(),
        post.in_reply_to_post_id.into(),
        post.in_reply_to_user_id.into(),
        post.quoted_post_id.into(),
        post.repost_of_id.into(),
        post.edit_root_id.into(),
        post.edits_remaining.into(),
        post.community_id.into(),
        post.place_id.as_ref().into(),
        (&post.card_uri).into(),
        (&post.reply_settings).into(),
        post.nullcast.into(),
        post.followers_only.into(),
        post.possibly_sensitive.into(),
        post.paid_partnership.into(),
        post.made_with_ai.into(),
        (&post.entities).into(),
        (&post.short_entities).into(),
        post.display_start.into(),
        post.display_end.into(),
        (&post.media_keys).into(),
        post.poll_id.into(),
        (&post.geo).into(),
        (&post.withheld).into(),
        post.app_id.into(),
        beside.imported_likes.into(),
        beside.imported_reposts.into(),
        beside.fingerprint.as_ref().into(),
        post.unshared.into(),
        post.members_only.into(),
        (&beside.direct_message_deep_link).into(),
    ];
    Ok(tx.exec(sql, &args)? > 0)
}

/// Moves the author's counters; a nullcast post counts as any other, but is nobody's newest.
pub(crate) fn count_author(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let media = if post.media_keys.is_empty() { 0 } else { by };
    let newest = if by > 0 && !post.nullcast {
        post.id.get()
    } else {
        0
    };
    let sql = "UPDATE users SET post_count = post_count + $1, media_count = media_count + $2, \
               most_recent_post_id = CASE WHEN $3 > COALESCE(most_recent_post_id, 0) THEN $3 \
               ELSE most_recent_post_id END WHERE id = $4";
    tx.exec(
        sql,
        &[
            by.into(),
            media.into(),
            newest.into(),
            post.author_id.into(),
        ],
    )
    .map(|_| ())
}

/// Moves the counters of the posts that this one replies to, quotes or reposts.
fn count_targets(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let targets = [
        (
            post.in_reply_to_post_id,
            "UPDATE post SET reply_count = reply_count + $1 WHERE id = $2",
        ),
        (
            post.quoted_post_id,
            "UPDATE post SET quote_count = quote_count + $1 WHERE id = $2",
        ),
        (
            post.repost_of_id,
            "UPDATE post SET repost_count = repost_count + $1 WHERE id = $2",
        ),
    ];
    for (target, sql) in targets {
        if let Some(target) = target {
            tx.exec(sql, &[by.into(), target.into()])?;
        }
    }
    Ok(())
}

/// Puts a notice on a post that it is withheld, or takes it away (empty).
pub fn set_withheld(tx: &mut Tx<'_>, id: PostId, notice: &str) -> Result<(), Fault> {
    let sql = "UPDATE post SET withheld = $1 WHERE id = $2";
    tx.exec(sql, &[notice.into(), id.into()]).map(|_| ())
}

/// The live version of an edited post.
pub fn newest_version(tx: &mut Tx<'_>, root: PostId) -> Result<Option<Post>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM post WHERE edit_root_id = $1 AND state = 0 ORDER BY id DESC LIMIT 1"
    );
    tx.row(sql, &[root.into()], read)
}

/// Whether a post mentions a user.
pub fn mentions(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM mention WHERE user_id = $1 AND post_id = $2";
    Ok(tx
        .row(sql, &[user.into(), post.into()], |_| Ok(()))?
        .is_some())
}

/// Whom a post mentions, in no particular order.
pub fn mentioned_by(tx: &mut Tx<'_>, post: PostId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM mention WHERE post_id = $1 ORDER BY user_id";
    tx.rows(sql, &[post.into()], |row| row.id(0))
}

/// The posts after an id in whatever state, oldest first.
pub fn list(tx: &mut Tx<'_>, after: PostId, limit: i64) -> Result<Vec<Post>, Fault> {
    let sql = columns!("SELECT ", " FROM post WHERE id > $1 ORDER BY id LIMIT $2");
    tx.rows(sql, &[after.into(), limit.into()], read)
}

/// Stores a post's row alone: whoever stores many at once moves the counters once for all. False
/// when the id is taken, or the author reposts the same post already.
pub fn insert_alone(tx: &mut Tx<'_>, post: &Post, beside: &Beside) -> Result<bool, Fault> {
    insert_row(tx, post, beside)
}
