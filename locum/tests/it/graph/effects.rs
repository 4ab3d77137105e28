//! The effect of each relation on each endpoint.

use super::*;

/// Two people, and a third who quotes the author.
struct Scene {
    viewer: TestUser<'static>,
    author: TestUser<'static>,
    post: String,
    quote: String,
    /// By the third, whom the viewer follows.
    repost: String,
}

impl Scene {
    /// The viewer follows the author.
    fn new() -> Self {
        let (viewer, author, third) = (person("viewer"), person("author"), person("third"));
        follow(&viewer, &author);
        let post = author.publish_text(&format!("Hello @{}", viewer.username));
        let quote = third.create_post(&json!({ "text": "Look", "quote_tweet_id": post }));
        let quote = quote.assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
        follow(&viewer, &third);
        let reposts = format!("/2/users/{}/reposts", third.id);
        third.post(&reposts, &json!({ "tweet_id": post })).assert_status(200);
        let repost = ids(&third, &format!("/2/users/{}/posts", third.id));
        let repost = repost[0].clone();
        assert_ne!(repost, quote);
        Self { viewer, author, post, quote, repost }
    }

    fn lists(&self, path: &str) -> bool {
        ids(&self.viewer, path).contains(&self.post)
    }

    fn home(&self) -> Vec<String> {
        let home = "timelines/reverse_chronological";
        ids(&self.viewer, &format!("/2/users/{}/{home}", self.viewer.id))
    }

    /// Whether the viewer sees or may do something.
    fn holds(&self, surface: &str) -> bool {
        let (viewer, author, post) = (&self.viewer, &self.author, &self.post);
        match surface {
            "lookup" => viewer.get(format!("/2/posts/{post}")).assert_status(200).get("data").is_some(),
            "lookup of several" => self.lists(&format!("/2/posts?ids={post},{}", self.quote)),
            "posts" => self.lists(&format!("/2/users/{}/posts", author.id)),
            "posts by name" => self.lists(&format!("/2/users/by/username/{}/posts", author.username)),
            "profile" => {
                let path = format!("/2/users/{}", author.id);
                viewer.get(path).assert_status(200).get("data").is_some()
            }
            "quoted" => {
                let path = format!("/2/posts/{}?expansions=referenced_posts", self.quote);
                let body = viewer.get(path).assert_status(200);
                assert_eq!(body["data"]["id"], self.quote, "the quote itself stays");
                let shown = body["includes"]["posts"].is_array();
                assert_ne!(shown, body["errors"].is_array(), "{body}");
                shown
            }
            "home" => self.home().contains(post),
            "reposted to home" => self.home().contains(&self.repost),
            "mentions" => self.lists(&format!("/2/users/{}/mentions", viewer.id)),
            "followers" => {
                let path = format!("/2/users/{}/followers", author.id);
                viewer.get(path).assert_status(200).get("errors").is_none()
            }
            "reply" => {
                let reply = json!({ "in_reply_to_tweet_id": post });
                let body = json!({ "text": "A reply", "reply": reply });
                viewer.create_post(&body).status == 201
            }
            "quote" => {
                let body = json!({ "text": "A quote", "quote_tweet_id": post });
                viewer.create_post(&body).status == 201
            }
            "like" | "repost" => {
                let noun = if surface == "like" { "likes" } else { "reposts" };
                let path = format!("/2/users/{}/{noun}", viewer.id);
                viewer.post(path, &json!({ "tweet_id": post })).status == 200
            }
            "follow" => {
                let path = format!("/2/users/{}/following", viewer.id);
                let requested = viewer.post(path, &json!({ "target_user_id": author.id }));
                requested.status == 200 && requested.json()["data"]["following"] == true
            }
            other => panic!("{other}"),
        }
    }
}

const SURFACES: &[&str] = &[
    "lookup",
    "lookup of several",
    "posts",
    "posts by name",
    "quoted",
    "profile",
    "home",
    "reposted to home",
    "mentions",
    "followers",
    "reply",
    "quote",
    "like",
    "repost",
    "follow",
];

