//! Custom audiences: who is in them, who may use them, and what targets them.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use base::Time;
use base::clock::{instant, wall};
use serde_json::{Value, json};

use super::{Advertiser, is, refused, send};
use crate::harness::{Answer, Ask, Person, Server, fresh, shared};

/// A digest as advertisers send it.
fn hashed(text: &str) -> String {
    let bytes = base::secret::digest(text);
    bytes.iter().fold(String::new(), |mut all, byte| {
        write!(all, "{byte:02x}").unwrap();
        all
    })
}

fn ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap()).collect()
}

fn update(users: &Value) -> Value {
    json!({ "operation_type": "Update", "params": { "users": users } })
}

fn remove(users: &Value) -> Value {
    json!({ "operation_type": "Delete", "params": { "users": users } })
}

impl Advertiser {
    /// An audience without members.
    fn audience(&self) -> String {
        let name = format!("Audience {}", fresh());
        self.make("/custom_audiences", &[("name", &name)])
    }

    fn users(&self, audience: &str, operations: &Value) -> Answer {
        let path = format!(
            "/12/accounts/{}/custom_audiences/{audience}/users",
            self.account
        );
        self.person.signed(Ask::post(path).json(operations))
    }

    fn one(&self, audience: &str) -> Value {
        self.get(&format!("/custom_audiences/{audience}"), &[])["data"].clone()
    }

