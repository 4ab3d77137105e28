//! Audiences that are made of others.

use serde_json::{Value, json};

use super::super::{Advertiser, batch_problem, is};
use super::{hashed, remove, update};
use crate::harness::{TestRequest, TestResponse, TestUser, shared_server, unique_number};

pub(super) fn of(audience: &str) -> Value {
    json!({ "custom_audience_id": audience })
}

fn not(audience: &str) -> Value {
    json!({ "custom_audience_id": audience, "negate": true })
}

pub(super) fn made_of(operator: &str, children: &[Value]) -> Value {
    json!({ "boolean_operator": operator, "child_segments": children })
}

fn item(name: &str, segments: &Value) -> Value {
    let params = json!({ "name": name, "audience_type": "FLEXIBLE", "segments": segments });
    json!({ "operation_type": "Create", "params": params })
}

impl Advertiser {
    pub(super) fn flexible(&self, segments: &Value) -> String {
        let name = format!("Flexible {}", unique_number());
        let created = self.batch("custom_audiences", &json!([item(&name, segments)]));
        created.assert_status(200)["data"][0]["id"].as_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let page = self.get("/custom_audiences", &[]);
        let all = page["data"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    }

    fn estimated(&self, audience: &str) -> TestResponse {
        let criterion = json!({ "targeting_type": "CUSTOM_AUDIENCE", "targeting_value": audience });
        let path = format!("/12/accounts/{}/audience_estimate", self.account);
        let request = TestRequest::post(path).json(&json!({ "targeting_criteria": [criterion] }));
        self.person.send_signed(request)
    }
}

/// An advertiser with two lists, and what five audiences made of them were answered with.
struct CombinedLists {
    ads: Advertiser,
    member: TestUser<'static>,
    here: String,
    there: String,
    response: Value,
}

impl CombinedLists {
    fn new() -> Self {
        let ads = Advertiser::new();
        let [member, both, other] = ["one", "two", "three"].map(|name| shared_server().new_user(name));
        let (here, there) = (ads.audience_of(&[&member, &both]), ads.audience_of(&[&both, &other]));
        let items = json!([
            item("Either", &made_of("OR", &[of(&here), of(&there)])),
            item("Both", &made_of("AND", &[of(&here), of(&there)])),
            item("Only here", &made_of("and", &[of(&here), not(&there)])),
            item("Twice", &made_of("AND", &[json!({ "custom_audience_id": here, "frequency": 2 })])),
            item("Lately", &made_of("AND", &[json!({ "custom_audience_id": here, "lookback_window": 1 })])),
        ]);
        let response = ads.batch("custom_audiences", &items).assert_status(200);
        Self { ads, member, here, there, response }
    }

