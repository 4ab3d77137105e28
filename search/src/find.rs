//! Finding and counting.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use base::Fault;
use tantivy::query::{EnableScoring, Weight};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, SegmentReader};

use crate::schema::LANGUAGE;
use crate::snapshot::{Block, Columns, STEP, Snapshot};
use crate::{Plan, broken};

/// How much more is looked at where what was looked at is not enough.
const GROWTH: usize = 16;

/// Which posts are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Only ids above this.
    pub above: i64,
    /// Only ids below this.
    pub below: i64,
    /// Only what was written then or later, in milliseconds since 1970.
    pub since: i64,
    /// Only what was written before.
    pub until: i64,
}

impl Window {
    /// Everything.
    pub const ALL: Self = Self {
        above: i64::MIN,
        below: i64::MAX,
        since: i64::MIN,
        until: i64::MAX,
    };

    const fn holds(&self, hit: Hit) -> bool {
        hit.id > self.above && hit.id < self.below && hit.at >= self.since && hit.at < self.until
    }

    const fn covers(&self, block: &Block) -> bool {
        block.lowest > self.above
            && block.highest < self.below
            && block.earliest >= self.since
            && block.latest < self.until
    }

    const fn meets(&self, block: &Block) -> bool {
        block.highest > self.above
            && block.lowest < self.below
            && block.latest >= self.since
            && block.earliest < self.until
    }
}

/// A post that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Its id.
    pub id: i64,
    /// When it was written.
    pub at: i64,
}

impl Snapshot {
    /// The newest `limit` posts of a window, those with the highest ids first.
    pub fn newest(&self, plan: &Plan, window: &Window, limit: usize) -> Result<Vec<Hit>, Fault> {
        let weight = self.weight(plan)?;
        let blocks: Vec<Block> = self.within(window).collect();
        let mut found: BinaryHeap<Reverse<Hit>> = BinaryHeap::with_capacity(limit + 1);
        let (mut rest, mut take) = (blocks.as_slice(), 1);
        while let Some(next) = rest.first() {
            let full = found.len() >= limit;
            if full && found.peek().is_none_or(|last| last.0.id > next.highest) {
                break;
            }
            let (now, later) = rest.split_at(take.min(rest.len()));
            self.walk(&*weight, window, now, |hit| {
                if found.len() < limit {
                    found.push(Reverse(hit));
                } else if let Some(mut last) = found.peek_mut()
                    && last.0 < hit
                {
                    *last = Reverse(hit);
                }
            })?;
            (rest, take) = (later, take.saturating_mul(GROWTH));
        }
        let found = found.into_sorted_vec();
        Ok(found.into_iter().map(|hit| hit.0).collect())
    }

    /// Calls with each post of a window, in no particular order.
    pub fn each(&self, plan: &Plan, window: &Window, call: impl FnMut(Hit)) -> Result<(), Fault> {
        let weight = self.weight(plan)?;
        let blocks: Vec<Block> = self.within(window).collect();
        self.walk(&*weight, window, &blocks, call)
    }

    /// Counts the posts of a window by their times: `place` says into which figure a time goes, and
    /// what lies between two times goes between their figures.
    ///
    /// Posts lie nearly in the order of their times: of most that lie together it is known without
    /// a look at each that they go into the same figure.
    pub fn spread(
        &self,
        plan: &Plan,
        window: &Window,
        place: impl Fn(i64) -> Option<usize>,
        figures: &mut [u64],
    ) -> Result<(), Fault> {
        let weight = self.weight(plan)?;
        let blocks: Vec<Block> = self.within(window).collect();
        let mut add = |place: Option<usize>| {
            if let Some(figure) = place.and_then(|place| figures.get_mut(place)) {
                *figure += 1;
            }
        };
        let mut step = (usize::MAX, 0);
        let mut same: Option<Option<usize>> = None;
        self.spans(
            &*weight,
            window,
            &blocks,
            |segment, columns, doc, inside| {
                if step != (segment, doc / STEP) {
                    step = (segment, doc / STEP);
                    let bounds = usize::try_from(step.1).ok();
                    let bounds = bounds.and_then(|step| columns.steps.get(step));
                    let both = bounds.map(|(first, last)| (place(*first), place(*last)));
                    let one = both.filter(|(first, last)| inside && first == last);
                    same = one.map(|(first, _)| first);
                }
                if let Some(place) = same {
                    add(place);
                } else {
                    let hit = columns.hit(doc);
                    if inside || window.holds(hit) {
                        add(place(hit.at));
                    }
                }
            },
        )
    }

    /// How many posts of a window a plan finds.
    pub fn frequency(&self, plan: &Plan, window: &Window) -> Result<u64, Fault> {
        let weight = self.weight(plan)?;
        let mut segments: BTreeMap<usize, (bool, Vec<Block>)> = BTreeMap::new();
        for block in &self.blocks {
            let (whole, blocks) = segments
                .entry(block.segment)
                .or_insert_with(|| (true, Vec::new()));
            *whole &= window.covers(block);
            if window.meets(block) {
                blocks.push(*block);
            }
        }
        let (readers, mut found) = (self.searcher.segment_readers(), 0);
        for (segment, (whole, blocks)) in segments {
            match readers.get(segment) {
                // What a segment says of a whole word takes no look at its posts.
                Some(reader) if whole => {
                    found += u64::from(weight.count(reader).map_err(broken("counting"))?);
                }
                _ => found += self.counted(&*weight, window, &blocks)?,
            }
        }
        Ok(found)
    }

