//! The same binary, seed, clock and order of requests give the same bytes.

use base::pkce::ChallengeMethod;
use serde_json::{Value, json};

use crate::harness::{OAuth1Credentials, TestRequest, TestResponse, TestServer, percent_encode};
use crate::pages::browser::Browser;

/// Headers that carry the machine's time: the date, and when rate limits begin anew.
fn carries_real_time(header: &str) -> bool {
    header == "date" || header == "x-response-time" || header.ends_with("-reset")
}

const VERIFIER: &str = "a-verifier-of-more-than-forty-three-characters-0123456789";
const AUTHORIZE: &str = "/i/oauth2/authorize";

/// One walk through a fresh world; what each request was answered.
struct Tour<'s> {
    server: &'s TestServer,
    token: String,
    answers: Vec<(String, String)>,
}

impl<'s> Tour<'s> {
    fn new(server: &'s TestServer) -> Self {
        Self { server, token: server.env_value("USER_TOKEN").to_owned(), answers: Vec::new() }
    }

    fn keep(&mut self, what: String, response: &TestResponse) {
        let headers = response.headers.iter();
        let mut headers: Vec<String> = headers
            .filter(|(name, _)| !carries_real_time(name.as_str()))
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect();
        headers.sort();
        let text = format!("{}\n{}\n\n{}", response.status, headers.join("\n"), response.text());
        let port = self.server.url.rsplit(':').next().unwrap();
        let text = [":", "%3A"].iter().fold(text, |text, colon| {
            text.replace(&format!("127.0.0.1{colon}{port}"), &format!("127.0.0.1{colon}PORT"))
        });
        self.answers.push((what, text));
    }

    fn send(&mut self, request: TestRequest) -> Value {
        let what = format!("{} {}", request.method, request.target);
        let response = self.server.send(request);
        self.keep(what, &response);
        serde_json::from_slice(&response.body).unwrap_or_default()
    }

    fn get(&mut self, path: &str) -> Value {
        let token = self.token.clone();
        self.send(TestRequest::get(path).bearer(&token))
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        let token = self.token.clone();
        self.send(TestRequest::post(path).bearer(&token).json(body))
    }

    fn bearer(&mut self, path: &str) -> Value {
        let token = self.server.env_value("BEARER_TOKEN");
        self.send(TestRequest::get(path).bearer(token))
    }

    /// Follows cursors for a few pages.
    fn pages(&mut self, path: &str, count: usize) {
        let mut next = String::new();
        for _ in 0..count {
            let answer = self.get(&format!("{path}{next}"));
            let Some(token) = answer["meta"]["next_token"].as_str() else {
                return;
            };
            next = format!("&pagination_token={token}");
        }
    }

    fn ads(&mut self, method: &'static str, path: &str, params: &[(&str, &str)]) -> Value {
        let query = params.iter().map(|(name, value)| format!("{name}={}", percent_encode(value)));
        let query = query.collect::<Vec<_>>().join("&");
        let account = self.server.env_value("ADS_ACCOUNT_ID");
        let request = TestRequest::new(method, format!("/12/{}?{query}", path.replace("ACCOUNT", account)));
        let env = |name: &str| self.server.env_value(name);
        let credentials = OAuth1Credentials {
            consumer: (env("API_KEY"), env("API_SECRET")),
            token: (env("ACCESS_TOKEN"), env("ACCESS_TOKEN_SECRET")),
            ..OAuth1Credentials::default()
        };
        let header = request.oauth1_header(&credentials, &self.server.url);
        self.send(request.authorization(header))
    }

    fn settle(&mut self) {
        let request = TestRequest::post("/control/v1/clock/advance").json(&json!({ "by": "0s" }));
        self.server.call_control(request).assert_status(200);
    }
}

