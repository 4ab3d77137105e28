//! Birthday, gender and phone: used by member lists, estimates and statistics, and shown to nobody.

use serde_json::{Value, json};

use super::super::{Advertiser, send};
use super::{hashed, update};
use crate::harness::{TestRequest, TestServer, TestUser, keep_for_test, unique_number, wait_until};
use crate::pages::browser::Browser;

const ACCOUNT: &str = "/settings/account";
const ABOUT: &str = "/settings/account/about";

/// Three followers of an advertiser.
struct ProfiledUsers {
    server: &'static TestServer,
    ads: Advertiser,
    ana: TestUser<'static>,
    ben: TestUser<'static>,
    cleo: TestUser<'static>,
    phone: String,
}

impl ProfiledUsers {
    fn new() -> Self {
        let server: &'static TestServer = keep_for_test(TestServer::start(&["--set", "ads.audience_delay=1s"]));
        let ads = Advertiser::on(server);
        let set = ["ads", "account", "set", &ads.account, "--estimate", "exact"];
        server.run_cli(&set).assert_success();
        let [ana, ben, cleo] = ["ana", "ben", "cleo"].map(|name| server.new_user(name));
        for user in [&ana, &ben, &cleo] {
            user.import_follows(&[&ads.person]);
        }
        let phone = format!("+3512{:08}", unique_number());
        Self { server, ads, ana, ben, cleo, phone }
    }

    /// The same, where one enters birthday and gender and the operator enters those of another.
    fn with_profiles() -> Self {
        let users = Self::new();
        let Self { server, ana, ben, phone, .. } = &users;
        enter_profile(server, ana);
        let edit = ["user", "edit", &ben.id, "--birthday", "1960-01-01", "--gender", "male", "--phone", phone];
        server.run_cli(&edit).assert_success();
        users
    }

    fn estimate(&self, kind: &str, value: &str) -> (Value, String) {
        let criteria = json!([
            { "targeting_type": "FOLLOWERS_OF_USER", "targeting_value": self.ads.person.id },
            { "targeting_type": kind, "targeting_value": value },
        ]);
        let path = format!("/12/accounts/{}/audience_estimate", self.ads.account);
        let request = TestRequest::post(path).json(&json!({ "targeting_criteria": criteria }));
        let response = self.ads.person.send_signed(request);
        let size = response.assert_status(200)["data"]["audience_size"]["max"].clone();
        (size, response.header("x-estimate-ignored").to_owned())
    }

    /// Shows a promoted post to each of them.
    fn serve_to_all(&self) {
        let app = self.server.new_app("self-serve");
        let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
        self.server.run_cli(&allow).assert_success();
        let serve = |path: &str, body: &Value| {
            let request = TestRequest::post(format!("/ads-serve/1/{path}")).json(body);
            self.server.send(request.bearer(&app.bearer)).assert_status(200)
        };
        for user in [&self.ana, &self.ben, &self.cleo] {
            let requested = json!({ "viewer": { "user_id": user.id }, "placement": "TWITTER_TIMELINE" });
            let token = serve("request", &requested)["data"][0]["impression_token"].clone();
            let events = json!([{ "impression_token": token, "kind": "impression" }]);
            serve("events", &json!({ "events": events }));
        }
    }

    /// The impressions of a line item by segment, from the file of a finished job.
    fn segments(&self, item: &str, by: &str) -> Vec<String> {
        let (from, to) = (hour(-1), hour(1));
        let params = [
            ("entity", "LINE_ITEM"),
            ("entity_ids", item),
            ("start_time", &from),
            ("end_time", &to),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT"),
            ("placement", "ALL_ON_TWITTER"),
            ("segmentation_type", by),
        ];
        let path = format!("/12/stats/jobs/accounts/{}", self.ads.account);
        let job = send(&self.ads.person, "POST", &path, &params).assert_status(200);
        let id = job["data"]["id_str"].as_str().unwrap().to_owned();
        let mut found = Value::Null;
        wait_until("the job is done", || {
            found = send(&self.ads.person, "GET", &path, &[("job_ids", &id)]).assert_status(200);
            found["data"][0]["status"] == "SUCCESS"
        });
        let file = read_stats_file(self.server, found["data"][0]["url"].as_str().unwrap());
        let segments = file["data"][0]["id_data"].as_array().unwrap().iter();
        let count = |one: &Value| {
            let name = one["segment"]["segment_name"].as_str().unwrap();
            format!("{name} {}", one["metrics"]["impressions"][0])
        };
        let mut names: Vec<String> = segments.map(count).collect();
        names.sort();
        names
    }
}

