//! Other accounts that may use an audience.

use serde_json::{Value, json};

use super::super::{Advertiser, is, send};
use super::flexible::{made_of, of};
use super::{hashed, ids, update};
use crate::harness::{TestResponse, shared_server};

const NOT_FOUND: &str = "TAILORED_AUDIENCE_NOT_FOUND";

fn grant(ads: &Advertiser, audience: &str, to: &str, level: &str) -> TestResponse {
    let params = [("granted_account_id", to), ("permission_level", level)];
    ads.send("POST", &format!("/custom_audiences/{audience}/permissions"), &params)
}

/// The audiences that are shared with an account.
fn shared_with(ads: &Advertiser) -> String {
    ids(&ads.get("/custom_audiences", &[("permission_scope", "SHARED")])).join(" ")
}

fn new_member_operation() -> Value {
    json!([update(&json!([{ "email": [hashed("new")] }]))])
}

/// An audience that another account of the business may read.
struct SharedAudience {
    ads: Advertiser,
    other: Advertiser,
    third: Advertiser,
    audience: String,
    permission: String,
    path: String,
    permissions: String,
}

impl SharedAudience {
    fn new() -> Self {
        let (ads, other, third) = (Advertiser::new(), Advertiser::new(), Advertiser::new());
        let audience = ads.audience_of(&[&shared_server().new_user("member")]);
        ads.set(&["--business", "bikes"]);
        other.set(&["--business", "bikes"]);
        let granted = grant(&ads, &audience, &other.account, "READ_ONLY").assert_status(200);
        assert_eq!(granted["data"]["custom_audience_id"], audience.as_str());
        assert_eq!(granted["data"]["granted_account_id"], other.account.as_str());
        assert_eq!(granted["data"]["deleted"], false);
        let permission = granted["data"]["id"].as_str().unwrap().to_owned();
        let path = format!("/custom_audiences/{audience}");
        let permissions = format!("{path}/permissions");
        Self { ads, other, third, audience, permission, path, permissions }
    }

    /// Shares it with an account of another business, in the words of version 5.
    fn share_outside_business(&self) -> Value {
        let feature = ["ads", "account", "feature", &self.ads.account];
        let add = ["--add", "SHARE_AUDIENCE_OUTSIDE_BUSINESS"];
        shared_server().run_cli(&[&feature[..], &add[..]].concat()).assert_success();
        let params = [("granted_account_id", self.third.account.as_str()), ("permission_level", "READ_ONLY")];
        send(&self.ads.person, "POST", &self.older_permissions(), &params).assert_status(200)
    }

    fn older_permissions(&self) -> String {
        format!("/5/accounts/{}/tailored_audiences/{}/permissions", self.ads.account, self.audience)
    }
}

#[test]
fn audience_is_not_shared_outside_the_business_or_with_invalid_parameters() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let audience = ads.audience();
    let grant = |to: &str, level: &str| grant(&ads, &audience, to, level);
    is(&grant(&other.account, "READ_ONLY"), 400, "FEATURE_NOT_AVAILABLE", "granted_account_id");
    is(&grant("zzz", "READ_ONLY"), 403, "ACCOUNT_NOT_FOUND", "granted_account_id");
    is(&grant(&ads.account, "READ_ONLY"), 400, "INVALID", "granted_account_id");
    is(&grant(&other.account, "ALL"), 400, "INVALID_PARAMETER", "permission_level");
    let path = format!("/custom_audiences/{audience}");
    let level = [("permission_level", "READ_ONLY")];
    let without_account = ads.send("POST", &format!("{path}/permissions"), &level);
    is(&without_account, 400, "MISSING_PARAMETER", "granted_account_id");
    is(&other.send("GET", &path, &[]), 404, NOT_FOUND, "custom_audience_id");
}

#[test]
fn account_reads_an_audience_shared_with_it_and_changes_nothing() {
    let SharedAudience { ads, other, third, audience, path, permissions, .. } = &SharedAudience::new();
    let seen = other.one(audience);
    assert_eq!(seen["is_owner"], false);
    assert_eq!(seen["owner_account_id"], ads.account.as_str());
    assert_eq!(seen["permission_level"], "READ_ONLY");
    assert_eq!(seen["audience_size"], 1);
    assert_eq!(shared_with(other), *audience);
    assert_eq!(ids(&other.get("/custom_audiences", &[])).len(), 0);
    assert_eq!(shared_with(third), "");
    is(&other.users(audience, &new_member_operation()), 403, "ACTION_NOT_ALLOWED", "");
    for (method, path) in [("PUT", path), ("DELETE", path), ("GET", permissions)] {
        is(&other.send(method, path, &[]), 403, "ACTION_NOT_ALLOWED", "");
    }
    let pass_on = [("granted_account_id", third.account.as_str()), ("permission_level", "READ_ONLY")];
    is(&other.send("POST", permissions, &pass_on), 403, "ACTION_NOT_ALLOWED", "");
}