    /// How many hits there are in some blocks. Of a block that lies inside the window whole nothing
    /// is read but the words.
    fn counted(
        &self,
        weight: &dyn Weight,
        window: &Window,
        blocks: &[Block],
    ) -> Result<u64, Fault> {
        let mut found = 0;
        self.spans(weight, window, blocks, |_, columns, doc, inside| {
            found += u64::from(inside || window.holds(columns.hit(doc)));
        })?;
        Ok(found)
    }

    /// The same among so many of the newest posts of a window, and how many those were.
    pub fn sampled(&self, plan: &Plan, window: &Window, most: u64) -> Result<(u64, u64), Fault> {
        let (mut blocks, mut looked_at) = (Vec::new(), 0);
        for block in self.within(window) {
            if looked_at >= most {
                break;
            }
            looked_at += u64::from(block.end - block.first);
            blocks.push(block);
        }
        let weight = self.weight(plan)?;
        Ok((self.counted(&*weight, window, &blocks)?, looked_at))
    }

    /// How many posts there are in a window, those that were removed lately among them.
    pub fn size(&self, window: &Window) -> u64 {
        let held = |block: Block| {
            if window.covers(&block) {
                return u64::from(block.end - block.first);
            }
            let Some(columns) = self.columns.get(block.segment) else {
                return 0;
            };
            let docs = block.first..block.end;
            let held = docs.filter(|doc| window.holds(columns.hit(*doc))).count();
            u64::try_from(held).unwrap_or(0)
        };
        self.within(window).map(held).sum()
    }

    /// Calls with the author and the language of each post, those in the newest blocks first.
    pub fn speakers(&self, mut call: impl FnMut(i64, u8)) -> Result<(), Fault> {
        let readers = self.searcher.segment_readers();
        let columns = |reader: &SegmentReader| -> tantivy::Result<_> {
            let fast = reader.fast_fields();
            let authors = fast.i64("author")?.first_or_default_col(0);
            Ok((authors, fast.u64("flags")?.first_or_default_col(0)))
        };
        let columns: tantivy::Result<Vec<_>> = readers.iter().map(columns).collect();
        let columns = columns.map_err(broken("reading the index's columns"))?;
        for block in &self.blocks {
            let (Some(reader), Some((authors, flags))) =
                (readers.get(block.segment), columns.get(block.segment))
            else {
                continue;
            };
            for doc in (block.first..block.end).rev() {
                if !reader.is_deleted(doc) {
                    let language = flags.get_val(doc) >> LANGUAGE & 0xff;
                    call(authors.get_val(doc), u8::try_from(language).unwrap_or(0));
                }
            }
        }
        Ok(())
    }

    fn weight(&self, plan: &Plan) -> Result<Box<dyn Weight>, Fault> {
        let scoring = EnableScoring::disabled_from_searcher(&self.searcher);
        plan.query
            .weight(scoring)
            .map_err(broken("preparing a search"))
    }

    fn within<'a>(&'a self, window: &'a Window) -> impl Iterator<Item = Block> + 'a {
        let blocks = self.blocks.iter().copied();
        blocks.filter(|block| window.meets(block))
    }

    /// Calls with each hit in some blocks, segment by segment.
    fn walk(
        &self,
        weight: &dyn Weight,
        window: &Window,
        blocks: &[Block],
        mut call: impl FnMut(Hit),
    ) -> Result<(), Fault> {
        self.spans(weight, window, blocks, |_, columns, doc, _| {
            let hit = columns.hit(doc);
            if window.holds(hit) {
                call(hit);
            }
        })
    }

    /// Calls with each document found in some blocks, its segment before it, and whether its whole
    /// block lies inside the window.
    fn spans(
        &self,
        weight: &dyn Weight,
        window: &Window,
        blocks: &[Block],
        mut call: impl FnMut(usize, &Columns, DocId, bool),
    ) -> Result<(), Fault> {
        let mut segments: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
        for block in blocks {
            segments.entry(block.segment).or_default().push(Span {
                first: block.first,
                end: block.end,
                inside: window.covers(block),
            });
        }
        let readers = self.searcher.segment_readers();
        for (segment, mut spans) in segments {
            if let (Some(reader), Some(columns)) = (readers.get(segment), self.columns.get(segment))
            {
                spans.sort_unstable_by_key(|span| span.first);
                let found = |doc, inside| call(segment, columns, doc, inside);
                read(weight, reader, &spans, found).map_err(broken("searching"))?;
            }
        }
        Ok(())
    }
}

/// Neighbouring documents that are looked at.
#[derive(Clone, Copy)]
struct Span {
    first: DocId,
    end: DocId,
    inside: bool,
}

/// Calls with each living document that is found in some spans of a segment, which come in order.
fn read(
    weight: &dyn Weight,
    reader: &SegmentReader,
    spans: &[Span],
    mut call: impl FnMut(DocId, bool),
) -> tantivy::Result<()> {
    let alive = reader.alive_bitset();
    let mut found = weight.scorer(reader, 1.0)?;
    let mut some = [0; COLLECT_BLOCK_BUFFER_LEN];
    let mut spans = spans.iter();
    let Some(mut span) = spans.next() else {
        return Ok(());
    };
    loop {
        if found.doc() < span.first {
            found.seek(span.first);
        }
        let count = found.fill_buffer(&mut some);
        if count == 0 {
            return Ok(());
        }
        for doc in some.iter().copied().take(count) {
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
