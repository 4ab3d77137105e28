//! What an index of posts files them under, and what a query asks of such an index: the numbers
//! that [`crate::matches()`] compares, so that both find the same.

use std::collections::HashSet;

use crate::ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
use crate::facts::{MatchMode, PostFeatures};
use crate::geo::{GeoArea, bounding_area, grid_cells};
use crate::languages::languages_match;
use crate::operators::{FeatureKind, OperatorKind, PostCounter};
use crate::post::UserHandle;
use crate::values::{hash_feature, number_feature, to_metres};
use crate::words::{hash_text, word_feature};

/// What a post is filed under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostIndexKeys {
    /// Words, run after run: a sequence asked for lies within one run.
    pub runs: Vec<Vec<u64>>,
    /// Whole features, each once: tags, people, conversations, places, ….
    pub features: Vec<u64>,
    /// The bits of `is:` and `has:`.
    pub flags: u16,
    /// Its language's number.
    pub language: u8,
    /// Whether it begins its conversation.
    pub is_root: bool,
}

/// What a term asks of an index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexLookup<'a> {
    /// These words, one after the other.
    Words(Vec<u64>),
    /// One of these marks; `decided` says whether that is all there is to it.
    Features {
        /// The marks.
        features: Vec<u64>,
        /// Whether a post with one of them matches for certain.
        exact: bool,
    },
    /// The post with this id if it begins its conversation, or one with this mark.
    ConversationRoot {
        /// The post.
        id: i64,
        /// The mark.
        feature: u64,
    },
    /// Somebody, by username or id: ask [`person`] for the mark of whoever that is now.
    Person {
        /// What they are to the post.
        kind: FeatureKind,
        /// Who, in lower case.
        name: &'a str,
    },
    /// An author who is on this list.
    List(i64),
    /// A bit of `is:` or `has:`.
    Flag(u16),
    /// A language ([`speaks`] compares).
    Language(u8),
    /// A counter of at least so many, which no index knows.
    Counter(PostCounter, u64),
    /// What no index knows.
    Unknown,
}

/// The mark of a person whom a query names.
pub const fn person_feature(mark: FeatureKind, id: i64) -> u64 {
    number_feature(mark, id.cast_unsigned())
}

/// Whether a post in a language is one that was asked for.
pub fn language_matches(asked: u8, posted: u8) -> bool {
    languages_match(asked, posted)
}

impl PostFeatures<'_> {
    /// What an index files the post under. Authors, and those answered, are filed by id alone:
    /// usernames change. A conversation is not filed under its own first post.
    pub fn index_keys(&self) -> PostIndexKeys {
        let post = self.post;
        let mut left_out = HashSet::new();
        let mut runs = Vec::new();
        for (field, words) in self.all_word_runs() {
            let filed: Vec<u64> = words.iter().map(|word| word_feature(field, *word)).collect();
            left_out.extend(&filed);
            runs.push(filed);
        }
        let author = &post.author;
        left_out.extend(username_features(FeatureKind::From, author.person.handle));
        left_out.extend(author.lists.iter().map(|list| person_feature(FeatureKind::List, *list)));
        let mut people = vec![person_feature(FeatureKind::From, author.person.handle.id)];
        let mut affiliated = vec![(FeatureKind::FromAffiliate, author.person)];
        if let Some((_, answered)) = post.reply_to {
            left_out.extend(username_features(FeatureKind::To, answered.handle));
            people.push(person_feature(FeatureKind::To, answered.handle.id));
            affiliated.push((FeatureKind::ToAffiliate, answered));
        }
        for (mark, who) in affiliated {
            for handle in who.affiliations {
                left_out.extend(username_features(mark, *handle));
                left_out.insert(person_feature(mark, handle.id));
            }
        }
        if post.conversation == post.id {
            left_out.insert(person_feature(FeatureKind::Conversation, post.id));
        }
        let listed = self.features.as_slice().iter().copied();
        let mut marks: Vec<u64> = listed.filter(|mark| !left_out.contains(mark)).collect();
        marks.extend(people);
        marks.sort_unstable();
        marks.dedup();
        PostIndexKeys {
            runs,
            features: marks,
            flags: self.flags,
            language: self.language,
            is_root: post.conversation == post.id,
        }
    }
}

/// The features of a username: as a text, and as the number that it may look like.
fn username_features(mark: FeatureKind, handle: UserHandle<'_>) -> impl Iterator<Item = u64> {
    let text = hash_feature(mark, hash_text(handle.username, MatchMode::Stream));
    let digits = handle.username.parse::<u64>().ok();
    std::iter::once(text).chain(digits.map(|digits| number_feature(mark, digits)))
}

