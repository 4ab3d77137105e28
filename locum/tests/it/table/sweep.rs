//! Every parameter and every member of a body of every built operation, as it must not be.

use serde_json::{Value, json};

use super::owner::Owner;
use super::{Deed, Param, Things, deeds, differences, is_id};
use crate::harness::{TestRequest, TestResponse, percent_encode, shared_server};

/// Texts that break programs which take them for something else.
const HOSTILE: &[&str] =
    &["%00", "%ff", "%zz", "%ED%A0%80", "%0d%0aX-Evil:%201", "%22%3E%3Cscript%3E", "'%20OR%201=1--", "%25_%5C"];

/// Values that a parameter of this schema may not have, as they stand in an address.
fn bad_values(schema: &Value) -> Vec<String> {
    let mut bad: Vec<String> = vec![String::new(), "%00".into(), "%ff".into()];
    let one = &schema["items"];
    let is_list = schema["type"] == "array";
    let item = if is_list { one } else { schema };
    if is_id(item) {
        let ids = ["x", "-1", "1.5", "9223372036854775808", "12345678901234567890", "%201", "0x10", "١٢"];
        bad.extend(ids.map(encode_unless_encoded));
    }
    if schema["type"] == "integer" {
        let bound = |name: &str| schema[name].as_i64().unwrap();
        bad.extend(["x", "1.5", "1e1", "99999999999999999999"].map(str::to_owned));
        bad.extend([bound("minimum") - 1, bound("maximum") + 1].map(|number| number.to_string()));
    }
    if schema["type"] == "boolean" {
        bad.extend(["1", "yes", "TRUE", "null"].map(str::to_owned));
    }
    if item["enum"].is_array() {
        bad.extend(["nonsense", "%27"].map(str::to_owned));
    }
    if schema["format"] == "date-time" {
        let times = ["x", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01", "0000-01-01T00:00:00Z"];
        bad.extend(times.map(percent_encode));
    }
    if item["pattern"].is_string() {
        bad.push(percent_encode("no such thing!"));
    }
    if let Some(most) = schema["maxLength"].as_u64() {
        bad.push("x".repeat(usize::try_from(most).unwrap() + 1));
    }
    if let Some(most) = schema["maxItems"].as_u64() {
        bad.push(vec!["1"; usize::try_from(most).unwrap() + 1].join(","));
        bad.extend([",".to_owned(), "1,,2".to_owned()]);
    }
    bad
}

fn encode_unless_encoded(text: &str) -> String {
    if text.contains('%') { text.to_owned() } else { percent_encode(text) }
}

/// Values that a member of this schema may not have.
fn bad_members(schema: &Value) -> Vec<Value> {
    let any_other = [json!(null), json!("x"), json!(1), json!(1.5), json!(true), json!([]), json!({ "no such": 1 })];
    let kind = schema["type"].as_str();
    let fits = |value: &Value| match kind {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        _ => false,
    };
    if kind.is_none() {
        return Vec::new();
    }
    let mut bad: Vec<Value> = any_other.into_iter().filter(|value| !fits(value)).collect();
    if is_id(schema) {
        bad.extend(["", "x", "-1", "9223372036854775808", " 1"].map(|text| json!(text)));
    }
    if schema["enum"].is_array() {
        bad.extend([json!("nonsense"), json!("")]);
    }
    if let Some(most) = schema["maxLength"].as_u64() {
        bad.push(json!("x".repeat(usize::try_from(most).unwrap() + 1)));
    }
    if schema["minLength"].as_u64().is_some_and(|least| least > 0) {
        bad.push(json!(""));
    }
    for (name, by) in [("minimum", -1), ("maximum", 1)] {
        bad.extend(schema[name].as_i64().map(|bound| json!(bound + by)));
    }
    if let Some(most) = schema["maxItems"].as_u64() {
        bad.push(json!(vec!["1"; usize::try_from(most).unwrap() + 1]));
    }
    bad
}

/// Collects what is not refused as it should be.
struct Sweep<'s> {
    owner: &'s Owner<'s>,
    wrong: Vec<String>,
    tried: usize,
}

