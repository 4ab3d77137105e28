//! Simulated figures: plausible, within what the advertiser set, and the same wherever they are told.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use base::clock::wall_time;
use serde_json::{Value, json};

use super::{HOUR, around, file, market, metric, sum, written};
use crate::ads::Advertiser;
use crate::harness::{TestRequest, TestResponse, locum_command, wait_until};
use crate::pages::browser::Browser;

const DAY: i64 = 24 * HOUR;
const DAILY: i64 = 8_000_000;
const FIGURES: [&str; 6] =
    ["impressions", "engagements", "likes", "clicks", "billed_engagements", "billed_charge_local_micro"];

impl Advertiser {
    fn simulate(&self, more: &[&str]) -> Value {
        let simulate = ["ads", "simulate", &self.account];
        self.person.server.run_cli(&[&simulate[..], more].concat()).json()
    }

    /// A line item of a campaign of its own.
    pub(super) fn simulated_item(&self, objective: &str, more: &[(&str, &str)]) -> (String, String) {
        let daily = DAILY.to_string();
        let campaign = [
            ("funding_instrument_id", self.instrument.as_str()),
            ("name", objective),
            ("daily_budget_amount_local_micro", &daily),
        ];
        let campaign = self.make("/campaigns", &campaign);
        let usual = [
            ("campaign_id", campaign.as_str()),
            ("objective", objective),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("start_time", "2026-01-01T00:00:00Z"),
        ];
        let item = self.make("/line_items", &crate::ads::with_overrides(&usual, more));
        (campaign, item)
    }

    pub(super) fn promoted_only_post(&self, item: &str, card: Option<&str>) {
        let text = format!("Come along {}", crate::harness::unique_number());
        let mut body = json!({ "text": text, "nullcast": true });
        if let Some(card) = card {
            body["card_uri"] = card.into();
        }
        let post = self.person.create_post(&body).assert_status(201);
        let post = post["data"]["id"].as_str().unwrap().to_owned();
        let params = [("line_item_id", item), ("tweet_ids", post.as_str())];
        self.send("POST", "/promoted_tweets", &params).assert_status(200);
    }

    /// A card that leads to a website, or to an app.
    pub(super) fn component_card(&self, media_key: &str, is_app: bool) -> String {
        let website = json!({ "type": "WEBSITE", "url": "https://bikes.example/" });
        let app = json!({ "type": "APP", "country_code": "US", "ios_app_store_identifier": "1" });
        let label = json!({ "type": "ENUM", "value": "INSTALL" });
        let leads = if is_app {
            json!({ "type": "BUTTON", "label": label, "destination": app })
        } else {
            json!({ "type": "DETAILS", "title": "Ride more", "destination": website })
        };
        let components = json!([{ "type": "MEDIA", "media_key": media_key }, leads]);
        let path = format!("/12/accounts/{}/cards", self.account);
        let body = json!({ "name": "Rides", "components": components });
        let card = self.person.send_signed(TestRequest::post(path).json(&body)).assert_status(200);
        card["data"]["card_uri"].as_str().unwrap().to_owned()
    }

    fn poll_card(&self) -> String {
        let poll = [
            ("name", "Where to?"),
            ("first_choice", "The island"),
            ("second_choice", "The lighthouse"),
            ("duration_in_minutes", "10080"),
        ];
        let card = self.send("POST", "/cards/poll", &poll).assert_status(200);
        card["data"]["card_uri"].as_str().unwrap().to_owned()
    }

    fn preroll_item(&self) -> (String, String) {
        let feature = ["ads", "account", "feature", &self.account, "--add", "PREROLL_VIEWS_OBJECTIVE"];
        self.person.server.run_cli(&feature).assert_success();
        let more = [("product_type", "MEDIA"), ("categories", "IAB7"), ("bid_amount_local_micro", "150000")];
        let made = self.simulated_item("PREROLL_VIEWS", &more);
        let clip = self.clip();
        self.send("POST", "/media_library", &[("media_key", &clip)]).assert_status(200);
        let page = self.get("/account_media", &[("creative_types", "PREROLL")]);
        let media = page["data"][0]["id"].as_str().unwrap();
        let params = [("line_item_id", made.1.as_str()), ("account_media_id", media)];
        self.send("POST", "/media_creatives", &params).assert_status(200);
        made
    }

