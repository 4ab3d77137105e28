//! The index and the evaluator agree. Each line is a rule, the last one is the text of a post.

#![no_main]

use libfuzzer_sys::fuzz_target;
use query::{AccessTier, MatchMode, Matcher, PostFeatures, QueryDialect, QueryProduct, QueryablePost, matches, parse};

fuzz_target!(|text: &str| {
    let (rules, post_text) = text.rsplit_once('\n').unwrap_or(("", text));
    let dialect = QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise);
    let rules: Vec<_> = rules.lines().take(64).flat_map(|rule| parse(rule, dialect)).collect();
    let mut matcher = Matcher::new();
    for (rule, number) in rules.iter().zip(0..) {
        matcher.add_rule(number, rule);
    }
    let tags: Vec<&str> = post_text.split('#').skip(1).collect();
    let post = QueryablePost {
        text: post_text,
        hashtags: &tags,
        lang: "en",
        ..QueryablePost::default()
    };
    let facts = PostFeatures::new(&post, MatchMode::Stream);
    let numbered = rules.iter().zip(0_u64..);
    let expected: Vec<u64> = numbered
        .filter(|(rule, _)| matches(rule, &facts))
        .map(|(_, number)| number)
        .collect();
    let mut found = matcher.matching_rules(&facts);
    found.sort_unstable();
    assert_eq!(found, expected);
});