    fn ids(&self) -> Vec<String> {
        super::ids(&self.response).into_iter().map(str::to_owned).collect()
    }
}

#[test]
fn flexible_audience_has_the_members_that_its_segments_select() {
    let CombinedLists { ads, here, there, response: made, .. } = &CombinedLists::new();
    assert_eq!(made["request"].as_array().unwrap().len(), 5);
    assert_eq!(made["request"][0]["operation_type"], "Create");
    assert_eq!(made["request"][0]["params"]["account_id"], ads.account.as_str());

    let shown = &made["data"][0];
    assert_eq!(shown["audience_type"], "FLEXIBLE");
    assert_eq!(shown["targetable_types"], json!(["FLEXIBLE", "EXCLUDED_FLEXIBLE"]));
    assert_eq!(shown["audience_size"], Value::Null);
    let segments = &shown["metadata"][0]["segments"];
    assert_eq!(segments["boolean_operator"], "OR");
    assert_eq!(
        segments["child_segments"][1],
        json!({
            "custom_audience_id": there, "frequency": 1, "frequency_comparator": "NUM_GTE",
            "lookback_window": null, "negate": false,
        })
    );
    for (id, size) in super::ids(made).into_iter().zip([3, 1, 1, 0, 2]) {
        ads.comes_to(id, size);
    }
    assert_eq!(ads.one(here)["metadata"], Value::Null);
}

#[test]
fn flexible_audience_follows_the_lists_that_it_is_made_of() {
    let combined = CombinedLists::new();
    let (ads, here, there) = (&combined.ads, &combined.here, &combined.there);
    let ids = combined.ids();
    for (id, size) in ids.iter().zip([3, 1, 1]) {
        ads.comes_to(id, size);
    }
    let campaign_item = ads.line_item(&ads.campaign());
    ads.criterion(&campaign_item, &ids[0], &[]).assert_status(200);
    ads.set(&["--estimate", "exact"]);
    let count = |id: &str| ads.estimated(id).assert_status(200)["data"]["audience_size"]["max"].clone();
    assert_eq!(count(&ids[0]), 3);
    assert_eq!(count(&ids[2]), 1);
    let users = json!([{ "svc_id": [hashed(&combined.member.id)] }]);
    ads.users(here, &json!([remove(&users)])).assert_status(200);
    ads.comes_to(&ids[0], 2);
    ads.comes_to(&ids[2], 0);
    ads.users(here, &json!([update(&users)])).assert_status(200);
    ads.comes_to(&ids[2], 1);
    // Its members are those of others.
    is(&ads.users(&ids[0], &json!([update(&users)])), 403, "ACTION_NOT_ALLOWED", "");
    let path = format!("/custom_audiences/{}", ids[0]);
    // An audience that is gone comes to nobody.
    ads.send("DELETE", &format!("/custom_audiences/{there}"), &[]).assert_status(200);
    ads.comes_to(&ids[0], 2);
    ads.comes_to(&ids[1], 0);
    ads.comes_to(&ids[2], 2);
    ads.send("DELETE", &path, &[]).assert_status(200);
    is(&ads.estimated(&ids[0]), 404, "TAILORED_AUDIENCE_NOT_FOUND", "targeting_value");
}

#[test]
fn flexible_audience_can_be_deleted_but_not_changed() {
    let ads = Advertiser::new();
    let list = ads.audience();
    let path = |audience: &str| format!("/custom_audiences/{audience}");
    let flexible = path(&ads.flexible(&made_of("OR", &[of(&list)])));
    for change in [("name", "All of them"), ("description", "Everyone")] {
        is(&ads.send("PUT", &flexible, &[change]), 403, "ACTION_NOT_ALLOWED", "");
        ads.send("PUT", &path(&list), &[change]).assert_status(200);
    }
    ads.send("DELETE", &flexible, &[]).assert_status(200);
}

#[test]
fn flexible_audience_batch_with_an_invalid_item_creates_nothing() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let (own, foreign) = (ads.audience(), other.audience());
    let good = item("Good", &made_of("OR", &[of(&own)]));
    let flexible = ads.flexible(&made_of("OR", &[of(&own)]));
    let before = ads.names();
    let of_type = |kind: &str| {
        let params = json!({ "name": "x", "audience_type": kind, "segments": made_of("OR", &[of(&own)]) });
        json!({ "operation_type": "Create", "params": params })
    };
    let eleven: Vec<Value> = (0..11).map(|_| of(&own)).collect();
    let without = |name: &str| {
        let mut item = item("x", &made_of("OR", &[of(&own)]));
        item["params"].as_object_mut().unwrap().remove(name);
        item
    };
    let not_found = "TAILORED_AUDIENCE_NOT_FOUND";
    for (bad, code, at) in [
        (without("name"), "MISSING_PARAMETER", "name"),
        (without("audience_type"), "MISSING_PARAMETER", "audience_type"),
        (without("segments"), "MISSING_PARAMETER", "segments"),
        (of_type("CRM"), "INVALID_PARAMETER", "audience_type"),
        (of_type("WEB"), "INVALID_PARAMETER", "audience_type"),
        (of_type("LOOSE"), "INVALID_PARAMETER", "audience_type"),
        (of_type("MOBILE_AUDIENCE"), "FEATURE_NOT_AVAILABLE", ""),
        (item("Good", &made_of("OR", &[of(&own)])), "INVALID", "name"),
        (item("x", &json!("all")), "INVALID_PARAMETER", "segments"),
        (item("x", &made_of("XOR", &[of(&own)])), "INVALID_PARAMETER", "boolean_operator"),
        (item("x", &made_of("OR", &[])), "INVALID_PARAMETER", "child_segments"),
        (item("x", &made_of("OR", &eleven)), "INVALID_PARAMETER", "segments"),
        (item("x", &made_of("OR", &[not(&own)])), "INVALID", "segments"),
        (item("x", &made_of("OR", &[of("zzzz")])), not_found, "custom_audience_id"),
        (item("x", &made_of("OR", &[of(&foreign)])), not_found, "custom_audience_id"),
        (item("x", &made_of("OR", &[of("no-id")])), "INVALID_ID_ILLEGAL_CHARACTERS", "custom_audience_id"),
        (item("x", &made_of("OR", &[of(&flexible)])), "INVALID", "custom_audience_id"),
        (json!({ "operation_type": "Delete", "params": { "id": own } }), "INVALID_PARAMETER", "operation_type"),
    ] {
        let response = ads.batch("custom_audiences", &json!([good, bad]));
        let body = response.assert_status(400);
        assert_eq!(batch_problem(&body, 1), (code, at), "{bad}: {body}");
        assert_eq!(body["operation_errors"][0], json!([]), "{body}");
    }
    let many = |count: usize| -> Value {
        let each = |number: usize| item(&format!("Many {number}"), &made_of("OR", &eleven[..10]));
        (0..count).map(each).collect()
    };
    for bad in [json!([]), json!({}), json!([7]), many(11)] {
        let response = ads.batch("custom_audiences", &bad);
        is(&response, 400, "INVALID_PARAMETER", "");
    }
    assert_eq!(ads.names(), before);
    ads.batch("custom_audiences", &many(10)).assert_status(200);
    assert_eq!(ads.names().len(), before.len() + 10);
}

#[test]
fn shared_audience_can_be_combined_only_while_it_is_shared() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let foreign = other.audience();
    other.set(&["--business", "bikes"]);
    ads.set(&["--business", "bikes"]);
    let path = format!("/custom_audiences/{foreign}/permissions");
    let params = [("granted_account_id", ads.account.as_str()), ("permission_level", "READ_ONLY")];
    let permission = other.make(&path, &params);
    let user = shared_server().new_user("lent");
    let lent = ads.flexible(&made_of("OR", &[of(&foreign)]));
    let users = json!([{ "svc_id": [hashed(&user.id)] }]);
    other.users(&foreign, &json!([update(&users)])).assert_status(200);
    ads.comes_to(&lent, 1);
    other.send("DELETE", &format!("{path}/{permission}"), &[]).assert_status(200);
    let again = item("Again", &made_of("OR", &[of(&foreign)]));
    let body = ads.batch("custom_audiences", &json!([again])).assert_status(400);
    assert_eq!(body["operation_errors"][0][0]["code"], "TAILORED_AUDIENCE_NOT_FOUND");
    assert_eq!(ads.one(&lent)["audience_size"], 1);
}
