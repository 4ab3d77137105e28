//! A query that excludes the matches of others.
//!
//! Tantivy's own exclusion seeks a phrase backwards, which its debug assertions forbid; this one
//! only moves forward.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

#[derive(Debug)]
pub(crate) struct ExclusionQuery {
    pub(crate) included: Box<dyn Query>,
    pub(crate) excluded: Vec<Box<dyn Query>>,
}

impl Clone for ExclusionQuery {
    fn clone(&self) -> Self {
        Self {
            included: self.included.box_clone(),
            excluded: self.excluded.iter().map(|query| query.box_clone()).collect(),
        }
    }
}

impl Query for ExclusionQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let excluded = self.excluded.iter().map(|query| query.weight(scoring));
        Ok(Box::new(ExclusionWeight {
            included: self.included.weight(scoring)?,
            excluded: excluded.collect::<tantivy::Result<_>>()?,
        }))
    }
}

struct ExclusionWeight {
    included: Box<dyn Weight>,
    excluded: Vec<Box<dyn Weight>>,
}

impl Weight for ExclusionWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let excluded = self.excluded.iter().map(|weight| weight.scorer(reader, 1.0));
        let mut scorer = ExclusionScorer {
            included: self.included.scorer(reader, boost)?,
            excluded: excluded.collect::<tantivy::Result<_>>()?,
        };
        let first = scorer.included.doc();
        scorer.skip_excluded(first);
        Ok(Box::new(scorer))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("exclusion", 1.0))
    }
}

struct ExclusionScorer {
    included: Box<dyn Scorer>,
    excluded: Vec<Box<dyn Scorer>>,
}

impl ExclusionScorer {
    /// Advances from `doc`, the current document of `included`, to the first that is not excluded.
    fn skip_excluded(&mut self, mut doc: DocId) -> DocId {
        while doc != TERMINATED && self.excluded.iter_mut().any(|scorer| scorer_contains(&mut **scorer, doc)) {
            doc = self.included.advance();
        }
        doc
    }
}

fn scorer_contains(scorer: &mut dyn Scorer, doc: DocId) -> bool {
    scorer.doc() == doc || scorer.doc() < doc && scorer.seek(doc) == doc
}

impl DocSet for ExclusionScorer {
    fn advance(&mut self) -> DocId {
        let next = self.included.advance();
        self.skip_excluded(next)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let next = self.included.seek(target);
        self.skip_excluded(next)
    }

    fn doc(&self) -> DocId {
        self.included.doc()
    }

    fn size_hint(&self) -> u32 {
        self.included.size_hint()
    }

    fn cost(&self) -> u64 {
        self.included.cost()
    }
}

impl Scorer for ExclusionScorer {
    fn score(&mut self) -> Score {
        1.0
    }
}
