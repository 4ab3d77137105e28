//! What matches one query and none of others.
//!
//! The library's own exclusion asks a phrase for documents that it has passed, which its debug
//! builds forbid; this one only ever moves forward.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

/// A query with what is left out of it.
#[derive(Debug)]
pub(crate) struct Except {
    pub(crate) from: Box<dyn Query>,
    pub(crate) out: Vec<Box<dyn Query>>,
}

impl Clone for Except {
    fn clone(&self) -> Self {
        Self {
            from: self.from.box_clone(),
            out: self.out.iter().map(|query| query.box_clone()).collect(),
        }
    }
}

impl Query for Except {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let out = self.out.iter().map(|query| query.weight(scoring));
        Ok(Box::new(Weighed {
            from: self.from.weight(scoring)?,
            out: out.collect::<tantivy::Result<_>>()?,
        }))
    }
}

struct Weighed {
    from: Box<dyn Weight>,
    out: Vec<Box<dyn Weight>>,
}

impl Weight for Weighed {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let out = self.out.iter().map(|weight| weight.scorer(reader, 1.0));
        let mut rest = Rest {
            from: self.from.scorer(reader, boost)?,
            out: out.collect::<tantivy::Result<_>>()?,
        };
        let first = rest.from.doc();
        rest.settle(first);
        Ok(Box::new(rest))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("except", 1.0))
    }
}

struct Rest {
    from: Box<dyn Scorer>,
    out: Vec<Box<dyn Scorer>>,
}

impl Rest {
    /// Goes on from `doc`, where `from` stands, to the first that is not left out.
    fn settle(&mut self, mut doc: DocId) -> DocId {
        while doc != TERMINATED && self.out.iter_mut().any(|out| holds(&mut **out, doc)) {
            doc = self.from.advance();
        }
        doc
    }
}

fn holds(set: &mut dyn Scorer, doc: DocId) -> bool {
    set.doc() == doc || set.doc() < doc && set.seek(doc) == doc
}

impl DocSet for Rest {
    fn advance(&mut self) -> DocId {
        let next = self.from.advance();
        self.settle(next)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let next = self.from.seek(target);
        self.settle(next)
    }

    fn doc(&self) -> DocId {
        self.from.doc()
    }

    fn size_hint(&self) -> u32 {
        self.from.size_hint()
    }

    fn cost(&self) -> u64 {
        self.from.cost()
    }
}

impl Scorer for Rest {
    fn score(&mut self) -> Score {
        1.0
    }
}
