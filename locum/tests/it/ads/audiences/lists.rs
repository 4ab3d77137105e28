//! What is made, found, changed and deleted, and who brought it.

use serde_json::{Value, json};

use super::super::{Advertiser, is, send};
use super::{hashed, ids, update};
use crate::harness::{TestRequest, shared_server};

#[test]
fn audience_is_returned_as_created_and_its_name_is_unique() {
    let ads = Advertiser::new();
    let params = [("name", "Newsletter"), ("description", "Readers")];
    let created = ads.send("POST", "/custom_audiences", &params).assert_status(200);
    let audience = &created["data"];
    let id = audience["id"].as_str().unwrap();
    assert_eq!(created["request"]["params"]["name"], "Newsletter");
    for (name, value) in [
        ("name", json!("Newsletter")),
        ("description", json!("Readers")),
        ("audience_type", json!("CRM")),
        ("audience_size", Value::Null),
        ("targetable", json!(false)),
        ("targetable_types", json!(["CRM", "EXCLUDED_CRM"])),
        ("reasons_not_targetable", json!(["PROCESSING", "TOO_SMALL"])),
        ("permission_level", json!("READ_WRITE")),
        ("owner_account_id", json!(ads.account)),
        ("is_owner", json!(true)),
        ("partner_source", json!("OTHER")),
        ("deleted", json!(false)),
    ] {
        assert_eq!(audience[name], value, "{name}: {audience}");
    }
    is(&ads.send("POST", "/custom_audiences", &params), 400, "INVALID", "name");
    is(&ads.send("POST", "/custom_audiences", &[]), 400, "MISSING_PARAMETER", "name");
    ads.make("/custom_audiences", &[("name", "Shop")]);
    let one = format!("/custom_audiences/{id}");
    is(&ads.send("PUT", &one, &[("name", "Shop")]), 400, "INVALID", "name");
    let own_name = [("name", "Newsletter"), ("description", "")];
    let same = ads.send("PUT", &one, &own_name).assert_status(200);
    assert_eq!(same["data"]["description"], Value::Null);
}

#[test]
fn audience_ids_do_not_tell_how_many_there_are() {
    let ads = Advertiser::new();
    let names = ["One", "Two", "Three", "Four"];
    let made = names.map(|name| ads.make("/custom_audiences", &[("name", name)]));
    let numbers = made.map(|id| i64::from_str_radix(&id, 36).unwrap());
    for pair in numbers.windows(2) {
        assert!(pair[0].abs_diff(pair[1]) > 1_000_000, "{numbers:?}");
    }
}

#[test]
fn audiences_are_filtered_sorted_and_paged() {
    let ads = Advertiser::new();
    let id = &ads.make("/custom_audiences", &[("name", "Newsletter")]);
    let other = ads.make("/custom_audiences", &[("name", "Shop")]);
    // The path of earlier API versions.
    let older = ads.get("/tailored_audiences", &[("q", "NEWS")]);
    assert_eq!(ids(&older), [id.as_str()]);
    let some = [("custom_audience_ids", other.as_str()), ("sort_by", "name-asc")];
    assert_eq!(ids(&ads.get("/custom_audiences", &some)), [other.as_str()]);
    let all = [("with_total_count", "true"), ("count", "1")];
    let all = ads.get("/custom_audiences", &all);
    assert_eq!((ids(&all).len(), &all["total_count"]), (1, &json!(2)));
    let next = all["next_cursor"].as_str().unwrap();
    let rest = ads.get("/custom_audiences", &[("cursor", next), ("count", "1")]);
    assert_eq!(ids(&rest), [id.as_str()]);
    let scope = [("permission_scope", "SHARED")];
    assert_eq!(ids(&ads.get("/custom_audiences", &scope)).len(), 0);
    is(
        &ads.send("GET", "/custom_audiences", &[("permission_scope", "ALL")]),
        400,
        "INVALID_PARAMETER",
        "permission_scope",
    );
}

#[test]
fn deleted_audience_is_not_found_and_frees_its_name() {
    let ads = Advertiser::new();
    let id = &ads.make("/custom_audiences", &[("name", "Newsletter")]);
    let one = format!("/custom_audiences/{id}");
    let deleted = ads.send("DELETE", &one, &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    let not_found = "TAILORED_AUDIENCE_NOT_FOUND";
    for (method, path) in [
        ("GET", one.clone()),
        ("PUT", one.clone()),
        ("DELETE", one.clone()),
        ("GET", format!("{one}/targeted")),
        ("GET", format!("{one}/permissions")),
        ("GET", "/custom_audiences/zzzz".to_owned()),
    ] {
        let response = ads.send(method, &path, &[]);
        is(&response, 404, not_found, "custom_audience_id");
    }
    let operations = json!([update(&json!([{ "email": [hashed("a")] }]))]);
    is(&ads.users(id, &operations), 404, not_found, "custom_audience_id");
    let seen = ads.get(&one, &[("with_deleted", "true")]);
    assert_eq!(seen["data"]["deleted"], true);
    // Its name is free again.
    ads.make("/custom_audiences", &[("name", "Newsletter")]);
}

#[test]
fn audience_partner_sees_only_the_audiences_it_created() {
    let (ads, partner) = (Advertiser::new(), shared_server().new_user("partner"));
    let own = ads.audience();
    let role = ["ads", "account", "role", &ads.account, &partner.username];
    let role = [&role[..], &["PARTNER_AUDIENCE_MANAGER"]].concat();
    shared_server().run_cli(&role).assert_success();
    let path = |more: &str| format!("/12/accounts/{}/custom_audiences{more}", ads.account);
    let created = send(&partner, "POST", &path(""), &[("name", "Brought")]).assert_status(200);
    let brought = created["data"]["id"].as_str().unwrap();
    assert_eq!(ids(&send(&partner, "GET", &path(""), &[]).assert_status(200)), [brought]);
    assert_eq!(ids(&ads.get("/custom_audiences", &[])), [brought, &own]);
    let hidden = send(&partner, "GET", &path(&format!("/{own}")), &[]);
    is(&hidden, 404, "TAILORED_AUDIENCE_NOT_FOUND", "custom_audience_id");
    let hidden = send(&partner, "DELETE", &path(&format!("/{own}")), &[]);
    is(&hidden, 404, "TAILORED_AUDIENCE_NOT_FOUND", "custom_audience_id");
    let users = json!([update(&json!([{ "email": [hashed("a")] }]))]);
    let write = |id: &str| {
        let request = TestRequest::post(path(&format!("/{id}/users"))).json(&users);
        partner.send_signed(request).status
    };
    assert_eq!((write(brought), write(&own)), (200, 404));
    let targeted = send(&partner, "GET", &path(&format!("/{brought}/targeted")), &[]);
    is(&targeted, 403, "ACTION_NOT_ALLOWED", "");
}
