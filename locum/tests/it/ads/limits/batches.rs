//! Batches: whole or not at all, and of a limited size.

use ads_engine::{OperationAction, Resource};
use serde_json::{Value, json};

use super::item;
use crate::ads::criteria::wrong;
use crate::ads::{Advertiser, is};
use crate::harness::{TestRequest, TestResponse};

/// A kind of record that is created in batches.
struct BatchKind {
    ads: Advertiser,
    of: &'static Resource,
    path: String,
    parent: String,
}

impl BatchKind {
    fn all() -> Vec<Self> {
        let kinds = ads_delivery::operations().iter().filter_map(|operation| match operation.action {
            OperationAction::Batch(of) => Some(Self::new(of)),
            _ => None,
        });
        let kinds: Vec<Self> = kinds.collect();
        for known in ["campaign", "custom_audience", "line_item", "targeting_criterion"] {
            assert!(kinds.iter().any(|kind| kind.of.name == known), "{known}");
        }
        kinds
    }

    fn new(of: &'static Resource) -> Self {
        let ads = Advertiser::new();
        let path = of.path.replace("<posts>", "posts").replace("<post>", "post");
        let campaign = ads.campaign();
        let parent = match of.name {
            "targeting_criterion" => ads.line_item(&campaign),
            "custom_audience" => ads.make("/custom_audiences", &[("name", "Of a batch")]),
            _ => campaign,
        };
        Self { ads, of, path, parent }
    }

    fn items(&self, count: usize) -> Vec<Value> {
        (0..count).map(|_| item(&self.ads, self.of, &self.parent)).collect()
    }

    fn count(&self) -> u64 {
        let scope = [("with_total_count", "true")];
        let parent = [("line_item_ids", self.parent.as_str())];
        let params = match self.of.name {
            "targeting_criterion" => [&scope[..], &parent].concat(),
            _ => scope.to_vec(),
        };
        self.ads.get(&format!("/{}", self.path), &params)["total_count"].as_u64().unwrap()
    }

    fn send(&self, body: &Value) -> TestResponse {
        self.ads.batch(&self.path, body)
    }
}

#[test]
fn batch_with_an_invalid_item_creates_nothing_and_blames_that_item_only() {
    for batch in BatchKind::all() {
        let (kind, before) = (&batch.path, batch.count());
        let bad = [
            json!({ "operation_type": "Create", "params": {} }),
            json!({ "operation_type": "Create" }),
            json!({ "operation_type": "Destroy", "params": {} }),
            json!({ "operation_type": 7, "params": {} }),
            json!({ "params": {} }),
            json!({ "operation_type": "Delete", "params": {} }),
            json!({ "operation_type": "Delete", "params": { "id": "zzzzzz" } }),
            json!({ "operation_type": "Delete", "params": { "id": "a-b" } }),
            json!({ "operation_type": "Update", "params": { "id": "zzzzzz" } }),
            json!({ "operation_type": "Create", "params": "x" }),
            json!({}),
        ];
        for (number, bad) in bad.iter().enumerate() {
            let place = [0, 2, 4][number % 3];
            let mut items = batch.items(5);
            items[place] = bad.clone();
            let response = batch.send(&items.into());
            let all = wrong(&response);
            assert_eq!(all.len(), 5, "{kind} {bad}: {}", response.text());
            for (at, problems) in all.iter().enumerate() {
                assert_eq!(problems.is_empty(), at != place, "{kind} {bad}: {}", response.text());
            }
            assert!(response.json()["errors"].is_null(), "{kind}: {}", response.text());
        }
        assert_eq!(batch.count(), before, "{kind}");
    }
}

#[test]
fn batch_is_refused_if_it_is_malformed_empty_or_too_large() {
    for batch in BatchKind::all() {
        let before = batch.count();
        let (good, over) = (&batch.items(1)[0], batch.items(batch.of.max_batch_items + 1));
        for body in [json!([]), json!({}), json!("x"), json!([7]), json!([good, null]), over.into()] {
            is(&batch.send(&body), 400, "INVALID_PARAMETER", "");
        }
        let path = format!("/12/batch/accounts/{}/{}", batch.ads.account, batch.path);
        for (kind, text) in [
            ("application/json", "[{"),
            ("application/json", ""),
            ("text/plain", "[]"),
            ("application/x-www-form-urlencoded", "name=x"),
        ] {
            let response = batch.ads.person.send_signed(TestRequest::post(&path).body(kind, text));
            is(&response, 400, "INVALID_PARAMETER", "");
        }
        assert_eq!(batch.count(), before, "{}", batch.path);
    }
}

#[test]
fn batch_may_have_as_many_items_as_the_contract_allows() {
    for batch in BatchKind::all() {
        let before = batch.count();
        let most = batch.of.max_batch_items;
        let mut created = u64::try_from(most).unwrap();
        batch.send(&batch.items(most).into()).assert_status(200);
        if batch.of.name != "targeting_criterion" {
            created += u64::try_from(most - 1).unwrap();
            batch.send(&batch.items(most - 1).into()).assert_status(200);
        }
        assert_eq!(batch.count(), before + created, "{}", batch.path);
    }
}
