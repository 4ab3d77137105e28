//! Stores a chunk in one transaction: users first, then posts, then everything that refers to both.

mod batch_state;
mod edges;
mod lists;
mod media;
mod messages;
mod owner;
mod placeholders;
mod portable_rows;
mod posts;
mod user_resolver;
mod users;

use base::{Error, PostId};
use serde_json::json;
use store::imports::{self, ImportProgress};
use store::{Tx, event_log};

pub(crate) use owner::resolve_owner;

use crate::import::ImportContext;
use crate::reader::{ImportChunk, PreparedPost, PreparedRecord};
use crate::report::ImportReport;
use batch_state::ImportBatchState;

pub(crate) enum ChunkOutcome {
    /// The report of the import up to and including this chunk.
    Stored(Box<ImportReport>),
    /// Another process has stored the chunk in the meantime.
    StoredElsewhere,
}

/// Stores a chunk, and the position at which the import continues.
pub(crate) fn store(
    tx: &mut Tx<'_>,
    chunk: &ImportChunk,
    setup: &ImportContext,
    so_far: &ImportReport,
) -> Result<ChunkOutcome, Error> {
    if !imports::claim_progress(tx, &setup.key, &chunk.start_position)? {
        return Ok(ChunkOutcome::StoredElsewhere);
    }
    let mut desk = ImportBatchState::new(setup.owner);
    users::store(tx, &mut desk, &chunk.items)?;
    user_resolver::resolve(tx, &mut desk, &chunk.items)?;
    posts::store(tx, &mut desk, &posts_in_id_order(chunk))?;
    lists::store(tx, &mut desk, &chunk.items)?;
    edges::store(tx, &mut desk, &chunk.items)?;
    media::store(tx, &mut desk, &chunk.items)?;
    messages::store(tx, &mut desk, &chunk.items)?;
    portable_rows::store(tx, &mut desk, &chunk.items)?;
    desk.flush_counters(tx, &setup.key)?;
    tx.keep_ids_above(PostId::new(desk.max_id));
    append_batch_event(tx, &desk, setup)?;
    let mut report = so_far.clone();
    report.merge(desk.report);
    report.merge(chunk.report.clone());
    let mark = ImportProgress {
        position: chunk.next_position.clone(),
        report: report.to_json_text(),
        finished: false,
    };
    imports::set_progress(tx, &setup.key, &mark)?;
    Ok(ChunkOutcome::Stored(Box::new(report)))
}

/// A reply then comes after the post that it replies to.
fn posts_in_id_order(chunk: &ImportChunk) -> Vec<&PreparedPost> {
    let posts = chunk.items.iter().filter_map(|item| match item {
        PreparedRecord::Post(post) => Some(&**post),
        _ => None,
    });
    let mut posts: Vec<_> = posts.collect();
    posts.sort_by_key(|post| post.post.id);
    posts
}

/// Appends one event for the whole chunk: the range of posts and the numbers of other records.
fn append_batch_event(tx: &mut Tx<'_>, desk: &ImportBatchState, setup: &ImportContext) -> Result<(), Error> {
    if desk.report.taken.is_empty() && desk.report.placeholders == crate::PlaceholderCounts::default() {
        return Ok(());
    }
    let body = json!({
        "source": setup.key,
        "taken": desk.report.taken,
        "first_post_id": desk.post_id_range.map(|range| range.0.to_string()),
        "last_post_id": desk.post_id_range.map(|range| range.1.to_string()),
    });
    let owner = setup.owner.map_or(0, base::UserId::get);
    Ok(event_log::append(tx, "import.batch", owner, 0, &body.to_string())?)
}
