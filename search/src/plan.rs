//! A query as the index is asked it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use query::{Asked, Node, Query, Term, person, speaks};
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};
use tantivy::query::{AllQuery, BooleanQuery, EmptyQuery, PhraseQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader};

use crate::except::Except;
use crate::schema::{Fields, LANGUAGE, ROOT, schema, spell};

/// Facts that change without the posts they are about, as they are now.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The ids that a username or a text of digits may mean.
    pub people: HashMap<String, Vec<i64>>,
    /// The members of lists.
    pub lists: HashMap<i64, Arc<HashSet<i64>>>,
}

/// A query made ready for the index.
pub struct Plan {
    pub(crate) query: Box<dyn tantivy::query::Query>,
    decided: bool,
}

impl Plan {
    /// Makes a query ready.
    pub fn new(query: &Query, known: &Known) -> Self {
        let mut maker = Maker {
            fields: schema().1,
            known,
            decided: true,
        };
        let made = maker.node(query.root());
        Self {
            query: made,
            decided: maker.decided,
        }
    }

    /// Finds everything.
    pub fn everything() -> Self {
        Self {
            query: Box::new(AllQuery),
            decided: true,
        }
    }

    /// Whether all that is found matches. Otherwise some of it may not, and [`query::matches`] has
    /// the last word; nothing that matches is missed.
    pub const fn is_decided(&self) -> bool {
        self.decided
    }
}

type Made = Box<dyn tantivy::query::Query>;

struct Maker<'a> {
    fields: Fields,
    known: &'a Known,
    decided: bool,
}

impl Maker<'_> {
    fn node(&mut self, node: &Node) -> Made {
        match node {
            Node::All(parts) => {
                let (mut from, mut out) = (Vec::new(), Vec::new());
                for part in parts {
                    match part {
                        Node::Not(term) => self.denied(term, &mut from, &mut out),
                        other => from.push(self.node(other)),
                    }
                }
                rest(from, out)
            }
            Node::Any(parts) => any(parts.iter().map(|part| self.node(part)).collect()),
            Node::Is(term) => self.said(term, true),
            Node::Not(term) => {
                let (mut from, mut out) = (Vec::new(), Vec::new());
                self.denied(term, &mut from, &mut out);
                rest(from, out)
            }
        }
    }

    /// What a term denies, beside other clauses: what must be, and what must not.
    fn denied(&mut self, term: &Term, from: &mut Vec<Made>, out: &mut Vec<Made>) {
        match term.asked() {
            // A column says no as easily as yes.
            Asked::Flag(_) | Asked::Language(_) | Asked::List(_) => {
                from.push(self.said(term, false));
            }
            // What the index only guesses cannot be left out.
            Asked::Marks { decided: false, .. } | Asked::Counter(..) | Asked::Unknown => {
                self.decided = false;
            }
            _ => out.push(self.said(term, true)),
        }
    }

    fn said(&mut self, term: &Term, yes: bool) -> Made {
        match term.asked() {
            Asked::Words(words) => self.words(&words),
            Asked::Marks { marks, decided } => {
                self.decided &= decided;
                self.marks(marks)
            }
            Asked::Root { id, mark } => {
                let id = tantivy::Term::from_field_i64(self.fields.id, id);
                let root = by_flags(|flags| flags >> ROOT & 1 == 1);
                let first: Made = Box::new(BooleanQuery::intersection(vec![exact(id), root]));
                any(vec![first, self.marks(vec![mark])])
            }
            Asked::Person { mark, name } => {
                let ids = self.known.people.get(name).map_or(&[][..], Vec::as_slice);
                self.marks(ids.iter().map(|id| person(mark, *id)).collect())
            }
            Asked::List(list) => {
                let members = self.known.lists.get(&list).cloned().unwrap_or_default();
                by_author(members, yes)
            }
            Asked::Flag(bit) => by_flags(move |flags| (flags & u64::from(bit) != 0) == yes),
            Asked::Language(asked) => {
                let among: Vec<bool> = (0..=u8::MAX)
                    .map(|posted| speaks(asked, posted) == yes)
                    .collect();
                by_flags(move |flags| {
                    let posted = usize::try_from(flags >> LANGUAGE & 0xff).unwrap_or(usize::MAX);
                    among.get(posted).copied().unwrap_or(!yes)
                })
            }
            Asked::Counter(..) | Asked::Unknown => {
                self.decided = false;
                Box::new(AllQuery)
            }
        }
    }

    fn words(&self, words: &[u64]) -> Made {
        let mut text = String::new();
        let terms = words.iter().map(|word| {
            text.clear();
            spell(*word, &mut text);
            tantivy::Term::from_field_text(self.fields.words, &text)
        });
        let mut terms: Vec<tantivy::Term> = terms.collect();
        match (terms.len(), terms.pop()) {
            (1, Some(only)) => exact(only),
            (_, Some(last)) => {
                terms.push(last);
                Box::new(PhraseQuery::new(terms))
            }
            (_, None) => Box::new(EmptyQuery),
        }
    }

    fn marks(&self, marks: Vec<u64>) -> Made {
        let terms = marks
            .into_iter()
            .map(|mark| exact(tantivy::Term::from_field_u64(self.fields.marks, mark)));
        any(terms.collect())
    }
}

fn exact(term: tantivy::Term) -> Made {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

fn any(mut queries: Vec<Made>) -> Made {
    match (queries.len(), queries.pop()) {
        (_, None) => Box::new(EmptyQuery),
        (1, Some(only)) => only,
        (_, Some(last)) => {
            queries.push(last);
            Box::new(BooleanQuery::union(queries))
        }
    }
}

/// What meets all of some queries and none of others.
fn rest(mut from: Vec<Made>, out: Vec<Made>) -> Made {
    let from: Made = match (from.len(), from.pop()) {
        (_, None) => Box::new(AllQuery),
        (1, Some(only)) => only,
        (_, Some(last)) => {
            from.push(last);
            Box::new(BooleanQuery::intersection(from))
        }
    };
    if out.is_empty() {
        from
    } else {
        Box::new(Except { from, out })
    }
}

fn by_flags(holds: impl Fn(u64) -> bool + Clone + Send + Sync + 'static) -> Made {
    let segment = move |reader: &SegmentReader| {
        let holds = holds.clone();
        let flags = reader.fast_fields().u64("flags")?.first_or_default_col(0);
        Ok(move |doc: DocId| holds(flags.get_val(doc)))
    };
    Box::new(DocPredicateQuery::from(FunctionPredicate::from(segment)))
}

fn by_author(members: Arc<HashSet<i64>>, yes: bool) -> Made {
    let segment = move |reader: &SegmentReader| {
        let members = Arc::clone(&members);
        let authors = reader.fast_fields().i64("author")?.first_or_default_col(0);
        Ok(move |doc: DocId| members.contains(&authors.get_val(doc)) == yes)
    };
    Box::new(DocPredicateQuery::from(FunctionPredicate::from(segment)))
}
