//! Both engines give the same answers to the same program.
//!
//! `LOCUM_PROGRAM_STEPS` sets its length (600), `LOCUM_PROGRAM_SEED` which program it is.

use serde_json::{Value, json};

use crate::harness::{DatabaseEngine, TestRequest, TestResponse, TestRng, TestServer, suite_engine, suite_setting};

/// What one of the servers calls the posts of the program, in the order in which they were made.
struct Side {
    server: TestServer,
    posts: Vec<String>,
}

/// One request, with posts by their number.
#[derive(Clone, Debug)]
struct Step {
    method: &'static str,
    target: String,
    body: Option<Value>,
    author: usize,
}

const TOKENS: [&str; 2] = ["USER_TOKEN", "USER_TOKEN_2"];
const FIELDS: &[&str] = &[
    "",
    "post.fields=conversation_id,entities,public_metrics,referenced_posts,reply_settings,lang",
    "tweet.fields=author_id,edit_controls,in_reply_to_user_id,note_tweet,non_public_metrics",
    "expansions=author_id,referenced_posts&user.fields=public_metrics,most_recent_post_id",
    "expansions=referenced_tweets.id,referenced_tweets.id.author_id,entities.mentions.username",
];
const TEXTS: &[&str] = &[
    "The same again",
    "Hello @bob and @nobody_here, see https://example.com/a?b=c #tag $CASH",
    "日本語の投稿 #雪 👩‍🚀",
    "Zoë & <b>",
    "x",
    "Guten Morgen, die Sonne scheint",
];

fn is_code_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
}

impl Side {
    fn start(engine: DatabaseEngine) -> Self {
        Self { server: TestServer::start_on_engine(engine, &["--seed", "11"]), posts: Vec::new() }
    }

    /// Takes note of the posts that its world came with: some are of the moment of its making.
    fn look_around(&mut self, users: &[String]) {
        let own = users.iter().take(TOKENS.len());
        let homes = own.map(|id| format!("/2/users/{id}/timelines/reverse_chronological"));
        let all = users.iter().map(|id| format!("/2/users/{id}/posts"));
        for (number, path) in homes.chain(all).enumerate() {
            let token = self.server.env_value(TOKENS[number % TOKENS.len()]);
            let request = TestRequest::get(format!("{path}?max_results=100")).bearer(token);
            let found = self.server.send(request).json();
            for post in found["data"].as_array().into_iter().flatten() {
                let id = post["id"].as_str().unwrap().to_owned();
                if !self.posts.contains(&id) {
                    self.posts.push(id);
                }
            }
        }
    }

    /// The text with this side's ids for the numbers of posts.
    fn own(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (number, id) in self.posts.iter().enumerate().rev() {
            text = text.replace(&format!("<post {number}>"), id);
        }
        text
    }

    /// The text with numbers for this side's ids.
    fn common(&self, text: &str) -> String {
        let host = self.server.url.trim_start_matches("http://");
        let text = text.replace(&self.server.url, "<site>");
        // Links are shown without their scheme.
        let mut text = text.replace(host, "<host>");
        for (number, id) in self.posts.iter().enumerate() {
            text = text.replace(id, &format!("<post {number}>"));
        }
        // Each side has its own key.
        let mut parts = text.split("<site>/t/");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + "<site>/t/" + part.trim_start_matches(is_code_char))
    }

    fn take(&mut self, step: &Step) -> (u16, Value) {
        let mut request = TestRequest::new(step.method, self.own(&step.target));
        if let Some(body) = &step.body {
            request = request.body("application/json", self.own(&body.to_string()));
        }
        let response = self.server.send(request.bearer(self.server.env_value(TOKENS[step.author])));
        if response.status == 201 {
            self.posts.push(response.json()["data"]["id"].as_str().unwrap().to_owned());
        }
        (response.status, self.told(&response))
    }

    fn told(&self, response: &TestResponse) -> Value {
        let mut value: Value = serde_json::from_str(&self.common(&response.text())).unwrap();
        forget(&mut value);
        value
    }
}

