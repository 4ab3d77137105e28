//! Whom a line item may be targeted at: the rules of each type, alone and together.

use ads::resources::targeting_criteria::TARGETING_TYPES;
use serde_json::{Value, json};

use super::{Advertiser, is, refused};
use crate::harness::{TestResponse, shared_server, unique_number, wait_until};

const PORTUGAL: &str = "3c65374ea675483e";
const UNITED_STATES: &str = "96683cc9126741d1";

/// A criterion that is asked for: type, value, operator.
type Asked<'a> = (&'a str, &'a str, &'a str);

impl Advertiser {
    /// A line item of a campaign of its own.
    pub(super) fn item(&self) -> String {
        self.line_item(&self.campaign())
    }

    pub(super) fn targets(&self, item: &str, (kind, value, operator): Asked<'_>) -> TestResponse {
        let params =
            [("line_item_id", item), ("targeting_type", kind), ("targeting_value", value), ("operator_type", operator)];
        self.send("POST", "/targeting_criteria", &params)
    }

    /// All of them in one batch.
    pub(super) fn targets_all(&self, item: &str, all: &[Asked<'_>]) -> TestResponse {
        let items = all.iter().map(|(kind, value, operator)| {
            json!({ "operation_type": "Create", "params": {
                "line_item_id": item, "targeting_type": kind, "targeting_value": value,
                "operator_type": operator,
            } })
        });
        self.batch("targeting_criteria", &items.collect())
    }

    fn forgets(&self, id: &str) -> TestResponse {
        self.send("DELETE", &format!("/targeting_criteria/{id}"), &[])
    }

    fn forgets_all(&self, ids: &[&str]) -> TestResponse {
        let items =
            ids.iter().map(|id| json!({ "operation_type": "Delete", "params": { "targeting_criterion_id": id } }));
        self.batch("targeting_criteria", &items.collect())
    }

    /// What a line item is targeted at: `TYPE value`.
    fn targeted(&self, item: &str) -> Vec<String> {
        let params = [("line_item_ids", item), ("count", "1000")];
        let page = self.get("/targeting_criteria", &params);
        let all = page["data"].as_array().unwrap().iter();
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        let mut all: Vec<String> = all
            .map(|one| {
                let (kind, value) = (text(one, "targeting_type"), text(one, "targeting_value"));
                format!("{kind} {value}")
            })
            .collect();
        all.sort();
        all
    }
}

fn option(more: &[&str]) -> String {
    let name = format!("option{}", unique_number());
    let add = [&["ads", "option", "add", more[0], &name], &more[1..]].concat();
    let added = shared_server().run_cli(&add).json();
    added["value"].as_str().unwrap().to_owned()
}

fn id(response: &TestResponse) -> String {
    let created = response.assert_status(200);
    created["data"]["id"].as_str().unwrap().to_owned()
}

/// The codes and places of what is wrong with each item of a batch.
#[track_caller]
pub(super) fn wrong(response: &TestResponse) -> Vec<Vec<(String, String)>> {
    let body = response.assert_status(400);
    let items = body["operation_errors"].as_array();
    let items = items.unwrap_or_else(|| panic!("{body}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |problem: &Value| {
        let at = &problem["parameter"];
        let at = if at.is_null() { &problem["attribute"] } else { at };
        (text(&problem["code"]), text(at))
    };
    let of_item = |item: &Value| item.as_array().unwrap().iter().map(one).collect();
    items.iter().map(of_item).collect()
}

fn pair(code: &str, at: &str) -> (String, String) {
    (code.to_owned(), at.to_owned())
}

#[test]
fn targeting_type_accepts_only_its_operators() {
    let ads = Advertiser::new();
    let item = ads.item();
    let mut wrong = Vec::new();
    for kind in TARGETING_TYPES {
        let takes: &[&str] = match *kind {
            "BROAD_KEYWORD" | "PHRASE_KEYWORD" | "EXACT_KEYWORD" | "UNORDERED_KEYWORD" | "CUSTOM_AUDIENCE"
            | "IAB_CATEGORY" => &["EQ", "NE"],
            "PLATFORM_VERSION" => &["EQ", "GTE"],
            "NETWORK_ACTIVATION_DURATION" => &["LT", "GTE"],
            "APP_LIST" | "CONTENT_PUBLISHER_USER" => &["NE"],
            _ => &["EQ"],
        };
        for operator in ["EQ", "NE", "GTE", "LT"] {
            let alone = ads.targets(&item, (kind, "~", operator));
            let batch = ads.targets_all(&item, &[(kind, "~", operator)]);
            let of_batch = &batch.json()["operation_errors"][0];
            for errors in [&alone.json()["errors"], of_batch] {
                let errors = errors.as_array().cloned().unwrap_or_default();
                let at = |error: &Value| error["attribute"] == "operator_type";
                if errors.iter().any(at) == takes.contains(&operator) {
                    wrong.push(format!("{kind} {operator}: {}", alone.text()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_criterion_is_refused_alike_alone_and_in_a_batch() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let item = ads.item();
    let (own, foreign) = (ads.campaign(), other.campaign());
    let promotable = other.get("/promotable_users", &[])["data"][0]["id"].clone();
    let promotable = promotable.as_str().unwrap();
    let (at, kind) = ("targeting_value", "targeting_type");
    let (invalid, bad) = ("INVALID", "INVALID_PARAMETER");
    let illegal = "INVALID_ID_ILLEGAL_CHARACTERS";
    for (requested, status, code, at) in [
        (("SHOE_SIZE", "42", "EQ"), 400, bad, kind),
        (("AGE", "AGE_OVER_99", "EQ"), 400, bad, at),
        (("GENDER", "3", "EQ"), 400, bad, at),
        (("WIFI_ONLY", "0", "EQ"), 400, bad, at),
        (("ENGAGEMENT_TYPE", "NOD", "EQ"), 400, bad, at),
        (("LOCATION", "Portugal", "EQ"), 400, bad, at),
        (("LANGUAGE", "xx", "EQ"), 400, bad, at),
        (("PLATFORM", "5", "EQ"), 400, bad, at),
        (("INTEREST", "123456", "EQ"), 400, bad, at),
        (("INTEREST", "x", "EQ"), 400, bad, at),
        (("EVENT", "nowhere", "EQ"), 400, bad, at),
        (("LIVE_TV_EVENT", "nowhere", "EQ"), 400, bad, at),
        (("CONVERSATION", "nowhere", "EQ"), 400, bad, at),
        (("TV_SHOW", "nowhere", "EQ"), 400, bad, at),
        (("DEVICE", "nowhere", "EQ"), 400, bad, at),
        (("NETWORK_OPERATOR", "nowhere", "EQ"), 400, bad, at),
        (("NETWORK_ACTIVATION_DURATION", "x", "LT"), 400, bad, at),
        (("BROAD_KEYWORD", " ", "EQ"), 400, bad, at),
        (("FOLLOWERS_OF_USER", &other.person.id, "EQ"), 400, "INVALID_USER_ID", at),
        (("SIMILAR_TO_FOLLOWERS_OF_USER", "1", "EQ"), 400, "INVALID_USER_ID", at),
        (("CUSTOM_AUDIENCE", "zzzz", "EQ"), 404, "TAILORED_AUDIENCE_NOT_FOUND", at),
        (("CAMPAIGN_ENGAGEMENT", &own, "EQ"), 400, invalid, kind),
        (("CAMPAIGN_ENGAGEMENT_LOOKALIKE", &own, "EQ"), 400, invalid, kind),
        (("CAMPAIGN_ENGAGEMENT", &foreign, "EQ"), 404, "CAMPAIGN_NOT_FOUND", at),
        (("CAMPAIGN_ENGAGEMENT", "a-b", "EQ"), 404, illegal, at),
        (("USER_ENGAGEMENT", promotable, "EQ"), 404, "PROMOTABLE_USER_NOT_FOUND", at),
    ] {
        let alone = refused(&ads.targets(&item, requested), status);
        assert_eq!(alone, pair(code, at), "{requested:?}");
        let batch = ads.targets_all(&item, &[("BROAD_KEYWORD", "bike", "EQ"), requested]);
        assert_eq!(wrong(&batch), [vec![], vec![alone]], "{requested:?}");
    }
    assert!(ads.targeted(&item).is_empty());
    // Those that go together do not come alone, whatever they are.
    for requested in [("IAB_CATEGORY", "IAB17", "EQ"), ("CONTENT_PUBLISHER_USER", ads.person.id.as_str(), "NE")] {
        is(&ads.targets(&item, requested), 400, "INVALID_TARGETING_TYPE", kind);
        ads.targets_all(&item, &[requested]).assert_status(200);
    }
    // What is there already is answered, and is no second one.
    let first = id(&ads.targets(&item, ("AGE", "AGE_OVER_21", "EQ")));
    assert_eq!(id(&ads.targets(&item, ("AGE", "AGE_OVER_21", "EQ"))), first);
    is(&ads.targets(&item, ("AGE", "AGE_OVER_35", "EQ")), 400, invalid, kind);
    // What makes room in a batch counts, in whatever order it comes.
    let swap = json!([
        { "operation_type": "Create", "params": { "line_item_id": item,
            "targeting_type": "AGE", "targeting_value": "AGE_OVER_35" } },
        { "operation_type": "Delete", "params": { "targeting_criterion_id": first } },
    ]);
    ads.batch("targeting_criteria", &swap).assert_status(200);
}

#[test]
fn tv_show_is_targeted_in_its_markets_only() {
    let ads = Advertiser::new();
    let (item, other) = (ads.item(), ads.item());
    let value = option(&["TV_SHOW", "--keyword", "bike", "--locale", "en-US", "--locale", "pt-BR"]);
    let show = ("TV_SHOW", value.as_str(), "EQ");
    let (here, there) = (("LOCATION", UNITED_STATES, "EQ"), ("LOCATION", PORTUGAL, "EQ"));
    let (nowhere, outside) = ("INVALID_TV_SHOW_LOCATIONS", "TV_SHOW_OUTSIDE_MARKET");
    let at = "targeting_value";
    is(&ads.targets(&item, show), 400, nowhere, at);
    let far = id(&ads.targets(&item, there));
    is(&ads.targets(&item, show), 400, outside, at);
    let place = id(&ads.targets(&item, here));
    let seen = id(&ads.targets(&item, show));
    // The place goes with the show or stays.
    is(&ads.forgets(&place), 400, outside, at);
    assert_eq!(wrong(&ads.forgets_all(&[&place])), [[pair(outside, at)]]);
    assert_eq!(wrong(&ads.forgets_all(&[&far, &place])), [[pair(nowhere, at)], [pair(nowhere, at)]]);
    ads.forgets(&far).assert_status(200);
    ads.forgets_all(&[&place, &seen]).assert_status(200);
    assert!(ads.targeted(&item).is_empty());
    // A batch counts as a whole: in whichever order, and nothing of it if something is wrong.
    assert_eq!(wrong(&ads.targets_all(&other, &[there, show])), [vec![], vec![pair(outside, at)]]);
    assert!(ads.targeted(&other).is_empty());
    ads.targets_all(&other, &[show, there, here]).assert_status(200);
    assert_eq!(ads.targeted(&other).len(), 3);
}

#[test]
fn engagement_criteria_need_an_engagement_type() {
    let ads = Advertiser::new();
    let (item, other) = (ads.item(), ads.item());
    let campaign = ads.campaign();
    let user = ads.get("/promotable_users", &[])["data"][0]["id"].clone();
    let kinds = [
        ("CAMPAIGN_ENGAGEMENT", campaign.as_str(), "EQ"),
        ("CAMPAIGN_ENGAGEMENT_LOOKALIKE", campaign.as_str(), "EQ"),
        ("USER_ENGAGEMENT", user.as_str().unwrap(), "EQ"),
        ("USER_ENGAGEMENT_LOOKALIKE", user.as_str().unwrap(), "EQ"),
    ];
    let needed = || pair("INVALID", "targeting_type");
    let all = wrong(&ads.targets_all(&item, &kinds));
    assert_eq!(all, [[needed()], [needed()], [needed()], [needed()]]);
    let kind = id(&ads.targets(&item, ("ENGAGEMENT_TYPE", "VIDEO_VIEW", "EQ")));
    for one in kinds {
        ads.targets(&item, one).assert_status(200);
    }
    is(&ads.forgets(&kind), 400, "INVALID", "targeting_type");
    // Another type instead will do.
    let second = id(&ads.targets(&item, ("ENGAGEMENT_TYPE", "ENGAGEMENT", "EQ")));
    ads.forgets(&kind).assert_status(200);
    is(&ads.forgets(&second), 400, "INVALID", "targeting_type");
    ads.targets_all(&other, &[kinds[0], ("ENGAGEMENT_TYPE", "IMPRESSION", "EQ")]).assert_status(200);
}

#[test]
fn platform_and_device_are_not_targeted_together() {
    let ads = Advertiser::new();
    let item = ads.item();
    let (phone, tablet) = (
        option(&["DEVICE", "--os", "IOS", "--manufacturer", "Pear"]),
        option(&["DEVICE", "--os", "android", "--manufacturer", "Slate"]),
    );
    let (ios, android) = (("PLATFORM", "0", "EQ"), ("PLATFORM", "1", "EQ"));
    let phone = ("DEVICE", phone.as_str(), "EQ");
    let broader = || pair("INVALID", "targeting_value");
    let device = id(&ads.targets(&item, phone));
    is(&ads.targets(&item, ios), 400, "INVALID", "targeting_value");
    ads.targets(&item, android).assert_status(200);
    let slate = ("DEVICE", tablet.as_str(), "EQ");
    is(&ads.targets(&item, slate), 400, "INVALID", "targeting_value");
    let both = wrong(&ads.targets_all(&item, &[("BROAD_KEYWORD", "bike", "EQ"), ios, slate]));
    assert_eq!(both, [vec![], vec![broader()], vec![broader()]]);
    ads.forgets(&device).assert_status(200);
    ads.targets(&item, ios).assert_status(200);
    is(&ads.targets(&item, phone), 400, "INVALID", "targeting_value");
}

#[test]
fn app_line_item_targets_the_platforms_of_its_app() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "APP_INSTALLS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("android_app_store_identifier", "org.example.bikes"),
    ];
    let item = ads.make("/line_items", &params);
    assert_eq!(ads.targeted(&item), ["PLATFORM 1"]);
    let path = format!("/line_items/{item}");
    let change = |name: &str, value: &str| ads.send("PUT", &path, &[(name, value)]).assert_status(200);
    change("name", "Riders");
    change("ios_app_store_identifier", "1234");
    change("ios_app_store_identifier", "1235");
    assert_eq!(ads.targeted(&item), ["PLATFORM 0", "PLATFORM 1"]);
    let other = json!([{ "operation_type": "Create", "params": {
        "campaign_id": campaign, "objective": "APP_INSTALLS", "product_type": "PROMOTED_TWEETS",
        "placements": ["ALL_ON_TWITTER"], "ios_app_store_identifier": "77",
    } }]);
    let created = ads.batch("line_items", &other).assert_status(200);
    let created = created["data"][0]["id"].as_str().unwrap();
    assert_eq!(ads.targeted(created), ["PLATFORM 0"]);
    // Who has chosen single devices keeps them.
    let phone = option(&["DEVICE", "--os", "ANDROID"]);
    ads.targets(created, ("DEVICE", &phone, "EQ")).assert_status(200);
    let android = [("android_app_store_identifier", "org.example.bikes")];
    ads.send("PUT", &format!("/line_items/{created}"), &android).assert_status(200);
    assert_eq!(ads.targeted(created), [format!("DEVICE {phone}"), "PLATFORM 0".to_owned()]);
}

#[test]
fn content_categories_are_targeted_in_complete_groups() {
    let ads = Advertiser::new();
    let item = ads.item();
    let business = ["IAB3", "IAB13", "IAB21"];
    let all = |operator| business.map(|value| ("IAB_CATEGORY", value, operator));
    let part = || pair("INVALID", "targeting_value");
    let some = all("EQ");
    assert_eq!(wrong(&ads.targets_all(&item, &some[..2])), [[part()], [part()]]);
    let stray = [("IAB_CATEGORY", "IAB17", "EQ"), some[0]];
    assert_eq!(wrong(&ads.targets_all(&item, &stray)), [vec![], vec![part()]]);
    let unknown = [("IAB_CATEGORY", "IAB99", "EQ")];
    let unknown = wrong(&ads.targets_all(&item, &unknown));
    assert_eq!(unknown, [[pair("INVALID_IAB_CATEGORY", "targeting_value")]]);
    assert!(ads.targeted(&item).is_empty());
    let created = ads.targets_all(&item, &some).assert_status(200);
    let ids: Vec<&str> = created["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    // They go as they came.
    is(&ads.forgets(ids[0]), 400, "INVALID", "targeting_value");
    assert_eq!(wrong(&ads.forgets_all(&ids[..2])), [[part()], [part()]]);
    ads.forgets_all(&ids).assert_status(200);
    assert!(ads.targeted(&item).is_empty());
    // What is left out is a whole set of its own.
    let mixed = [some[0], some[1], ("IAB_CATEGORY", "IAB21", "NE")];
    assert_eq!(wrong(&ads.targets_all(&item, &mixed)), [[part()], [part()], [part()]]);
    ads.targets_all(&item, &all("NE")).assert_status(200);
}

#[test]
fn targeting_suggestions_follow_from_targeted_values() {
    let ads = Advertiser::new();
    let (word, beside) = (format!("gravel{}", unique_number()), format!("pannier{}", unique_number()));
    for _ in 0..3 {
        shared_server().new_user("rider").publish_text(&format!("{word} and {beside}"));
    }
    let suggest = |params: &[(&str, &str)]| ads.send("GET", "/targeting_suggestions", params);
    let of = |kind: &str, values: &str, count: &str| {
        let params = [("suggestion_type", kind), ("targeting_values", values), ("count", count)];
        suggest(&params).assert_status(200)["data"].clone()
    };
    let row = |kind: &str, value: &str| json!({ "suggestion_type": kind, "suggestion_value": value });
    let expected = row("KEYWORD", &beside);
    // What was answered is answered for a while: so something else is asked each time.
    wait_until("a word is suggested", || {
        let requested = format!("{word},unheard{}", unique_number());
        of("KEYWORD", &requested, "50").as_array().unwrap().contains(&expected)
    });
    assert_eq!(of("KEYWORD", &word, "1").as_array().unwrap().len(), 1);
    // Who follows the one follows the other, and others do not.
    let (club, shop) = (shared_server().new_user("club"), shared_server().new_user("shop"));
    for _ in 0..4 {
        shared_server().new_user("fan").import_follows(&[&club, &shop]);
    }
    wait_until("an account is suggested", || of("USER_ID", &club.id, "30") == json!([row("USER_ID", &shop.id)]));
    let alone = shared_server().new_user("alone");
    assert_eq!(of("USER_ID", &alone.id, "30"), json!([]));
    for (params, code, at) in [
        (&[][..], "MISSING_PARAMETER", "suggestion_type"),
        (&[("suggestion_type", "KEYWORD")], "MISSING_PARAMETER", "targeting_values"),
        (&[("suggestion_type", "KEYWORD"), ("targeting_values", ",")], "MISSING_PARAMETER", "targeting_values"),
        (&[("suggestion_type", "PLACE"), ("targeting_values", "x")], "INVALID_PARAMETER", "suggestion_type"),
        (&[("suggestion_type", "USER_ID"), ("targeting_values", "bike")], "INVALID_PARAMETER", "targeting_values"),
        (&[("suggestion_type", "USER_ID"), ("targeting_values", "1")], "INVALID_PARAMETER", "targeting_values"),
        (&[("suggestion_type", "KEYWORD"), ("targeting_values", "!!")], "INVALID_PARAMETER", "targeting_values"),
    ] {
        is(&suggest(params), 400, code, at);
    }
}

#[test]
fn paused_or_draft_record_is_activated() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let draft = [
        ("funding_instrument_id", ads.instrument.as_str()),
        ("name", "Later"),
        ("daily_budget_amount_local_micro", "20000000"),
        ("entity_status", "DRAFT"),
    ];
    let campaign = ads.make("/campaigns", &draft);
    let item = ads.line_item(&campaign);
    let (campaign, item) = (format!("/campaigns/{campaign}"), format!("/line_items/{item}"));
    ads.send("PUT", &item, &[("entity_status", "PAUSED")]).assert_status(200);
    for one in [&campaign, &item] {
        let path = format!("{one}/activate");
        assert_ne!(ads.get(one, &[])["data"]["entity_status"], "ACTIVE");
        let active = ads.send("PUT", &path, &[("name", "ignored")]).assert_status(200);
        assert_eq!(active["data"]["entity_status"], "ACTIVE");
        assert_ne!(active["data"]["name"], "ignored");
        assert_eq!(ads.get(one, &[])["data"]["entity_status"], "ACTIVE");
        ads.send("PUT", &path, &[]).assert_status(200);
        assert_eq!(other.send("PUT", &path, &[]).status, 404);
    }
    is(&ads.send("PUT", "/campaigns/zzz/activate", &[]), 404, "CAMPAIGN_NOT_FOUND", "campaign_id");
    is(&ads.send("PUT", "/line_items/a-b/activate", &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "line_item_id");
    // As many as may be: one more does not become active this way either.
    let set = ["ads", "account", "set", &ads.account, "--campaigns", "1"];
    shared_server().run_cli(&set).assert_success();
    let waiting = ads.make("/campaigns", &draft);
    let response = ads.send("PUT", &format!("/campaigns/{waiting}/activate"), &[]);
    is(&response, 400, "TOO_MANY_CAMPAIGNS", "");
}
