//! The public test vectors of text measuring (`tests/conformance`, Apache License 2.0), through
//! our own functions.

use base::text::{Entity, extract_entities, weigh_text};
use yaml_rust2::{Yaml, YamlLoader};

const EXTRACT: &str = include_str!("../conformance/extract.yml");
const VALIDATE: &str = include_str!("../conformance/validate.yml");

fn cases(file: &str, group: &str) -> Vec<Yaml> {
    let documents = YamlLoader::load_from_str(file).unwrap();
    documents[0]["tests"][group].as_vec().unwrap().clone()
}

fn text(case: &Yaml) -> &str {
    case["text"].as_str().unwrap()
}

fn description(case: &Yaml) -> &str {
    case["description"].as_str().unwrap()
}

/// What a case expects, in one form for names alone and for names with places.
fn expected(case: &Yaml) -> Vec<String> {
    let expected = case["expected"].as_vec().unwrap();
    let one = |item: &Yaml| match item {
        Yaml::Hash(pairs) => {
            let named = |key: &Yaml| key.as_str() != Some("indices");
            let (_, name) = pairs.iter().find(|(key, _)| named(key)).unwrap();
            let place = |index: usize| item["indices"][index].as_i64().unwrap();
            format!("{} {}–{}", name.as_str().unwrap(), place(0), place(1))
        }
        other => other.as_str().unwrap().to_owned(),
    };
    expected.iter().map(one).collect()
}

fn check(group: &str, found: impl Fn(&str) -> Vec<Entity>) -> usize {
    let cases = cases(EXTRACT, group);
    let mut wrong = Vec::new();
    for case in &cases {
        let with_places = case["expected"][0].as_hash().is_some();
        let shown = |entity: Entity| {
            if with_places { format!("{} {}–{}", entity.text, entity.start, entity.end) } else { entity.text }
        };
        let got: Vec<_> = found(text(case)).into_iter().map(shown).collect();
        if got != expected(case) {
            wrong.push(format!("{}: {:?} gave {got:?}", description(case), text(case)));
        }
    }
    assert!(wrong.is_empty(), "{group}:\n{}", wrong.join("\n"));
    cases.len()
}

/// Cases of the second configuration, which knew no emoji; ours is the third.
const BEFORE_EMOJI: &[&str] = &[
    "Count a mix of single byte single word, and double word unicode characters",
    "Count unicode emoji chars outside the basic multilingual plane with skin tone modifiers",
];

#[test]
fn entities_are_those_of_the_public_vectors() {
    let mut count = 0;
    for group in ["mentions", "mentions_with_indices"] {
        count += check(group, |text| extract_entities(text).mentions);
    }
    for group in ["urls", "urls_with_indices", "urls_with_directional_markers", "tco_urls_with_params"] {
        count += check(group, |text| extract_entities(text).urls);
    }
    for group in ["hashtags", "hashtags_from_astral", "hashtags_with_indices"] {
        count += check(group, |text| extract_entities(text).hashtags);
    }
    for group in ["cashtags", "cashtags_with_indices"] {
        count += check(group, |text| extract_entities(text).cashtags);
    }
    assert_eq!(count, 220);
}

#[test]
fn replies_and_lists_are_those_of_the_public_vectors() {
    let replies = cases(EXTRACT, "replies");
    assert_eq!(replies.len(), 13);
    for case in &replies {
        let found = extract_entities(text(case));
        let first = found.leading_mentions(text(case)).first();
        let name = first.map(|mention| mention.text.as_str());
        assert_eq!(name, case["expected"].as_str(), "{}", description(case));
    }
    let lists = cases(EXTRACT, "mentions_or_lists_with_indices");
    assert_eq!(lists.len(), 5);
    for case in &lists {
        // A list is no mention of its owner; there are no links to lists in posts.
        let mentions = case["expected"].as_vec().unwrap().iter();
        let mentions = mentions.filter(|one| one["list_slug"].as_str() == Some(""));
        let expected: Vec<_> = mentions
            .map(|one| {
                let place = |index: usize| one["indices"][index].as_i64().unwrap();
                let name = one["screen_name"].as_str().unwrap();
                format!("{name} {}–{}", place(0), place(1))
            })
            .collect();
        let found = extract_entities(text(case)).mentions.into_iter();
        let found: Vec<_> = found.map(|one| format!("{} {}–{}", one.text, one.start, one.end)).collect();
        assert_eq!(found, expected, "{}", description(case));
    }
}

/// Sound addresses that are no links in a text, or not as a whole: a link has a name of a known top-level domain, no
/// password, and does not end with a plus sign in its query (docs/decisions/0015-text-vectors.md).
const NOT_FOUND_IN_TEXT: &[&str] = &[
    "http://192.168.0.1/index.html?src=asdf",
    "http://[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:80/index.html",
    "http://user:PASSW0RD@example.com:8080/login.php",
    "http://example.com?foo=$bar.;baz?BAZ&c=d-#top/?stories+",
];

#[test]
fn what_is_valid_alone_is_found_whole() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut check = |group: &str, found: fn(&str) -> Vec<Entity>| {
        for case in &cases(VALIDATE, group) {
            count += 1;
            let all = text(case).len();
            let entities = found(text(case));
            let whole = entities.iter().any(|one| one.bytes == (0..all));
            let expected = case["expected"].as_bool().unwrap();
            if whole != expected && !NOT_FOUND_IN_TEXT.contains(&text(case)) {
                wrong.push(format!("{group}, {}: {}", description(case), text(case)));
            }
        }
    };
    check("usernames", |text| extract_entities(text).mentions);
    check("hashtags", |text| extract_entities(text).hashtags);
    check("urls", |text| extract_entities(text).urls);
    check("urls_without_protocol", |text| extract_entities(text).urls);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 40);
}

#[test]
fn weights_are_those_of_the_public_vectors() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for group in [
        "WeightedTweetsCounterTest",
        "WeightedTweetsWithDiscountedEmojiCounterTest",
        "UnicodeDirectionalMarkerCounterTest",
    ] {
        for case in &cases(VALIDATE, group) {
            count += 1;
            if group == "WeightedTweetsCounterTest" && BEFORE_EMOJI.contains(&description(case)) {
                continue;
            }
            let weighed = weigh_text(text(case), 0..0);
            let expected = &case["expected"];
            let weight = expected["weightedLength"].as_i64().unwrap();
            let valid = expected["valid"].as_bool().unwrap();
            if (i64::from(weighed.weight), weighed.permitted_280) != (weight, valid) {
                wrong.push(format!("{group}, {}: {weighed:?}", description(case)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 44);
}