impl ParsedQuery {
    /// Whom the query names that an index does not know by name: usernames, or texts of digits that
    /// may be ids; each once.
    pub fn user_names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        visit_terms(self.root(), &mut |term| {
            if let IndexLookup::Person { name, .. } = term.index_lookup()
                && !found.contains(&name)
            {
                found.push(name);
            }
        });
        found
    }

    /// The lists whose members the query asks for, each once.
    pub fn list_ids(&self) -> Vec<i64> {
        let mut found = Vec::new();
        visit_terms(self.root(), &mut |term| {
            if let IndexLookup::List(list) = term.index_lookup()
                && !found.contains(&list)
            {
                found.push(list);
            }
        });
        found
    }

    /// Counters that every post the query matches has at least: what can be told before a post is
    /// read as a whole.
    pub fn minimum_counters(&self) -> Vec<(PostCounter, u64)> {
        let parts = match self.root() {
            QueryNode::All(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let counters = parts.iter().filter_map(|part| match part {
            QueryNode::Is(term) => match term.index_lookup() {
                IndexLookup::Counter(counter, least) => Some((counter, least)),
                _ => None,
            },
            _ => None,
        });
        counters.collect()
    }
}

fn visit_terms<'a>(node: &'a QueryNode, call: &mut impl FnMut(&'a QueryTerm)) {
    match node {
        QueryNode::All(parts) | QueryNode::Any(parts) => {
            for part in parts {
                visit_terms(part, call);
            }
        }
        QueryNode::Is(term) | QueryNode::Not(term) => call(term),
    }
}

impl QueryTerm {
    /// What an index of posts is asked for.
    pub fn index_lookup(&self) -> IndexLookup<'_> {
        match (&self.value, self.operator.kind) {
            (TermValue::Words { hashes, near, .. }, OperatorKind::Words(field)) if near.is_none() => {
                IndexLookup::Words(hashes.iter().map(|word| word_feature(field, *word)).collect())
            }
            (TermValue::Feature { text, .. }, OperatorKind::User(mark @ (FeatureKind::From | FeatureKind::To))) => {
                IndexLookup::Person { kind: mark, name: text }
            }
            (TermValue::Feature { text, .. }, OperatorKind::Id(FeatureKind::List)) => {
                text.parse().map_or(IndexLookup::Unknown, IndexLookup::List)
            }
            (TermValue::Feature { text, feature }, OperatorKind::Id(FeatureKind::Conversation)) => match text.parse() {
                Ok(id) => IndexLookup::ConversationRoot { id, feature: *feature },
                Err(_) => exact_feature(*feature),
            },
            (TermValue::Feature { feature, .. }, _) => exact_feature(*feature),
            (TermValue::Flag(bit), _) => IndexLookup::Flag(*bit),
            (TermValue::Language(language), _) => IndexLookup::Language(*language),
            (TermValue::Range(least, u64::MAX), OperatorKind::Counter(counter)) => {
                IndexLookup::Counter(counter, *least)
            }
            (TermValue::Circle(lon, lat, radius, miles), _) => {
                area_features(bounding_area((*lon, *lat), to_metres(*radius, *miles)))
            }
            (TermValue::Rectangle(area), _) => area_features(Some(*area)),
            _ => IndexLookup::Unknown,
        }
    }
}

fn exact_feature(mark: u64) -> IndexLookup<'static> {
    IndexLookup::Features {
        features: vec![mark],
        exact: true,
    }
}

/// The cells that an area touches, or everything with a place.
fn area_features(area: Option<GeoArea>) -> IndexLookup<'static> {
    let cells = area.and_then(grid_cells).unwrap_or_else(|| vec![0]);
    IndexLookup::Features {
        features: cells
            .into_iter()
            .map(|cell| number_feature(FeatureKind::Geo, cell))
            .collect(),
        exact: false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AccessTier, MatchMode, PostFeatures, QueryDialect, QueryProduct, QueryableAuthor, QueryablePerson,
        QueryablePost, UserHandle, parse,
    };

    use super::{IndexLookup, person_feature};
    use crate::operators::FeatureKind;

    #[test]
    fn people_are_filed_by_id_and_words_by_their_runs() {
        let ana = QueryablePerson {
            handle: UserHandle { id: 7, username: "12" },
            affiliations: &[],
        };
        let post = QueryablePost {
            id: 50,
            conversation: 50,
            author: QueryableAuthor {
                person: ana,
                lists: &[3],
                ..QueryableAuthor::default()
            },
            text: "Café au lait",
            hashtags: &["lait"],
            ..QueryablePost::default()
        };
        let filed = PostFeatures::new(&post, MatchMode::Search).index_keys();
        assert_eq!(filed.runs.len(), 1);
        let dialect = QueryDialect::new(QueryProduct::RecentSearch, AccessTier::Enterprise);
        let query = parse("\"cafe au\" from:12 #lait list:3", dialect).unwrap();
        let mut asked = Vec::new();
        super::visit_terms(query.root(), &mut |term| asked.push(term.index_lookup()));
        let IndexLookup::Words(words) = &asked[0] else {
            panic!("{asked:?}")
        };
        assert_eq!(filed.runs[0][..2], words[..]);
        assert_eq!(
            asked[1],
            IndexLookup::Person {
                kind: FeatureKind::From,
                name: "12"
            }
        );
        assert!(
            matches!(&asked[2], IndexLookup::Features { features, exact: true } if filed.features.contains(&features[0]))
        );
        assert_eq!(asked[3], IndexLookup::List(3));
        assert_eq!(filed.features.len(), 2, "{filed:?}");
        assert!(filed.features.contains(&person_feature(FeatureKind::From, 7)));
        assert_eq!((query.user_names(), query.list_ids()), (vec!["12"], vec![3]));
    }
}