#[test]
fn granting_again_changes_the_permission_level() {
    let SharedAudience { ads, other, audience, permission, path, .. } = &SharedAudience::new();
    let again = grant(ads, audience, &other.account, "READ_WRITE").assert_status(200);
    assert_eq!(again["data"]["id"], permission.as_str());
    assert_eq!(again["data"]["permission_level"], "READ_WRITE");
    other.users(audience, &new_member_operation()).assert_status(200);
    assert_eq!(other.one(audience)["permission_level"], "READ_WRITE");
    is(&other.send("DELETE", path, &[]), 403, "ACTION_NOT_ALLOWED", "");
}

#[test]
fn feature_lets_an_account_share_an_audience_outside_its_business() {
    let shared = SharedAudience::new();
    let SharedAudience { ads, third, audience, permission, path, permissions, .. } = &shared;
    let (older, tailored) = (shared.older_permissions(), shared.share_outside_business());
    assert_eq!(tailored["data"]["tailored_audience_id"], audience.as_str());
    assert_eq!(tailored["data"]["custom_audience_id"], Value::Null);
    assert_eq!(tailored["request"]["params"]["tailored_audience_id"], audience.as_str());
    let second = tailored["data"]["id"].as_str().unwrap();
    assert_eq!(shared_with(third), *audience);
    let all = [("sort_by", "created_at-asc"), ("with_total_count", "true")];
    let all = ads.get(permissions, &all);
    assert_eq!(ids(&all), [permission.as_str(), second]);
    assert_eq!(all["total_count"], 2);
    let of = [("granted_account_ids", third.account.as_str())];
    assert_eq!(ids(&ads.get(permissions, &of)), [second]);
    let of = [("tailored_audience_permission_ids", permission.as_str())];
    let some = send(&ads.person, "GET", &older, &of).assert_status(200);
    assert_eq!(ids(&some), [permission.as_str()]);

    let deleted = send(&ads.person, "DELETE", &format!("{older}/{second}"), &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    assert_eq!(deleted["data"]["tailored_audience_id"], audience.as_str());
    is(&third.send("GET", path, &[]), 404, NOT_FOUND, "custom_audience_id");
    let again = send(&ads.person, "DELETE", &format!("{older}/{second}"), &[]);
    is(&again, 404, "NOT_FOUND", "tailored_audience_permission_id");
    let unknown = older.replace(audience.as_str(), "zzzzz");
    is(&send(&ads.person, "GET", &unknown, &[]), 404, NOT_FOUND, "tailored_audience_id");
    let again = ads.send("DELETE", &format!("{permissions}/{second}"), &[]);
    is(&again, 404, "NOT_FOUND", "custom_audience_permission_id");
}

#[test]
fn permission_is_found_only_at_its_own_audience() {
    let SharedAudience { ads, permission, .. } = &SharedAudience::new();
    let elsewhere = format!("/custom_audiences/{}/permissions", ads.audience());
    let of = [("custom_audience_permission_ids", permission.as_str())];
    assert_eq!(ids(&ads.get(&elsewhere, &of)).len(), 0);
    let wrong = ads.send("DELETE", &format!("{elsewhere}/{permission}"), &[]);
    is(&wrong, 404, "NOT_FOUND", "custom_audience_permission_id");
}

#[test]
fn withdrawn_permission_leaves_existing_criteria_and_allows_no_new_ones() {
    let SharedAudience { ads, other, audience, permission, permissions, .. } = &SharedAudience::new();
    let item = other.line_item(&other.campaign());
    other.criterion(&item, audience, &[]).assert_status(200);
    let made_of_it = other.flexible(&made_of("AND", &[of(audience)]));
    other.comes_to(&made_of_it, 1);
    other.criterion(&other.line_item(&other.campaign()), &made_of_it, &[]).assert_status(200);
    ads.send("DELETE", &format!("{permissions}/{permission}"), &[]).assert_status(200);
    let new = other.line_item(&other.campaign());
    is(&other.criterion(&new, audience, &[]), 404, NOT_FOUND, "targeting_value");
    is(&other.criterion(&new, &made_of_it, &[]), 400, "INVALID", "targeting_value");
    let criteria = other.get("/targeting_criteria", &[("line_item_ids", &item)]);
    assert_eq!(criteria["data"][0]["targeting_value"], audience.as_str());
    assert_eq!(shared_with(other), "");
    is(&other.users(audience, &new_member_operation()), 404, NOT_FOUND, "custom_audience_id");
}

#[test]
fn line_item_that_targets_a_shared_audience_is_servable() {
    let SharedAudience { other, audience, .. } = &SharedAudience::new();
    let campaign = other.quick_campaign("20000000");
    let item = other.quick_item(&campaign, "150000");
    other.promoted(&item, false);
    let reasons = || other.get(&format!("/campaigns/{campaign}"), &[])["data"]["reasons_not_servable"].clone();
    assert_eq!(reasons(), json!([]));
    other.criterion(&item, audience, &[]).assert_status(200);
    assert_eq!(reasons(), json!([]));
}
