//! How far the index has come: kept with it.

use serde_json::{Value, json};

/// How far the index has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexProgress {
    /// The place in the log up to which it was read; none before the index was begun.
    pub(super) seq: Option<i64>,
    /// The highest id that was ever filed: what is above is new.
    pub(super) highest: i64,
    /// What was there before the log was followed, as far as it is not filed.
    pub(super) build: Option<PostIdRange>,
    /// Posts of imports that are still to be filed.
    pub(super) imported: Vec<PostIdRange>,
    /// Authors whose posts are to be looked at again.
    pub(super) authors: Vec<AuthorReindex>,
}

/// Posts by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PostIdRange {
    /// From above this id on.
    pub(super) above: i64,
    /// The last.
    pub(super) last: i64,
}

/// An author's posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AuthorReindex {
    /// Who.
    pub(super) id: i64,
    /// Those below this id are still to be filed; `i64::MAX` before anything was done.
    pub(super) below: i64,
}

impl IndexProgress {
    /// Adds the posts of an import. What overlaps and was not begun is one range.
    pub(super) fn add_range(&mut self, range: PostIdRange) {
        let mut range = range;
        // The first may be under way: what comes to lie behind its place is looked at later.
        let begun = usize::from(!self.imported.is_empty());
        let waiting = self.imported.split_off(begun);
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

    /// Looks at an author's posts again, from the beginning if it is under way.
    pub(super) fn add_author(&mut self, id: i64) {
        self.authors.retain(|author| author.id != id);
        let below = i64::MAX;
        self.authors.push(AuthorReindex { id, below });
    }

    pub(super) fn to_json(&self) -> String {
        let range = |range: &PostIdRange| json!([range.above, range.last]);
        let imported: Vec<Value> = self.imported.iter().map(range).collect();
        let authors = self.authors.iter();
        let authors: Vec<Value> = authors.map(|one| json!([one.id, one.below])).collect();
        json!({
            "seq": self.seq,
            "highest": self.highest,
            "build": self.build.as_ref().map(range),
            "imported": imported,
            "authors": authors,
        })
        .to_string()
    }

    /// What [`Progress::write`] wrote.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let build = value.get("build")?;
        let build = if build.is_null() {
            None
        } else {
            Some(parse_range(build)?)
        };
        let imported = value.get("imported")?.as_array()?.iter().map(parse_range);
        let authors = value.get("authors")?.as_array()?.iter().map(|author| {
            let (id, below) = parse_pair(author)?;
            Some(AuthorReindex { id, below })
        });
        Some(Self {
            seq: value.get("seq")?.as_i64(),
            highest: value.get("highest")?.as_i64()?,
            build,
            imported: imported.collect::<Option<_>>()?,
            authors: authors.collect::<Option<_>>()?,
        })
    }
}

fn parse_range(value: &Value) -> Option<PostIdRange> {
    let (above, last) = parse_pair(value)?;
    Some(PostIdRange { above, last })
}

fn parse_pair(value: &Value) -> Option<(i64, i64)> {
    Some((value.get(0)?.as_i64()?, value.get(1)?.as_i64()?))
}

#[cfg(test)]
mod tests {
    use super::{IndexProgress, PostIdRange};

    #[test]
    fn what_is_written_is_read_again() {
        let mut progress = IndexProgress {
            seq: Some(7),
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
