//! Community notes: who may write them, in which pool, how they are rated and what they are on.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, ids, percent_encode, person, shared_server};

fn writer(name: &str) -> TestUser<'static> {
    let writer = person(name);
    shared_server().run_cli(&["user", "note-writer", "on", &writer.id]).assert_success();
    writer
}

const TEXT: &str = "The photo was taken in 2019. https://example.com/archive";

fn draft(post: &str, test_mode: bool) -> Value {
    json!({
        "post_id": post,
        "test_mode": test_mode,
        "info": {
            "text": TEXT,
            "classification": "misinformed_or_potentially_misleading",
            "misleading_tags": ["missing_important_context", "outdated_information"],
            "trustworthy_sources": true,
        },
    })
}

#[track_caller]
fn write(writer: &TestUser<'_>, body: &Value) -> String {
    let created = writer.post("/2/notes", body).assert_status(201);
    assert_eq!(created["data"].as_object().unwrap().len(), 1);
    created["data"]["id"].as_str().unwrap().to_owned()
}

const WRITTEN: &str = "/2/notes/search/notes_written";
const FIELDS: &str = "note.fields=id,info,scoring_status,status,test_result";

#[track_caller]
fn written(writer: &TestUser<'_>, test_mode: bool) -> Value {
    writer.get(format!("{WRITTEN}?test_mode={test_mode}&{FIELDS}")).assert_status(200)
}

#[test]
fn note_is_written_once_per_pool_and_deleted() {
    let (author, writer, other) = (person("author"), writer("writer"), person("other"));
    let post = author.publish_text("This happened yesterday");
    let refusal = "User must be an API Note Writer to access this endpoint.";
    other.post("/2/notes", &draft(&post, true)).assert_error(403, refusal);
    let note = write(&writer, &draft(&post, true));
    writer.post("/2/notes", &draft(&post, true)).assert_error(403, "User already created a note for this post.");
    let public = write(&writer, &draft(&post, false));
    let page = written(&writer, true);
    assert_eq!(ids(&page), [note.as_str()]);
    assert_eq!(page["meta"], json!({ "result_count": 1 }));
    let shown = &page["data"][0];
    assert_eq!(
        shown["info"],
        json!({
            "text": TEXT,
            "classification": "misinformed_or_potentially_misleading",
            "misleading_tags": ["missing_important_context", "outdated_information"],
            "post_id": post,
            "trustworthy_sources": true,
            "rating_status": "needs_your_help",
        })
    );
    assert_eq!(shown["status"], "needs_your_help");
    let outcome = &shown["test_result"]["evaluation_outcome"][0];
    assert_eq!(outcome["evaluator_type"], "ClaimOpinion");
    assert_eq!(outcome["evaluator_score_bucket"], "High");
    let page = written(&writer, false);
    assert_eq!(ids(&page), [public.as_str()]);
    assert!(page["data"][0].get("test_result").is_none());
    let plain = writer.get(format!("{WRITTEN}?test_mode=false")).assert_status(200);
    assert_eq!(plain["data"][0].as_object().unwrap().len(), 5, "all but the result of a test");
    assert_eq!(written(&other, true)["meta"]["result_count"], 0, "own only");
    let deleted = other.delete(format!("/2/notes/{note}"));
    deleted.assert_problem(404, "resource-not-found");
    let body = writer.delete(format!("/2/notes/{note}")).assert_status(200);
    assert_eq!(body, json!({ "data": { "deleted": true } }));
    let again = writer.delete(format!("/2/notes/{note}"));
    again.assert_problem(404, "resource-not-found");
    assert_eq!(ids(&written(&writer, true)), [""; 0]);
    write(&writer, &draft(&post, true));
    shared_server().run_cli(&["user", "note-writer", "off", &writer.id]).assert_success();
    let later = draft(&author.publish_text("Another one"), true);
    writer.post("/2/notes", &later).assert_error(403, refusal);
}

