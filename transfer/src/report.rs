//! The report of an import.

use std::collections::BTreeMap;

use base::UserId;
use serde::{Deserialize, Serialize};

/// Further reasons are counted together.
const MAX_SKIP_REASONS: usize = 60;
const MAX_REMARKS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRecords {
    /// A record's kind, or an archive's data type.
    pub kind: String,
    pub why: String,
    pub count: u64,
    /// The position of the first, `data/tweets.js:12`, or its id, `post 12`.
    pub example: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceholderCounts {
    pub users: u64,
    pub posts: u64,
    /// Completed by this import.
    pub completed_users: u64,
    /// Completed by this import.
    pub completed_posts: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCopyCounts {
    pub copied: u64,
    pub bytes: u64,
    /// Already in the media folder.
    pub present: u64,
    /// Not in the source.
    pub missing: u64,
}

/// Covers all runs of an interrupted import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReport {
    /// Stored records, by kind.
    pub taken: BTreeMap<String, u64>,
    /// Existing records, by kind.
    pub known: BTreeMap<String, u64>,
    pub skipped: Vec<SkippedRecords>,
    /// Elements by data type according to the archive's manifest; empty without one.
    pub promised: BTreeMap<String, u64>,
    /// Elements that were read, by data type.
    pub seen: BTreeMap<String, u64>,
    pub placeholders: PlaceholderCounts,
    pub media: MediaCopyCounts,
    /// About existing users and how they were changed.
    pub remarks: Vec<String>,
    /// The position at which an interrupted import was resumed.
    pub resumed_from: Option<String>,
    pub records: u64,
    /// Records in the source, counted by the check.
    pub total: u64,
    /// Whose data an archive contains.
    #[serde(skip)]
    pub owner: Option<UserId>,
}

impl ImportReport {
    pub(crate) fn count_stored(&mut self, kind: &str) {
        increment(&mut self.taken, kind, 1);
    }

    pub(crate) fn count_known(&mut self, kind: &str) {
        increment(&mut self.known, kind, 1);
    }

    pub(crate) fn count_seen(&mut self, data_type: &str, count: u64) {
        increment(&mut self.seen, data_type, count);
    }

    pub(crate) fn remark(&mut self, remark: String) {
        if self.remarks.len() < MAX_REMARKS && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    pub(crate) fn skip(&mut self, kind: &str, why: &str, example: impl FnOnce() -> String) {
        self.add_skipped(kind, why, 1, example);
    }

    pub(crate) fn add_skipped(&mut self, kind: &str, why: &str, count: u64, example: impl FnOnce() -> String) {
        let same = |skip: &&mut SkippedRecords| skip.kind == kind && skip.why == why;
        if let Some(skip) = self.skipped.iter_mut().find(same) {
            skip.count += count;
            return;
        }
        let full = self.skipped.len() >= MAX_SKIP_REASONS;
        if full && kind != "others" {
            return self.add_skipped("others", "for further reasons", count, example);
        }
        self.skipped.push(SkippedRecords { kind: kind.to_owned(), why: why.to_owned(), count, example: example() });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (kind, count) in other.taken {
            increment(&mut self.taken, &kind, count);
        }
        for (kind, count) in other.known {
            increment(&mut self.known, &kind, count);
        }
        for (kind, count) in other.seen {
            increment(&mut self.seen, &kind, count);
        }
        for skip in other.skipped {
            self.add_skipped(&skip.kind, &skip.why, skip.count, || skip.example);
        }
        for remark in other.remarks {
            self.remark(remark);
        }
        let (totals, added) = (&mut self.placeholders, other.placeholders);
        totals.users += added.users;
        totals.posts += added.posts;
        totals.completed_users += added.completed_users;
        totals.completed_posts += added.completed_posts;
        let (totals, added) = (&mut self.media, other.media);
        totals.copied += added.copied;
        totals.bytes += added.bytes;
        totals.present += added.present;
        totals.missing += added.missing;
        self.records += other.records;
    }

    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(crate) fn to_json_text(&self) -> String {
        self.to_json().to_string()
    }
}

fn increment(to: &mut BTreeMap<String, u64>, kind: &str, count: u64) {
    if let Some(so_far) = to.get_mut(kind) {
        *so_far += count;
    } else {
        to.insert(kind.to_owned(), count);
    }
}

#[cfg(test)]
mod tests {
    use super::ImportReport;

    #[test]
    fn reasons_are_counted_together_and_bounded() {
        let mut report = ImportReport::default();
        for number in 0..1_000 {
            report.skip("post", &format!("reason {}", number % 200), || format!("post {number}"));
        }
        assert_eq!(report.skipped.len(), super::MAX_SKIP_REASONS + 1);
        let all: u64 = report.skipped.iter().map(|skip| skip.count).sum();
        assert_eq!(all, 1_000);
        assert_eq!(report.skipped[0].example, "post 0");
        let back = serde_json::from_value(report.to_json()).unwrap();
        assert_eq!(report, back);
    }
}
