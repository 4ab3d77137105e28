//! What needs a feature: every declared gate, before accounts that are held to their features and
//! before those that are not.

use std::thread;

use ads::resources::RESOURCES;
use ads::resources::features::ALL_FEATURES;
use ads_engine::{FeatureGate, FieldSpec, OperationAction};
use serde_json::{Value, json};

use super::collection::World;
use super::settings::hour;
use super::{Advertiser, is, send};
use crate::harness::{TestResponse, shared_server, unique_number};

/// What stands behind the gates.
struct Yard {
    world: World,
    item: String,
    event: String,
    apps: String,
    audience: String,
}

fn option(more: &[&str]) -> String {
    let name = format!("option{}", unique_number());
    let add = [&["ads", "option", "add", more[0], &name], &more[1..]].concat();
    let added = shared_server().run_cli(&add).json();
    added["value"].as_str().unwrap().to_owned()
}

impl Yard {
    fn new() -> Self {
        let world = World::new();
        let ads = &world.ads;
        let item = ads.line_item(&ads.campaign());
        let kind =
            [("line_item_id", item.as_str()), ("targeting_type", "ENGAGEMENT_TYPE"), ("targeting_value", "IMPRESSION")];
        ads.make("/targeting_criteria", &kind);
        let audience = ads.make("/custom_audiences", &[("name", "Passed on")]);
        Self {
            item,
            event: option(&["EVENT", "--about", "SPORTS", "--keyword", "bike"]),
            apps: option(&["APP_STORE_CATEGORY"]),
            audience,
            world,
        }
    }

    /// Has the account held to its features, which are all but one, or all.
    fn held(&self, gates: &str, feature: &str, granted: bool) {
        let account = self.world.ads.account.as_str();
        shared_server().run_cli(&["ads", "account", "set", account, "--gates", gates]).assert_success();
        let mut change = vec!["ads", "account", "feature", account];
        for key in ALL_FEATURES {
            change.extend(["--add", *key]);
        }
        if !granted {
            change.extend(["--remove", feature]);
        }
        shared_server().run_cli(&change).assert_success();
    }

