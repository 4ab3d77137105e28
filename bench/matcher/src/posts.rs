//! Real posts, as written by posts.py; kept in memory for the whole run.

use query::{QueryableAuthor, QueryableLink, QueryablePerson, QueryablePlace, QueryablePost, UserHandle};

pub struct Posts {
    pub all: Vec<QueryablePost<'static>>,
}

impl Posts {
    pub fn read(file: &str) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let text: &'static str = String::leak(text);
        Self {
            all: text.lines().map(post).collect(),
        }
    }

    pub fn mean_length(&self) -> usize {
        let letters = self.all.iter().map(|post| post.text.chars().count());
        letters.sum::<usize>() / self.all.len()
    }
}

fn leaked<T>(list: Vec<T>) -> &'static [T] {
    Vec::leak(list)
}

fn id(name: &str) -> i64 {
    name.bytes()
        .fold(7, |sum: i64, byte| sum.wrapping_mul(131) + i64::from(byte))
        & 0xffff_ffff
}

fn handle(username: &'static str) -> UserHandle<'static> {
    UserHandle {
        id: id(username),
        username,
    }
}

fn post(line: &'static str) -> QueryablePost<'static> {
    let parts: Vec<&str> = line.split('\t').collect();
    let [
        number,
        user,
        lang,
        source,
        kind,
        tags,
        mentions,
        links,
        bio,
        place,
        text,
    ] = parts[..]
    else {
        panic!("not a line of posts.py: {line}")
    };
    let is = |letter| kind.contains(letter);
    let number: i64 = number.parse().expect("an id");
    let other = text
        .split('@')
        .nth(1)
        .and_then(|rest| rest.split([':', ' ']).next())
        .unwrap_or("x");
    let person = |name| QueryablePerson {
        handle: handle(name),
        affiliations: &[],
    };
    QueryablePost {
        id: number,
        author: QueryableAuthor {
            person: person(user),
            name: user,
            bio,
            location: place,
            verified: is('b'),
            followers: (id(user) % 100_000) as u64,
            ..QueryableAuthor::default()
        },
        text,
        lang,
        source,
        conversation: number,
        reply_to: is('y').then(|| (number - 1, person(other))),
        repost_of: is('r').then(|| (number - 2, handle(other))),
        quote_of: is('q').then_some(number - 3),
        hashtags: leaked(tags.split_whitespace().collect()),
        mentions: leaked(mentions.split_whitespace().map(handle).collect()),
        links: leaked(
            links
                .split_whitespace()
                .map(|url| QueryableLink {
                    url: "https://t.co/x",
                    expanded: url,
                    ..QueryableLink::default()
                })
                .collect(),
        ),
        images: is('i'),
        video: is('v'),
        place: (!place.is_empty()).then_some(QueryablePlace {
            id: "p",
            full_name: place,
            country: "US",
            area: None,
        }),
        ..QueryablePost::default()
    }
}
