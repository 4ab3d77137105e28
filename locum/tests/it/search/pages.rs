//! Pages stay what they are while posts come.

use std::collections::HashSet;

use serde_json::json;

use super::{ask, ids};
use crate::harness::{TestUser, shared_server, unique_number};

/// Every page of a search, while somebody writes on.
fn walk(reader: &TestUser<'_>, writer: &TestUser<'_>, query: &str, more: &str) -> Vec<Vec<String>> {
    let (mut pages, mut token) = (Vec::new(), String::new());
    loop {
        let response = ask(reader, query, &format!("&max_results=10{more}{token}")).assert_status(200);
        pages.push(ids(&response));
        assert_eq!(response["meta"]["result_count"], pages.last().unwrap().len());
        let Some(next) = response["meta"]["next_token"].as_str() else {
            return pages;
        };
        writer.publish_text(&format!("{query} and more {}", unique_number()));
        token = format!("&next_token={next}");
    }
}

#[test]
fn search_pages_return_each_post_once_during_writes() {
    let [writer, liker, reader] = ["writer", "liker", "reader"].map(|name| shared_server().new_user(name));
    let word = format!("zp{}", unique_number());
    let mut all: Vec<String> = (0..35).map(|number| writer.publish_text(&format!("{word} {number}"))).collect();
    all.reverse();
    let walked = walk(&reader, &writer, &word, "");
    let lengths: Vec<usize> = walked.iter().map(Vec::len).collect();
    assert_eq!((walked.concat(), lengths), (all.clone(), vec![10, 10, 10, 5]));

    for liked in [&all[34], &all[20]] {
        liker.post(format!("/2/users/{}/likes", liker.id), &json!({ "tweet_id": liked })).assert_status(200);
    }
    let ranked = walk(&reader, &writer, &word, "&sort_order=relevancy").concat();
    let top: HashSet<&String> = ranked[..2].iter().collect();
    assert_eq!(top, HashSet::from([&all[34], &all[20]]));
    let each: HashSet<&String> = ranked.iter().collect();
    assert_eq!(each.len(), ranked.len(), "nothing twice");
    assert!(all.iter().all(|post| each.contains(post)), "nothing missing");
    // What came while the first walk went on was there when this one began, what came later not.
    assert_eq!(ranked.len(), 35 + 3);
}

#[test]
fn search_page_token_is_bound_to_its_query() {
    let (writer, word) = (shared_server().new_user("writer"), format!("zp{}", unique_number()));
    for number in 0..11 {
        writer.publish_text(&format!("{word} {number}"));
    }
    let page = ask(&writer, &word, "").assert_status(200);
    let token = page["meta"]["next_token"].as_str().unwrap();
    let rest = ask(&writer, &word, &format!("&pagination_token={token}")).assert_status(200);
    assert_eq!(ids(&rest).len(), 1);
    let message = format!("The `next_token` query parameter value [{token}] is not valid");
    ask(&writer, &format!("{word} other"), &format!("&next_token={token}")).assert_error(400, &message);
    let both = format!("&next_token={token}&pagination_token={token}");
    ask(&writer, &word, &both).assert_error(400, "Only one of `next_token` and `pagination_token` can be given");
}

#[test]
fn search_is_bounded_by_ids_and_times() {
    let (writer, word) = (shared_server().new_user("writer"), format!("zp{}", unique_number()));
    let all: Vec<String> = (0..6).map(|number| writer.publish_text(&format!("{word} {number}"))).collect();
    let page = |more: &str| ids(&ask(&writer, &word, more).assert_status(200));
    assert_eq!(page(&format!("&since_id={}", all[3])), [all[5].clone(), all[4].clone()]);
    assert_eq!(page(&format!("&until_id={}", all[2])), [all[1].clone(), all[0].clone()]);
    let between = format!("&since_id={}&until_id={}", all[1], all[3]);
    assert_eq!(page(&between), [all[2].clone()]);
    let at = |ms: i64| {
        let time = base::clock::wall_time().plus_ms(ms);
        base::Time::from_seconds(time.seconds()).to_string()
    };
    assert_eq!(page(&format!("&start_time={}", at(-3_600_000))).len(), 6);
    assert!(page(&format!("&end_time={}", at(-60_000))).is_empty());
}
