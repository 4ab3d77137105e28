//! What an index of posts files them under, and what a query asks of such an index: the numbers
//! that [`crate::matches()`] compares, so that both find the same.

use std::collections::HashSet;

use crate::ast::{Node, Query, Term, Value};
use crate::facts::{Facts, Reading};
use crate::geo::{Area, around, cells};
use crate::languages::same;
use crate::operators::{Counter, How, Mark};
use crate::post::Handle;
use crate::values::{metres, number, whole};
use crate::words::{hash, word_in};

/// What a post is filed under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filed {
    /// Words, run after run: a sequence asked for lies within one run.
    pub runs: Vec<Vec<u64>>,
    /// Whole features, each once: tags, people, conversations, places, ….
    pub marks: Vec<u64>,
    /// The bits of `is:` and `has:`.
    pub flags: u16,
    /// Its language's number.
    pub language: u8,
    /// Whether it begins its conversation.
    pub root: bool,
}

/// What a term asks of an index.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked<'a> {
    /// These words, one after the other.
    Words(Vec<u64>),
    /// One of these marks; `decided` says whether that is all there is to it.
    Marks {
        /// The marks.
        marks: Vec<u64>,
        /// Whether a post with one of them matches for certain.
        decided: bool,
    },
    /// The post with this id if it begins its conversation, or one with this mark.
    Root {
        /// The post.
        id: i64,
        /// The mark.
        mark: u64,
    },
    /// Somebody, by username or id: ask [`person`] for the mark of whoever that is now.
    Person {
        /// What they are to the post.
        mark: Mark,
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
    Counter(Counter, u64),
    /// What no index knows.
    Unknown,
}

/// The mark of a person whom a query names.
pub const fn person(mark: Mark, id: i64) -> u64 {
    number(mark, id.cast_unsigned())
}

/// Whether a post in a language is one that was asked for.
pub fn speaks(asked: u8, posted: u8) -> bool {
    same(asked, posted)
}

impl Facts<'_> {
    /// What an index files the post under. Authors, and those answered, are filed by id alone:
    /// usernames change. A conversation is not filed under its own first post.
    pub fn filed(&self) -> Filed {
        let post = self.post;
        let mut left_out = HashSet::new();
        let mut runs = Vec::new();
        for (field, words) in self.every_run() {
            let filed: Vec<u64> = words.iter().map(|word| word_in(field, *word)).collect();
            left_out.extend(&filed);
            runs.push(filed);
        }
        let author = &post.author;
        left_out.extend(names(Mark::From, author.person.handle));
        left_out.extend(author.lists.iter().map(|list| person(Mark::List, *list)));
        let mut people = vec![person(Mark::From, author.person.handle.id)];
        let mut affiliated = vec![(Mark::FromAffiliate, author.person)];
        if let Some((_, answered)) = post.reply_to {
            left_out.extend(names(Mark::To, answered.handle));
            people.push(person(Mark::To, answered.handle.id));
            affiliated.push((Mark::ToAffiliate, answered));
        }
        for (mark, who) in affiliated {
            for handle in who.affiliations {
                left_out.extend(names(mark, *handle));
                left_out.insert(person(mark, handle.id));
            }
        }
        if post.conversation == post.id {
            left_out.insert(person(Mark::Conversation, post.id));
        }
        let listed = self.features.list().iter().copied();
        let mut marks: Vec<u64> = listed.filter(|mark| !left_out.contains(mark)).collect();
        marks.extend(people);
        marks.sort_unstable();
        marks.dedup();
        Filed {
            runs,
            marks,
            flags: self.flags,
            language: self.language,
            root: post.conversation == post.id,
        }
    }
}

/// The features of a username: as a text, and as the number that it may look like.
fn names(mark: Mark, handle: Handle<'_>) -> impl Iterator<Item = u64> {
    let text = whole(mark, hash(handle.username, Reading::Stream));
    let digits = handle.username.parse::<u64>().ok();
    std::iter::once(text).chain(digits.map(|digits| number(mark, digits)))
}

impl Query {
    /// Whom the query names that an index does not know by name: usernames, or texts of digits that
    /// may be ids; each once.
    pub fn people(&self) -> Vec<&str> {
        let mut found = Vec::new();
        each(self.root(), &mut |term| {
            if let Asked::Person { name, .. } = term.asked()
                && !found.contains(&name)
            {
                found.push(name);
            }
        });
        found
    }

