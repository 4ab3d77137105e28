//! The progress of the index, which is stored with it.

use serde::{Deserialize, Serialize};
use serde_json::json;
use store::event_log::LogEvent;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexProgress {
    /// The log cursor; none before the first build.
    pub(super) seq: Option<i64>,
    /// What the log has there, so that the log of a database with another past is recognized. None in an empty log and
    /// in indexes of earlier versions.
    pub(super) entry: Option<String>,
    /// The highest id ever indexed; posts with higher ids are new.
    pub(super) highest: i64,
    /// The rest of the initial build.
    pub(super) build: Option<PostIdRange>,
    /// Imported posts that are not indexed yet.
    pub(super) imported: Vec<PostIdRange>,
    /// Authors whose posts must be indexed again.
    pub(super) authors: Vec<AuthorReindex>,
}

/// A range of post ids, stored as `[above, last]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(i64, i64)")]
pub(super) struct PostIdRange {
    /// Exclusive.
    pub(super) above: i64,
    /// Inclusive.
    pub(super) last: i64,
}

/// Stored as `[id, below]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(i64, i64)")]
pub(super) struct AuthorReindex {
    pub(super) id: i64,
    /// Posts below this id are not indexed yet; `i64::MAX` at the start.
    pub(super) below: i64,
}

impl From<PostIdRange> for (i64, i64) {
    fn from(range: PostIdRange) -> Self {
        (range.above, range.last)
    }
}

impl From<AuthorReindex> for (i64, i64) {
    fn from(author: AuthorReindex) -> Self {
        (author.id, author.below)
    }
}

impl IndexProgress {
    /// Whether the build is still to come to a post, which it adds without looking for an older document.
    pub(super) fn will_build(&self, id: i64) -> bool {
        self.build.is_some_and(|range| range.above < id && id <= range.last)
    }

    /// Everything up to an entry of the log is known.
    pub(super) fn set_cursor(&mut self, event: &LogEvent) {
        self.seq = Some(event.seq);
        self.entry = Some(describe_entry(event));
    }

    /// Adds imported posts; overlapping ranges that were not started are merged.
    pub(super) fn add_range(&mut self, range: PostIdRange) {
        let mut range = range;
        // The first range may be in progress, so it is not merged.
        let started = usize::from(!self.imported.is_empty());
        let waiting = self.imported.split_off(started);
        for other in waiting {
            if other.above <= range.last && range.above <= other.last {
                range.above = range.above.min(other.above);
                range.last = range.last.max(other.last);
            } else {
                self.imported.push(other);
            }
        }
        self.imported.push(range);
    }

    /// Indexes an author's posts again, from the start if that is in progress.
    pub(super) fn add_author(&mut self, id: i64) {
        self.authors.retain(|author| author.id != id);
        let below = i64::MAX;
        self.authors.push(AuthorReindex { id, below });
    }

    pub(super) fn to_json(&self) -> String {
        json!(self).to_string()
    }

    /// Parses the result of [`IndexProgress::to_json`].
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Different for different entries, whatever their numbers are.
pub(super) fn describe_entry(event: &LogEvent) -> String {
    format!("{} {} {} {}", event.at.ms(), event.kind, event.actor_id, event.subject_id)
}

#[cfg(test)]
mod tests {
    use super::{IndexProgress, PostIdRange};

    #[test]
    fn what_is_written_is_read_again() {
        let mut progress = IndexProgress {
            seq: Some(7),
            entry: Some("5 post.create 3 4".to_owned()),
            highest: 9,
            build: Some(PostIdRange { above: 3, last: 8 }),
            ..IndexProgress::default()
        };
        progress.add_author(5);
        progress.add_range(PostIdRange { above: 1, last: 2 });
        assert_eq!(IndexProgress::parse(&progress.to_json()), Some(progress));
        let new = IndexProgress::default();
        assert_eq!(IndexProgress::parse(&new.to_json()), Some(new));
        assert_eq!(IndexProgress::parse("{}"), None);
    }

    #[test]
    fn overlapping_imports_are_one_but_for_the_one_under_way() {
        let mut progress = IndexProgress::default();
        for (above, last) in [(0, 10), (5, 20), (15, 30), (40, 50), (29, 41)] {
            progress.add_range(PostIdRange { above, last });
        }
        let expected = [PostIdRange { above: 0, last: 10 }, PostIdRange { above: 5, last: 50 }];
        assert_eq!(progress.imported, expected);
    }
}
