//! The Ads Manager: what its pages do is what the interface does, with the same roles.

mod forms;

use base::Time;
use base::clock::wall_time;
use serde_json::{Value, json};

use super::ab_tests::{definition, group};
use super::{Advertiser, send};
use crate::harness::{TestRequest, TestResponse, percent_encode, shared_server};
use crate::pages::browser::{Browser, hidden, posted};

/// Somebody in front of the pages who has an account, and asks the interface too.
struct Manager {
    ads: Advertiser,
    browser: Browser<'static>,
    home: String,
}

/// A browser in which a person of the test's is signed in.
fn browser(username: &str) -> Browser<'static> {
    let server = shared_server();
    let set = ["user", "password", username, "--password", "a long secret"];
    server.run_cli(&set).assert_success();
    let mut browser = Browser::new(server);
    let response = browser.sign_in(username, "a long secret", "/ads");
    assert_eq!(response.header("location"), "/ads", "{}", response.text());
    browser
}

impl Manager {
    fn new() -> Self {
        let ads = Advertiser::new();
        let browser = browser(&ads.person.username);
        let home = format!("/ads/{}", ads.account);
        Self { ads, browser, home }
    }

    /// Sends the form of a page.
    fn send(&mut self, form: &str, fields: &[(&str, &str)]) -> TestResponse {
        let path = format!("{}{form}", self.home);
        let shown = self.browser.get(path.clone());
        assert_eq!(shown.status, 200, "{path}: {}", shown.text());
        self.browser.submit(&shown, &path, fields)
    }

    /// The id of what a form makes.
    #[track_caller]
    fn make(&mut self, form: &str, fields: &[(&str, &str)]) -> String {
        let response = self.send(form, fields);
        assert_eq!(response.status, 303, "{}", response.text());
        let to = response.header("location").to_owned();
        let path = to.split('?').next().unwrap();
        path.rsplit('/').next().unwrap().to_owned()
    }

    fn campaign(&mut self) -> String {
        let instrument = self.ads.instrument.clone();
        let fields =
            [("name", "Spring"), ("funding_instrument_id", &instrument), ("daily_budget_amount_local_micro", "20")];
        self.make("/campaigns/new", &fields)
    }

    fn item(&mut self, campaign: &str) -> String {
        let fields = [
            ("name", "Riders"),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_POSTS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "0.15"),
            ("start_time", "2026-01-01T00:00"),
        ];
        self.make(&format!("/campaigns/{campaign}/line-item"), &fields)
    }
}

/// What stands beside a field as its error.
#[track_caller]
fn error_of(response: &TestResponse, field: &str) -> String {
    assert_eq!(response.status, 400, "{}", response.text());
    let text = response.text();
    let id = format!("id=\"{field}-error\"");
    let (_, rest) = text.split_once(&id).unwrap_or_else(|| panic!("nothing beside {field}: {text}"));
    let rest = rest.split("Error: </span>").nth(1).unwrap();
    rest.split('<').next().unwrap().to_owned()
}

#[test]
fn record_created_on_a_page_is_read_through_the_api() {
    let mut manager = Manager::new();
    let none = manager.browser.get(manager.home.clone()).text();
    assert!(none.contains("No campaigns yet"), "{none}");
    let campaign = manager.campaign();
    let one = format!("/campaigns/{campaign}");
    let seen = manager.ads.get(&one, &[])["data"].clone();
    assert_eq!(seen["name"], "Spring");
    assert_eq!(seen["daily_budget_amount_local_micro"], 20_000_000);
    let item = manager.item(&campaign);
    let post = manager.ads.person.publish_text("Look at this");
    let promote = format!("/line-items/{item}/promote");
    manager.make(&promote, &[("pick", &post), ("post_ids", "")]);
    let filter = [("line_item_ids", item.as_str())];
    let promoted = manager.ads.get("/promoted_posts", &filter);
    assert_eq!(promoted["data"][0]["post_id"], post.as_str());
    assert_eq!(manager.ads.get(&one, &[])["data"]["effective_status"], "RUNNING");
    // Only what is typed otherwise changes, and what is emptied is unset.
    let edit = format!("/line-items/{item}/edit");
    let stored = manager.ads.get(&format!("/line_items/{item}"), &[])["data"].clone();
    let fields = [
        ("name", ""),
        ("bid_amount_local_micro", "0.15"),
        ("bid_strategy", "MAX"),
        ("start_time", "2026-01-01T00:00"),
        ("end_time", "2026-12-31T12:00"),
        ("entity_status", "PAUSED"),
        ("goal", "ENGAGEMENT"),
        ("pay_by", "ENGAGEMENT"),
    ];
    manager.make(&edit, &fields);
    let changed = manager.ads.get(&format!("/line_items/{item}"), &[])["data"].clone();
    assert_eq!(changed["name"], Value::Null);
    // Times are those of the account, in Los Angeles.
    assert_eq!(changed["end_time"], "2026-12-31T20:00:00Z");
    assert_eq!(changed["entity_status"], "PAUSED");
    for same in ["bid_amount_local_micro", "objective", "goal", "start_time"] {
        assert_eq!(changed[same], stored[same], "{same}");
    }
    let history = manager.browser.get(format!("{}/line-items/{item}", manager.home));
    let history = history.text();
    assert!(history.contains("Ads Manager") && history.contains("End time: none →"));
}

