//! The index finds what the evaluator finds: a line a rule, the last line a post's text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use query::{Dialect, Facts, Level, Matcher, Post, Product, Reading, matches, parse};

fuzz_target!(|text: &str| {
    let (rules, said) = text.rsplit_once('\n').unwrap_or(("", text));
    let dialect = Dialect::new(Product::Stream, Level::Enterprise);
    let rules: Vec<_> = rules
        .lines()
        .take(64)
        .flat_map(|rule| parse(rule, dialect))
        .collect();
    let mut matcher = Matcher::new();
    for (rule, number) in rules.iter().zip(0..) {
        matcher.add(number, rule);
    }
    let tags: Vec<&str> = said.split('#').skip(1).collect();
    let post = Post {
        text: said,
        hashtags: &tags,
        lang: "en",
        ..Post::default()
    };
    let facts = Facts::new(&post, Reading::Stream);
    let numbered = rules.iter().zip(0_u64..);
    let expected: Vec<u64> = numbered
        .filter(|(rule, _)| matches(rule, &facts))
        .map(|(_, number)| number)
        .collect();
    let mut found = matcher.matching(&facts);
    found.sort_unstable();
    assert_eq!(found, expected);
});
