//! Translates a query for the index.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use query::{IndexLookup, ParsedQuery, QueryNode, QueryTerm, language_matches, person_feature};
use serde::{Deserialize, Serialize};
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};
use tantivy::query::{AllQuery, BooleanQuery, EmptyQuery, PhraseQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader};

use crate::exclusion::ExclusionQuery;
use crate::schema::{IndexFields, LANGUAGE_SHIFT, ROOT_SHIFT, build_schema, encode_word};

#[derive(Clone, Debug, Default)]
pub struct SearchLookups {
    /// The ids that a username or a number may refer to.
    pub people: HashMap<String, Vec<i64>>,
    pub lists: HashMap<i64, Arc<HashSet<i64>>>,
}

/// What the index is searched for: a resolved query, without names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryPlan {
    root: PlanNode,
    is_exact: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum PlanNode {
    Everything,
    /// Nothing if it is empty.
    Any(Vec<Self>),
    /// What matches all of the first and none of the second.
    Except(Vec<Self>, Vec<Self>),
    /// Consecutive words.
    Words(Vec<u64>),
    Feature(u64),
    /// The post with this id if it is the first of its conversation.
    ConversationRoot(i64),
    /// Posts whose author is one of these, or is none of them.
    Authors(#[serde(with = "shared_set")] Arc<HashSet<i64>>, bool),
    /// Posts that have a flag, or do not.
    Flag(u16, bool),
    /// Posts in a language, or in others.
    Language(u8, bool),
}

impl QueryPlan {
    pub fn new(query: &ParsedQuery, lookups: &SearchLookups) -> Self {
        let mut builder = PlanBuilder { lookups, is_exact: true };
        let root = builder.build_node(query.root());
        Self { root, is_exact: builder.is_exact }
    }

    pub const fn match_all() -> Self {
        Self { root: PlanNode::Everything, is_exact: true }
    }

    /// Whether every hit matches. Otherwise hits have to be checked with [`query::matches()`]; no
    /// match is missed in either case.
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    pub(crate) fn to_tantivy(&self) -> BoxedQuery {
        self.root.to_tantivy(build_schema().1)
    }
}

type BoxedQuery = Box<dyn tantivy::query::Query>;

struct PlanBuilder<'a> {
    lookups: &'a SearchLookups,
    is_exact: bool,
}

impl PlanBuilder<'_> {
    fn build_node(&mut self, node: &QueryNode) -> PlanNode {
        match node {
            QueryNode::All(parts) => {
                let (mut included, mut excluded) = (Vec::new(), Vec::new());
                for part in parts {
                    match part {
                        QueryNode::Not(term) => self.build_negated(term, &mut included, &mut excluded),
                        other => included.push(self.build_node(other)),
                    }
                }
                PlanNode::Except(included, excluded)
            }
            QueryNode::Any(parts) => PlanNode::Any(parts.iter().map(|part| self.build_node(part)).collect()),
            QueryNode::Is(term) => self.build_term(term, true),
            QueryNode::Not(term) => {
                let (mut included, mut excluded) = (Vec::new(), Vec::new());
                self.build_negated(term, &mut included, &mut excluded);
                PlanNode::Except(included, excluded)
            }
        }
    }

    /// Adds a negated term to the required or to the excluded queries.
    fn build_negated(&mut self, term: &QueryTerm, included: &mut Vec<PlanNode>, excluded: &mut Vec<PlanNode>) {
        match term.index_lookup() {
            // Column predicates can be negated directly.
            IndexLookup::Flag(_) | IndexLookup::Language(_) | IndexLookup::List(_) => {
                included.push(self.build_term(term, false));
            }
            // Approximate lookups must not exclude anything.
            IndexLookup::Features { exact: false, .. } | IndexLookup::Counter(..) | IndexLookup::Unknown => {
                self.is_exact = false;
            }
            _ => excluded.push(self.build_term(term, true)),
        }
    }

    fn build_term(&mut self, term: &QueryTerm, expected: bool) -> PlanNode {
        match term.index_lookup() {
            IndexLookup::Words(words) => PlanNode::Words(words),
            IndexLookup::Features { features, exact } => {
                self.is_exact &= exact;
                any_feature(features)
            }
            IndexLookup::ConversationRoot { id, feature } => {
                PlanNode::Any(vec![PlanNode::ConversationRoot(id), PlanNode::Feature(feature)])
            }
            IndexLookup::Person { kind, name } => {
                let ids = self.lookups.people.get(name).map_or(&[][..], Vec::as_slice);
                any_feature(ids.iter().map(|id| person_feature(kind, *id)))
            }
            IndexLookup::List(list) => {
                let members = self.lookups.lists.get(&list).cloned().unwrap_or_default();
                PlanNode::Authors(members, expected)
            }
            IndexLookup::Flag(bit) => PlanNode::Flag(bit, expected),
            IndexLookup::Language(language) => PlanNode::Language(language, expected),
            IndexLookup::Counter(..) | IndexLookup::Unknown => {
                self.is_exact = false;
                PlanNode::Everything
            }
        }
    }
}

