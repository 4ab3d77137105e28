//! An account that advertises, worked on through the operations of the interface.

use std::sync::Arc;

use ads::resources::accounts::{self, NewAdsAccount};
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads_delivery::recommendations::RecommendationEngine;
use ads_engine::{AccountContext, AdsCaller, AdsConfig, AdsRecord, AdsRequest, ParsedParams, engine};
use base::{AppId, Error, UserId, Vocabulary};
use network::emails::EmailSite;
use serde_json::Value;
use store::Tx;

use crate::world::World;

pub(crate) struct Shop {
    pub(crate) account: AdsRecord,
    pub(crate) owner: UserId,
    pub(crate) instrument: i64,
}

impl Shop {
    /// An account with something to pay with.
    pub(crate) async fn open(world: &World, name: &str) -> Self {
        Self::open_in(world, name, "").await
    }

    /// As [`Self::open`], in a time zone.
    pub(crate) async fn open_in(world: &World, name: &str, timezone: &str) -> Self {
        let owner = world.user(name.to_owned()).await;
        let (name, timezone) = (format!("Shop of {name}"), timezone.to_owned());
        let new = NewAdsAccount { name, timezone, ..NewAdsAccount::default() };
        let (account, instrument) = world
            .write(move |tx| {
                let account = accounts::insert(tx, owner, &new)?;
                let mut params = ParsedParams::default();
                for (name, value) in [
                    ("type", Value::from("INSERTION_ORDER")),
                    ("currency", "USD".into()),
                    ("start_time", 0.into()),
                    ("funded_amount_local_micro", 5_000_000_000_i64.into()),
                ] {
                    params.insert(name, value);
                }
                let mut ctx = AccountContext::new_for_operator(tx, owner, account.clone());
                let created = engine::create(&mut ctx, &FUNDING_INSTRUMENT, &params)?;
                Ok((account, created.id))
            })
            .await;
        Self { account, owner, instrument }
    }

    /// Does what an operation below `accounts/…` does; its answer.
    pub(crate) async fn call(&self, world: &World, method: &str, path: &str, pairs: &[(&str, &str)]) -> Value {
        self.send(world, (method, path), pairs, None).await.unwrap()
    }

    /// As [`Self::call`]; an error if it is refused.
    pub(crate) async fn try_call(
        &self,
        world: &World,
        method: &str,
        path: &str,
        pairs: &[(&str, &str)],
    ) -> Result<Value, Error> {
        self.send(world, (method, path), pairs, None).await
    }

    /// As [`Self::call`], with a JSON body.
    pub(crate) async fn post_json(&self, world: &World, path: &str, body: Value) -> Value {
        self.send(world, ("POST", path), &[], Some(body)).await.unwrap()
    }

    async fn send(
        &self,
        world: &World,
        (method, path): (&str, &str),
        pairs: &[(&str, &str)],
        json: Option<Value>,
    ) -> Result<Value, Error> {
        let account = self.account.formatted_id();
        let path = path.replacen('A', &format!("accounts/{account}"), 1);
        let request = request(self.owner, method, &format!("/12/{path}"), pairs, json);
        let (request, writes) = (Arc::new(request.0), request.1);
        let work = move |tx: &mut Tx<'_>| Ok(ads_engine::dispatch_request(tx, &request)?.body);
        let body = if writes { world.store.write(work).await? } else { world.store.read(work).await? };
        Ok(serde_json::from_str(&body).unwrap())
    }

    pub(crate) async fn batch(&self, world: &World, what: &str, items: Value) -> Value {
        let path = format!("/12/batch/accounts/{}/{what}", self.account.formatted_id());
        let (request, _) = request(self.owner, "POST", &path, &[], Some(items));
        let body = world.write(move |tx| Ok(ads_engine::dispatch_request(tx, &request)?.body)).await;
        serde_json::from_str(&body).unwrap()
    }

