//! The ledger: what is served and done shows in every figure, and figures agree with each other.

mod ab_tests;
mod attribution;
mod budgets;
mod consistency;
mod conversions;
mod jobs;
mod markets;
mod serving;
mod simulation;
mod small_segments;
mod stats;
mod videos;

use std::io::Read as _;

use base::Time;
use base::clock::wall_time;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::{Advertiser, send};
use crate::harness::{TestRequest, TestResponse, TestServer, own_server, wait_until};

/// What others promote would be served beside the ads of a test.
pub(super) fn market() -> &'static TestServer {
    own_server()
}

/// A network that serves what is promoted.
pub(super) struct Network {
    pub(super) server: &'static TestServer,
    pub(super) bearer: String,
}

impl Network {
    pub(super) fn new() -> Self {
        Self::on(market())
    }

    /// On another server than usual.
    pub(super) fn on(server: &'static TestServer) -> Self {
        let app = server.new_app("self-serve");
        let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
        server.run_cli(&allow).assert_success();
        Self { server, bearer: app.bearer }
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> TestResponse {
        let request = TestRequest::post(format!("/ads-serve/1/{path}")).json(body);
        self.server.send(request.bearer(&self.bearer))
    }

    /// What is shown to a viewer in a timeline.
    pub(super) fn request(&self, viewer: &Value, slots: i64) -> Vec<Value> {
        let body = json!({ "viewer": viewer, "placement": "TWITTER_TIMELINE", "slots": slots });
        let response = self.post("request", &body).assert_status(200);
        response["data"].as_array().unwrap().clone()
    }

    pub(super) fn token(&self, viewer: &Value) -> String {
        let shown = self.request(viewer, 1);
        let token = shown.first().map(|one| one["impression_token"].as_str());
        token.flatten().unwrap_or_else(|| panic!("nothing is shown")).to_owned()
    }

    pub(super) fn report(&self, events: &[(&str, &str)]) -> TestResponse {
        let events: Vec<Value> =
            events.iter().map(|(token, kind)| json!({ "impression_token": token, "kind": kind })).collect();
        self.post("events", &json!({ "events": events }))
    }
}

pub(super) const HOUR: i64 = 3_600_000;

pub(super) fn written(ms: i64) -> String {
    let text = Time::from_ms(ms).to_string();
    format!("{}Z", text.split('.').next().unwrap())
}

/// So many hours around now, whole ones.
pub(super) fn around(before: i64, after: i64) -> (String, String) {
    let now = wall_time().ms() / HOUR * HOUR;
    (written(now - before * HOUR), written(now + after * HOUR))
}

impl Advertiser {
    pub(super) fn stats(&self, entity: &str, id: &str, more: &[(&str, &str)]) -> Value {
        let (from, to) = around(24, 1);
        let mut params = vec![
            ("entity", entity),
            ("entity_ids", id),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT,BILLING"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more);
        self.figures(&params).assert_status(200)
    }

    pub(super) fn figures(&self, params: &[(&str, &str)]) -> TestResponse {
        let path = format!("/12/stats/accounts/{}", self.account);
        send(&self.person, "GET", &path, params)
    }

    pub(super) fn beside(&self, method: &'static str, path: &str, params: &[(&str, &str)]) -> TestResponse {
        let path = format!("/12/stats/{}", path.replace('A', &format!("accounts/{}", self.account)));
        send(&self.person, method, &path, params)
    }

    /// A campaign whose budget may be spent at once.
    pub(super) fn quick_campaign(&self, daily: &str) -> String {
        let params = [
            ("funding_instrument_id", self.instrument.as_str()),
            ("name", "Quick"),
            ("daily_budget_amount_local_micro", daily),
            ("standard_delivery", "false"),
        ];
        self.make("/campaigns", &params)
    }

    pub(super) fn quick_item(&self, campaign: &str, bid: &str) -> String {
        let params = [
            ("campaign_id", campaign),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", bid),
            ("start_time", "2026-01-01T00:00:00Z"),
        ];
        self.make("/line_items", &params)
    }

    /// A post that a line item shows: the post, and what promotes it.
    pub(super) fn promoted(&self, item: &str, nullcast: bool) -> (String, String) {
        let text = format!("Look at this {}", crate::harness::unique_number());
        let body = json!({ "text": text, "nullcast": nullcast });
        let created = self.person.create_post(&body).assert_status(201);
        let post = created["data"]["id"].as_str().unwrap().to_owned();
        let params = [("line_item_id", item), ("tweet_ids", post.as_str())];
        let created = self.send("POST", "/promoted_tweets", &params).assert_status(200);
        let promoted = created["data"][0]["id"].as_str().unwrap().to_owned();
        (post, promoted)
    }
}

pub(super) fn metric(stats: &Value, name: &str) -> i64 {
    let metrics = &stats["data"][0]["id_data"][0]["metrics"];
    assert!(metrics.as_object().unwrap().contains_key(name), "{stats}");
    let values = metrics[name].as_array();
    values.map_or(0, |all| all.iter().map(|one| one.as_i64().unwrap()).sum())
}

/// A job's file, once it is there.
pub(super) fn file(ads: &Advertiser, job: &Value) -> Value {
    let id = job["data"]["id_str"].as_str().unwrap().to_owned();
    let mut url = String::new();
    wait_until("the job is done", || {
        let found = ads.beside("GET", "jobs/A", &[("job_ids", &id)]).assert_status(200);
        let one = &found["data"][0];
        one["url"].as_str().unwrap_or_default().clone_into(&mut url);
        assert_ne!(one["status"], "FAILED");
        one["status"] == "SUCCESS"
    });
    let path = &url[url.find("/ads-files/").unwrap()..];
    let response = ads.person.server.send(TestRequest::get(path));
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), "application/gzip");
    let mut text = String::new();
    GzDecoder::new(response.body.as_slice()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(super) fn sum(entity: &Value, name: &str) -> i64 {
    let data = entity["id_data"].as_array().unwrap().iter();
    let values = data.filter_map(|one| one["metrics"][name].as_array());
    values.flatten().map(|one| one.as_i64().unwrap()).sum()
}
