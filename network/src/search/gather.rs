//! What the index has to learn next, read from the store in one transaction.

use ::search::{Entry, Snapshot};
use base::{Fault, PostId, UserId};
use query::Reading;
use serde_json::Value;
use store::event_log::{self, LogEvent};
use store::posts::{self, PostState};
use store::{Tx, users};

use super::progress::{Author, Progress, Range};
use crate::facts::{self, PostFacts};
use crate::visibility::{Sight, of_user};

/// Entries of the log that are read at once.
const ENTRIES: i64 = 500;
/// Posts that are filed at once.
const POSTS: i64 = 500;
/// Ids that are looked at at once where most are filed already.
const LOOKED_AT: i64 = 5_000;

/// What is to be done to the index, in this order.
#[derive(Default)]
pub(super) struct Changes {
    /// Throw everything away first.
    pub(super) anew: bool,
    /// The author whose posts are removed.
    pub(super) author: Option<i64>,
    /// Posts that are removed.
    pub(super) gone: Vec<i64>,
    /// Posts that are not there yet.
    pub(super) new: Vec<Entry>,
    /// Posts that may be there.
    pub(super) again: Vec<Entry>,
    /// How far it has come then.
    pub(super) progress: Progress,
}

impl Changes {
    /// How many posts it concerns.
    pub(super) fn count(&self) -> usize {
        self.gone.len() + self.new.len() + self.again.len() + usize::from(self.author.is_some())
    }
}

/// What is to be done next; nothing when all is done. What happens now comes before what was
/// there, so that a long way back keeps nobody waiting.
pub(super) fn gather(
    tx: &mut Tx<'_>,
    progress: &Progress,
    snapshot: &Snapshot,
) -> Result<Option<Changes>, Fault> {
    let Some(seq) = progress.seq else {
        return begin(tx).map(Some);
    };
    let events = event_log::list_after(tx, seq, ENTRIES)?;
    let mut changes = Changes {
        progress: progress.clone(),
        ..Changes::default()
    };
    if !events.is_empty() {
        read_on(tx, &mut changes, &events)?;
    } else if let Some(range) = progress.build {
        let ids = posts::list_live_between(tx, range.above, range.last, POSTS)?;
        changes.progress.build = rest(range, &ids, POSTS);
        changes.new = entries(tx, &ids)?;
    } else if let Some(author) = progress.authors.first().copied() {
        look_again(tx, &mut changes, author)?;
    } else if let Some(range) = progress.imported.first().copied() {
        let ids = posts::list_live_between(tx, range.above, range.last, LOOKED_AT)?;
        let left = take_missing(tx, &mut changes, range, &ids, snapshot)?;
        changes.progress.imported.splice(..1, left);
    } else {
        return Ok(None);
    }
    for entry in changes.new.iter().chain(&changes.again) {
        changes.progress.highest = changes.progress.highest.max(entry.id);
    }
    Ok(Some(changes))
}

/// Whether an index that has come so far must be made anew: the log does not reach back to there,
/// or ends before.
pub(super) fn is_lost(tx: &mut Tx<'_>, progress: &Progress) -> Result<bool, Fault> {
    let Some(seq) = progress.seq else {
        return Ok(false);
    };
    let end = event_log::end_cursor(tx)?.max(event_log::highest_seq(tx)?);
    Ok(seq > end || event_log::may_be_pruned(tx, seq)?)
}

/// Everything there is, from now on: what is written later is told by the log.
fn begin(tx: &mut Tx<'_>) -> Result<Changes, Fault> {
    let seq = event_log::end_cursor(tx)?;
    let last = posts::highest_id(tx)?.get();
    let progress = Progress {
        seq: Some(seq),
        highest: last,
        build: (last > 0).then_some(Range { above: 0, last }),
        ..Progress::default()
    };
    Ok(Changes {
        anew: true,
        progress,
        ..Changes::default()
    })
}