    /// Makes something; its id.
    pub(crate) async fn make(&self, world: &World, path: &str, pairs: &[(&str, &str)]) -> String {
        let created = self.call(world, "POST", path, pairs).await;
        let data = &created["data"];
        let one = data.get(0).unwrap_or(data);
        one["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn campaign(&self, world: &World) -> String {
        let instrument = FUNDING_INSTRUMENT.id_format.format(self.instrument);
        let params = [
            ("funding_instrument_id", instrument.as_str()),
            ("name", "Spring"),
            ("daily_budget_amount_local_micro", "20000000"),
        ];
        self.make(world, "A/campaigns", &params).await
    }

    /// A line item that shows a post.
    pub(crate) async fn item(&self, world: &World, campaign: &str, bid: &str) -> String {
        self.item_with(world, campaign, bid, &[]).await
    }

    /// As [`Self::item`], with further parameters.
    pub(crate) async fn item_with(&self, world: &World, campaign: &str, bid: &str, more: &[(&str, &str)]) -> String {
        let params = [
            ("campaign_id", campaign),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_POSTS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_strategy", "MAX"),
            ("bid_amount_local_micro", bid),
            ("start_time", "2026-05-01T00:00:00Z"),
        ];
        let item = self.make(world, "A/line_items", &[&params[..], more].concat()).await;
        let text = format!("Look at this, {item}");
        let post = world.say(self.owner, &text).await.to_string();
        let params = [("line_item_id", item.as_str()), ("post_ids", &post)];
        self.make(world, "A/promoted_<posts>", &params).await;
        item
    }

    /// The owner hears of these things.
    pub(crate) async fn subscribe(&self, world: &World, email: &str, types: &str) {
        let path = format!("A/user_settings/{}", self.owner);
        let params = [("notification_email", email), ("subscribe_email_types", types)];
        self.call(world, "PUT", &path, &params).await;
    }
}

fn request(user: UserId, method: &str, path: &str, pairs: &[(&str, &str)], json: Option<Value>) -> (AdsRequest, bool) {
    let mut all = ads_delivery::operations().iter();
    let (operation, ids) = all
        .find_map(|one| {
            let paths = std::iter::once(one.path).chain(one.aliases.iter().copied());
            let mut ids = paths.filter_map(|shape| ids_of(shape, path));
            (one.method == method).then(|| ids.next().map(|ids| (one, ids)))?
        })
        .unwrap_or_else(|| panic!("no {method} {path}"));
    let request = AdsRequest {
        operation,
        caller: AdsCaller { user, app: Some(AppId::new(1)), vocabulary: Vocabulary::Post, sandbox: false },
        path_params: ids,
        pairs: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        json,
        cursor_key: [0; 32],
        query_pairs: Vec::new(),
        evaluator: None,
        config: AdsConfig::default(),
        site: base::SiteLinks::without_short_links("http://localhost"),
    };
    (request, operation.is_write)
}

/// The ids that stand in a path of a shape.
fn ids_of(shape: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    if shape.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut ids = Vec::new();
    for (known, part) in shape.split('/').zip(path.split('/')) {
        match known.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => ids.push((name, part.to_owned())),
            None if known == part => {}
            None => return None,
        }
    }
    Some(ids)
}

impl World {
    pub(crate) fn adviser(&self) -> RecommendationEngine {
        RecommendationEngine {
            evaluator: Arc::clone(&self.evaluator),
            config: AdsConfig::default(),
            site: EmailSite::new("Town", "http://localhost").unwrap(),
        }
    }

    /// What is due is looked at, as a server does; how many instruments.
    pub(crate) async fn advise(&self) -> usize {
        let mut looked = 0;
        while let Some(id) =
            self.store.read(|tx| Ok(ads_delivery::recommendations::due_funding_instrument(tx)?)).await.unwrap()
        {
            self.advise_on(id, true).await;
            looked += 1;
        }
        looked
    }

    pub(crate) async fn advise_on(&self, id: i64, due: bool) {
        let adviser = self.adviser();
        let look = move |tx: &mut Tx<'_>| adviser.find_improvements(tx, id);
        let found = self.store.read(look).await.unwrap();
        let adviser = self.adviser();
        self.write(move |tx| adviser.publish_findings(tx, id, due, &found)).await;
    }

    /// Letters to an address, the latest first: subject and text.
    pub(crate) async fn letters(&self, to: &'static str) -> Vec<(String, String)> {
        let list = |tx: &mut Tx<'_>| Ok(network::emails::list(tx, None, 1000)?);
        let all = self.store.read(list).await.unwrap().into_iter();
        all.filter(|email| email.recipient == to)
            .map(|email| {
                let text = email.text.unwrap().expose_secret().to_owned();
                (email.subject, text)
            })
            .collect()
    }
}
