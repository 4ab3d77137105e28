//! Polls: made with a post, voted in, ended by the clock.

use serde_json::{Value, json};

use crate::harness::{TestServer, TestUser, person, shared_server};

fn asked(options: &[&str], minutes: i64) -> Value {
    json!({ "text": "Which?", "poll": { "options": options, "duration_minutes": minutes } })
}

/// Publishes a poll; the post's id.
#[track_caller]
fn asks(author: &TestUser<'_>, options: &[&str], minutes: i64) -> String {
    let created = author.create_post(&asked(options, minutes)).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

fn vote(server: &TestServer, post: &str, option: &str, user: &str) -> crate::harness::CommandOutput {
    server.run_cli(&["poll", "vote", post, option, "--as", user])
}

const ALL: &str = "expansions=attachments.poll_ids&poll.fields=voting_status,end_datetime,duration_minutes";

#[test]
fn poll_is_returned_with_its_options_and_fields() {
    let [author, voter] = ["asker", "voter"].map(person);
    let id = asks(&author, &["Tea", "Coffee", "<Water>"], 1440);
    let read = voter.get(format!("/2/posts/{id}?{ALL}")).assert_status(200);
    let poll = &read["includes"]["polls"][0];
    assert_eq!(read["data"]["attachments"]["poll_ids"][0], poll["id"]);
    assert_eq!(poll["voting_status"], "open");
    assert_eq!(poll["duration_minutes"], 1440);
    assert!(poll["end_datetime"].as_str().unwrap().ends_with('Z'));
    let labels = json!([
        { "position": 1, "label": "Tea", "votes": 0 },
        { "position": 2, "label": "Coffee", "votes": 0 },
        { "position": 3, "label": "<Water>", "votes": 0 },
    ]);
    assert_eq!(poll["options"], labels);
    let plain = voter.get(format!("/2/tweets/{id}?expansions=attachments.poll_ids")).assert_status(200);
    let plain = plain["includes"]["polls"][0].as_object().unwrap();
    assert_eq!(plain.keys().collect::<Vec<_>>(), ["id", "options"]);
}

#[test]
fn user_votes_once_for_an_option_of_a_poll_that_they_can_see() {
    let server = shared_server();
    let [author, voter, other] = ["asker", "voter", "other"].map(person);
    let id = asks(&author, &["Tea", "Coffee", "<Water>"], 1440);
    let voted = vote(server, &id, "2", &voter.username).json();
    assert_eq!(voted["voted"], 2);
    vote(server, &id, "2", &other.id).assert_success();
    let again = vote(server, &id, "1", &voter.username);
    assert!(again.assert_exit_code(1).stderr.contains("already voted"), "{again:?}");
    for wrong in ["0", "4"] {
        vote(server, &id, wrong, &author.username).assert_refused();
    }
    vote(server, "1", "1", &author.username).assert_exit_code(1);
    vote(server, &author.publish_text("No poll"), "1", &voter.username).assert_refused();
    let read = author.get(format!("/2/posts?ids={id}&{ALL}")).assert_status(200);
    let options = &read["includes"]["polls"][0]["options"];
    let votes = [0, 1, 2].map(|place: usize| options[place]["votes"].as_i64().unwrap());
    assert_eq!(votes, [0, 2, 0]);
    let own = ["poll", "show", &id, "--as", &other.username];
    assert_eq!(server.run_cli(&own).json()["options"][1]["voted"], true);

    let hidden = server.new_user_with("hidden", &["--protected"]);
    let secret = asks(&hidden, &["Yes", "No"], 5);
    vote(server, &secret, "1", &voter.username).assert_exit_code(1);
    author.delete(format!("/2/posts/{id}")).assert_status(200);
    vote(server, &id, "1", &author.username).assert_exit_code(1);
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn poll_outside_its_bounds_is_refused() {
    let author = person("asker");
    let long = "x".repeat(26);
    let wrong = [
        asked(&["one"], 5),
        asked(&["1", "2", "3", "4", "5"], 5),
        asked(&["a", ""], 5),
        asked(&["a", "  "], 5),
        asked(&["a", &long], 5),
        asked(&["same", "other", " same "], 5),
        asked(&["a", "b"], 4),
        asked(&["a", "b"], 10_081),
        json!({ "text": "x", "poll": { "options": ["a", "b"] } }),
        json!({ "text": "x", "poll": { "options": "a,b", "duration_minutes": 5 } }),
        json!({ "text": "x", "poll": { "options": ["a", "b"], "duration_minutes": 5, "more": 1 } }),
    ];
    for body in wrong {
        author.create_post(&body).assert_problem(400, "invalid-request");
    }
    for uri in ["card://1", "card://9999999999", "card://x", "https://card.example"] {
        let refused = author.create_post(&json!({ "text": "x", "card_uri": uri }));
        assert_eq!(refused.assert_problem(400, "invalid-request")["errors"][0]["parameter"], "card_uri", "{uri}");
    }
    let one_of = "You can only provide one of poll or quote_tweet_id or direct_message_deep_link or \
                  media or card_uri.";
    for (name, value) in [
        ("quote_tweet_id", json!("1")),
        ("card_uri", json!("card://1")),
        ("media", json!({ "media_ids": ["1"] })),
        ("direct_message_deep_link", json!("https://x")),
    ] {
        let mut body = asked(&["a", "b"], 5);
        body[name] = value;
        author.create_post(&body).assert_error(400, one_of);
    }
    let timeline = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(timeline["meta"]["result_count"], 0);
    asks(&author, &["a", &"y".repeat(25)], 5);
    // The same question with other answers is another post.
    asks(&author, &["a", "b"], 5);
    author.create_post(&asked(&["a", "b"], 5)).assert_legacy_code(403, 187);
    let mut longest = asked(&["1", "2", "3", &"日".repeat(25)], 10_080);
    longest["text"] = json!("");
    author.create_post(&longest).assert_status(201);
}

#[test]
fn poll_can_restrict_replies() {
    let (author, stranger) = (person("asker"), person("stranger"));
    let mut body = asked(&["a", "b"], 5);
    body["poll"]["reply_settings"] = json!("following");
    let id = author.create_post(&body).assert_status(201)["data"]["id"].clone();
    let reply = json!({ "text": "re", "reply": { "in_reply_to_post_id": id } });
    stranger.create_post(&reply).assert_legacy_code(403, 433);
    body["reply_settings"] = json!("verified");
    author.create_post(&body).assert_problem(400, "invalid-request");
}

/// The log tells so often that the poll of a post has ended.
fn is_told(server: &TestServer, post: &str, times: u32) {
    server.run_sql(&format!(
        "CREATE TABLE probe (n BIGINT CHECK (n = {times})); \
         INSERT INTO probe SELECT COUNT(*) FROM event WHERE kind = 'poll.close' \
         AND subject_id = {post}; DROP TABLE probe;"
    ));
}

#[test]
fn poll_ends_once_despite_killed_servers() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let (id, name, token) = {
        let author = server.new_user("asker");
        (asks(&author, &["a", "b"], 5), author.username.clone(), author.token.clone())
    };
    server.kill();
    is_told(&server, &id, 0);
    let end = base::PostId::parse(&id).unwrap().created_at().ms();
    server.run_sql(&format!("UPDATE poll SET ends_at = {end}"));
    for _ in 0..3 {
        server.restart();
        server.kill();
    }
    server.restart();
    let read = crate::harness::TestRequest::get(format!("/2/posts/{id}?{ALL}")).bearer(&token);
    let read = server.send(read).assert_status(200);
    assert_eq!(read["includes"]["polls"][0]["voting_status"], "closed");
    let late = vote(&server, &id, "1", &name);
    assert!(late.assert_exit_code(1).stderr.contains("closed"), "{late:?}");
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    server.kill();
    is_told(&server, &id, 1);
}

#[test]
fn card_poll_ends_on_each_post_with_the_card() {
    let mut server = TestServer::start(&[]);
    let posts = {
        let author = server.new_user("asker");
        let create = ["ads", "account", "create", "Own", "--user", &author.username];
        let account = server.run_cli(&create).json();
        let account = account["id"].as_str().unwrap();
        let choices = "name=When&first_choice=a&second_choice=b&duration_in_minutes=5";
        let path = format!("/12/accounts/{account}/cards/poll?{choices}");
        let created = author.send_signed(crate::harness::TestRequest::new("POST", path)).assert_status(200);
        let uri = &created["data"]["card_uri"];
        ["Which?", "And which?"].map(|text| {
            let body = json!({ "text": text, "card_uri": uri });
            let created = author.create_post(&body).assert_status(201);
            created["data"]["id"].as_str().unwrap().to_owned()
        })
    };
    server.kill();
    for post in &posts {
        is_told(&server, post, 0);
    }
    server.run_sql("UPDATE poll SET ends_at = 1 WHERE id = post_id");
    for _ in 0..2 {
        server.restart();
        server.kill();
    }
    server.restart();
    std::thread::sleep(std::time::Duration::from_secs(5));
    server.kill();
    for post in &posts {
        is_told(&server, post, 1);
    }
}
