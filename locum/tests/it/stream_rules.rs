//! Rules of the filtered stream: added, listed, counted, deleted, and what is none. What the powerstream has in common
//! with it is checked for both.

use serde_json::{Value, json};

use crate::harness::{TestApp, TestRequest, TestResponse, shared_server};

const RULES: &str = "/2/posts/search/stream/rules";

fn app() -> TestApp {
    shared_server().new_app("self-serve")
}

fn post(app: &TestApp, query: &str, body: &Value) -> TestResponse {
    let target = format!("{RULES}{query}");
    shared_server().send(TestRequest::post(target).bearer(&app.bearer).json(body))
}

#[track_caller]
fn list(app: &TestApp, query: &str) -> Value {
    let target = format!("{RULES}{query}");
    shared_server().send(TestRequest::get(target).bearer(&app.bearer)).assert_status(200)
}

fn ids(body: &Value) -> Vec<String> {
    let rules = body["data"].as_array();
    let rules = rules.into_iter().flatten();
    rules.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

fn kind(error: &Value) -> &str {
    error["type"].as_str().unwrap().rsplit('/').next().unwrap()
}

fn three_rules() -> Value {
    json!({ "add": [
        { "value": "cat has:images", "tag": "cats" },
        { "value": "from:someone OR url_contains:dog bird" },
        { "value": "\"two words\"", "tag": "cats" },
    ] })
}

/// An app with three rules, and their ids.
fn app_with_rules() -> (TestApp, Vec<String>) {
    let app = app();
    let known = ids(&post(&app, "", &three_rules()).assert_status(201));
    (app, known)
}

/// The rules of one of the two streams: the same, but in envelopes and within bounds of its own.
struct RuleApi {
    path: &'static str,
    access: &'static str,
    /// The member of a request that adds rules.
    member: &'static str,
    max_length: usize,
}

const APIS: [RuleApi; 2] = [
    RuleApi { path: RULES, access: "self-serve", member: "add", max_length: 1_024 },
    RuleApi { path: "/2/powerstream/rules", access: "enterprise", member: "rules", max_length: 2_048 },
];

impl RuleApi {
    fn app(&self) -> TestApp {
        shared_server().new_app(self.access)
    }

    fn add(&self, app: &TestApp, rules: &Value) -> TestResponse {
        let request = TestRequest::post(self.path).bearer(&app.bearer);
        shared_server().send(request.json(&json!({ self.member: rules })))
    }

    fn rules(&self, body: &Value) -> Vec<Value> {
        let rules = if self.member == "add" { &body["data"] } else { &body["data"]["rules"] };
        rules.as_array().cloned().unwrap_or_default()
    }

    fn list(&self, app: &TestApp) -> Vec<Value> {
        let request = TestRequest::get(self.path).bearer(&app.bearer);
        self.rules(&shared_server().send(request).assert_status(200))
    }
}

#[test]
fn rules_of_either_stream_are_listed_oldest_first_for_their_app_only() {
    for api in APIS {
        let (app, other) = (api.app(), api.app());
        assert!(api.list(&app).is_empty());
        let rules = json!([
            { "value": "cat has:images", "tag": "cats" },
            { "value": "from:someone OR \"dog bird\"" },
            { "value": "\"two words\"", "tag": "cats" },
        ]);
        let added = api.add(&app, &rules).assert_status(201);
        assert!(added.get("errors").is_none(), "{added}");
        let rules = api.rules(&added);
        assert_eq!(rules.len(), 3);
        assert_eq!((&rules[0]["value"], &rules[0]["tag"]), (&json!("cat has:images"), &json!("cats")));
        assert_eq!(rules[1].as_object().unwrap().len(), 2, "id, value");
        assert_eq!(api.list(&app), rules, "oldest first");
        assert!(api.list(&other).is_empty(), "an app's own only");
    }
}

#[test]
fn unreadable_or_duplicate_rule_of_either_stream_is_not_added() {
    for api in APIS {
        let app = api.app();
        let added = api.add(&app, &json!([{ "value": "cat dog", "tag": "pets" }])).assert_status(201);
        let id = api.rules(&added)[0]["id"].clone();
        let long = "a".repeat(api.max_length + 1);
        let mixed = json!([
            { "value": "  (cat  dog)", "tag": "again" },
            { "value": "filter:links cat" },
            { "value": "bird" },
            { "value": long },
            { "value": "-bird" },
            { "value": "" },
            { "value": "bird" },
        ]);
        let body = api.add(&app, &mixed).assert_status(201);
        let rules = api.rules(&body);
        assert_eq!((rules.len(), &rules[0]["value"]), (1, &json!("bird")));
        let errors = body["errors"].as_array().unwrap();
        let kinds: Vec<&str> = errors.iter().map(kind).collect();
        let (bad, twice) = ("invalid-rules", "duplicate-rules");
        assert_eq!(kinds, [bad, "rule-length", bad, bad, twice, twice]);
        assert_eq!(errors[0]["title"], "UnprocessableEntity");
        assert_eq!(errors[0]["value"], "filter:links cat");
        let text = errors[0]["details"][0].as_str().unwrap();
        assert!(text.starts_with("Reference to invalid operator 'filter'."), "{text}");
        assert!(text.ends_with("(at position 1)"), "{text}");
        assert_eq!(errors[1]["value"], long);
        assert_eq!(errors[2]["details"], json!(["Rules must contain a non-negation term (at position 1)"]));
        assert_eq!(errors[3]["value"], "");
        let kind = &errors[4]["type"];
        assert_eq!(errors[4], json!({ "title": "DuplicateRule", "type": kind, "value": "  (cat  dog)", "id": id }));
        assert_eq!(errors[5]["id"], rules[0]["id"]);
        let left = api.list(&app);
        assert_eq!((left.len(), &left[0]["tag"]), (2, &json!("pets")), "as it was");
    }
}

#[test]
fn request_that_adds_no_rule_to_either_stream_returns_errors_only() {
    for api in APIS {
        let app = api.app();
        let longest = format!("\"{}\"", "é".repeat(api.max_length - 2));
        let one = json!([{ "value": longest }]);
        assert_eq!(api.rules(&api.add(&app, &one).assert_status(201))[0]["value"], longest);
        for (rules, status, problem) in
            [(one, 201, "duplicate-rules"), (json!([{ "value": "(cat" }]), 200, "invalid-rules")]
        {
            let body = api.add(&app, &rules).assert_status(status);
            assert!(body.get("data").is_none(), "{body}");
            assert_eq!(kind(&body["errors"][0]), problem);
        }
    }
}

#[test]
fn invalid_rule_or_credential_for_either_stream_is_refused() {
    for api in APIS {
        let app = api.app();
        let rule = json!({ "value": "cat" });
        for rules in [
            json!([]),
            json!(rule),
            json!(["cat"]),
            json!([{ "tag": "cats" }]),
            json!([{ "value": 7 }]),
            json!([{ "value": "cat", "color": "red" }]),
            json!([{ "value": "cat\u{0}" }]),
            json!([{ "value": "cat", "tag": 7 }]),
            json!([{ "value": "cat", "tag": "\u{0}" }]),
            json!([rule, { "value": "dog", "tag": "x".repeat(1_001) }]),
        ] {
            api.add(&app, &rules).assert_problem(400, "invalid-request");
        }
        let empty = TestRequest::post(api.path).bearer(&app.bearer).json(&json!({}));
        shared_server().send(empty).assert_problem(400, "invalid-request");
        shared_server().new_user("person").get(api.path).assert_problem(403, "unsupported-authentication");
        assert_eq!(shared_server().send(TestRequest::get(api.path)).status, 401);
        assert!(api.list(&app).is_empty());
    }
}

#[test]
fn changes_of_stream_rules_are_summarized_and_stored_unless_on_trial() {
    let app = app();
    let none = list(&app, "");
    assert!(none.get("data").is_none(), "{none}");
    assert_eq!(none["meta"]["result_count"], 0);
    assert!(none["meta"]["sent"].as_str().unwrap().ends_with('Z'));
    let mixed = json!({ "add": [
        { "value": "cat dog" },
        { "value": "-bird" },
        { "value": "(cat dog)" },
        { "value": "cat AND dog" },
    ] });
    for (query, count) in [("?dry_run=true", 0), ("", 1)] {
        let body = post(&app, query, &mixed).assert_status(201);
        let summary = json!({ "created": 1, "not_created": 3, "valid": 2, "invalid": 2 });
        assert_eq!(body["meta"]["summary"], summary);
        assert_eq!(ids(&body).len(), 1);
        let text = body["errors"][1]["details"][0].as_str().unwrap();
        assert!(text.starts_with("Ambiguous use of and as a keyword."), "{text}");
        assert_eq!(list(&app, "")["meta"]["result_count"], count);
    }
}

#[test]
fn stream_rules_are_paged_and_selected_by_id() {
    let (app, known) = app_with_rules();
    let first = list(&app, "?max_results=2");
    assert_eq!(ids(&first), known[..2]);
    let token = first["meta"]["next_token"].as_str().unwrap();
    let second = list(&app, &format!("?max_results=2&pagination_token={token}"));
    assert_eq!(ids(&second), known[2..]);
    assert!(second["meta"].get("next_token").is_none());
    let named = list(&app, &format!("?ids={},17,{}", known[2], known[0]));
    assert_eq!(ids(&named), [known[2].clone(), known[0].clone()]);
}

#[test]
fn stream_rules_selected_by_id_are_paged_in_the_requested_order() {
    let (app, known) = app_with_rules();
    let by_id = format!("?ids={},17,{},{},{}&max_results=2", known[2], known[0], known[2], known[1]);
    let first = list(&app, &by_id);
    assert_eq!(ids(&first), [known[2].clone(), known[0].clone()]);
    let token = first["meta"]["next_token"].as_str().unwrap();
    let second = list(&app, &format!("{by_id}&pagination_token={token}"));
    assert_eq!(ids(&second), known[1..2]);
    assert!(second["meta"].get("next_token").is_none(), "{second}");
    let other = format!("{RULES}?ids={}&pagination_token={token}", known[1]);
    shared_server().send(TestRequest::get(other).bearer(&app.bearer)).assert_problem(400, "invalid-request");
}

#[test]
fn stream_rules_are_counted_for_the_app_and_its_project() {
    let (app, _) = app_with_rules();
    let counts = |query: &str| {
        let target = format!("/2/posts/search/stream/rules/counts{query}");
        shared_server().send(TestRequest::get(target).bearer(&app.bearer)).assert_status(200)["data"].clone()
    };
    let mine = json!({ "client_app_id": app.id, "rule_count": 3 });
    assert_eq!(counts("")["client_app_rules_count"], mine);
    assert_eq!(counts("")["all_project_client_apps"], json!([mine]));
    assert_eq!(counts("")["cap_per_client_app"], "1000");
    let older = shared_server()
        .send(TestRequest::get("/2/tweets/search/stream/rules/counts").bearer(&app.bearer))
        .assert_status(200);
    assert_eq!(older["data"]["project_rules_count"], 3);
}

#[test]
fn stream_rule_of_another_app_is_not_deleted() {
    let (_, known) = app_with_rules();
    let other = app();
    let unknown = json!({ "delete": { "ids": [known[0], "17"] } });
    let response = post(&other, "", &unknown).assert_status(200);
    let nothing = json!({ "deleted": 0, "not_deleted": 2 });
    assert_eq!(response["meta"]["summary"], nothing);
    assert_eq!(kind(&response["errors"][0]), "invalid-request");
    let each = &response["errors"][0]["errors"];
    assert_eq!(each[1]["message"], "Rule does not exist");
    assert_eq!(each.as_array().unwrap().len(), 2);
}

#[test]
fn stream_rules_are_deleted_by_id_by_meaning_or_all() {
    let (app, known) = app_with_rules();
    let one = json!({ "delete": { "ids": [known[0]] } });
    let dry = post(&app, "?dry_run=true", &one).assert_status(200);
    assert_eq!(dry["meta"]["summary"]["deleted"], 1);
    assert_eq!(ids(&list(&app, "")), known);
    let done = post(&app, "", &one).assert_status(200);
    assert_eq!(done["meta"]["summary"]["deleted"], 1);
    assert!(done.get("errors").is_none());
    let by_value = json!({ "delete": { "values": [" (\"two words\") ", "(cat"] } });
    let done = post(&app, "", &by_value).assert_status(200);
    let half = json!({ "deleted": 1, "not_deleted": 1 });
    assert_eq!(done["meta"]["summary"], half);
    assert_eq!(ids(&list(&app, "")), known[1..2]);
    let dry =
        shared_server().send(TestRequest::post(format!("{RULES}?delete_all=true&dry_run=true")).bearer(&app.bearer));
    assert_eq!(dry.assert_status(200)["meta"]["summary"]["deleted"], 1);
    let all = shared_server().send(TestRequest::post(format!("{RULES}?delete_all=true")).bearer(&app.bearer));
    assert_eq!(all.assert_status(200)["meta"]["summary"]["deleted"], 1);
    assert!(list(&app, "").get("data").is_none());
}

#[test]
fn stream_rules_of_an_app_are_limited() {
    let app = app();
    let rules = |range: std::ops::Range<usize>| {
        let rules = range.map(|number| json!({ "value": format!("word{number}") }));
        json!({ "add": rules.collect::<Value>() })
    };
    post(&app, "", &rules(0..999)).assert_status(201);
    let body = post(&app, "", &rules(999..1_001)).assert_problem(400, "rule-cap");
    assert_eq!(body["title"], "RulesCapExceeded");
    assert_eq!(list(&app, "")["meta"]["result_count"], 999, "all or none");
    post(&app, "", &rules(998..1_000)).assert_status(201);
    // A longer rule, and more of them, with a contract.
    let enterprise = shared_server().new_app("enterprise");
    let long = format!("\"{}\"", "é b".repeat(682));
    post(&enterprise, "", &json!({ "add": [{ "value": long }] })).assert_status(201);
    let counts = TestRequest::get("/2/posts/search/stream/rules/counts").bearer(&enterprise.bearer);
    assert_eq!(shared_server().send(counts).assert_status(200)["data"]["cap_per_client_app"], "25000");
}

#[test]
fn invalid_request_for_stream_rules_is_refused() {
    let app = app();
    let rule = json!({ "value": "cat" });
    for body in [
        json!({ "delete": {} }),
        json!({ "delete": { "ids": [] } }),
        json!({ "delete": { "ids": ["x"] } }),
        json!({ "delete": { "ids": ["7"], "values": ["cat"] } }),
        json!({ "add": [rule], "delete": { "ids": ["7"] } }),
    ] {
        post(&app, "", &body).assert_problem(400, "invalid-request");
    }
    let both = json!({ "add": [rule] });
    post(&app, "?delete_all=true", &both).assert_problem(400, "invalid-request");
    post(&app, "?dry_run=perhaps", &both).assert_problem(400, "invalid-request");
    for query in ["?ids=x", "?max_results=0", "?max_results=1001", "?pagination_token=zz"] {
        let target = format!("{RULES}{query}");
        let response = shared_server().send(TestRequest::get(target).bearer(&app.bearer));
        response.assert_problem(400, "invalid-request");
    }
    assert!(list(&app, "").get("data").is_none());
}
