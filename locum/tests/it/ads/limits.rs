//! Every limit, with what is under it, at it and over it. Those of parameters follow from their
//! declarations: a new field is tested by itself. What the limits and rules of the specification
//! are, and where each of them is tested, is listed at the end and compared with what there is.

mod batches;
mod criteria;
mod specification;

use std::collections::BTreeMap;

use ads::gazetteer::CountryCode;
use ads::resources::RESOURCES;
use ads_engine::{
    CardUriText, Kind, MediaKeyText, OperationAction, Parameter, ParameterLocation, Resource, ResourceVerb, ValueKind,
};
use serde_json::{Map, Value, json};

use super::collection::World;
use super::conform::{ELSEWHERE, Subject};
use super::criteria::wrong;
use super::scheduled_posts::minute;
use super::{Advertiser, is, send};
use crate::harness::{
    CommandOutput, TestRequest, TestResponse, TestServer, percent_encode, shared_server, unique_number,
};
use crate::media::samples::{Film, gif, mp4, png};

/// What a kind holds and what it does not, at its bounds; and how a refusal says them.
struct Bounds {
    fits: Vec<String>,
    exceeds: Vec<String>,
    told: String,
}

/// As many of the same, as a list.
fn many(count: usize, one: &str) -> String {
    vec![one; count].join(",")
}

fn bounds(kind: Kind) -> Option<Bounds> {
    // Characters are counted, not bytes.
    let long = |length: usize| "é".repeat(length);
    let of_list = |most: usize, one: &str, response: String| Bounds {
        fits: vec![many(most - 1, one), many(most, one)],
        exceeds: vec![many(most + 1, one)],
        told: response,
    };
    Some(match (kind.value, kind.list) {
        (ValueKind::Text(least, most), None) if most <= 1_000 => Bounds {
            fits: vec![long(least.max(1)), long((most - 1).max(least)), long(most)],
            exceeds: if least > 1 { vec![long(least - 1), long(most + 1)] } else { vec![long(most + 1)] },
            told: format!("String of length {least}..{most}"),
        },
        (ValueKind::Int(least, most), None) if most < i64::MAX => Bounds {
            fits: [least, least + 1, most - 1, most].map(|one| one.to_string()).to_vec(),
            exceeds: [least - 1, most + 1].map(|one| one.to_string()).to_vec(),
            told: format!("Integer in {least}..{most}"),
        },
        (ValueKind::Text(_, length), Some((_, count))) => {
            let response = format!("at most {count} values of at most {length} characters");
            let mut bounds = of_list(count, "x", response);
            bounds.fits.push(long(length));
            bounds.exceeds.push(long(length + 1));
            bounds
        }
        (ValueKind::Long, Some((_, most))) => of_list(most, "1", format!("at most {most} Longs")),
        (ValueKind::Custom(_), Some((_, most))) => {
            if let Some(of) = kind.downcast::<Resource>() {
                of_list(most, "1", format!("at most {most} ids of {}", of.label_with_article()))
            } else if kind.downcast::<MediaKeyText>().is_some() {
                of_list(most, "3_1", format!("at most {most} media keys"))
            } else if kind.downcast::<CountryCode>().is_some() {
                of_list(most, "PT", format!("at most {most} country codes of ISO 3166-1 alpha-2"))
            } else {
                assert!(kind.downcast::<CardUriText>().is_some(), "{kind:?}");
                of_list(most, "card://1", format!("at most {most} card URIs"))
            }
        }
        _ => return None,
    })
}

/// A world, and a record of everything in it that is made by requests.
pub(crate) struct Field {
    pub(crate) world: World,
    sandbox: String,
    pub(crate) ids: BTreeMap<&'static str, String>,
}

impl Field {
    pub(super) fn new() -> Self {
        Self::on(shared_server())
    }

