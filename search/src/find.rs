//! Searching and counting.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use base::Fault;
use serde::{Deserialize, Serialize};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, SegmentReader};

use crate::schema::LANGUAGE_SHIFT;
use crate::snapshot::{DocBlock, IndexSnapshot, STEP_DOCS, SegmentColumns};
use crate::{AuthorLanguage, QueryPlan, index_error};

/// The factor by which each step examines more blocks.
const GROWTH: usize = 16;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SearchWindow {
    /// Exclusive.
    pub after_id: i64,
    /// Exclusive.
    pub before_id: i64,
    /// Inclusive, in milliseconds since 1970.
    pub since_ms: i64,
    /// Exclusive, in milliseconds since 1970.
    pub until_ms: i64,
}

impl SearchWindow {
    pub const ALL: Self = Self { after_id: i64::MIN, before_id: i64::MAX, since_ms: i64::MIN, until_ms: i64::MAX };

    pub(crate) const fn contains(&self, hit: SearchHit) -> bool {
        hit.id > self.after_id
            && hit.id < self.before_id
            && hit.created_at_ms >= self.since_ms
            && hit.created_at_ms < self.until_ms
    }

    const fn covers_block(&self, block: &DocBlock) -> bool {
        block.lowest > self.after_id
            && block.highest < self.before_id
            && block.earliest >= self.since_ms
            && block.latest < self.until_ms
    }

