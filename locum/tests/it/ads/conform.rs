//! What every resource does, by its declaration alone: made, shown, listed, changed and deleted,
//! with what is wrong, missing, too long or somebody else's.

mod listing;

use ads::resources::RESOURCES;
use ads_engine::{
    CardUriText, DeleteMode, FieldRequirement, FieldSpec, IdFormat, InputFormat, Kind, ListFilter, MediaKeyText,
    Resource, ResourceVerb, ValueKind,
};
use serde_json::{Map, Value, json};

use super::collection::World;
use super::{Advertiser, send};
use crate::harness::{TestRequest, TestResponse};

/// Fields that a good record has beside those that it must have.
const BESIDE: &[(&str, &[&str])] = &[
    ("campaign", &["daily_budget_amount_local_micro"]),
    ("line_item", &["bid_amount_local_micro", "name"]),
    ("card", &["components"]),
    ("video_conversation_card", &["title"]),
    ("image_conversation_card", &["title", "media_key"]),
    ("image_app_download_card", &["googleplay_app_id"]),
    ("video_app_download_card", &["googleplay_app_id"]),
    ("draft_post", &["text"]),
    ("scheduled_post", &["text"]),
];

/// What there is one of beside others of its kind.
const ONCE: &[&str] = &["preroll_call_to_action", "line_item_curated_category", "do_not_reach_list", "ab_test"];

/// What needs an operator first, and is made in a test of its own.
pub(super) const ELSEWHERE: &[&str] = &["line_item_curated_category", "custom_audience"];

pub(super) type Params = Vec<(&'static str, Value)>;

/// A resource, in a world, and what it did not do as it should.
pub(super) struct Subject<'w> {
    world: &'w World,
    pub(super) of: &'static Resource,
    pub(super) path: String,
    wrong: Vec<String>,
}

impl<'w> Subject<'w> {
    pub(super) fn new(world: &'w World, of: &'static Resource) -> Self {
        Self { world, of, path: format!("/{}", of.path.replace("<posts>", "posts")), wrong: Vec::new() }
    }

    fn send(&self, ads: &Advertiser, method: &'static str, path: &str, params: &Params) -> TestResponse {
        let path = format!("/12/accounts/{}{path}", ads.account);
        if self.of.input_format == InputFormat::Json && ["POST", "PUT"].contains(&method) {
            let members = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            let body = Value::Object(members.collect::<Map<_, _>>());
            return ads.person.send_signed(TestRequest::new(method, path).json(&body));
        }
        let texts: Vec<(&str, String)> =
            params.iter().map(|(name, value)| (*name, value.as_str().unwrap_or_default().to_owned())).collect();
        let pairs: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        send(&ads.person, method, &path, &pairs)
    }

    pub(super) fn ask(&self, method: &'static str, path: &str, params: &Params) -> TestResponse {
        self.send(&self.world.ads, method, path, params)
    }

