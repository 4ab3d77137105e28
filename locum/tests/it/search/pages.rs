//! Pages stay what they are while posts come.

use std::collections::HashSet;

use serde_json::json;

use super::{ask, ids};
use crate::harness::{Person, fresh, shared};

/// Every page of a search, while somebody writes on.
fn walk(reader: &Person<'_>, writer: &Person<'_>, query: &str, more: &str) -> Vec<Vec<String>> {
    let (mut pages, mut token) = (Vec::new(), String::new());
    loop {
        let answer = ask(reader, query, &format!("&max_results=10{more}{token}")).is(200);
        pages.push(ids(&answer));
        assert_eq!(answer["meta"]["result_count"], pages.last().unwrap().len());
        let Some(next) = answer["meta"]["next_token"].as_str() else {
            return pages;
        };
        writer.says(&format!("{query} and more {}", fresh()));
        token = format!("&next_token={next}");
    }
}

#[test]
fn a_walk_meets_each_post_once_whatever_comes() {
    let [writer, liker, reader] = ["writer", "liker", "reader"].map(|name| shared().person(name));
    let word = format!("zp{}", fresh());
    let mut all: Vec<String> = (0..35)
        .map(|number| writer.says(&format!("{word} {number}")))
        .collect();
    all.reverse();
    let walked = walk(&reader, &writer, &word, "");
    let lengths: Vec<usize> = walked.iter().map(Vec::len).collect();
    assert_eq!(
        (walked.concat(), lengths),
        (all.clone(), vec![10, 10, 10, 5])
    );

    for liked in [&all[34], &all[20]] {
        liker
            .post(
                format!("/2/users/{}/likes", liker.id),
                &json!({ "tweet_id": liked }),
            )
            .is(200);
    }
    let ranked = walk(&reader, &writer, &word, "&sort_order=relevancy").concat();
    let top: HashSet<&String> = ranked[..2].iter().collect();
    assert_eq!(top, HashSet::from([&all[34], &all[20]]));
    let each: HashSet<&String> = ranked.iter().collect();
    assert_eq!(each.len(), ranked.len(), "nothing twice");
    assert!(
        all.iter().all(|post| each.contains(post)),
        "nothing missing"
    );
    // What came while the first walk went on was there when this one began, what came later not.
    assert_eq!(ranked.len(), 35 + 3);
}

#[test]
fn a_token_belongs_to_its_query() {
    let (writer, word) = (shared().person("writer"), format!("zp{}", fresh()));
    for number in 0..11 {
        writer.says(&format!("{word} {number}"));
    }
    let page = ask(&writer, &word, "").is(200);
    let token = page["meta"]["next_token"].as_str().unwrap();
    let rest = ask(&writer, &word, &format!("&pagination_token={token}")).is(200);
    assert_eq!(ids(&rest).len(), 1);
    let message = format!("The `next_token` query parameter value [{token}] is not valid");
    ask(
        &writer,
        &format!("{word} other"),
        &format!("&next_token={token}"),
    )
    .says(400, &message);
    let both = format!("&next_token={token}&pagination_token={token}");
    ask(&writer, &word, &both).says(
        400,
        "Only one of `next_token` and `pagination_token` can be given",
    );
}

#[test]
fn ids_and_times_bound_a_search() {
    let (writer, word) = (shared().person("writer"), format!("zp{}", fresh()));
    let all: Vec<String> = (0..6)
        .map(|number| writer.says(&format!("{word} {number}")))
        .collect();
    let page = |more: &str| ids(&ask(&writer, &word, more).is(200));
    assert_eq!(
        page(&format!("&since_id={}", all[3])),
        [all[5].clone(), all[4].clone()]
    );
    assert_eq!(
        page(&format!("&until_id={}", all[2])),
        [all[1].clone(), all[0].clone()]
    );
    let between = format!("&since_id={}&until_id={}", all[1], all[3]);
    assert_eq!(page(&between), [all[2].clone()]);
    let at = |ms: i64| {
        let time = base::clock::wall_time().plus_ms(ms);
        base::Time::from_seconds(time.seconds()).to_string()
    };
    assert_eq!(page(&format!("&start_time={}", at(-3_600_000))).len(), 6);
    assert!(page(&format!("&end_time={}", at(-60_000))).is_empty());
}
