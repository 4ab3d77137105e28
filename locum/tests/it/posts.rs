//! Posts: written, read, edited, deleted.

use serde_json::{Value, json};

use crate::harness::{TestServer, TestUser, person, shared_server};

const TOO_LONG: &str = "Your Tweet text is too long. For more information on how Twitter determines \
                        text length see https://github.com/twitter/twitter-text.";

fn premium(name: &str) -> TestUser<'static> {
    shared_server().new_user_with(name, &["--subscription-type", "Premium"])
}

#[test]
fn created_post_is_returned_as_it_is_read() {
    let author = person("author");
    let response = author.create_post(&json!({ "text": "First & <last>" }));
    let created = response.assert_status(201)["data"].clone();
    let id = created["id"].as_str().unwrap();
    assert_eq!(created["text"], "First &amp; &lt;last&gt;");
    assert_eq!(created["edit_history_post_ids"], json!([id]));
    assert!(response.header("location").ends_with(&format!("/2/posts/{id}")), "{:?}", response.headers);
    let read = author.get(format!("/2/posts/{id}")).assert_status(200);
    assert_eq!(read, json!({ "data": created }));
}

#[test]
fn post_is_the_same_in_both_vocabularies() {
    let author = person("author");
    let created = author.post("/2/tweets", &json!({ "text": "Two words for one thing" })).assert_status(201);
    let id = created["data"]["id"].as_str().unwrap();
    let one = author.get(format!("/2/tweets/{id}?tweet.fields=public_metrics")).assert_status(200);
    let other = author.get(format!("/2/posts/{id}?post.fields=public_metrics")).assert_status(200);
    let mixed = author.get(format!("/2/tweets/{id}?post.fields=public_metrics")).assert_status(200);
    assert_eq!(one["data"]["edit_history_tweet_ids"], json!([id]));
    assert_eq!(one["data"]["public_metrics"]["retweet_count"], 0);
    assert_eq!(other["data"]["edit_history_post_ids"], json!([id]));
    assert_eq!(other["data"]["public_metrics"]["repost_count"], 0);
    assert_eq!(mixed["data"], other["data"], "post.fields decides");
}

#[test]
fn plain_post_has_every_field() {
    let author = person("author");
    let id = author.publish_text("All of it");
    let fields = "attachments,author_id,context_annotations,conversation_id,created_at,edit_controls,\
                  edit_history_post_ids,entities,geo,id,in_reply_to_user_id,lang,note_post,\
                  possibly_sensitive,public_metrics,referenced_posts,reply_settings,source,text,withheld,\
                  display_text_range,paid_partnership";
    let post = author.fetch_post(&id, fields);
    assert_eq!(post["author_id"], author.id);
    assert_eq!(post["conversation_id"], id);
    assert_eq!(post["reply_settings"], "everyone");
    assert_eq!(post["possibly_sensitive"], false);
    let metrics = post["public_metrics"].as_object().unwrap();
    for name in ["repost", "reply", "like", "quote", "bookmark", "impression"] {
        assert!(metrics[&format!("{name}_count")].is_u64(), "{name}: {metrics:?}");
    }
    let created = post["created_at"].as_str().unwrap();
    assert!(created.len() == 24 && created.ends_with('Z') && created.contains('.'), "{created}");
    assert_eq!(post["edit_controls"]["edits_remaining"], 5);
    assert_eq!(post["edit_controls"]["is_edit_eligible"], true);
    assert!(post.get("source").is_none(), "never sent");
    assert!(post.as_object().unwrap().values().all(|value| !value.is_null()), "{post}");
    // Own, recent: in user context one may see these.
    let post = author.fetch_post(&id, "non_public_metrics,organic_metrics");
    assert!(post["non_public_metrics"]["impression_count"].is_u64(), "{post}");
}