    /// Goes through a gate at a value: what stands there decides how.
    #[expect(clippy::too_many_lines, reason = "one row for each gate")]
    fn tries(&self, of: &str, field: &str, value: &str) -> TestResponse {
        let ads = &self.world.ads;
        let post = |path: &str, params: &[(&str, &str)]| ads.send("POST", path, params);
        let known = |name: &str| self.world.values[name].as_str();
        match (of, field) {
            ("line_item", _) => {
                let more: &[(&str, &str)] = match field {
                    "objective" => &[("objective", "PREROLL_VIEWS"), ("product_type", "MEDIA"), ("categories", "IAB7")],
                    "frequency_cap" => &[
                        ("objective", "ENGAGEMENTS"),
                        ("product_type", "PROMOTED_TWEETS"),
                        ("frequency_cap", "3"),
                        ("duration_in_days", "7"),
                    ],
                    _ => &[
                        ("objective", "WEBSITE_CLICKS"),
                        ("product_type", "PROMOTED_TWEETS"),
                        ("pay_by", "IMPRESSION"),
                    ],
                };
                let campaign = ads.campaign();
                let defaults = [
                    ("campaign_id", campaign.as_str()),
                    ("placements", "ALL_ON_TWITTER"),
                    ("bid_amount_local_micro", "150000"),
                ];
                post("/line_items", &[&defaults[..], more].concat())
            }
            ("targeting_criterion", "targeting_type") => {
                let about = match value {
                    "AGE" => "AGE_OVER_21",
                    "EVENT" => &self.event,
                    "ENGAGEMENT_TYPE" => "VIDEO_VIEW",
                    kind if kind.starts_with("APP_STORE") => &self.apps,
                    kind if kind.starts_with("CAMPAIGN") => known("campaign_id"),
                    _ => &self.promotable(),
                };
                let params =
                    [("line_item_id", self.item.as_str()), ("targeting_type", value), ("targeting_value", about)];
                post("/targeting_criteria", &params)
            }
            ("video_conversation_card" | "image_conversation_card", _) => {
                let video = of.starts_with("video");
                let medium = if video { "unlocked_video_media_key" } else { "media_key" };
                let mut params = vec![
                    ("name", "Pick a route"),
                    ("title", "Sunday ride"),
                    ("media_key", known(medium)),
                    ("first_cta", "Coast"),
                    ("first_cta_tweet", "I choose the coast"),
                    ("thank_you_text", "See you there"),
                ];
                match field {
                    "third_cta" => params.extend([(field, "Hills"), ("third_cta_tweet", "Up")]),
                    "fourth_cta" => params.extend([(field, "Home"), ("fourth_cta_tweet", "No")]),
                    "" => {}
                    medium => params.push((medium, known(medium))),
                }
                let kind = of.trim_end_matches("_card");
                post(&format!("/cards/{kind}"), &params)
            }
            ("video_app_download_card" | "image_direct_message_card" | "video_direct_message_card", "") => {
                let medium = if of.starts_with("video") { "unlocked_video_media_key" } else { "media_key" };
                let mut params = vec![("name", "Older"), ("media_key", known(medium))];
                params.extend(if of.contains("app") {
                    [("country_code", "PT"), ("googleplay_app_id", "org.example.bikes")].to_vec()
                } else {
                    let user = ("recipient_user_id", known("user_id"));
                    [user, ("first_cta", "Ask"), ("first_cta_welcome_message_id", "7")].to_vec()
                });
                let kind = of.trim_end_matches("_card");
                post(&format!("/cards/{kind}"), &params)
            }
            ("poll_card", "media_key") => {
                let params = [
                    ("name", "When"),
                    ("first_choice", "Morning"),
                    ("second_choice", "Evening"),
                    ("duration_in_minutes", "60"),
                    ("media_key", known("media_key")),
                ];
                post("/cards/poll", &params)
            }
            ("getAdsReachOfCampaigns" | "getAdsReachOfFundingInstruments", "") => {
                let (kind, name, id) = if of.ends_with("Campaigns") {
                    ("campaigns", "campaign_ids", known("campaign_id"))
                } else {
                    let id = ads.instrument.as_str();
                    ("funding_instruments", "funding_instrument_ids", id)
                };
                let path = format!("/12/stats/accounts/{}/reach/{kind}", ads.account);
                let (from, to) = (hour(-2), hour(-1));
                let params = [(name, id), ("start_time", &from), ("end_time", &to)];
                send(&ads.person, "GET", &path, &params)
            }
            ("grantAdsAudiencePermission" | "grantAdsTailoredPermission", _) => {
                let (version, kind) =
                    if of.contains("Tailored") { ("5", "tailored_audiences") } else { ("12", "custom_audiences") };
                let (account, audience) = (&ads.account, &self.audience);
                let path = format!("/{version}/accounts/{account}/{kind}/{audience}/permissions");
                let params = [("granted_account_id", known("granted_account_id")), ("permission_level", "READ_ONLY")];
                send(&ads.person, "POST", &path, &params)
            }
            (of, field) => panic!("nobody knows how to go through the gate at {of} {field}"),
        }
    }

    fn promotable(&self) -> String {
        let all = self.world.ads.get("/promotable_users", &[]);
        all["data"][0]["id"].as_str().unwrap().to_owned()
    }

    /// What is wrong with a gate at a value.
    fn wrong(&self, (of, field, gate): (&str, &str, FeatureGate), value: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut note = |how: &str, response: &TestResponse| {
            let feature = gate.feature;
            let (status, text) = (response.status, response.text());
            wrong.push(format!("{feature} at {of} {field} {value} {how}: {status} {text}"));
        };
        for (gates, granted) in [("strict", false), ("strict", true), ("lenient", false)] {
            self.held(gates, gate.feature, granted);
            let response = self.tries(of, field, value);
            let passes = granted || gates == "lenient" && !gate.applies_to_all_accounts;
            let holds = if passes { response.status == 200 } else { is_closed(&response, field, gate.feature) };
            if !holds {
                note(&format!("{gates}, granted {granted}"), &response);
            }
        }
        wrong
    }
}