    const fn overlaps_block(&self, block: &DocBlock) -> bool {
        block.highest > self.after_id
            && block.lowest < self.before_id
            && block.latest >= self.since_ms
            && block.earliest < self.until_ms
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SearchHit {
    pub id: i64,
    pub created_at_ms: i64,
}

impl IndexSnapshot {
    /// Up to `limit` posts of a window, the highest ids first.
    pub fn newest_hits(&self, plan: &QueryPlan, window: &SearchWindow, limit: usize) -> Result<Vec<SearchHit>, Fault> {
        let weight = self.plan_weight(plan)?;
        let blocks: Vec<DocBlock> = self.blocks_in_window(window).collect();
        let mut found: BinaryHeap<Reverse<SearchHit>> = BinaryHeap::with_capacity(limit + 1);
        let (mut rest, mut step) = (blocks.as_slice(), 1);
        while let Some(next) = rest.first() {
            let full = found.len() >= limit;
            if full && found.peek().is_none_or(|last| last.0.id > next.highest) {
                break;
            }
            let (next, later) = rest.split_at(step.min(rest.len()));
            self.walk_hits(&*weight, window, next, |hit| {
                if found.len() < limit {
                    found.push(Reverse(hit));
                } else if let Some(mut last) = found.peek_mut()
                    && last.0 < hit
                {
                    *last = Reverse(hit);
                }
            })?;
            (rest, step) = (later, step.saturating_mul(GROWTH));
        }
        let found = found.into_sorted_vec();
        Ok(found.into_iter().map(|hit| hit.0).collect())
    }

    /// Calls `call` with each post of a window, in no particular order.
    pub fn visit_hits(
        &self,
        plan: &QueryPlan,
        window: &SearchWindow,
        call: impl FnMut(SearchHit),
    ) -> Result<(), Fault> {
        let weight = self.plan_weight(plan)?;
        let blocks: Vec<DocBlock> = self.blocks_in_window(window).collect();
        self.walk_hits(&*weight, window, &blocks, call)
    }

    /// Counts the posts of a window by time: `bucket_at` maps a time to an index of `counts` and
    /// must be monotonic.
    ///
    /// Posts are nearly ordered by time, so most steps fall into one bucket and their posts need
    /// no lookup.
    pub fn count_by_time(
        &self,
        plan: &QueryPlan,
        window: &SearchWindow,
        bucket_at: impl Fn(i64) -> Option<usize>,
        counts: &mut [u64],
    ) -> Result<(), Fault> {
        let weight = self.plan_weight(plan)?;
        let blocks: Vec<DocBlock> = self.blocks_in_window(window).collect();
        let mut add = |bucket: Option<usize>| {
            if let Some(count) = bucket.and_then(|bucket| counts.get_mut(bucket)) {
                *count += 1;
            }
        };
        let mut step = (usize::MAX, 0);
        let mut step_bucket: Option<Option<usize>> = None;
        self.visit_spans(&*weight, window, &blocks, |segment, columns, doc, inside| {
            if step != (segment, doc / STEP_DOCS) {
                step = (segment, doc / STEP_DOCS);
                let bounds = usize::try_from(step.1).ok();
                let bounds = bounds.and_then(|step| columns.steps.get(step));
                let both = bounds.map(|(first, last)| (bucket_at(*first), bucket_at(*last)));
                let single = both.filter(|(first, last)| inside && first == last);
                step_bucket = single.map(|(first, _)| first);
            }
            if let Some(bucket) = step_bucket {
                add(bucket);
            } else {
                let hit = columns.read_hit(doc);
                if inside || window.contains(hit) {
                    add(bucket_at(hit.created_at_ms));
                }
            }
        })
    }

    pub fn count_hits(&self, plan: &QueryPlan, window: &SearchWindow) -> Result<u64, Fault> {
        let weight = self.plan_weight(plan)?;
        let mut segments: BTreeMap<usize, (bool, Vec<DocBlock>)> = BTreeMap::new();
        for block in &self.blocks {
            let (whole, blocks) = segments.entry(block.segment).or_insert_with(|| (true, Vec::new()));
            *whole &= window.covers_block(block);
            if window.overlaps_block(block) {
                blocks.push(*block);
            }
        }
        let (readers, mut found) = (self.searcher.segment_readers(), 0);
        for (segment, (whole, blocks)) in segments {
            match readers.get(segment) {
                // The count of a whole segment needs no access to its posts.
                Some(reader) if whole => {
                    found +=
                        u64::from(weight.count(reader).map_err(index_error("failed to count posts in the index"))?);
                }
                _ => found += self.count_in_blocks(&*weight, window, &blocks)?,
            }
        }
        Ok(found)
    }

    /// Counts the hits in some blocks. Blocks that lie entirely inside the window need no column
    /// access.
    fn count_in_blocks(&self, weight: &dyn Weight, window: &SearchWindow, blocks: &[DocBlock]) -> Result<u64, Fault> {
        let mut found = 0;
        self.visit_spans(weight, window, blocks, |_, columns, doc, inside| {
            found += u64::from(inside || window.contains(columns.read_hit(doc)));
        })?;
        Ok(found)
    }

    /// Counts the hits among about `max` of the newest posts of a window. Returns the hits and the
    /// number of posts examined.
    pub fn count_sample(&self, plan: &QueryPlan, window: &SearchWindow, max: u64) -> Result<(u64, u64), Fault> {
        let (mut blocks, mut examined) = (Vec::new(), 0);
        for block in self.blocks_in_window(window) {
            if examined >= max {
                break;
            }
            examined += u64::from(block.end - block.first);
            blocks.push(block);
        }
        let weight = self.plan_weight(plan)?;
        Ok((self.count_in_blocks(&*weight, window, &blocks)?, examined))
    }

    /// The number of posts in a window, including recently deleted ones.
    pub fn window_size(&self, window: &SearchWindow) -> u64 {
        let size = |block: DocBlock| {
            if window.covers_block(&block) {
                return u64::from(block.end - block.first);
            }
            let Some(columns) = self.columns.get(block.segment) else {
                return 0;
            };
            let docs = block.first..block.end;
            let count = docs.filter(|doc| window.contains(columns.read_hit(*doc))).count();
            u64::try_from(count).unwrap_or(0)
        };
        self.blocks_in_window(window).map(size).sum()
    }

    /// Calls `call` with the author and language of each post, the newest blocks first.
    fn visit_authors(&self, mut call: impl FnMut(i64, u8)) -> Result<(), Fault> {
        let readers = self.searcher.segment_readers();
        let columns = |reader: &SegmentReader| -> tantivy::Result<_> {
            let fast = reader.fast_fields();
            let authors = fast.i64("author")?.first_or_default_col(0);
            Ok((authors, fast.u64("flags")?.first_or_default_col(0)))
        };
        let columns: tantivy::Result<Vec<_>> = readers.iter().map(columns).collect();
        let columns = columns.map_err(index_error("failed to read the columns of the index"))?;
        for block in &self.blocks {
            let (Some(reader), Some((authors, flags))) = (readers.get(block.segment), columns.get(block.segment))
            else {
                continue;
            };
            for doc in (block.first..block.end).rev() {
                if !reader.is_deleted(doc) {
                    let language = flags.get_val(doc) >> LANGUAGE_SHIFT & 0xff;
                    call(authors.get_val(doc), u8::try_from(language).unwrap_or(0));
                }
            }
        }
        Ok(())
    }

    /// The languages of about `max_posts` of the newest posts of each author, ordered by author.
    pub(crate) fn count_author_languages(&self, max_posts: u32) -> Result<Vec<AuthorLanguage>, Fault> {
        let mut authors: HashMap<i64, Vec<AuthorLanguage>> = HashMap::new();
        self.visit_authors(|author, language| {
            let counted = authors.entry(author).or_default();
            if counted.iter().map(|one| one.posts).sum::<u32>() >= max_posts {
                return;
            }
            match counted.iter_mut().find(|one| one.language == language) {
                Some(one) => one.posts += 1,
                None => counted.push(AuthorLanguage { author, language, posts: 1 }),
            }
        })?;
        let mut all: Vec<AuthorLanguage> = authors.into_values().flatten().collect();
        all.sort_unstable();
        Ok(all)
    }

    fn plan_weight(&self, plan: &QueryPlan) -> Result<Box<dyn Weight>, Fault> {
        let scoring = EnableScoring::disabled_from_searcher(&self.searcher);
        plan.to_tantivy().weight(scoring).map_err(index_error("failed to prepare a search"))
    }

    pub(crate) fn blocks_in_window<'a>(&'a self, window: &'a SearchWindow) -> impl Iterator<Item = DocBlock> + 'a {
        let blocks = self.blocks.iter().copied();
        blocks.filter(|block| window.overlaps_block(block))
    }

    /// Calls `call` with each hit in some blocks, segment by segment.
    fn walk_hits(
        &self,
        weight: &dyn Weight,
        window: &SearchWindow,
        blocks: &[DocBlock],
        mut call: impl FnMut(SearchHit),
    ) -> Result<(), Fault> {
        self.visit_spans(weight, window, blocks, |_, columns, doc, _| {
            let hit = columns.read_hit(doc);
            if window.contains(hit) {
                call(hit);
            }
        })
    }

    /// Calls `call` with the segment, its columns, each matching document in some blocks, and
    /// whether its block lies entirely inside the window.
    fn visit_spans(
        &self,
        weight: &dyn Weight,
        window: &SearchWindow,
        blocks: &[DocBlock],
        mut call: impl FnMut(usize, &SegmentColumns, DocId, bool),
    ) -> Result<(), Fault> {
        let mut segments: BTreeMap<usize, Vec<DocSpan>> = BTreeMap::new();
        for block in blocks {
            segments.entry(block.segment).or_default().push(DocSpan {
                first: block.first,
                end: block.end,
                inside: window.covers_block(block),
            });
        }
        let readers = self.searcher.segment_readers();
        for (segment, mut spans) in segments {
            if let (Some(reader), Some(columns)) = (readers.get(segment), self.columns.get(segment)) {
                spans.sort_unstable_by_key(|span| span.first);
                let found = |doc, inside| call(segment, columns, doc, inside);
                visit_matching_docs(weight, reader, &spans, found)
                    .map_err(index_error("failed to search the index"))?;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct DocSpan {
    first: DocId,
    end: DocId,
    inside: bool,
}

/// Calls `call` with each live matching document in some spans of a segment, which must be ordered.
fn visit_matching_docs(
    weight: &dyn Weight,
    reader: &SegmentReader,
    spans: &[DocSpan],
    mut call: impl FnMut(DocId, bool),
) -> tantivy::Result<()> {
    let alive = reader.alive_bitset();
    let mut found = weight.scorer(reader, 1.0)?;
    let mut buffer = [0; COLLECT_BLOCK_BUFFER_LEN];
    let mut spans = spans.iter();
    let Some(mut span) = spans.next() else {
        return Ok(());
    };
    loop {
        if found.doc() < span.first {
            found.seek(span.first);
        }
        let count = found.fill_buffer(&mut buffer);
        if count == 0 {
            return Ok(());
        }
        for doc in buffer.iter().copied().take(count) {
            while doc >= span.end {
                match spans.next() {
                    Some(next) => span = next,
                    None => return Ok(()),
                }
            }
            if doc >= span.first && alive.is_none_or(|alive| alive.is_alive(doc)) {
                call(doc, span.inside);
            }
        }
    }
}