fn read_on(tx: &mut Tx<'_>, changes: &mut Changes, events: &[LogEvent]) -> Result<(), Fault> {
    let mut written = Vec::new();
    for event in events {
        changes.progress.seq = Some(event.seq);
        match event.kind.as_str() {
            "post.create" => written.push(PostId::new(event.subject_id)),
            "post.delete" => changes.gone.push(event.subject_id),
            "user.suspend"
            | "user.restore"
            | "user.delete"
            | "user.protect"
            | "profile.update.verified" => changes.progress.add_author(event.subject_id),
            "import.batch" => {
                if let Some(range) = imported(&event.body) {
                    changes.progress.add_range(range);
                }
            }
            _ => {}
        }
    }
    written.sort_unstable();
    written.dedup();
    for facts in facts::of(tx, &written, false)? {
        if let Some(root) = facts.row.edit_root_id {
            let versions = posts::list_versions(tx, root)?;
            let earlier = versions.into_iter().filter(|id| *id < facts.row.id);
            changes.gone.extend(earlier.map(PostId::get));
        }
        let known = facts.row.id.get() <= changes.progress.highest;
        match entry(&facts) {
            Some(entry) if known => changes.again.push(entry),
            Some(entry) => changes.new.push(entry),
            None if known => changes.gone.push(facts.row.id.get()),
            None => {}
        }
    }
    // What is gone by now is not live in the store either, so that the order does not count.
    Ok(())
}

fn imported(body: &str) -> Option<Range> {
    let body: Value = serde_json::from_str(body).ok()?;
    let id = |name| body.get(name)?.as_str()?.parse::<i64>().ok();
    Some(Range {
        above: id("first_post_id")?.saturating_sub(1),
        last: id("last_post_id")?,
    })
}

/// Takes an author's posts away and, if they may be seen, files them again.
fn look_again(tx: &mut Tx<'_>, changes: &mut Changes, author: Author) -> Result<(), Fault> {
    let id = UserId::new(author.id);
    let user = users::find_by_id(tx, id)?;
    let shown = user.is_some_and(|user| !user.protected && of_user(&user) == Sight::Visible);
    if author.below == i64::MAX {
        changes.author = Some(author.id);
    }
    let ids = if shown {
        posts::list_ids_by_author(tx, id, author.below, POSTS)?
    } else {
        Vec::new()
    };
    changes.new = entries(tx, &ids)?;
    let below = ids.last().map(|last| last.get());
    let more = below.filter(|_| is_full(&ids, POSTS));
    let left = more.map(|below| Author { below, ..author });
    changes.progress.authors.splice(..1, left);
    Ok(())
}

/// Files what is not there of some posts; what is left of the range.
fn take_missing(
    tx: &mut Tx<'_>,
    changes: &mut Changes,
    range: Range,
    ids: &[PostId],
    snapshot: &Snapshot,
) -> Result<Option<Range>, Fault> {
    let mut missing = Vec::new();
    let most = usize::try_from(POSTS).unwrap_or(usize::MAX);
    for id in ids {
        if !snapshot.holds(id.get())? {
            missing.push(*id);
        }
        if missing.len() >= most {
            break;
        }
    }
    changes.again = entries(tx, &missing)?;
    if missing.len() >= most {
        let above = missing.last().map_or(range.last, |last| last.get());
        return Ok(Some(Range { above, ..range }));
    }
    Ok(rest(range, ids, LOOKED_AT))
}

/// What is left of a range after some ids of it.
fn rest(range: Range, ids: &[PostId], limit: i64) -> Option<Range> {
    let last = ids.last().filter(|_| is_full(ids, limit))?;
    let above = last.get();
    Some(Range { above, ..range })
}

fn is_full(ids: &[PostId], limit: i64) -> bool {
    i64::try_from(ids.len()).is_ok_and(|count| count >= limit)
}

fn entries(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Entry>, Fault> {
    let facts = facts::of(tx, ids, false)?;
    Ok(facts.iter().filter_map(entry).collect())
}

/// A post as the index takes it, if it is one that searches find.
fn entry(facts: &PostFacts) -> Option<Entry> {
    let row = &facts.row;
    let found = row.state == PostState::Live
        && facts.sight == Sight::Visible
        && row.repost_of_id.is_none()
        && !row.nullcast;
    found.then(|| Entry {
        id: row.id.get(),
        at: row.created_at.ms(),
        author: row.author_id.get(),
        filed: facts.lend(|post| query::Facts::new(post, Reading::Search).filed()),
    })
}
