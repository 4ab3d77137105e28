//! The posts of the demo world: first those that each show one thing, then everyday ones between
//! them so that timelines have pages.

/// A post to be written.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The author.
    pub(super) by: &'static str,
    /// The text.
    pub(super) text: String,
    /// The name that later lines call it by, or empty.
    pub(super) tag: &'static str,
    /// What kind it is.
    pub(super) kind: Kind,
}

/// What kind of post a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A post of its own.
    Plain,
    /// A reply to a tagged post.
    Reply(&'static str),
    /// A reply to the everyday post so many before.
    ReplyBack(usize),
    /// A quote of a tagged post.
    Quote(&'static str),
    /// A quote of the everyday post so many before.
    QuoteBack(usize),
    /// A later version of a tagged post.
    Edit(&'static str),
    /// Who may reply.
    Replies(&'static str),
    /// For promotion only.
    Nullcast,
    /// Marked as made with AI.
    MadeWithAi,
    /// Marked as a paid partnership.
    PaidPartnership,
    /// Deleted again.
    Deleted,
}

fn line(by: &'static str, tag: &'static str, kind: Kind, text: impl Into<String>) -> Line {
    Line {
        by,
        text: text.into(),
        tag,
        kind,
    }
}

/// Posts that each show one thing.
pub(super) fn showcase() -> Vec<Line> {
    use Kind::{Deleted, MadeWithAi, Nullcast, PaidPartnership, Plain, Quote, Replies, Reply};
    let exact = format!("Exactly 280: {}", "x".repeat(267));
    vec![
        line(
            "ada",
            "hello",
            Plain,
            "Hello from the demo world. This is a plain post.",
        ),
        line("bob", "reply", Reply("hello"), "@ada This is a reply."),
        line(
            "ada",
            "deeper",
            Reply("reply"),
            "@bob This is a reply to a reply: one conversation, three posts.",
        ),
        line(
            "zoe",
            "",
            Reply("deeper"),
            "@ada @bob Fourth in the same conversation, with emoji 🦀👩🏽‍🚀",
        ),
        line(
            "ada",
            "",
            Reply("hello"),
            "A thread goes on when its author replies to the first post.",
        ),
        line("grace", "", Quote("hello"), "This quotes the first post."),
        line(
            "bob",
            "",
            Quote("hello"),
            "So does this. A quote is not a reply.",
        ),
        line(
            "acme",
            "tags",
            Plain,
            "Hashtags #acme #Über #日本, cashtag $ACME, mentions @ada and @nobody_here, an address https://example.com/a?b=c&d=e",
        ),
        line("ada", "", Plain, exact),
        line(
            "ada",
            "",
            Plain,
            "Signs that get escaped: & < > — and &amp; as it was typed",
        ),
        line("ada", "", Plain, "Two lines,\nand a tab\there."),
        line(
            "ada",
            "",
            Plain,
            "An address with a path https://example.com/2026/10/01/story?id=1#top and one without a scheme example.org",
        ),
        line(
            "acme",
            "",
            Nullcast,
            "For promotion only: in no timeline, but there by its id.",
        ),
        line(
            "ada",
            "following",
            Replies("following"),
            "Only accounts that @ada follows may reply.",
        ),
        line("bob", "", Reply("following"), "@ada Which I may."),
        line(
            "ada",
            "",
            Replies("mentionedUsers"),
            "Only accounts mentioned here may reply, such as @grace.",
        ),
        line(
            "grace",
            "",
            Replies("verified"),
            "Only verified accounts may reply.",
        ),
        line(
            "grace",
            "",
            Replies("subscribers"),
            "Only subscribers may reply.",
        ),
        line(
            "acme",
            "",
            PaidPartnership,
            "A paid partnership, marked as one.",
        ),
        line("zoe", "", MadeWithAi, "Made with AI, marked as such."),
        line("grace", "long", Plain, long_text()),
        line(
            "bob",
            "",
            Deleted,
            "Deleted a moment later: lookups say so.",
        ),
        line(
            "dan",
            "",
            Plain,
            "Written before the suspension; out of sight since.",
        ),
        line("dan", "", Reply("hello"), "@ada So is this reply."),
        line(
            "parody_ada",
            "",
            Plain,
            "I am not @ada. Ada is not me. #parody",
        ),
        line(
            "longbio",
            "",
            Plain,
            "My biography is longer than my posts.",
        ),
        line("yuki", "", Plain, "初雪が降りました。東京は静かです。#雪"),
        line("noor", "", Plain, "صباح الخير من المدينة القديمة. #صباح"),
        line(
            "zoe",
            "",
            Plain,
            "Bonjour tout le monde, il fait très beau aujourd'hui à Lyon.",
        ),
        line(
            "zoe",
            "",
            Plain,
            "Guten Morgen, die Sonne scheint und der Kaffee ist fertig.",
        ),
        line(
            "bob",
            "",
            Plain,
            "Buenos días a todos, hoy vamos a la playa con los amigos.",
        ),
        line(
            "grace",
            "",
            Plain,
            "Сегодня хорошая погода, и мы гуляем в парке.",
        ),
        line("yuki", "", Plain, "안녕하세요, 오늘은 날씨가 좋습니다."),
        line("zoe", "", Plain, "🦀🦀🦀"),
        line("ada", "", Plain, "42"),
        line(
            "carol",
            "secret",
            Plain,
            "Only approved followers read this.",
        ),
        line("carol", "", Plain, "And this. @ada can, @bob cannot."),
        line("ada", "", Reply("secret"), "@carol I can read it."),
        line(
            "carol",
            "",
            Plain,
            "A protected post with a #hashtag is found by nobody else either.",
        ),
    ]
}

/// Posts whose later versions still may be written when the world is made: the last of all.
pub(super) fn edits() -> Vec<Line> {
    use Kind::{Edit, Plain};
    vec![
        line("grace", "draft", Plain, "This post has a typpo."),
        line("grace", "second", Edit("draft"), "This post had a typo."),
        line(
            "grace",
            "",
            Edit("second"),
            "This post had a typo, and now has three versions.",
        ),
    ]
}

/// Authors of everyday posts.
const AUTHORS: [&str; 9] = [
    "ada",
    "bob",
    "acme",
    "grace",
    "zoe",
    "ada",
    "longbio",
    "bob",
    "parody_ada",
];
const OPENINGS: [&str; 7] = [
    "Note",
    "Reading list",
    "Walk",
    "Recipe",
    "Question",
    "Found",
    "Log",
];
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
const ENDINGS: [&str; 5] = [
    "",
    " #daily",
    " #notes",
    " (more tomorrow)",
    " https://example.com/notes",
];

/// The `number`-th everyday post. `back` are further facts: whose post is so many before.
pub(super) fn everyday(number: usize) -> Line {
    let pick = |words: &[&'static str], step: usize| {
        let place = (number * step) % words.len().max(1);
        words.get(place).copied().unwrap_or_default()
    };
    let by = pick(&AUTHORS, 1);
    let opening = pick(&OPENINGS, 3);
    let (middle, ending) = (pick(&MIDDLES, 5), pick(&ENDINGS, 2));
    let (kind, text) = match number % 10 {
        4 if number > 4 => (
            Kind::ReplyBack(1),
            format!("Reply {number}: {middle}{ending}"),
        ),
        7 if number > 7 => (Kind::QuoteBack(3), format!("Quote {number}: {middle}")),
        _ => (Kind::Plain, format!("{opening} {number}: {middle}{ending}")),
    };
    line(by, "", kind, text)
}

/// More than 280, in paragraphs.
fn long_text() -> String {
    let paragraph = "A long post has more than 280 weighted characters. Its text is cut short in \
                     `text`, with the whole of it in its own field, entities and all: #long @ada \
                     https://example.com/long";
    let parts: Vec<String> = (1..=4)
        .map(|number| format!("{number}. {paragraph}"))
        .collect();
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::{everyday, showcase};
    use std::collections::HashSet;

    #[test]
    fn nobody_repeats_themselves() {
        let mut seen = HashSet::new();
        for line in showcase().into_iter().chain((0..300).map(everyday)) {
            assert!(seen.insert((line.by, line.text.clone())), "{line:?}");
        }
    }

    #[test]
    fn one_post_is_exactly_full() {
        assert!(
            showcase()
                .iter()
                .any(|line| line.text.chars().count() == 280)
        );
    }
}
