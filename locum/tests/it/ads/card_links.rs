//! Links of cards: what posts show, where they lead, and what of clicks is counted.

use base::Time;
use base::clock::wall_time;
use serde_json::{Value, json};

use super::{Advertiser, send};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, keep_for_test, unique_number};
use crate::media::samples::png;
use crate::pages::browser::Browser;

pub(super) const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101";
const SITE: &str = "https://bikes.example/spring?ride=1&more=2";

/// An advertiser on a server where nobody else promotes anything, with a card.
struct Carded {
    ads: Advertiser,
    item: String,
    card: Value,
    bearer: String,
}

fn card_body(image: &str, url: &str) -> Value {
    let destination = json!({ "type": "WEBSITE", "url": url });
    let details = json!({ "type": "DETAILS", "title": "Ride more", "destination": destination });
    let medium = json!({ "type": "MEDIA", "media_key": image });
    json!({ "name": "Cargo offer", "components": [medium, details] })
}

impl Carded {
    fn new() -> Self {
        let server: &'static TestServer = keep_for_test(TestServer::start(&[]));
        let ads = Advertiser::on(server);
        let app = server.new_app("self-serve");
        let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
        server.run_cli(&allow).assert_success();
        let campaign = [
            ("funding_instrument_id", ads.instrument.as_str()),
            ("name", "Quick"),
            ("daily_budget_amount_local_micro", "20000000"),
            ("standard_delivery", "false"),
        ];
        let item = ads.line_item(&ads.make("/campaigns", &campaign));
        let body = card_body(&ads.image(), SITE);
        let path = format!("/12/accounts/{}/cards", ads.account);
        let created = ads.person.send_signed(TestRequest::post(path).json(&body)).assert_status(200);
        Self { item, card: created["data"].clone(), bearer: app.bearer, ads }
    }

    const fn server(&self) -> &'static TestServer {
        self.ads.person.server
    }

    /// Changes the destination of the card; the card.
    fn change_destination(&self, url: &str) -> Value {
        let image = self.card["components"][0]["media_key"].as_str().unwrap();
        let request = TestRequest::new("PUT", self.path()).json(&card_body(image, url));
        self.ads.person.send_signed(request).assert_status(200)["data"].clone()
    }

    fn path(&self) -> String {
        format!("/12/accounts/{}/cards/{}", self.ads.account, self.card["id"].as_str().unwrap())
    }

    /// A post with the card; promoted or not.
    fn post(&self, nullcast: bool, promoted: bool) -> String {
        self.with(&self.card["card_uri"], nullcast, promoted)
    }

    /// The same with another card.
    fn with(&self, uri: &Value, nullcast: bool, promoted: bool) -> String {
        let text = format!("Look at this {}", unique_number());
        let body = json!({ "text": text, "nullcast": nullcast, "card_uri": uri });
        let created = self.ads.person.create_post(&body).assert_status(201);
        let post = created["data"]["id"].as_str().unwrap().to_owned();
        let response = created["data"]["text"].as_str().unwrap();
        assert!(response.ends_with(&format!("/{post}")), "{response}");
        if promoted {
            let params = [("line_item_id", self.item.as_str()), ("tweet_ids", &post)];
            self.ads.send("POST", "/promoted_tweets", &params).assert_status(200);
        }
        post
    }

    fn serving(&self, act: &str, body: &Value) -> Value {
        let request = TestRequest::post(format!("/ads-serve/1/{act}")).json(body);
        self.server().send(request.bearer(&self.bearer)).assert_status(200)
    }

    /// Shows what is promoted to a viewer, and says so; the token of a post.
    fn shown(&self, viewer: &Value, post: &str) -> String {
        let request = json!({ "viewer": viewer, "placement": "TWITTER_TIMELINE", "slots": 20 });
        let all = self.serving("request", &request);
        let all = all["data"].as_array().unwrap().clone();
        let found = all.iter().find(|one| one["post_id"] == post);
        let token = found.unwrap()["impression_token"].as_str().unwrap();
        self.report(token, "impression");
        token.to_owned()
    }

    fn report(&self, token: &str, kind: &str) -> Value {
        let event = json!({ "impression_token": token, "kind": kind });
        self.serving("events", &json!({ "events": [event] }))["data"][0]["status"].clone()
    }

    /// Clicks that the line item's figures tell of: on links, with its cards, of any kind, and all
    /// that was done.
    fn clicks(&self) -> [i64; 4] {
        let hour = |shift: i64| {
            let at = Time::from_ms((wall_time().ms() / 3_600_000 + shift) * 3_600_000).to_string();
            format!("{}Z", at.split('.').next().unwrap())
        };
        let params = [
            ("entity", "LINE_ITEM"),
            ("entity_ids", &self.item),
            ("start_time", &hour(-2)),
            ("end_time", &hour(1)),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        let path = format!("/12/stats/accounts/{}", self.ads.account);
        let stats = send(&self.ads.person, "GET", &path, &params).assert_status(200);
        let metrics = &stats["data"][0]["id_data"][0]["metrics"];
        let names = ["url_clicks", "card_engagements", "clicks", "engagements"];
        names.map(|name| metrics[name][0].as_i64().unwrap_or(0))
    }
}

