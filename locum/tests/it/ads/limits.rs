//! Every limit, with what is under it, at it and over it. Those of parameters follow from their
//! declarations: a new field is tested by itself. What the limits and rules of the specification
//! are, and where each of them is tested, is listed at the end and compared with what there is.

use std::collections::BTreeMap;

use ads::resources::RESOURCES;
use ads_engine::{FieldKind, OperationAction, OperationParam, OperationParamLocation, Resource, ResourceVerb};
use serde_json::{Map, Value, json};

use super::collection::World;
use super::conform::{ELSEWHERE, Subject};
use super::criteria::wrong;
use super::scheduled_posts::minute;
use super::{Advertiser, is, send};
use crate::harness::{TestRequest, TestResponse, TestServer, percent_encode, shared_server, unique_number};
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

fn bounds(kind: FieldKind) -> Option<Bounds> {
    // Characters are counted, not bytes.
    let long = |length: usize| "é".repeat(length);
    let of_list = |most: usize, one: &str, told: String| Bounds {
        fits: vec![many(most - 1, one), many(most, one)],
        exceeds: vec![many(most + 1, one)],
        told,
    };
    Some(match kind {
        FieldKind::Text(least, most) if most <= 1_000 => Bounds {
            fits: vec![long(least.max(1)), long((most - 1).max(least)), long(most)],
            exceeds: if least > 1 { vec![long(least - 1), long(most + 1)] } else { vec![long(most + 1)] },
            told: format!("String of length {least}..{most}"),
        },
        FieldKind::Int(least, most) if most < i64::MAX => Bounds {
            fits: [least, least + 1, most - 1, most].map(|one| one.to_string()).to_vec(),
            exceeds: [least - 1, most + 1].map(|one| one.to_string()).to_vec(),
            told: format!("Integer in {least}..{most}"),
        },
        FieldKind::Texts(count, length) => {
            let told = format!("at most {count} values of at most {length} characters");
            let mut bounds = of_list(count, "x", told);
            bounds.fits.push(long(length));
            bounds.exceeds.push(long(length + 1));
            bounds
        }
        FieldKind::Ids(of, most) => of_list(most, "1", format!("at most {most} ids of a {}", of.label)),
        FieldKind::Longs(most) => of_list(most, "1", format!("at most {most} Longs")),
        FieldKind::MediaKeys(most) => of_list(most, "3_1", format!("at most {most} media keys")),
        FieldKind::CardUris(most) => of_list(most, "card://1", format!("at most {most} card URIs")),
        _ => return None,
    })
}

/// A world, and a record of everything in it that is made by requests.
pub(super) struct Field {
    pub(super) world: World,
    sandbox: String,
    pub(super) ids: BTreeMap<&'static str, String>,
}

