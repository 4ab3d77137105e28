//! Trends of the world and of a user.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, person, shared_server, unique_number};

fn refresh() {
    shared_server().run_cli(&["news", "refresh"]).assert_success();
}

fn trends(of: &TestUser<'_>) -> Value {
    let app = TestRequest::get("/2/trends/by/woeid/1?max_trends=50").bearer(&of.app.bearer);
    shared_server().send(app).assert_status(200)
}

/// How many posts a trend has; none when it is none.
fn count(page: &Value, name: &str) -> Option<i64> {
    let found = page["data"].as_array()?;
    let trend = found.iter().find(|trend| trend["trend_name"] == name)?;
    trend["tweet_count"].as_i64()
}

#[test]
fn topic_of_several_authors_trends() {
    let tag = format!("#Trend{}", unique_number());
    let [one, two, three, four] = ["one", "two", "three", "four"].map(person);
    let hidden = shared_server().new_user_with("hidden", &["--protected"]);
    for _ in 0..3 {
        one.publish_text(&format!("Only me {} {tag}", unique_number()));
    }
    refresh();
    assert_eq!(count(&trends(&one), &tag), None, "one is not many");
    let deleted = two.publish_text(&format!("Me too {tag}"));
    three.publish_text(&format!("And me {}", tag.to_uppercase()));
    four.publish_text(&format!("And I {tag}"));
    hidden.publish_text(&format!("Nobody sees this {tag}"));
    refresh();
    assert_eq!(count(&trends(&one), &tag), Some(6));
    two.delete(format!("/2/posts/{deleted}")).assert_status(200);
    shared_server().run_cli(&["user", "protect", &three.id]).assert_success();
    refresh();
    assert_eq!(count(&trends(&one), &tag), Some(4));
    shared_server().run_cli(&["user", "suspend", &four.id]).assert_success();
    refresh();
    assert_eq!(count(&trends(&one), &tag), None);
    let one_only = TestRequest::get("/2/trends/by/woeid/1?max_trends=1&trend.fields=trend_name");
    let page = shared_server().send(one_only.bearer(&one.app.bearer)).assert_status(200);
    assert!(page["data"].as_array().is_none_or(|all| all.len() <= 1));
}

#[test]
fn trends_are_refreshed_in_the_background() {
    let tag = format!("#Tick{}", unique_number());
    for name in ["one", "two", "three", "four"] {
        person(name).publish_text(&format!("It is here {tag}"));
    }
    let reader = person("reader");
    crate::harness::wait_until("the topic trends", || count(&trends(&reader), &tag).is_some());
}

#[test]
fn personalized_trends_come_from_followed_users() {
    let (ours, theirs) = (format!("#Ours{}", unique_number()), format!("#Theirs{}", unique_number()));
    let [friend, stranger, reader] = ["friend", "stranger", "reader"].map(person);
    friend.publish_text(&format!("We like this {ours}"));
    stranger.publish_text(&format!("They like that {theirs}"));
    stranger.publish_text(&format!("And this {ours}"));
    reader.import_follows(&[&friend]);
    refresh();
    let path = "/2/users/personalized_trends";
    let page = reader.get(path).assert_status(200);
    assert_eq!(
        page["data"],
        json!([{
            "trend_name": ours,
            "category": "Trending",
            "post_count": "2 posts",
            "trending_since": "Trending now",
        }])
    );
    reader.publish_text(&format!("Now me {theirs} {ours}"));
    refresh();
    let page = reader.get(path).assert_status(200);
    let names: Vec<&str> =
        page["data"].as_array().unwrap().iter().map(|trend| trend["trend_name"].as_str().unwrap()).collect();
    assert_eq!(names, [ours.as_str(), &theirs], "two of us write about ours");
    let signed = reader.send_signed(TestRequest::get(path));
    signed.assert_status(200);
    let nobody = person("nobody");
    assert_eq!(nobody.get(path).assert_status(200), json!({}));
}

#[test]
fn place_without_trends_is_not_found() {
    let reader = person("reader");
    let request = |path: &str| shared_server().send(TestRequest::get(path).bearer(&reader.app.bearer));
    let unknown = request("/2/trends/by/woeid/44418");
    unknown.assert_error(404, "Could not find trends for WOEID: 44418");
    for path in [
        "/2/trends/by/woeid/x",
        "/2/trends/by/woeid/1?max_trends=0",
        "/2/trends/by/woeid/1?max_trends=51",
        "/2/trends/by/woeid/1?trend.fields=color",
    ] {
        request(path).assert_problem(400, "invalid-request");
    }
    let app = request("/2/users/personalized_trends");
    app.assert_problem(403, "unsupported-authentication");
}
