//! What the index has to learn next, read from the store in one transaction.

use ::search::{IndexDocument, IndexSnapshot};
use base::{Fault, PostId, UserId};
use query::MatchMode;
use serde_json::Value;
use store::event_log::{self, LogEvent};
use store::posts::{self, PostState};
use store::{Tx, users};

use super::progress::{AuthorReindex, IndexProgress, PostIdRange};
use crate::post_facts::{self, StoredPostFacts};
use crate::visibility::{Visibility, profile_visibility};

/// Entries of the log that are read at once.
const EVENT_BATCH: i64 = 500;
/// Posts that are filed at once.
const POST_BATCH: i64 = 500;
/// Ids that are looked at at once where most are filed already.
const ID_BATCH: i64 = 5_000;

/// What is to be done to the index, in this order.
#[derive(Default)]
pub(super) struct IndexChanges {
    /// Throw everything away first.
    pub(super) clear_first: bool,
    /// The author whose posts are removed.
    pub(super) author: Option<i64>,
    /// Posts that are removed.
    pub(super) removed: Vec<i64>,
    /// Posts that are not there yet.
    pub(super) added: Vec<IndexDocument>,
    /// Posts that may be there.
    pub(super) updated: Vec<IndexDocument>,
    /// How far it has come then.
    pub(super) progress: IndexProgress,
}

impl IndexChanges {
    /// How many posts it concerns.
    pub(super) fn count(&self) -> usize {
        self.removed.len() + self.added.len() + self.updated.len() + usize::from(self.author.is_some())
    }
}

/// What is to be done next; nothing when all is done. What happens now comes before what was
/// there, so that a long way back keeps nobody waiting.
pub(super) fn gather_changes(
    tx: &mut Tx<'_>,
    progress: &IndexProgress,
    snapshot: &IndexSnapshot,
) -> Result<Option<IndexChanges>, Fault> {
    let Some(seq) = progress.seq else {
        return plan_full_build(tx).map(Some);
    };
    let events = event_log::list_after(tx, seq, EVENT_BATCH)?;
    let mut changes = IndexChanges {
        progress: progress.clone(),
        ..IndexChanges::default()
    };
    if !events.is_empty() {
        collect_event_changes(tx, &mut changes, &events)?;
    } else if let Some(range) = progress.build {
        let ids = posts::list_live_between(tx, range.above, range.last, POST_BATCH)?;
        changes.progress.build = remaining_range(range, &ids, POST_BATCH);
        changes.added = load_entries(tx, &ids)?;
    } else if let Some(author) = progress.authors.first().copied() {
        reindex_author(tx, &mut changes, author)?;
    } else if let Some(range) = progress.imported.first().copied() {
        let ids = posts::list_live_between(tx, range.above, range.last, ID_BATCH)?;
        let left = index_missing_posts(tx, &mut changes, range, &ids, snapshot)?;
        changes.progress.imported.splice(..1, left);
    } else {
        return Ok(None);
    }
    for entry in changes.added.iter().chain(&changes.updated) {
        changes.progress.highest = changes.progress.highest.max(entry.id);
    }
    Ok(Some(changes))
}

/// Whether an index that has come so far must be made anew: the log does not reach back to there,
/// or ends before.
pub(super) fn is_lost(tx: &mut Tx<'_>, progress: &IndexProgress) -> Result<bool, Fault> {
    let Some(seq) = progress.seq else {
        return Ok(false);
    };
    let end = event_log::end_cursor(tx)?.max(event_log::highest_seq(tx)?);
    Ok(seq > end || event_log::may_be_pruned(tx, seq)?)
}

/// Everything there is, from now on: what is written later is told by the log.
fn plan_full_build(tx: &mut Tx<'_>) -> Result<IndexChanges, Fault> {
    let seq = event_log::end_cursor(tx)?;
    let last = posts::highest_id(tx)?.get();
    let progress = IndexProgress {
        seq: Some(seq),
        highest: last,
        build: (last > 0).then_some(PostIdRange { above: 0, last }),
        ..IndexProgress::default()
    };
    Ok(IndexChanges {
        clear_first: true,
        progress,
        ..IndexChanges::default()
    })
}