#[test]
fn campaign_page_names_the_ab_test_that_it_takes_part_in() {
    let mut manager = Manager::new();
    let [one, other, none] = [0; 3].map(|_| manager.ads.campaign());
    manager.ads.start_test(&definition("CAMPAIGN", &[group("50", &[&one]), group("50", &[&other])]));
    for (campaign, is_named) in [(one, true), (other, true), (none, false)] {
        let page = manager.browser.get(format!("{}/campaigns/{campaign}", manager.home)).text();
        assert_eq!((page.contains("A/B test"), page.contains("Two headlines")), (is_named, is_named), "{page}");
    }
}

#[test]
fn campaign_form_that_is_sent_twice_creates_one_campaign() {
    let mut manager = Manager::new();
    let path = format!("{}/campaigns/new", manager.home);
    let shown = manager.browser.get(path.clone());
    let instrument = manager.ads.instrument.clone();
    let fields = [("name", "Once"), ("funding_instrument_id", &*instrument), ("daily_budget_amount_local_micro", "20")];
    let refused = manager.browser.submit(&shown, &path, &[("name", "Once")]);
    assert_eq!(refused.status, 400, "a refused form is sent again: {}", refused.text());
    let first = manager.browser.submit(&shown, &path, &fields);
    assert!(first.header("location").contains("/campaigns/"), "{}", first.text());
    let again = manager.browser.submit(&shown, &path, &fields);
    assert_eq!(again.header("location"), format!("{}?done=created", manager.home), "{}", again.text());
    assert_eq!(manager.ads.get("/campaigns", &[])["data"].as_array().unwrap().len(), 1);
}

#[test]
fn record_changed_through_the_api_is_shown_resumed_and_deleted_on_pages() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let one = format!("/campaigns/{campaign}");
    let item = manager.item(&campaign);
    let rename = [("name", "Summer"), ("entity_status", "PAUSED")];
    manager.ads.send("PUT", &one, &rename).assert_status(200);
    let here = format!("{}?q=Summer&days=28", manager.home);
    let list = manager.browser.get(format!("{here}&done=saved")).text();
    assert!(list.contains("Summer") && list.contains("Resume"), "{list}");
    let resume = format!("{}{one}/resume", manager.home);
    let mut fields = hidden(&list, &resume);
    assert_eq!(fields["next"], here);
    let response = manager.browser.send(posted(&resume, &fields));
    assert_eq!(response.header("location"), format!("{here}&done=resumed"));
    assert_eq!(manager.ads.get(&one, &[])["data"]["entity_status"], "ACTIVE");
    fields.insert("next".to_owned(), "//evil.example/".to_owned());
    let response = manager.browser.send(posted(&resume, &fields));
    let own = format!("{}{one}?done=resumed", manager.home);
    assert_eq!(response.header("location"), own);
    let delete = format!("{}/line-items/{item}/delete", manager.home);
    let shown = manager.browser.get(delete.clone());
    assert_eq!(manager.browser.submit(&shown, &delete, &[]).status, 303);
    let again = manager.browser.submit(&shown, &delete, &[]);
    assert_eq!(again.header("location"), format!("{}?done=deleted", manager.home), "{}", again.text());
    let line_items = manager.ads.get("/line_items", &[("campaign_ids", &campaign)]);
    assert_eq!(line_items["data"], json!([]));
}