impl Field {
    pub(super) fn new() -> Self {
        let world = World::new();
        let made = send(&world.ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
        let sandbox = made["data"][0]["id"].as_str().unwrap().to_owned();
        let mut ids = BTreeMap::new();
        for of in RESOURCES.iter().filter(|of| of.supports(ResourceVerb::Create)) {
            let subject = Subject::new(&world, of);
            if subject.is_made_here() && !ELSEWHERE.contains(&of.name) {
                let made = subject.ask("POST", &subject.path, &subject.good()).assert_status(200);
                ids.insert(of.name, made["data"]["id"].as_str().unwrap().to_owned());
            }
        }
        Self { world, sandbox, ids }
    }

    /// What stands in a path for a parameter; none where nothing does here.
    fn of_path(&self, of: Option<&'static Resource>, param: &OperationParam, sandbox: bool) -> String {
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

    /// Sends an operation with some values.
    fn send(&self, operation: &ads_engine::AdsOperation, values: &[(&'static str, &str)]) -> TestResponse {
        let of = match operation.action {
            OperationAction::Verb(of, _) => Some(of),
            _ => None,
        };
        let mut path = operation.path.replace("<posts>", "posts").replace("<post>", "post");
        for param in operation.params.iter().filter(|param| param.location == OperationParamLocation::Path) {
            let name = format!("{{{}}}", param.name.post);
            path = path.replace(&name, &self.of_path(of, param, operation.sandbox_only));
        }
        if operation.sandbox_only {
            path = format!("/ads-sandbox{path}");
        }
        let person = &self.world.ads.person;
        if operation.takes_json() {
            let members = values.iter();
            let members = members.map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
            let body = Value::Object(members.collect::<Map<_, _>>());
            return person.send_signed(TestRequest::new(operation.method, path).json(&body));
        }
        if operation.method == "GET" || operation.method == "DELETE" {
            return send(person, operation.method, &path, values);
        }
        let pairs = values.iter();
        let pairs = pairs.map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)));
        let form = pairs.collect::<Vec<_>>().join("&");
        person.send_signed(TestRequest::new(operation.method, path).form(form))
    }
}

/// Whether a refusal says that a parameter is out of its bounds.
fn exceeds(answer: &TestResponse, name: &str, told: &str) -> bool {
    let body = answer.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().any(|error| {
        error["code"] == "INVALID_PARAMETER"
            && error["parameter"] == name
            && error["message"].as_str().is_some_and(|text| text.contains(told))
    })
}

#[test]
fn every_parameter_keeps_its_declared_bounds() {
    let field = Field::new();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for operation in ads_delivery::operations() {
        if matches!(operation.action, OperationAction::Batch(_)) {
            continue;
        }
        let params = operation.params.iter().filter(|param| param.location == OperationParamLocation::Input);
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
                    let (told, status) = (&bounds.told, answer.status);
                    let text: String = answer.text().chars().take(600).collect();
                    wrong.push(format!(
                        "{method} {path} {name} ({told}), round {round}, over {refused}: {status} {text}"
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
fn item(ads: &Advertiser, of: &Resource, parent: &str) -> Value {
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

#[test]
fn batches_are_done_whole_or_not_at_all() {
    let mut seen = Vec::new();
    for operation in ads_delivery::operations() {
        let OperationAction::Batch(of) = operation.action else {
            continue;
        };
        let ads = Advertiser::new();
        let kind = of.path.replace("<posts>", "posts").replace("<post>", "post");
        let campaign = ads.campaign();
        let parent = match of.name {
            "targeting_criterion" => ads.line_item(&campaign),
            "custom_audience" => ads.make("/custom_audiences", &[("name", "Of a batch")]),
            _ => campaign.clone(),
        };
        let good = || item(&ads, of, &parent);
        let count = || {
            let scope = [("with_total_count", "true")];
            let parent = [("line_item_ids", parent.as_str())];
            let params = match of.name {
                "targeting_criterion" => [&scope[..], &parent].concat(),
                _ => scope.to_vec(),
            };
            ads.get(&format!("/{kind}"), &params)["total_count"].as_u64().unwrap()
        };
        let before = count();
        // Whatever is wrong with one of them, wherever it stands: it alone is blamed.
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
            let mut items: Vec<Value> = (0..5).map(|_| good()).collect();
            items[place] = bad.clone();
            let answer = ads.batch(&kind, &items.into());
            let all = wrong(&answer);
            assert_eq!(all.len(), 5, "{kind} {bad}: {}", answer.text());
            for (at, problems) in all.iter().enumerate() {
                assert_eq!(problems.is_empty(), at != place, "{kind} {bad}: {}", answer.text());
            }
            assert!(answer.json()["errors"].is_null(), "{kind}: {}", answer.text());
        }
        // What is wrong with the batch itself is no item's fault.
        let most = of.max_batch_items;
        let over: Vec<Value> = (0..=most).map(|_| good()).collect();
        for body in [json!([]), json!({}), json!("x"), json!([7]), json!([good(), null]), over.into()] {
            is(&ads.batch(&kind, &body), 400, "INVALID_PARAMETER", "");
        }
        let path = format!("/12/batch/accounts/{}/{kind}", ads.account);
        for (kind, text) in [
            ("application/json", "[{"),
            ("application/json", ""),
            ("text/plain", "[]"),
            ("application/x-www-form-urlencoded", "name=x"),
        ] {
            let answer = ads.person.send_signed(TestRequest::post(&path).body(kind, text));
            is(&answer, 400, "INVALID_PARAMETER", "");
        }
        assert_eq!(count(), before, "{kind}");
        // As many as may be, and one fewer.
        let mut made = u64::try_from(most).unwrap();
        let full: Vec<Value> = (0..most).map(|_| good()).collect();
        ads.batch(&kind, &full.into()).assert_status(200);
        if of.name != "targeting_criterion" {
            let fewer: Vec<Value> = (1..most).map(|_| good()).collect();
            made += u64::try_from(fewer.len()).unwrap();
            ads.batch(&kind, &fewer.into()).assert_status(200);
        }
        assert_eq!(count(), before + made, "{kind}");
        seen.push(of.name);
    }
    seen.sort_unstable();
    let known = ["campaign", "custom_audience", "line_item", "targeting_criterion"];
    assert!(known.iter().all(|name| seen.contains(name)), "{seen:?}");
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

#[test]
fn an_account_has_so_many_active_campaigns_and_line_items() {
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
    let set = |name: &str, limit: &str| {
        let set = ["ads", "account", "set", &ads.account, name, limit];
        shared_server().run_cli(&set)
    };
    set("--campaigns", "8001").assert_exit_code(1);
    set("--campaigns", "0").assert_exit_code(1);
    set("--campaigns", "7999").assert_success();
    set("--campaigns", "8000").assert_success();
    more().assert_status(200);

    // A campaign has a hundred line items.
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
    set("--line-items", "102").assert_success();
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
fn the_limit_of_active_campaigns_holds_for_all_who_ask_at_once() {
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
    let made = std::thread::scope(|scope| {
        let all: Vec<_> = (0..50).map(|_| scope.spawn(make)).collect();
        let all = all.into_iter().map(|one| one.join().unwrap());
        all.filter(|answer| answer.status == 200).count()
    });
    assert_eq!(made, 5);
    let total = ads.get("/campaigns", &[("with_total_count", "true")]);
    assert_eq!(total["total_count"], 5);
}

#[test]
fn a_line_item_has_so_many_criteria_of_a_kind() {
    let ads = Advertiser::new();
    let item = ads.item();
    let too_many = || ("INVALID".to_owned(), "targeting_type".to_owned());
    // People whom criteria name.
    let people: Vec<i64> = (0..102)
        .map(|number| 9_300_000_000 + 1_000 * i64::try_from(unique_number() % 1_000_000).unwrap() + number)
        .collect();
    let lines: Vec<Value> = people
        .iter()
        .map(|id| {
            let name = format!("c{id}");
            json!({ "kind": "user", "username": name, "name": name, "id": id.to_string() })
        })
        .collect();
    shared_server().import_lines(&lines).assert_success();
    let people: Vec<String> = people.iter().map(ToString::to_string).collect();
    let page = [("count", "101")];
    let interests = send(&ads.person, "GET", "/12/targeting_criteria/interests", &page).assert_status(200);
    let interests: Vec<String> = interests["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["targeting_value"].as_str().unwrap().to_owned())
        .collect();
    let keywords: Vec<String> = (0..1_001).map(|number| format!("word {number}")).collect();
    let places: Vec<String> = (0..2_001).map(|number| format!("{number:016x}")).collect();
    let kinds = ["BROAD_KEYWORD", "PHRASE_KEYWORD", "EXACT_KEYWORD", "UNORDERED_KEYWORD"];
    for (kinds, values, operator) in [
        (&kinds[..], &keywords[..], "EQ"),
        (&["LOCATION"], &places, "EQ"),
        (&["INTEREST"], &interests, "EQ"),
        (&["SIMILAR_TO_FOLLOWERS_OF_USER"], &people[..101], "EQ"),
        (&["CONTENT_PUBLISHER_USER"], &people[..51], "NE"),
    ] {
        let most = values.len() - 1;
        let all: Vec<(&str, &str, &str)> = values
            .iter()
            .enumerate()
            .map(|(number, value)| (kinds[number % kinds.len()], value.as_str(), operator))
            .collect();
        // All but one; then two, of which one is too many; then the one.
        for some in all[..most - 1].chunks(500) {
            ads.targets_all(&item, some).assert_status(200);
        }
        let refused = wrong(&ads.targets_all(&item, &all[most - 1..]));
        assert_eq!(refused, [vec![], vec![too_many()]], "{kinds:?}");
        ads.targets_all(&item, &all[most - 1..most]).assert_status(200);
        if kinds[0] == "CONTENT_PUBLISHER_USER" {
            assert_eq!(wrong(&ads.targets_all(&item, &all[most..])), [[too_many()]]);
        } else {
            is(&ads.targets(&item, all[most]), 400, "INVALID", "targeting_type");
        }
        // What is there already takes no room.
        ads.targets_all(&item, &all[..1]).assert_status(200);
    }
    let event = |name: &str| {
        let name = format!("{name}{}", unique_number());
        let add = ["ads", "option", "add", "EVENT", &name, "--about", "SPORTS"];
        let added = shared_server().run_cli(&[&add[..], &["--keyword", "bike"]].concat()).json();
        added["value"].as_str().unwrap().to_owned()
    };
    let (ride, race) = (event("ride"), event("race"));
    let events = [("EVENT", ride.as_str(), "EQ"), ("EVENT", race.as_str(), "EQ")];
    let ages = [("AGE", "AGE_OVER_21", "EQ"), ("AGE", "AGE_OVER_35", "EQ")];
    for [one, other] in [events, ages] {
        assert_eq!(wrong(&ads.targets_all(&item, &[one, other])), [vec![], vec![too_many()]]);
        ads.targets(&item, one).assert_status(200);
        is(&ads.targets(&item, other), 400, "INVALID", "targeting_type");
    }
}

#[test]
fn fifty_posts_are_promoted_together() {
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
fn a_scheduled_post_has_so_many_media_and_is_due_within_a_year() {
    let ads = Advertiser::new();
    let year = 365 * 24 * 60;
    let schedule = |at: i64, media: &[&str]| {
        let (at, media) = (minute(at), media.join(","));
        let usual = [("as_user_id", ads.person.id.as_str()), ("scheduled_at", &at), ("text", "x")];
        let media = [("media_keys", media.as_str())];
        let more = if media[0].1.is_empty() { &[][..] } else { &media };
        ads.send("POST", "/scheduled_posts", &[&usual[..], more].concat())
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
        let answer = schedule(60, over);
        assert_eq!(answer.status, 400, "{over:?}: {}", answer.text());
        let at = answer.json()["errors"][0].clone();
        let at = at["parameter"].as_str().or(at["attribute"].as_str());
        assert_eq!(at, Some("media_keys"), "{over:?}: {}", answer.text());
    }
}

#[test]
fn texts_and_lists_of_cards_have_bounds_of_their_own() {
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
        let answer = card(count);
        assert_eq!(answer.status, 400, "{count}: {}", answer.text());
        assert!(answer.text().contains("media_keys"), "{count}: {}", answer.text());
    }
    // A hashtag has twenty characters, its sign not counted.
    let ask = |option: &str| {
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
        ask(&option).assert_status(200);
    }
    for option in [long(21), format!("#{}", long(21)), "#".to_owned()] {
        is(&ask(&option), 400, "INVALID_PARAMETER", "first_cta");
    }
}

#[test]
fn totals_are_asked_for_two_hundred_times_in_a_quarter_of_an_hour() {
    let server = TestServer::start(&["--rate-limits", "table"]);
    let owner = server.new_user("owner");
    let create = ["ads", "account", "create", "Own", "--user", &owner.username];
    let account = server.run_cli(&create).json()["id"].as_str().unwrap().to_owned();
    let list =
        |path: &str, params: &[(&str, &str)]| send(&owner, "GET", &format!("/12/accounts/{account}/{path}"), params);
    let total = [("with_total_count", "true")];
    for left in (0..200).rev() {
        let answer = list("campaigns", &total);
        answer.assert_status(200);
        assert_eq!(answer.header_number("x-rate-limit-remaining"), left);
    }
    let over = list("campaigns", &total);
    is(&over, 429, "TOO_MANY_REQUESTS", "");
    assert!(over.header_number("x-rate-limit-reset") > 0);
    // What is asked without the total is not counted with it, nor is another list.
    list("campaigns", &[]).assert_status(200);
    list("line_items", &total).assert_status(200);
}

/// How a limit or rule is tested.
enum How {
    /// By the bounds that are declared of a parameter: `operation or resource`, its name, its kind.
    Bound(&'static str, &'static str, &'static str),
    /// By a test: `file`, its name.
    Test(&'static str, &'static str),
}
use How::{Bound, Test};

/// The limits of the advertising interface (contract ads §6) and the rules of its resources
/// (contract ads §1.5, §4), each with what tests it.
const LINES: &[(&str, &[How])] = &[
    (
        "contract ads §6: active campaigns of an account",
        &[
            Test("limits", "an_account_has_so_many_active_campaigns_and_line_items"),
            Test("limits", "the_limit_of_active_campaigns_holds_for_all_who_ask_at_once"),
            Test("campaigns", "active_campaigns_are_limited"),
        ],
    ),
    ("contract ads §6: batch campaign operations", &[Test("limits", "batches_are_done_whole_or_not_at_all")]),
    (
        "contract ads §6: batch custom-audience user operations",
        &[Test("audiences", "members_are_changed_all_together_or_not_at_all")],
    ),
    (
        "contract ads §6: requests with with_total_count",
        &[Test("limits", "totals_are_asked_for_two_hundred_times_in_a_quarter_of_an_hour")],
    ),
    (
        "contract ads §6: filter lists",
        &[
            Test("limits", "every_parameter_keeps_its_declared_bounds"),
            Bound("getAdsCampaigns", "campaign_ids", "200"),
            Bound("getAdsCardsByUri", "card_uris", "200"),
            Bound("getAdsCuratedCategories", "country_codes", "200"),
            Bound("getAdsAudiencePermissions", "granted_account_ids", "200"),
        ],
    ),
    (
        "contract ads §6: post identifiers of one promotion",
        &[Bound("createAdsPromotedPosts", "post_ids", "50"), Test("limits", "fifty_posts_are_promoted_together")],
    ),
    (
        "contract ads §6: media of a scheduled post",
        &[Test("limits", "a_scheduled_post_has_so_many_media_and_is_due_within_a_year")],
    ),
    (
        "contract ads §6: scheduling horizon",
        &[Test("limits", "a_scheduled_post_has_so_many_media_and_is_due_within_a_year")],
    ),
    ("contract ads §6: keyword insight range", &[Test("insights", "keywords_have_limits")]),
    (
        "contract ads §6: card name",
        &[
            Bound("card", "name", "1..80"),
            Bound("poll_card", "name", "1..80"),
            Bound("video_conversation_card", "name", "1..80"),
        ],
    ),
    ("contract ads §6: campaign name", &[Bound("campaign", "name", "1..255"), Bound("line_item", "name", "1..255")]),
    ("contract ads §6: purchase order", &[Bound("campaign", "purchase_order_number", "1..50")]),
    (
        "contract ads §6: poll choice",
        &[
            Bound("poll_card", "first_choice", "1..25"),
            Bound("poll_card", "second_choice", "1..25"),
            Bound("poll_card", "third_choice", "1..25"),
            Bound("poll_card", "fourth_choice", "1..25"),
        ],
    ),
    (
        "contract ads §6: media title, description, file name and name",
        &[
            Bound("library_media", "title", "1..70"),
            Bound("library_media", "description", "1..200"),
            Bound("library_media", "file_name", "1..255"),
            Bound("library_media", "name", "1..100"),
        ],
    ),
    (
        "contract ads §6: option of a conversation card",
        &[Test("limits", "texts_and_lists_of_cards_have_bounds_of_their_own")],
    ),
    (
        "contract ads §6: thank-you text and title",
        &[
            Bound("video_conversation_card", "thank_you_text", "1..23"),
            Bound("video_conversation_card", "title", "1..23"),
            Bound("image_conversation_card", "thank_you_text", "1..23"),
            Bound("image_conversation_card", "title", "1..23"),
        ],
    ),
    (
        "contract ads §6: scheduled post name",
        &[Bound("scheduled_post", "name", "1..80"), Bound("draft_post", "name", "1..80")],
    ),
    ("contract ads §6: poll duration", &[Bound("poll_card", "duration_in_minutes", "5..10080")]),
    ("contract ads §6: swipeable media", &[Test("limits", "texts_and_lists_of_cards_have_bounds_of_their_own")]),
    ("contract ads §6: line items", &[Test("limits", "an_account_has_so_many_active_campaigns_and_line_items")]),
    ("contract ads §6: batches", &[Test("limits", "batches_are_done_whole_or_not_at_all")]),
    (
        "contract ads §6: criteria of a line item, publisher exclusions",
        &[
            Test("limits", "a_line_item_has_so_many_criteria_of_a_kind"),
            Test("curated_categories", "a_line_item_takes_a_curated_category_of_a_country_that_it_targets"),
        ],
    ),
    (
        "contract ads §6: scheduled posts in 15 minutes",
        &[Test("scheduled_posts", "a_scheduled_post_is_refused_for_what_is_wrong_with_it")],
    ),
    (
        "contract ads §6: figures",
        &[
            Test("stats", "figures_are_given_for_what_the_contract_allows"),
            Test("jobs", "jobs_wait_are_called_off_and_are_counted"),
        ],
    ),
    ("contract ads §6: members of an audience", &[Test("audiences", "nobody_learns_whether_somebody_is_here")]),
    (
        "contract ads §1.5: count, q and sort of lists",
        &[
            Test("conform", "every_resource_does_what_its_declaration_says"),
            Bound("getAdsAccounts", "count", "1..1000"),
            Bound("getAdsAccounts", "q", "1..255"),
            Bound("getAdsCampaigns", "q", "1..255"),
            Bound("getAdsCards", "count", "1..200"),
            Bound("getAdsCards", "q", "1..80"),
            Bound("getAdsPollCards", "q", "1..80"),
            Bound("getAdsDraftPosts", "count", "1..200"),
            Bound("getAdsScheduledPosts", "count", "1..200"),
        ],
    ),
    (
        "contract ads §4.1: accounts are made and deleted in the sandbox",
        &[Test("mod", "the_sandbox_is_a_world_of_its_own")],
    ),
    ("contract ads §4.1: account history", &[Test("settings", "the_history_of_an_account_says_who_changed_what")]),
    (
        "contract ads §9.3: business and content categories",
        &[Test("criteria", "categories_of_content_are_targeted_as_whole_sets")],
    ),
    ("contract ads §4.2: curated categories", &[Test("curated_categories", "curated_categories_are_found_by_country")]),
    (
        "contract ads §4.1: features",
        &[
            Test("gates", "what_needs_a_feature_is_closed_to_accounts_that_are_held_to_theirs"),
            Test("gates", "an_account_of_the_sandbox_opens_its_gates_itself"),
        ],
    ),
    ("contract ads §4.13: audience estimate", &[Test("insights", "an_estimate_says_what_is_wrong_with_it")]),
    ("contract ads §4.13: keyword insights", &[Test("insights", "keywords_have_limits")]),
    (
        "contract ads §4.13: recommendations",
        &[Test("recommendations", "a_recommendation_ends_when_it_is_not_so_any_more_or_is_turned_down")],
    ),
    (
        "contract ads §4.4: campaigns",
        &[
            Test("campaigns", "a_campaign_keeps_its_limits"),
            Test("campaigns", "a_batch_is_done_whole_or_not_at_all"),
            Test("campaigns", "budgets_are_set_at_one_level"),
        ],
    ),
    ("contract ads §4.7: component rules", &[Test("cards", "a_card_is_refused_with_what_is_wrong_with_it")]),
    (
        "contract ads §4.8: poll cards",
        &[
            Test("cards", "a_poll_card_is_voted_in_where_posts_carry_it"),
            Test("cards", "a_poll_card_shows_media_where_the_account_may"),
        ],
    ),
    ("contract ads §4.9: conversation cards", &[Test("cards", "a_conversation_card_asks_for_a_post")]),
    (
        "contract ads §4.10, §4.11: drafts, scheduled posts and the library",
        &[
            Test("scheduled_posts", "a_scheduled_post_is_refused_for_what_is_wrong_with_it"),
            Test("scheduled_posts", "drafts_are_kept_and_not_published"),
            Test("scheduled_posts", "the_library_says_of_media_what_the_account_says"),
        ],
    ),
    (
        "contract ads §4.12: calls to action and media creatives",
        &[Test("settings", "media_go_into_the_line_items_that_take_them")],
    ),
    (
        "contract ads §4.12: what is promoted",
        &[
            Test("campaigns", "a_campaign_runs_once_it_is_whole"),
            Test("campaigns", "accounts_are_promoted_by_line_items_that_hold_them"),
        ],
    ),
    (
        "contract ads §4.12: curated categories of line items",
        &[Test("curated_categories", "a_line_item_takes_a_curated_category_of_a_country_that_it_targets")],
    ),
    ("contract ads §4.12: tracking tags", &[Test("campaigns", "a_tag_belongs_to_its_line_item")]),
    (
        "contract ads §4.14: audiences and their permissions",
        &[
            Test("audiences", "an_audience_is_made_found_changed_and_deleted"),
            Test("audiences", "an_audience_is_shared_within_a_business_and_never_passed_on"),
        ],
    ),
    (
        "contract ads §4.1: user settings",
        &[Test("settings", "a_user_is_reached_as_they_say_and_nobody_says_it_for_them")],
    ),
    ("contract ads §4.1: tax settings", &[Test("settings", "an_account_says_how_it_is_taxed")]),
    (
        "contract ads §4.5: line items",
        &[
            Test("campaigns", "a_line_item_suits_its_objective"),
            Test("campaigns", "budgets_are_set_at_one_level"),
            Test("criteria", "an_app_is_for_those_whose_devices_it_runs_on"),
        ],
    ),
    (
        "contract ads §4.6: criteria",
        &[
            Test("criteria", "every_type_takes_the_operators_that_it_is_for"),
            Test("criteria", "a_criterion_is_refused_alone_as_it_is_in_a_batch"),
            Test("criteria", "a_show_is_targeted_where_it_can_be_seen"),
            Test("criteria", "engagement_is_targeted_by_its_type"),
            Test("criteria", "a_platform_and_its_devices_are_not_targeted_together"),
            Test("audiences", "what_targets_an_audience_is_served_while_that_comes_to_somebody"),
        ],
    ),
];

const SOURCES: &[(&str, &str)] = &[
    (
        "audiences",
        concat!(
            include_str!("audiences/discretion.rs"),
            include_str!("audiences/flexible.rs"),
            include_str!("audiences/lists.rs"),
            include_str!("audiences/members.rs"),
            include_str!("audiences/sharing.rs"),
            include_str!("audiences/targeted.rs"),
        ),
    ),
    ("campaigns", include_str!("campaigns.rs")),
    ("cards", include_str!("cards.rs")),
    ("conform", include_str!("conform.rs")),
    ("criteria", include_str!("criteria.rs")),
    ("curated_categories", include_str!("curated_categories.rs")),
    ("gates", include_str!("gates.rs")),
    ("insights", include_str!("insights.rs")),
    ("jobs", include_str!("ledger/jobs.rs")),
    ("limits", include_str!("limits.rs")),
    ("mod", include_str!("mod.rs")),
    ("recommendations", include_str!("recommendations.rs")),
    ("scheduled_posts", include_str!("scheduled_posts.rs")),
    ("settings", include_str!("settings.rs")),
    ("stats", include_str!("ledger/stats.rs")),
];

/// The bounds that are declared, as the list of lines writes them.
fn declared(whose: &str, name: &str) -> Option<String> {
    let resource = RESOURCES.iter().find(|of| of.name == whose);
    let kind = if let Some(of) = resource {
        of.field(name)?.kind
    } else {
        let operation = ads_delivery::operations().iter().find(|one| one.id == whose)?;
        let mut params = operation.params.iter();
        params.find(|param| param.name.post == name)?.kind
    };
    Some(match kind {
        FieldKind::Text(least, most) => format!("{least}..{most}"),
        FieldKind::Int(least, most) => format!("{least}..{most}"),
        FieldKind::Ids(_, most) | FieldKind::Longs(most) | FieldKind::Texts(most, _) | FieldKind::CardUris(most) => {
            most.to_string()
        }
        _ => return None,
    })
}

#[test]
fn every_limit_and_rule_of_the_specification_is_tested() {
    let mut wrong = Vec::new();
    for (line, all) in LINES {
        assert!(!all.is_empty(), "{line}");
        for how in *all {
            match how {
                Bound(whose, name, bounds) => {
                    let found = declared(whose, name);
                    if found.as_deref() != Some(*bounds) {
                        wrong.push(format!("{line}: {whose} {name} is {found:?}, not {bounds}"));
                    }
                }
                Test(file, name) => {
                    let source = SOURCES.iter().find(|(known, _)| known == file);
                    let test = format!("#[test]\nfn {name}()");
                    if !source.is_some_and(|(_, text)| text.contains(&test)) {
                        wrong.push(format!("{line}: there is no test {file}::{name}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
