//! Places, withheld notices, addressed replies and edits of posts.

use serde_json::{Value, json};

use crate::harness::{TestUser, person, shared_server};

fn premium(name: &str) -> TestUser<'static> {
    shared_server().new_user_with(name, &["--subscription-type", "Premium"])
}

fn id(created: &Value) -> String {
    created["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn post_is_tagged_with_a_place() {
    let server = shared_server();
    let author = person("traveller");
    let country = ["place", "add", "Germany", "--type", "country", "--country-code", "DE"];
    let country = server.run_cli(&country).json()["id"].as_str().unwrap().to_owned();
    let add = [
        "place",
        "add",
        "Berlin",
        "--full-name",
        "Berlin, Germany",
        "--type",
        "city",
        "--country",
        "Germany",
        "--country-code",
        "DE",
        "--bbox",
        "13.08,52.33,13.76,52.67",
        "--within",
        &country,
    ];
    let place = server.run_cli(&add).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(place.len(), 16);
    let body = json!({ "text": "Here I am", "geo": { "place_id": place } });
    let post = id(&author.create_post(&body).assert_status(201));
    assert_eq!(author.fetch_post(&post, "geo")["geo"], json!({ "place_id": place }));
    let plain = author.get(format!("/2/posts/{post}?expansions=geo.place_id")).assert_status(200);
    let short = json!([{ "id": place, "full_name": "Berlin, Germany" }]);
    assert_eq!(plain["includes"]["places"], short);
    let fields = "contained_within,country,country_code,geo,name,place_type";
    let path = format!("/2/tweets/{post}?expansions=geo.place_id&place.fields={fields}");
    let read = author.get(path).assert_status(200)["includes"]["places"][0].clone();
    assert_eq!(read["contained_within"], json!([country]));
    assert_eq!((&read["name"], &read["place_type"]), (&json!("Berlin"), &json!("city")));
    let geo = json!({ "type": "Feature", "bbox": [13.08, 52.33, 13.76, 52.67], "properties": {} });
    assert_eq!(read["geo"], geo);
    for wrong in ["0000000000000001", "here", "1"] {
        let body = json!({ "text": "Lost", "geo": { "place_id": wrong } });
        author.create_post(&body).assert_error(400, "Your place ID is invalid.");
    }
    for geo in [json!({}), json!({ "place_id": "" }), json!({ "place_id": 1 }), json!("x")] {
        let response = author.create_post(&json!({ "text": "Lost", "geo": geo }));
        response.assert_problem(400, "invalid-request");
    }
    for wrong in [
        &["--bbox", "1,2,3"][..],
        &["--bbox", "-181,0,0,1"],
        &["--bbox", "0,5,1,4"],
        &["--country-code", "de"],
        &["--type", "village"],
        &["--within", "0000000000000001"],
        &["--id", "x"],
        &["--id", &place],
    ] {
        server.run_cli(&[&["place", "add", "Wrong"], wrong].concat()).assert_refused();
    }
}

#[test]
fn withheld_notice_is_shown_and_hides_nothing() {
    let server = shared_server();
    let (author, reader) = (person("author"), person("reader"));
    let post = author.publish_text("Not in some places");
    assert!(reader.fetch_post(&post, "withheld").get("withheld").is_none());
    server.run_cli(&["post", "withhold", &post, "FR", "DE", "DE", "--copyright"]).assert_success();
    let notice = json!({ "copyright": true, "country_codes": ["DE", "FR"], "scope": "post" });
    assert_eq!(reader.fetch_post(&post, "withheld")["withheld"], notice);
    let old = reader.get(format!("/2/tweets/{post}?tweet.fields=withheld")).assert_status(200);
    assert_eq!(old["data"]["withheld"]["scope"], "tweet");
    server.run_cli(&["user", "withhold", &author.id, "TR"]).assert_success();
    let user = format!("/2/users/{}?user.fields=withheld", author.id);
    let notice = json!({ "country_codes": ["TR"], "scope": "user" });
    assert_eq!(reader.get(&user).assert_status(200)["data"]["withheld"], notice);
    for wrong in ["de", "DEU", "1"] {
        server.run_cli(&["post", "withhold", &post, wrong]).assert_refused();
        server.run_cli(&["user", "withhold", &author.id, wrong]).assert_refused();
    }
    server.run_cli(&["post", "withhold", "1", "DE"]).assert_exit_code(1);
    server.run_cli(&["post", "withhold", &post]).assert_success();
    server.run_cli(&["user", "withhold", &author.id]).assert_success();
    assert!(reader.fetch_post(&post, "withheld").get("withheld").is_none());
    assert!(reader.get(&user).assert_status(200)["data"].get("withheld").is_none());
}

#[test]
fn reply_mentions_its_addressees_automatically() {
    let [author, named, other] = ["author", "named", "other"].map(person);
    let root = author.publish_text(&format!("I ask @{}", named.username));
    let reply = |more: Value| {
        let mut reply = json!({ "in_reply_to_post_id": root, "auto_populate_reply_metadata": true });
        reply.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "text": "And I answer", "reply": reply })
    };
    let whole = id(&other.create_post(&reply(json!({}))).assert_status(201));
    let prefix = format!("@{} @{} ", author.username, named.username);
    let seen = other.fetch_post(&whole, "display_text_range,entities");
    assert_eq!(seen["text"], format!("{prefix}And I answer"));
    assert_eq!(seen["display_text_range"][0], prefix.len());
    assert_eq!(seen["entities"]["mentions"].as_array().unwrap().len(), 2);
    // Neither the mentions nor the space after them count.
    let mut longest = reply(json!({}));
    longest["text"] = "x".repeat(280).into();
    other.create_post(&longest).assert_status(201);
    longest["text"] = "x".repeat(281).into();
    other.create_post(&longest).assert_status(400);
    let mut crowded = json!({ "text": "@nobody0 ".repeat(50) + "x", "reply": { "in_reply_to_post_id": root } });
    other.create_post(&crowded).assert_status(201);
    crowded["text"] = ("@nobody0 ".repeat(50 + 32) + "x").into();
    other.create_post(&crowded).assert_problem(400, "invalid-request");
    let mentions = |who: &TestUser<'_>| {
        let page = who.get(format!("/2/users/{}/mentions", who.id)).assert_status(200);
        let posts = page["data"].as_array().cloned().unwrap_or_default();
        let ids = posts.iter().map(|post| post["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert!(mentions(&named).contains(&whole) && mentions(&author).contains(&whole));
    let excluded = json!({ "exclude_reply_user_ids": [named.id] });
    let part = id(&other.create_post(&reply(excluded)).assert_status(201));
    assert_eq!(other.fetch_post(&part, "text")["text"], format!("@{} And I answer", author.username));
    assert!(!mentions(&named).contains(&part));
    let unknown = json!({ "exclude_reply_user_ids": ["1"] });
    other.create_post(&reply(unknown)).assert_error(400, "Your exclude reply user IDs are invalid.");
    let mut empty = reply(json!({}));
    empty["text"] = json!("");
    other.create_post(&empty).assert_problem(400, "invalid-request");
    // Who may not see the post does not learn whom it mentions.
    shared_server().run_cli(&["user", "protect", &author.username]).assert_success();
    let refused = other.create_post(&longest);
    assert!(refused.status == 403 && !refused.text().contains(&named.username), "{}", refused.text());
}

#[test]
fn user_blocked_by_the_root_author_cannot_reply_in_the_conversation() {
    let [author, friend, blocked] = ["author", "friend", "blocked"].map(person);
    let root = author.publish_text("My thread");
    let response = json!({ "text": "Yes", "reply": { "in_reply_to_post_id": root } });
    let response = id(&friend.create_post(&response).assert_status(201));
    let block = json!({ "kind": "block", "from": author.id, "to": blocked.id });
    shared_server().import_lines(&[block]).assert_success();
    for target in [&root, &response] {
        let reply = json!({ "text": "No", "reply": { "in_reply_to_post_id": target } });
        blocked.create_post(&reply).assert_legacy_code(403, 136);
    }
}

#[test]
fn subscribers_post_is_read_and_answered_by_subscribers_only() {
    let server = shared_server();
    let (author, reader) = (person("author"), person("reader"));
    let body = json!({ "text": "For you", "for_super_followers_only": true });
    let secret = id(&author.create_post(&body).assert_status(201));
    let body = json!({ "text": "Talk", "reply_settings": "subscribers" });
    let root = id(&author.create_post(&body).assert_status(201));
    let reply_to = |post: &str| reader.create_post(&json!({ "text": "Hi", "reply": { "in_reply_to_post_id": post } }));
    reply_to(&root).assert_legacy_code(403, 433);
    reply_to(&secret).assert_legacy_code(403, 385);
    let hidden = reader.get(format!("/2/posts/{secret}")).assert_status(200);
    assert!(hidden.get("data").is_none(), "{hidden}");
    server.run_cli(&["user", "subscribe", &reader.id, &author.username]).assert_success();
    for post in [&root, &secret] {
        reply_to(post).assert_status(201);
    }
    assert_eq!(reader.fetch_post(&secret, "scopes")["scopes"]["followers"], true);
    let fields = format!("/2/users/{}?user.fields=subscription", reader.id);
    let user = author.get(fields).assert_status(200)["data"].clone();
    assert_eq!(user["subscription"]["subscribes_to_you"], true);
    server.run_cli(&["user", "subscribe", &reader.id, &author.id, "--end"]).assert_success();
    reader.create_post(&json!({ "text": "Look", "quote_post_id": secret })).assert_legacy_code(403, 385);
    let hidden = reader.get(format!("/2/posts/{secret}")).assert_status(200);
    assert!(hidden.get("data").is_none(), "{hidden}");
    server.run_cli(&["user", "subscribe", &author.id, &author.id]).assert_exit_code(1);
}

#[test]
fn message_link_names_the_recipient() {
    let author = person("shop");
    let body = |link: &str| json!({ "text": format!("Write us {link}"), "direct_message_deep_link": link });
    let link = format!("https://x.example/messages/compose?recipient_id={}", author.id);
    author.create_post(&body(&link)).assert_status(201);
    let same_text = |link: &str| json!({ "text": "Write us", "direct_message_deep_link": link });
    let other = format!("https://x.example/messages/compose?recipient_id={}", person("clerk").id);
    for (link, status) in [(&link, 201), (&link, 403), (&other, 201)] {
        author.create_post(&same_text(link)).assert_status(status);
    }
    for wrong in [
        "x",
        "https://x.example/messages/compose",
        "https://x.example/messages/compose?recipient_id=1",
        "ftp://x.example/messages/compose?recipient_id=1",
    ] {
        let response = author.create_post(&body(wrong));
        response.assert_error(400, "Your direct message deep link is invalid.");
    }
}

#[test]
fn edited_post_is_returned_once_in_its_latest_version() {
    let (author, reader) = (premium("editor"), person("reader"));
    reader.import_follows(&[&author]);
    let other = author.publish_text("Something else");
    let root = json!({ "text": "Quoted words", "quote_tweet_id": other, "reply_settings": "verified" });
    let first = id(&author.create_post(&root).assert_status(201));
    let home = format!("/2/users/{}/timelines/reverse_chronological", reader.id);
    let texts = || {
        let page = reader.get(&home).assert_status(200);
        let posts = page["data"].as_array().cloned().unwrap_or_default();
        let texts = posts.iter().map(|post| post["text"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(texts(), ["Quoted words", "Something else"]);
    let edit = |of: &str, more: Value| {
        let mut body = json!({ "text": "Better words", "edit_options": { "previous_post_id": of } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        author.create_post(&body)
    };
    let poll = json!({ "poll": { "options": ["a", "b"], "duration_minutes": 5 } });
    for (more, status) in [
        (poll, 403),
        (json!({ "nullcast": true }), 403),
        (json!({ "quote_tweet_id": first }), 400),
        (json!({ "reply": { "in_reply_to_post_id": other } }), 400),
    ] {
        assert_eq!(edit(&first, more.clone()).status, status, "{more}");
    }
    let second = id(&edit(&first, json!({ "quote_tweet_id": other })).assert_status(201));
    assert_eq!(texts(), ["Better words", "Something else"]);
    let seen = reader.fetch_post(&second, "reply_settings,referenced_posts,edit_controls");
    assert_eq!(seen["reply_settings"], "verified");
    assert_eq!(seen["referenced_posts"][0]["id"], other);
    assert_eq!(seen["edit_controls"]["edits_remaining"], 4);
    let old = reader.get(format!("/2/posts/{first}?expansions=edit_history_post_ids")).assert_status(200);
    assert_eq!(old["data"]["text"], "Quoted words");
    assert_eq!(old["includes"]["posts"].as_array().unwrap().len(), 2);
    let quotes = |id: &str| reader.fetch_post(id, "public_metrics")["public_metrics"]["quote_count"].clone();
    assert_eq!(quotes(&other), 1);
    author.delete(format!("/2/posts/{first}")).assert_status(200);
    assert_eq!(texts(), ["Something else"]);
    assert_eq!(quotes(&other), 0);
    let requested = json!({ "text": "Ask", "poll": { "options": ["a", "b"], "duration_minutes": 5 } });
    let requested = id(&author.create_post(&requested).assert_status(201));
    assert_eq!(edit(&requested, json!({})).status, 403, "a poll stays");
    shared_server().run_cli(&["fsck"]).assert_success();
}
