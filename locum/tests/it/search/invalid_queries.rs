//! Errors of search queries and parameters.

use serde_json::json;

use super::ask;
use crate::harness::{TestRequest, TestResponse, percent_encode, shared_server};

const START: &str = "There were errors processing your request: ";

#[test]
fn invalid_query_is_refused_with_the_contracts_message() {
    let reader = shared_server().new_user("reader");
    let long = "x".repeat(4_097);
    let operators = "Operator is not available in current product or product packaging. Please refer \
                     to complete available operator list at \
                     https://developer.twitter.com/en/docs/twitter-api/tweets/search/integrate/operators.";
    let table = [
        ("the", "Rules must contain at least one positive, non-stopword clause (at position 1)".to_owned()),
        ("has:links", "Rules must contain at least one positive, non-stopword clause (at position 1)".to_owned()),
        ("-cat", "Rules must contain a non-negation term (at position 1)".to_owned()),
        ("filter:links cat", format!("Reference to invalid operator 'filter'. {operators} (at position 1)")),
        ("sample:10 cat", format!("Reference to invalid operator 'sample'. {operators} (at position 1)")),
        ("cat has:h", "Reference to invalid field 'h' (at position 5)".to_owned()),
        ("cat or dog", "Ambiguous use of or as a keyword. Use \"OR\" to logically join two clauses, or \"or\" to find occurrences of or in text (at position 5)".to_owned()),
        ("cat AND dog", "Ambiguous use of and as a keyword. Use a space to logically join two clauses, or \"and\" to find occurrences of and in text (at position 5)".to_owned()),
        ("cat)", "missing EOF at ')' (at position 4)".to_owned()),
        ("\"cat", "mismatched character '<EOF>' expecting '\"' (at position 5)".to_owned()),
    ];
    for which in ["search/recent", "counts/recent", "search/all", "counts/all"] {
        for (query, message) in &table {
            let path = format!("/2/tweets/{which}?query={}", percent_encode(query));
            let server = shared_server();
            let response = server.send(TestRequest::get(path).bearer(&server.default_app().bearer));
            let problem = response.assert_problem(400, "invalid-request");
            let error = &problem["errors"][0];
            assert_eq!(error["message"], format!("{START}{message}"), "{which}");
            assert_eq!(error["parameters"], json!({ "query": [query] }));
        }
    }
    ask(&reader, "", "").assert_error(400, "Invalid 'query':''. 'query' must be a non-empty string");
    let missing = "The `query` query parameter can not be empty";
    reader.get("/2/tweets/search/recent").assert_error(400, missing);
    assert_eq!(ask(&reader, &long, "").status, 400);
}

#[test]
fn query_length_limit_depends_on_the_access_level() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let length = |which: &str, bearer: &str, length: usize| -> TestResponse {
        let query = format!("cat {}", "d".repeat(length - 4));
        server.send(TestRequest::get(format!("/2/tweets/{which}?query={}", percent_encode(&query))).bearer(bearer))
    };
    for (which, most) in [("search/recent", 512), ("counts/recent", 512)] {
        length(which, &app.bearer, most).assert_status(200);
        length(which, &app.bearer, most + 1).assert_problem(400, "invalid-request");
        length(which, &server.default_app().bearer, 4_096).assert_status(200);
        length(which, &server.default_app().bearer, 4_097).assert_problem(400, "invalid-request");
    }
}