#[test]
fn entities_have_the_positions_of_the_text() {
    let (author, friend) = (person("author"), person("friend"));
    let text = format!("é👩‍🚀 R&D <hi> @{} see https://example.com/a?b=c&d #tag $CASH", friend.username);
    let id = author.publish_text(&text);
    let shown = author.fetch_post(&id, "entities");
    let entities = shown["entities"].clone();
    let letters: Vec<char> = shown["text"].as_str().unwrap().chars().collect();
    let part = |entity: &Value| -> String {
        let at = |name: &str| usize::try_from(entity[name].as_u64().unwrap()).unwrap();
        letters[at("start")..at("end")].iter().collect()
    };
    let first = |name: &str| entities[name][0].clone();
    assert_eq!(part(&first("mentions")), format!("@{}", friend.username));
    assert_eq!(first("mentions")["id"], friend.id);
    assert_eq!(first("mentions")["username"], friend.username);
    assert_eq!(part(&first("hashtags")), "#tag");
    assert_eq!(first("hashtags")["tag"], "tag");
    assert_eq!(part(&first("cashtags")), "$CASH");
    assert_eq!(part(&first("urls")), first("urls")["url"].as_str().unwrap());
    assert_eq!(first("urls")["expanded_url"], "https://example.com/a?b=c&d");
}

#[test]
fn text_length_is_weighted() {
    let author = person("author");
    let exact = [
        "a".repeat(280),
        "日".repeat(140),
        format!("{} https://example.com/{}", "b".repeat(256), "x".repeat(300)),
        "👩‍👩‍👧‍👦".repeat(140),
        "e\u{301}".repeat(280),
    ];
    for text in exact {
        let shown: String = text.chars().take(20).collect();
        assert_eq!(author.create_post(&json!({ "text": text })).status, 201, "{shown}");
        author.create_post(&json!({ "text": format!("{text}.") })).assert_error(400, TOO_LONG);
    }
    author.publish_text(&"a.".repeat(140));
    author.create_post(&json!({ "text": "a.".repeat(24_000) })).assert_error(400, TOO_LONG);
    author.create_post(&json!({ "text": "  " })).assert_problem(400, "invalid-request");
}

#[test]
fn premium_author_writes_long_posts() {
    let author = premium("long");
    let whole = "A sentence of some length, #long. ".repeat(20).trim_end().to_owned();
    let id = author.publish_text(&whole);
    let post = author.fetch_post(&id, "note_post,entities");
    assert_eq!(post["note_post"]["text"], whole);
    assert_eq!(post["note_post"]["entities"]["hashtags"].as_array().unwrap().len(), 20);
    let text = post["text"].as_str().unwrap();
    assert!(text.contains('…') && text.chars().count() <= 320, "{text}");
    let old = author.get(format!("/2/tweets/{id}?tweet.fields=note_tweet")).assert_status(200);
    assert_eq!(old["data"]["note_tweet"]["text"], whole);
    author.publish_text(&"x".repeat(25_000));
    author.create_post(&json!({ "text": "y".repeat(25_001) })).assert_error(400, TOO_LONG);
    let short = author.publish_text("Short enough");
    assert!(author.fetch_post(&short, "note_post").get("note_post").is_none());
}

#[test]
fn duplicate_text_is_refused() {
    let (author, other) = (person("author"), person("other"));
    let first = author.publish_text("Once is enough");
    let again = author.create_post(&json!({ "text": "Once is enough" }));
    again.assert_error(403, "You are not allowed to create a Tweet with duplicate content.");
    assert_eq!(again.json()["type"], "about:blank");
    other.publish_text("Once is enough");
    author
        .create_post(&json!({ "text": "Once is enough", "reply": { "in_reply_to_post_id": first } }))
        .assert_status(201);
    author.create_post(&json!({ "text": "Once is enough", "quote_post_id": first })).assert_status(201);
}

#[test]
fn concurrent_duplicate_posts_are_created_once() {
    let author = person("racer");
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let post = || author.create_post(&json!({ "text": "Me first" })).status;
        let all: Vec<_> = (0..12).map(|_| scope.spawn(post)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|status| [201, 403].contains(status)), "{answers:?}");
}

#[test]
fn reply_belongs_to_the_conversation_of_its_parent() {
    let (author, reader) = (person("author"), person("reader"));
    let root = author.publish_text("A root");
    let reply = json!({ "text": "A reply", "reply": { "in_reply_to_tweet_id": root } });
    let reply = reader.create_post(&reply).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let fields = "conversation_id,in_reply_to_user_id,referenced_posts";
    let post = author.fetch_post(&reply, fields);
    assert_eq!(post["conversation_id"], root);
    assert_eq!(post["in_reply_to_user_id"], author.id);
    assert_eq!(post["referenced_posts"], json!([{ "type": "replied_to", "id": root }]));
    assert_eq!(author.fetch_post(&root, "public_metrics")["public_metrics"]["reply_count"], 1);
    reader.delete(format!("/2/posts/{reply}")).assert_status(200);
    assert_eq!(author.fetch_post(&root, "public_metrics")["public_metrics"]["reply_count"], 0);
}

