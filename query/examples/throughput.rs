//! How many posts a second the rule index takes on one core, beside evaluating every rule.
//!
//!     cargo run --release -p query --example throughput [rules …]
//!
//! Times are what the thread used of a core (Linux), so that a busy machine does not count.

use std::fmt::Write as _;
use std::time::Duration;

use query::{
    AccessTier, MatchMode, Matcher, ParsedQuery, PostFeatures, QueryDialect, QueryProduct, QueryableAuthor,
    QueryableLink, QueryablePerson, QueryablePost, UserHandle, matches, parse,
};

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|count| count.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![1_000, 25_000, 250_000, 1_000_000] } else { asked };
    let posts = posts(20_000);
    for count in counts {
        measure(count, &posts);
    }
}

#[expect(clippy::too_many_lines, reason = "a protocol")]
fn measure(count: usize, posts: &[QueryablePost<'static>]) {
    let mut dice = Dice(0x0dd5);
    let mut matcher = Matcher::new();
    for post in posts {
        matcher.record_frequencies(&PostFeatures::new(post, MatchMode::Stream));
    }
    let (mut kept, mut slots, mut length) = (Vec::new(), Vec::new(), 0);
    let (mut parsing, mut adding) = (Duration::ZERO, Duration::ZERO);
    let memory = resident();
    let mut number = 0;
    while slots.len() < count {
        let texts: Vec<String> = (0..1_000).map(|_| rule(&mut dice)).collect();
        length += texts.iter().map(String::len).sum::<usize>();
        let begun = thread_time();
        let rules: Vec<ParsedQuery> = texts.iter().filter_map(|text| sound(text)).collect();
        let parsed = thread_time();
        for rule in &rules {
            slots.push(matcher.add_rule(number, rule));
            number += 1;
        }
        adding += thread_time().saturating_sub(parsed);
        parsing += parsed.saturating_sub(begun);
        if count <= 25_000 {
            kept.extend(rules);
        }
    }
    let memory = if kept.is_empty() { resident().saturating_sub(memory) / slots.len() } else { 0 };
    let rounds = if count > 300_000 { 1 } else { 4 };
    let (mut found, mut facts_only) = (0, Duration::ZERO);
    let begun = thread_time();
    for post in posts.iter().cycle().take(posts.len() * rounds) {
        found += matcher.matching_rules(&PostFeatures::new(post, MatchMode::Stream)).len();
    }
    let spent = thread_time().saturating_sub(begun);
    let begun = thread_time();
    for post in posts {
        std::hint::black_box(PostFeatures::new(post, MatchMode::Stream));
    }
    facts_only += thread_time().saturating_sub(begun);
    let taken = posts.len() * rounds;
    println!(
        "{:>9} rules of {:>3} characters: {:>7.0} posts/s ({:.2} µs a post, {:.2} of them to read it), \
         {:.2} matches a post; a rule: parse {:.1} µs, add {:.1} µs, {} B counted, {} B resident",
        slots.len(),
        length / slots.len(),
        per_second(taken, spent),
        micros(spent, taken),
        micros(facts_only, posts.len()),
        ratio(found, taken),
        micros(parsing, slots.len()),
        micros(adding, slots.len()),
        matcher.memory_bytes() / slots.len(),
        memory,
    );
    if !kept.is_empty() {
        let few = posts.get(..200).unwrap_or_default();
        let begun = thread_time();
        let mut same = 0;
        for post in few {
            let facts = PostFeatures::new(post, MatchMode::Stream);
            same += kept.iter().filter(|rule| matches(rule, &facts)).count();
        }
        let spent = thread_time().saturating_sub(begun);
        let indexed: usize =
            few.iter().map(|post| matcher.matching_rules(&PostFeatures::new(post, MatchMode::Stream)).len()).sum();
        println!(
            "          every rule evaluated: {:.0} posts/s; {same} matches of 200 posts, {indexed} by the index",
            per_second(few.len(), spent)
        );
    }
    let gone: Vec<_> = slots.iter().step_by(10).copied().collect();
    let begun = thread_time();
    for slot in &gone {
        matcher.remove_rule(*slot);
    }
    let spent = thread_time().saturating_sub(begun);
    println!("          remove {:.1} µs", micros(spent, gone.len()));
}

fn sound(text: &str) -> Option<ParsedQuery> {
    parse(text, QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise)).ok()
}

/// Words, as common as their rank says, in the form of words.
fn word(rank: usize) -> String {
    let (mut rest, mut text) = (rank * 7 + 3, String::new());
    while rest > 0 {
        text.push(char::from(*b"bcdfglmnprst".get(rest % 12).unwrap_or(&b'z')));
        rest /= 12;
        text.push(char::from(*b"aeiou".get(rest % 5).unwrap_or(&b'y')));
        rest /= 5;
    }
    text
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    /// A rank in a list: the first as often as the second and third together, and so on.
    fn rank(&mut self, least: usize, most: usize) -> usize {
        let range = u32::try_from(most / least).unwrap_or(u32::MAX);
        let part = f64::from(u32::try_from(self.below(1 << 30)).unwrap_or(0)) / f64::from(1 << 30);
        let rank = f64::from(u32::try_from(least).unwrap_or(1)) * f64::from(range).powf(part);
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank is small and positive"
        )]
        let rank = rank as usize;
        rank.min(most)
    }
}