    /// Notes what is not so.
    fn holds(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(format!("{}: {}", self.of.name, what()));
        }
    }

    fn well(&mut self, response: &TestResponse, what: &str) -> Value {
        self.holds(response.status == 200, || format!("{what}: {} {}", response.status, response.text()));
        response.json()
    }

    /// An answer that is a refusal of one parameter.
    fn refused(&mut self, response: &TestResponse, status: u16, code: &str, at: &str) {
        let so = response.status == status && blames(response, code, at);
        self.holds(so, || format!("expected {status} {code} at {at}, got {} {}", response.status, response.text()));
    }

    /// What a good new record is sent as.
    pub(super) fn good(&self) -> Params {
        let beside = BESIDE.iter().find(|(name, _)| *name == self.of.name);
        let beside = beside.map_or(&[][..], |(_, fields)| *fields);
        let sent = self
            .of
            .fields
            .iter()
            .filter(|field| field.create == FieldRequirement::Required || beside.contains(&field.name.post));
        sent.map(|field| (field.name.post, self.value(field))).collect()
    }

    fn value(&self, field: &FieldSpec) -> Value {
        if field.name.matches("components") {
            return json!([
                { "type": "MEDIA", "media_key": self.world.values["media_key"] },
                { "type": "DETAILS", "title": "Ride more",
                  "destination": { "type": "WEBSITE", "url": "https://bikes.example/" } },
            ]);
        }
        if field.name.matches("user_groups") {
            let groups = ["campaign_id", "campaign before films"].map(|name| &self.world.values[name]);
            return groups.map(|campaign| json!({ "size": "50.0", "entity_ids": [campaign] })).to_vec().into();
        }
        let about = self.of.path.replace("<posts>", "tweets");
        let about = about.rsplit('/').next().unwrap().to_owned();
        let known = self.world.value_of(&about, field.name.tweet);
        let defaults = || match field.kind.value {
            ValueKind::OneOf(words) => (*words.first().unwrap()).to_owned(),
            ValueKind::Url => "https://bikes.example/".to_owned(),
            _ => panic!("{}: no value of {}", self.of.name, field.name.post),
        };
        known.unwrap_or_else(defaults).into()
    }

    fn with(&self, name: &'static str, value: impl Into<Value>) -> Params {
        let mut params = self.good();
        params.retain(|(known, _)| *known != name);
        params.push((name, value.into()));
        params
    }

    pub(super) fn is_made_here(&self) -> bool {
        self.of.supports(ResourceVerb::Create) && !self.of.sandbox_verbs.contains(&ResourceVerb::Create)
    }

    fn one(&self, id: &str) -> String {
        format!("{}/{id}", self.path)
    }

    /// All that can be asked of it.
    fn conform(&mut self) {
        let mut created = Vec::new();
        if self.is_made_here() {
            self.refuses_bad_new_ones();
            let times = if ONCE.contains(&self.of.name) { 1 } else { 3 };
            for _ in 0..times {
                let answer = self.ask("POST", &self.path, &self.good());
                let body = self.well(&answer, "create");
                let echo = &body["request"]["params"];
                let response = self.good().iter().all(|(name, _)| !echo[*name].is_null());
                let response = response || self.of.input_format == InputFormat::Json;
                self.holds(response, || format!("not all is told back: {echo}"));
                created.extend(body["data"]["id"].as_str().map(str::to_owned));
            }
            created.sort();
            created.dedup();
        } else if self.of.supports(ResourceVerb::List) {
            let page = self.ask("GET", &self.path, &self.scope()).json();
            created.extend(ids(&page).into_iter().take(1));
        }
        if self.of.supports(ResourceVerb::List) {
            self.lists(&created);
        }
        let Some(id) = created.first().cloned() else {
            return;
        };
        self.shows(&id);
        if self.of.supports(ResourceVerb::Update) && self.is_made_here() {
            self.changes(&id);
        } else if !self.of.supports(ResourceVerb::Update) && self.of.supports(ResourceVerb::Get) {
            let answer = self.ask("PUT", &self.one(&id), &Params::new());
            self.holds(answer.status == 405, || format!("PUT: {}", answer.status));
        }
        if self.of.supports(ResourceVerb::Delete) && self.is_made_here() {
            self.deletes(&id);
        }
    }

    fn shows(&mut self, id: &str) {
        if !self.of.supports(ResourceVerb::Get) {
            return;
        }
        let response = self.ask("GET", &self.one(id), &Params::new());
        let body = self.well(&response, "get");
        let data = &body["data"];
        let whole = data["id"] == id && data["created_at"].is_string() && data["updated_at"].is_string();
        self.holds(whole, || format!("shows {data}"));
        for field in self.of.fields {
            let there = data.get(field.name.post).is_some();
            self.holds(there == field.is_shown || !field.is_shown, || format!("{} is not shown", field.name.post));
        }
        let deleted = data.get("deleted").is_some();
        self.holds(deleted == self.of.shows_deleted, || "deleted".to_owned());
        let at = self.of.id.post;
        let response = self.ask("GET", &self.one(&nobody(self.of)), &Params::new());
        self.refused(&response, 404, self.of.not_found, at);
        let response = self.ask("GET", &self.one("a-b"), &Params::new());
        self.refused(&response, 404, "INVALID_ID_ILLEGAL_CHARACTERS", at);
        for method in ["GET", "PUT", "DELETE"] {
            let verb = match method {
                "GET" => ResourceVerb::Get,
                "PUT" => ResourceVerb::Update,
                _ => ResourceVerb::Delete,
            };
            if self.of.supports(verb) && !self.of.sandbox_verbs.contains(&verb) {
                let response = self.send(&self.world.other, method, &self.one(id), &Params::new());
                let so = [400, 404].contains(&response.status);
                self.holds(so, || format!("{method} of another account: {}", response.text()));
            }
        }
    }

    fn refuses_bad_new_ones(&mut self) {
        let before = self.count();
        for field in self.of.fields {
            let name = field.name.post;
            if field.create == FieldRequirement::Ignored {
                continue;
            }
            if field.create == FieldRequirement::Required {
                let mut params = self.good();
                params.retain(|(known, _)| *known != name);
                let response = self.ask("POST", &self.path, &params);
                self.refused(&response, 400, "MISSING_PARAMETER", name);
                let response = self.ask("POST", &self.path, &self.with(name, ""));
                self.refused(&response, 400, "MISSING_PARAMETER", name);
            }
            for value in bad(field.kind) {
                let response = self.ask("POST", &self.path, &self.with(name, value));
                self.refused(&response, 400, "INVALID_PARAMETER", name);
            }
            if let Some(to) = field.target() {
                let response = self.ask("POST", &self.path, &self.with(name, nobody(to)));
                self.refused(&response, 404, to.not_found, name);
                let response = self.ask("POST", &self.path, &self.with(name, "a-b"));
                self.refused(&response, 404, "INVALID_ID_ILLEGAL_CHARACTERS", name);
                // What is another account's is not there.
                let response = self.send(&self.world.other, "POST", &self.path, &self.good());
                self.refused(&response, 404, to.not_found, name);
            }
        }
        let after = self.count();
        self.holds(before == after, || format!("{before:?} before, {after:?} after what was refused"));
    }

    fn count(&self) -> Option<usize> {
        self.of.supports(ResourceVerb::List).then(|| {
            let page = self.ask("GET", &self.path, &self.scope()).json();
            ids(&page).len()
        })
    }

    fn changes(&mut self, id: &str) {
        let path = self.one(id);
        let before = self.ask("GET", &path, &Params::new()).json()["data"].clone();
        let musts: Params = self
            .of
            .fields
            .iter()
            .filter(|field| field.update == FieldRequirement::Required)
            .map(|field| (field.name.post, self.value(field)))
            .collect();
        // Nothing, and what never changes.
        let mut nothing = musts.clone();
        let fixed = self.of.fields.iter().filter(|field| field.update == FieldRequirement::Ignored && field.is_shown);
        nothing.extend(fixed.map(|field| (field.name.post, "zzz".into())));
        nothing.extend([("id", "zzz".into()), ("created_at", "x".into()), ("deleted", "true".into())]);
        let response = self.ask("PUT", &path, &nothing);
        let same = self.well(&response, "a change of nothing");
        self.holds(same["data"] == before, || format!("{} is not {before}", same["data"]));
        for field in self.of.fields.iter().filter(|field| field.update != FieldRequirement::Ignored) {
            let name = field.name.post;
            for value in bad(field.kind) {
                let mut params = musts.clone();
                params.retain(|(known, _)| *known != name);
                params.push((name, value.into()));
                let response = self.ask("PUT", &path, &params);
                self.refused(&response, 400, "INVALID_PARAMETER", name);
            }
            if field.create == FieldRequirement::Required {
                let code =
                    if field.update == FieldRequirement::Required { "MISSING_PARAMETER" } else { "INVALID_PARAMETER" };
                let response = self.ask("PUT", &path, &vec![(name, "".into())]);
                self.refused(&response, 400, code, name);
            }
            // As it is, once more.
            let is_sent = self.good().iter().any(|(known, _)| *known == name);
            if is_sent && before.get(name).is_some() {
                let mut params = musts.clone();
                params.retain(|(known, _)| *known != name);
                params.push((name, self.value(field)));
                let response = self.ask("PUT", &path, &params);
                let same = self.well(&response, name);
                self.holds(same["data"][name] == before[name], || format!("{name} is another"));
            }
        }
        let response = self.ask("PUT", &self.one(&nobody(self.of)), &musts);
        self.refused(&response, 404, self.of.not_found, self.of.id.post);
        let after = self.ask("GET", &path, &Params::new()).json()["data"].clone();
        self.holds(after == before, || format!("{after} is not {before}"));
    }

    fn deletes(&mut self, id: &str) {
        let (path, at) = (self.one(id), self.of.id.post);
        let response = self.ask("DELETE", &path, &Params::new());
        let removed = self.well(&response, "delete");
        let says = !self.of.shows_deleted || removed["data"]["deleted"] == true;
        self.holds(says, || format!("deleted: {removed}"));
        let again = self.ask("DELETE", &path, &Params::new());
        self.refused(&again, 404, self.of.not_found, at);
        let soft = self.of.delete_mode == DeleteMode::Soft;
        if self.of.supports(ResourceVerb::Get) {
            let response = self.ask("GET", &path, &Params::new());
            self.refused(&response, 404, self.of.not_found, at);
            let deleted: Params = vec![("with_deleted", "true".into())];
            let response = self.ask("GET", &path, &deleted);
            if soft && self.of.supports_list_extras {
                let found = self.well(&response, "get with_deleted");
                self.holds(found["data"]["deleted"] == true, || format!("{found}"));
            } else {
                self.refused(&response, 404, self.of.not_found, at);
            }
        }
        if self.of.supports(ResourceVerb::List) {
            for (with, there) in [("false", false), ("true", soft)] {
                let requested = self.asked(&[("with_deleted", with)]);
                let page = self.ask("GET", &self.path, &requested).json();
                let is_there = ids(&page).iter().any(|one| one == id);
                self.holds(is_there == there, || format!("with_deleted={with} lists {:?}", ids(&page)));
            }
        }
    }
}