#[test]
fn quote_starts_its_own_conversation() {
    let (author, reader) = (person("author"), person("reader"));
    let root = author.publish_text("Worth quoting");
    let quote = reader.create_post(&json!({ "text": "Look", "quote_tweet_id": root })).assert_status(201);
    let id = quote["data"]["id"].as_str().unwrap();
    let expansions = "expansions=referenced_posts,author_id&post.fields=conversation_id";
    let read = reader.get(format!("/2/posts/{id}?{expansions}")).assert_status(200);
    assert_eq!(read["data"]["conversation_id"], id);
    assert_eq!(read["data"]["referenced_posts"], json!([{ "type": "quoted", "id": root }]));
    assert_eq!(read["includes"]["posts"][0]["id"], root);
    assert_eq!(read["includes"]["users"][0]["id"], reader.id);
    let expansions = "expansions=referenced_tweets.id,referenced_tweets.id.author_id";
    let read = reader.get(format!("/2/tweets/{id}?{expansions}")).assert_status(200);
    assert_eq!(read["includes"]["tweets"][0]["id"], root);
    assert_eq!(read["includes"]["users"][0]["id"], author.id);
    assert_eq!(author.fetch_post(&root, "public_metrics")["public_metrics"]["quote_count"], 1);

    author.delete(format!("/2/posts/{root}")).assert_status(200);
    let read = reader.get(format!("/2/posts/{id}?expansions=referenced_posts")).assert_status(200);
    let error = &read["errors"][0];
    assert_eq!((&error["section"], &error["value"]), (&json!("includes"), &json!(root)), "{read}");
    assert!(error["type"].as_str().unwrap().ends_with("/resource-not-found"));
}

#[test]
fn nested_expansion_alone_includes_the_post_that_it_passes() {
    let (author, reader) = (person("author"), person("reader"));
    let root = author.publish_text("Worth citing");
    let quote = reader.create_post(&json!({ "text": "Look here", "quote_tweet_id": root })).assert_status(201);
    let id = quote["data"]["id"].as_str().unwrap();
    for target in [format!("/2/tweets/{id}"), format!("/2/tweets?ids={id}"), format!("/2/users/{}/tweets", reader.id)] {
        let separator = if target.contains('?') { '&' } else { '?' };
        for nested in ["author_id", "attachments.media_keys"] {
            let read = reader.get(format!("{target}{separator}expansions=referenced_tweets.id.{nested}"));
            let read = read.assert_status(200);
            let post = read["data"].get(0).unwrap_or(&read["data"]);
            assert_eq!(post["referenced_tweets"], json!([{ "type": "quoted", "id": root }]), "{read}");
            assert_eq!(read["includes"]["tweets"][0]["id"], root, "{read}");
            let users = read["includes"].get("users").map(|users| users[0]["id"].as_str().unwrap().to_owned());
            assert_eq!(users, (nested == "author_id").then(|| author.id.clone()), "{read}");
        }
    }
}

#[test]
fn mentions_of_a_long_text_are_included() {
    let (author, friend) = (premium("wordy"), person("mentioned"));
    let text = format!("{} and @{}", "A sentence of some length. ".repeat(20), friend.username);
    let id = author.publish_text(&text);
    let read = author.get(format!("/2/tweets/{id}?expansions=entities.note.mentions.username")).assert_status(200);
    assert_eq!(read["includes"]["users"][0]["id"], friend.id, "{read}");
    assert!(read.get("errors").is_none(), "{read}");
}

