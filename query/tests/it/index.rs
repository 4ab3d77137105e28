//! The index finds what the evaluator finds.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "helpers of tests fail like tests"
)]

use query::{
    AccessTier, GeoArea, MatchMode, Matcher, ParsedQuery, PostFeatures, QueryDialect, QueryProduct, QueryableAuthor,
    QueryableLink, QueryablePerson, QueryablePlace, QueryablePost, RuleSlot, UserHandle, matches, parse,
};

use crate::random::{Dice, thread_time};

const WORDS: [&str; 24] = [
    "the",
    "a",
    "coffee",
    "tea",
    "solar",
    "power",
    "news",
    "great",
    "café",
    "cafe",
    "game",
    "rain",
    "city",
    "north",
    "train",
    "late",
    "sale",
    "東京",
    "京",
    "タワー",
    "😀",
    "ação",
    "x1",
    "coca-cola",
];
const USERS: [(i64, &str); 4] = [(100, "ana"), (200, "bob"), (300, "12345"), (400, "dee")];
const LANGUAGES: [&str; 5] = ["en", "pt", "ja", "und", "zh"];
const NARROW: [&str; 17] = [
    "has:hashtags",
    "has:links",
    "has:media",
    "has:images",
    "has:geo",
    "has:mentions",
    "is:reply",
    "is:retweet",
    "is:quote",
    "is:verified",
    "lang:en",
    "lang:pt",
    "lang:zh-cn",
    "followers_count:10..60",
    "min_followers:50",
    "source:web",
    "url_title:solar",
];

fn words(dice: &mut Dice, most: usize) -> String {
    let words: Vec<&str> = (0..=dice.below(most)).map(|_| *dice.of(&WORDS)).collect();
    words.join(" ")
}

fn positive(dice: &mut Dice) -> String {
    let (id, name) = *dice.of(&USERS);
    let word = words(dice, 1);
    match dice.below(20) {
        0..=7 => word,
        8 => format!("\"{}\"", words(dice, 3)),
        9 => format!("\"{}\"~{}", words(dice, 3), 1 + dice.below(6)),
        10 => format!("#{}", dice.of(&WORDS[2..17])),
        11 => format!("@{name}"),
        12 => format!("from:{id}"),
        13 => format!("from:{name}"),
        14 => format!("to:{name}"),
        15 => format!("retweets_of:{name}"),
        16 => format!("url:{}", dice.of(&WORDS[2..8])),
        17 => format!("bio:{}", dice.of(&WORDS[2..8])),
        18 => String::from("point_radius:[1.0 1.0 10km]"),
        _ => String::from("bounding_box:[0.9 0.9 1.1 1.1]"),
    }
}

fn rule(dice: &mut Dice, depth: usize) -> String {
    let count = 1 + dice.below(3);
    let parts: Vec<String> = (0..count)
        .map(|place| match dice.below(if place == 0 { 6 } else { 12 }) {
            0 if depth > 0 => format!("({})", rule(dice, depth - 1)),
            0..=6 => positive(dice),
            7 => format!("-{}", dice.of(&WORDS[2..])),
            8 => format!("-{}", dice.of(&NARROW)),
            9 if depth > 0 => format!("-({})", rule(dice, depth - 1)),
            _ => String::from(*dice.of(&NARROW)),
        })
        .collect();
    parts.join(if dice.below(3) == 0 { " OR " } else { " " })
}

/// Rules that are sound, as many as asked.
fn rules(dice: &mut Dice, count: usize) -> Vec<ParsedQuery> {
    let stream = QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise);
    let power = QueryDialect::new(QueryProduct::Powerstream, AccessTier::Enterprise);
    let mut found = vec![
        parse("contains:offe", power).unwrap(),
        parse("contains:\"ea\" -tea", power).unwrap(),
        parse("contains:x url_contains:\"/sol\"", power).unwrap(),
    ];
    while found.len() < count {
        found.extend(parse(&rule(dice, 2), stream));
    }
    found
}

fn post(dice: &mut Dice) -> QueryablePost<'static> {
    let handle = |(id, username)| UserHandle { id, username };
    let person = |user| QueryablePerson { handle: handle(user), affiliations: &[] };
    let area = GeoArea { west: 0.95, south: 0.95, east: 1.05, north: 1.05 };
    let place = QueryablePlace { id: "p9", full_name: "North City", country: "US", area: Some(area) };
    let one = |dice: &mut Dice, share: usize| dice.below(share) == 0;
    QueryablePost {
        id: i64::try_from(dice.below(1 << 50)).unwrap(),
        author: QueryableAuthor {
            person: person(*dice.of(&USERS)),
            bio: ["", "solar news", "tea"][dice.below(3)],
            verified: one(dice, 3),
            followers: dice.below(100) as u64,
            ..QueryableAuthor::default()
        },
        text: String::leak(words(dice, 9)),
        lang: dice.of::<&str>(&LANGUAGES),
        source: "The Web",
        hashtags: [&[][..], &["coffee"], &["game", "cafe"]][dice.below(3)],
        mentions: [&[][..], &[UserHandle { id: 100, username: "Ana" }]][dice.below(2)],
        links: [
            &[][..],
            &[QueryableLink {
                url: "https://t.example/1",
                expanded: "https://a.example/solar/news",
                unwound: "",
                title: "Solar rain",
                description: "",
            }],
        ][dice.below(2)],
        reply_to: one(dice, 3).then(|| (5, person(*dice.of(&USERS)))),
        repost_of: one(dice, 4).then(|| (6, handle(*dice.of(&USERS)))),
        images: one(dice, 4),
        point: one(dice, 6).then_some((1.0, 1.01)),
        place: one(dice, 6).then_some(place),
        ..QueryablePost::default()
    }
}

