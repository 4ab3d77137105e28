//! Spaces, their participants, topics and shared posts.

mod participants;
mod search;
mod topics;

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::{insert, insert_new, select, stored_enum, table, update};
use crate::edges::{Edge, edge_page, edge_page_query};
use crate::posts::PageRange;

pub use participants::{
    SpaceRole, add_role, buyer_page, count_present_speakers, count_role, has_role, list_hosts_and_speakers, remove_role,
};
pub use search::{index_words, remove_words, search_titles};
pub use topics::{SpaceTopic, add_topic, find_or_insert_topic, find_topics, topics_by_spaces};

stored_enum! {
    /// The names are those of the API.
    pub enum SpaceState {
        Scheduled = 0 "scheduled",
        Live = 1 "live",
        Ended = 2 "ended",
        Canceled = 3 "canceled",
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct Space in "space" {
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
    }
    read_only {
        pub ended_at: Option<Time>,
        /// Current participants, or those at the end.
        pub participant_count: i64,
        /// Users who want to be reminded.
        pub subscriber_count: i64,
    }
}

/// In any state.
pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Space>, Fault> {
    let sql = select!(Space, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// In any state and no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Space>, Fault> {
    let sql = select!(Space, "WHERE id = $1");
    tx.query_by_keys(sql, ids, &[])
}

/// Scheduled and live spaces, in no particular order.
pub fn list_active_by_creators(tx: &mut Tx<'_>, creators: &[UserId]) -> Result<Vec<Space>, Fault> {
    let sql = select!(Space, "WHERE creator_id = $1 AND state < 2");
    tx.query_by_ids(sql, creators, &[])
}

/// Those of an account that are still open or have a title. No index leads to ended ones.
pub fn list_unerased(tx: &mut Tx<'_>, creator: UserId, limit: i64) -> Result<Vec<Space>, Fault> {
    let sql = select!(Space, "WHERE creator_id = $1 AND (state < 2 OR title <> '') LIMIT $2");
    tx.query_rows(sql, &[creator.into(), limit.into()])
}

/// Newest first, with an id below `before`.
pub fn list(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<Vec<Space>, Fault> {
    let sql = select!(Space, "WHERE id < $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[before.into(), limit.into()])
}

/// Locks a space until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM space WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn insert(tx: &mut Tx<'_>, space: &Space) -> Result<(), Fault> {
    insert!(tx, Space, space)
}

/// Stores the state with its times; not the counters.
pub fn update(tx: &mut Tx<'_>, space: &Space) -> Result<(), Fault> {
    update!(tx, "space", space: [state, updated_at, started_at, ended_at], id = space.id)
}

pub fn erase_title(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.execute_later("UPDATE space SET title = '' WHERE id = $1", &[id.into()])
}

/// Returns false if the post is already shared in the space.
pub fn share_post(tx: &mut Tx<'_>, space: i64, post: PostId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    insert_new!(tx, "space_post", space_id = space, post_id = post, id = id)
}

/// Latest first: the post and the share's own id.
pub fn page_of_shared_posts(tx: &mut Tx<'_>, space: i64, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = edge_page_query!("SELECT post_id, id FROM space_post WHERE space_id = $1");
    edge_page(tx, space, range, sql)
}
