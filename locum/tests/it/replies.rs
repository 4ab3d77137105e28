//! Hidden replies, and figures over time.

use serde_json::{Value, json};

use crate::harness::{Ask, Person, shared};

fn person(name: &str) -> Person<'static> {
    shared().person(name)
}

#[track_caller]
fn replies(who: &Person<'_>, to: &str) -> String {
    let body = json!({
        "text": format!("To {to} from {}", who.id),
        "reply": { "in_reply_to_tweet_id": to },
    });
    let made = who.publish(&body).is(201);
    made["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn only_who_began_a_conversation_hides_replies_in_it() {
    let (root, guest, third) = (person("root"), person("guest"), person("third"));
    let id = root.says("Let us talk");
    let (reply, deeper);
    reply = replies(&guest, &id);
    deeper = replies(&third, &reply);
    let hide = |who: &Person<'_>, post: &str, body: &Value| {
        who.send(Ask::new("PUT", format!("/2/tweets/{post}/hidden")).json(body))
    };
    let (yes, no) = (json!({ "hidden": true }), json!({ "hidden": false }));
    for (post, state) in [
        (&reply, &yes),
        (&reply, &yes),
        (&deeper, &yes),
        (&reply, &no),
        (&reply, &no),
    ] {
        assert_eq!(hide(&root, post, state).is(200), json!({ "data": state }));
    }
    // It stays reachable and counted.
    assert_eq!(guest.sees(&deeper, "text")["id"], deeper);
    let metrics = guest.sees(&id, "public_metrics");
    assert_eq!(metrics["public_metrics"]["reply_count"], 1);
    let sentence = "You are not permitted to perform this action.";
    for (who, post) in [(&guest, &reply), (&third, &deeper), (&root, &id)] {
        hide(who, post, &yes).says(403, sentence);
    }
    hide(&root, "1", &yes).is_problem(404, "resource-not-found");
    for body in [
        json!({}),
        json!({ "hidden": 3 }),
        json!({ "hidden": true, "x": 1 }),
    ] {
        hide(&root, &reply, &body).is_problem(400, "invalid-request");
    }
    hide(&root, "x", &yes).is_problem(400, "invalid-request");
    root.delete(format!("/2/posts/{id}")).is(200);
    hide(&root, &reply, &yes).says(403, sentence);
}

#[test]
fn figures_over_time_are_those_of_stored_acts_on_own_posts() {
    let (author, fan) = (person("author"), person("fan"));
    let (id, quiet, other) = (
        author.says("Measured"),
        author.says("Quiet"),
        fan.says("Other"),
    );
    replies(&fan, &id);
    let body = json!({ "text": "quote", "quote_tweet_id": id });
    fan.publish(&body).is(201);
    let body = json!({ "tweet_id": id });
    for act in ["likes", "reposts", "bookmarks"] {
        fan.post(format!("/2/users/{}/{act}", fan.id), &body)
            .is(200);
    }
    let path = format!("/2/users/{}/likes", author.id);
    author.post(path, &body).is(200);
    let post = author.sees(&id, "created_at");
    let day = &post["created_at"].as_str().unwrap()[..10];
    let window = format!("start_time={day}T00:00:00Z&end_time={day}T23:59:59Z");
    let path = format!("/2/posts/analytics?ids={id},{quiet},{other},1&{window}");
    let answer = author.get(&path).is(200);
    let all = json!({
        "bookmarks": 1, "engagements": 6, "likes": 2, "quote_tweets": 1, "replies": 1, "retweets": 1,
    });
    let first = &answer["data"][0];
    assert_eq!(first["id"], id, "{answer}");
    for (name, count) in all.as_object().unwrap() {
        assert_eq!(&first[name], count, "{name}: {first}");
    }
    assert_eq!(first["timestamped_metrics"][0]["metrics"], all);
    assert!(first.get("impressions").is_none(), "nothing counts views");
    assert_eq!(answer["data"][1]["engagements"], 0);
    let titles: Vec<&Value> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["title"])
        .collect();
    assert_eq!(titles, ["Authorization Error", "Not Found Error"]);

    let hourly = format!(
        "/2/tweets/analytics?ids={id}&{window}&granularity=hourly&analytics.fields=likes,timestamped_metrics"
    );
    let hourly = author.get(&hourly).is(200)["data"][0].clone();
    let hours = hourly["timestamped_metrics"].as_array().unwrap();
    let likes: i64 = hours
        .iter()
        .map(|hour| hour["metrics"]["likes"].as_i64().unwrap())
        .sum();
    assert_eq!((likes, &hourly["likes"]), (2, &json!(2)), "{hourly}");
    assert!(hourly.get("retweets").is_none(), "{hourly}");
    let before = "start_time=2020-01-01T00:00:00Z&end_time=2020-01-02T00:00:00Z";
    let nothing = author
        .get(format!("/2/posts/analytics?ids={id}&{before}"))
        .is(200);
    assert_eq!(nothing["data"][0]["likes"], 0);

    let base = "/2/posts/analytics";
    for wrong in [
        format!("?{window}"),
        format!("?ids={id}"),
        format!("?ids={id}&{window}&granularity=yearly"),
        format!("?ids={id}&start_time=2021-01-02T00:00:00Z&end_time=2021-01-01T00:00:00Z"),
        format!(
            "?ids={id}&start_time=2000-01-02T00:00:00Z&end_time=2021-01-01T00:00:00Z&granularity=hourly"
        ),
        format!("?ids={id}&{window}&analytics.fields=loves"),
    ] {
        author
            .get(format!("{base}{wrong}"))
            .is_problem(400, "invalid-request");
    }
    let refused = shared().send(Ask::get(path).bearer(&author.app.bearer));
    refused.is_problem(403, "unsupported-authentication");
}
