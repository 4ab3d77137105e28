//! Computes the next changes to the index in one read transaction.

use ::search::{IndexDocument, IndexSnapshot};
use base::{Fault, PostId, UserId};
use query::MatchMode;
use serde_json::Value;
use store::event_log::{self, LogEvent};
use store::posts::{self, PostState};
use store::{Tx, users};

use crate::progress::{AuthorReindex, IndexProgress, PostIdRange, describe_entry};
use network::post_facts::{self, StoredPostFacts};
use network::visibility::{Visibility, profile_visibility};

/// Log entries per step.
const EVENT_BATCH: i64 = 500;
/// Posts indexed per step.
const POST_BATCH: i64 = 500;
/// Ids examined per step if most are already indexed.
const ID_BATCH: i64 = 5_000;

/// Changes to the index, in this order.
#[derive(Default)]
pub(super) struct IndexChanges {
    /// Whether to clear the index first.
    pub(super) clear_first: bool,
    /// An author whose posts are removed.
    pub(super) author: Option<i64>,
    pub(super) removed: Vec<i64>,
    /// Posts that are not in the index.
    pub(super) added: Vec<IndexDocument>,
    /// Posts that may be in the index.
    pub(super) updated: Vec<IndexDocument>,
    /// The progress after these changes.
    pub(super) progress: IndexProgress,
}

impl IndexChanges {
    /// The number of affected posts.
    pub(super) fn count(&self) -> usize {
        self.removed.len() + self.added.len() + self.updated.len() + usize::from(self.author.is_some())
    }
}

/// Indexes posts again as they are now, or removes them.
pub(super) fn reindex_posts(tx: &mut Tx<'_>, progress: &IndexProgress, ids: &[i64]) -> Result<IndexChanges, Fault> {
    let posts: Vec<PostId> = ids.iter().copied().map(PostId::new).collect();
    let mut updated = load_entries(tx, &posts)?;
    updated.retain(|entry| !progress.will_build(entry.id));
    let highest = updated.iter().map(|entry| entry.id).fold(progress.highest, i64::max);
    let progress = IndexProgress { highest, ..progress.clone() };
    Ok(IndexChanges { removed: ids.to_vec(), updated, progress, ..IndexChanges::default() })
}

/// The next changes; none if the index is up to date. New events come before backlogs, so that they become searchable
/// soon, but not before the authors if it is the `turn_of_authors`: events may never cease, and what somebody wrote who
/// was limited since must not be found until then.
pub(super) fn gather_changes(
    tx: &mut Tx<'_>,
    progress: &IndexProgress,
    turn_of_authors: bool,
    snapshot: &IndexSnapshot,
) -> Result<Option<IndexChanges>, Fault> {
    let Some(seq) = progress.seq else {
        return plan_full_build(tx).map(Some);
    };
    let mut changes = IndexChanges { progress: progress.clone(), ..IndexChanges::default() };
    let waiting_author = progress.authors.first().copied().filter(|_| progress.build.is_none());
    let first_author = waiting_author.filter(|_| turn_of_authors);
    let events = if first_author.is_none() { event_log::list_after(tx, seq, EVENT_BATCH)? } else { Vec::new() };
    if !events.is_empty() {
        collect_event_changes(tx, &mut changes, &events)?;
    } else if let Some(range) = progress.build {
        let ids = posts::list_live_between(tx, range.above, range.last, POST_BATCH)?;
        changes.progress.build = remaining_range(range, &ids, POST_BATCH);
        changes.added = load_entries(tx, &ids)?;
    } else if let Some(author) = waiting_author {
        reindex_author(tx, &mut changes, author)?;
    } else if let Some(range) = progress.imported.first().copied() {
        let ids = posts::list_live_between(tx, range.above, range.last, ID_BATCH)?;
        let remaining = index_missing_posts(tx, &mut changes, range, &ids, snapshot)?;
        changes.progress.imported.splice(..1, remaining);
    } else {
        return Ok(None);
    }
    for entry in changes.added.iter().chain(&changes.updated) {
        changes.progress.highest = changes.progress.highest.max(entry.id);
    }
    Ok(Some(changes))
}

