use base::Time;
use serde_json::{Value, json};

use super::{EFFECTS, FaultEffect, FaultOccasion, FaultRuleRequest, FaultRules, FaultSubject, rule_from_texts};

const NOW: Time = Time::from_seconds(1_780_315_200);

fn rules(seed: u64, all: &[Value]) -> FaultRules {
    let rules = FaultRules::from_seed(seed);
    let requests = all.iter().map(|rule| FaultRuleRequest::from_json(rule).unwrap()).collect();
    rules.add(requests).unwrap();
    rules
}

fn problem(rule: &Value) -> String {
    FaultRuleRequest::from_json(rule).unwrap_err().message
}

fn templates() -> Vec<String> {
    vec!["/2/posts/{id}".to_owned(), "/2/tweets/{id}".to_owned()]
}

fn request<'a>(method: &'a str, path: &'a str, templates: &'a [String]) -> FaultSubject<'a> {
    FaultSubject { method, path, templates, app: Some(7), ..FaultSubject::new(FaultOccasion::Request) }
}

fn met(rules: &FaultRules, subject: &FaultSubject<'_>, count: usize) -> Vec<bool> {
    (0..count).map(|_| rules.find_fault(subject, NOW).is_some()).collect()
}

#[test]
fn routes_match_by_template_in_either_vocabulary_by_path_and_by_prefix() {
    let templates = templates();
    let subject = request("GET", "/2/tweets/12", &templates);
    for route in ["GET /2/tweets/{id}", "/2/posts/:id", "/2/tweets/12", "/2/tweets/*", "get /2/posts/{id}", "/2/*"] {
        let rules = rules(1, &[json!({"match": {"route": route}, "effect": "bad-json"})]);
        assert!(rules.find_fault(&subject, NOW).is_some(), "{route}");
    }
    for route in ["POST /2/tweets/{id}", "/2/tweets", "/2/tweets/{id}/likes", "/2/users/*", "/2/tweets/12/*"] {
        let rules = rules(1, &[json!({"match": {"route": route}, "effect": "bad-json"})]);
        assert!(rules.find_fault(&subject, NOW).is_none(), "{route}");
    }
}

#[test]
fn fixed_path_and_template_are_different_routes() {
    let (me, any) = (vec!["/2/users/me".to_owned()], vec!["/2/users/{id}".to_owned()]);
    let is_met = |route: &str, path, templates| {
        let rules = rules(1, &[json!({"match": {"route": route}, "effect": "bad-json"})]);
        rules.find_fault(&request("GET", path, templates), NOW).is_some()
    };
    for (route, path, templates, expected) in [
        ("GET /2/users/me", "/2/users/me", &me, true),
        ("GET /2/users/me", "/2/users/9", &any, false),
        ("/2/users/8", "/2/users/9", &any, false),
        ("/2/users/9", "/2/users/9", &any, true),
        ("/2/users/{id}", "/2/users/9", &any, true),
        ("/2/users/{id}", "/2/users/me", &me, false),
    ] {
        assert_eq!(is_met(route, path, templates), expected, "{route} {path}");
    }
}

#[test]
fn page_meets_rules_that_name_its_route_only() {
    let page = FaultSubject { is_page: true, ..request("GET", "/login", &[]) };
    for (route, expected) in
        [(json!({}), false), (json!({"route": "/*"}), true), (json!({"route": "GET /login"}), true)]
    {
        let rules = rules(1, &[json!({"match": route, "effect": "bad-json"})]);
        assert_eq!(rules.find_fault(&page, NOW).is_some(), expected, "{route}");
    }
}

#[test]
fn nth_after_every_and_times_select_matches() {
    let subject = request("GET", "/", &[]);
    for (conditions, expected) in [
        (json!({"nth": 2}), [false, true, false, false, false, false]),
        (json!({"after": 4}), [false, false, false, false, true, true]),
        (json!({"every": 3}), [false, false, true, false, false, true]),
        (json!({"after": 1, "every": 2}), [false, false, true, false, true, false]),
        (json!({"times": 2}), [true, true, false, false, false, false]),
    ] {
        let rules = rules(1, &[json!({"match": conditions, "effect": "bad-json"})]);
        assert_eq!(met(&rules, &subject, 6), expected, "{conditions}");
    }
}