    pub(crate) fn on(server: &'static TestServer) -> Self {
        let world = World::on(server);
        let created = send(&world.ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
        let sandbox = created["data"][0]["id"].as_str().unwrap().to_owned();
        let mut ids = BTreeMap::new();
        for of in RESOURCES.iter().filter(|of| of.supports(ResourceVerb::Create)) {
            let subject = Subject::new(&world, of);
            if subject.is_made_here() && !ELSEWHERE.contains(&of.name) {
                let created = subject.ask("POST", &subject.path, &subject.good()).assert_status(200);
                ids.insert(of.name, created["data"]["id"].as_str().unwrap().to_owned());
            }
        }
        Self { world, sandbox, ids }
    }

    /// What stands in a path for a parameter; none where nothing does here.
    fn of_path(&self, of: Option<&'static Resource>, param: &Parameter, sandbox: bool) -> String {
        let known = |name: &str| self.world.values[name].clone();
        match param.name.post {
            "account_id" if sandbox => self.sandbox.clone(),
            "account_id" => self.world.ads.account.clone(),
            "user_id" => self.world.ads.person.id.clone(),
            "media_key" => known("film"),
            "custom_audience_id" | "tailored_audience_id" => known("tailored_audience_id"),
            _ => {
                let own = of.and_then(|of| self.ids.get(of.name).cloned());
                own.unwrap_or_else(|| "1".to_owned())
            }
        }
    }

    /// A request of an operation with some values, without credentials.
    pub(crate) fn request(&self, operation: &ads_engine::AdsOperation, values: &[(&'static str, &str)]) -> TestRequest {
        let of = match operation.action {
            OperationAction::Verb(of, _) => Some(of),
            _ => None,
        };
        let mut path = operation.path.replace("<posts>", "posts").replace("<post>", "post");
        for param in operation.params.iter().filter(|param| param.location == ParameterLocation::Path) {
            let name = format!("{{{}}}", param.name.post);
            path = path.replace(&name, &self.of_path(of, param, operation.sandbox_only));
        }
        if operation.sandbox_only {
            path = format!("/ads-sandbox{path}");
        }
        if operation.takes_json() {
            let members = values.iter();
            let members = members.map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
            let body = Value::Object(members.collect::<Map<_, _>>());
            return TestRequest::new(operation.method, path).json(&body);
        }
        let pairs = values.iter();
        let pairs = pairs.map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)));
        let pairs = pairs.collect::<Vec<_>>().join("&");
        if operation.method == "GET" || operation.method == "DELETE" {
            let mark = if pairs.is_empty() { "" } else { "?" };
            return TestRequest::new(operation.method, format!("{path}{mark}{pairs}"));
        }
        TestRequest::new(operation.method, path).form(pairs)
    }