/// Why the index cannot follow the log and must be rebuilt, if so.
pub(super) fn find_loss(tx: &mut Tx<'_>, progress: &IndexProgress) -> Result<Option<&'static str>, Fault> {
    let Some(seq) = progress.seq else {
        return Ok(None);
    };
    let end = event_log::end_cursor(tx)?;
    if seq > end {
        return Ok(Some("it is ahead of the database"));
    }
    if let Some(entry) = &progress.entry
        && find_entry(tx, seq)?.is_some_and(|found| describe_entry(&found) != *entry)
    {
        return Ok(Some("the database was restored to an earlier state"));
    }
    Ok(event_log::may_be_pruned(tx, seq)?.then_some("log entries that it has not read were deleted"))
}

/// The same for an index that was copied from elsewhere: it has to be certain that it followed this log.
pub(super) fn find_copy_loss(tx: &mut Tx<'_>, progress: &IndexProgress) -> Result<Option<&'static str>, Fault> {
    let is_comparable = match (progress.seq, &progress.entry) {
        (Some(seq), Some(_)) => find_entry(tx, seq)?.is_some(),
        _ => false,
    };
    let loss = find_loss(tx, progress)?;
    Ok(loss.or((!is_comparable).then_some("its position cannot be compared with the event log")))
}

fn find_entry(tx: &mut Tx<'_>, seq: i64) -> Result<Option<LogEvent>, Fault> {
    let found = event_log::list_after(tx, seq.saturating_sub(1), 1)?.pop();
    Ok(found.filter(|event| event.seq == seq))
}

/// A build of all existing posts; later ones follow from the log.
fn plan_full_build(tx: &mut Tx<'_>) -> Result<IndexChanges, Fault> {
    let seq = event_log::end_cursor(tx)?;
    let last = posts::highest_id(tx)?.get();
    let progress = IndexProgress {
        seq: Some(seq),
        entry: find_entry(tx, seq)?.as_ref().map(describe_entry),
        highest: last,
        build: (last > 0).then_some(PostIdRange { above: 0, last }),
        ..IndexProgress::default()
    };
    Ok(IndexChanges { clear_first: true, progress, ..IndexChanges::default() })
}

fn collect_event_changes(tx: &mut Tx<'_>, changes: &mut IndexChanges, events: &[LogEvent]) -> Result<(), Fault> {
    let mut changed: Vec<PostId> = Vec::new();
    for event in events {
        // The rest is read in the next step.
        if is_full(&changed, POST_BATCH) {
            break;
        }
        changes.progress.set_cursor(event);
        match event.kind.as_str() {
            "post.create" | "post.restore" | "post.limit" => changed.push(PostId::new(event.subject_id)),
            "post.delete" => changes.removed.push(event.subject_id),
            "user.suspend"
            | "user.restore"
            | "user.delete"
            | "user.protect"
            | "user.limit"
            | "profile.update.verified" => {
                changes.progress.add_author(event.subject_id);
            }
            "import.batch" => collect_import_changes(&event.body, &mut changed, &mut changes.progress),
            _ => {}
        }
    }
    changed.sort_unstable();
    changed.dedup();
    for facts in post_facts::load_post_facts(tx, &changed, false)? {
        if let Some(root) = facts.row.edit_root_id {
            let versions = posts::list_versions(tx, root)?;
            let earlier = versions.into_iter().filter(|id| *id < facts.row.id);
            changes.removed.extend(earlier.map(PostId::get));
        }
        let may_be_indexed = facts.row.id.get() <= changes.progress.highest;
        match build_entry(&facts) {
            Some(entry) if changes.progress.will_build(entry.id) => {}
            Some(entry) if may_be_indexed => changes.updated.push(entry),
            Some(entry) => changes.added.push(entry),
            None if may_be_indexed => changes.removed.push(facts.row.id.get()),
            None => {}
        }
    }
    // Posts deleted since are not live in the store, so the order of changes does not matter.
    Ok(())
}

/// Every member of the body may be missing.
fn collect_import_changes(body: &str, changed: &mut Vec<PostId>, progress: &mut IndexProgress) {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    changed.extend(parse_ids(&body, "changed_post_ids").map(PostId::new));
    // In their order: posts of one may have moved to the next.
    parse_ids(&body, "changed_user_ids").for_each(|user| progress.add_author(user));
    if let Some(range) = parse_import_range(&body) {
        progress.add_range(range);
    }
}

fn parse_ids<'a>(body: &'a Value, name: &str) -> impl Iterator<Item = i64> + use<'a> {
    let ids = body.get(name).and_then(Value::as_array);
    ids.into_iter().flatten().filter_map(|id| id.as_str()?.parse().ok())
}

fn parse_import_range(body: &Value) -> Option<PostIdRange> {
    let id = |name| body.get(name)?.as_str()?.parse::<i64>().ok();
    Some(PostIdRange { above: id("first_post_id")?.saturating_sub(1), last: id("last_post_id")? })
}

/// Removes an author's posts and indexes them again if they are public.
fn reindex_author(tx: &mut Tx<'_>, changes: &mut IndexChanges, author: AuthorReindex) -> Result<(), Fault> {
    let id = UserId::new(author.id);
    let user = users::find_by_id(tx, id)?;
    let is_public = user.is_some_and(|user| !user.protected && profile_visibility(&user) == Visibility::Visible);
    if author.below == i64::MAX {
        changes.author = Some(author.id);
    }
    let ids =
        if is_public { posts::list_searchable_ids_by_author(tx, id, author.below, POST_BATCH)? } else { Vec::new() };
    let entries = load_entries(tx, &ids)?;
    // After the first step, events have updated some of them.
    *(if author.below == i64::MAX { &mut changes.added } else { &mut changes.updated }) = entries;
    let below = ids.last().map(|last| last.get());
    let more = below.filter(|_| is_full(&ids, POST_BATCH));
    let remaining = more.map(|below| AuthorReindex { below, ..author });
    changes.progress.authors.splice(..1, remaining);
    Ok(())
}

