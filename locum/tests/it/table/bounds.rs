//! Every text and every list that an operation takes has a maximum size.

use ads_engine::{JsonShape, Kind, Parameter, ValueKind};
use serde_json::{Value, json};
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, ExpansionNames, FieldNames};

use super::deeds;
use super::fuzz::endpoints;
use super::owner::Owner;
use crate::harness::{TestRequest, shared_server};
use crate::pages::browser::{Browser, hidden};

/// More than any operation takes in one value.
const TOO_LONG: usize = 1_000_001;
/// Values that repeat a valid part.
const REPEATED: &[&str] = &["x", "1", "x,", "1,", "0"];

/// Whether a kind accepts no text of a million characters and no list of a million items.
fn is_bounded(kind: Kind) -> bool {
    // Names of fields repeat only what is declared, and JSON is limited by the body.
    let is_closed = kind.downcast::<FieldNames>().is_some()
        || kind.downcast::<ExpansionNames>().is_some()
        || kind.downcast::<JsonShape>().is_some()
        || matches!(kind.value, ValueKind::Json);
    let is_short_list = kind.list.is_none_or(|(_, max)| max <= 10_000);
    let is_short = match kind.value {
        ValueKind::Object(members) => members.iter().all(|member| is_bounded(member.kind)),
        ValueKind::Text(_, max) => max < TOO_LONG,
        ValueKind::Pattern(pattern) => REPEATED.iter().all(|part| !(pattern.matches)(&part.repeat(TOO_LONG))),
        _ => true,
    };
    is_closed || is_short_list && is_short
}

fn parameters(endpoint: &'static Endpoint) -> impl Iterator<Item = &'static Parameter> {
    let members: &[Parameter] = match endpoint.body {
        BodySpec::Json(members) | BodySpec::Form(members) | BodySpec::Multipart(members) => members,
        BodySpec::None | BodySpec::Raw => &[],
    };
    let of_ads = endpoint.ads.map_or(&[][..], |ads| ads.params);
    endpoint.parameters().chain(members).chain(of_ads)
}

#[test]
fn every_text_and_list_has_a_maximum_size() {
    let (mut unbounded, mut seen) = (Vec::new(), 0);
    for endpoint in endpoints() {
        for param in parameters(endpoint) {
            seen += 1;
            if !is_bounded(param.kind) {
                unbounded.push(format!("{} {}: {:?}", endpoint.id, param.name.post, param.kind));
            }
        }
    }
    assert!(unbounded.is_empty(), "{}", unbounded.join("\n"));
    assert!(seen > 1_500, "{seen}");
}

/// Values one longer than allowed, at the paths of the members that they belong to.
fn excessive_members(schema: &Value, path: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let longer = |bound: &Value| usize::try_from(bound.as_u64().unwrap()).unwrap() + 1;
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if of["maxLength"].is_u64() {
            all.push((at.clone(), json!("x".repeat(longer(&of["maxLength"])))));
        }
        if of["maxItems"].is_u64() {
            all.push((at.clone(), json!(vec!["1"; longer(&of["maxItems"])])));
        }
        if of["items"]["maxLength"].is_u64() {
            all.push((format!("{at}[0]"), json!("x".repeat(longer(&of["items"]["maxLength"])))));
        }
        all.extend(excessive_members(of, &at));
        all.extend(excessive_members(&of["items"], &format!("{at}[0]")));
    }
    all
}

/// A body with this value only.
fn body_with(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, step| match step.strip_suffix("[0]") {
        Some(name) => json!({ name: [inner] }),
        None => json!({ step: inner }),
    })
}

#[test]
fn member_longer_than_its_maximum_is_refused_by_name() {
    let server = shared_server();
    let friend = server.new_user("friend");
    let owner = Owner::settle(server, "lengthy", "words", &friend);
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for deed in deeds() {
        let Some(schema) = &deed.body else { continue };
        for (path, value) in excessive_members(schema, "") {
            let (target, query) = (deed.filled(&owner.things), deed.query(&owner.things));
            let response = owner.send(&deed, deed.ask(&target, &query, Some(&body_with(&path, value))));
            tried += 1;
            // An upload reads its members itself.
            let is_named = response.text().contains(&path) || deed.path.contains("/media/upload");
            if response.status != 400 || !is_named {
                let text: String = response.text().chars().take(300).collect();
                wrong.push(format!("{} {path}: {} {text}", deed.id, response.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 50, "{tried}");
}

#[test]
fn form_field_longer_than_its_maximum_is_refused_by_name() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let shown = browser.get("/settings/account");
    let csrf = hidden(&shown.text(), "/settings/account/password")["csrf"].clone();
    let app = server.default_app();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for endpoint in endpoints() {
        let BodySpec::Form(members) = endpoint.body else { continue };
        let path = endpoint.path.replace("{id}", "1").replace("{kind}", "api");
        for member in members {
            let ValueKind::Text(_, max) = member.kind.value else { continue };
            let name = member.name.post;
            let long = format!("csrf={csrf}&{name}={}", "x".repeat(max + 1));
            let request = TestRequest::post(&path).form(if name == "csrf" { &long[csrf.len() + 6..] } else { &long });
            let response = match endpoint.error_format {
                ErrorFormat::Page => browser.send(request),
                _ if endpoint.path.starts_with("/1.1/") => server.send(request.bearer(&app.bearer)),
                _ => server.send(request.basic(&app.key, &app.secret)),
            };
            tried += 1;
            if response.status != 400 || !response.text().contains(name) {
                let text: String = response.text().chars().take(300).collect();
                wrong.push(format!("{} {name}: {} {text}", endpoint.id, response.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 50, "{tried}");
}