/// What differs without being another answer: times, and tokens of pages.
fn forget(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "next_token" | "previous_token" => *member = json!("a token"),
                    "created_at" | "editable_until" => *member = json!("a time"),
                    // Views are stored later.
                    "impression_count" => *member = json!("a count"),
                    // Of somebody whose posts the program does not see.
                    "most_recent_post_id" | "most_recent_tweet_id"
                        if !member.as_str().unwrap_or_default().starts_with('<') =>
                    {
                        *member = json!("a post");
                    }
                    _ => forget(member),
                }
            }
        }
        _ => {}
    }
}

/// The next step of a program in which `posts` posts were made.
fn step(rng: &mut TestRng, posts: usize, users: &[String]) -> Step {
    let author = rng.below(2);
    let post = match posts {
        0 => "1".to_owned(),
        _ => format!("<post {}>", rng.below(posts)),
    };
    let user = rng.pick(users).clone();
    let fields = rng.pick(FIELDS);
    let limit = 5 + rng.below(20);
    let (method, target, body) = match rng.below(12) {
        0..=3 => ("POST", "/2/posts".to_owned(), Some(new_post(rng, &post))),
        4 => ("DELETE", format!("/2/posts/{post}"), None),
        5 => ("GET", format!("/2/posts/{post}?{fields}"), None),
        6 => ("GET", format!("/2/tweets?ids={post},1,{user}&{fields}"), None),
        7 => ("GET", format!("/2/users/{user}/posts?max_results={limit}&{fields}"), None),
        8 => ("GET", format!("/2/users/{user}/mentions?max_results={limit}&since_id={post}&{fields}"), None),
        9 => {
            let own = &users[author];
            let path = format!("/2/users/{own}/timelines/reverse_chronological?max_results={limit}");
            ("GET", format!("{path}&exclude=replies&{fields}"), None)
        }
        10 => ("GET", format!("/2/users?ids={user},1&user.fields=public_metrics,entities"), None),
        _ => ("GET", format!("/2/users/{user}/followers?max_results={limit}"), None),
    };
    Step { method, target: target.trim_end_matches(['&', '?']).to_owned(), body, author }
}

fn new_post(rng: &mut TestRng, post: &str) -> Value {
    let mut body = json!({ "text": format!("{} {}", rng.pick(TEXTS), rng.below(40)) });
    match rng.below(7) {
        0 | 1 => body["reply"] = json!({ "in_reply_to_post_id": post }),
        2 => body["quote_post_id"] = json!(post),
        3 => {
            body["reply_settings"] = json!(rng.pick(&["following", "mentionedUsers", "verified"]));
        }
        4 => body["edit_options"] = json!({ "previous_post_id": post }),
        _ => {}
    }
    body
}

#[test]
fn both_engines_answer_random_requests_alike() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let steps = suite_setting("LOCUM_PROGRAM_STEPS", 600);
    let seed = suite_setting("LOCUM_PROGRAM_SEED", u64::try_from(base::clock::wall_time().ms()).unwrap());
    let (mut one, mut other) = (Side::start(DatabaseEngine::Sqlite), Side::start(DatabaseEngine::Postgres));
    let users = one.server.send(
        TestRequest::get("/2/users/by?usernames=ada,bob,carol,grace,nobody").bearer(one.server.env_value("USER_TOKEN")),
    );
    let users: Vec<String> = users.assert_status(200)["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["id"].as_str().unwrap().to_owned())
        .collect();
    one.look_around(&users);
    other.look_around(&users);
    let mut rng = TestRng(seed);
    for number in 0..steps {
        let step = step(&mut rng, one.posts.len(), &users);
        let (mine, theirs) = (one.take(&step), other.take(&step));
        assert_eq!(mine, theirs, "step {number} of seed {seed}: {step:?}");
        assert!(mine.0 < 500, "step {number} of seed {seed}: {step:?}: {mine:?}");
    }
    assert!(one.posts.len() > 20, "{} posts", one.posts.len());
    for side in [&one, &other] {
        assert_eq!(side.server.run_cli(&["fsck"]).json()["sound"], true);
    }
    println!("figure: {}", json!({ "requests": steps, "differences": 0 }));
}
