//! The posts of the demo world: showcase posts that each demonstrate one feature, and everyday posts
//! that fill timelines.

#[derive(Clone, Debug)]
pub(super) struct DemoPost {
    pub(super) author: &'static str,
    pub(super) text: String,
    /// The name that later posts refer to; may be empty.
    pub(super) tag: &'static str,
    pub(super) kind: DemoPostKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoPostKind {
    Plain,
    Reply(&'static str),
    /// A reply to the everyday post this many positions earlier.
    ReplyToEveryday(usize),
    Quote(&'static str),
    /// A quote of the everyday post this many positions earlier.
    QuoteOfEveryday(usize),
    Edit(&'static str),
    ReplySettings(&'static str),
    Nullcast,
    MadeWithAi,
    PaidPartnership,
    Deleted,
}

fn demo_post(by: &'static str, tag: &'static str, kind: DemoPostKind, text: impl Into<String>) -> DemoPost {
    DemoPost { author: by, text: text.into(), tag, kind }
}

use DemoPostKind::{Deleted, MadeWithAi, Nullcast, PaidPartnership, Plain, Quote, Reply, ReplySettings};

/// Author, tag, kind and text.
type ShowcaseRow = (&'static str, &'static str, DemoPostKind, &'static str);
static SHOWCASE: &[ShowcaseRow] = &[
    ("ada", "hello", Plain, "Hello from the demo world. This is a plain post."),
    ("bob", "reply", Reply("hello"), "@ada This is a reply."),
    ("ada", "deeper", Reply("reply"), "@bob This is a reply to a reply: one conversation, three posts."),
    ("zoe", "", Reply("deeper"), "@ada @bob Fourth in the same conversation, with emoji 🦀👩🏽‍🚀"),
    ("ada", "", Reply("hello"), "A thread goes on when its author replies to the first post."),
    ("grace", "", Quote("hello"), "This quotes the first post."),
    ("bob", "", Quote("hello"), "So does this. A quote is not a reply."),
    (
        "acme",
        "tags",
        Plain,
        "Hashtags #acme #Über #日本, cashtag $ACME, mentions @ada and @nobody_here, an address https://example.com/a?b=c&d=e",
    ),
    ("ada", "", Plain, "Signs that get escaped: & < > — and &amp; as it was typed"),
    ("ada", "", Plain, "Two lines,\nand a tab\there."),
    (
        "ada",
        "",
        Plain,
        "An address with a path https://example.com/2026/10/01/story?id=1#top and one without a scheme example.org",
    ),
    ("acme", "", Nullcast, "For promotion only: in no timeline, but there by its id."),
    ("ada", "following", ReplySettings("following"), "Only accounts that @ada follows may reply."),
    ("bob", "", Reply("following"), "@ada Which I may."),
    ("ada", "", ReplySettings("mentionedUsers"), "Only accounts mentioned here may reply, such as @grace."),
    ("grace", "", ReplySettings("verified"), "Only verified accounts may reply."),
    ("grace", "", ReplySettings("subscribers"), "Only subscribers may reply."),
    ("acme", "", PaidPartnership, "A paid partnership, marked as one."),
    ("zoe", "", MadeWithAi, "Made with AI, marked as such."),
    ("bob", "", Deleted, "Deleted a moment later: lookups say so."),
    ("dan", "", Plain, "Written before the suspension; out of sight since."),
    ("dan", "", Reply("hello"), "@ada So is this reply."),
    ("parody_ada", "", Plain, "I am not @ada. Ada is not me. #parody"),
    ("longbio", "", Plain, "My biography is longer than my posts."),
    ("yuki", "", Plain, "初雪が降りました。東京は静かです。#雪"),
    ("noor", "", Plain, "صباح الخير من المدينة القديمة. #صباح"),
    ("zoe", "", Plain, "Bonjour tout le monde, il fait très beau aujourd'hui à Lyon."),
    ("zoe", "", Plain, "Guten Morgen, die Sonne scheint und der Kaffee ist fertig."),
    ("bob", "", Plain, "Buenos días a todos, hoy vamos a la playa con los amigos."),
    ("grace", "", Plain, "Сегодня хорошая погода, и мы гуляем в парке."),
    ("yuki", "", Plain, "안녕하세요, 오늘은 날씨가 좋습니다."),
    ("zoe", "", Plain, "🦀🦀🦀"),
    ("ada", "", Plain, "42"),
    ("carol", "secret", Plain, "Only approved followers read this."),
    ("carol", "", Plain, "And this. @ada can, @bob cannot."),
    ("ada", "", Reply("secret"), "@carol I can read it."),
    ("carol", "", Plain, "A protected post with a #hashtag is found by nobody else either."),
];

pub(super) fn showcase_posts() -> Vec<DemoPost> {
    let rows = SHOWCASE.iter();
    let lines = rows.map(|(by, tag, kind, text)| demo_post(by, tag, kind.clone(), *text));
    let full = format!("Exactly 280: {}", "x".repeat(267));
    let made = [demo_post("ada", "", Plain, full), demo_post("grace", "", Plain, long_text())];
    lines.chain(made).collect()
}

/// Edited posts come last, so that they are still within the edit window.
pub(super) fn edited_posts() -> Vec<DemoPost> {
    use DemoPostKind::Edit;
    vec![
        demo_post("grace", "draft", Plain, "This post has a typpo."),
        demo_post("grace", "second", Edit("draft"), "This post had a typo."),
        demo_post("grace", "", Edit("second"), "This post had a typo, and now has three versions."),
    ]
}

const AUTHORS: [&str; 9] = ["ada", "bob", "acme", "grace", "zoe", "ada", "longbio", "bob", "parody_ada"];
const OPENINGS: [&str; 7] = ["Note", "Reading list", "Walk", "Recipe", "Question", "Found", "Log"];
const MIDDLES: [&str; 11] = [
    "the library opens late on Thursdays",
    "a pot of lentils feeds six",
    "the bridge is closed for repairs",
    "three herons by the canal this morning",
    "who else still writes letters?",
    "the new edition has a better index",
    "rain until noon, then light",
    "the market moved to the square",
    "an old radio that still works",
    "the train was on time",
    "nobody needs that many tabs",
];
const ENDINGS: [&str; 6] = ["", " $ACME", " #daily", " #notes", " (more tomorrow)", " https://example.com/notes"];

pub(super) fn everyday_post(number: usize) -> DemoPost {
    let pick = |words: &[&'static str], step: usize| {
        let place = (number * step) % words.len().max(1);
        words.get(place).copied().unwrap_or_default()
    };
    let by = pick(&AUTHORS, 1);
    let opening = pick(&OPENINGS, 3);
    let (middle, ending) = (pick(&MIDDLES, 5), pick(&ENDINGS, 5));
    let (kind, text) = match number % 10 {
        4 if number > 4 => (DemoPostKind::ReplyToEveryday(1), format!("Reply {number}: {middle}{ending}")),
        7 if number > 7 => (DemoPostKind::QuoteOfEveryday(3), format!("Quote {number}: {middle}")),
        _ => (Plain, format!("{opening} {number}: {middle}{ending}")),
    };
    demo_post(by, "", kind, text)
}

fn long_text() -> String {
    let paragraph = "A long post has more than 280 weighted characters. Its text is cut short in \
                     `text`, with the whole of it in its own field, entities and all: #long @ada \
                     https://example.com/long";
    let parts: Vec<String> = (1..=4).map(|number| format!("{number}. {paragraph}")).collect();
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::{everyday_post, showcase_posts};
    use std::collections::HashSet;

    #[test]
    fn nobody_repeats_themselves() {
        let mut seen = HashSet::new();
        for line in showcase_posts().into_iter().chain((0..300).map(everyday_post)) {
            assert!(seen.insert((line.author, line.text.clone())), "{line:?}");
        }
    }

    #[test]
    fn one_post_is_exactly_full() {
        assert!(showcase_posts().iter().any(|line| line.text.chars().count() == 280));
    }
}