impl Sweep<'_> {
    /// The request is refused as a bad one that names this.
    fn refused(&mut self, deed: &Deed, request: TestRequest, name: &str) {
        let shown = format!("{} {} {}", request.method, request.target, String::from_utf8_lossy(&request.body));
        let response = self.sent(deed, request);
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let kind = body["type"].as_str().unwrap_or_default();
        let named = response.text().contains(name);
        // An upload speaks of itself in other words.
        let own_words = deed.path.contains("/media");
        if response.status != 400 || !(own_words || named && kind.ends_with("/invalid-request")) {
            self.note(&shown, &response);
        }
    }

    /// The request is answered, whatever is said.
    fn survives(&mut self, deed: &Deed, request: TestRequest) {
        let shown = format!("{} {}", request.method, request.target);
        let response = self.sent(deed, request);
        if ![200, 400, 403, 404].contains(&response.status) || response.headers.contains_key("x-evil") {
            self.note(&shown, &response);
        }
        if serde_json::from_slice::<Value>(&response.body).is_err() {
            self.note(&shown, &response);
        }
    }

    fn sent(&mut self, deed: &Deed, request: TestRequest) -> TestResponse {
        self.tried += 1;
        self.owner.send(deed, request)
    }

    fn note(&mut self, shown: &str, response: &TestResponse) {
        let text: String = response.text().chars().take(300).collect();
        let shown: String = shown.chars().take(300).collect();
        self.wrong.push(format!("{shown}: {} {text}", response.status));
    }

    /// The parameters of an operation, each for itself.
    fn parameters(&mut self, deed: &Deed) {
        let things = &self.owner.things;
        let (path, query) = (deed.filled(things), deed.query(things));
        let body = deed.bodies(things).swap_remove(0);
        for param in &deed.params {
            for value in bad_values(&param.schema) {
                // An empty part of a path is another path.
                if param.in_path && value.is_empty() {
                    continue;
                }
                let request = with(deed, param, &value, things, body.as_ref());
                // What cannot be decoded is as it came, which is a text like any other.
                let any_text = ["pattern", "enum", "minimum"];
                let is_text = any_text.iter().all(|of| param.schema.get(of).is_none());
                if param.in_path && value == "%ff" && is_text {
                    self.survives(deed, request);
                    continue;
                }
                self.refused(deed, request, if value.contains('%') { "" } else { &param.name });
            }
            for value in HOSTILE {
                let request = with(deed, param, value, things, body.as_ref());
                self.survives(deed, request);
            }
            if param.in_path {
                continue;
            }
            let twice = query.iter().filter(|(name, _)| *name != param.name);
            let mut twice: Vec<_> = twice.cloned().collect();
            twice.extend(vec![(param.name.clone(), "20".to_owned()); 2]);
            self.refused(deed, deed.ask(&path, &twice, body.as_ref()), "Duplicate parameters");
            if param.required {
                let rest: Vec<_> = query.iter().filter(|(name, _)| *name != param.name).cloned().collect();
                self.refused(deed, deed.ask(&path, &rest, body.as_ref()), &param.name);
            }
        }
        let unknown = [query, vec![("no_such_parameter".into(), "1".into())]].concat();
        self.refused(deed, deed.ask(&path, &unknown, body.as_ref()), "no_such_parameter");
    }

    /// The members of an operation's body, each for itself.
    fn body(&mut self, deed: &Deed) {
        let things = &self.owner.things;
        let Some(schema) = &deed.body else { return };
        let (path, query) = (deed.filled(things), deed.query(things));
        let base = deed.bodies(things).swap_remove(0).unwrap();
        let request = |body: &Value| deed.ask(&path, &query, Some(body));
        for (name, of) in schema["properties"].as_object().unwrap() {
            for value in bad_members(of) {
                let mut body = base.clone();
                body[name] = value;
                self.refused(deed, request(&body), name);
            }
            let required = schema["required"].as_array();
            if required.is_some_and(|all| all.contains(&json!(name))) {
                let mut body = base.clone();
                body.as_object_mut().unwrap().remove(name);
                self.refused(deed, request(&body), name);
            }
        }
        let mut body = base.clone();
        body["no_such_member"] = json!(1);
        self.refused(deed, request(&body), "no_such_member");
        let raw = |text: String| deed.ask(&path, &query, None).body("application/json", text);
        let whole = base.to_string();
        // One that may be empty.
        let Some((name, value)) = base.as_object().unwrap().iter().next() else {
            return;
        };
        let twice = format!("{{\"{name}\":{value},{}", &whole[1..]);
        let deep = format!("{{\"{name}\":{}{}}}", "[".repeat(70), "]".repeat(70));
        let nul = format!("{{\"{name}\":\"1\\u0000\"}}");
        for text in [twice, deep, nul, format!("{whole}x"), "[]".into(), "{".into(), "\u{feff}{}".into()] {
            self.refused(deed, raw(text), "");
        }
    }
}

/// A request in which one parameter has this value.
fn with(deed: &Deed, param: &Param, value: &str, things: &Things, body: Option<&Value>) -> TestRequest {
    let mut query = deed.query(things);
    if param.in_path {
        return deed.ask(&deed.filled_but(things, Some((&param.name, value))), &query, body);
    }
    query.retain(|(name, _)| *name != param.name);
    query.push((param.name.clone(), value.to_owned()));
    deed.ask(&deed.filled(things), &query, body)
}

#[test]
fn every_operation_refuses_undeclared_input_and_stores_nothing() {
    let server = shared_server();
    let friend = server.new_user("friend");
    let deeds = deeds();
    let owner = Owner::settle(server, "clumsy", "nothing secret", &friend);
    let before = owner.state(&deeds);
    let mut sweep = Sweep { owner: &owner, wrong: Vec::new(), tried: 0 };
    for deed in &deeds {
        sweep.parameters(deed);
        sweep.body(deed);
    }
    let Sweep { wrong, tried, .. } = sweep;
    println!("{tried} bad requests to {} operations", deeds.len());
    let some = wrong.iter().take(60).map(String::as_str).collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), some.join("\n"));
    let changed = differences(&before, &owner.state(&deeds));
    assert!(changed.is_empty(), "stored by bad requests: {}", changed.join("\n"));
    assert!(tried > 4_000, "{tried}");
}
