//! Annotations: entities of the catalogue in posts, what operators add, and how posts are found by them.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestServer, percent_encode, shared_server, unique_number};

const FIELDS: &str = "context_annotations,entities";

fn search(server: &TestServer, token: &str, query: &str) -> (Value, String) {
    let path = format!("/2/posts/search/recent?query={}", percent_encode(query));
    let response = server.send(TestRequest::get(path).bearer(token));
    (response.assert_status(200), response.header("x-locum-warning").to_owned())
}

fn found_ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().into_iter().flatten().map(|post| post["id"].as_str().unwrap()).collect()
}

#[test]
fn post_is_annotated_with_the_built_in_entities_that_it_names() {
    let author = shared_server().new_user("annotated");
    let id = author.publish_text("Back in NEW YORK: jazz, then @jazz and jazzy things");
    let post = author.fetch_post(&id, FIELDS);
    let place = json!({
        "start": 8, "end": 15, "probability": 1.0, "type": "Place", "normalized_text": "New York City",
    });
    let genre = json!({ "start": 18, "end": 21, "probability": 1.0, "type": "Other", "normalized_text": "Jazz" });
    assert_eq!(post["entities"]["annotations"], json!([place, genre]), "{post}");
    let contexts = post["context_annotations"].as_array().unwrap();
    assert_eq!(contexts.len(), 2, "{post}");
    let domain = json!({ "id": "156", "name": "Cities", "description": "Cities around the world" });
    assert_eq!(contexts[0]["domain"], domain);
    assert_eq!(contexts[0]["entity"]["name"], "New York City");
    assert_eq!(contexts[1]["domain"]["id"], "55");
    let reposter = shared_server().new_user("reposter");
    let body = json!({ "tweet_id": id });
    let path = format!("/2/users/{}/retweets", reposter.id);
    shared_server().send(TestRequest::post(path).bearer(&reposter.token).json(&body)).assert_status(200);
    let posts = reposter.get(format!("/2/users/{}/posts?post.fields={FIELDS}", reposter.id)).assert_status(200);
    assert_eq!(posts["data"][0]["context_annotations"], post["context_annotations"], "{posts}");
    assert!(posts["data"][0]["entities"]["annotations"].is_array(), "{posts}");
}

#[test]
fn post_that_names_no_entity_has_no_annotations() {
    let author = shared_server().new_user("plain");
    let id = author.publish_text("Nothing to see here");
    let post = author.fetch_post(&id, FIELDS);
    assert!(post.get("context_annotations").is_none() && post.get("entities").is_none(), "{post}");
}

#[test]
fn added_entity_is_found_by_search_and_stream_rules() {
    let server = shared_server();
    let (word, number) = (format!("Zorbing{}", unique_number()), unique_number() + 5_000_000);
    let entity = number.to_string();
    let add = ["annotation", "add", &word, "--id", &entity, "--domain", "11", "--domain-name", "Sport"];
    let more = ["--alias", &format!("{word} ball"), "--type", "Product", "--description", "Rolling downhill"];
    let added = server.run_cli(&[&add[..], &more[..]].concat()).assert_success().json();
    assert_eq!((&added["id"], &added["aliases"]), (&json!(entity), &json!([format!("{word} ball")])));
    let author = server.new_user("roller");
    let id = author.publish_text(&format!("My first {} today", word.to_lowercase()));
    let other = author.publish_text("My first day");
    let post = author.fetch_post(&id, FIELDS);
    assert_eq!(post["entities"]["annotations"][0]["type"], "Product", "{post}");
    assert_eq!(post["context_annotations"][0]["entity"]["description"], "Rolling downhill");
    for query in [format!("context:11.{entity}"), format!("context:*.{entity}"), format!("entity:\"{word}\"")] {
        let (page, warning) = search(server, &author.token, &query);
        assert_eq!((found_ids(&page), warning.as_str()), (vec![id.as_str()], ""), "{query}: {page}");
    }
    let (page, _) = search(server, &author.token, &format!("from:{} -context:11.*", author.username));
    assert_eq!(found_ids(&page), [other.as_str()]);
}

#[test]
fn rule_and_query_with_an_unknown_entity_work_and_warn() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let body = json!({ "add": [
        { "value": "context:11.987654321" }, { "value": "entity:\"Nobody Knows This\"" }, { "value": "entity:jazz" },
        { "value": "context:55.*" }, { "value": "plain words" },
    ] });
    let path = "/2/posts/search/stream/rules";
    let response = server.send(TestRequest::post(path).bearer(&app.bearer).json(&body));
    let added = response.assert_status(201);
    assert_eq!(added["meta"]["summary"]["created"], 5, "{added}");
    assert!(added.get("errors").is_none());
    let warning = response.header("x-locum-warning");
    assert!(warning.contains("context:11.987654321") && warning.contains("nobody knows this"), "{warning}");
    assert!(!warning.contains("jazz") && !warning.contains("55.*"), "{warning}");
    let reader = server.new_user("reader");
    let (page, warning) = search(server, &reader.token, "entity:\"Nobody Knows This\" lang:en");
    assert_eq!(page["meta"]["result_count"], 0);
    assert!(warning.contains("nobody knows this"), "{warning}");
}

#[test]
fn entities_are_imported_listed_and_removed() {
    let server = TestServer::start(&["--world", "empty"]);
    let author = server.new_user("author");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("entities.jsonl");
    let line = |id: u64, name: &str| {
        json!({ "domain_id": "66", "domain_name": "Hobbies", "id": id.to_string(), "name": name }).to_string()
    };
    let write = |lines: &[String]| fs::write(&file, lines.join("\n")).unwrap();
    let path = file.to_str().unwrap();
    write(&[line(1, "Origami"), line(2, "Knitting"), line(3, "Origami")]);
    let report = server.run_cli(&["annotation", "import", path]).assert_success().json();
    assert_eq!(report, json!({ "entities": 3 }));
    let id = author.publish_text("An origami crane");
    let post = author.fetch_post(&id, FIELDS);
    assert_eq!(post["entities"]["annotations"][0]["probability"], 0.5, "{post}");
    assert_eq!(post["context_annotations"].as_array().unwrap().len(), 2, "{post}");

    write(&[line(4, "Juggling"), "{\"id\": 5}".to_owned()]);
    let refused = server.run_cli(&["annotation", "import", path]);
    assert!(refused.code != 0 && refused.stderr.contains("line 2"), "{}", refused.stderr);
    let listed = server.run_cli(&["annotation", "list"]).assert_success().json();
    assert_eq!(listed.as_array().unwrap().len(), 3, "{listed}");
    server.run_cli(&["annotation", "remove", "66", "1"]).assert_success();
    server.run_cli(&["annotation", "remove", "66", "3"]).assert_success();
    let later = author.fetch_post(&author.publish_text("Another origami crane"), FIELDS);
    assert!(later.get("context_annotations").is_none(), "{later}");
    assert_eq!(author.fetch_post(&id, FIELDS), post, "annotations are facts of the time of writing");
}
