//! Translates a query for the index.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use query::{IndexLookup, ParsedQuery, QueryNode, QueryTerm, language_matches, person_feature};
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

pub struct QueryPlan {
    pub(crate) query: Box<dyn tantivy::query::Query>,
    is_exact: bool,
}

impl QueryPlan {
    pub fn new(query: &ParsedQuery, lookups: &SearchLookups) -> Self {
        let mut builder = PlanBuilder { fields: build_schema().1, lookups, is_exact: true };
        let built = builder.build_node(query.root());
        Self { query: built, is_exact: builder.is_exact }
    }

    pub fn match_all() -> Self {
        Self { query: Box::new(AllQuery), is_exact: true }
    }

    /// Whether every hit matches. Otherwise hits have to be checked with [`query::matches()`]; no
    /// match is missed in either case.
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }
}

type BoxedQuery = Box<dyn tantivy::query::Query>;

struct PlanBuilder<'a> {
    fields: IndexFields,
    lookups: &'a SearchLookups,
    is_exact: bool,
}

impl PlanBuilder<'_> {
    fn build_node(&mut self, node: &QueryNode) -> BoxedQuery {
        match node {
            QueryNode::All(parts) => {
                let (mut included, mut excluded) = (Vec::new(), Vec::new());
                for part in parts {
                    match part {
                        QueryNode::Not(term) => self.build_negated(term, &mut included, &mut excluded),
                        other => included.push(self.build_node(other)),
                    }
                }
                intersection_except(included, excluded)
            }
            QueryNode::Any(parts) => union_query(parts.iter().map(|part| self.build_node(part)).collect()),
            QueryNode::Is(term) => self.build_term(term, true),
            QueryNode::Not(term) => {
                let (mut included, mut excluded) = (Vec::new(), Vec::new());
                self.build_negated(term, &mut included, &mut excluded);
                intersection_except(included, excluded)
            }
        }
    }

    /// Adds a negated term to the required or to the excluded queries.
    fn build_negated(&mut self, term: &QueryTerm, included: &mut Vec<BoxedQuery>, excluded: &mut Vec<BoxedQuery>) {
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

    fn build_term(&mut self, term: &QueryTerm, expected: bool) -> BoxedQuery {
        match term.index_lookup() {
            IndexLookup::Words(words) => self.words_query(&words),
            IndexLookup::Features { features, exact } => {
                self.is_exact &= exact;
                self.features_query(features)
            }
            IndexLookup::ConversationRoot { id, feature } => {
                let id = tantivy::Term::from_field_i64(self.fields.id, id);
                let root = flags_query(|flags| flags >> ROOT_SHIFT & 1 == 1);
                let first: BoxedQuery = Box::new(BooleanQuery::intersection(vec![exact_term_query(id), root]));
                union_query(vec![first, self.features_query(vec![feature])])
            }
            IndexLookup::Person { kind, name } => {
                let ids = self.lookups.people.get(name).map_or(&[][..], Vec::as_slice);
                self.features_query(ids.iter().map(|id| person_feature(kind, *id)).collect())
            }
            IndexLookup::List(list) => {
                let members = self.lookups.lists.get(&list).cloned().unwrap_or_default();
                authors_query(members, expected)
            }
            IndexLookup::Flag(bit) => flags_query(move |flags| (flags & u64::from(bit) != 0) == expected),
            IndexLookup::Language(language) => {
                let accepted: Vec<bool> =
                    (0..=u8::MAX).map(|posted| language_matches(language, posted) == expected).collect();
                flags_query(move |flags| {
                    let posted = usize::try_from(flags >> LANGUAGE_SHIFT & 0xff).unwrap_or(usize::MAX);
                    accepted.get(posted).copied().unwrap_or(!expected)
                })
            }
            IndexLookup::Counter(..) | IndexLookup::Unknown => {
                self.is_exact = false;
                Box::new(AllQuery)
            }
        }
    }

    fn words_query(&self, words: &[u64]) -> BoxedQuery {
        let mut text = String::new();
        let terms = words.iter().map(|word| {
            text.clear();
            encode_word(*word, &mut text);
            tantivy::Term::from_field_text(self.fields.words, &text)
        });
        let mut terms: Vec<tantivy::Term> = terms.collect();
        if terms.len() > 1 {
            return Box::new(PhraseQuery::new(terms));
        }
        terms.pop().map_or_else(|| Box::new(EmptyQuery), exact_term_query)
    }

    fn features_query(&self, features: Vec<u64>) -> BoxedQuery {
        let terms = features
            .into_iter()
            .map(|feature| exact_term_query(tantivy::Term::from_field_u64(self.fields.features, feature)));
        union_query(terms.collect())
    }
}

fn exact_term_query(term: tantivy::Term) -> BoxedQuery {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

fn union_query(queries: Vec<BoxedQuery>) -> BoxedQuery {
    join_queries(queries, BooleanQuery::union).unwrap_or_else(|| Box::new(EmptyQuery))
}

/// The documents that match all `included` and none of the `excluded` queries.
fn intersection_except(included: Vec<BoxedQuery>, excluded: Vec<BoxedQuery>) -> BoxedQuery {
    let included = join_queries(included, BooleanQuery::intersection).unwrap_or_else(|| Box::new(AllQuery));
    if excluded.is_empty() { included } else { Box::new(ExclusionQuery { included, excluded }) }
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
