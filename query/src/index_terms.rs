//! The keys of a post in an index, and the lookups of a query, from the same features that
//! [`crate::matches()`] compares, so that both find the same posts.

use std::collections::HashSet;

use crate::ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
use crate::geo::{GeoArea, bounding_area, grid_cells};
use crate::operators::{FeatureKind, OperatorKind, PostCounter};
use crate::post::UserHandle;
use crate::post_features::{MatchMode, PostFeatures};
use crate::values::{hash_feature, number_feature, to_metres};
use crate::words::{hash_text, word_feature};

/// The keys under which an index stores a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostIndexKeys {
    /// The words of each text; consecutive words of a query lie within one text.
    pub runs: Vec<Vec<u64>>,
    /// Features without duplicates: tags, people, conversations, places, ….
    pub features: Vec<u64>,
    pub flags: u16,
    pub language: u8,
    pub is_root: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum IndexLookup<'a> {
    Words(Vec<u64>),
    Features {
        features: Vec<u64>,
        /// Whether a post with one of them is certain to match.
        exact: bool,
    },
    /// The post with this id if it is the first of its conversation, or any post with this feature.
    ConversationRoot {
        id: i64,
        feature: u64,
    },
    /// A user by username or id; [`person_feature`] gives the feature of the current id.
    Person {
        kind: FeatureKind,
        /// In lower case.
        name: &'a str,
    },
    List(i64),
    /// A bit of `is:` or `has:`.
    Flag(u16),
    /// Compared with [`crate::language_matches`].
    Language(u8),
    Counter(PostCounter, u64),
    Unknown,
}

pub const fn person_feature(kind: FeatureKind, id: i64) -> u64 {
    number_feature(kind, id.cast_unsigned())
}

impl PostFeatures<'_> {
    /// The keys under which an index stores the post. Authors and users replied to are stored by id
    /// alone, as usernames change. The first post of a conversation is not stored under it.
    pub fn index_keys(&self) -> PostIndexKeys {
        let post = self.post;
        let mut excluded = HashSet::new();
        let mut runs = Vec::new();
        for (field, words) in self.all_word_runs() {
            let run_features: Vec<u64> = words.iter().map(|word| word_feature(field, *word)).collect();
            excluded.extend(&run_features);
            runs.push(run_features);
        }
        let author = &post.author;
        excluded.extend(username_features(FeatureKind::From, author.person.handle));
        excluded.extend(author.lists.iter().map(|list| person_feature(FeatureKind::List, *list)));
        let mut people = vec![person_feature(FeatureKind::From, author.person.handle.id)];
        let mut affiliated_people = vec![(FeatureKind::FromAffiliate, author.person)];
        if let Some((_, replied_to)) = post.reply_to {
            excluded.extend(username_features(FeatureKind::To, replied_to.handle));
            people.push(person_feature(FeatureKind::To, replied_to.handle.id));
            affiliated_people.push((FeatureKind::ToAffiliate, replied_to));
        }
        for (kind, person) in affiliated_people {
            for handle in person.affiliations {
                excluded.extend(username_features(kind, *handle));
                excluded.insert(person_feature(kind, handle.id));
            }
        }
        if post.conversation == post.id {
            excluded.insert(person_feature(FeatureKind::Conversation, post.id));
        }
        let all_features = self.features.as_slice().iter().copied();
        let mut features: Vec<u64> = all_features.filter(|feature| !excluded.contains(feature)).collect();
        features.extend(people);
        features.sort_unstable();
        features.dedup();
        PostIndexKeys {
            runs,
            features,
            flags: self.flags,
            language: self.language,
            is_root: post.conversation == post.id,
        }
    }
}

fn username_features(kind: FeatureKind, handle: UserHandle<'_>) -> impl Iterator<Item = u64> {
    let text = hash_feature(kind, hash_text(handle.username, MatchMode::Stream));
    let digits = handle.username.parse::<u64>().ok();
    std::iter::once(text).chain(digits.map(|digits| number_feature(kind, digits)))
}

impl ParsedQuery {
    /// Usernames, and numbers that may be ids, that have to be resolved before an index lookup; no
    /// duplicates.
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

    /// Minimum counters of every matching post, which allow a post to be ruled out before it is
    /// loaded.
    pub fn minimum_counters(&self) -> Vec<(PostCounter, u64)> {
        let parts = match self.root() {
            QueryNode::All(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let counters = parts.iter().filter_map(|part| match part {
            QueryNode::Is(term) => match term.index_lookup() {
                IndexLookup::Counter(counter, min) => Some((counter, min)),
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
    pub fn index_lookup(&self) -> IndexLookup<'_> {
        match (&self.value, self.operator.kind) {
            (TermValue::Words { hashes, near, .. }, OperatorKind::Words(field)) if near.is_none() => {
                IndexLookup::Words(hashes.iter().map(|word| word_feature(field, *word)).collect())
            }
            (TermValue::Feature { text, .. }, OperatorKind::User(kind @ (FeatureKind::From | FeatureKind::To))) => {
                IndexLookup::Person { kind, name: text }
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
            (TermValue::Range(min, u64::MAX), OperatorKind::Counter(counter)) => IndexLookup::Counter(counter, *min),
            (TermValue::Circle(lon, lat, radius, miles), _) => {
                area_features(bounding_area((*lon, *lat), to_metres(*radius, *miles)))
            }
            (TermValue::Rectangle(area), _) => area_features(Some(*area)),
            _ => IndexLookup::Unknown,
        }
    }
}

fn exact_feature(feature: u64) -> IndexLookup<'static> {
    IndexLookup::Features { features: vec![feature], exact: true }
}

/// The cells that an area touches, or everything with a location.
fn area_features(area: Option<GeoArea>) -> IndexLookup<'static> {
    let cells = area.and_then(grid_cells).unwrap_or_else(|| vec![0]);
    IndexLookup::Features {
        features: cells.into_iter().map(|cell| number_feature(FeatureKind::Geo, cell)).collect(),
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
        let ana = QueryablePerson { handle: UserHandle { id: 7, username: "12" }, affiliations: &[] };
        let post = QueryablePost {
            id: 50,
            conversation: 50,
            author: QueryableAuthor { person: ana, lists: &[3], ..QueryableAuthor::default() },
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
        let IndexLookup::Words(words) = &asked[0] else { panic!("{asked:?}") };
        assert_eq!(filed.runs[0][..2], words[..]);
        assert_eq!(asked[1], IndexLookup::Person { kind: FeatureKind::From, name: "12" });
        assert!(
            matches!(&asked[2], IndexLookup::Features { features, exact: true } if filed.features.contains(&features[0]))
        );
        assert_eq!(asked[3], IndexLookup::List(3));
        assert_eq!(filed.features.len(), 2, "{filed:?}");
        assert!(filed.features.contains(&person_feature(FeatureKind::From, 7)));
        assert_eq!((query.user_names(), query.list_ids()), (vec!["12"], vec![3]));
    }
}
