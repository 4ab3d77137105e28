//! Queries made by hand over posts made by hand, on a server that is restarted, killed and made to
//! index anew.

use serde_json::json;

use super::{found, total};
use crate::harness::{TestRequest, TestServer, TestUser};

/// Queries and the posts that they find, by their numbers. `{a}`, `{b}` and `{c}` are usernames,
/// `{A}` is the first one's id, `{0}` the id of the first post.
const QUERIES: &[(&str, &[usize])] = &[
    ("coffee", &[0, 1, 2, 4, 9, 12]),
    ("COFFEE", &[0, 1, 2, 4, 9, 12]),
    ("café", &[0, 5]),
    ("cafe", &[0, 5]),
    ("manha", &[5]),
    ("coffee tea", &[2, 9]),
    ("coffee OR tea", &[0, 1, 2, 4, 9, 12]),
    ("coffee -tea", &[0, 1, 4, 12]),
    ("coffee -(tea OR iced)", &[0, 1, 12]),
    ("coffee -(tea great)", &[0, 1, 2, 4, 12]),
    ("pepsi OR iced coffee", &[4, 7]),
    ("(pepsi OR iced) coffee", &[4]),
    ("\"iced coffee\"", &[4]),
    ("\"coffee iced\"", &[]),
    ("\"great coffee\"", &[9]),
    ("\"coffee is great\" -\"the coffee\"", &[9]),
    ("\"coca cola\"", &[7]),
    ("coca-cola", &[7]),
    ("cola", &[7]),
    ("it's", &[12]),
    ("#coffee", &[1]),
    ("#COFFEE #morning", &[1]),
    ("#morn", &[]),
    ("morning", &[1]),
    ("$acme", &[4]),
    ("@{a}", &[2]),
    ("@{b} coffee", &[]),
    ("@{b}", &[11]),
    ("from:{a}", &[0, 4, 5, 11]),
    ("from:{A}", &[0, 4, 5, 11]),
    ("from:{a} coffee", &[0, 4]),
    ("-from:{a} coffee", &[1, 2, 9, 12]),
    ("from:{a} OR from:{c}", &[0, 4, 5, 6, 7, 8, 10, 11]),
    ("to:{a}", &[2]),
    ("to:{b} from:{a}", &[11]),
    ("from:nobody_at_all", &[]),
    ("conversation_id:{0}", &[0, 2, 11]),
    ("conversation_id:{0} -from:{a}", &[2]),
    ("conversation_id:{2}", &[]),
    ("in_reply_to_tweet_id:{0}", &[2]),
    ("quotes_of_tweet_id:{3}", &[8]),
    ("retweets_of:{a}", &[]),
    ("retweets_of_tweet_id:{0}", &[]),
    ("coffee is:retweet", &[]),
    ("coffee -is:retweet", &[0, 1, 2, 4, 9, 12]),
    ("coffee is:reply", &[2]),
    ("from:{b} -is:reply", &[1, 3, 9, 12]),
    ("from:{c} is:quote", &[8]),
    ("coffee is:verified", &[0, 4]),
    ("coffee -is:verified", &[1, 2, 9, 12]),
    ("coffee -is:nullcast", &[0, 1, 2, 4, 9, 12]),
    ("from:{b} has:links", &[3]),
    ("url:\"solar power\"", &[3]),
    ("url:news.example.com", &[3]),
    ("url:\"https://news.example.com\"", &[3]),
    ("solar", &[]),
    ("coffee has:hashtags", &[1]),
    ("from:{a} has:cashtags", &[4]),
    ("from:{a} has:mentions", &[11]),
    ("coffee (has:hashtags OR has:mentions)", &[1, 2]),
    ("from:{a} lang:pt", &[5]),
    ("from:{a} -lang:pt coffee", &[0, 4]),
    ("東京", &[6]),
    ("タワー", &[6]),
    ("京都", &[]),
    ("from:{c} lang:ja", &[6]),
    ("ภาษา", &[10]),
    ("😀", &[7]),
    ("👍🏽", &[7]),
    ("👍🏿", &[]),
    ("min_likes:2", &[9]),
    ("great min_likes:1", &[9]),
    ("great min_likes:3", &[]),
    ("coffee min_replies:1", &[0, 2]),
    ("min_reposts:1 from:{a}", &[0]),
    ("coffee -min_likes:1", &[0, 1, 2, 4, 12]),
    ("list:{L}", &[6, 7, 8, 10]),
    ("list:{L} -time", &[6, 7, 10]),
    ("coffee -list:{L}", &[0, 1, 2, 4, 9, 12]),
    ("list:1", &[]),
];

struct World {
    names: Vec<(String, String)>,
    posts: Vec<String>,
}

