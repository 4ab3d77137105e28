//! The line items that target an audience.

use serde_json::{Value, json};

use super::super::{Advertiser, is};
use super::{hashed, ids, remove, update};
use crate::harness::{TestUser, shared_server};

/// A promoted post in a line item, and two audiences of one user each.
struct TargetedAudiences {
    ads: Advertiser,
    members: [TestUser<'static>; 2],
    audiences: [String; 2],
    campaign: String,
    item: String,
}

impl TargetedAudiences {
    fn new() -> Self {
        let ads = Advertiser::new();
        let members = ["one", "two"].map(|name| shared_server().new_user(name));
        let audiences = [ads.audience_of(&[&members[0]]), ads.audience_of(&[&members[1]])];
        let campaign = ads.campaign();
        let item = ads.line_item(&campaign);
        ads.promote_new_post(&item);
        Self { ads, members, audiences, campaign, item }
    }
}

#[test]
fn line_item_targets_an_audience_of_the_account_that_has_members() {
    let TargetedAudiences { ads, audiences: [first, _], item, .. } = &TargetedAudiences::new();
    let empty = ads.audience();
    is(&ads.criterion(item, &empty, &[]), 400, "INVALID", "targeting_value");
    is(&ads.criterion(item, "zzzz", &[]), 404, "TAILORED_AUDIENCE_NOT_FOUND", "targeting_value");
    is(&ads.criterion(item, "no-id", &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "targeting_value");
    let other = Advertiser::new();
    let foreign = other.criterion(&other.line_item(&other.campaign()), first, &[]);
    is(&foreign, 404, "TAILORED_AUDIENCE_NOT_FOUND", "targeting_value");
    let created = ads.criterion(item, &first.to_uppercase(), &[]).assert_status(200);
    assert_eq!(created["data"]["targeting_value"], first.as_str());
    assert_eq!(created["data"]["name"], ads.one(first)["name"]);
    let alike = [("targeting_type", "CUSTOM_AUDIENCE_EXPANDED")];
    let alike = [&alike[..], &[("line_item_id", item.as_str())]].concat();
    let alike = [&alike[..], &[("targeting_value", first.as_str())]].concat();
    is(&ads.send("POST", "/targeting_criteria", &alike), 400, "INVALID", "targeting_value");
}

#[test]
fn campaign_is_servable_while_its_targeted_audiences_have_members() {
    let setup = TargetedAudiences::new();
    let TargetedAudiences { ads, members: [one, two], audiences: [first, second], campaign, item } = &setup;
    let empty = ads.audience();
    for audience in [first, second] {
        ads.criterion(item, audience, &[]).assert_status(200);
    }
    let targeted = |audience: &str, more: &[(&str, &str)]| {
        let found = ads.get(&format!("/custom_audiences/{audience}/targeted"), more);
        assert_eq!(found["next_cursor"], Value::Null);
        found["data"].clone()
    };
    let entry = |servable: bool| {
        json!([{
            "campaign_id": campaign,
            "campaign_name": "Spring",
            "line_items": [{ "id": item, "name": null, "servable": servable }],
        }])
    };
    assert_eq!(targeted(first, &[]), entry(true));
    assert_eq!(targeted(&empty, &[]), json!([]));
    let reasons = || {
        let campaign = ads.get(&format!("/campaigns/{campaign}"), &[]);
        campaign["data"]["reasons_not_servable"].clone()
    };
    assert_eq!(reasons(), json!([]));
    let take = |audience: &str, user: &TestUser<'_>| {
        let users = json!([{ "svc_id": [hashed(&user.id)] }]);
        ads.users(audience, &json!([remove(&users)])).assert_status(200);
        ads.comes_to(audience, 0);
    };
    // One of two is left, then none; then somebody comes back.
    take(first, one);
    assert_eq!(reasons(), json!([]));
    take(second, two);
    assert_eq!(reasons(), json!(["INCOMPLETE"]));
    assert_eq!(targeted(first, &[]), json!([]));
    assert_eq!(targeted(first, &[("with_active", "false")]), entry(false));
    let users = json!([{ "svc_id": [hashed(&two.id)] }]);
    ads.users(second, &json!([update(&users)])).assert_status(200);
    ads.comes_to(second, 1);
    assert_eq!(reasons(), json!([]));
    // An audience that is deleted is none; without criteria everyone is meant.
    ads.send("DELETE", &format!("/custom_audiences/{second}"), &[]).assert_status(200);
    assert_eq!(reasons(), json!(["INCOMPLETE"]));
    let criteria = ads.get("/targeting_criteria", &[("line_item_ids", item)]);
    for id in ids(&criteria) {
        ads.send("DELETE", &format!("/targeting_criteria/{id}"), &[]).assert_status(200);
    }
    assert_eq!(reasons(), json!([]));
    assert_eq!(targeted(first, &[("with_active", "false")]), json!([]));
    let bad = ads.send("GET", &format!("/custom_audiences/{first}/targeted"), &[("with_active", "perhaps")]);
    is(&bad, 400, "INVALID_PARAMETER", "with_active");
}
