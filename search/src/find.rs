//! Finding and counting.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use base::Fault;
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, DocSet};

use crate::snapshot::{Block, Snapshot};
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
        let mut segments: BTreeMap<usize, Vec<(DocId, DocId)>> = BTreeMap::new();
        for block in blocks {
            let spans = segments.entry(block.segment).or_default();
            spans.push((block.first, block.end));
        }
        for (segment, mut spans) in segments {
            spans.sort_unstable();
            self.segment(weight, window, (segment, &spans), &mut call)
                .map_err(broken("searching"))?;
        }
        Ok(())
    }

    fn segment(
        &self,
        weight: &dyn Weight,
        window: &Window,
        (segment, spans): (usize, &[(DocId, DocId)]),
        call: &mut impl FnMut(Hit),
    ) -> tantivy::Result<()> {
        let readers = self.searcher.segment_readers();
        let (Some(reader), Some(columns)) = (readers.get(segment), self.columns.get(segment))
        else {
            return Ok(());
        };
        let alive = reader.alive_bitset();
        let mut found = weight.scorer(reader, 1.0)?;
        for (first, end) in spans {
            let mut doc = found.doc();
            if doc < *first {
                doc = found.seek(*first);
            }
            while doc < *end {
                let hit = Hit {
                    id: columns.ids.get_val(doc),
                    at: columns.times.get_val(doc),
                };
                let there = alive.is_none_or(|alive| alive.is_alive(doc));
                if there && window.holds(hit) {
                    call(hit);
                }
                doc = found.advance();
            }
        }
        Ok(())
    }
}