#[test]
fn invalid_form_shows_the_error_at_its_field_and_stores_nothing() {
    let mut manager = Manager::new();
    let instrument = manager.ads.instrument.clone();
    let create = |manager: &mut Manager, more: &[(&str, &str)]| {
        let paid = [("funding_instrument_id", instrument.as_str())];
        manager.send("/campaigns/new", &[&paid[..], more].concat())
    };
    let daily = "daily_budget_amount_local_micro";
    let total = "total_budget_amount_local_micro";
    let response = create(&mut manager, &[("name", ""), (daily, "5")]);
    assert_eq!(error_of(&response, "name"), "This field is required.");
    let response = create(&mut manager, &[("name", "<b>X"), (daily, "5"), (total, "1")]);
    assert!(error_of(&response, daily).contains("must not be above"), "{}", response.text());
    assert!(response.text().contains("value=\"&#60;b&#62;X\""), "what was typed stays");
    for wrong in ["five", "-5", "1,5", "99999999999999999999"] {
        let response = create(&mut manager, &[("name", "X"), (daily, wrong)]);
        assert!(error_of(&response, daily).contains("20.00"), "{wrong}");
    }
    let response = create(&mut manager, &[("name", "X"), (daily, "12.345")]);
    assert!(error_of(&response, daily).starts_with("Enter an amount with no more decimal places"));
    let long = "x".repeat(256);
    let response = create(&mut manager, &[("name", &long)]);
    assert_eq!(error_of(&response, "name"), "Enter 1 to 255 characters.");
    assert_eq!(manager.ads.get("/campaigns", &[])["data"], json!([]));
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let promote = format!("/line-items/{item}/promote");
    let response = manager.send(&promote, &[("pick", ""), ("post_ids", "1")]);
    assert!(error_of(&response, "post_ids").contains("was not found"));
    let target = format!("/line-items/{item}/target");
    let fields = [("targeting_type", "AGE"), ("operator_type", "EQ"), ("targeting_value", "OLD")];
    let response = manager.send(&target, &fields);
    assert!(error_of(&response, "targeting_value").contains("not a value of AGE"));
    let edit = format!("/line-items/{item}/edit");
    let fields = [("name", "Riders"), ("start_time", "tomorrow")];
    let response = manager.send(&edit, &fields);
    assert!(error_of(&response, "start_time").contains("a date and a time"), "{}", response.text());
    for (name, value, expected) in [
        ("frequency_cap", "abc", "Enter a whole number from 1 to 1000000."),
        ("bid_amount_local_micro", "2000000", "The amount is too high."),
    ] {
        let response = manager.send(&edit, &[("name", "Riders"), (name, value)]);
        assert_eq!(error_of(&response, name), expected);
    }
    // A button's refusal stands on the page that it is of.
    manager.ads.send("DELETE", &format!("/campaigns/{campaign}"), &[]).assert_status(200);
    let home = manager.home.clone();
    let csrf = hidden(&manager.browser.get("/settings/account").text(), "/settings/account/password");
    let pause = TestRequest::post(format!("{home}/campaigns/{campaign}/pause"))
        .form(format!("csrf={}", percent_encode(&csrf["csrf"])));
    assert_eq!(manager.browser.send(pause).status, 404);
}