#[test]
fn ratings_decide_the_status_of_a_note() {
    let (author, writer) = (person("author"), writer("writer"));
    let note = write(&writer, &draft(&author.publish_text("Rate this"), false));
    let raters: Vec<TestUser<'_>> = (0..10).map(|number| person(&format!("r{number}"))).collect();
    let rate = |rater: &TestUser<'_>, rating: &str| {
        let rated = shared_server().run_cli(&["note", "rate", &note, rating, "--as", &rater.id]);
        rated.json()["status"].as_str().unwrap().to_owned()
    };
    for rater in &raters[..4] {
        assert_eq!(rate(rater, "helpful"), "minimum_ratings_not_met");
    }
    assert_eq!(rate(&raters[4], "helpful"), "currently_rated_helpful");
    let shown = written(&writer, false)["data"][0].clone();
    assert_eq!(shown["info"]["rating_status"], "currently_rated_helpful");
    let counts = &shown["scoring_status"]["rating_counts_per_model"][0]["value"];
    assert_eq!(counts["neutral_factor_bucket_counts"], json!({ "helpful_count": 5, "not_helpful_count": 0 }));
    // Someone who thinks again counts once.
    assert_eq!(rate(&raters[0], "not-helpful"), "currently_rated_helpful");
    assert_eq!(rate(&raters[1], "not-helpful"), "needs_more_ratings");
    for rater in &raters[5..7] {
        rate(rater, "not-helpful");
    }
    for (rater, expected) in
        raters[7..].iter().zip(["needs_more_ratings", "currently_rated_not_helpful", "currently_rated_not_helpful"])
    {
        assert_eq!(rate(rater, "not-helpful"), expected);
    }
    assert_eq!(rate(&raters[2], "helpful"), "currently_rated_not_helpful");
    assert_eq!(rate(&raters[9], "helpful"), "insufficient_consensus");
    for rater in &raters {
        rate(rater, "not-helpful");
    }
    assert_eq!(rate(&raters[0], "not-helpful"), "firm_reject");
    let own = shared_server().run_cli(&["note", "rate", &note, "helpful", "--as", &writer.id]);
    assert!(own.assert_exit_code(1).stderr.contains("of their own"), "{own:?}");
    shared_server().run_cli(&["note", "rate", "1", "helpful", "--as", &author.id]).assert_exit_code(1);
}

#[test]
fn notes_are_paged() {
    let (author, writer) = (person("author"), writer("writer"));
    let mut notes: Vec<String> =
        (0..5).map(|number| write(&writer, &draft(&author.publish_text(&format!("Part {number}")), true))).collect();
    notes.reverse();
    let path = format!("{WRITTEN}?test_mode=true&max_results=2");
    let (mut seen, mut next) = (Vec::new(), String::new());
    loop {
        let page = writer.get(format!("{path}{next}")).assert_status(200);
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        match page["meta"]["next_token"].as_str() {
            Some(token) => next = format!("&pagination_token={token}"),
            None => break,
        }
    }
    assert_eq!(seen, notes);
    let other = writer.get(format!("{WRITTEN}?test_mode=false&max_results=2{next}"));
    other.assert_problem(400, "invalid-request");
}

#[test]
fn post_is_eligible_until_the_writer_has_a_note_on_it() {
    let (author, writer) = (person("author"), writer("writer"));
    let hidden = shared_server().new_user_with("hidden", &["--protected"]);
    let english = author.publish_text("The weather in the city was very warm and dry this whole summer");
    let spanish = author.publish_text("El tiempo en la ciudad fue muy cálido y seco durante todo el verano");
    let own = writer.publish_text("The writer says that the weather was very warm this summer");
    let secret = hidden.publish_text("The weather in the secret city was very warm this whole summer");
    writer.import_follows(&[&hidden]);
    let eligible = |more: &str| {
        let path = "/2/notes/search/posts_eligible_for_notes?max_results=100&test_mode=true";
        let page = writer.get(format!("{path}{more}")).assert_status(200);
        let found = ids(&page);
        let has = |id: &str| found.contains(&id);
        [&english, &spanish, &own, &secret].map(|id| has(id))
    };
    assert_eq!(eligible(""), [true, false, false, false]);
    let lang = |text: &str| eligible(&format!("&post_selection={}", percent_encode(text)));
    assert_eq!(lang("feed_size: xxl, feed_lang: es"), [false, true, false, false]);
    assert_eq!(lang("feed_lang: all"), [true, true, false, false]);
    let request = ["note", "request", &english, "--as", &hidden.id];
    for changed in [true, false] {
        assert_eq!(shared_server().run_cli(&request).json()["changed"], changed);
    }
    assert_eq!(eligible(""), [true, false, false, false], "once");
    write(&writer, &draft(&english, true));
    assert_eq!(lang("feed_lang: all"), [false, true, false, false]);
    let path = "/2/notes/search/posts_eligible_for_notes?max_results=100&test_mode=false";
    let page = writer.get(path).assert_status(200);
    assert!(ids(&page).contains(&english.as_str()), "pools are apart");
    let fields = writer.get(format!("{path}&expansions=author_id")).assert_status(200);
    assert!(fields["includes"]["users"].is_array());
    for wrong in ["huge", "feed_size: huge", "feed_lang: English", "a: b"] {
        let response = writer.get(format!("{path}&post_selection={}", percent_encode(wrong)));
        response.assert_problem(400, "invalid-request");
    }
    shared_server().run_cli(&["mod", "limit", "--post", &spanish, "--reason", "Off topic"]).assert_success();
    assert_eq!(lang("feed_lang: all"), [false, false, false, false]);
}

