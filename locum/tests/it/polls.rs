//! Polls: made with a post, voted in, ended by the clock.

use serde_json::{Value, json};

use crate::harness::{Person, Server, shared};

fn person(name: &str) -> Person<'static> {
    shared().person(name)
}

fn asked(options: &[&str], minutes: i64) -> Value {
    json!({ "text": "Which?", "poll": { "options": options, "duration_minutes": minutes } })
}

/// Publishes a poll; the post's id.
#[track_caller]
fn asks(author: &Person<'_>, options: &[&str], minutes: i64) -> String {
    let made = author.publish(&asked(options, minutes)).is(201);
    made["data"]["id"].as_str().unwrap().to_owned()
}

fn vote(server: &Server, post: &str, option: &str, user: &str) -> crate::harness::Ran {
    server.cli(&["poll", "vote", post, option, "--as", user])
}

const ALL: &str =
    "expansions=attachments.poll_ids&poll.fields=voting_status,end_datetime,duration_minutes";

#[test]
fn a_poll_is_read_and_voted_in() {
    let server = shared();
    let [author, voter, other] = ["asker", "voter", "other"].map(person);
    let id = asks(&author, &["Tea", "Coffee", "<Water>"], 1440);
    let read = voter.get(format!("/2/posts/{id}?{ALL}")).is(200);
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
    let plain = voter
        .get(format!("/2/tweets/{id}?expansions=attachments.poll_ids"))
        .is(200);
    let plain = plain["includes"]["polls"][0].as_object().unwrap();
    assert_eq!(plain.keys().collect::<Vec<_>>(), ["id", "options"]);

    let voted = vote(server, &id, "2", &voter.username).json();
    assert_eq!(voted["voted"], 2);
    vote(server, &id, "2", &other.id).well();
    let again = vote(server, &id, "1", &voter.username);
    assert!(again.ends(1).err.contains("already voted"), "{again:?}");
    for wrong in ["0", "4"] {
        vote(server, &id, wrong, &author.username).ends(1);
    }
    vote(server, "1", "1", &author.username).ends(1);
    vote(server, &author.says("No poll"), "1", &voter.username).ends(1);
    let read = author.get(format!("/2/posts?ids={id}&{ALL}")).is(200);
    let options = &read["includes"]["polls"][0]["options"];
    let votes = [0, 1, 2].map(|place: usize| options[place]["votes"].as_i64().unwrap());
    assert_eq!(votes, [0, 2, 0]);
    let own = ["poll", "show", &id, "--as", &other.username];
    assert_eq!(server.cli(&own).json()["options"][1]["voted"], true);

    let hidden = server.person_with("hidden", &["--protected"]);
    let secret = asks(&hidden, &["Yes", "No"], 5);
    vote(server, &secret, "1", &voter.username).ends(1);
    author.delete(format!("/2/posts/{id}")).is(200);
    vote(server, &id, "1", &author.username).ends(1);
    server.cli(&["fsck"]).well();
}

#[test]
fn a_poll_outside_its_bounds_is_refused() {
    let author = person("asker");
    let long = "x".repeat(26);
    let wrong = [
        asked(&["one"], 5),
        asked(&["1", "2", "3", "4", "5"], 5),
        asked(&["a", ""], 5),
        asked(&["a", "  "], 5),
        asked(&["a", &long], 5),
        asked(&["a", "b"], 4),
        asked(&["a", "b"], 10_081),
        json!({ "text": "x", "poll": { "options": ["a", "b"] } }),
        json!({ "text": "x", "poll": { "options": "a,b", "duration_minutes": 5 } }),
        json!({ "text": "x", "poll": { "options": ["a", "b"], "duration_minutes": 5, "more": 1 } }),
    ];
    for body in wrong {
        author.publish(&body).is_problem(400, "invalid-request");
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
        author.publish(&body).says(400, one_of);
    }
    let timeline = author.get(format!("/2/users/{}/posts", author.id)).is(200);
    assert_eq!(timeline["meta"]["result_count"], 0);
    asks(&author, &["a", &"y".repeat(25)], 5);
    let mut longest = asked(&["1", "2", "3", "4"], 10_080);
    longest["text"] = json!("");
    author.publish(&longest).is(201);
}

#[test]
fn a_poll_may_say_who_replies() {
    let (author, stranger) = (person("asker"), person("stranger"));
    let mut body = asked(&["a", "b"], 5);
    body["poll"]["reply_settings"] = json!("following");
    let id = author.publish(&body).is(201)["data"]["id"].clone();
    let reply = json!({ "text": "re", "reply": { "in_reply_to_post_id": id } });
    stranger.publish(&reply).is_code(403, 433);
    body["reply_settings"] = json!("verified");
    author.publish(&body).is_problem(400, "invalid-request");
}

/// The log tells so often that the poll of a post has ended.
fn is_told(server: &Server, post: &str, times: u32) {
    server.sql(&format!(
        "CREATE TABLE probe (n BIGINT CHECK (n = {times})); \
         INSERT INTO probe SELECT COUNT(*) FROM event WHERE kind = 'poll.close' \
         AND subject_id = {post}; DROP TABLE probe;"
    ));
}

#[test]
fn a_poll_ends_once_however_often_the_server_is_killed() {
    let mut server = Server::start(&["--world", "empty"]);
    let (id, name, token) = {
        let author = server.person("asker");
        (
            asks(&author, &["a", "b"], 5),
            author.username.clone(),
            author.token.clone(),
        )
    };
    server.kill();
    is_told(&server, &id, 0);
    let end = base::PostId::parse(&id).unwrap().created_at().ms();
    server.sql(&format!("UPDATE poll SET ends_at = {end}"));
    for _ in 0..3 {
        server.start_again();
        server.kill();
    }
    server.start_again();
    let read = crate::harness::Ask::get(format!("/2/posts/{id}?{ALL}")).bearer(&token);
    let read = server.send(read).is(200);
    assert_eq!(read["includes"]["polls"][0]["voting_status"], "closed");
    let late = vote(&server, &id, "1", &name);
    assert!(late.ends(1).err.contains("closed"), "{late:?}");
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    server.kill();
    is_told(&server, &id, 1);
}

#[test]
fn the_poll_of_a_card_ends_on_each_post_that_carries_it() {
    let mut server = Server::start(&[]);
    let posts = {
        let author = server.person("asker");
        let create = [
            "ads",
            "account",
            "create",
            "Own",
            "--user",
            &author.username,
        ];
        let account = server.cli(&create).json();
        let account = account["id"].as_str().unwrap();
        let choices = "name=When&first_choice=a&second_choice=b&duration_in_minutes=5";
        let path = format!("/12/accounts/{account}/cards/poll?{choices}");
        let made = author
            .signed(crate::harness::Ask::new("POST", path))
            .is(200);
        let uri = &made["data"]["card_uri"];
        ["Which?", "And which?"].map(|text| {
            let body = json!({ "text": text, "card_uri": uri });
            let made = author.publish(&body).is(201);
            made["data"]["id"].as_str().unwrap().to_owned()
        })
    };
    server.kill();
    for post in &posts {
        is_told(&server, post, 0);
    }
    server.sql("UPDATE poll SET ends_at = 1 WHERE id = post_id");
    for _ in 0..2 {
        server.start_again();
        server.kill();
    }
    server.start_again();
    std::thread::sleep(std::time::Duration::from_secs(5));
    server.kill();
    for post in &posts {
        is_told(&server, post, 1);
    }
}