#[test]
fn page_shows_and_allows_what_the_role_permits() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let colleague = shared_server().new_user("colleague");
    let mut other = browser(&colleague.username);
    let home = manager.home.clone();
    assert_eq!(other.get(home.clone()).status, 404, "no role, no account");
    assert!(!other.get("/ads").text().contains(&manager.ads.account));
    let (one, line) = (format!("{home}/campaigns/{campaign}"), format!("{home}/line-items/{item}"));
    let forms = [
        format!("{home}/campaigns/new"),
        format!("{one}/edit"),
        format!("{one}/line-item"),
        format!("{one}/delete"),
        format!("{line}/promote"),
        format!("{line}/target"),
        format!("{line}/track"),
    ];
    for (role, reads, writes) in [
        ("AD_MANAGER", true, true),
        ("CREATIVE_MANAGER", true, false),
        ("CAMPAIGN_ANALYST", true, false),
        ("ANALYST", false, false),
        ("PARTNER_AUDIENCE_MANAGER", false, false),
    ] {
        let grant = ["ads", "account", "role", &manager.ads.account, &colleague.username, role];
        shared_server().run_cli(&grant).assert_success();
        let list = other.get(home.clone());
        assert_eq!(list.status, 200, "{role}");
        assert_eq!(list.text().contains("Spring"), reads, "{role}");
        assert_eq!(list.text().contains("/campaigns/new"), writes, "{role}");
        let shown = other.get(one.clone());
        assert_eq!(shown.status, if reads { 200 } else { 403 }, "{role}");
        assert_eq!(shown.text().contains("/edit"), writes, "{role}");
        let csrf = hidden(&other.get("/settings/account").text(), "/settings/account/password");
        for form in &forms {
            let status = other.get(form.clone()).status;
            assert_eq!(status, if writes { 200 } else { 403 }, "{role} {form}");
        }
        for act in ["pause", "delete"] {
            if writes {
                continue;
            }
            let path = format!("{one}/{act}");
            let request = TestRequest::post(path).form(format!("csrf={}", percent_encode(&csrf["csrf"])));
            assert_eq!(other.send(request).status, 403, "{role} {act}");
        }
        let users = other.get(format!("{home}/account")).text();
        assert!(users.contains(&colleague.username));
        assert!(!users.contains(&format!("@{}", manager.ads.person.username)), "{role}");
    }
    let stored = manager.ads.get(&format!("/campaigns/{campaign}"), &[]);
    assert_eq!(stored["data"]["entity_status"], "ACTIVE");
}

#[test]
fn page_of_another_account_is_not_found() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let (item, home) = (manager.item(&campaign), &manager.home);
    let mut stranger = Manager::new();
    for path in [
        format!("{}/campaigns/{campaign}", stranger.home),
        format!("{}/line-items/{item}", stranger.home),
        format!("{}/line-items/{item}/edit", stranger.home),
        format!("{}/campaigns/{campaign}/delete", stranger.home),
        format!("{}/nothing", stranger.home),
        format!("{}/nothing/1/delete", stranger.home),
        format!("{home}/posts"),
        "/ads/zzz".to_owned(),
    ] {
        assert_eq!(stranger.browser.get(path.clone()).status, 404, "{path}");
    }
}

/// An amount of millionths as pages show it.
fn money(micros: i64) -> String {
    let coins = (micros + 5_000) / 10_000;
    format!("{}.{:02} USD", coins / 100, coins % 100)
}

#[test]
fn page_counts_results_by_the_goal_of_the_line_item() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let path = format!("/campaigns/{campaign}/line-item");
    let fields = [
        ("name", "Riders"),
        ("objective", "WEBSITE_CLICKS"),
        ("pay_by", "IMPRESSION"),
        ("product_type", "PROMOTED_POSTS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_strategy", "MAX"),
        ("bid_amount_local_micro", "5"),
        ("start_time", "2026-01-01T00:00"),
    ];
    let item = manager.make(&path, &fields);
    let post = manager.ads.person.publish_text("Ride https://example.com/");
    manager.make(&format!("/line-items/{item}/promote"), &[("pick", &post)]);
    shared_server().run_cli(&["ads", "simulate", &manager.ads.account, "--hours", "24"]).assert_success();
    let report = shared_server().run_cli(&["ads", "report", &manager.ads.account]).json();
    let (clicks, cost) = (report[0]["url_clicks"].as_i64().unwrap(), report[0]["cost_per_result"].as_str().unwrap());
    assert!(clicks > 0, "{report}");
    let micros: f64 = cost.parse().unwrap();
    let cost = format!("{micros:.2} USD");
    for page in ["", &format!("/campaigns/{campaign}"), &format!("/line-items/{item}")] {
        let text = manager.browser.get(format!("{}{page}", manager.home)).text();
        assert!(text.contains(&format!(">{clicks}<")), "{page}: {clicks} in {text}");
        assert!(text.contains(&cost), "{page}: {cost} in {text}");
    }
    let path = format!("{}/reports/figures.csv?level=line-items&only={item}&by=platform", manager.home);
    let file = manager.browser.get(path).text();
    let mut lines = file.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = heads.iter().position(|head| *head == "Results").unwrap();
    let results: i64 = lines.map(|line| line.split(',').nth(place).unwrap().parse::<i64>().unwrap()).sum();
    assert_eq!(results, clicks, "{file}");
    // What was deleted keeps its figures.
    let path = format!("{}/reports?level=line-items", manager.home);
    assert!(!manager.browser.get(path.clone()).text().contains("· deleted"));
    manager.ads.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    let text = manager.browser.get(path).text();
    assert!(text.contains(&format!("{item} · deleted")) && text.contains(&format!(">{clicks}<")), "{text}");
}