#[test]
fn first_rule_that_applies_wins_and_later_ones_count_no_match() {
    let subject = request("GET", "/", &[]);
    let rules = rules(
        1,
        &[
            json!({"match": {"nth": 1}, "effect": {"name": "status", "status": 503}}),
            json!({"match": {}, "effect": {"name": "status", "status": 500}}),
        ],
    );
    let statuses: Vec<_> = (0..3).map(|_| rules.find_fault(&subject, NOW).unwrap().effect).collect();
    assert_eq!(statuses, [FaultEffect::Status(503), FaultEffect::Status(500), FaultEffect::Status(500)]);
    let counts: Vec<_> = rules.list(NOW).iter().map(|rule| (rule.matched, rule.applied, rule.has_ended)).collect();
    assert_eq!(counts, [(1, 1, true), (2, 2, false)]);
    assert_eq!(rules.active_count(NOW), 1);
}

#[test]
fn same_seed_meets_the_same_faults() {
    let subject = request("GET", "/", &[]);
    let rule = json!({"match": {"probability": 0.3}, "effect": {"name": "delay", "ms": 20, "p99_ms": 900}});
    let sample = |seed: u64| {
        let rules = rules(seed, std::slice::from_ref(&rule));
        let delays = (0..400).map(|_| {
            rules.find_fault(&subject, NOW).map(|fault| match fault.effect {
                FaultEffect::Delay(time) => time.sample(fault.chance),
                _ => panic!("no delay"),
            })
        });
        delays.collect::<Vec<_>>()
    };
    assert_eq!(sample(7), sample(7));
    assert_ne!(sample(7), sample(8));
    let mut delays: Vec<_> = sample(7).into_iter().flatten().collect();
    assert!((80..160).contains(&delays.len()), "{}", delays.len());
    delays.sort();
    assert!((10..40).contains(&delays[delays.len() / 2].as_millis()), "{:?}", delays[delays.len() / 2]);
}

#[test]
fn rule_ends_at_its_time() {
    let rules = rules(1, &[json!({"match": {"until": "2026-06-01T12:00:01.000Z"}, "effect": "bad-json"})]);
    assert!(rules.find_fault(&request("GET", "/", &[]), NOW).is_some());
    assert!(rules.find_fault(&request("GET", "/", &[]), NOW.plus_ms(1000)).is_none());
    assert_eq!(rules.active_count(NOW.plus_ms(1000)), 0);
}

#[test]
fn effects_apply_only_where_they_can() {
    let templates = ["/2/oauth2/token".to_owned()];
    let rules = rules(1, &[json!({"effect": "refresh-lost"}), json!({"effect": "drop-events"})]);
    assert!(rules.find_fault(&request("GET", "/2/users/me", &[]), NOW).is_none());
    let exchange = request("POST", "/2/oauth2/token", &templates);
    assert!(rules.find_fault(&exchange, NOW).is_none(), "of a code");
    let refresh = FaultSubject { occasion: FaultOccasion::TokenRefresh, ..exchange };
    assert!(rules.find_fault(&refresh, NOW).is_some());
    let message = FaultSubject { stream: "filtered_stream", ..FaultSubject::new(FaultOccasion::StreamMessage) };
    assert_eq!(rules.find_fault(&message, NOW).unwrap().effect, FaultEffect::DropEvents);
}