fn authorize(tour: &mut Tour<'_>) {
    let server = tour.server;
    let env = |name: &str| server.env_value(name);
    let mut browser = Browser::new(server);
    let signed_in = browser.sign_in(env("USERNAME"), env("PASSWORD"), "/");
    assert_eq!(signed_in.status, 303, "{}", signed_in.text());
    tour.keep("sign in".to_owned(), &signed_in);
    let challenge = ChallengeMethod::S256.derive_challenge(VERIFIER);
    let pairs = [
        ("response_type", "code"),
        ("client_id", env("CLIENT_ID")),
        ("redirect_uri", env("CALLBACK_URL")),
        ("scope", "tweet.read users.read offline.access"),
        ("state", "a"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    let query: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
    let page = browser.get(format!("{AUTHORIZE}?{}", query.join("&")));
    tour.keep("consent".to_owned(), &page);
    let granted = browser.submit(&page, AUTHORIZE, &[("decision", "allow")]);
    tour.keep("grant".to_owned(), &granted);
    let location = granted.header("location").to_owned();
    let code = location.split("code=").nth(1).unwrap_or_else(|| panic!("{location}")).split('&').next().unwrap();
    let exchange = |tour: &mut Tour<'_>, form: String| {
        let request = TestRequest::post("/2/oauth2/token").form(form);
        tour.send(request.basic(env("CLIENT_ID"), env("CLIENT_SECRET")))
    };
    let form = format!(
        "grant_type=authorization_code&code={code}&redirect_uri={}&code_verifier={VERIFIER}",
        percent_encode(env("CALLBACK_URL"))
    );
    let mut tokens = exchange(tour, form);
    for _ in 0..5 {
        let refresh = tokens["refresh_token"].as_str().unwrap_or_else(|| panic!("{tokens}")).to_owned();
        tokens = exchange(tour, format!("grant_type=refresh_token&refresh_token={refresh}"));
        let access = tokens["access_token"].as_str().unwrap_or_else(|| panic!("{tokens}")).to_owned();
        tour.send(TestRequest::get("/2/users/me").bearer(&access));
    }
}

fn write_posts(tour: &mut Tour<'_>) -> Vec<String> {
    let mut posts = Vec::new();
    for number in 0..50 {
        let text = format!("Tour stop {number} at the harbour https://example.org/{number} #tour{number}");
        let made = tour.post("/2/tweets", &json!({ "text": text }));
        posts.push(made["data"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned());
    }
    for post in posts.iter().take(15) {
        tour.post(
            "/2/tweets",
            &json!({ "text": format!("Reply to {post}"), "reply": { "in_reply_to_tweet_id": post } }),
        );
    }
    tour.post(
        "/2/tweets",
        &json!({ "text": "Which?", "poll": { "options": ["Tea", "Coffee"], "duration_minutes": 60 } }),
    );
    posts
}

fn read_people(tour: &mut Tour<'_>) {
    let me = tour.server.env_value("USER_ID").to_owned();
    let following = tour.get(&format!("/2/users/{me}/following?max_results=50&user.fields=created_at,public_metrics"));
    let people: Vec<String> = following["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|user| user["id"].as_str().map(str::to_owned))
        .collect();
    for person in people.iter().chain([&me]).take(14) {
        tour.get(&format!("/2/users/{person}?user.fields=created_at,description,public_metrics,verified"));
        tour.pages(
            &format!("/2/users/{person}/tweets?max_results=5&tweet.fields=created_at,public_metrics,entities"),
            4,
        );
        tour.pages(&format!("/2/users/{person}/followers?max_results=3"), 3);
        tour.pages(&format!("/2/users/{person}/mentions?max_results=5"), 2);
    }
}

fn act_on_posts(tour: &mut Tour<'_>, posts: &[String]) {
    let me = tour.server.env_value("USER_ID").to_owned();
    for post in posts.iter().take(20) {
        tour.post(&format!("/2/users/{me}/likes"), &json!({ "tweet_id": post }));
        tour.post(&format!("/2/users/{me}/bookmarks"), &json!({ "tweet_id": post }));
        tour.get(&format!(
            "/2/tweets/{post}?tweet.fields=public_metrics,created_at,context_annotations&expansions=author_id"
        ));
    }
    for post in posts.iter().take(5) {
        tour.post(&format!("/2/users/{me}/retweets"), &json!({ "tweet_id": post }));
    }
    tour.pages(&format!("/2/users/{me}/timelines/reverse_chronological?max_results=10&tweet.fields=public_metrics"), 4);
    tour.pages(&format!("/2/users/{me}/bookmarks?max_results=5"), 3);
    tour.pages(&format!("/2/users/{me}/liked_tweets?max_results=5"), 3);
    let list = tour.post("/2/lists", &json!({ "name": "Tour" }));
    let list = list["data"]["id"].as_str().unwrap_or_default().to_owned();
    tour.post(&format!("/2/lists/{list}/members"), &json!({ "user_id": me }));
    tour.get(&format!("/2/lists/{list}/tweets?max_results=5"));
}

fn search(tour: &mut Tour<'_>) {
    for query in ["harbour", "tour", "from:ada", "boat -is:reply", "harbour has:links"] {
        let query = percent_encode(query);
        let mut next = String::new();
        for _ in 0..3 {
            let found = tour.bearer(&format!("/2/tweets/search/recent?query={query}&max_results=10{next}"));
            let Some(token) = found["meta"]["next_token"].as_str() else {
                break;
            };
            next = format!("&next_token={token}");
        }
        tour.bearer(&format!("/2/tweets/counts/recent?query={query}&granularity=day"));
    }
    let rules = json!({ "add": [{ "value": "harbour has:links", "tag": "a" }, { "value": "tour" }] });
    let token = tour.server.env_value("BEARER_TOKEN");
    tour.send(TestRequest::post("/2/tweets/search/stream/rules").bearer(token).json(&rules));
    tour.bearer("/2/tweets/search/stream/rules");
    tour.bearer("/2/usage/tweets");
    tour.settle();
    tour.bearer("/2/trends/by/woeid/1");
    tour.get("/2/dm_events");
}

fn advertise(tour: &mut Tour<'_>) {
    let instrument = tour.server.env_value("ADS_FUNDING_INSTRUMENT_ID");
    tour.ads("GET", "accounts", &[]);
    for number in 0..4 {
        let name = format!("Tour {number}");
        let budget = ("daily_budget_amount_local_micro", "20000000");
        let params = [("funding_instrument_id", instrument), ("name", name.as_str()), budget];
        let campaign = tour.ads("POST", "accounts/ACCOUNT/campaigns", &params);
        let campaign = campaign["data"]["id"].as_str().unwrap_or_else(|| panic!("{campaign}")).to_owned();
        let params = [
            ("campaign_id", campaign.as_str()),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "150000"),
            ("start_time", "2026-06-01T00:00:00Z"),
        ];
        tour.ads("POST", "accounts/ACCOUNT/line_items", &params);
    }
    let mut cursor = String::new();
    let mut ids = Vec::new();
    for _ in 0..5 {
        let mut params = vec![("count", "2")];
        if !cursor.is_empty() {
            params.push(("cursor", &cursor));
        }
        let page = tour.ads("GET", "accounts/ACCOUNT/line_items", &params);
        ids.extend(
            page["data"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_str().map(str::to_owned)),
        );
        let Some(next) = page["next_cursor"].as_str() else { break };
        next.clone_into(&mut cursor);
    }
    for id in ids.iter().take(6) {
        let params = [
            ("entity", "LINE_ITEM"),
            ("entity_ids", id.as_str()),
            ("start_time", "2026-05-25T07:00:00Z"),
            ("end_time", "2026-06-01T07:00:00Z"),
            ("granularity", "DAY"),
            ("placement", "ALL_ON_TWITTER"),
            ("metric_groups", "ENGAGEMENT,BILLING"),
        ];
        tour.ads("GET", "stats/accounts/ACCOUNT", &params);
        tour.ads("POST", "stats/jobs/accounts/ACCOUNT", &params);
    }
    tour.settle();
    tour.ads("GET", "stats/jobs/accounts/ACCOUNT", &[]);
    tour.ads("GET", "accounts/ACCOUNT/campaigns", &[("with_total_count", "true")]);
}

fn walk(server: &TestServer) -> Vec<(String, String)> {
    let mut tour = Tour::new(server);
    tour.get("/2/users/me");
    // Pages show the number of unread notifications.
    tour.settle();
    authorize(&mut tour);
    let posts = write_posts(&mut tour);
    read_people(&mut tour);
    act_on_posts(&mut tour, &posts);
    search(&mut tour);
    advertise(&mut tour);
    // Two days later, everything continues in the same way.
    let advance = TestRequest::post("/control/v1/clock/advance").json(&json!({ "by": "2d" }));
    server.call_control(advance).assert_status(200);
    server.env_value("BEARER_TOKEN").clone_into(&mut tour.token);
    for post in posts.iter().take(10) {
        tour.get(&format!("/2/tweets/{post}?tweet.fields=public_metrics,created_at"));
    }
    advertise(&mut tour);
    tour.bearer("/2/trends/by/woeid/1");
    tour.answers
}

#[test]
fn same_seed_clock_and_requests_give_the_same_bytes() {
    let walk_once = || {
        let args = ["--world", "ads", "--world-date", "2026-06-01", "--seed", "42", "--clock", "frozen"];
        walk(&TestServer::start(&args))
    };
    let (first, second) = (walk_once(), walk_once());
    let differing: Vec<_> = first.iter().zip(&second).filter(|(one, other)| one != other).collect();
    for (one, other) in differing.iter().take(5) {
        eprintln!("--- {}\n{}\n+++ {}\n{}", one.0, one.1, other.0, other.1);
    }
    let names: Vec<_> = differing.iter().map(|(one, _)| one.0.as_str()).take(20).collect();
    assert!(differing.is_empty(), "{} of {} answers differ: {names:?}", differing.len(), first.len());
    assert!(first.len() >= 300, "{} requests", first.len());
    assert_eq!(first.len(), second.len());
    let refused = first.iter().filter(|(_, text)| !text.starts_with('2') && !text.starts_with('3'));
    let refused: Vec<_> = refused.map(|(what, text)| format!("{what}: {text}")).collect();
    assert!(refused.is_empty(), "{} refused: {}", refused.len(), refused.iter().take(3).cloned().collect::<String>());
}

#[test]
fn request_chooses_the_id_of_what_it_creates() {
    let args = ["--world-date", "2026-06-01", "--clock", "frozen"];
    let server = TestServer::start(&args);
    let post = |text: &str, id: &str| {
        let request = TestRequest::post("/2/tweets").bearer(server.env_value("USER_TOKEN")).header("x-locum-id", id);
        server.send(request.json(&json!({ "text": text })))
    };
    let refused = post("Too low", "20").assert_status(400).to_string();
    let first = refused.split("give one from ").nth(1).unwrap().split(' ').next().unwrap();
    let chosen = (first.parse::<i64>().unwrap() + 90).to_string();
    assert_eq!(post("Chosen", &chosen).assert_status(201)["data"]["id"], chosen.as_str());
    assert!(post("Again", &chosen).assert_status(400).to_string().contains("ids rise"));
    assert!(post("No id", "abc").assert_status(400).to_string().contains("decimal number"));
    assert!(post("Too far", "9223372036854775807").assert_status(400).to_string().contains("world's clock"));
    let body = json!({ "text": "Next" });
    let next = server.send(TestRequest::post("/2/tweets").bearer(server.env_value("USER_TOKEN")).json(&body));
    let next: i64 = next.assert_status(201)["data"]["id"].as_str().unwrap().parse().unwrap();
    assert!(next > chosen.parse().unwrap());
}

#[test]
fn production_server_gives_no_chosen_ids() {
    let network = TestServer::start_network(&[]);
    let response = network.send(TestRequest::get("/2/users/me").header("x-locum-id", "20"));
    assert_eq!(response.status, 401, "the header is not looked at");
}
