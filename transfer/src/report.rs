//! What an import took, what it left out and why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Reasons that are told apart at most; the others are counted together.
const MAX_SKIP_REASONS: usize = 60;
/// Remarks that are kept at most.
const MAX_REMARKS: usize = 100;

/// Something left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRecords {
    /// What: a record's kind, or an archive's data type.
    pub kind: String,
    /// Why.
    pub why: String,
    /// How many.
    pub count: u64,
    /// Where the first of them stands, `data/tweets.js:12`, or which it is, `post 12`.
    pub example: String,
}

/// People and posts of whom not everything is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceholderCounts {
    /// Made for a user.
    pub users: u64,
    /// Made for a post.
    pub posts: u64,
    /// Made before, now the real user.
    pub completed_users: u64,
    /// Made before, now the real post.
    pub completed_posts: u64,
}

/// What became of attached files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCopyCounts {
    /// Copied into the media folder.
    pub copied: u64,
    /// Their bytes.
    pub bytes: u64,
    /// In the media folder already.
    pub present: u64,
    /// Not in the source.
    pub missing: u64,
}

/// What an import did; of one that was interrupted, all runs together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReport {
    /// Stored, by kind of record.
    pub taken: BTreeMap<String, u64>,
    /// There already, by kind of record.
    pub known: BTreeMap<String, u64>,
    /// Left out.
    pub skipped: Vec<SkippedRecords>,
    /// Elements that the archive's manifest promises, by data type; empty without a manifest.
    pub promised: BTreeMap<String, u64>,
    /// Elements that were met, by data type.
    pub seen: BTreeMap<String, u64>,
    /// Placeholders.
    pub placeholders: PlaceholderCounts,
    /// Attached files.
    pub media: MediaCopyCounts,
    /// Accounts that were here before and what became of them.
    pub remarks: Vec<String>,
    /// Where an interrupted import went on.
    pub resumed_from: Option<String>,
    /// Records in all.
    pub records: u64,
    /// Records that the source holds, from reading it through before.
    pub total: u64,
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
        self.skipped.push(SkippedRecords {
            kind: kind.to_owned(),
            why: why.to_owned(),
            count,
            example: example(),
        });
    }

    /// Adds what another part of the import did.
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
        let (mine, more) = (&mut self.placeholders, other.placeholders);
        mine.users += more.users;
        mine.posts += more.posts;
        mine.completed_users += more.completed_users;
        mine.completed_posts += more.completed_posts;
        let (mine, more) = (&mut self.media, other.media);
        mine.copied += more.copied;
        mine.bytes += more.bytes;
        mine.present += more.present;
        mine.missing += more.missing;
        self.records += other.records;
    }

    /// The report as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The stored form of a report that goes on.
    pub(crate) fn to_json_text(&self) -> String {
        self.to_json().to_string()
    }

    /// Data types of which less or more was met than the manifest promises: name, promised, met.
    pub fn manifest_mismatches(&self) -> Vec<(&str, u64, u64)> {
        let all = self.promised.iter().map(|(name, promised)| {
            let seen = self.seen.get(name).copied().unwrap_or(0);
            (name.as_str(), *promised, seen)
        });
        all.filter(|(_, promised, seen)| promised != seen).collect()
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