#[test]
fn reply_setting_of_the_root_decides_who_replies() {
    let [author, named, followed, stranger] = ["author", "named", "followed", "stranger"].map(person);
    let verified = shared_server().new_user_with("verified", &["--verified-type", "blue"]);
    author.import_follows(&[&followed]);
    let cases: [(&str, &[&TestUser<'_>]); 3] =
        [("mentionedUsers", &[&named]), ("following", &[&followed, &named]), ("verified", &[&verified, &named])];
    for (setting, welcome) in cases {
        let text = format!("Only some may reply ({setting}), @{} for one", named.username);
        let root = author.create_post(&json!({ "text": text, "reply_settings": setting })).assert_status(201);
        let root = root["data"]["id"].as_str().unwrap().to_owned();
        assert_eq!(author.fetch_post(&root, "reply_settings")["reply_settings"], setting);
        for who in [&author, &named, &followed, &verified, &stranger] {
            let reply = json!({ "text": format!("I reply to {root}"), "reply": { "in_reply_to_post_id": root } });
            let response = who.create_post(&reply);
            let may = who.id == author.id || welcome.iter().any(|one| one.id == who.id);
            if may {
                response.assert_status(201);
            } else {
                response.assert_error(403, "The original Tweet author restricted who can reply to this Tweet.");
            }
        }
    }
    let wrong = author.create_post(&json!({ "text": "Nobody", "reply_settings": "nobody" }));
    wrong.assert_problem(400, "invalid-request");
}

#[test]
fn self_serve_app_replies_only_when_mentioned() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let (author, other) = (person("author"), person("other"));
    let through = TestUser::with_new_token(server, &app, &other.id, &other.username);
    let reply = |to: &str| json!({ "text": format!("To {to}"), "reply": { "in_reply_to_post_id": to } });
    let refused = through.create_post(&reply(&author.publish_text("Nobody is called")));
    refused.assert_error(
        403,
        "Reply to this conversation is not allowed because you have not been mentioned or otherwise \
         engaged by the author of the post you are replying to.",
    );
    let calling = author.publish_text(&format!("I call @{}", other.username));
    through.create_post(&reply(&calling)).assert_status(201);
    let own = other.publish_text("My own thread");
    through.create_post(&reply(&own)).assert_status(201);
    assert_eq!(through.create_post(&json!({ "text": "Buy $ONE and $TWO" })).status, 403);
    through.create_post(&json!({ "text": "Buy $ONE" })).assert_status(201);
}

#[test]
fn self_serve_app_quotes_only_own_conversations() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let (author, other) = (person("author"), person("other"));
    let through = TestUser::with_new_token(server, &app, &other.id, &other.username);
    let quote = |post: &str| json!({ "text": format!("Look at {post}"), "quote_tweet_id": post });
    let foreign = author.publish_text("Nobody is called");
    through.create_post(&quote(&foreign)).assert_error(
        403,
        "Quoting this post is not allowed because you have not been mentioned or are not part of the \
         conversation thread of the post you are quoting.",
    );
    other.create_post(&quote(&foreign)).assert_status(201);
    let own = other.publish_text("My own thread");
    let answer = json!({ "text": "An answer", "reply": { "in_reply_to_tweet_id": own } });
    let answer = author.create_post(&answer).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let further = json!({ "text": "And more", "reply": { "in_reply_to_tweet_id": answer } });
    let further = author.create_post(&further).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let calling = author.publish_text(&format!("I call @{}", other.username));
    for post in [own, answer, further, calling] {
        through.create_post(&quote(&post)).assert_status(201);
    }
}

#[test]
fn premium_author_edits_a_post_five_times() {
    let author = premium("editor");
    let first = author.publish_text("Version 0");
    let mut versions = vec![first.clone()];
    for number in 1..=5 {
        let edit = json!({
            "text": format!("Version {number}"),
            "edit_options": { "previous_post_id": versions.last().unwrap() },
        });
        let created = author.create_post(&edit).assert_status(201)["data"].clone();
        versions.push(created["id"].as_str().unwrap().to_owned());
        assert_eq!(created["edit_history_post_ids"], json!(versions));
    }
    for (number, id) in versions.iter().enumerate() {
        let post = author.fetch_post(id, "edit_controls");
        assert_eq!(post["text"], format!("Version {number}"));
        assert_eq!(post["edit_history_post_ids"], json!(versions));
    }
    let newest = versions.last().unwrap();
    assert_eq!(author.fetch_post(newest, "edit_controls")["edit_controls"]["edits_remaining"], 0);
    let more = |previous: &str| {
        author.create_post(&json!({ "text": "One more", "edit_options": { "previous_post_id": previous } })).status
    };
    assert_eq!((more(newest), more(&first)), (403, 403));
    let timeline = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(timeline["meta"]["result_count"], 1, "only the newest version: {timeline}");
    author.delete(format!("/2/posts/{first}")).assert_status(200);
    for id in &versions {
        let deleted = author.get(format!("/2/posts/{id}")).assert_status(200);
        assert!(deleted.get("data").is_none(), "{deleted}");
    }
}

#[test]
fn edit_keeps_the_quote_and_adds_no_other_attachment() {
    let author = premium("editor");
    let quote = json!({ "text": "Look", "quote_post_id": author.publish_text("Quoted") });
    let quote = author.create_post(&quote).assert_status(201)["data"]["id"].clone();
    let mut edit = json!({ "text": "", "edit_options": { "previous_post_id": quote } });
    let edited = author.create_post(&edit).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(author.fetch_post(&edited, "referenced_tweets")["referenced_posts"][0]["type"], "quoted");
    edit["edit_options"]["previous_post_id"] = json!(edited);
    edit["direct_message_deep_link"] = json!(format!("https://x.example/messages/compose?recipient_id={}", author.id));
    author.create_post(&edit).assert_problem(400, "invalid-request");
}

#[test]
fn post_is_edited_by_its_premium_author_only() {
    let (author, other) = (person("author"), premium("other"));
    let id = author.publish_text("Fixed");
    let edit = json!({ "text": "Changed", "edit_options": { "previous_post_id": id } });
    assert_eq!(author.create_post(&edit).status, 403);
    assert_eq!(other.create_post(&edit).status, 403);
    let unknown = json!({ "text": "Changed", "edit_options": { "previous_post_id": "1" } });
    other.create_post(&unknown).assert_problem(400, "invalid-request");
    let reply = json!({ "text": "A reply", "reply": { "in_reply_to_post_id": id } });
    let reply = other.create_post(&reply).assert_status(201)["data"]["id"].clone();
    let edit_of_reply = json!({ "text": "Changed", "edit_options": { "previous_post_id": reply } });
    assert_eq!(other.create_post(&edit_of_reply).status, 403, "replies to others stay");
    shared_server().run_cli(&["user", "protect", &author.username]).assert_success();
    other.create_post(&edit).assert_problem(400, "invalid-request");
}

#[test]
fn nullcast_post_is_read_by_id_only() {
    let author = person("advertiser");
    author.publish_text("Seen");
    let hidden = author.create_post(&json!({ "text": "Not seen", "nullcast": true })).assert_status(201);
    let hidden = hidden["data"]["id"].as_str().unwrap();
    assert_eq!(author.fetch_post(hidden, "text")["text"], "Not seen");
    for path in ["posts", "timelines/reverse_chronological"] {
        let timeline = author.get(format!("/2/users/{}/{path}", author.id)).assert_status(200);
        assert_eq!(timeline["meta"]["result_count"], 1, "{path}: {timeline}");
    }
}

#[test]
fn optional_settings_of_a_post_are_stored() {
    let author = person("author");
    let body = json!({ "text": "Marked", "made_with_ai": true, "paid_partnership": true });
    let id = author.create_post(&body).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(author.fetch_post(&id, "paid_partnership")["paid_partnership"], true);
}

#[test]
fn post_with_an_unknown_reference_is_refused() {
    let author = person("author");
    let deleted = author.publish_text("Soon gone");
    author.delete(format!("/2/posts/{deleted}")).assert_status(200);
    let cases = [
        (json!({ "text": "x", "reply": { "in_reply_to_tweet_id": "1" } }), 400, "Your reply tweet ID is invalid."),
        (json!({ "text": "x", "quote_tweet_id": "1" }), 400, "Your quote tweet ID is invalid."),
        (json!({ "text": "x", "media": { "media_ids": ["1"] } }), 400, "Your media IDs are invalid."),
        (
            json!({ "text": "x", "reply": { "in_reply_to_tweet_id": deleted } }),
            403,
            "You attempted to reply to a Tweet that is deleted or not visible to you.",
        ),
        (
            json!({ "text": "x", "quote_tweet_id": "1", "card_uri": "card://1" }),
            400,
            "You can only provide one of poll or quote_tweet_id or direct_message_deep_link or media or card_uri.",
        ),
    ];
    for (body, status, sentence) in cases {
        author.create_post(&body).assert_error(status, sentence);
    }
    for body in [json!({}), json!({ "text": "" }), json!({ "text": " \n\t" })] {
        author.create_post(&body).assert_problem(400, "invalid-request");
    }
    assert_eq!(author.get(format!("/2/users/{}/posts", author.id)).assert_status(200)["meta"]["result_count"], 0);
}

#[test]
fn post_is_deleted_by_its_author_only_and_once() {
    let (author, other) = (person("author"), person("other"));
    let id = author.publish_text("Mine");
    let path = format!("/2/posts/{id}");
    other.delete(&path).assert_error(403, "You are not authorized to delete this Tweet.");
    assert_eq!(author.delete(&path).assert_status(200), json!({ "data": { "deleted": true } }));
    author.delete(&path).assert_problem(404, "resource-not-found");
    author.delete("/2/posts/1").assert_problem(404, "resource-not-found");
    let deleted = author.get(&path).assert_status(200);
    assert_eq!(deleted["errors"][0]["detail"], format!("Could not find tweet with id: [{id}]."));
    author.publish_text("Mine");
}

#[test]
fn post_lookup_returns_found_posts_and_errors_for_missing_ones() {
    let (author, reader) = (person("author"), person("reader"));
    let hidden = shared_server().new_user_with("hidden", &["--protected"]);
    let [one, two, deleted] = ["One of many", "Two of many", "Gone of many"].map(|text| author.publish_text(text));
    let secret = hidden.publish_text("Not for you");
    author.delete(format!("/2/posts/{deleted}")).assert_status(200);
    let path = format!("/2/tweets?ids={two},1,{one},{deleted},{secret}&expansions=author_id");
    let read = reader.get(path).assert_status(200);
    let ids: Vec<&Value> = read["data"].as_array().unwrap().iter().map(|post| &post["id"]).collect();
    assert_eq!(ids, [two.as_str(), one.as_str()], "in the order of the request");
    assert_eq!(read["includes"]["users"].as_array().unwrap().len(), 1, "{read}");
    let errors = read["errors"].as_array().unwrap();
    let response = |value: &str| {
        let error = errors.iter().find(|error| error["value"] == value);
        error.unwrap_or_else(|| panic!("nothing about {value}: {read}"))
    };
    for missing in ["1", &deleted] {
        let error = response(missing);
        assert_eq!(error["title"], "Not Found Error");
        assert_eq!(error["type"], "https://api.x.com/2/problems/resource-not-found");
        assert_eq!(error["resource_type"], "tweet");
        assert_eq!(error["resource_id"], missing);
        assert_eq!(error["parameter"], "ids");
        assert_eq!(error["detail"], format!("Could not find tweet with ids: [{missing}]."));
    }
    let error = response(&secret);
    assert_eq!(error["type"], "https://api.x.com/2/problems/not-authorized-for-resource");
    assert_eq!(error["detail"], format!("Sorry, you are not authorized to see the Tweet with ids: [{secret}]."));
    assert_eq!(errors.len(), 3);
    let nothing = reader.get("/2/posts?ids=1,2&post.fields=lang").assert_status(200);
    assert!(nothing.get("data").is_none() && nothing["errors"].as_array().unwrap().len() == 2);
    assert_eq!((read.get("meta"), &nothing["meta"]), (None, &json!({ "result_count": 0 })));
}

#[test]
fn non_public_metrics_are_shown_to_the_author_only() {
    let (author, reader) = (person("author"), person("reader"));
    let id = author.publish_text("Counted");
    let body = reader.get(format!("/2/tweets/{id}?tweet.fields=non_public_metrics")).assert_status(200);
    assert!(body.get("data").is_none(), "{body}");
    let details = body["errors"].as_array().unwrap().iter().map(|error| error["detail"].as_str().unwrap());
    let expected = format!(
        "Sorry, you are not authorized to access 'non_public_metrics.impression_count' on the Tweet with id : [{id}]."
    );
    assert!(details.into_iter().any(|detail| detail == expected), "{body}");
}

#[test]
fn deleted_post_is_not_pinned_any_more() {
    let server = TestServer::start(&["--world", "empty"]);
    let author = server.new_user("author");
    let post = author.publish_text("First of all");
    // Imports pin posts.
    server.run_sql(&format!("UPDATE users SET pinned_post_id = {post} WHERE id = {}", author.id));
    let pinned = || {
        let read = author.get("/2/users/me?user.fields=pinned_post_id&expansions=pinned_post_id").assert_status(200);
        (read["data"]["pinned_post_id"].clone(), read.get("errors").is_some())
    };
    assert_eq!(pinned(), (json!(post), false));
    author.delete(format!("/2/posts/{post}")).assert_status(200);
    assert_eq!(pinned(), (Value::Null, false));
}
