//! Trends of the world and of a user.

use serde_json::{Value, json};

use crate::harness::{Ask, Person, fresh, shared};

fn person(name: &str) -> Person<'static> {
    shared().person(name)
}

fn refresh() {
    shared().cli(&["news", "refresh"]).well();
}

fn trends(of: &Person<'_>) -> Value {
    let app = Ask::get("/2/trends/by/woeid/1?max_trends=50").bearer(&of.app.bearer);
    shared().send(app).is(200)
}

/// How many posts a trend has; none when it is none.
fn count(page: &Value, name: &str) -> Option<i64> {
    let found = page["data"].as_array()?;
    let trend = found.iter().find(|trend| trend["trend_name"] == name)?;
    trend["tweet_count"].as_i64()
}

#[test]
fn what_several_write_about_trends() {
    let tag = format!("#Trend{}", fresh());
    let [one, two, three, four] = ["one", "two", "three", "four"].map(person);
    let hidden = shared().person_with("hidden", &["--protected"]);
    for _ in 0..3 {
        one.says(&format!("Only me {} {tag}", fresh()));
    }
    refresh();
    assert_eq!(count(&trends(&one), &tag), None, "one is not many");
    let gone = two.says(&format!("Me too {tag}"));
    three.says(&format!("And me {}", tag.to_uppercase()));
    four.says(&format!("And I {tag}"));
    hidden.says(&format!("Nobody sees this {tag}"));
    refresh();
    assert_eq!(count(&trends(&one), &tag), Some(6));
    two.delete(format!("/2/posts/{gone}")).is(200);
    shared().cli(&["user", "protect", &three.id]).well();
    refresh();
    assert_eq!(count(&trends(&one), &tag), Some(4));
    shared().cli(&["user", "suspend", &four.id]).well();
    refresh();
    assert_eq!(count(&trends(&one), &tag), None);
    let one_only = Ask::get("/2/trends/by/woeid/1?max_trends=1&trend.fields=trend_name");
    let page = shared().send(one_only.bearer(&one.app.bearer)).is(200);
    assert!(page["data"].as_array().is_none_or(|all| all.len() <= 1));
}

#[test]
fn trends_come_by_themselves() {
    let tag = format!("#Tick{}", fresh());
    for name in ["one", "two", "three", "four"] {
        person(name).says(&format!("It is here {tag}"));
    }
    let reader = person("reader");
    crate::harness::until("the topic trends", || {
        count(&trends(&reader), &tag).is_some()
    });
}

#[test]
fn a_user_gets_trends_of_those_followed() {
    let (ours, theirs) = (format!("#Ours{}", fresh()), format!("#Theirs{}", fresh()));
    let [friend, stranger, reader] = ["friend", "stranger", "reader"].map(person);
    friend.says(&format!("We like this {ours}"));
    stranger.says(&format!("They like that {theirs}"));
    stranger.says(&format!("And this {ours}"));
    reader.follows(&[&friend]);
    refresh();
    let path = "/2/users/personalized_trends";
    let page = reader.get(path).is(200);
    assert_eq!(
        page["data"],
        json!([{
            "trend_name": ours,
            "category": "Trending",
            "post_count": "2 posts",
            "trending_since": "Trending now",
        }])
    );
    reader.says(&format!("Now me {theirs} {ours}"));
    refresh();
    let page = reader.get(path).is(200);
    let names: Vec<&str> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trend| trend["trend_name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [ours.as_str(), &theirs],
        "two of us write about ours"
    );
    let signed = reader.signed(Ask::get(path));
    signed.is(200);
    let nobody = person("nobody");
    assert_eq!(nobody.get(path).is(200), json!({}));
}

#[test]
fn a_place_without_trends_is_not_found() {
    let reader = person("reader");
    let ask = |path: &str| shared().send(Ask::get(path).bearer(&reader.app.bearer));
    let unknown = ask("/2/trends/by/woeid/44418");
    unknown.says(404, "Could not find trends for WOEID: 44418");
    for path in [
        "/2/trends/by/woeid/x",
        "/2/trends/by/woeid/1?max_trends=0",
        "/2/trends/by/woeid/1?max_trends=51",
        "/2/trends/by/woeid/1?trend.fields=color",
    ] {
        ask(path).is_problem(400, "invalid-request");
    }
    let app = ask("/2/users/personalized_trends");
    app.is_problem(403, "unsupported-authentication");
}