impl World {
    fn write(&self, query: &str) -> String {
        let mut query = query.to_owned();
        for (name, value) in &self.names {
            query = query.replace(&format!("{{{name}}}"), value);
        }
        for (number, id) in self.posts.iter().enumerate() {
            query = query.replace(&format!("{{{number}}}"), id);
        }
        query
    }

    #[track_caller]
    fn check(&self, reader: &TestUser<'_>, when: &str) {
        let mut wrong = Vec::new();
        for (query, expected) in QUERIES {
            let query = self.write(query);
            let mut expected: Vec<&String> = expected.iter().map(|number| &self.posts[*number]).collect();
            expected.reverse();
            let response = found(reader, &query);
            if response.iter().collect::<Vec<_>>() != expected {
                wrong.push(format!("{query}: {response:?}, not {expected:?}"));
            }
            let counted = total(reader.server, &query);
            if usize::try_from(counted).unwrap() != expected.len() {
                wrong.push(format!("{query}: counted {counted}, not {}", expected.len()));
            }
        }
        assert!(wrong.is_empty(), "{when}: {}", wrong.join("\n"));
    }
}

fn publish(author: &TestUser<'_>, body: serde_json::Value) -> String {
    let created = author.create_post(&body).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

fn write(a: &TestUser<'_>, b: &TestUser<'_>, c: &TestUser<'_>) -> Vec<String> {
    let response = |author: &TestUser<'_>, to: &str, text: String| {
        publish(author, json!({ "text": text, "reply": { "in_reply_to_tweet_id": to } }))
    };
    let mut posts = vec![a.publish_text("The coffee at the Café is great")];
    posts.push(b.publish_text("Good #Coffee, good #morning"));
    posts.push(response(b, &posts[0], format!("@{} I prefer tea to coffee", a.username)));
    posts.push(b.publish_text("Read this: https://news.example.com/2026/solar-power?utm=1 now"));
    posts.push(a.publish_text("Buy $ACME, sell iced coffee"));
    posts.push(a.publish_text("O cafe da manhã é muito bom para todos nós que gostamos"));
    posts.push(c.publish_text("東京タワーへ行く"));
    posts.push(c.publish_text("Coca-Cola 👍🏽 or Pepsi 😀?"));
    posts.push(publish(c, json!({ "text": "Worth your time", "quote_tweet_id": posts[3] })));
    posts.push(b.publish_text("tea is great. Coffee is great! so great coffee"));
    posts.push(c.publish_text("ภาษาไทย"));
    posts.push(response(a, &posts[2], format!("@{} thanks", b.username)));
    posts.push(b.publish_text("great and small, coffee or not; it's the best"));
    for reader in [a, c] {
        let like = json!({ "tweet_id": posts[9] });
        reader.post(format!("/2/users/{}/likes", reader.id), &like).assert_status(200);
    }
    let repost = json!({ "tweet_id": posts[0] });
    c.post(format!("/2/users/{}/retweets", c.id), &repost).assert_status(200);
    posts
}

#[test]
fn queries_find_matching_posts_also_after_restart_and_reindexing() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let world = {
        let a = server.new_user_with("ann", &["--verified-type", "blue"]);
        let [b, c] = ["ben", "cyd"].map(|name| server.new_user(name));
        let posts = write(&a, &b, &c);
        let list = a.post("/2/lists", &json!({ "name": "of one" })).assert_status(201);
        let list = list["data"]["id"].as_str().unwrap().to_owned();
        a.post(format!("/2/lists/{list}/members"), &json!({ "user_id": c.id })).assert_status(200);
        let names = [("a", &a.username), ("b", &b.username), ("c", &c.username), ("A", &a.id), ("L", &list)];
        let names = names.map(|(name, value)| (name.to_owned(), value.clone()));
        World { names: names.into(), posts }
    };
    world.check(&server.new_user("reader"), "at once");
    server.crash_and_restart();
    world.check(&server.new_user("reader"), "after it was killed");
    let response = server.run_cli(&["reindex"]).json();
    assert_eq!(response["posts"], 13);
    world.check(&server.new_user("reader"), "indexed anew by the server");
    server.stop();
    let response = server.run_cli(&["reindex"]).json();
    assert_eq!(response["posts"], 13);
    server.restart();
    world.check(&server.new_user("reader"), "indexed anew without a server");
    server.stop();
    std::fs::remove_dir_all(server.data_dir().join("search")).unwrap();
    server.restart();
    let path = "/2/tweets/search/recent?query=coffee";
    let answer = server.send(TestRequest::get(path).bearer(&server.default_app().bearer));
    assert!(answer.status == 200 || answer.status == 503, "{answer:?}");
    world.check(&server.new_user("reader"), "after the index was lost");
}
