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

use base::{Error, Fault, PostId, UserId};
use serde_json::json;
use store::imports::{self, ImportProgress};
use store::{Tx, event_log};

pub(crate) use owner::resolve_owner;

use crate::import::ImportContext;
use crate::reader::{ImportChunk, PreparedPost, PreparedRecord};
use crate::report::ImportReport;
use batch_state::ImportBatchState;

/// Readers of the log hold hundreds of its entries at a time.
const MAX_IDS_PER_EVENT: usize = 1_000;

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
    context: &ImportContext,
    so_far: &ImportReport,
) -> Result<ChunkOutcome, Error> {
    if !imports::claim_progress(tx, &context.key, &chunk.start_position)? {
        return Ok(ChunkOutcome::StoredElsewhere);
    }
    let mut batch = ImportBatchState::new(context.owner);
    batch.is_archive = context.is_archive;
    users::store(tx, &mut batch, &chunk.items)?;
    user_resolver::resolve(tx, &mut batch, &chunk.items)?;
    posts::store(tx, &mut batch, &posts_in_id_order(chunk))?;
    lists::store(tx, &mut batch, &chunk.items)?;
    edges::store(tx, &mut batch, &chunk.items)?;
    media::store(tx, &mut batch, &chunk.items)?;
    messages::store(tx, &mut batch, &chunk.items)?;
    portable_rows::store(tx, &mut batch, &chunk.items)?;
    batch.flush_counters(tx, &context.key)?;
    tx.keep_ids_above(PostId::new(batch.max_id));
    append_batch_event(tx, &batch, context)?;
    let changed_posts: Vec<i64> = batch.changed_posts.iter().copied().collect();
    append_change_events(tx, context.owner, &batch.changed_users, &changed_posts)?;
    let mut report = so_far.clone();
    report.merge(batch.report);
    report.merge(chunk.report.clone());
    let progress =
        ImportProgress { position: chunk.next_position.clone(), report: report.to_json_text(), finished: false };
    imports::set_progress(tx, &context.key, &progress)?;
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
fn append_batch_event(tx: &mut Tx<'_>, batch: &ImportBatchState, context: &ImportContext) -> Result<(), Error> {
    if batch.report.taken.is_empty() && batch.report.placeholders == crate::PlaceholderCounts::default() {
        return Ok(());
    }
    let body = json!({
        "source": context.key,
        "taken": batch.report.taken,
        "first_post_id": batch.post_id_range.map(|range| range.0.to_string()),
        "last_post_id": batch.post_id_range.map(|range| range.1.to_string()),
    });
    let owner = context.owner.map_or(0, UserId::get);
    Ok(event_log::append(tx, "import.batch", owner, 0, &body.to_string())?)
}

/// Appends events about users and posts of earlier transactions that this one changed, in the given order.
fn append_change_events(tx: &mut Tx<'_>, owner: Option<UserId>, users: &[i64], posts: &[i64]) -> Result<(), Fault> {
    let owner = owner.map_or(0, UserId::get);
    for (member, ids) in [("changed_user_ids", users), ("changed_post_ids", posts)] {
        for part in ids.chunks(MAX_IDS_PER_EVENT) {
            let part: Vec<String> = part.iter().map(i64::to_string).collect();
            event_log::append(tx, "import.batch", owner, 0, &json!({ member: part }).to_string())?;
        }
    }
    Ok(())
}
