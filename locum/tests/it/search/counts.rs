//! Counts of what a search would find.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestResponse, percent_encode, shared_server, unique_number};

const HOUR: i64 = 3_600_000;

fn counts(which: &str, query: &str, more: &str) -> TestResponse {
    let server = shared_server();
    let path = format!("/2/tweets/counts/{which}?query={}{more}", percent_encode(query));
    server.send(TestRequest::get(path).bearer(&server.default_app().bearer))
}

fn time(ms: i64) -> String {
    base::Time::from_ms(ms).to_string()
}

/// Imports a post of each of these moments.
fn written(word: &str, moments: &[i64]) {
    let server = shared_server();
    let author = server.new_user("chronicler");
    let lines: Vec<Value> = moments
        .iter()
        .enumerate()
        .map(|(number, at)| {
            let id = base::id::first_snowflake_at(base::Time::from_ms(*at)) + i64::try_from(number).unwrap();
            json!({
                "kind": "post",
                "id": id.to_string(),
                "author": author.id,
                "text": format!("{word} {number}"),
                "created_at_ms": at,
            })
        })
        .collect();
    server.import_lines(&lines).assert_success();
    // The last of them was filed last.
    let last = moments.last().unwrap();
    let more = format!("&start_time={}", time(last - HOUR));
    crate::harness::wait_until("the import is indexed", || {
        counts("all", word, &more).assert_status(200)["meta"]["total_tweet_count"] != 0
    });
}

#[test]
fn recent_counts_have_buckets_aligned_to_the_clock() {
    let word = format!("zc{}", unique_number());
    let now = base::clock::wall_time().ms();
    let hour = now - now.rem_euclid(HOUR);
    written(&word, &[hour - 50 * HOUR, hour - 3 * HOUR, hour - 3 * HOUR + 60_000, hour - HOUR]);
    let page = counts("recent", &word, "").assert_status(200);
    let spans = page["data"].as_array().unwrap();
    assert_eq!(spans.len(), 169, "the first and the last are parts");
    assert_eq!(page["meta"], json!({ "total_post_count": 4, "total_tweet_count": 4 }));
    let filled: Vec<(&str, &Value)> = spans
        .iter()
        .filter(|span| span["tweet_count"] != 0)
        .map(|span| (span["start"].as_str().unwrap(), &span["tweet_count"]))
        .collect();
    let expected = [(hour - 50 * HOUR, 1), (hour - 3 * HOUR, 2), (hour - HOUR, 1)];
    let expected = expected.map(|(at, count)| (time(at), json!(count)));
    assert_eq!(filled, expected.each_ref().map(|(at, count)| (at.as_str(), count)));
    for pair in spans.windows(2) {
        assert_eq!(pair[0]["end"], pair[1]["start"]);
    }
    let between = format!(
        "&start_time={}&end_time={}&granularity=minute",
        time(hour - 3 * HOUR),
        time(hour - 3 * HOUR + 120_000)
    );
    let minutes = counts("recent", &word, &between).assert_status(200);
    let span = |from: i64, count: i64| {
        json!({
            "end": time(hour - 3 * HOUR + from + 60_000), "start": time(hour - 3 * HOUR + from),
            "post_count": count, "tweet_count": count,
        })
    };
    assert_eq!(minutes["data"], json!([span(0, 1), span(60_000, 1)]));
    let days = counts("recent", &word, "&granularity=day").assert_status(200);
    assert_eq!(days["data"].as_array().unwrap().len(), 8);
}

#[test]
fn archive_counts_are_paged_by_month() {
    let word = format!("zc{}", unique_number());
    let now = base::clock::wall_time().ms();
    let day = now - now.rem_euclid(24 * HOUR);
    let moments = [80, 45, 44, 2].map(|days| day - days * 24 * HOUR);
    written(&word, &moments);
    let more = format!("&granularity=day&start_time={}", time(moments[0]));
    let (mut totals, mut lengths, mut token) = (Vec::new(), Vec::new(), String::new());
    loop {
        let page = counts("all", &word, &format!("{more}{token}")).assert_status(200);
        totals.push(page["meta"]["total_tweet_count"].as_i64().unwrap());
        lengths.push(page["data"].as_array().unwrap().len());
        match page["meta"]["next_token"].as_str() {
            Some(next) => token = format!("&next_token={next}"),
            None => break,
        }
    }
    assert_eq!((totals, lengths), (vec![1, 2, 1], vec![31, 31, 19]));
    let defaults = counts("all", &word, "&granularity=day").assert_status(200);
    assert_eq!(defaults["meta"]["total_tweet_count"], 1, "thirty days");
    assert!(defaults["meta"].get("next_token").is_none());
}

#[test]
fn ids_from_before_snowflakes_bound_the_whole_archive() {
    let (server, word) = (shared_server(), format!("zc{}", unique_number()));
    let author = server.new_user("pioneer");
    let id = 20_000_000 + unique_number();
    // 2008-06-01T00:00:00Z.
    let at = 1_212_278_400_000_i64;
    let post = json!({ "kind": "post", "id": id.to_string(), "author": author.id, "text": word, "created_at_ms": at });
    server.import_lines(&[post]).assert_success();
    let path = format!("/2/tweets/search/all?query={word}&until_id={}", id + 1);
    let search =
        || server.send(TestRequest::get(path.as_str()).bearer(&server.default_app().bearer)).assert_status(200);
    crate::harness::wait_until("the import is indexed", || search()["meta"]["result_count"] == 1);
    let month = format!("&since_id={}&granularity=day&end_time={}", id - 1, time(at + HOUR));
    assert_eq!(counts("all", &word, &month).assert_status(200)["meta"]["total_tweet_count"], 1);
}