/// Whether the answer says that this feature is missing, at this parameter, and nothing else.
fn is_closed(response: &TestResponse, field: &str, feature: &str) -> bool {
    let body = response.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let at = if field.is_empty() { Value::Null } else { field.into() };
    response.status == 400
        && errors.len() == 1
        && errors[0]["code"] == "FEATURE_NOT_AVAILABLE"
        && errors[0]["parameter"] == at
        && errors[0]["message"].as_str().is_some_and(|text| text.contains(feature))
}

fn gates_of(
    owner: &'static str,
    whole: Option<FeatureGate>,
    fields: &[FieldSpec],
) -> Vec<(&'static str, &'static str, FeatureGate)> {
    let fields = fields.iter().flat_map(|field| field.gates.iter().map(|gate| (owner, field.name.post, *gate)));
    whole.map(|gate| (owner, "", gate)).into_iter().chain(fields).collect()
}

/// Every gate with its resource or operation and its field, if it has one.
fn list_gates() -> Vec<(&'static str, &'static str, FeatureGate)> {
    let of_resources = RESOURCES.iter().flat_map(|of| gates_of(of.name, of.feature_gate, of.fields));
    let of_operations = ads_delivery::operations().iter().filter_map(|operation| match operation.action {
        OperationAction::Custom(custom) => Some(gates_of(custom.id, custom.feature_gate, custom.params)),
        _ => None,
    });
    of_resources.chain(of_operations.flatten()).collect()
}