    /// Sends an operation with some values.
    fn send(&self, operation: &ads_engine::AdsOperation, values: &[(&'static str, &str)]) -> TestResponse {
        self.world.ads.person.send_signed(self.request(operation, values))
    }
}

/// Whether a refusal says that a parameter is out of its bounds.
fn exceeds(answer: &TestResponse, name: &str, response: &str) -> bool {
    let body = answer.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().any(|error| {
        error["code"] == "INVALID_PARAMETER"
            && error["parameter"] == name
            && error["message"].as_str().is_some_and(|text| text.contains(response))
    })
}

#[test]
fn every_parameter_enforces_its_declared_bounds() {
    let field = Field::new();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for operation in ads_delivery::operations() {
        if matches!(operation.action, OperationAction::Batch(_)) {
            continue;
        }
        let params = operation.params.iter().filter(|param| param.location == ParameterLocation::Query);
        let bounded: Vec<(&'static str, Bounds)> =
            params.filter_map(|param| Some((param.name.post, bounds(param.kind)?))).collect();
        seen += bounded.len();
        // All that is wrong is told at once: so all parameters are asked at once.
        let rounds = |of: fn(&Bounds) -> &[String]| {
            let most = bounded.iter().map(|(_, bounds)| of(bounds).len()).max();
            (0..most.unwrap_or(0)).map(move |round| (round, of))
        };
        let fits = rounds(|bounds| &bounds.fits).map(|(round, of)| (round, of, false));
        let over = rounds(|bounds| &bounds.exceeds).map(|(round, of)| (round, of, true));
        for (round, of, refused) in fits.chain(over) {
            let values: Vec<(&'static str, &str)> =
                bounded.iter().filter_map(|(name, bounds)| Some((*name, of(bounds).get(round)?.as_str()))).collect();
            let answer = field.send(operation, &values);
            for (name, bounds) in &bounded {
                let sent = values.iter().any(|(other, _)| other == name);
                if sent && exceeds(&answer, name, &bounds.told) != refused {
                    let (method, path) = (operation.method, operation.path);
                    let (response, status) = (&bounds.told, answer.status);
                    let text: String = answer.text().chars().take(600).collect();
                    wrong.push(format!(
                        "{method} {path} {name} ({response}), round {round}, over {refused}: {status} {text}"
                    ));
                }
            }
            if answer.status >= 500 {
                wrong.push(format!("{} {}: {}", operation.method, operation.path, answer.text()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 300, "{seen}");
}

/// A good item of a batch, another each time.
pub(crate) fn item(ads: &Advertiser, of: &Resource, parent: &str) -> Value {
    let name = format!("item {}", unique_number());
    let params = match of.name {
        "campaign" => json!({ "name": name, "funding_instrument_id": ads.instrument,
            "daily_budget_amount_local_micro": 10_000_000, "entity_status": "PAUSED" }),
        "line_item" => json!({ "name": name, "campaign_id": parent, "objective": "REACH",
            "product_type": "PROMOTED_TWEETS", "placements": ["ALL_ON_TWITTER"] }),
        "targeting_criterion" => json!({ "line_item_id": parent,
            "targeting_type": "BROAD_KEYWORD", "targeting_value": name }),
        "custom_audience" => json!({ "name": name, "audience_type": "FLEXIBLE", "segments": {
            "boolean_operator": "OR", "child_segments": [{ "custom_audience_id": parent }] } }),
        _ => json!({ "name": name }),
    };
    json!({ "operation_type": "Create", "params": params })
}

/// How many of a kind are made: as many as fit, and then one more.
fn fills(count: usize, of_batch: usize, mut make: impl FnMut(usize) -> TestResponse) {
    let mut left = count;
    while left > 0 {
        let some = left.min(of_batch);
        make(some).assert_status(200);
        left -= some;
    }
}

fn set_limit(ads: &Advertiser, name: &str, limit: &str) -> CommandOutput {
    shared_server().run_cli(&["ads", "account", "set", &ads.account, name, limit])
}

#[test]
fn active_campaigns_of_an_account_are_limited() {
    let ads = Advertiser::new();
    let campaigns = |count: usize| {
        let items: Vec<Value> = (0..count)
            .map(|number| {
                let mut one = item(&ads, campaign(), "");
                // Paused ones count, drafts do not.
                if number % 2 == 0 {
                    one["params"]["entity_status"] = "ACTIVE".into();
                }
                one
            })
            .collect();
        ads.batch("campaigns", &items.into())
    };
    fills(198, 40, campaigns);
    // Two more fit of three: the one beyond is blamed, and none is made.
    let too_many = ("TOO_MANY_CAMPAIGNS".to_owned(), String::new());
    assert_eq!(wrong(&campaigns(3)), [vec![], vec![], vec![too_many]]);
    campaigns(1).assert_status(200);
    let last = ads.campaign();
    let params = [
        ("funding_instrument_id", ads.instrument.as_str()),
        ("name", "One more"),
        ("daily_budget_amount_local_micro", "20000000"),
    ];
    let more = || ads.send("POST", "/campaigns", &params);
    is(&more(), 400, "TOO_MANY_CAMPAIGNS", "");
    // What goes in the same batch makes room.
    let swap = json!([
        item(&ads, campaign(), ""),
        { "operation_type": "Delete", "params": { "campaign_id": last } },
    ]);
    ads.batch("campaigns", &swap).assert_status(200);
    is(&more(), 400, "TOO_MANY_CAMPAIGNS", "");
    // An operator allows more, up to 8,000.
    let set = |name: &str, limit: &str| set_limit(&ads, name, limit);
    set("--campaigns", "8001").assert_refused();
    set("--campaigns", "0").assert_refused();
    set("--campaigns", "7999").assert_success();
    set("--campaigns", "8000").assert_success();
    more().assert_status(200);
}

#[test]
fn line_items_of_a_campaign_and_of_an_account_are_limited() {
    let ads = Advertiser::new();
    let parent = ads.campaign();
    let line_items = |count: usize| {
        let items: Vec<Value> = (0..count).map(|_| item(&ads, line_item(), &parent)).collect();
        ads.batch("line_items", &items.into())
    };
    fills(99, 40, line_items);
    let too_many = ("TOO_MANY_LINE_ITEMS".to_owned(), String::new());
    assert_eq!(wrong(&line_items(2)), [vec![], vec![too_many]]);
    line_items(1).assert_status(200);
    let second = ads.campaign();
    let reach = |campaign: &str, status: &str| {
        let params = [
            ("campaign_id", campaign),
            ("objective", "REACH"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("entity_status", status),
        ];
        ads.send("POST", "/line_items", &params)
    };
    is(&reach(&parent, "ACTIVE"), 400, "TOO_MANY_LINE_ITEMS", "");
    // And an account as many as its operator says.
    set_limit(&ads, "--line-items", "102").assert_success();
    reach(&second, "ACTIVE").assert_status(200);
    let draft = reach(&second, "DRAFT").assert_status(200)["data"]["id"].clone();
    let draft = format!("/line_items/{}", draft.as_str().unwrap());
    let last = reach(&second, "PAUSED").assert_status(200)["data"]["id"].clone();
    is(&reach(&second, "ACTIVE"), 400, "TOO_MANY_LINE_ITEMS", "");
    let wake = || ads.send("PUT", &draft, &[("entity_status", "ACTIVE")]);
    is(&wake(), 400, "TOO_MANY_LINE_ITEMS", "");
    let last = format!("/line_items/{}", last.as_str().unwrap());
    ads.send("DELETE", &last, &[]).assert_status(200);
    wake().assert_status(200);
    is(&reach(&second, "PAUSED"), 400, "TOO_MANY_LINE_ITEMS", "");
    let ended = [("start_time", "2026-01-01T00:00:00Z"), ("end_time", "2026-01-02T00:00:00Z")];
    ads.send("PUT", &draft, &ended).assert_status(200);
    reach(&second, "PAUSED").assert_status(200);
    is(&reach(&second, "PAUSED"), 400, "TOO_MANY_LINE_ITEMS", "");
    let [start, end] = ended;
    let over = [("campaign_id", second.as_str()), ("objective", "REACH"), ("product_type", "PROMOTED_TWEETS")];
    let over = [over.as_slice(), &[("placements", "ALL_ON_TWITTER"), start, end]].concat();
    ads.send("POST", "/line_items", &over).assert_status(200);
}

fn of(name: &str) -> &'static Resource {
    RESOURCES.iter().find(|of| of.name == name).unwrap()
}

fn campaign() -> &'static Resource {
    of("campaign")
}

fn line_item() -> &'static Resource {
    of("line_item")
}

#[test]
fn campaign_limit_holds_for_concurrent_requests() {
    let ads = Advertiser::new();
    let set = ["ads", "account", "set", &ads.account, "--campaigns", "5"];
    shared_server().run_cli(&set).assert_success();
    let params = [
        ("funding_instrument_id", ads.instrument.as_str()),
        ("name", "At once"),
        ("daily_budget_amount_local_micro", "20000000"),
    ];
    let make = || ads.send("POST", "/campaigns", &params);
    ads.person.oauth1_credentials();
    let created = std::thread::scope(|scope| {
        let all: Vec<_> = (0..50).map(|_| scope.spawn(make)).collect();
        let all = all.into_iter().map(|one| one.join().unwrap());
        all.filter(|response| response.status == 200).count()
    });
    assert_eq!(created, 5);
    let total = ads.get("/campaigns", &[("with_total_count", "true")]);
    assert_eq!(total["total_count"], 5);
}

#[test]
fn fifty_posts_are_promoted_by_one_request() {
    let ads = Advertiser::new();
    let posts: Vec<String> = (0..51).map(|number| ads.person.publish_text(&format!("Post {number}"))).collect();
    let promote = |item: &str, count: usize| {
        let ids = posts[..count].join(",");
        let params = [("line_item_id", item), ("post_ids", ids.as_str())];
        ads.send("POST", "/promoted_posts", &params)
    };
    let item = ads.item();
    is(&promote(&item, 51), 400, "INVALID_PARAMETER", "post_ids");
    let line = [("line_item_ids", item.as_str())];
    assert_eq!(ads.get("/promoted_posts", &line)["data"], json!([]));
    assert_eq!(promote(&item, 49).assert_status(200)["total_count"], 49);
    assert_eq!(promote(&ads.item(), 50).assert_status(200)["total_count"], 50);
}

#[test]
fn scheduled_post_is_limited_in_media_and_time() {
    let ads = Advertiser::new();
    let year = 365 * 24 * 60;
    let schedule = |at: i64, media: &[&str]| {
        let (at, media) = (minute(at), media.join(","));
        let defaults = [("as_user_id", ads.person.id.as_str()), ("scheduled_at", &at), ("text", "x")];
        let media = [("media_keys", media.as_str())];
        let more = if media[0].1.is_empty() { &[][..] } else { &media };
        ads.send("POST", "/scheduled_posts", &[&defaults[..], more].concat())
    };
    schedule(1, &[]).assert_status(200);
    schedule(year - 1, &[]).assert_status(200);
    schedule(year, &[]).assert_status(200);
    for over in [year + 2, -1, 0] {
        is(&schedule(over, &[]), 400, "INVALID_PARAMETER", "scheduled_at");
    }
    let images: Vec<String> = (0..5).map(|number| ads.media("tweet_image", &png(40 + number, 40))).collect();
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let moving: Vec<String> = (2..4).map(|frames| ads.media("tweet_gif", &gif(frames))).collect();
    let (one, two) = (moving[0].as_str(), moving[1].as_str());
    let film = |width| Film { width, height: 90, ..Film::default() };
    let films = [ads.media("tweet_video", &mp4(film(160))), ads.media("tweet_video", &mp4(film(162)))];
    for fits in [&images[..3], &images[..4], &[one], &[&films[0]]] {
        schedule(60, fits).assert_status(200);
    }
    for over in [&images[..5], &[one, two], &[&films[0], &films[1]], &[images[0], one], &[images[0], &films[0]]] {
        let response = schedule(60, over);
        assert_eq!(response.status, 400, "{over:?}: {}", response.text());
        let at = response.json()["errors"][0].clone();
        let at = at["parameter"].as_str().or(at["attribute"].as_str());
        assert_eq!(at, Some("media_keys"), "{over:?}: {}", response.text());
    }
}

#[test]
fn card_texts_and_lists_are_bounded() {
    let ads = Advertiser::new();
    let image = ads.image();
    // Of swipeable media there are two to six.
    let images: Vec<String> = (0..7).map(|_| ads.image()).collect();
    let card = |count: usize| {
        let keys = &images[..count];
        let site = json!({ "type": "WEBSITE", "url": "https://bikes.example/" });
        let body = json!({ "name": "Cards", "components": [
            { "type": "SWIPEABLE_MEDIA", "media_keys": keys },
            { "type": "DETAILS", "title": "Ride", "destination": site },
        ] });
        let path = format!("/12/accounts/{}/cards", ads.account);
        ads.person.send_signed(TestRequest::post(path).json(&body))
    };
    for count in [2, 3, 5, 6] {
        card(count).assert_status(200);
    }
    for count in [0, 1, 7] {
        let response = card(count);
        assert_eq!(response.status, 400, "{count}: {}", response.text());
        assert!(response.text().contains("media_keys"), "{count}: {}", response.text());
    }
    // A hashtag has twenty characters, its sign not counted.
    let request = |option: &str| {
        let params = [
            ("name", "Pick"),
            ("title", "Ride"),
            ("media_key", image.as_str()),
            ("first_cta", option),
            ("first_cta_tweet", "I ride"),
            ("thank_you_text", "See you"),
        ];
        ads.send("POST", "/cards/image_conversation", &params)
    };
    let long = |length| "é".repeat(length);
    for option in [long(19), long(20), format!("#{}", long(20))] {
        request(&option).assert_status(200);
    }
    for option in [long(21), format!("#{}", long(21)), "#".to_owned()] {
        is(&request(&option), 400, "INVALID_PARAMETER", "first_cta");
    }
}

#[test]
fn total_counts_are_rate_limited_to_two_hundred_per_window() {
    let server = TestServer::start(&["--rate-limits", "table"]);
    let owner = server.new_user("owner");
    let create = ["ads", "account", "create", "Own", "--user", &owner.username];
    let account = server.run_cli(&create).json()["id"].as_str().unwrap().to_owned();
    let list =
        |path: &str, params: &[(&str, &str)]| send(&owner, "GET", &format!("/12/accounts/{account}/{path}"), params);
    let total = [("with_total_count", "true")];
    for left in (0..200).rev() {
        let response = list("campaigns", &total);
        response.assert_status(200);
        assert_eq!(response.header_number("x-rate-limit-remaining"), left);
    }
    let over = list("campaigns", &total);
    is(&over, 429, "TOO_MANY_REQUESTS", "");
    assert!(over.header_number("x-rate-limit-reset") > 0);
    // What is asked without the total is not counted with it, nor is another list.
    list("campaigns", &[]).assert_status(200);
    list("line_items", &total).assert_status(200);
}