/// Indexes missing posts; returns the rest of the range.
fn index_missing_posts(
    tx: &mut Tx<'_>,
    changes: &mut IndexChanges,
    range: PostIdRange,
    ids: &[PostId],
    snapshot: &IndexSnapshot,
) -> Result<Option<PostIdRange>, Fault> {
    let mut missing = Vec::new();
    let max = usize::try_from(POST_BATCH).unwrap_or(usize::MAX);
    for id in ids {
        if !snapshot.contains_post(id.get())? {
            missing.push(*id);
        }
        if missing.len() >= max {
            break;
        }
    }
    changes.updated = load_entries(tx, &missing)?;
    if missing.len() >= max {
        let above = missing.last().map_or(range.last, |last| last.get());
        return Ok(Some(PostIdRange { above, ..range }));
    }
    Ok(remaining_range(range, ids, ID_BATCH))
}

/// The rest of a range after some of its ids.
fn remaining_range(range: PostIdRange, ids: &[PostId], limit: i64) -> Option<PostIdRange> {
    let last = ids.last().filter(|_| is_full(ids, limit))?;
    let above = last.get();
    Some(PostIdRange { above, ..range })
}

fn is_full(ids: &[PostId], limit: i64) -> bool {
    i64::try_from(ids.len()).is_ok_and(|count| count >= limit)
}

pub(super) fn load_entries(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<IndexDocument>, Fault> {
    let facts = post_facts::load_post_facts(tx, ids, false)?;
    Ok(facts.iter().filter_map(build_entry).collect())
}

/// The document of a post, if it is searchable.
fn build_entry(facts: &StoredPostFacts) -> Option<IndexDocument> {
    let row = &facts.row;
    let is_searchable = row.state == PostState::Live
        && facts.visibility == Visibility::Visible
        && row.repost_of_id.is_none()
        && !row.limited
        && !facts.is_author_limited();
    is_searchable.then(|| IndexDocument {
        id: row.id.get(),
        created_at_ms: row.created_at.ms(),
        author: row.author_id.get(),
        keys: facts.map_query_post(|post| query::PostFeatures::new(post, MatchMode::Search).index_keys()),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::encryption::{Keyring, MasterKey};
    use base::{Clock, Rng, Time};
    use store::{DatabaseLocation, NodePurpose, NodeRoles, Store, StoreOptions};

    use super::*;
    use crate::PostSearch;
    use network::posts::{NewPost, PostAuthor};
    use network::users::NewUser;

    async fn open_store(folder: &std::path::Path) -> Store {
        let options = StoreOptions {
            location: DatabaseLocation::File(folder.join("locum.db")),
            data_dir: folder.to_owned(),
            connections: 2,
            node: 0,
            purpose: NodePurpose::Server(NodeRoles::ALL),
            migrate: true,
            clock: Clock::frozen_at(Time::from_seconds(1_780_315_200)),
            rng: Rng::Os,
            keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
        };
        Store::open(options).await.unwrap()
    }

    /// On PostgreSQL, an entry of the log gets its number after the post was committed.
    #[tokio::test]
    async fn post_whose_entry_is_read_during_a_build_is_indexed_once() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = open_store(folder.path()).await;
        let search: Arc<PostSearch> = PostSearch::open(&folder.path().join("index")).unwrap();
        let snapshot = search.snapshot();
        let read = move |tx: &mut Tx<'_>| {
            let author = network::users::create(tx, &NewUser { username: "author".to_owned(), ..NewUser::default() })?;
            let new = NewPost { text: "one".to_owned(), ..NewPost::default() };
            let post =
                network::posts::create(tx, &PostAuthor { user_id: author.id, app_id: None, self_serve: false }, &new)?;
            let plan = gather_changes(tx, &IndexProgress::default(), false, &snapshot)?.unwrap();
            event_log::append(tx, "post.limit", author.id.get(), post.id.get(), "")?;
            let entry = gather_changes(tx, &plan.progress, false, &snapshot)?.unwrap();
            let requested = reindex_posts(tx, &entry.progress, &[post.id.get()])?;
            let build = gather_changes(tx, &entry.progress, false, &snapshot)?.unwrap();
            Ok([entry.count(), requested.updated.len(), build.added.len()])
        };
        assert_eq!(store.write(read).await.unwrap(), [0, 0, 1]);
    }
}