fn collect_event_changes(tx: &mut Tx<'_>, changes: &mut IndexChanges, events: &[LogEvent]) -> Result<(), Fault> {
    let mut written = Vec::new();
    for event in events {
        changes.progress.seq = Some(event.seq);
        match event.kind.as_str() {
            "post.create" => written.push(PostId::new(event.subject_id)),
            "post.delete" => changes.removed.push(event.subject_id),
            "user.suspend" | "user.restore" | "user.delete" | "user.protect" | "profile.update.verified" => {
                changes.progress.add_author(event.subject_id)
            }
            "import.batch" => {
                if let Some(range) = parse_import_range(&event.body) {
                    changes.progress.add_range(range);
                }
            }
            _ => {}
        }
    }
    written.sort_unstable();
    written.dedup();
    for facts in post_facts::load_post_facts(tx, &written, false)? {
        if let Some(root) = facts.row.edit_root_id {
            let versions = posts::list_versions(tx, root)?;
            let earlier = versions.into_iter().filter(|id| *id < facts.row.id);
            changes.removed.extend(earlier.map(PostId::get));
        }
        let known = facts.row.id.get() <= changes.progress.highest;
        match build_entry(&facts) {
            Some(entry) if known => changes.updated.push(entry),
            Some(entry) => changes.added.push(entry),
            None if known => changes.removed.push(facts.row.id.get()),
            None => {}
        }
    }
    // What is gone by now is not live in the store either, so that the order does not count.
    Ok(())
}

fn parse_import_range(body: &str) -> Option<PostIdRange> {
    let body: Value = serde_json::from_str(body).ok()?;
    let id = |name| body.get(name)?.as_str()?.parse::<i64>().ok();
    Some(PostIdRange {
        above: id("first_post_id")?.saturating_sub(1),
        last: id("last_post_id")?,
    })
}

/// Takes an author's posts away and, if they may be seen, files them again.
fn reindex_author(tx: &mut Tx<'_>, changes: &mut IndexChanges, author: AuthorReindex) -> Result<(), Fault> {
    let id = UserId::new(author.id);
    let user = users::find_by_id(tx, id)?;
    let shown = user.is_some_and(|user| !user.protected && profile_visibility(&user) == Visibility::Visible);
    if author.below == i64::MAX {
        changes.author = Some(author.id);
    }
    let ids = if shown {
        posts::list_ids_by_author(tx, id, author.below, POST_BATCH)?
    } else {
        Vec::new()
    };
    changes.added = load_entries(tx, &ids)?;
    let below = ids.last().map(|last| last.get());
    let more = below.filter(|_| is_full(&ids, POST_BATCH));
    let left = more.map(|below| AuthorReindex { below, ..author });
    changes.progress.authors.splice(..1, left);
    Ok(())
}

/// Files what is not there of some posts; what is left of the range.
fn index_missing_posts(
    tx: &mut Tx<'_>,
    changes: &mut IndexChanges,
    range: PostIdRange,
    ids: &[PostId],
    snapshot: &IndexSnapshot,
) -> Result<Option<PostIdRange>, Fault> {
    let mut missing = Vec::new();
    let most = usize::try_from(POST_BATCH).unwrap_or(usize::MAX);
    for id in ids {
        if !snapshot.contains_post(id.get())? {
            missing.push(*id);
        }
        if missing.len() >= most {
            break;
        }
    }
    changes.updated = load_entries(tx, &missing)?;
    if missing.len() >= most {
        let above = missing.last().map_or(range.last, |last| last.get());
        return Ok(Some(PostIdRange { above, ..range }));
    }
    Ok(remaining_range(range, ids, ID_BATCH))
}

/// What is left of a range after some ids of it.
fn remaining_range(range: PostIdRange, ids: &[PostId], limit: i64) -> Option<PostIdRange> {
    let last = ids.last().filter(|_| is_full(ids, limit))?;
    let above = last.get();
    Some(PostIdRange { above, ..range })
}

fn is_full(ids: &[PostId], limit: i64) -> bool {
    i64::try_from(ids.len()).is_ok_and(|count| count >= limit)
}

fn load_entries(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<IndexDocument>, Fault> {
    let facts = post_facts::load_post_facts(tx, ids, false)?;
    Ok(facts.iter().filter_map(build_entry).collect())
}

/// A post as the index takes it, if it is one that searches find.
fn build_entry(facts: &StoredPostFacts) -> Option<IndexDocument> {
    let row = &facts.row;
    let found = row.state == PostState::Live
        && facts.visibility == Visibility::Visible
        && row.repost_of_id.is_none()
        && !row.nullcast;
    found.then(|| IndexDocument {
        id: row.id.get(),
        created_at_ms: row.created_at.ms(),
        author: row.author_id.get(),
        keys: facts.map_query_post(|post| query::PostFeatures::new(post, MatchMode::Search).index_keys()),
    })
}