#[test]
fn invalid_time_id_or_page_size_of_a_search_is_refused() {
    let reader = shared_server().new_user("reader");
    let now = base::clock::wall_time();
    let at = |ms: i64| base::Time::from_seconds(now.plus_ms(ms).seconds()).to_string();
    let soon = at(-2_000);
    let (early, late) = (at(-7_200_000), at(-3_600_000));
    let id = |ms: i64| base::id::first_snowflake_at(now.plus_ms(ms));
    let (one, two) = (id(-7_200_000), id(-3_600_000));
    let table = [
        (
            format!("&start_time={soon}"),
            format!(
                "Invalid 'start_time':'{soon}'. 'start_time' must be a minimum of 10 seconds prior to the request time."
            ),
        ),
        (
            format!("&end_time={soon}"),
            format!(
                "Invalid 'end_time':'{soon}'. 'end_time' must be a minimum of 10 seconds prior to the request time."
            ),
        ),
        (
            format!("&start_time={late}&end_time={early}"),
            format!("Invalid 'start_time':'{late}'. 'start_time' must be before 'end_time'."),
        ),
        (
            format!("&since_id={two}&until_id={one}"),
            format!("Invalid 'since_id':'{two}'. 'since_id' must be before 'until_id'."),
        ),
        (
            format!("&start_time={early}&since_id={one}"),
            "Only one of `start_time` and `since_id` can be given".to_owned(),
        ),
        (format!("&end_time={late}&until_id={two}"), "Only one of `end_time` and `until_id` can be given".to_owned()),
        (
            "&max_results=9".to_owned(),
            "The `max_results` query parameter value [9] is not between 10 and 100".to_owned(),
        ),
        (
            "&max_results=101".to_owned(),
            "The `max_results` query parameter value [101] is not between 10 and 100".to_owned(),
        ),
        (
            "&sort_order=oldest".to_owned(),
            "The `sort_order` query parameter value [oldest] is not one of [recency,relevancy]".to_owned(),
        ),
        ("&next_token=abc".to_owned(), "The `next_token` query parameter value [abc] is not valid".to_owned()),
        (
            "&start_time=yesterday".to_owned(),
            "The `start_time` query parameter value [yesterday] is not valid".to_owned(),
        ),
    ];
    for (more, message) in table {
        ask(&reader, "cat", &more).assert_error(400, &message);
    }
    assert_eq!(ask(&reader, "cat", "&max_results=ten").status, 400);
}

#[test]
fn recent_search_reaches_back_seven_days_and_a_contract_further() {
    let reader = shared_server().new_user("reader");
    let now = base::clock::wall_time().plus_ms(-8 * 86_400_000);
    let old = base::Time::from_seconds(now.seconds()).to_string();
    let old_id = base::id::first_snowflake_at(now);
    let starts = |more: String, start: String| {
        let problem = ask(&reader, "cat", &more).assert_problem(400, "invalid-request");
        let message = problem["errors"][0]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with(&start), "{message}");
    };
    starts(format!("&start_time={old}"), format!("Invalid 'start_time':'{old}'. 'start_time' must be on or after 20"));
    starts(format!("&since_id={old_id}"), "'since_id' must be a tweet id created after 20".to_owned());
    starts("&until_id=5".to_owned(), "'until_id' must be a tweet id created after 20".to_owned());
    let server = shared_server();
    let all = |more: &str| {
        server
            .send(TestRequest::get(format!("/2/posts/search/all?query=cat{more}")).bearer(&server.default_app().bearer))
    };
    all("&since_id=5").assert_status(200);
    all(&format!("&start_time={old}&max_results=500")).assert_status(200);
    all("&max_results=501").assert_problem(400, "invalid-request");
    all("&max_results=101&post.fields=text,context_annotations")
        .assert_error(400, "The `max_results` query parameter value [101] is not between 10 and 100");
    // The beginning of the archive, as twarc2 writes it.
    let counts = "/2/tweets/counts/all?query=cat&start_time=2006-03-21T00:00:00%2B00:00";
    server.send(TestRequest::get(counts).bearer(&server.default_app().bearer)).assert_status(200);
    all("&start_time=2006-03-21T00:00:00%2B00:00").assert_status(200);
    let before = "2006-03-20T23:59:59Z";
    let message = "'start_time' must be on or after 2006-03-21T00:00Z.";
    all(&format!("&start_time={before}")).assert_error(400, &format!("Invalid 'start_time':'{before}'. {message}"));
    let counts = reader.get("/2/tweets/counts/recent?query=cat&granularity=week");
    counts.assert_error(400, "The `granularity` query parameter value [week] is not one of [minute,hour,day]");
}
