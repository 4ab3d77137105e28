use base::Refusal;
use schema::{Kind, Parameter};
use serde_json::json;
use view::ObjectKind;

use super::RequestParams;
use crate::endpoint::{Endpoint, ErrorFormat, ExpansionNames, FieldNames, PageTokenText};

const fn param(name: &'static str, kind: Kind) -> Parameter {
    Parameter::query(name, kind, "")
}

static SEARCH: Endpoint = Endpoint::new("search", "GET", "/2/{id}").params(&[&[
    Parameter::path_id("id", ""),
    param("query", Kind::text(1, 8)).as_required(),
    param("ids", Kind::ID.list(1, 3)),
    param("usernames", Kind::USERNAME.list(1, 3)),
    param("max_results", Kind::int(10, 100)).default_number(10),
    param("sort_order", Kind::one_of(&["recency", "relevancy"])),
    param("exclude", Kind::one_of(&["replies", "retweets"]).list(1, usize::MAX)),
    param("tweet.fields", Kind::custom(&FieldNames(ObjectKind::POST))).aliases(&["post.fields"]),
    param("expansions", Kind::custom(&ExpansionNames(ObjectKind::POST))),
    param("start_time", Kind::TIME),
    param("pagination_token", Kind::custom(&PageTokenText)).aliases(&["next_token"]),
    param("backfill", Kind::BOOL),
]]);

fn read(query: &str) -> Result<RequestParams, Refusal> {
    RequestParams::parse(&SEARCH, vec![("id", "20".to_owned())], query)
}

fn told(query: &str) -> Vec<String> {
    match read(query).unwrap_err() {
        Refusal::InvalidParameters(wrong) => wrong
            .into_iter()
            .map(|wrong| format!("{} | {} {:?}", wrong.message, wrong.parameter, wrong.values))
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_declared_is_read() {
    let params = read(
        "query=a%20b&ids=1,002&usernames=a,B_9&max_results=50&exclude=replies,retweets\
         &start_time=2026-11-21T04:05:06Z&next_token=abc&backfill=true",
    )
    .unwrap();
    let value = |name| params.get(name).map(|given| given.value.clone());
    assert_eq!(value("id"), Some(json!(20)));
    assert_eq!(value("query"), Some(json!("a b")));
    assert_eq!(value("ids"), Some(json!([1, 2])));
    assert_eq!(value("max_results"), Some(json!(50)));
    assert_eq!(value("backfill"), Some(json!(1)));
    assert_eq!(value("pagination_token"), Some(json!("abc")));
    assert_eq!(params.get("pagination_token").unwrap().name_used, "next_token");
    assert_eq!(value("sort_order"), None);
    for (word, flag) in [("True", true), ("false", false), ("False", false)] {
        let params = read(&format!("query=a&backfill={word}")).unwrap();
        assert_eq!(params.get("backfill").unwrap().value, json!(i64::from(flag)));
    }
}

#[test]
fn v1_reads_flags_in_any_case() {
    static SHOW: Endpoint = Endpoint::new("show", "GET", "/1.1/show.json")
        .params(&[&[param("skip_status", Kind::BOOL)]])
        .error_format(ErrorFormat::Legacy);
    for (word, flag) in
        [("TRUE", Some(1)), ("t", Some(1)), ("1", Some(1)), ("False", Some(0)), ("F", Some(0)), ("yes", None)]
    {
        let params = RequestParams::parse(&SHOW, Vec::new(), &format!("skip_status={word}")).ok();
        let value = params.map(|params| params.get("skip_status").unwrap().value.clone());
        assert_eq!(value, flag.map(|flag| json!(flag)), "{word}");
    }
    assert!(read("query=a&backfill=TRUE").is_err(), "v2 does not");
}

#[test]
fn each_fault_has_the_contracts_words() {
    let queries = [
        "",
        "query=",
        "query",
        "query=a&ids=",
        "query=a&ids=1,x",
        "query=a&ids=1,",
        "query=a&ids=9223372036854775808",
        "query=a&ids=1,2,3,4",
        "query=a&usernames=a-b",
        "query=a&max_results=5",
        "query=a&max_results=99999999999999999999",
        "query=a&max_results=ten",
        "query=a&sort_order=x",
        "query=a&exclude=x,y",
        "query=a&backfill=1",
        "query=a&start_time=2026-02-30T00:00:00Z",
        "query=a&query=a",
        "query=a&next_token=a&pagination_token=a",
        "query=a&x=1",
        "query=a%00",
        "query=%ff",
        "query=%e",
        "query=123456789",
    ];
    let lines = queries.map(|query| format!("{query}\n  {}", told(query).join("\n  ")));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn everything_wrong_is_told_at_once() {
    let path = vec![("id", "x".to_owned())];
    let refusal = RequestParams::parse(&SEARCH, path, "max_results=5&x=1&ids=a,b").unwrap_err();
    let Refusal::InvalidParameters(wrong) = refusal else { panic!("{refusal:?}") };
    let names: Vec<_> = wrong.iter().map(|wrong| wrong.parameter.as_ref()).collect();
    assert_eq!(names, ["id", "max_results", "x", "ids", "ids", "query"]);
}

#[test]
fn both_spellings_of_fields_add_up_and_betray() {
    let params = read("query=a&tweet.fields=id&post.fields=text").unwrap();
    assert_eq!(params.vocabulary_hint(), Some(base::Vocabulary::Post));
    let params = read("query=a&tweet.fields=id").unwrap();
    assert_eq!(params.vocabulary_hint(), Some(base::Vocabulary::Tweet));
    assert!(told("query=a&tweet.fields=id&tweet.fields=text")[0].starts_with("Duplicate"));
    assert!(told("query=a&tweet.fields=nothing")[0].contains("`tweet.fields`"));
}

#[test]
fn a_long_value_is_not_repeated_whole() {
    let told = told(&format!("query=a&max_results={}", "é".repeat(5_000)));
    assert!(told[0].chars().count() < 700, "{}", told[0].len());
}
