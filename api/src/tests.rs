use std::collections::HashSet;

use base::Error;
use serde_json::{Value, json};
use web::endpoint::{Endpoint, ErrorFormat};
use web::openapi::document;
use web::request_context::{HttpReply, RequestContext};

use crate::operations::ENDPOINTS;
use crate::operations::shared::{POST, POST_FIELDS};

fn operations(document: &Value) -> Vec<(&String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let of = |(path, item)| operations_of(item).map(move |facts| (path, facts));
    paths.flat_map(of).collect()
}

fn operations_of(item: &Value) -> impl Iterator<Item = &Value> {
    item.as_object().unwrap().values()
}

/// All operations but pages, which are for people.
fn for_programs() -> impl Iterator<Item = &'static Endpoint> {
    let all = ENDPOINTS.iter().copied().flatten();
    all.filter(|endpoint| endpoint.error_format != ErrorFormat::Page)
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document(&ENDPOINTS, true);
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn every_operation_is_there_once() {
    let document = document(&ENDPOINTS, true);
    let operations = operations(&document);
    let ids: HashSet<_> = operations.iter().map(|(_, facts)| facts["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len());
    assert_eq!(ids.len(), for_programs().count());
}

#[test]
fn every_parameter_of_a_path_is_declared_and_required() {
    let document = document(&ENDPOINTS, true);
    for (path, facts) in operations(&document) {
        let named: HashSet<_> = path.split('{').skip(1).map(|rest| rest.split_once('}').unwrap().0).collect();
        let params = facts["parameters"].as_array().into_iter().flatten();
        let declared: HashSet<_> = params
            .filter(|param| param["in"] == "path" && param["required"] == true)
            .map(|param| param["name"].as_str().unwrap())
            .collect();
        assert_eq!(named, declared, "{path}");
    }
}

#[test]
fn only_what_is_built_is_shown_unasked() {
    let built = for_programs().filter(|endpoint| endpoint.handler.is_some());
    let document = document(&ENDPOINTS, false);
    let shown = operations(&document);
    assert_eq!(shown.len(), built.count());
    assert!(shown.iter().all(|(_, facts)| facts.get("x-status").is_none()));
}

async fn never(_: RequestContext) -> Result<HttpReply, Error> {
    std::future::pending().await
}

#[test]
fn a_built_lookup_shows_its_object() {
    static BUILT: &[Endpoint] = &[
        Endpoint::get("posts", "/2/<posts>", &never).params(&[POST_FIELDS]),
        Endpoint::get("post", "/2/<posts>/{id}", &never).params(&[POST, POST_FIELDS]),
    ];
    let document = document(&[BUILT], false);
    let data = |path| {
        let answer = &document["paths"][path]["get"]["responses"]["200"]["content"];
        answer["application/json"]["schema"]["properties"]["data"].clone()
    };
    let post = json!({ "$ref": "#/components/schemas/Post" });
    assert_eq!(data("/2/posts/{id}"), post);
    assert_eq!(data("/2/posts"), json!({ "type": "array", "items": post }));
    assert_eq!(document["components"]["schemas"]["Post"]["type"], "object");
    assert_eq!(document["paths"]["/2/posts"]["get"]["x-alias"], json!(["/2/tweets"]));
}

#[test]
fn the_committed_document_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/api/openapi.json");
    let built = document(&ENDPOINTS, false);
    let text = format!("{}\n", serde_json::to_string_pretty(&built).unwrap());
    if std::env::var_os("LOCUM_WRITE_GENERATED").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == text, "set LOCUM_WRITE_GENERATED=1 to write {path} anew");
}