    /// The lists whose members the query asks for, each once.
    pub fn lists(&self) -> Vec<i64> {
        let mut found = Vec::new();
        each(self.root(), &mut |term| {
            if let Asked::List(list) = term.asked()
                && !found.contains(&list)
            {
                found.push(list);
            }
        });
        found
    }

    /// Counters that every post the query matches has at least: what can be told before a post is
    /// read as a whole.
    pub fn least(&self) -> Vec<(Counter, u64)> {
        let parts = match self.root() {
            Node::All(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let counters = parts.iter().filter_map(|part| match part {
            Node::Is(term) => match term.asked() {
                Asked::Counter(counter, least) => Some((counter, least)),
                _ => None,
            },
            _ => None,
        });
        counters.collect()
    }
}

fn each<'a>(node: &'a Node, call: &mut impl FnMut(&'a Term)) {
    match node {
        Node::All(parts) | Node::Any(parts) => {
            for part in parts {
                each(part, call);
            }
        }
        Node::Is(term) | Node::Not(term) => call(term),
    }
}

impl Term {
    /// What an index of posts is asked for.
    pub fn asked(&self) -> Asked<'_> {
        match (&self.value, self.operator.how) {
            (Value::Words { hashes, near, .. }, How::Words(field)) if near.is_none() => {
                Asked::Words(hashes.iter().map(|word| word_in(field, *word)).collect())
            }
            (Value::Feature { text, .. }, How::User(mark @ (Mark::From | Mark::To))) => {
                Asked::Person { mark, name: text }
            }
            (Value::Feature { text, .. }, How::Id(Mark::List)) => {
                text.parse().map_or(Asked::Unknown, Asked::List)
            }
            (Value::Feature { text, feature }, How::Id(Mark::Conversation)) => match text.parse() {
                Ok(id) => Asked::Root { id, mark: *feature },
                Err(_) => decided(*feature),
            },
            (Value::Feature { feature, .. }, _) => decided(*feature),
            (Value::Flag(bit), _) => Asked::Flag(*bit),
            (Value::Language(language), _) => Asked::Language(*language),
            (Value::Between(least, u64::MAX), How::Counter(counter)) => {
                Asked::Counter(counter, *least)
            }
            (Value::Circle(lon, lat, radius, miles), _) => {
                written(around((*lon, *lat), metres(*radius, *miles)))
            }
            (Value::Within(area), _) => written(Some(*area)),
            _ => Asked::Unknown,
        }
    }
}

fn decided(mark: u64) -> Asked<'static> {
    Asked::Marks {
        marks: vec![mark],
        decided: true,
    }
}

/// The cells that an area touches, or everything with a place.
fn written(area: Option<Area>) -> Asked<'static> {
    let cells = area.and_then(cells).unwrap_or_else(|| vec![0]);
    Asked::Marks {
        marks: cells
            .into_iter()
            .map(|cell| number(Mark::Geo, cell))
            .collect(),
        decided: false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Author, Dialect, Facts, Handle, Level, Person, Post, Product, Reading, parse};

    use super::{Asked, person};
    use crate::operators::Mark;

    #[test]
    fn people_are_filed_by_id_and_words_by_their_runs() {
        let ana = Person {
            handle: Handle {
                id: 7,
                username: "12",
            },
            affiliations: &[],
        };
        let post = Post {
            id: 50,
            conversation: 50,
            author: Author {
                person: ana,
                lists: &[3],
                ..Author::default()
            },
            text: "Café au lait",
            hashtags: &["lait"],
            ..Post::default()
        };
        let filed = Facts::new(&post, Reading::Search).filed();
        assert_eq!(filed.runs.len(), 1);
        let dialect = Dialect::new(Product::RecentSearch, Level::Enterprise);
        let query = parse("\"cafe au\" from:12 #lait list:3", dialect).unwrap();
        let mut asked = Vec::new();
        super::each(query.root(), &mut |term| asked.push(term.asked()));
        let Asked::Words(words) = &asked[0] else {
            panic!("{asked:?}")
        };
        assert_eq!(filed.runs[0][..2], words[..]);
        assert_eq!(
            asked[1],
            Asked::Person {
                mark: Mark::From,
                name: "12"
            }
        );
        assert!(
            matches!(&asked[2], Asked::Marks { marks, decided: true } if filed.marks.contains(&marks[0]))
        );
        assert_eq!(asked[3], Asked::List(3));
        assert_eq!(filed.marks.len(), 2, "{filed:?}");
        assert!(filed.marks.contains(&person(Mark::From, 7)));
        assert_eq!((query.people(), query.lists()), (vec!["12"], vec![3]));
    }
}