#[test]
fn draft_note_is_scored() {
    let (author, reader) = (person("author"), person("reader"));
    let post = author.publish_text("Judge this");
    for path in ["/2/notes/evaluate", "/2/evaluate_note"] {
        let score = |text: &str| {
            let body = json!({ "post_id": post, "note_text": text });
            let scored = reader.post(path, &body).assert_status(200);
            scored["data"]["claim_opinion_score"].as_f64().unwrap()
        };
        assert!(score(TEXT) > 0.7);
        assert!(score("I think you are stupid!") < 0.3);
        assert!((score("So it is") - 0.5).abs() < f64::EPSILON);
        for body in [
            json!({ "post_id": post }),
            json!({ "note_text": TEXT }),
            json!({ "post_id": post, "note_text": "" }),
            json!({ "post_id": post, "note_text": 5 }),
            json!({ "post_id": "x", "note_text": TEXT }),
            json!({ "post_id": post, "note_text": TEXT, "more": 1 }),
        ] {
            let refused = reader.post(path, &body);
            refused.assert_problem(400, "invalid-request");
        }
        let unknown = json!({ "post_id": "17", "note_text": TEXT });
        reader.post(path, &unknown).assert_problem(404, "resource-not-found");
    }
}

#[test]
fn invalid_note_is_refused() {
    let (author, writer) = (person("author"), writer("writer"));
    let post = author.publish_text("Write about this");
    let info = |name: &str, value: Value| {
        let mut body = draft(&post, true);
        body["info"][name] = value;
        body
    };
    let long = format!("{} https://example.com/x", "x".repeat(257));
    let bare = json!({ "post_id": post, "test_mode": true });
    for body in [
        info("text", json!("")),
        info("text", json!(" ")),
        info("text", json!("No source at all")),
        info("text", json!("See example.com")),
        info("text", json!(long)),
        info("text", json!(7)),
        info("classification", json!("wrong")),
        info("misleading_tags", json!([])),
        info("misleading_tags", json!(["nonsense"])),
        info("trustworthy_sources", json!("perhaps")),
        info("color", json!("red")),
        bare,
        json!({}),
        json!({ "post_id": "abc", "test_mode": true, "info": draft(&post, true)["info"] }),
    ] {
        let refused = writer.post("/2/notes", &body);
        refused.assert_problem(400, "invalid-request");
    }
    let unknown = writer.post("/2/notes", &draft("17", true));
    unknown.assert_problem(404, "resource-not-found");
    assert_eq!(ids(&written(&writer, true)), [""; 0], "nothing was stored");
    // An address weighs 23, whatever its length.
    let fits = format!("{} https://example.com/{}", "x".repeat(256), "y".repeat(90));
    write(&writer, &info("text", json!(fits)));
    for path in [
        WRITTEN,
        "/2/notes/search/notes_written?test_mode=perhaps",
        "/2/notes/search/notes_written?test_mode=true&max_results=101",
        "/2/notes/search/notes_written?test_mode=true&note.fields=color",
        "/2/notes/search/posts_eligible_for_notes",
        "/2/notes/search/posts_eligible_for_notes?test_mode=true&max_results=0",
    ] {
        writer.get(path).assert_problem(400, "invalid-request");
    }
    writer.delete("/2/notes/x").assert_problem(400, "invalid-request");
    let app = TestRequest::get(format!("{WRITTEN}?test_mode=true")).bearer(&writer.app.bearer);
    shared_server().send(app).assert_problem(403, "unsupported-authentication");
}