/// Sets up a relation, and names the surfaces on which the viewer then stands before a closed
/// door; all others are open.
type Relation = (&'static str, fn(&Scene), &'static [&'static str]);

const RELATIONS: &[Relation] = &[
    ("follows", |_| {}, &[]),
    ("does not follow", |scene| untie(&scene.viewer, "following", &scene.author), &["home"]),
    (
        "blocks the author",
        |scene| tie(&scene.viewer, "blocking", &scene.author),
        &["home", "reposted to home", "mentions", "follow"],
    ),
    (
        "is blocked by the author",
        |scene| tie(&scene.author, "blocking", &scene.viewer),
        &[
            "lookup",
            "lookup of several",
            "posts",
            "posts by name",
            "quoted",
            "home",
            "reposted to home",
            "mentions",
            "followers",
            "reply",
            "quote",
            "like",
            "repost",
            "follow",
        ],
    ),
    (
        "mutes the author",
        |scene| tie(&scene.viewer, "muting", &scene.author),
        &["home", "reposted to home", "mentions"],
    ),
    ("is muted by the author", |scene| tie(&scene.author, "muting", &scene.viewer), &[]),
    (
        "follows whom is protected now",
        |scene| {
            shared_server().run_cli(&["user", "protect", &scene.author.id]).assert_success();
        },
        &["repost"],
    ),
    (
        "does not follow and the author is protected",
        |scene| {
            untie(&scene.viewer, "following", &scene.author);
            shared_server().run_cli(&["user", "protect", &scene.author.id]).assert_success();
        },
        &[
            "lookup",
            "lookup of several",
            "posts",
            "posts by name",
            "quoted",
            "home",
            "reposted to home",
            "mentions",
            "followers",
            "reply",
            "quote",
            "like",
            "repost",
            "follow",
        ],
    ),
    (
        "follows whom is suspended",
        |scene| {
            shared_server().run_cli(&["user", "suspend", &scene.author.id]).assert_success();
        },
        SURFACES,
    ),
    (
        "followed whom is restored",
        |scene| {
            shared_server().run_cli(&["user", "delete", &scene.author.id]).assert_success();
            shared_server().run_cli(&["user", "restore", &scene.author.id]).assert_success();
        },
        &[],
    ),
];

#[test]
fn each_relation_has_its_effect_on_each_endpoint() {
    let mut wrong = Vec::new();
    for (relation, set_up, closed) in RELATIONS {
        let scene = Scene::new();
        set_up(&scene);
        for surface in SURFACES {
            let open = scene.holds(surface);
            if open == closed.contains(surface) {
                wrong.push(format!("who {relation}: {surface} is {open}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn relation_with_a_blocked_or_protected_user_is_refused_with_the_contracts_message() {
    let scene = Scene::new();
    let (viewer, author) = (&scene.viewer, &scene.author);
    tie(author, "blocking", viewer);
    let reply = json!({ "in_reply_to_tweet_id": scene.post });
    let reply = json!({ "text": "Still here", "reply": reply });
    viewer.create_post(&reply).assert_legacy_code(403, 136);
    untie(author, "blocking", viewer);
    shared_server().run_cli(&["user", "protect", &author.id]).assert_success();
    viewer.create_post(&reply).assert_legacy_code(403, 385);
    let mut refused = vec![];
    for path in [
        format!("/2/posts/{}", scene.post),
        format!("/2/users/{}/posts", author.id),
        format!("/2/users/{}/mentions", author.id),
        format!("/2/users/{}/followers", author.id),
        format!("/2/users/{}/following", author.id),
    ] {
        let body = viewer.get(&path).assert_status(200);
        refused.push((path, body["errors"][0].clone()));
    }
    for (path, error) in &refused {
        assert_eq!(error["title"], "Authorization Error", "{path}: {error}");
    }
    let detail = format!("Sorry, you are not authorized to see the Tweet with id: [{}].", scene.post);
    assert_eq!(refused[0].1["detail"], detail);
    // The author's own eyes, and an approved follower's.
    let friend = person("friend");
    follow(&friend, author);
    shared_server().run_cli(&["follow", "approve", &author.id, &friend.id]).assert_success();
    for who in [author, &friend] {
        let path = format!("/2/users/{}/followers", author.id);
        assert_eq!(ids(who, &path), [friend.id.as_str()]);
        assert_eq!(who.fetch_post(&scene.post, "id")["id"], scene.post.as_str());
    }
}
