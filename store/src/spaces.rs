//! Spaces, their participants, topics and shared posts.

mod participants;
mod search;
mod topics;

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::db::stored_enum;
use crate::edges::{edge_page_query, typed_edge_page};
use crate::posts::PageRange;

pub use participants::{SpaceRole, add_role, buyer_page, count_role, has_role, list_hosts_and_speakers, remove_role};
pub use search::{index_words, remove_words, search_titles};
pub use topics::{SpaceTopic, add_topic, find_or_insert_topic, find_topics, topics_by_spaces};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceState {
    Scheduled,
    Live,
    Ended,
    Canceled,
}

impl SpaceState {
    /// The name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Live => "live",
            Self::Ended => "ended",
            Self::Canceled => "canceled",
        }
    }
}

stored_enum!(SpaceState "space state" { Scheduled = 0, Live = 1, Ended = 2, Canceled = 3 });

#[derive(Clone, Debug)]
pub struct Space {
    /// The API shows it in its short form.
    pub id: i64,
    pub creator_id: UserId,
    pub state: SpaceState,
    /// May be empty.
    pub title: String,
    /// May be empty.
    pub lang: String,
    /// Whether it requires a ticket.
    pub ticketed: bool,
    pub created_at: Time,
    pub updated_at: Time,
    pub scheduled_start: Option<Time>,
    pub started_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// Current participants, or those at the end.
    pub participant_count: i64,
    /// Users who want to be reminded.
    pub subscriber_count: i64,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, creator_id, state, title, lang, ticketed, created_at, updated_at, \
             scheduled_start, started_at, ended_at, participant_count, subscriber_count",
            $after
        )
    };
}

fn space_from_row(row: &SqlRow<'_, '_>) -> Result<Space, Fault> {
    Ok(Space {
        id: row.int(0)?,
        creator_id: row.id(1)?,
        state: SpaceState::from_number(row.int(2)?)?,
        title: row.text(3)?,
        lang: row.text(4)?,
        ticketed: row.bool(5)?,
        created_at: row.time(6)?,
        updated_at: row.time(7)?,
        scheduled_start: row.opt_time(8)?,
        started_at: row.opt_time(9)?,
        ended_at: row.opt_time(10)?,
        participant_count: row.int(11)?,
        subscriber_count: row.int(12)?,
    })
}

/// In any state.
pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Space>, Fault> {
    let sql = columns!("SELECT ", " FROM space WHERE id = $1");
    tx.query_row(sql, &[id.into()], space_from_row)
}

/// In any state and no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Space>, Fault> {
    let sql = columns!("SELECT ", " FROM space WHERE id = $1");
    tx.query_by_keys(sql, ids, &[], space_from_row)
}

/// Scheduled and live spaces, in no particular order.
pub fn list_active_by_creators(tx: &mut Tx<'_>, creators: &[UserId]) -> Result<Vec<Space>, Fault> {
    let sql = columns!("SELECT ", " FROM space WHERE creator_id = $1 AND state < 2");
    tx.query_by_ids(sql, creators, &[], space_from_row)
}

/// Newest first, with an id below `before`.
pub fn list(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<Vec<Space>, Fault> {
    let sql = columns!("SELECT ", " FROM space WHERE id < $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[before.into(), limit.into()], space_from_row)
}

/// Locks a space until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM space WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn insert(tx: &mut Tx<'_>, space: &Space) -> Result<(), Fault> {
    let sql = "INSERT INTO space (id, creator_id, state, title, lang, ticketed, created_at, \
               updated_at, scheduled_start, started_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let args = [
        space.id.into(),
        space.creator_id.into(),
        space.state.to_number().into(),
        (&space.title).into(),
        (&space.lang).into(),
        space.ticketed.into(),
        space.created_at.into(),
        space.updated_at.into(),
        space.scheduled_start.into(),
        space.started_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Stores the state with its times; not the counters.
pub fn update(tx: &mut Tx<'_>, space: &Space) -> Result<(), Fault> {
    let sql = "UPDATE space SET state = $1, updated_at = $2, started_at = $3, ended_at = $4 \
               WHERE id = $5";
    let args = [
        space.state.to_number().into(),
        space.updated_at.into(),
        space.started_at.into(),
        space.ended_at.into(),
        space.id.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Returns false if the post is already shared in the space.
pub fn share_post(tx: &mut Tx<'_>, space: i64, post: PostId) -> Result<bool, Fault> {
    let sql = "INSERT INTO space_post (space_id, post_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    let id = tx.next_id::<()>();
    Ok(tx.execute(sql, &[space.into(), post.into(), id.into()])? > 0)
}

/// Latest first: the post and the share's own id.
pub fn page_of_shared_posts(tx: &mut Tx<'_>, space: i64, range: &PageRange) -> Result<Vec<(PostId, i64)>, Fault> {
    let sql = edge_page_query!("SELECT post_id, id FROM space_post WHERE space_id = $1");
    typed_edge_page(tx, space, range, sql)
}
