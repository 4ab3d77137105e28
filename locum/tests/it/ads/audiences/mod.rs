//! Custom audiences: who is in them, who may use them, and what targets them.

mod do_not_reach;
mod flexible;
mod lists;
mod members;
mod permissions;
mod profile_facts;
mod size_disclosure;
mod targeting_line_items;

use std::fmt::Write as _;
use std::time::Duration;

use base::clock::monotonic_now;
use serde_json::{Value, json};

use super::Advertiser;
use crate::harness::{TestRequest, TestResponse, TestUser, shared_server, unique_number};

/// A digest as advertisers send it.
pub(super) fn hashed(text: &str) -> String {
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
        let name = format!("Audience {}", unique_number());
        self.make("/custom_audiences", &[("name", &name)])
    }

    fn users(&self, audience: &str, operations: &Value) -> TestResponse {
        let path = format!("/12/accounts/{}/custom_audiences/{audience}/users", self.account);
        self.person.send_signed(TestRequest::post(path).json(operations))
    }

    fn one(&self, audience: &str) -> Value {
        self.get(&format!("/custom_audiences/{audience}"), &[])["data"].clone()
    }

    /// Waits until an audience has come to so many.
    #[track_caller]
    fn comes_to(&self, audience: &str, size: impl Into<Value>) -> Value {
        let (start, size) = (monotonic_now(), size.into());
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
    fn audience_of(&self, people: &[&TestUser<'_>]) -> String {
        let audience = self.audience();
        let users: Vec<Value> = people.iter().map(|user| json!({ "svc_id": [hashed(&user.id)] })).collect();
        self.users(&audience, &json!([update(&users.into())])).assert_status(200);
        self.comes_to(&audience, people.len());
        audience
    }

    fn criterion(&self, item: &str, audience: &str, more: &[(&str, &str)]) -> TestResponse {
        let defaults = [("line_item_id", item), ("targeting_type", "CUSTOM_AUDIENCE"), ("targeting_value", audience)];
        self.send("POST", "/targeting_criteria", &[&defaults[..], more].concat())
    }

    fn set(&self, more: &[&str]) {
        let set = ["ads", "account", "set", &self.account];
        shared_server().run_cli(&[&set[..], more].concat()).assert_success();
    }
}
