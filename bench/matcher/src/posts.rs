//! Real posts, as posts.py wrote them; they stay for the whole run.

use query::{Author, Handle, Link, Person, Place, Post};

pub struct Posts {
    pub all: Vec<Post<'static>>,
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

fn handle(username: &'static str) -> Handle<'static> {
    Handle {
        id: id(username),
        username,
    }
}

fn post(line: &'static str) -> Post<'static> {
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
    let person = |name| Person {
        handle: handle(name),
        affiliations: &[],
    };
    Post {
        id: number,
        author: Author {
            person: person(user),
            name: user,
            bio,
            location: place,
            verified: is('b'),
            followers: (id(user) % 100_000) as u64,
            ..Author::default()
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
                .map(|url| Link {
                    url: "https://t.co/x",
                    expanded: url,
                    ..Link::default()
                })
                .collect(),
        ),
        images: is('i'),
        video: is('v'),
        place: (!place.is_empty()).then_some(Place {
            id: "p",
            full_name: place,
            country: "US",
            area: None,
        }),
        ..Post::default()
    }
}