/// Opens a link; it leads to where the card said.
fn open(browser: &mut Browser<'_>, link: &str) {
    let response = browser.send(TestRequest::get(link).header("user-agent", BROWSER));
    assert_eq!(response.status, 302, "{link}: {}", response.text());
    // A click that counts for an ad takes its id along.
    let location = response.header("location");
    let click_id = location.strip_prefix(SITE).and_then(|more| more.strip_prefix("&twclid="));
    assert!(location == SITE || click_id.is_some_and(|id| id.len() == 32), "{location}");
    assert_eq!(response.header("cache-control"), "private, no-store");
    assert_eq!(response.header("referrer-policy"), "no-referrer");
}

/// The post as it is shown, and the path of the link that its card leads by.
fn link_of(user: &TestUser<'_>, post: &str) -> (Value, String) {
    let path = format!("/2/tweets/{post}?tweet.fields=entities,display_text_range");
    let response = user.get(path).assert_status(200)["data"].clone();
    let link = response["entities"]["urls"][0]["url"].as_str().unwrap_or("");
    let path = link.split_once("/c/").map_or("", |(_, rest)| rest);
    let path = format!("/c/{path}");
    (response, path)
}

pub(super) fn signed_in(user: &TestUser<'static>) -> Browser<'static> {
    let set = ["user", "password", &user.username, "--password", "a long secret"];
    user.server.run_cli(&set).assert_success();
    let mut browser = Browser::new(user.server);
    browser.sign_in(&user.username, "a long secret", "/settings/account");
    browser
}

#[test]
fn card_link_is_shown_in_its_post_and_redirects_to_the_destination() {
    let carded = Carded::new();
    let (ads, card) = (&carded.ads, &carded.card);
    let destination = &card["components"][1]["destination"];
    assert_eq!(destination["url"], SITE);
    let short = destination["tco_url"].as_str().unwrap();
    let post = carded.post(false, false);
    let (response, link) = link_of(&ads.person, &post);
    let entity = &response["entities"]["urls"][0];
    assert_eq!(entity["url"], format!("{short}/{post}"));
    assert_eq!(entity["expanded_url"], SITE);
    assert_eq!(entity["display_url"], "bikes.example/spring?ride=1&mo…");
    assert_eq!(entity["title"], "Ride more");
    assert_eq!(entity["images"][0]["width"], 800);
    let text: Vec<char> = response["text"].as_str().unwrap().chars().collect();
    let place = |name: &str| usize::try_from(entity[name].as_u64().unwrap()).unwrap();
    let cut: String = text[place("start")..place("end")].iter().collect();
    assert_eq!(entity["url"], cut);
    assert_eq!(response["display_text_range"][1], json!(place("start") - 1));

    let mut browser = Browser::new(carded.server());
    let own = short.split_once("/c/").unwrap().1.to_owned();
    for path in [
        link.clone(),
        format!("/c/{own}"),
        format!("{link}?url=https://evil.example&next=//evil.example"),
        // What is no post with the card leads there all the same.
        format!("/c/{own}/1"),
    ] {
        open(&mut browser, &path);
    }
    for path in ["/c/1", "/c/1/1", "/c/0"] {
        assert_eq!(browser.get(path).status, 404, "{path}");
    }
    for path in ["/c/x", "/c/https:%2f%2fevil.example"] {
        let answer = browser.get(path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.text());
    }
}

#[test]
fn changed_destination_gets_a_link_of_its_own() {
    let carded = Carded::new();
    let (ads, card) = (&carded.ads, &carded.card);
    let short = card["components"][1]["destination"]["tco_url"].as_str().unwrap();
    let image = card["components"][0]["media_key"].as_str().unwrap();
    let post = carded.post(false, false);
    let (_, link) = link_of(&ads.person, &post);
    let mut browser = Browser::new(carded.server());
    let changed = carded.change_destination("https://bikes.example/summer");
    assert_ne!(changed["components"][1]["destination"]["tco_url"], short);
    let (response, other) = link_of(&ads.person, &post);
    assert_eq!(response["entities"]["urls"][0]["expanded_url"], "https://bikes.example/summer");
    assert_ne!(other, link);
    open(&mut browser, &link);
    // Slides lead to places of their own.
    let slide = |url: &str| card_body(image, url)["components"].clone();
    let slides = json!({ "slides": [slide("https://one.example/"), slide("https://two.example/")] });
    ads.person.send_signed(TestRequest::new("PUT", carded.path()).json(&slides)).assert_status(200);
    let (response, _) = link_of(&ads.person, &post);
    let urls = response["entities"]["urls"].as_array().unwrap();
    let to: Vec<&Value> = urls.iter().map(|one| &one["expanded_url"]).collect();
    assert_eq!(to, ["https://one.example/", "https://two.example/"]);
    assert_ne!(urls[0]["url"], urls[1]["url"]);
    assert!(response["text"].as_str().unwrap().ends_with(urls[0]["url"].as_str().unwrap()));
    let back = carded.change_destination(SITE);
    assert_eq!(back["components"][1]["destination"]["tco_url"], short);
}

#[test]
fn links_of_a_deleted_card_are_not_found_and_its_posts_show_none() {
    let carded = Carded::new();
    let ads = &carded.ads;
    let post = carded.post(false, false);
    let (_, link) = link_of(&ads.person, &post);
    carded.change_destination("https://bikes.example/summer");
    let (_, other) = link_of(&ads.person, &post);
    let mut browser = Browser::new(carded.server());
    let id = carded.card["id"].as_str().unwrap();
    ads.send("DELETE", &format!("/cards/{id}"), &[]).assert_status(200);
    for path in [&link, &other] {
        assert_eq!(browser.get(path.clone()).status, 404, "{path}");
    }
    let (response, _) = link_of(&ads.person, &post);
    assert!(response.get("entities").is_none(), "{response}");
}

#[test]
fn card_click_counts_once_for_its_impression() {
    let carded = Carded::new();
    let post = carded.post(false, true);
    let (_, link) = link_of(&carded.ads.person, &post);
    let fan = carded.server().new_user("fan");
    let mut browser = signed_in(&fan);
    // Before an impression a click has nothing to do with the promotion.
    open(&mut browser, &link);
    assert_eq!(carded.clicks(), [0; 4]);
    let token = carded.shown(&json!({ "user_id": fan.id }), &post);
    let head = browser.send(TestRequest::new("HEAD", link.clone()).header("user-agent", BROWSER));
    assert_eq!(head.status, 302);
    for header in [("user-agent", "LinkBot/2.1"), ("user-agent", "")] {
        browser.send(TestRequest::get(link.clone()).header(header.0, header.1));
    }
    let ahead = TestRequest::get(link.clone()).header("user-agent", BROWSER);
    browser.send(ahead.header("sec-purpose", "prefetch"));
    let inside = TestRequest::get(link.clone()).header("user-agent", BROWSER);
    browser.send(inside.header("sec-fetch-dest", "image"));
    assert_eq!(carded.clicks(), [0; 4]);
    open(&mut browser, &link);
    assert_eq!(carded.clicks(), [1; 4]);
    open(&mut browser, &link);
    assert_eq!(carded.clicks(), [1; 4]);
    // Nor is it counted again as the network reports it.
    assert_eq!(carded.report(&token, "url_click"), "REPEATED");
    assert_eq!(carded.clicks(), [1; 4]);

    // Someone who is no user comes with the token that the network was given.
    let token = carded.shown(&json!({ "key": "device-1" }), &post);
    let mut stranger = Browser::new(carded.server());
    for token in ["", "x.y", &token, &token] {
        open(&mut stranger, &format!("{link}?impression_token={token}"));
    }
    assert_eq!(carded.clicks(), [2; 4]);
    let path = format!("/2/tweets/{post}?tweet.fields=non_public_metrics,promoted_metrics");
    let figures = carded.ads.person.get(path).assert_status(200)["data"].clone();
    assert_eq!(figures["promoted_metrics"]["url_link_clicks"], 2);
    assert_eq!(figures["non_public_metrics"]["url_link_clicks"], 2);
    assert_eq!(figures["non_public_metrics"]["engagements"], 2);
}

#[test]
fn click_on_a_nullcast_post_counts_for_its_promotion() {
    let carded = Carded::new();
    let post = carded.post(true, true);
    let (_, link) = link_of(&carded.ads.person, &post);
    let mut browser = Browser::new(carded.server());
    open(&mut browser, &link);
    open(&mut browser, &link);
    assert_eq!(carded.clicks(), [1; 4]);
    let mut fan = signed_in(&carded.server().new_user("fan"));
    open(&mut fan, &link);
    assert_eq!(carded.clicks(), [2; 4]);
    // The link says whose click it is, not what is promoted: another post does not count for this.
    let other = carded.post(true, false);
    let (_, apart) = link_of(&carded.ads.person, &other);
    open(&mut fan, &apart);
    assert_eq!(carded.clicks(), [2; 4]);
}

/// A post with a conversation card, and the address of the card's page.
struct Conversation {
    carded: Carded,
    unlocked: String,
    page: String,
}

impl Conversation {
    fn new() -> Self {
        let carded = Carded::new();
        let ads = &carded.ads;
        let (image, unlocked) = (ads.image(), ads.media("tweet_image", &png(1000, 400)));
        let params = [
            ("name", "Routes"),
            ("title", "Sunday ride"),
            ("media_key", image.as_str()),
            ("first_cta", "#Coast"),
            ("first_cta_tweet", "I choose the <coast> & more"),
            ("second_cta", "#Hills"),
            ("second_cta_tweet", "Up we go"),
            ("thank_you_text", "See you there"),
            ("thank_you_url", "https://bikes.example/thanks"),
            ("unlocked_image_media_key", unlocked.as_str()),
        ];
        let path = "/cards/image_conversation";
        let created = ads.send("POST", path, &params).assert_status(200)["data"].clone();
        let uri = &created["card_uri"];
        let post = carded.with(uri, true, true);
        let response = ads.person.get(format!("/2/tweets/{post}?tweet.fields=entities"));
        let entity = response.assert_status(200)["data"]["entities"]["urls"][0].clone();
        assert_eq!(entity["title"], "Sunday ride");
        assert_eq!(entity["expanded_url"], entity["url"]);
        let url = entity["url"].as_str().unwrap();
        let page = url.split_once("/cards/").map(|(_, rest)| format!("/cards/{rest}"));
        let page = page.unwrap();
        Self { carded, unlocked, page }
    }

    /// The link of the first choice.
    fn first_choice(&self) -> String {
        let shown = Browser::new(self.carded.server()).get(self.page.clone()).assert_page(200);
        let link = shown.split("href=\"/intent/post?").nth(1).unwrap();
        let link = link.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
        format!("/intent/post?{link}")
    }
}

const CHOICE: &str = "I choose the <coast> & more #Coast";

fn submit_post(browser: &mut Browser<'_>, form: &TestResponse, text: &str) -> TestResponse {
    browser.submit(form, "/intent/post", &[("text", text)])
}

#[test]
fn conversation_card_shows_its_choices_and_asks_strangers_to_sign_in() {
    let conversation = Conversation::new();
    let unlocked = &conversation.unlocked;
    let page = &conversation.page;

    let mut stranger = Browser::new(conversation.carded.server());
    let shown = stranger.get(page.clone()).assert_page(200);
    for part in ["Sunday ride", "#Coast", "#Hills", "/media/"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("See you there") && !shown.contains(unlocked), "{shown}");
    let requested = stranger.get(conversation.first_choice());
    assert_eq!(requested.status, 303);
    assert!(requested.header("location").starts_with("/login?next="));
}

#[test]
fn post_with_a_choice_unlocks_the_reward_and_counts_once() {
    let conversation = Conversation::new();
    let carded = &conversation.carded;
    let fan = carded.server().new_user("fan");
    let mut browser = signed_in(&fan);
    let form = browser.get(conversation.first_choice());
    let html = form.assert_page(200);
    assert!(html.contains("I choose the &#60;coast&#62; &#38; more #Coast"), "{html}");
    let signed_out = submit_post(&mut Browser::new(carded.server()), &form, CHOICE);
    let back = signed_out.header("location");
    assert!(back.contains("%26card%3D") && back.contains("%26of%3D"), "the answer comes back: {back}");
    let sent = submit_post(&mut browser, &form, CHOICE);
    assert_eq!(sent.status, 303, "{}", sent.text());
    let to = sent.header("location").to_owned();
    let after = browser.get(to).assert_page(200);
    let name = conversation.unlocked.as_str();
    for part in ["See you there", "https://bikes.example/thanks", name] {
        assert!(after.contains(part), "{part}: {after}");
    }
    let posts = fan.get(format!("/2/users/{}/tweets", fan.id)).assert_status(200);
    assert_eq!(posts["data"][0]["text"], "I choose the &lt;coast&gt; &amp; more #Coast");
    // It counts as use of the card, once.
    assert_eq!(carded.clicks(), [0, 1, 0, 1]);
    assert_eq!(submit_post(&mut browser, &form, CHOICE).status, 303, "the same form has no effect again");
    let form = browser.get(conversation.first_choice());
    assert!(submit_post(&mut browser, &form, CHOICE).assert_page(400).contains("You posted the same"));
    assert_eq!(submit_post(&mut browser, &form, "#hills too").status, 303);
    assert_eq!(carded.clicks(), [0, 1, 0, 1]);
}

#[test]
fn post_without_a_choice_unlocks_nothing() {
    let conversation = Conversation::new();
    let mut browser = signed_in(&conversation.carded.server().new_user("fan"));
    let form = browser.get(conversation.first_choice());
    let plain = submit_post(&mut browser, &form, "No choice");
    assert_eq!(plain.status, 303);
    let shown = browser.get(plain.header("location").to_owned()).assert_page(200);
    assert!(!shown.contains("See you there") && !shown.contains(&conversation.unlocked), "{shown}");
}

#[test]
fn reward_is_shown_only_to_the_author_of_the_choice_at_the_card_of_its_post() {
    let conversation = Conversation::new();
    let server = conversation.carded.server();
    let mut browser = signed_in(&server.new_user("fan"));
    let form = browser.get(conversation.first_choice());
    let to = submit_post(&mut browser, &form, CHOICE).header("location").to_owned();
    let mut other = signed_in(&server.new_user("other"));
    other.get(to.clone()).assert_page(404);
    let (elsewhere, _) = to.split_once("of=").unwrap();
    let id = to.split_once("id=").unwrap().1;
    let shown = browser.get(format!("{elsewhere}of=1&id={id}")).assert_page(200);
    assert!(!shown.contains("See you there"), "{shown}");
    let (card, _) = conversation.page.rsplit_once('/').unwrap();
    other.get(format!("{card}/1")).assert_page(404);
    other.get("/cards/1/1").assert_page(404);
}

#[test]
fn post_is_written_from_an_intent_link() {
    let server = crate::harness::shared_server();
    let fan = server.new_user("writer");
    let mut browser = signed_in(&fan);
    let query = "text=Hello%20there&url=https://bikes.example&hashtags=one,%23two&via=@ada";
    for path in ["/intent/post", "/intent/tweet"] {
        let html = browser.get(format!("{path}?{query}")).assert_page(200);
        assert!(html.contains("Hello there https://bikes.example #one #two via @ada"), "{html}");
    }
    let form = browser.get("/intent/post");
    let send = |browser: &mut Browser<'_>, text: &str| browser.submit(&form, "/intent/post", &[("text", text)]);
    for text in ["", "  ", &"é".repeat(281)] {
        let page = send(&mut browser, text).assert_page(400);
        assert!(page.contains("aria-invalid"), "{page}");
    }
    browser.get("/intent/post?text=a&text=b").assert_page(400);
    let forged = TestRequest::post("/intent/post").form("text=Forged");
    browser.send(forged).assert_page(403);
    // A reply names whom it is to.
    let first = fan.publish_text("First");
    let form = browser.get(format!("/intent/post?in_reply_to={first}&text=Second"));
    let sent = browser.submit(&form, "/intent/post", &[("text", "Second")]);
    assert_eq!(sent.status, 303, "{}", sent.text());
    browser.get(sent.header("location").to_owned()).assert_page(200);
    let posts = format!("/2/users/{}/tweets?tweet.fields=referenced_tweets", fan.id);
    let posts = fan.get(posts).assert_status(200);
    assert_eq!(posts["data"][0]["referenced_tweets"][0]["id"], first.as_str());
    assert_eq!(posts["data"].as_array().unwrap().len(), 2);
}