    /// All that is simulated in these tests, and no more than may be asked for at once.
    fn week(&self, entity: &str, id: &str, more: &[(&str, &str)]) -> TestResponse {
        let (from, to) = around(6 * 24, 1);
        let params = [
            ("entity", entity),
            ("entity_ids", id),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT,BILLING,VIDEO"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        self.figures(&crate::ads::with_overrides(&params, more))
    }

    fn week_sums(&self, entity: &str, id: &str) -> [i64; 6] {
        let groups = if entity == "ACCOUNT" { "ENGAGEMENT" } else { "ENGAGEMENT,BILLING" };
        let stats = self.week(entity, id, &[("metric_groups", groups)]).assert_status(200);
        FIGURES.map(|name| sum(&stats["data"][0], name))
    }
}

/// An account with a campaign of each objective, by objective the campaign and the line item.
fn account_with_every_objective() -> (Advertiser, BTreeMap<&'static str, (String, String)>) {
    let ads = Advertiser::on(market());
    for _ in 0..6 {
        market().new_user("viewer");
    }
    let image = ads.image();
    let [website, app_card] = [false, true].map(|is_app| ads.component_card(&image, is_app));
    let video = ads.component_card(&ads.film(), false);
    let bid = ("bid_amount_local_micro", "200000");
    let app = ("ios_app_store_identifier", "1");
    let mut made = BTreeMap::new();
    for (objective, more, card) in [
        ("ENGAGEMENTS", vec![bid], None),
        ("REACH", vec![], None),
        ("WEBSITE_CLICKS", vec![bid], Some(&website)),
        ("VIDEO_VIEWS", vec![], Some(&video)),
        ("APP_INSTALLS", vec![app], Some(&app_card)),
        ("APP_ENGAGEMENTS", vec![app, bid], Some(&app_card)),
    ] {
        let (campaign, item) = ads.simulated_item(objective, &more);
        ads.promoted_only_post(&item, card.map(String::as_str));
        made.insert(objective, (campaign, item));
    }
    let engagement = made["ENGAGEMENTS"].1.clone();
    ads.promoted_only_post(&engagement, Some(&ads.poll_card()));
    let followers = ads.simulated_item("FOLLOWERS", &[("product_type", "PROMOTED_ACCOUNT")]);
    let promoted = [("line_item_id", followers.1.as_str()), ("user_id", &ads.person.id)];
    ads.make("/promoted_accounts", &promoted);
    made.insert("FOLLOWERS", followers);
    made.insert("PREROLL_VIEWS", ads.preroll_item());
    for kind in ["SITE_VISIT", "PURCHASE"] {
        let windows = [("click_window", "30"), ("view_through_window", "1"), ("retargeting_enabled", "false")];
        ads.make("/web_event_tags", &[&[("name", kind), ("type", kind)][..], &windows].concat());
    }
    let install = [
        ("app_store_identifier", "1"),
        ("os_type", "IOS"),
        ("conversion_type", "INSTALL"),
        ("provider_app_event_id", "1"),
        ("provider_app_event_name", "Install"),
    ];
    ads.make("/app_event_tags", &install);
    (ads, made)
}

/// No day costs more than its budget, and the days differ.
fn check_days(ads: &Advertiser, campaign: &str) {
    let now = wall_time().ms();
    let date = |days: i64| written(now + days * DAY)[..10].to_owned();
    let (from, to) = (date(-5), date(1));
    let days = [("granularity", "DAY"), ("start_time", &*from), ("end_time", &*to)];
    let stats = ads.week("CAMPAIGN", campaign, &days).assert_status(200);
    let metrics = &stats["data"][0]["id_data"][0]["metrics"];
    for day in metrics["billed_charge_local_micro"].as_array().into_iter().flatten() {
        assert!(day.as_i64().unwrap() <= DAILY, "{stats}");
    }
    let mut impressions: Vec<i64> =
        metrics["impressions"].as_array().unwrap()[..5].iter().map(|day| day.as_i64().unwrap()).collect();
    impressions.sort_unstable();
    impressions.dedup();
    assert!(impressions.len() > 3, "{stats}");
}

fn check_reach(ads: &Advertiser, campaign: &str, impressions: i64) {
    let (from, to) = around(6 * 24, 1);
    let params = [("campaign_ids", campaign), ("start_time", &from), ("end_time", &to)];
    let response = ads.beside("GET", "A/reach/campaigns", &params);
    assert_eq!(response.header("x-locum-simulated"), "true");
    let reach = response.assert_status(200);
    let people = reach["data"][0]["total_audience_reach"].as_i64().unwrap();
    assert!(people > 0 && people <= impressions && people <= 200_000, "{reach}, {impressions}");
    let hundredths = (impressions * 200 + people) / (people * 2);
    let frequency: f64 = format!("{}.{:02}", hundredths / 100, hundredths % 100).parse().unwrap();
    assert!((reach["data"][0]["average_frequency"].as_f64().unwrap() - frequency).abs() < 0.001, "{reach}");
}

/// The file of a job, by segments if any.
fn job_file(ads: &Advertiser, items: &str, segments: &'static str) -> Value {
    let (from, to) = around(6 * 24, 1);
    let mut params = vec![
        ("entity", "LINE_ITEM"),
        ("entity_ids", items),
        ("granularity", "HOUR"),
        ("start_time", from.as_str()),
        ("end_time", to.as_str()),
        ("metric_groups", "ENGAGEMENT,BILLING,VIDEO"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    if !segments.is_empty() {
        params.push(("segmentation_type", segments));
    }
    let created = ads.beside("POST", "jobs/A", &params);
    assert_eq!(created.header("x-locum-simulated"), "true");
    let file = file(ads, &created.assert_status(200));
    assert_eq!(file["simulated"], true);
    file
}

#[test]
fn simulated_figures_of_every_objective_agree_wherever_they_are_told() {
    let (ads, made) = account_with_every_objective();
    let before = ads.week("ACCOUNT", &ads.account, &[("metric_groups", "ENGAGEMENT")]);
    assert_eq!(before.header("x-locum-simulated"), "");
    let created = ads.simulate(&["--days", "5", "--seed", "5"]);
    assert_eq!(created["line_items"], 8);
    assert_eq!(created["viewers"], 200_000);
    assert!(created["impressions"].as_i64() > created["events"].as_i64(), "{created}");
    let whole: Vec<[i64; 6]> = made.values().map(|(campaign, _)| ads.week_sums("CAMPAIGN", campaign)).collect();
    let all = whole.iter().fold([0; 6], |sums, own| std::array::from_fn(|place| sums[place] + own[place]));
    assert_eq!(ads.week_sums("ACCOUNT", &ads.account)[..3], all[..3]);
    assert_eq!(ads.week_sums("FUNDING_INSTRUMENT", &ads.instrument)[..3], all[..3]);
    let ids: Vec<&str> = made.values().map(|(_, item)| item.as_str()).collect();
    let ids = ids.join(",");
    let by_hour = ads.week("LINE_ITEM", &ids, &[("granularity", "HOUR")]);
    assert_eq!(by_hour.header("x-locum-simulated"), "true");
    let by_hour = by_hour.assert_status(200);
    assert_eq!(job_file(&ads, &ids, "")["data"], by_hour["data"], "at once and in the background");
    let segmented = ["PLATFORMS", "AGE", "GENDER"].map(|segments| job_file(&ads, &ids, segments));
    for (place, (objective, (campaign, item))) in made.iter().enumerate() {
        let figures = ads.week_sums("LINE_ITEM", item);
        assert_eq!(figures, whole[place], "{objective}");
        assert!(figures[0] > 1000 && figures[1] < figures[0] && figures[5] > 0, "{objective}: {figures:?}");
        for file in &segmented {
            let row = file["data"].as_array().unwrap().iter().find(|row| row["id"] == item.as_str()).unwrap();
            // Apps of one system are shown on its devices only.
            let least = if objective.starts_with("APP_") { 1 } else { 2 };
            assert!(row["id_data"].as_array().unwrap().len() >= least, "{objective}: {row}");
            assert_eq!(FIGURES.map(|name| sum(row, name)), figures, "{objective} by segment");
        }
        check_days(&ads, campaign);
        check_reach(&ads, campaign, figures[0]);
    }
    check_metrics(&ads, &made);
    check_conversions(&ads, &made);
    check_active_entities(&ads, &made);
    check_pages(&ads, &made, all);
}

/// Every objective has metrics of its own.
fn check_metrics(ads: &Advertiser, made: &BTreeMap<&'static str, (String, String)>) {
    for (objective, names) in [
        // Follows are left out: three are expected, so that some simulations have none.
        ("ENGAGEMENTS", &["likes", "reposts", "replies", "poll_card_vote", "clicks"][..]),
        ("WEBSITE_CLICKS", &["url_clicks", "card_engagements"]),
        ("FOLLOWERS", &["follows"]),
        ("APP_INSTALLS", &["app_clicks"]),
        ("APP_ENGAGEMENTS", &["app_clicks"]),
        ("REACH", &["qualified_impressions", "likes"]),
    ] {
        let stats = ads.week("LINE_ITEM", &made[objective].1, &[]).assert_status(200);
        for name in names {
            assert!(metric(&stats, name) > 0, "{objective} {name}: {stats}");
        }
    }
    for objective in ["VIDEO_VIEWS", "PREROLL_VIEWS"] {
        let stats = ads.week("LINE_ITEM", &made[objective].1, &[]).assert_status(200);
        let stages = ["video_content_starts", "video_views_25", "video_views_50", "video_views_75", "video_views_100"];
        let counts = stages.map(|name| metric(&stats, name));
        assert!(counts.is_sorted_by(|more, less| more > less) && counts[4] > 0, "{objective}: {stats}");
        assert!(metric(&stats, "video_total_views") < counts[0], "{stats}");
    }
}

/// How often people converted, by a part of the metric, in all rows.
fn conversions(stats: &Value, name: &str, part: &str) -> i64 {
    let rows = stats["data"].as_array().unwrap().iter();
    let values = rows.filter_map(|row| row["id_data"][0]["metrics"][name][part].as_array());
    values.flatten().filter_map(Value::as_i64).sum()
}

/// People convert after clicks, or views, on ads that lead to a site or an app.
fn check_conversions(ads: &Advertiser, made: &BTreeMap<&'static str, (String, String)>) {
    for (objective, group, name) in [
        ("WEBSITE_CLICKS", "WEB_CONVERSION", "conversion_site_visits"),
        ("APP_INSTALLS", "MOBILE_CONVERSION", "mobile_conversion_installs"),
    ] {
        let (campaign, item) = &made[objective];
        let stats = ads.week("LINE_ITEM", item, &[("metric_groups", group)]).assert_status(200);
        let counts = |stats: &Value| ["post_engagement", "post_view"].map(|part| conversions(stats, name, part));
        let [clicked, viewed] = counts(&stats);
        assert!(clicked > 0, "{objective} {name}: {stats}");
        assert_eq!(conversions(&stats, name, "sale_amount"), 0, "{stats}");
        let own = ads.week("LINE_ITEM", item, &[]).assert_status(200);
        let clicks = metric(&own, "url_clicks") + metric(&own, "app_clicks");
        assert!(clicked <= clicks && viewed <= metric(&own, "impressions"), "{stats} of {own}");
        let above = ads.week("CAMPAIGN", campaign, &[("metric_groups", group)]).assert_status(200);
        assert_eq!(counts(&above), [clicked, viewed], "{above}");
    }
    check_purchases(ads, made);
}

/// One in forty of those who click buys something, which may be nobody.
fn check_purchases(ads: &Advertiser, made: &BTreeMap<&'static str, (String, String)>) {
    let items = made.iter().filter(|(objective, _)| !objective.starts_with("APP_"));
    let items: Vec<&str> = items.map(|(_, (_, item))| item.as_str()).collect();
    let stats = ads.week("LINE_ITEM", &items.join(","), &[("metric_groups", "WEB_CONVERSION")]).assert_status(200);
    let count = |part| conversions(&stats, "conversion_purchases", part);
    let bought = count("post_engagement") + count("post_view");
    assert!(count("sale_amount") >= bought * 18_000_000, "{stats}");
    assert_eq!(count("sale_amount") > 0, bought > 0, "{stats}");
}

/// What was simulated of an hour is found in that hour.
fn check_active_entities(ads: &Advertiser, made: &BTreeMap<&'static str, (String, String)>) {
    let (from, to) = around(5 * 24, -4 * 24);
    let params = [("entity", "LINE_ITEM"), ("start_time", &*from), ("end_time", &*to)];
    let response = ads.beside("GET", "A/active_entities", &params);
    assert_eq!(response.header("x-locum-simulated"), "true");
    let found = response.assert_status(200);
    let active = found["data"].as_array().unwrap();
    assert!(active.len() > made.len() / 2, "{found}");
    for one in active {
        let start = one["activity_start_time"].as_str().unwrap();
        assert!((from.as_str()..to.as_str()).contains(&start), "{found}");
    }
    // Above the entities of the filter.
    let (_, item) = made.values().next().unwrap();
    for entity in ["CAMPAIGN", "FUNDING_INSTRUMENT"] {
        let params = [("entity", entity), ("line_item_ids", item.as_str()), ("start_time", &*from), ("end_time", &*to)];
        let found = ads.beside("GET", "A/active_entities", &params).assert_status(200);
        assert_eq!(found["data"].as_array().unwrap().len(), 1, "{entity}: {found}");
    }
}

/// The Ads Manager shows the same, and says that it is simulated.
fn check_pages(ads: &Advertiser, made: &BTreeMap<&'static str, (String, String)>, all: [i64; 6]) {
    let (server, name) = (ads.person.server, &ads.person.username);
    let password = ["user", "password", name, "--password", "a long secret"];
    server.run_cli(&password).assert_success();
    let mut browser = Browser::new(server);
    browser.sign_in(name, "a long secret", "/ads");
    let home = format!("/ads/{}", ads.account);
    let items = made.values().map(|(_, item)| (format!("{home}/line-items/{item}"), ads.week_sums("LINE_ITEM", item)));
    for (path, figures) in items.chain([(home.clone(), all)]) {
        let shown = browser.get(path.clone());
        assert_eq!(shown.status, 200, "{path}");
        let text = shown.text();
        assert!(text.contains("simulated"), "{path}");
        let digits: String = text.chars().filter(|letter| *letter != ',').collect();
        assert!(digits.contains(&format!(">{}<", figures[0])), "{path}: {figures:?} in {text}");
    }
}

#[test]
fn simulation_with_the_same_seed_is_recorded_once_and_is_the_same_again() {
    let ads = Advertiser::on(market());
    let (_, item) = ads.simulated_item("ENGAGEMENTS", &[("bid_amount_local_micro", "200000")]);
    ads.promoted_only_post(&item, None);
    for _ in 0..3 {
        market().new_user("viewer");
    }
    // Both runs end with the same ten minutes, unless these end in between.
    wait_until("two runs end at the same time", || {
        for table in ["ad_event", "ad_hour", "ad_total", "ad_active", "ad_simulation"] {
            market().run_sql(&format!("DELETE FROM {table}"));
        }
        let first = ads.simulate(&["--hours", "60", "--seed", "9"]);
        assert!(first["events"].as_i64().unwrap() > 0, "{first}");
        let hours = ads.week("LINE_ITEM", &item, &[("granularity", "HOUR")]).assert_status(200);
        let again = ads.simulate(&["--hours", "60", "--seed", "9"]);
        let longer = ads.simulate(&["--hours", "84", "--seed", "9"]);
        for table in ["ad_event", "ad_hour", "ad_total", "ad_active", "ad_simulation"] {
            market().run_sql(&format!("DELETE FROM {table}"));
        }
        let repeated = ads.simulate(&["--hours", "60", "--seed", "9"]);
        if repeated["until"] != first["until"] {
            return false;
        }
        assert_eq!(again["events"], 0, "{again}");
        assert!(longer["events"].as_i64().unwrap() > 0, "only what was before is new: {longer}");
        assert_eq!(repeated["events"], first["events"]);
        let same = ads.week("LINE_ITEM", &item, &[("granularity", "HOUR")]).assert_status(200);
        assert_eq!(same["data"], hours["data"]);
        true
    });
    let other = ads.simulate(&["--hours", "60", "--seed", "10"]);
    assert!(other["events"].as_i64().unwrap() > 0, "{other}");
}

#[test]
fn simulation_obeys_flight_targeting_and_frequency_cap() {
    let ads = Advertiser::on(market());
    let feature = ["ads", "account", "feature", &ads.account, "--add", "REACH_FREQUENCY_CAP"];
    market().run_cli(&feature).assert_success();
    market().new_user("viewer");
    let now = wall_time().ms();
    let (start, end) = (written(now - 3 * DAY), written(now - 2 * DAY));
    let flight = [("start_time", start.as_str()), ("end_time", end.as_str())];
    let (_, short) = ads.simulated_item("REACH", &flight);
    let cap = [("frequency_cap", "1"), ("duration_in_days", "30")];
    let (capped_campaign, capped) = ads.simulated_item("REACH", &cap);
    let (_, distant) = ads.simulated_item("REACH", &[]);
    for item in [&short, &capped, &distant] {
        ads.promoted_only_post(item, None);
    }
    // Nobody has told that they live there.
    let portugal =
        [("line_item_id", distant.as_str()), ("targeting_type", "LOCATION"), ("targeting_value", "3c65374ea675483e")];
    ads.make("/targeting_criteria", &portugal);
    ads.simulate(&["--days", "5", "--viewers", "1000"]);
    let shown = |item: &str| sum(&ads.week("LINE_ITEM", item, &[]).assert_status(200)["data"][0], "impressions");
    assert!(shown(&short) > 0 && shown(&capped) > 0);
    assert_eq!(shown(&distant), 0);
    let (from, to) = (written((now - 3 * DAY) / HOUR * HOUR), written((now - 2 * DAY) / HOUR * HOUR + HOUR));
    let during = [("start_time", from.as_str()), ("end_time", to.as_str())];
    let during = ads.week("LINE_ITEM", &short, &during).assert_status(200);
    assert_eq!(sum(&during["data"][0], "impressions"), shown(&short));
    let (from, to) = around(6 * 24, 1);
    let params = [("campaign_ids", capped_campaign.as_str()), ("start_time", &from), ("end_time", &to)];
    let reach = ads.beside("GET", "A/reach/campaigns", &params).assert_status(200);
    assert_eq!(reach["data"][0]["total_audience_reach"].as_i64().unwrap(), shown(&capped), "{reach}");
}

#[test]
fn simulation_refuses_times_and_audiences_out_of_bounds() {
    let ads = Advertiser::on(market());
    for (option, value) in [("--hours", "0"), ("--days", "91"), ("--viewers", "0")] {
        let refused = market().run_cli(&["ads", "simulate", &ads.account, option, value]);
        assert_ne!(refused.code, 0, "{option} {value}");
    }
}

#[test]
fn simulation_that_follows_time_goes_on_after_what_has_passed() {
    let ads = Advertiser::on(market());
    let (_, item) = ads.simulated_item("ENGAGEMENTS", &[("bid_amount_local_micro", "200000")]);
    ads.promoted_only_post(&item, None);
    let mut command = locum_command(market().sibling_path("").as_path());
    command.args(["ads", "simulate", &ads.account, "--hours", "48", "--follow", "--json"]);
    let mut child = command.args(market().location_args()).stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first: Vec<String> = printed.by_ref().take_while(|line| line != "}").collect();
    let first: Value = serde_json::from_str(&format!("{}}}", first.concat())).unwrap();
    assert!(child.try_wait().unwrap().is_none(), "it waits for the next ten minutes");
    drop(printed);
    wait_until("it ends with its reader", || child.try_wait().unwrap().is_some());
    assert!(first["events"].as_i64().unwrap() > 0, "{first}");
    assert!(sum(&ads.week("LINE_ITEM", &item, &[]).assert_status(200)["data"][0], "impressions") > 0);
}