/// Enters a birthday and a gender on the page of the settings; what is invalid is refused before.
fn enter_profile(server: &TestServer, user: &TestUser<'_>) {
    let mut browser = Browser::new(server);
    browser.sign_in(&user.username, "a long secret", ACCOUNT);
    let page = browser.get(ACCOUNT);
    for (born_on, gender) in
        [("2999-01-01", "female"), ("1990-02-30", "female"), ("yesterday", "female"), ("1990-06-01", "other")]
    {
        let refused = browser.submit(&page, ABOUT, &[("born_on", born_on), ("gender", gender)]);
        assert_eq!(refused.status, 400, "{born_on} {gender}");
    }
    assert!(!browser.get(ACCOUNT).text().contains("1990-06-01"));
    let valid = [("born_on", "1990-06-01"), ("gender", "female")];
    assert_eq!(browser.submit(&page, ABOUT, &valid).status, 303);
    let page = browser.get(ACCOUNT).text();
    assert!(page.contains("value=\"1990-06-01\""), "{page}");
}

fn hour(hours: i64) -> String {
    let now = base::clock::wall_time().ms() / 3_600_000 * 3_600_000;
    let text = base::Time::from_ms(now + hours * 3_600_000).to_string();
    format!("{}Z", text.split('.').next().unwrap())
}

fn read_stats_file(server: &TestServer, url: &str) -> Value {
    let file = server.send(TestRequest::get(&url[url.find("/ads-files/").unwrap()..]));
    let mut text = String::new();
    let mut file = flate2::read::GzDecoder::new(file.body.as_slice());
    std::io::Read::read_to_string(&mut file, &mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn profile_data_is_validated_and_shown_to_nobody_else() {
    let users = ProfiledUsers::with_profiles();
    let ProfiledUsers { server, ana, ben, cleo, phone, .. } = &users;
    for bad in [["--birthday", "1990"], ["--gender", "3"], ["--phone", "351200000000"]] {
        assert_ne!(server.run_cli(&[&["user", "edit", &ben.id][..], &bad].concat()).code, 0, "{bad:?}");
    }
    // No profile shows it, and no log keeps it.
    let fields = "user.fields=created_at,description,location,public_metrics,verified";
    let seen = cleo.get(format!("/2/users/{}?{fields}", ana.id)).text();
    assert!(!seen.contains("1990-") && !seen.contains("female"), "{seen}");
    let audit = server.run_cli(&["audit", "list", "--limit", "100"]).stdout.clone();
    assert!(!audit.contains("1960-01-01") && !audit.contains(phone));
}

#[test]
fn age_gender_and_phone_number_count_in_estimates_and_lists() {
    let users = ProfiledUsers::with_profiles();
    let ProfiledUsers { server, ads, ben, phone, .. } = &users;
    let estimated = |kind: &str, value: &str| users.estimate(kind, value);
    wait_until("all three are counted", || estimated("GENDER", "1").0 == 1 && estimated("AGE", "AGE_OVER_13").0 == 2);
    assert_eq!(estimated("AGE", "AGE_OVER_50"), (json!(1), String::new()));
    assert_eq!(estimated("GENDER", "2"), (json!(1), String::new()));
    assert_eq!(estimated("WIFI_ONLY", "1"), (json!(3), "WIFI_ONLY".to_owned()));
    // A list of phone numbers comes to whoever has one.
    let audience = ads.audience();
    let users = json!([{ "phone_number": [hashed(phone)] }]);
    ads.users(&audience, &json!([update(&users)])).assert_status(200);
    ads.comes_to(&audience, 1);
    server.run_cli(&["user", "edit", &ben.id, "--phone", ""]).assert_success();
    ads.comes_to(&audience, 0);
}

#[test]
fn figures_are_segmented_by_age_and_gender() {
    let users = ProfiledUsers::with_profiles();
    let count = |kind: &str, value: &str| users.estimate(kind, value).0;
    wait_until("all three are counted", || count("GENDER", "1") == 1 && count("AGE", "AGE_OVER_13") == 2);
    let item = users.ads.line_item(&users.ads.campaign());
    users.ads.promote_new_post(&item);
    users.serve_to_all();
    assert_eq!(users.segments(&item, "GENDER"), ["Female 1", "Male 1", "Unknown 1"]);
    assert_eq!(users.segments(&item, "AGE"), ["AGE_35_TO_49 1", "AGE_OVER_55 1", "Unknown 1"]);
}