#[test]
fn wrong_rules_name_what_is_wrong_and_what_is_accepted() {
    for (rule, expected) in [
        (json!({"effect": "explode"}), "there is no effect \"explode\"; the effects are: delay, status,"),
        (json!({"match": {}}), "a rule needs an effect; the effects are: delay,"),
        (json!({"effect": {"name": "status"}}), "the effect status needs status: a whole number from 400 to 599"),
        (json!({"effect": {"name": "status", "status": 200}}), "status must be a whole number from 400 to 599"),
        (
            json!({"effect": {"name": "status", "status": 500, "ms": 1}}),
            "the effect status has no parameter \"ms\"; it has: status",
        ),
        (
            json!({"match": {"route": "GET /2/users/me"}, "effect": "drop-events"}),
            "the effect drop-events applies to streams, which have no route; it has: app, stream, nth",
        ),
        (
            json!({"match": {"colour": 1}, "effect": "bad-json"}),
            "there is no condition \"colour\"; there are: method, route",
        ),
        (json!({"match": {"route": "users"}, "effect": "bad-json"}), "a route is a path"),
        (
            json!({"match": {"route": "FETCH /2/users"}, "effect": "bad-json"}),
            "\"FETCH\" is no method; the methods are: GET",
        ),
        (
            json!({"match": {"route": "/2/users/me"}, "effect": "refresh-lost"}),
            "the effect refresh-lost applies to POST /2/oauth2/token only",
        ),
        (
            json!({"match": {"probability": 1.5}, "effect": "bad-json"}),
            "probability must be a number above 0 and at most 1",
        ),
        (json!({"match": {"nth": "two"}, "effect": "bad-json"}), "nth must be a whole number from 1"),
        (json!({"match": {"until": "soon"}, "effect": "bad-json"}), "until must be a time like 2026-"),
        (json!({"effect": {"name": "delay", "ms": 9, "max_ms": 1}}), "max_ms must be at least ms, which is 9"),
        (json!({"effect": {"name": "delay", "ms": 9, "max_ms": 10, "p99_ms": 11}}), "choose one"),
        (json!({"id": "a b", "effect": "bad-json"}), "an id has 1 to 40 letters"),
        (json!({"effects": []}), "a rule has no member \"effects\"; its members are: id, match, effect"),
        (json!([]), "a rule must be a JSON object"),
    ] {
        let message = problem(&rule);
        assert!(message.contains(expected), "{rule}: {message}");
    }
}

#[test]
fn rules_are_added_all_or_none_and_bounded() {
    let rules = FaultRules::from_seed(1);
    let rule = |rule: &Value| FaultRuleRequest::from_json(rule).unwrap();
    let (one, named) = (json!({"effect": "bad-json"}), json!({"id": "mine", "effect": "bad-json"}));
    assert!(rules.add(vec![rule(&one), rule(&named), rule(&named)]).is_err());
    assert!(rules.list(NOW).is_empty() && rules.is_empty());
    assert_eq!(rules.add(vec![rule(&one), rule(&named)]).unwrap(), ["f1", "mine"]);
    assert!(rules.add((0..99).map(|_| rule(&one)).collect()).is_err());
    assert_eq!(rules.list(NOW).len(), 2);
    assert!(rules.remove("mine") && !rules.remove("mine"));
    assert_eq!(rules.clear(), 1);
    assert_eq!(rules.add(vec![rule(&one)]).unwrap(), ["f1"]);
}

#[test]
fn texts_become_a_rule_and_name_its_effect_by_its_parameter() {
    let texts = [("route", "GET /2/users/me"), ("status", "503"), ("nth", "2"), ("probability", "0.5")];
    let rule = rule_from_texts(texts.into_iter()).unwrap();
    let expected = json!({
        "match": {"route": "GET /2/users/me", "nth": 2, "probability": 0.5},
        "effect": {"name": "status", "status": 503},
    });
    assert_eq!(rule, expected);
    let rule = rule_from_texts([("effect", "delay"), ("ms", "soon")].into_iter()).unwrap();
    assert!(problem(&rule).contains("ms must be a whole number"));
}

#[test]
fn every_effect_is_built_under_its_name() {
    for declaration in EFFECTS {
        let mut effect = json!({"name": declaration.name});
        for field in declaration.required {
            effect[field.name] = if field.name == "status" { 500.into() } else { 1.into() };
        }
        let request = FaultRuleRequest::from_json(&json!({"effect": effect})).unwrap();
        assert_eq!(request.effect.name(), declaration.name);
    }
}