#[test]
fn page_shows_the_figures_of_the_api() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let post = manager.ads.person.publish_text("Seen by many");
    let promote = format!("/line-items/{item}/promote");
    manager.make(&promote, &[("pick", &post)]);
    let none = manager.browser.get(manager.home.clone()).text();
    assert!(none.contains("Cost per result") && none.contains("0.00 USD"));
    let simulate = ["ads", "simulate", &manager.ads.account, "--hours", "24"];
    shared_server().run_cli(&simulate).assert_success();
    let hour = 3_600_000;
    let now = wall_time().ms() / hour * hour;
    let written = |ms: i64| ads_engine::field_kind::format_time(Time::from_ms(ms));
    let (from, to) = (written(now - 144 * hour), written(now + hour));
    let stats = |entity: &str, id: &str| {
        let params = [
            ("entity", entity),
            ("entity_ids", id),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT,BILLING"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        let path = format!("/12/stats/accounts/{}", manager.ads.account);
        let answer = send(&manager.ads.person, "GET", &path, &params).assert_status(200);
        let metrics = answer["data"][0]["id_data"][0]["metrics"].clone();
        ["billed_charge_local_micro", "engagements", "impressions"].map(|name| metrics[name][0].as_i64().unwrap_or(0))
    };
    let [charge, results, impressions] = stats("CAMPAIGN", &campaign);
    assert!(charge > 0 && results > 0 && impressions > 0);
    assert_eq!(stats("LINE_ITEM", &item), [charge, results, impressions]);
    assert!(charge < 1_000_000_000, "no thousands to be set apart");
    for page in [
        manager.home.clone(),
        format!("{}/campaigns/{campaign}", manager.home),
        format!("{}/line-items/{item}?days=28", manager.home),
    ] {
        let shown = manager.browser.get(page.clone());
        assert_eq!(shown.status, 200, "{page}");
        let text = shown.text();
        // Once above the chart, once in the table below it.
        let response = text.matches(&format!(">{}<", money(charge))).count();
        assert!(response >= 2, "{page}: {} in {text}", money(charge));
        assert!(text.contains(&money(charge / results)), "{page}: {charge} / {results} in {text}");
        assert!(text.contains(&format!(">{results}<")), "{page}: {results} in {text}");
    }
    let month = format!("{}/campaigns/{campaign}?days=28", manager.home);
    let month = manager.browser.get(month).text();
    assert_eq!(month.matches("<rect").count(), 3 * 28);
    for strange in ["?days=0", "?days=-1", "?days=x", "?days=99999999999"] {
        let path = format!("{}{strange}", manager.home);
        assert_eq!(manager.browser.get(path).text().matches("<rect").count(), 3 * 7);
    }
}

#[test]
fn pages_that_a_role_has_no_tab_for_are_forbidden_and_others_offer_what_it_may_do() {
    let manager = Manager::new();
    let colleague = shared_server().new_user("colleague");
    let mut other = browser(&colleague.username);
    let home = manager.home.clone();
    let roles = ["AD_MANAGER", "CREATIVE_MANAGER", "CAMPAIGN_ANALYST", "ANALYST", "PARTNER_AUDIENCE_MANAGER"];
    let mut without_posts = 0;
    for role in roles {
        let grant = ["ads", "account", "role", &manager.ads.account, &colleague.username, role];
        shared_server().run_cli(&grant).assert_success();
        let tabs = other.get(home.clone()).text();
        for part in ["posts", "cards", "media", "audiences", "conversions", "recommendations"] {
            let has_tab = tabs.contains(&format!("href=\"{home}/{part}\""));
            let shown = other.get(format!("{home}/{part}")).status;
            assert_eq!(shown, if has_tab { 200 } else { 403 }, "{role} {part}");
            without_posts += usize::from(!has_tab && part == "posts");
        }
        let offers = other.get(format!("{home}/posts")).text().contains("/posts/new");
        let form = other.get(format!("{home}/posts/new")).status;
        assert_eq!(form, if offers { 200 } else { 403 }, "{role}");
        assert!(!offers || !["CAMPAIGN_ANALYST", "ANALYST"].contains(&role), "{role}");
    }
    assert_eq!(without_posts, 2);
}