    /// Waits until an audience has come to so many.
    #[track_caller]
    fn comes_to(&self, audience: &str, size: impl Into<Value>) -> Value {
        let (start, size) = (instant(), size.into());
        loop {
            let one = self.one(audience);
            let done = one["reasons_not_targetable"] != json!(["PROCESSING", "TOO_SMALL"]);
            if done && one["audience_size"] == size {
                return one;
            }
            assert!(start.elapsed().as_secs() < 60, "waited for {size}: {one}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// An audience that comes to some people.
    fn audience_of(&self, people: &[&Person<'_>]) -> String {
        let audience = self.audience();
        let users: Vec<Value> = people
            .iter()
            .map(|person| json!({ "svc_id": [hashed(&person.id)] }))
            .collect();
        self.users(&audience, &json!([update(&users.into())]))
            .is(200);
        self.comes_to(&audience, people.len());
        audience
    }

    fn criterion(&self, item: &str, audience: &str, more: &[(&str, &str)]) -> Answer {
        let usual = [
            ("line_item_id", item),
            ("targeting_type", "CUSTOM_AUDIENCE"),
            ("targeting_value", audience),
        ];
        self.send("POST", "/targeting_criteria", &[&usual[..], more].concat())
    }

    fn set(&self, more: &[&str]) {
        let set = ["ads", "account", "set", &self.account];
        shared().cli(&[&set[..], more].concat()).well();
    }
}

#[test]
fn an_audience_is_made_found_changed_and_deleted() {
    let ads = Advertiser::new();
    let params = [("name", "Newsletter"), ("description", "Readers")];
    let made = ads.send("POST", "/custom_audiences", &params).is(200);
    let audience = &made["data"];
    let id = audience["id"].as_str().unwrap();
    assert_eq!(made["request"]["params"]["name"], "Newsletter");
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
    is(
        &ads.send("POST", "/custom_audiences", &params),
        400,
        "INVALID",
        "name",
    );
    is(
        &ads.send("POST", "/custom_audiences", &[]),
        400,
        "MISSING_PARAMETER",
        "name",
    );
    let long = "x".repeat(256);
    is(
        &ads.send("POST", "/custom_audiences", &[("name", &long)]),
        400,
        "INVALID_PARAMETER",
        "name",
    );
    let other = ads.make("/custom_audiences", &[("name", "Shop")]);
    let one = format!("/custom_audiences/{id}");
    is(
        &ads.send("PUT", &one, &[("name", "Shop")]),
        400,
        "INVALID",
        "name",
    );
    let own_name = [("name", "Newsletter"), ("description", "")];
    let same = ads.send("PUT", &one, &own_name).is(200);
    assert_eq!(same["data"]["description"], Value::Null);
    // Older clients call them otherwise.
    let older = ads.get("/tailored_audiences", &[("q", "NEWS")]);
    assert_eq!(ids(&older), [id]);
    let some = [
        ("custom_audience_ids", other.as_str()),
        ("sort_by", "name-asc"),
    ];
    assert_eq!(ids(&ads.get("/custom_audiences", &some)), [other.as_str()]);
    let all = [("with_total_count", "true"), ("count", "1")];
    let all = ads.get("/custom_audiences", &all);
    assert_eq!((ids(&all).len(), &all["total_count"]), (1, &json!(2)));
    let next = all["next_cursor"].as_str().unwrap();
    let rest = ads.get("/custom_audiences", &[("cursor", next), ("count", "1")]);
    assert_eq!(ids(&rest), [id]);
    let scope = [("permission_scope", "SHARED")];
    assert_eq!(ids(&ads.get("/custom_audiences", &scope)).len(), 0);
    is(
        &ads.send("GET", "/custom_audiences", &[("permission_scope", "ALL")]),
        400,
        "INVALID_PARAMETER",
        "permission_scope",
    );
    let gone = ads.send("DELETE", &one, &[]).is(200);
    assert_eq!(gone["data"]["deleted"], true);
    let not_found = "TAILORED_AUDIENCE_NOT_FOUND";
    for (method, path) in [
        ("GET", one.clone()),
        ("PUT", one.clone()),
        ("DELETE", one.clone()),
        ("GET", format!("{one}/targeted")),
        ("GET", format!("{one}/permissions")),
        ("GET", "/custom_audiences/zzzz".to_owned()),
    ] {
        let answer = ads.send(method, &path, &[]);
        is(&answer, 404, not_found, "custom_audience_id");
    }
    let operations = json!([update(&json!([{ "email": [hashed("a")] }]))]);
    is(
        &ads.users(id, &operations),
        404,
        not_found,
        "custom_audience_id",
    );
    let seen = ads.get(&one, &[("with_deleted", "true")]);
    assert_eq!(seen["data"]["deleted"], true);
    // Its name is free again.
    ads.make("/custom_audiences", &[("name", "Newsletter")]);
}

#[test]
fn members_are_matched_by_any_of_their_keys() {
    // Contract §8.3.
    for (value, digest) in [
        (
            "ana.reis@bikes.example",
            "da017b829391311062b1abdbcdd5f4f7b6c24e8074af53f1b0df0f3e91119138",
        ),
        (
            "harbourbikes",
            "49710133a5b07e0924aef32efc101f79158b220486f582d7c7fedc3d7a5ed27d",
        ),
        (
            "2001",
            "85d6385b945c0d602103db39b0b654b2af93b5127938e26a959c123f0789b948",
        ),
        (
            "+351200000000",
            "95ba13c05e80515cbe8995709a3e2e12e7489170f1533adbda24d7be2c74d98b",
        ),
    ] {
        assert_eq!(hashed(value), digest);
    }
    let (ads, server) = (Advertiser::new(), shared());
    let email = format!("Ana.Reis{}@bikes.example", fresh());
    server.person_with("ana", &["--email", &email]);
    let (ben, cleo) = (server.person("ben"), server.person("cleo"));
    let audience = ads.audience();
    let handle = |person: &Person<'_>| hashed(&person.username.to_lowercase());
    let phone = hashed(&format!("+3512000{}", fresh()));
    let users = json!([
        { "email": [hashed(&email.to_lowercase()).to_uppercase()], "phone_number": [phone] },
        { "handle": [handle(&ben)], "device_id": [hashed("a device")] },
        { "twitter_id": [hashed(&cleo.id)], "partner_user_id": ["client 7"] },
        { "svc_id": [hashed("1")], "email": [] },
    ]);
    let answer = ads.users(&audience, &json!([update(&users)]));
    let body = answer.is(200);
    let counts = json!({ "success_count": 4, "total_count": 4 });
    assert_eq!(body["data"], counts);
    assert_eq!(
        body["request"]["params"],
        json!({ "account_id": ads.account, "custom_audience_id": audience })
    );
    assert_eq!(answer.number("x-rate-limit-limit"), 1_500);
    let found = ads.comes_to(&audience, 3);
    assert_eq!(found["targetable"], true);
    assert_eq!(found["reasons_not_targetable"], json!([]));
    // Once more changes nothing; a key of two joins them; any key takes one away.
    ads.users(&audience, &json!([update(&users)])).is(200);
    let changes = json!([
        update(&json!([{ "phone_number": [phone], "handle": [handle(&ben)] }])),
        remove(&json!([{ "device_id": [hashed("a device")] }, { "email": [hashed("nobody")] }])),
    ]);
    let body = ads.users(&audience, &changes).is(200);
    let counts = json!({ "success_count": 3, "total_count": 3 });
    assert_eq!(body["data"], counts);
    ads.comes_to(&audience, 1);
    let last = json!([remove(&json!([{ "partner_user_id": ["client 7"] }]))]);
    ads.users(&audience, &last).is(200);
    let found = ads.comes_to(&audience, 0);
    assert_eq!(found["targetable"], false);
    assert_eq!(found["reasons_not_targetable"], json!(["TOO_SMALL"]));
    // Who comes later, or takes another name, is found then; who leaves is not any more.
    let (later, renamed) = (format!("later{}", fresh()), format!("renamed{}", fresh()));
    let users = json!([{ "handle": [hashed(&later)] }, { "handle": [hashed(&renamed)] }]);
    ads.users(&audience, &json!([update(&users)])).is(200);
    server.cli(&["user", "create", &later]).well();
    server
        .cli(&["user", "edit", &ben.id, "--username", &renamed])
        .well();
    ads.comes_to(&audience, 2);
    server.cli(&["user", "suspend", &later]).well();
    let back = format!("back{}", fresh());
    server
        .cli(&["user", "edit", &ben.id, "--username", &back])
        .well();
    ads.comes_to(&audience, 0);
    server.cli(&["user", "restore", &later]).well();
    ads.comes_to(&audience, 1);
}

#[test]
fn members_are_in_an_audience_from_one_moment_until_another() {
    let ads = Advertiser::new();
    let (now, soon) = (shared().person("now"), shared().person("soon"));
    let audience = ads.audience();
    let at = |seconds: i64| {
        let time = Time::from_ms(wall().ms() / 1000 * 1000 + seconds * 1000);
        json!(time.to_string())
    };
    let timed = |person: &Person<'_>, from: Value, until: Value| {
        let users = json!([{ "svc_id": [hashed(&person.id)] }]);
        let params = json!({ "users": users, "effective_at": from, "expires_at": until });
        json!({ "operation_type": "Update", "params": params })
    };
    let operations = json!([
        timed(&now, Value::Null, at(24)),
        timed(&soon, at(12), at(3600))
    ]);
    ads.users(&audience, &operations).is(200);
    ads.comes_to(&audience, 1);
    ads.comes_to(&audience, 2);
    ads.comes_to(&audience, 1);
    // What is written again begins again.
    let users = json!([{ "svc_id": [hashed(&now.id)] }]);
    ads.users(&audience, &json!([update(&users)])).is(200);
    ads.comes_to(&audience, 2);
    for (from, until) in [(at(10), at(10)), (at(10), at(9)), (Value::Null, at(-10))] {
        let answer = ads.users(&audience, &json!([timed(&now, from, until)]));
        let wrong = answer.is(400);
        let wrong = &wrong["operation_errors"][0][0];
        assert_eq!(wrong["code"], "INVALID_PARAMETER");
        assert_eq!(wrong["parameter"], "expires_at");
    }
    // What nobody is in any more is gone with its members.
    let gone = ads.send("DELETE", &format!("/custom_audiences/{audience}"), &[]);
    gone.is(200);
}

#[test]
fn members_are_changed_all_together_or_not_at_all() {
    let (ads, person) = (Advertiser::new(), shared().person("person"));
    let audience = ads.audience();
    let good = update(&json!([{ "svc_id": [hashed(&person.id)] }]));
    let email = "ana.reis@bikes.example";
    for (bad, code, at) in [
        (json!({}), "MISSING_PARAMETER", "operation_type"),
        (json!(7), "MISSING_PARAMETER", "operation_type"),
        (
            json!({ "operation_type": "Create", "params": { "users": [{ "email": [hashed("x")] }] } }),
            "INVALID_PARAMETER",
            "operation_type",
        ),
        (
            json!({ "operation_type": "Update" }),
            "MISSING_PARAMETER",
            "params",
        ),
        (
            json!({ "operation_type": "Update", "params": [] }),
            "INVALID_PARAMETER",
            "params",
        ),
        (
            json!({ "operation_type": "Update", "params": {} }),
            "MISSING_PARAMETER",
            "users",
        ),
        (update(&json!([])), "INVALID_PARAMETER", "users"),
        (update(&json!({})), "INVALID_PARAMETER", "users"),
        (update(&json!(["x"])), "INVALID_PARAMETER", "users"),
        (update(&json!([{}])), "INVALID_PARAMETER", "users"),
        (
            update(&json!([{ "email": [] }])),
            "INVALID_PARAMETER",
            "users",
        ),
        (
            update(&json!([{ "email": hashed("x") }])),
            "INVALID_PARAMETER",
            "email",
        ),
        (
            update(&json!([{ "email": [email] }])),
            "INVALID_PARAMETER",
            "email",
        ),
        (
            remove(&json!([{ "handle": [7] }])),
            "INVALID_PARAMETER",
            "handle",
        ),
        (
            update(&json!([{ "partner_user_id": [""] }])),
            "INVALID_PARAMETER",
            "partner_user_id",
        ),
        (
            json!({ "operation_type": "Update", "params":
                { "users": [{ "email": [hashed("x")] }], "effective_at": "soon" } }),
            "INVALID_PARAMETER",
            "effective_at",
        ),
    ] {
        let answer = ads.users(&audience, &json!([good, bad, good]));
        let body = answer.is(400);
        assert_eq!(body["errors"], Value::Null, "{body}");
        let errors = &body["operation_errors"];
        assert_eq!((&errors[0], &errors[2]), (&json!([]), &json!([])), "{body}");
        assert_eq!(errors[1][0]["code"], code, "{body}");
        assert_eq!(errors[1][0]["parameter"], at, "{body}");
        // What was sent may be somebody's address.
        assert!(!answer.text().contains(email), "{body}");
    }
    for bad in [json!([]), json!({}), json!("x"), Value::Null] {
        is(&ads.users(&audience, &bad), 400, "INVALID_PARAMETER", "");
    }
    let path = format!(
        "/12/accounts/{}/custom_audiences/{audience}/users",
        ads.account
    );
    for (kind, body) in [
        ("application/json", "[{"),
        ("application/json", ""),
        ("application/x-www-form-urlencoded", "users=1"),
    ] {
        let answer = ads.person.signed(Ask::post(&path).body(kind, body));
        is(&answer, 400, "INVALID_PARAMETER", "");
    }
    // Nothing of all that was stored: no size is worked out for what was never written.
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(ads.one(&audience)["audience_size"], Value::Null);
    let many = |count: usize| {
        let one = |number| update(&json!([{ "email": [hashed(&format!("{number}@x"))] }]));
        Value::from((0..count).map(one).collect::<Vec<_>>())
    };
    is(
        &ads.users(&audience, &many(2_501)),
        400,
        "INVALID_PARAMETER",
        "",
    );
    let body = ads.users(&audience, &many(2_500)).is(200);
    assert_eq!(
        body["data"],
        json!({ "success_count": 2_500, "total_count": 2_500 })
    );
    // A body of exactly as many bytes as there may be.
    let mut text = json!([good]).to_string();
    text.extend(std::iter::repeat_n(' ', 5_000_000 - text.len()));
    let send = |text: &str| {
        let ask = Ask::post(&path).body("application/json", text);
        ads.person.signed(ask)
    };
    send(&text).is(200);
    text.push(' ');
    let ask = Ask::post(&path).body("application/json", text);
    let header = ask.signature(&ads.person.key(), &shared().url);
    // The answer may come before all of it is sent.
    if let Some(answer) = shared().try_send(ask.authorized(header)) {
        refused(&answer, 413);
    }
    ads.comes_to(&audience, 1);
}

#[test]
fn an_audience_is_shared_within_a_business_and_never_passed_on() {
    let (ads, other, third) = (Advertiser::new(), Advertiser::new(), Advertiser::new());
    let person = shared().person("member");
    let audience = ads.audience_of(&[&person]);
    let permissions = format!("/custom_audiences/{audience}/permissions");
    let one = format!("/custom_audiences/{audience}");
    let not_found = "TAILORED_AUDIENCE_NOT_FOUND";
    let grant = |to: &str, level: &str| {
        let params = [("granted_account_id", to), ("permission_level", level)];
        ads.send("POST", &permissions, &params)
    };
    is(
        &grant(&other.account, "READ_ONLY"),
        400,
        "FEATURE_NOT_AVAILABLE",
        "granted_account_id",
    );
    is(
        &grant("zzz", "READ_ONLY"),
        403,
        "ACCOUNT_NOT_FOUND",
        "granted_account_id",
    );
    is(
        &grant(&ads.account, "READ_ONLY"),
        400,
        "INVALID",
        "granted_account_id",
    );
    is(
        &grant(&other.account, "ALL"),
        400,
        "INVALID_PARAMETER",
        "permission_level",
    );
    is(
        &ads.send("POST", &permissions, &[("permission_level", "READ_ONLY")]),
        400,
        "MISSING_PARAMETER",
        "granted_account_id",
    );
    is(
        &other.send("GET", &one, &[]),
        404,
        not_found,
        "custom_audience_id",
    );
    ads.set(&["--business", "bikes"]);
    other.set(&["--business", "bikes"]);
    let granted = grant(&other.account, "READ_ONLY").is(200);
    let permission = granted["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(granted["data"]["custom_audience_id"], audience.as_str());
    assert_eq!(
        granted["data"]["granted_account_id"],
        other.account.as_str()
    );
    assert_eq!(granted["data"]["deleted"], false);

    // The other account sees it and its size, and may do nothing to it.
    let seen = other.one(&audience);
    assert_eq!(seen["is_owner"], false);
    assert_eq!(seen["owner_account_id"], ads.account.as_str());
    assert_eq!(seen["permission_level"], "READ_ONLY");
    assert_eq!(seen["audience_size"], 1);
    let shared_with = |ads: &Advertiser| {
        let scope = [("permission_scope", "SHARED")];
        ids(&ads.get("/custom_audiences", &scope)).join(" ")
    };
    assert_eq!(shared_with(&other), audience);
    assert_eq!(ids(&other.get("/custom_audiences", &[])).len(), 0);
    assert_eq!(shared_with(&third), "");
    let operations = json!([update(&json!([{ "email": [hashed("new")] }]))]);
    is(
        &other.users(&audience, &operations),
        403,
        "ACTION_NOT_ALLOWED",
        "",
    );
    for (method, path) in [("PUT", &one), ("DELETE", &one), ("GET", &permissions)] {
        is(
            &other.send(method, path, &[]),
            403,
            "ACTION_NOT_ALLOWED",
            "",
        );
    }
    let pass_on = [
        ("granted_account_id", third.account.as_str()),
        ("permission_level", "READ_ONLY"),
    ];
    is(
        &other.send("POST", &permissions, &pass_on),
        403,
        "ACTION_NOT_ALLOWED",
        "",
    );

    // Once more is another level of the same.
    let again = grant(&other.account, "READ_WRITE").is(200);
    assert_eq!(again["data"]["id"], permission.as_str());
    assert_eq!(again["data"]["permission_level"], "READ_WRITE");
    other.users(&audience, &operations).is(200);
    assert_eq!(other.one(&audience)["permission_level"], "READ_WRITE");
    is(
        &other.send("DELETE", &one, &[]),
        403,
        "ACTION_NOT_ALLOWED",
        "",
    );

    // A feature lets it be shared with everyone; what is of version 5 is the same.
    let feature = ["ads", "account", "feature", &ads.account];
    let add = ["--add", "SHARE_AUDIENCE_OUTSIDE_BUSINESS"];
    shared().cli(&[&feature[..], &add[..]].concat()).well();
    let older = format!(
        "/5/accounts/{}/tailored_audiences/{audience}/permissions",
        ads.account
    );
    let params = [
        ("granted_account_id", third.account.as_str()),
        ("permission_level", "READ_ONLY"),
    ];
    let tailored = send(&ads.person, "POST", &older, &params).is(200);
    assert_eq!(tailored["data"]["tailored_audience_id"], audience.as_str());
    assert_eq!(tailored["data"]["custom_audience_id"], Value::Null);
    assert_eq!(
        tailored["request"]["params"]["tailored_audience_id"],
        audience.as_str()
    );
    let second = tailored["data"]["id"].as_str().unwrap();
    assert_eq!(shared_with(&third), audience);
    let all = [("sort_by", "created_at-asc"), ("with_total_count", "true")];
    let all = ads.get(&permissions, &all);
    assert_eq!(ids(&all), [permission.as_str(), second]);
    assert_eq!(all["total_count"], 2);
    let of = [("granted_account_ids", third.account.as_str())];
    assert_eq!(ids(&ads.get(&permissions, &of)), [second]);
    let of = [("tailored_audience_permission_ids", permission.as_str())];
    let some = send(&ads.person, "GET", &older, &of).is(200);
    assert_eq!(ids(&some), [permission.as_str()]);
    // Permissions are found at their own audience only.
    let elsewhere = format!("/custom_audiences/{}/permissions", ads.audience());
    let of = [("custom_audience_permission_ids", permission.as_str())];
    assert_eq!(ids(&ads.get(&elsewhere, &of)).len(), 0);
    let wrong = ads.send("DELETE", &format!("{elsewhere}/{permission}"), &[]);
    is(&wrong, 404, "NOT_FOUND", "custom_audience_permission_id");
    let gone = send(&ads.person, "DELETE", &format!("{older}/{second}"), &[]).is(200);
    assert_eq!(gone["data"]["deleted"], true);
    assert_eq!(gone["data"]["tailored_audience_id"], audience.as_str());
    is(
        &third.send("GET", &one, &[]),
        404,
        not_found,
        "custom_audience_id",
    );
    let again = ads.send("DELETE", &format!("{permissions}/{second}"), &[]);
    is(&again, 404, "NOT_FOUND", "custom_audience_permission_id");

    // What targets it goes on after the permission; nothing new does.
    let item = other.line_item(&other.campaign());
    other.criterion(&item, &audience, &[]).is(200);
    let path = format!("{permissions}/{permission}");
    ads.send("DELETE", &path, &[]).is(200);
    let new = other.line_item(&other.campaign());
    is(
        &other.criterion(&new, &audience, &[]),
        404,
        not_found,
        "targeting_value",
    );
    let criteria = other.get("/targeting_criteria", &[("line_item_ids", &item)]);
    assert_eq!(criteria["data"][0]["targeting_value"], audience.as_str());
    assert_eq!(shared_with(&other), "");
    is(
        &other.users(&audience, &operations),
        404,
        not_found,
        "custom_audience_id",
    );
}

#[test]
fn a_partner_sees_the_audiences_that_it_brought() {
    let (ads, partner) = (Advertiser::new(), shared().person("partner"));
    let own = ads.audience();
    let role = ["ads", "account", "role", &ads.account, &partner.username];
    let role = [&role[..], &["PARTNER_AUDIENCE_MANAGER"]].concat();
    shared().cli(&role).well();
    let path = |more: &str| format!("/12/accounts/{}/custom_audiences{more}", ads.account);
    let made = send(&partner, "POST", &path(""), &[("name", "Brought")]).is(200);
    let brought = made["data"]["id"].as_str().unwrap();
    assert_eq!(
        ids(&send(&partner, "GET", &path(""), &[]).is(200)),
        [brought]
    );
    assert_eq!(ids(&ads.get("/custom_audiences", &[])), [brought, &own]);
    let hidden = send(&partner, "GET", &path(&format!("/{own}")), &[]);
    is(
        &hidden,
        404,
        "TAILORED_AUDIENCE_NOT_FOUND",
        "custom_audience_id",
    );
    let hidden = send(&partner, "DELETE", &path(&format!("/{own}")), &[]);
    is(
        &hidden,
        404,
        "TAILORED_AUDIENCE_NOT_FOUND",
        "custom_audience_id",
    );
    let users = json!([update(&json!([{ "email": [hashed("a")] }]))]);
    let write = |id: &str| {
        let ask = Ask::post(path(&format!("/{id}/users"))).json(&users);
        partner.signed(ask).status
    };
    assert_eq!((write(brought), write(&own)), (200, 404));
    let targeted = send(&partner, "GET", &path(&format!("/{brought}/targeted")), &[]);
    is(&targeted, 403, "ACTION_NOT_ALLOWED", "");
}

#[test]
fn what_targets_an_audience_is_served_while_that_comes_to_somebody() {
    let ads = Advertiser::new();
    let (one, two) = (shared().person("one"), shared().person("two"));
    let (first, second) = (ads.audience_of(&[&one]), ads.audience_of(&[&two]));
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    let post = ads.person.says("Promoted");
    let promote = [("line_item_id", item.as_str()), ("post_ids", post.as_str())];
    ads.send("POST", "/promoted_posts", &promote).is(200);
    // What comes to nobody yet cannot be targeted, nor what is not there.
    let empty = ads.audience();
    is(
        &ads.criterion(&item, &empty, &[]),
        400,
        "INVALID",
        "targeting_value",
    );
    is(
        &ads.criterion(&item, "zzzz", &[]),
        404,
        "TAILORED_AUDIENCE_NOT_FOUND",
        "targeting_value",
    );
    is(
        &ads.criterion(&item, "no-id", &[]),
        404,
        "INVALID_ID_ILLEGAL_CHARACTERS",
        "targeting_value",
    );
    let other = Advertiser::new();
    let foreign = other.criterion(&other.line_item(&other.campaign()), &first, &[]);
    is(
        &foreign,
        404,
        "TAILORED_AUDIENCE_NOT_FOUND",
        "targeting_value",
    );
    let made = ads.criterion(&item, &first.to_uppercase(), &[]).is(200);
    assert_eq!(made["data"]["targeting_value"], first.as_str());
    assert_eq!(made["data"]["name"], ads.one(&first)["name"]);
    let alike = [("targeting_type", "CUSTOM_AUDIENCE_EXPANDED")];
    let alike = [&alike[..], &[("line_item_id", item.as_str())]].concat();
    let alike = [&alike[..], &[("targeting_value", first.as_str())]].concat();
    is(
        &ads.send("POST", "/targeting_criteria", &alike),
        400,
        "INVALID",
        "targeting_value",
    );
    ads.criterion(&item, &second, &[]).is(200);

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
    assert_eq!(targeted(&first, &[]), entry(true));
    assert_eq!(targeted(&empty, &[]), json!([]));
    let reasons = || {
        let campaign = ads.get(&format!("/campaigns/{campaign}"), &[]);
        campaign["data"]["reasons_not_servable"].clone()
    };
    assert_eq!(reasons(), json!([]));
    let take = |audience: &str, person: &Person<'_>| {
        let users = json!([{ "svc_id": [hashed(&person.id)] }]);
        ads.users(audience, &json!([remove(&users)])).is(200);
        ads.comes_to(audience, 0);
    };
    // One of two is left, then none; then somebody comes back.
    take(&first, &one);
    assert_eq!(reasons(), json!([]));
    take(&second, &two);
    assert_eq!(reasons(), json!(["INCOMPLETE"]));
    assert_eq!(targeted(&first, &[]), json!([]));
    assert_eq!(targeted(&first, &[("with_active", "false")]), entry(false));
    let users = json!([{ "svc_id": [hashed(&two.id)] }]);
    ads.users(&second, &json!([update(&users)])).is(200);
    ads.comes_to(&second, 1);
    assert_eq!(reasons(), json!([]));
    // An audience that is deleted is none; without criteria everyone is meant.
    ads.send("DELETE", &format!("/custom_audiences/{second}"), &[])
        .is(200);
    assert_eq!(reasons(), json!(["INCOMPLETE"]));
    let criteria = ads.get("/targeting_criteria", &[("line_item_ids", &item)]);
    for id in ids(&criteria) {
        ads.send("DELETE", &format!("/targeting_criteria/{id}"), &[])
            .is(200);
    }
    assert_eq!(reasons(), json!([]));
    assert_eq!(targeted(&first, &[("with_active", "false")]), json!([]));
    let bad = ads.send(
        "GET",
        &format!("/custom_audiences/{first}/targeted"),
        &[("with_active", "perhaps")],
    );
    is(&bad, 400, "INVALID_PARAMETER", "with_active");
}

/// A network on which an audience comes to three people before that is told.
fn careful() -> &'static Server {
    static CAREFUL: OnceLock<Server> = OnceLock::new();
    CAREFUL.get_or_init(|| {
        Server::start(&[
            "--set",
            "ads.min_audience=3",
            "--set",
            "ads.audience_delay=1s",
        ])
    })
}

#[test]
fn nobody_learns_whether_somebody_is_here() {
    let ads = Advertiser::on(careful());
    let email = format!("secret{}@bikes.example", fresh());
    careful().person_with("secret", &["--email", &email]);
    let some: Vec<Person<'_>> = (0..3).map(|_| careful().person("some")).collect();
    let (here, nobody) = (ads.audience(), ads.audience());
    let body = |value: &str| json!([update(&json!([{ "email": [hashed(value)] }]))]);
    let one = ads.users(&here, &body(&email)).is(200);
    let other = ads.users(&nobody, &body("nobody@bikes.example")).is(200);
    assert_eq!(one["data"], other["data"]);
    let (one, other) = (
        ads.comes_to(&here, Value::Null),
        ads.comes_to(&nobody, Value::Null),
    );
    for (name, value) in one.as_object().unwrap() {
        let own = ["id", "name", "created_at", "updated_at"].contains(&name.as_str());
        assert!(own || *value == other[name], "{name}: {one} {other}");
    }
    assert_eq!(one["reasons_not_targetable"], json!(["TOO_SMALL"]));
    let take = json!([remove(&json!([{ "email": [hashed(&email)] }]))]);
    let (one, other) = (ads.users(&here, &take), ads.users(&nobody, &take));
    assert_eq!(one.is(200)["data"], other.is(200)["data"]);
    // Enough of them are told.
    let users: Vec<Value> = some
        .iter()
        .map(|person| json!({ "svc_id": [hashed(&person.id)] }))
        .collect();
    ads.users(&here, &json!([update(&users.into())])).is(200);
    assert_eq!(ads.comes_to(&here, 3)["targetable"], true);
    // Nor is it estimated what is too small, or another's.
    let estimate = |ads: &Advertiser, audience: &str| {
        let path = format!("/12/accounts/{}/audience_estimate", ads.account);
        let criterion = json!({ "targeting_type": "CUSTOM_AUDIENCE", "targeting_value": audience });
        let ask = Ask::post(path).json(&json!({ "targeting_criteria": [criterion] }));
        ads.person.signed(ask)
    };
    assert_eq!(
        estimate(&ads, &here).is(200)["data"]["audience_size"],
        json!({ "min": 2, "max": 4 })
    );
    is(&estimate(&ads, &nobody), 400, "INVALID", "targeting_value");
    is(
        &estimate(&Advertiser::on(careful()), &here),
        404,
        "TAILORED_AUDIENCE_NOT_FOUND",
        "targeting_value",
    );
    // Nothing of what was sent is in what the server says.
    let said = careful().logged() + &careful().said();
    assert!(!said.contains(&hashed(&email)) && !said.contains(&email));
}
