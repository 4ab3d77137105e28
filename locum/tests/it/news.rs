//! News: stories made from posts, stories that operators write, and how they are found.

use serde_json::{Value, json};

use crate::harness::{
    TestRequest, TestServer, TestUser, ids, keep_for_test, percent_encode, person, shared_server, unique_number,
};

/// A word that no other test has.
fn word(start: &str) -> String {
    format!("{start}{}", unique_number())
}

fn refresh(server: &TestServer) {
    server.run_cli(&["news", "refresh"]).assert_success();
}

const FIELDS: &str = "news.fields=category,cluster_posts_results,contexts,disclaimer,hook,id,\
                      keywords,name,summary,updated_at";

#[track_caller]
fn search(reader: &TestUser<'_>, query: &str, more: &str) -> Value {
    let query = percent_encode(query);
    reader.get(format!("/2/news/search?query={query}&{FIELDS}{more}")).assert_status(200)
}

/// A story about a river, of which three authors write and a protected one.
struct RiverStory {
    server: &'static TestServer,
    tag: String,
    authors: [TestUser<'static>; 3],
    reader: TestUser<'static>,
    /// One of each author, and that of the protected one.
    posts: [String; 4],
    story: Value,
}

impl RiverStory {
    fn new() -> Self {
        // Other tests write of rivers too.
        let server: &'static TestServer = keep_for_test(TestServer::start(&["--world", "empty"]));
        let tag = word("Flood");
        let [one, two, three, reader] = ["one", "two", "three", "reader"].map(|name| server.new_user(name));
        let hidden = server.new_user_with("hidden", &["--protected"]);
        let second_author = two.username.as_str();
        let central =
            one.publish_text(&format!("The river has left its bed near the old bridge. #{tag} @{second_author}"));
        refresh(server);
        assert_eq!(ids(&search(&reader, &tag, "")), [""; 0], "one is not many");
        let second = two.publish_text(&format!(
            "The old bridge is closed, the river is too high #{tag} $RAIN https://example.com/river"
        ));
        two.publish_text(&format!("Nothing to add #{tag}"));
        let third = three.publish_text(&format!("Our street by the river is under water #{tag}"));
        let secret = hidden.publish_text(&format!("Secret words about the river #{tag}"));
        refresh(server);
        let page = search(&reader, &tag.to_lowercase(), "");
        assert_eq!(page["meta"], json!({ "result_count": 1 }));
        let story = page["data"][0].clone();
        Self { server, tag, authors: [one, two, three], reader, posts: [central, second, third, secret], story }
    }
}

#[test]
fn story_summarizes_the_public_posts_of_several_authors() {
    let RiverStory { tag, authors: [_, two, _], posts: [central, second, third, secret], story, .. } =
        RiverStory::new();
    let posts: Vec<&str> = story["cluster_posts_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|post| post["post_id"].as_str().unwrap())
        .collect();
    assert_eq!(posts.len(), 3, "one an author: {story}");
    for post in [&central, &second, &third] {
        assert!(posts.contains(&post.as_str()), "{story}");
    }
    assert!(!posts.contains(&secret.as_str()));
    assert_eq!(story["category"], "News");
    assert_eq!(story["contexts"]["topics"], json!([tag.to_lowercase()]));
    assert_eq!(story["contexts"]["finance"]["tickers"], json!(["RAIN"]));
    assert_eq!(story["contexts"]["entities"]["people"], json!([two.username]));
    assert!(story["contexts"].get("sports").is_none());
    let keywords = story["keywords"].as_array().unwrap();
    assert!(keywords.contains(&json!("river")) && keywords.contains(&json!("bridge")));
    let message = format!(
        "{} {} {}",
        story["name"].as_str().unwrap(),
        story["hook"].as_str().unwrap(),
        story["summary"].as_str().unwrap()
    );
    assert!(message.contains("The river has left its bed near the old bridge."));
    assert!(message.contains("under water"));
    assert!(!message.contains("Secret") && !message.contains("https"), "{message}");
    assert!(story["disclaimer"].as_str().unwrap().contains("posts"));
}

#[test]
fn story_is_read_by_id_in_the_older_vocabulary() {
    let RiverStory { reader, story, .. } = RiverStory::new();
    let id = story["id"].as_str().unwrap();
    let older = reader
        .get(format!("/2/news/{id}?news.fields=name,summary,contexts,cluster_posts_results,last_updated_at_ms"))
        .assert_status(200);
    assert_eq!(older["data"]["rest_id"], id);
    assert_eq!(older["data"]["last_updated_at_ms"], story["updated_at"]);
    let signed = reader.send_signed(TestRequest::get(format!("/2/news/{id}")));
    assert_eq!(signed.assert_status(200)["data"].as_object().unwrap().len(), 2);
}

#[test]
fn story_takes_in_later_posts_and_ends_with_its_posts() {
    let RiverStory { server, tag, authors: [_, _, three], reader, posts: [_, _, third, _], story } = RiverStory::new();
    let id = story["id"].as_str().unwrap();
    refresh(server);
    assert_eq!(search(&reader, &tag, "")["data"][0], story);
    let four = server.new_user("four");
    let fourth = four.publish_text(&format!("Also the bridge in the north #{tag}"));
    refresh(server);
    let page = search(&reader, &tag, "");
    assert_eq!(ids(&page), [id], "still one story");
    let cluster = page["data"][0]["cluster_posts_results"].clone();
    assert!(cluster.as_array().unwrap().contains(&json!({ "post_id": fourth })));
    // What nobody may see any more is gone at once, and with too few posts the story is.
    three.delete(format!("/2/posts/{third}")).assert_status(200);
    let message = search(&reader, &tag, "")["data"][0].to_string();
    assert!(!message.contains("under water") && !message.contains(&third), "{message}");
    server.run_cli(&["user", "suspend", &four.id]).assert_success();
    assert_eq!(ids(&search(&reader, &tag, "")), [""; 0]);
    let deleted = reader.get(format!("/2/news/{id}")).assert_status(200);
    assert_eq!(deleted["errors"][0]["detail"], format!("Could not find news with id: [{id}]."));
}

#[test]
fn operator_creates_publishes_and_deletes_a_story() {
    let (author, reader) = (person("author"), person("reader"));
    let word = word("Comet");
    let post = author.publish_text(&format!("Look up tonight #Sky{word}"));
    let create = [
        "news",
        "create",
        &word,
        "--category",
        "Science",
        "--hook",
        "Look up",
        "--summary",
        "A comet passes by tonight",
        "--disclaimer",
        "Weather permitting",
        "--post",
        &post,
    ];
    let draft = shared_server().run_cli(&[&create[..], &["--draft"]].concat()).json();
    let id = draft["id"].as_str().unwrap();
    assert_eq!(draft["state"], "draft");
    assert!(reader.get(format!("/2/news/{id}")).assert_status(200).get("data").is_none());
    assert_eq!(ids(&search(&reader, &word, "")), [""; 0]);
    let published = shared_server().run_cli(&["news", "publish", id]).json();
    assert_eq!(published["state"], "published");
    shared_server().run_cli(&["news", "publish", id]).assert_exit_code(1);
    let page = search(&reader, &format!("comet {word} SCIENCE"), "");
    assert_eq!(ids(&page), [id]);
    let story = &page["data"][0];
    assert_eq!(story["name"], word);
    assert_eq!(story["summary"], "A comet passes by tonight");
    assert_eq!(story["disclaimer"], "Weather permitting");
    assert_eq!(story["cluster_posts_results"], json!([{ "post_id": post }]));
    let hashtag = format!("sky{}", word.to_lowercase());
    assert_eq!(story["contexts"]["topics"], json!([hashtag]));
    // Later ones first, and so many of them.
    let later = shared_server().run_cli(&["news", "create", &format!("{word} again")]).json();
    let later = later["id"].as_str().unwrap();
    assert_eq!(ids(&search(&reader, &word, "")), [later, id]);
    assert_eq!(ids(&search(&reader, &word, "&max_results=1")), [later]);
    shared_server().run_cli(&["news", "delete", id]).assert_success();
    assert_eq!(ids(&search(&reader, &word, "")), [later]);
    assert!(reader.get(format!("/2/news/{id}")).assert_status(200).get("data").is_none());
    shared_server().run_cli(&["news", "delete", id]).assert_exit_code(1);
    let secret = shared_server().new_user_with("secret", &["--protected"]).publish_text("Not for you");
    for wrong in [
        &["news", "create", " "][..],
        &["news", "create", "Name", "--post", "17"],
        &["news", "create", "Name", "--post", &secret],
        &["news", "create", &"n".repeat(101)],
        &["news", "publish", "17"],
        &["news", "delete", "nothing"],
    ] {
        shared_server().run_cli(wrong).assert_refused();
    }
}

#[test]
fn invalid_news_request_is_refused() {
    let reader = person("reader");
    for path in [
        "/2/news/search",
        "/2/news/search?query=",
        "/2/news/search?query=x&max_results=0",
        "/2/news/search?query=x&max_results=101",
        "/2/news/search?query=x&max_age_hours=721",
        "/2/news/search?query=x&max_age_hours=0",
        "/2/news/search?query=x&news.fields=color",
        "/2/news/x",
        "/2/news/1?news.fields=color",
    ] {
        reader.get(path).assert_problem(400, "invalid-request");
    }
    let long = format!("/2/news/search?query={}", "x".repeat(2_049));
    reader.get(long).assert_problem(400, "invalid-request");
    let nothing = reader.get("/2/news/search?query=%2B").assert_status(200);
    assert_eq!(nothing, json!({ "meta": { "result_count": 0 } }));
}