fn many(dice: &mut Dice, count: usize, least: usize, most: usize) -> Vec<String> {
    (0..count).map(|_| word(dice.rank(least, most))).collect()
}

fn prefixed(sign: &str, names: &[String]) -> String {
    let terms: Vec<String> = names.iter().map(|name| format!("{sign}{name}")).collect();
    terms.join(" OR ")
}

fn rule(dice: &mut Dice) -> String {
    let users = |dice: &mut Dice, count| -> Vec<String> {
        (0..count).map(|_| format!("u{}", dice.rank(50, 200_000))).collect()
    };
    let mut text = match dice.below(100) {
        0..=24 => format!("({})", prefixed("", &many(dice, 12, 60_000, 200_000))),
        25..=39 => format!("({})", prefixed("from:", &users(dice, 9))),
        40..=54 => {
            let (one, two) = (many(dice, 5, 40, 20_000), many(dice, 3, 100, 20_000));
            format!("(\"{}\" OR \"{}\")", one.join(" "), two.join(" "))
        }
        55..=74 => {
            let (all, any) = (many(dice, 2, 100, 30_000), many(dice, 8, 300, 60_000));
            format!("{} ({})", all.join(" "), prefixed("", &any))
        }
        75..=82 => format!("({})", prefixed("#", &many(dice, 9, 5_000, 20_000))),
        83..=87 => format!("({})", prefixed("@", &users(dice, 9))),
        88..=90 => format!("({})", prefixed("$", &many(dice, 7, 500, 3_000))),
        91..=94 => format!("(url:site{} OR url:site{})", dice.below(5_000), dice.below(5_000)),
        95..=97 => format!("bio:{} {}", word(dice.rank(100, 20_000)), word(dice.rank(30, 2_000))),
        _ => format!("(place:\"{}\" OR point_radius:[{}.5 2.5 10km])", word(dice.below(3_000)), dice.below(100)),
    };
    for tail in [" lang:en", " -is:retweet", " has:links", " -is:reply has:media"] {
        if dice.below(3) == 0 {
            text += tail;
        }
    }
    while dice.below(3) == 0 {
        let _ = write!(text, " -{}", word(dice.rank(10, 5_000)));
    }
    text
}

fn leaked<T>(list: Vec<T>) -> &'static [T] {
    Vec::leak(list)
}

fn posts(count: usize) -> Vec<QueryablePost<'static>> {
    let mut dice = Dice(0xbead);
    (0..count).map(|_| post(&mut dice)).collect()
}

fn post(dice: &mut Dice) -> QueryablePost<'static> {
    let text = |dice: &mut Dice, words: usize| &*String::leak(many(dice, words, 1, 200_000).join(" "));
    let user = |dice: &mut Dice| {
        let rank = dice.rank(1, 200_000);
        UserHandle { id: i64::try_from(rank).unwrap_or(0), username: String::leak(format!("u{rank}")) }
    };
    let site = dice.rank(1, 5_000);
    let link = QueryableLink {
        url: "https://t.example/abc",
        expanded: String::leak(format!("https://site{site}.example/{}", word(dice.rank(1, 200_000)))),
        ..QueryableLink::default()
    };
    let person = |handle| QueryablePerson { handle, affiliations: &[] };
    let some = |dice: &mut Dice, percent: usize| dice.below(100) < percent;
    let length = 8 + dice.below(16);
    let tag = &*String::leak(word(dice.rank(1, 20_000)));
    let symbol = &*String::leak(word(dice.rank(1, 3_000)));
    QueryablePost {
        id: i64::try_from(dice.below(1 << 30)).unwrap_or(0) << 22,
        author: QueryableAuthor {
            person: person(user(dice)),
            name: text(dice, 2),
            bio: text(dice, 8),
            location: text(dice, 1),
            verified: some(dice, 10),
            ..QueryableAuthor::default()
        },
        text: text(dice, length),
        lang: if some(dice, 70) { "en" } else { "ja" },
        source: "The Web",
        hashtags: leaked(if some(dice, 30) { vec![tag] } else { vec![] }),
        cashtags: leaked(if some(dice, 3) { vec![symbol] } else { vec![] }),
        mentions: leaked(if some(dice, 40) { vec![user(dice)] } else { vec![] }),
        links: leaked(if some(dice, 25) { vec![link] } else { vec![] }),
        reply_to: some(dice, 35).then(|| (5, person(user(dice)))),
        repost_of: some(dice, 25).then(|| (6, user(dice))),
        images: some(dice, 20),
        point: some(dice, 2).then_some((1.52, 2.51)),
        ..QueryablePost::default()
    }
}

fn thread_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn resident() -> usize {
    let stat = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<usize> = stat.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4_096
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn ratio(one: usize, other: usize) -> f64 {
    float(one) / float(other)
}

fn per_second(count: usize, spent: Duration) -> f64 {
    float(count) / spent.as_secs_f64()
}

fn micros(spent: Duration, count: usize) -> f64 {
    spent.as_secs_f64() * 1e6 / float(count)
}