fn any_feature(features: impl IntoIterator<Item = u64>) -> PlanNode {
    PlanNode::Any(features.into_iter().map(PlanNode::Feature).collect())
}

impl PlanNode {
    fn to_tantivy(&self, fields: IndexFields) -> BoxedQuery {
        let each = |nodes: &[Self]| -> Vec<BoxedQuery> { nodes.iter().map(|node| node.to_tantivy(fields)).collect() };
        match self {
            Self::Everything => Box::new(AllQuery),
            Self::Any(nodes) => union_query(each(nodes)),
            Self::Except(included, excluded) => {
                let included = intersection_query(each(included));
                let excluded = each(excluded);
                if excluded.is_empty() { included } else { Box::new(ExclusionQuery { included, excluded }) }
            }
            Self::Words(words) => words_query(fields, words),
            Self::Feature(feature) => exact_term_query(tantivy::Term::from_field_u64(fields.features, *feature)),
            Self::ConversationRoot(id) => {
                let id = tantivy::Term::from_field_i64(fields.id, *id);
                let root = flags_query(|flags| flags >> ROOT_SHIFT & 1 == 1);
                Box::new(BooleanQuery::intersection(vec![exact_term_query(id), root]))
            }
            Self::Authors(members, expected) => authors_query(Arc::clone(members), *expected),
            Self::Flag(bit, expected) => {
                let (bit, expected) = (u64::from(*bit), *expected);
                flags_query(move |flags| (flags & bit != 0) == expected)
            }
            Self::Language(language, expected) => language_query(*language, *expected),
        }
    }
}

fn language_query(language: u8, expected: bool) -> BoxedQuery {
    let accepted: Vec<bool> = (0..=u8::MAX).map(|posted| language_matches(language, posted) == expected).collect();
    flags_query(move |flags| {
        let posted = usize::try_from(flags >> LANGUAGE_SHIFT & 0xff).unwrap_or(usize::MAX);
        accepted.get(posted).copied().unwrap_or(!expected)
    })
}

fn words_query(fields: IndexFields, words: &[u64]) -> BoxedQuery {
    let mut text = String::new();
    let terms = words.iter().map(|word| {
        text.clear();
        encode_word(*word, &mut text);
        tantivy::Term::from_field_text(fields.words, &text)
    });
    let mut terms: Vec<tantivy::Term> = terms.collect();
    if terms.len() > 1 {
        return Box::new(PhraseQuery::new(terms));
    }
    terms.pop().map_or_else(|| Box::new(EmptyQuery), exact_term_query)
}

fn exact_term_query(term: tantivy::Term) -> BoxedQuery {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

fn union_query(queries: Vec<BoxedQuery>) -> BoxedQuery {
    join_queries(queries, BooleanQuery::union).unwrap_or_else(|| Box::new(EmptyQuery))
}

fn intersection_query(queries: Vec<BoxedQuery>) -> BoxedQuery {
    join_queries(queries, BooleanQuery::intersection).unwrap_or_else(|| Box::new(AllQuery))
}

/// `None` without a query.
fn join_queries(mut queries: Vec<BoxedQuery>, join: fn(Vec<BoxedQuery>) -> BooleanQuery) -> Option<BoxedQuery> {
    if queries.len() > 1 { Some(Box::new(join(queries))) } else { queries.pop() }
}

fn flags_query(predicate: impl Fn(u64) -> bool + Clone + Send + Sync + 'static) -> BoxedQuery {
    let segment = move |reader: &SegmentReader| {
        let predicate = predicate.clone();
        let flags = reader.fast_fields().u64("flags")?.first_or_default_col(0);
        Ok(move |doc: DocId| predicate(flags.get_val(doc)))
    };
    Box::new(DocPredicateQuery::from(FunctionPredicate::from(segment)))
}

fn authors_query(members: Arc<HashSet<i64>>, expected: bool) -> BoxedQuery {
    let segment = move |reader: &SegmentReader| {
        let members = Arc::clone(&members);
        let authors = reader.fast_fields().i64("author")?.first_or_default_col(0);
        Ok(move |doc: DocId| members.contains(&authors.get_val(doc)) == expected)
    };
    Box::new(DocPredicateQuery::from(FunctionPredicate::from(segment)))
}

/// Members are shared within a process, and copied between processes.
mod shared_set {
    use std::collections::HashSet;
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(set: &Arc<HashSet<i64>>, serializer: S) -> Result<S::Ok, S::Error> {
        (**set).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<HashSet<i64>>, D::Error> {
        HashSet::deserialize(deserializer).map(Arc::new)
    }
}