fn index_and_evaluator_agree(seed: u64, rules_count: usize, posts: usize) {
    let mut dice = Dice(seed);
    let rules = rules(&mut dice, rules_count);
    let mut matcher = Matcher::new();
    let mut slots: Vec<Option<RuleSlot>> = vec![None; rules.len()];
    let mut found = 0;
    for round in 0..posts {
        // Rules come and go between posts; at first most are there.
        let changes = if round == 0 { rules.len() * 2 } else { 8 };
        for _ in 0..changes {
            let place = dice.below(rules.len());
            slots[place] = match slots[place].take() {
                Some(slot) if round > 0 => {
                    assert_eq!(matcher.remove_rule(slot), Some(place as u64));
                    None
                }
                Some(slot) => Some(slot),
                None => Some(matcher.add_rule(place as u64, &rules[place])),
            };
        }
        let quoted = post(&mut dice);
        let mut post = post(&mut dice);
        if dice.below(4) == 0 {
            post.quoted = Some(&quoted);
            post.quote_of = Some(7);
        }
        let facts = PostFeatures::new(&post, MatchMode::Stream);
        let mut expected: Vec<u64> = rules
            .iter()
            .zip(0..)
            .zip(&slots)
            .filter(|((rule, _), slot)| slot.is_some() && matches(rule, &facts))
            .map(|((_, place), _)| place)
            .collect();
        let mut answer = matcher.matching_rules(&facts);
        answer.sort_unstable();
        expected.sort_unstable();
        if answer != expected {
            let odd = answer
                .iter()
                .chain(&expected)
                .find(|place| answer.contains(place) != expected.contains(place))
                .unwrap();
            panic!("{} {post:?}", rules[usize::try_from(*odd).unwrap()]);
        }
        found += answer.len();
        matcher.record_frequencies(&facts);
        assert_eq!(matcher.len(), slots.iter().flatten().count());
    }
    assert!(found > posts, "{found} matches of {posts} posts");
    for slot in slots.into_iter().flatten() {
        assert!(matcher.remove_rule(slot).is_some() && matcher.remove_rule(slot).is_none());
    }
    assert!(matcher.is_empty());
}

#[test]
fn index_and_evaluator_agree_on_millions_of_pairs() {
    const RULES: usize = 1_000;
    let posts = std::env::var("LOCUM_MATCH_POSTS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000);
    for seed in 1..=4 {
        index_and_evaluator_agree(seed * 0x9e37, RULES, posts / 4);
    }
    println!(r#"figure: {{"posts": {posts}, "rules": {RULES}, "mismatches": 0}}"#);
}

#[test]
fn rules_filed_anew_match_as_before() {
    let mut dice = Dice(0xabe1);
    let rules = rules(&mut dice, 300);
    let mut matcher = Matcher::new();
    for (rule, place) in rules.iter().zip(0..) {
        matcher.add_rule(place, rule);
    }
    let posts: Vec<QueryablePost<'_>> = (0..300).map(|_| post(&mut dice)).collect();
    for post in &posts {
        matcher.record_frequencies(&PostFeatures::new(post, MatchMode::Stream));
    }
    let mut again = matcher.empty_with_frequencies();
    assert!(again.is_empty());
    for (rule, place) in rules.iter().zip(0..) {
        again.add_rule(place, rule);
    }
    for post in &posts {
        let facts = PostFeatures::new(post, MatchMode::Stream);
        assert_eq!(again.matching_rules(&facts), matcher.matching_rules(&facts));
    }
}

#[test]
fn a_query_of_search_matches_nothing() {
    let query = parse("tea", QueryDialect::new(QueryProduct::RecentSearch, AccessTier::SelfServe)).unwrap();
    let mut matcher = Matcher::new();
    let slot = matcher.add_rule(1, &query);
    let post = QueryablePost { text: "tea", ..QueryablePost::default() };
    assert!(matcher.matching_rules(&PostFeatures::new(&post, MatchMode::Stream)).is_empty());
    assert_eq!(matcher.remove_rule(slot), Some(1));
}

#[test]
fn a_hostile_post_costs_little_at_many_rules() {
    let dialect = QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise);
    let mut matcher = Matcher::new();
    for number in 0..2_500 {
        let text = format!("\"a a a b\" c{} OR (zz a -(b c) from:u{number} -x{number})", number % 7);
        matcher.add_rule(number, &parse(&text, dialect).unwrap());
    }
    let text = "a a a zz c1 c2 b ".repeat(16);
    let post = QueryablePost { text: &text, ..QueryablePost::default() };
    let before = thread_time();
    assert!(matcher.matching_rules(&PostFeatures::new(&post, MatchMode::Stream)).is_empty());
    let spent = thread_time().saturating_sub(before);
    // A tenth of the rules in a build some ten times as slow.
    assert!(spent.as_millis() < 50, "{spent:?}");
}