#[test]
fn gated_field_is_refused_without_the_feature() {
    let yard = Yard::new();
    let mut wrong = Vec::new();
    let mut features = Vec::new();
    for (of, field, gate) in list_gates() {
        assert!(ALL_FEATURES.contains(&gate.feature), "{}", gate.feature);
        features.push(gate.feature);
        let values = match gate.values {
            [] => &[""][..],
            some => some,
        };
        for value in values {
            wrong.extend(yard.wrong((of, field, gate), value));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // All that the contract names.
    features.sort_unstable();
    features.dedup();
    let named = [
        "AGE_TARGETING",
        "CONVERSATION_CARD",
        "CONVERSATION_CARD_FOUR_OPTIONS",
        "CONVERSATION_CARD_UNLOCK",
        "DIRECT_MESSAGE_CARD",
        "ENGAGER_RETARGETING",
        "EVENT_TARGETING",
        "INSTALLED_APP_CATEGORY_TARGETING",
        "PREROLL_VIEWS_OBJECTIVE",
        "PROMOTED_MEDIA_POLLS",
        "REACH_AND_FREQUENCY_ANALYTICS",
        "REACH_FREQUENCY_CAP",
        "SHARE_AUDIENCE_OUTSIDE_BUSINESS",
        "VIDEO_APP_DOWNLOAD_CARD",
        "WEBSITE_CLICKS_CPM_BILLING",
    ];
    assert_eq!(features, named);
}

#[test]
fn default_and_existing_values_pass_feature_gates() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let set = |gates: &str| {
        let set = ["ads", "account", "set", &ads.account, "--gates", gates];
        shared_server().run_cli(&set).assert_success();
    };
    let clicks = [
        ("campaign_id", campaign.as_str()),
        ("objective", "WEBSITE_CLICKS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
    ];
    let pays = |id: &str| ads.get(&format!("/line_items/{id}"), &[])["data"]["pay_by"].clone();
    let before = ads.make("/line_items", &clicks);
    assert_eq!(pays(&before), "IMPRESSION");
    set("strict");
    assert_eq!(pays(&ads.make("/line_items", &clicks)), "LINK_CLICK");
    // What was there before stays as it is, and may be changed otherwise.
    let path = format!("/line_items/{before}");
    let name = [("name", "Renamed"), ("pay_by", "IMPRESSION")];
    ads.send("PUT", &path, &name).assert_status(200);
    // In a batch an item is refused as it is alone.
    let create = |kind: &str, value: &str| {
        json!({ "operation_type": "Create", "params": { "line_item_id": before,
            "targeting_type": kind, "targeting_value": value } })
    };
    let batch = json!([create("BROAD_KEYWORD", "bike"), create("AGE", "AGE_OVER_21")]);
    let refused = ads.batch("targeting_criteria", &batch).assert_status(400);
    assert_eq!(refused["operation_errors"][0], json!([]));
    let problem = &refused["operation_errors"][1][0];
    assert_eq!(problem["code"], "FEATURE_NOT_AVAILABLE");
    assert_eq!(problem["parameter"], "targeting_type");
    set("lenient");
    ads.batch("targeting_criteria", &batch).assert_status(200);

    for wrong in [&["--gates", "none"][..], &["--line-items", "8001"], &["--line-items", "0"]] {
        let set = [&["ads", "account", "set", &ads.account][..], wrong].concat();
        shared_server().run_cli(&set).assert_refused();
    }
    let unknown = ["ads", "account", "feature", &ads.account, "--add", "WINGS"];
    shared_server().run_cli(&unknown).assert_refused();
}

#[test]
fn features_that_are_added_at_once_are_all_kept() {
    let ads = Advertiser::new();
    let added = ["AWARENESS_OBJECTIVE", "BRAND_TPN", "CPI_CHARGING", "PREROLL_VIEWS_OBJECTIVE"];
    thread::scope(|scope| {
        for feature in added {
            let account = &ads.account;
            scope.spawn(move || {
                let add = ["ads", "account", "feature", account, "--add", feature];
                shared_server().run_cli(&add).assert_success();
            });
        }
    });
    let account = shared_server().run_cli(&["ads", "account", "show", &ads.account]).json();
    for feature in added {
        assert!(account["features"].as_array().unwrap().contains(&json!(feature)), "{feature}: {account}");
    }
}

#[test]
fn sandbox_account_adds_its_own_features() {
    let ads = Advertiser::new();
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let account = created["data"][0]["id"].as_str().unwrap().to_owned();
    let set = ["ads", "account", "set", &account, "--gates", "strict"];
    assert_eq!(shared_server().run_cli(&set).json()["feature_gates"], "strict");
    let inside = |method, path: &str, params: &[(&str, &str)]| {
        let path = format!("/ads-sandbox/12/accounts/{account}{path}");
        send(&ads.person, method, &path, params)
    };
    let id = |response: &TestResponse| response.assert_status(200)["data"]["id"].as_str().unwrap().to_owned();
    let funding = [("currency", "USD"), ("type", "CREDIT_LINE"), ("start_time", "2026-01-01")];
    let instrument = id(&inside("POST", "/funding_instruments", &funding));
    let campaign = [
        ("funding_instrument_id", instrument.as_str()),
        ("name", "Trial"),
        ("daily_budget_amount_local_micro", "20000000"),
    ];
    let campaign = id(&inside("POST", "/campaigns", &campaign));
    let item = |more: &[(&str, &str)]| {
        let defaults = [
            ("campaign_id", campaign.as_str()),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "150000"),
        ];
        inside("POST", "/line_items", &[&defaults[..], more].concat())
    };
    item(&[]).assert_status(200);
    let capped = [("frequency_cap", "2"), ("duration_in_days", "1")];
    is(&item(&capped), 400, "FEATURE_NOT_AVAILABLE", "frequency_cap");
    let key = [("feature_keys", "REACH_FREQUENCY_CAP")];
    inside("POST", "/features", &key).assert_status(200);
    item(&capped).assert_status(200);
    inside("DELETE", "/features", &key).assert_status(200);
    is(&item(&capped), 400, "FEATURE_NOT_AVAILABLE", "frequency_cap");
    let unknown = [("feature_keys", "WINGS")];
    for method in ["POST", "DELETE", "GET"] {
        let refused = inside(method, "/features", &unknown);
        is(&refused, 400, "INVALID_PARAMETER", "feature_keys");
    }
}
