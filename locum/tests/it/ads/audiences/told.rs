//! What people tell the platform of themselves: found by lists, estimates and figures, shown to
//! nobody.

use serde_json::{Value, json};

use super::super::{Advertiser, send};
use super::{hashed, update};
use crate::harness::{TestRequest, TestServer, keep_for_test, unique_number, wait_until};
use crate::pages::browser::Browser;

const ACCOUNT: &str = "/settings/account";
const ABOUT: &str = "/settings/account/about";

#[test]
fn what_people_tell_of_themselves_reaches_them_and_is_shown_to_nobody() {
    let delay = ["--set", "ads.audience_delay=1s"];
    let server: &'static TestServer = keep_for_test(TestServer::start(&delay));
    let ads = Advertiser::on(server);
    let set = ["ads", "account", "set", &ads.account, "--estimate", "exact"];
    server.run_cli(&set).assert_success();
    let (ana, ben, cleo) = (server.new_user("ana"), server.new_user("ben"), server.new_user("cleo"));
    for person in [&ana, &ben, &cleo] {
        person.import_follows(&[&ads.person]);
    }
    // One says it on the page of the settings, the other is known to the operator.
    let mut browser = Browser::new(server);
    browser.sign_in(&ana.username, "secret", ACCOUNT);
    let page = browser.get(ACCOUNT);
    for (born_on, gender) in
        [("2999-01-01", "female"), ("1990-02-30", "female"), ("yesterday", "female"), ("1990-06-01", "other")]
    {
        let said = [("born_on", born_on), ("gender", gender)];
        let refused = browser.submit(&page, ABOUT, &said);
        assert_eq!(refused.status, 400, "{born_on} {gender}");
    }
    assert!(!browser.get(ACCOUNT).text().contains("1990-06-01"));
    let said = [("born_on", "1990-06-01"), ("gender", "female")];
    assert_eq!(browser.submit(&page, ABOUT, &said).status, 303);
    let page = browser.get(ACCOUNT).text();
    assert!(page.contains("value=\"1990-06-01\""), "{page}");
    let phone = format!("+3512{:08}", unique_number());
    let edit = ["user", "edit", &ben.id];
    for bad in [["--birthday", "1990"], ["--gender", "3"], ["--phone", "351200000000"]] {
        assert_ne!(server.run_cli(&[&edit[..], &bad].concat()).code, 0, "{bad:?}");
    }
    let told = ["--birthday", "1960-01-01", "--gender", "male", "--phone", &phone];
    server.run_cli(&[&edit[..], &told].concat()).assert_success();
    // No profile shows it, and no log keeps it.
    let fields = "user.fields=created_at,description,location,public_metrics,verified";
    let seen = cleo.get(format!("/2/users/{}?{fields}", ana.id)).text();
    assert!(!seen.contains("1990") && !seen.contains("female"), "{seen}");
    let audit = server.run_cli(&["audit", "list", "--limit", "100"]).stdout.clone();
    assert!(!audit.contains("1960-01-01") && !audit.contains(&phone));

    let estimated = |kind: &str, value: &str| {
        let criteria = json!([
            { "targeting_type": "FOLLOWERS_OF_USER", "targeting_value": ads.person.id },
            { "targeting_type": kind, "targeting_value": value },
        ]);
        let path = format!("/12/accounts/{}/audience_estimate", ads.account);
        let ask = TestRequest::post(path).json(&json!({ "targeting_criteria": criteria }));
        let answer = ads.person.send_signed(ask);
        let size = answer.assert_status(200)["data"]["audience_size"]["max"].clone();
        (size, answer.header("x-estimate-ignored").to_owned())
    };
    wait_until("all three are counted", || estimated("GENDER", "1").0 == 1 && estimated("AGE", "AGE_OVER_13").0 == 2);
    assert_eq!(estimated("AGE", "AGE_OVER_50"), (json!(1), String::new()));
    assert_eq!(estimated("GENDER", "2"), (json!(1), String::new()));
    assert_eq!(estimated("WIFI_ONLY", "1"), (json!(3), "WIFI_ONLY".to_owned()));
    // A list of phone numbers comes to whoever has one.
    let audience = ads.audience();
    let users = json!([{ "phone_number": [hashed(&phone)] }]);
    ads.users(&audience, &json!([update(&users)])).assert_status(200);
    ads.comes_to(&audience, 1);
    server.run_cli(&[&edit[..], &["--phone", ""]].concat()).assert_success();
    ads.comes_to(&audience, 0);

    // Figures tell ages and genders of viewers of whom the network says nothing.
    let item = ads.line_item(&ads.campaign());
    let post = ads.person.publish_text("Promoted");
    let promote = [("line_item_id", item.as_str()), ("post_ids", post.as_str())];
    ads.send("POST", "/promoted_posts", &promote).assert_status(200);
    let app = server.new_app("self-serve");
    let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
    server.run_cli(&allow).assert_success();
    let serve = |path: &str, body: &Value| {
        let ask = TestRequest::post(format!("/ads-serve/1/{path}")).json(body);
        server.send(ask.bearer(&app.bearer)).assert_status(200)
    };
    for person in [&ana, &ben, &cleo] {
        let asked = json!({ "viewer": { "user_id": person.id }, "placement": "TWITTER_TIMELINE" });
        let token = serve("request", &asked)["data"][0]["impression_token"].clone();
        let events = json!([{ "impression_token": token, "kind": "impression" }]);
        serve("events", &json!({ "events": events }));
    }
    let hour = |hours: i64| {
        let now = base::clock::wall_time().ms() / 3_600_000 * 3_600_000;
        let text = base::Time::from_ms(now + hours * 3_600_000).to_string();
        format!("{}Z", text.split('.').next().unwrap())
    };
    let segments = |by: &str| {
        let (from, to) = (hour(-1), hour(1));
        let params = [
            ("entity", "LINE_ITEM"),
            ("entity_ids", item.as_str()),
            ("start_time", &from),
            ("end_time", &to),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT"),
            ("placement", "ALL_ON_TWITTER"),
            ("segmentation_type", by),
        ];
        let path = format!("/12/stats/jobs/accounts/{}", ads.account);
        let job = send(&ads.person, "POST", &path, &params).assert_status(200);
        let id = job["data"]["id_str"].as_str().unwrap().to_owned();
        let mut found = Value::Null;
        wait_until("the job is done", || {
            found = send(&ads.person, "GET", &path, &[("job_ids", &id)]).assert_status(200);
            found["data"][0]["status"] == "SUCCESS"
        });
        let url = found["data"][0]["url"].as_str().unwrap();
        let file = server.send(TestRequest::get(&url[url.find("/ads-files/").unwrap()..]));
        let mut text = String::new();
        let mut file = flate2::read::GzDecoder::new(file.body.as_slice());
        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let all = file["data"][0]["id_data"].as_array().unwrap().clone();
        let mut names: Vec<String> = all
            .iter()
            .map(|one| {
                let name = one["segment"]["segment_name"].as_str().unwrap();
                format!("{name} {}", one["metrics"]["impressions"][0])
            })
            .collect();
        names.sort();
        names
    };
    assert_eq!(segments("GENDER"), ["Female 1", "Male 1", "Unknown 1"]);
    assert_eq!(segments("AGE"), ["AGE_35_TO_49 1", "AGE_OVER_55 1", "Unknown 1"]);
}