/// Whether one of the refusals has this code, at this parameter.
fn blames(response: &TestResponse, code: &str, at: &str) -> bool {
    let body = response.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().any(|error| error["code"] == code && (error["parameter"] == at || error["attribute"] == at))
}

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().cloned().unwrap_or_default();
    data.iter().filter_map(|one| one["id"].as_str().map(str::to_owned)).collect()
}

/// An id that nothing has.
fn nobody(of: &Resource) -> String {
    match of.id_format {
        IdFormat::Long => "999".to_owned(),
        IdFormat::Short => "zzzzzz".to_owned(),
        IdFormat::Twelve => "zzzzzzzzzzzz".to_owned(),
    }
}

/// Values that a kind does not hold.
fn bad(kind: Kind) -> Vec<String> {
    let all: &[&str] = match kind.value {
        ValueKind::Text(_, most) if kind.is_list() || most <= 2_000 => return vec!["x".repeat(most + 1)],
        ValueKind::Int(least, most) => {
            let beside = [least.checked_sub(1), most.checked_add(1)];
            let beside = beside.into_iter().flatten().map(|number| number.to_string());
            return beside.chain(["x".to_owned(), "1.5".to_owned()]).collect();
        }
        ValueKind::Url => &["nowhere", "ftp://bikes.example/", "https://"],
        ValueKind::Bool => &["perhaps", "2"],
        ValueKind::Money => &["0", "-1", "x", "1.5"],
        ValueKind::OneOf(_) | ValueKind::Word(_) => &["NOTHING"],
        ValueKind::Id | ValueKind::Long => &["x", "-1", "99999999999999999999"],
        ValueKind::Time => &["tomorrow", "2026-13-01T00:00:00Z"],
        _ if kind.downcast::<MediaKeyText>().is_some() => &["x", "3_x"],
        _ if kind.downcast::<CardUriText>().is_some() => &["https://bikes.example/"],
        _ => &[],
    };
    all.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn every_resource_conforms_to_its_declaration() {
    let world = World::new();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for of in RESOURCES.iter().filter(|of| !of.verbs.is_empty() && !ELSEWHERE.contains(&of.name)) {
        let mut subject = Subject::new(&world, of);
        subject.conform();
        wrong.extend(subject.wrong);
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
