//! What cannot be served is refused in the contract's words, and nothing is stored.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, shared_server};

fn person() -> TestUser<'static> {
    shared_server().new_user("clumsy")
}

/// The refusal of a request, and that it names the parameter with its value.
#[track_caller]
fn refuses(user: &TestUser<'_>, path: &str, sentence: &str, parameter: &str) {
    let response = user.get(path);
    let problem = response.assert_problem(400, "invalid-request");
    response.assert_error(400, sentence);
    assert_eq!(problem["title"], "Invalid Request");
    assert_eq!(problem["detail"], "One or more parameters to your request was invalid.");
    assert_eq!(problem["status"], 400);
    let errors = problem["errors"].as_array().unwrap();
    let named = errors.iter().any(|error| error["parameters"].get(parameter).is_some());
    assert!(named, "{parameter} is not named: {problem}");
}

/// Requests, the sentence about each, and the parameter that it names.
const WRONG: &[(&str, &str, &str)] = &[
    ("/2/tweets/abc", "The `id` query parameter value [abc] is not valid", "id"),
    ("/2/tweets/12345678901234567890", "The `id` query parameter value [12345678901234567890] is not valid", "id"),
    ("/2/tweets/9223372036854775808", "The `id` query parameter value [9223372036854775808] is not valid", "id"),
    ("/2/tweets/-1", "The `id` query parameter value [-1] is not valid", "id"),
    ("/2/tweets?ids=20,x", "The `ids` query parameter value [x] is not valid", "ids"),
    ("/2/tweets?ids=20,", "The `ids` query parameter value [] is not valid", "ids"),
    ("/2/tweets", "The `ids` query parameter can not be empty", "ids"),
    ("/2/tweets?ids=", "The `ids` query parameter can not be empty", "ids"),
    (
        "/2/users/by/username/not.a.name",
        "The `username` query parameter value [not.a.name] does not match ^[A-Za-z0-9_]{1,15}$",
        "username",
    ),
    (
        "/2/users/by?usernames=ada,a-b",
        "The `usernames` query parameter value [a-b] does not match ^[A-Za-z0-9_]{1,15}$",
        "usernames",
    ),
    (
        "/2/users/by/username/sixteen_letters_",
        "The `username` query parameter value [sixteen_letters_] does not match ^[A-Za-z0-9_]{1,15}$",
        "username",
    ),
    ("/2/tweets?ids=20&ids=21", "Duplicate parameters are not allowed: the `ids` query parameter", "ids"),
];

#[test]
fn invalid_parameter_is_refused_with_the_contracts_message() {
    let user = person();
    for (path, sentence, parameter) in WRONG {
        refuses(&user, path, sentence, parameter);
    }
}

#[test]
fn number_out_of_range_is_refused_with_its_bounds() {
    let user = person();
    let posts = format!("/2/users/{}/posts", user.id);
    for value in ["4", "101", "0", "-5", "99999999999999999999"] {
        let sentence = format!("The `max_results` query parameter value [{value}] is not between 5 and 100");
        refuses(&user, &format!("{posts}?max_results={value}"), &sentence, "max_results");
    }
    for value in ["ten", "5.0", "1e1", "%205"] {
        let problem = user.get(format!("{posts}?max_results={value}")).assert_problem(400, "invalid-request");
        assert!(problem["errors"][0]["parameters"].get("max_results").is_some(), "{problem}");
    }
    let many = vec!["20"; 101].join(",");
    let sentence = "The number of values in the `ids` query parameter list [101] is not between 1 and 100";
    refuses(&user, &format!("/2/tweets?ids={many}"), sentence, "ids");
    let many = vec!["20"; 100].join(",");
    user.get(format!("/2/tweets?ids={many}")).assert_status(200);
}

#[test]
fn unknown_value_or_parameter_is_refused_with_the_known_ones() {
    let user = person();
    let message = |path: &str, start: &str| {
        let response = user.get(path);
        response.assert_problem(400, "invalid-request");
        let sentences = response.error_messages();
        let found = sentences.iter().find(|sentence| sentence.starts_with(start));
        found.unwrap_or_else(|| panic!("{path}: {sentences:?}")).clone()
    };
    let known = message(
        "/2/tweets/20?tweet.fields=nonsense",
        "The `tweet.fields` query parameter value [nonsense] is not one of [",
    );
    assert!(known.contains("created_at") && known.contains("public_metrics"), "{known}");
    let known = message(
        "/2/tweets/20?expansions=nonsense",
        "The `expansions` query parameter value [nonsense] is not one of [",
    );
    assert!(known.contains("author_id"), "{known}");
    let known = message(
        "/2/users/me?user.fields=id,nonsense",
        "The `user.fields` query parameter value [nonsense] is not one of [",
    );
    assert!(known.contains("created_at"), "{known}");
    let known = message("/2/tweets/20?nonsense=1", "The query parameter [nonsense] is not one of [");
    assert!(known.contains("expansions"), "{known}");
    assert!(message("/2/tweets/20?tweet.fields=", "The `tweet.fields` query parameter can not be empty").len() > 1);
}

#[test]
fn all_invalid_parameters_are_reported_together() {
    let problem = person().get("/2/tweets/x?nonsense=1&expansions=y").assert_problem(400, "invalid-request");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 3, "{problem}");
}

#[test]
fn every_public_field_and_expansion_exists_in_both_vocabularies() {
    let user = person();
    let id = user.publish_text("Everything about me");
    let tweets = "tweet.fields=article,attachments,author_id,card_uri,community_id,context_annotations,\
        conversation_id,created_at,display_text_range,edit_controls,edit_history_tweet_ids,entities,geo,id,\
        in_reply_to_user_id,lang,media_metadata,note_tweet,possibly_sensitive,public_metrics,referenced_tweets,\
        reply_settings,scopes,source,text,withheld&expansions=article.cover_media,article.media_entities,\
        attachments.media_keys,attachments.media_source_tweet,attachments.poll_ids,author_id,\
        edit_history_tweet_ids,entities.mentions.username,geo.place_id,in_reply_to_user_id,\
        entities.note.mentions.username,referenced_tweets.id,referenced_tweets.id.author_id";
    let posts = "post.fields=edit_history_post_ids,note_post,referenced_posts,public_metrics&\
        expansions=edit_history_post_ids,referenced_posts,username,author_id";
    let more = "user.fields=affiliation,created_at,description,entities,id,location,most_recent_tweet_id,name,\
        pinned_tweet_id,profile_banner_url,profile_image_url,protected,public_metrics,receives_your_dm,\
        subscription_type,url,username,verified,verified_type,withheld&media.fields=alt_text,duration_ms,height,\
        media_key,preview_image_url,public_metrics,type,url,variants,width&poll.fields=duration_minutes,\
        end_datetime,id,options,voting_status&place.fields=contained_within,country,country_code,full_name,geo,\
        id,name,place_type";
    let more = more.replace(' ', "");
    for fields in [tweets, posts] {
        user.get(format!("/2/tweets/{id}?{}&{more}", fields.replace(' ', ""))).assert_status(200);
    }
    user.get(format!("/2/tweets/{id}?tweet.fields=created_at&post.fields=created_at")).assert_status(200);
}

#[test]
fn body_must_be_an_object_with_known_members() {
    let user = person();
    let send = |body: &[u8]| user.send(TestRequest::post("/2/tweets").body("application/json", body));
    for body in ["[]", "1", "\"text\"", "null", "true"] {
        send(body.as_bytes()).assert_error(400, "Request body must be a JSON object.");
    }
    let wrong: [&[u8]; 24] = [
        b"{",
        b"{\"text\":\"x\"}}",
        b"{\"text\":\"x\"} {}",
        b"{\"text\":\"x\",}",
        b"{'text':'x'}",
        b"{\"text\":\"x\",\"text\":\"y\"}",
        b"{\"text\":\"x\",\"unknown\":1}",
        b"{\"text\":\"x\",\"id\":\"1\"}",
        b"{\"text\":\"x\",\"author_id\":\"1\"}",
        b"{\"text\":1}",
        b"{\"text\":null}",
        b"{\"text\":[\"x\"]}",
        b"{\"text\":\"x\",\"reply\":{}}",
        b"{\"text\":\"x\",\"reply\":{\"in_reply_to_tweet_id\":20}}",
        b"{\"text\":\"x\",\"reply\":{\"in_reply_to_tweet_id\":\"x\"}}",
        b"{\"text\":\"x\",\"reply\":{\"in_reply_to_tweet_id\":\"20\",\"more\":1}}",
        b"{\"text\":\"x\",\"nullcast\":\"true\"}",
        b"{\"text\":\"x\",\"media\":{\"media_ids\":[]}}",
        b"{\"text\":\"x\",\"media\":{\"media_ids\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}}",
        b"{\"text\":\"x\",\"poll\":{\"options\":[\"a\"],\"duration_minutes\":5}}",
        b"{\"text\":\"x\",\"poll\":{\"options\":[\"a\",\"b\"],\"duration_minutes\":4}}",
        b"{\"text\":\"\xff\xfe\"}",
        b"{\"text\":\"\xc0\xaf\"}",
        b"{\"text\":\"\\ud800\"}",
    ];
    for body in wrong {
        let shown = String::from_utf8_lossy(body).into_owned();
        let response = send(body);
        assert_eq!(response.status, 400, "{shown}: {}", response.text());
        response.assert_problem(400, "invalid-request");
    }
    send(b"\xef\xbb\xbf{\"text\":\"x\"}").assert_problem(400, "invalid-request");
    let timeline = user.get(format!("/2/users/{}/posts", user.id)).assert_status(200);
    assert_eq!(timeline["meta"]["result_count"], 0, "nothing was stored: {timeline}");
}

#[test]
fn text_with_a_nul_is_refused() {
    let user = person();
    let response = user.create_post(&json!({ "text": "a\u{0}b" }));
    response.assert_problem(400, "invalid-request");
    for path in ["/2/users/by/username/a%00b", "/2/tweets?ids=%00", "/2/tweets/%00", "/2/tweets?%00=1"] {
        let response = user.get(path);
        assert_eq!(response.status, 400, "{path}: {}", response.text());
    }
    for path in ["/2/tweets?ids=%ff", "/2/tweets?ids=%zz", "/2/tweets/%ff", "/2/tweets?ids=20%"] {
        let response = user.get(path);
        assert_eq!(response.status, 400, "{path}: {}", response.text());
    }
}

fn nested(depth: usize) -> Vec<u8> {
    let mut body = b"{\"text\":\"x\",\"deep\":".to_vec();
    body.extend(std::iter::repeat_n(b'[', depth));
    body.extend(std::iter::repeat_n(b']', depth));
    body.push(b'}');
    body
}

#[test]
fn too_deep_or_too_large_body_is_refused() {
    let user = person();
    let send = |body: Vec<u8>| user.send(TestRequest::post("/2/tweets").body("application/json", body));
    for depth in [62, 65, 200, 100_000] {
        send(nested(depth)).assert_problem(400, "invalid-request");
    }
    let message = send(nested(80)).error_messages().join(" ");
    assert!(message.contains("64"), "{message}");
    let text = |size: usize| json!({ "text": "x".repeat(size - 11) }).to_string().into_bytes();
    assert_eq!(text(1 << 20).len(), 1 << 20);
    assert_eq!(send(text(1 << 20)).status, 400, "as large as may be: only too long");
    let response = send(text((1 << 20) + 1));
    assert_eq!(response.status, 413, "{}", response.text());
    user.publish_text("Still served");
}

#[test]
fn number_beyond_64_bits_is_refused_and_not_rounded() {
    let user = person();
    let poll = |minutes: &str| {
        let body = format!("{{\"text\":\"x\",\"poll\":{{\"options\":[\"a\",\"b\"],\"duration_minutes\":{minutes}}}}}");
        user.send(TestRequest::post("/2/tweets").body("application/json", body))
    };
    for minutes in ["9223372036854775808", "1e400", "5.5", "-9223372036854775809", "60.0000000001"] {
        let response = poll(minutes);
        assert_eq!(response.status, 400, "{minutes}: {}", response.text());
    }
}

#[test]
fn unsupported_content_type_is_refused() {
    let user = person();
    for kind in ["text/plain", "application/xml", "multipart/form-data; boundary=x"] {
        let response = user.send(TestRequest::post("/2/tweets").body(kind, r#"{"text":"Typed"}"#));
        assert!([400, 415].contains(&response.status), "{kind}: {}", response.text());
    }
    let kind = "application/json; charset=utf-8";
    user.send(TestRequest::post("/2/tweets").body(kind, r#"{"text":"Typed"}"#)).assert_status(201);
    user.send(TestRequest::get("/2/users/me").header("content-type", "application/json")).assert_status(200);
}

#[test]
fn unknown_path_is_not_found_and_unknown_method_not_allowed() {
    let user = person();
    let problem = user.get("/2/nothing").assert_status(404);
    assert_eq!((&problem["title"], &problem["type"]), (&json!("Not Found"), &json!("about:blank")));
    // Words that paths of the Ads API begin with.
    let problem = user.get("/2/insights/28hr").assert_status(404);
    assert_eq!(problem["type"], "about:blank");
    let response = user.send(TestRequest::new("PUT", "/2/tweets").json(&json!({})));
    response.assert_status(405);
    assert!(response.header("allow").contains("POST"), "{:?}", response.headers);
    user.get("/1.1/nothing.json").assert_legacy_code(404, 34);
    let head = user.send(TestRequest::new("HEAD", "/2/users/me"));
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn echoed_value_is_truncated_and_escaped() {
    let user = person();
    let long = "9".repeat(6_000);
    let response = user.get(format!("/2/tweets/{long}"));
    response.assert_problem(400, "invalid-request");
    assert!(response.body.len() < 4_000, "{} bytes", response.body.len());
    let response = user.get("/2/tweets/%22%3Cscript%3E%0d%0aX-A:1");
    let body = response.assert_problem(400, "invalid-request");
    assert!(response.headers.get("x-a").is_none());
    assert!(body.to_string().contains("script"));
}

#[test]
fn sql_in_a_text_is_stored_as_text() {
    let user = person();
    for text in ["'; DROP TABLE posts; --", "\" OR 1=1 --", "%_\\%", "$1 ?1 :a @b"] {
        let id = user.publish_text(text);
        let shown = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert_eq!(user.fetch_post(&id, "text")["text"], shown);
    }
    for name in ["%25", "_", "a%27--"] {
        let response = user.get(format!("/2/users/by/username/{name}"));
        let body: Value = response.json();
        assert!(body.get("data").is_none(), "{body}");
    }
}

#[test]
fn request_without_host_or_with_two_lengths_is_refused() {
    let address = shared_server().url.trim_start_matches("http://").to_owned();
    let status = |request: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        let _reset = stream.read_to_string(&mut response);
        response.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let close = "Connection: close\r\n\r\n";
    assert_eq!(status(&format!("GET /livez HTTP/1.1\r\n{close}")), "400");
    assert_eq!(status(&format!("GET /livez HTTP/1.1\r\nHost: a\r\n{close}")), "200");
    let both = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n";
    assert_eq!(status(&format!("POST /2/tweets HTTP/1.1\r\nHost: a\r\n{both}{close}0\r\n\r\n")), "400");
    let two = "Content-Length: 3\r\nContent-Length: 4\r\n";
    assert_eq!(status(&format!("POST /2/tweets HTTP/1.1\r\nHost: a\r\n{two}{close}abcd")), "400");
    let long = "x".repeat(70_000);
    assert_eq!(status(&format!("GET /{long} HTTP/1.1\r\nHost: a\r\n{close}")), "414");
    let many = "X: y\r\n".repeat(150);
    assert_eq!(status(&format!("GET /livez HTTP/1.1\r\nHost: a\r\n{many}{close}")), "431");
}

/// A path with an example for each of its parameters, one of which may be given.
fn filled(path: &str, of: &TestUser<'_>, other: Option<(&str, &str)>) -> String {
    let mut path = path.to_owned();
    while let Some((head, rest)) = path.split_once('{') {
        let (name, tail) = rest.split_once('}').unwrap();
        let value = match other {
            Some((chosen, value)) if chosen == name => value,
            _ if name == "username" => "nobody",
            _ => &of.id,
        };
        path = format!("{head}{value}{tail}");
    }
    path
}

/// What no parameter of the table may be.
const STRANGE: &[&str] = &[
    "",
    "%00",
    "%ff",
    "%zz",
    "%",
    "-1",
    "0",
    "9223372036854775808",
    "1e9",
    "null",
    "true",
    "[]",
    "{}",
    "a,b",
    ",",
    "20,,21",
    "%F0%9F%92%A5",
    "%ED%A0%80",
    "..%2F..",
    "'%20OR%201=1",
    "2026-02-30T00:00:00Z",
    "2026-01-01T25:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "%0d%0aX-A:%201",
    "%22%3E",
];

#[test]
fn hostile_parameter_of_any_operation_causes_no_server_error() {
    let server = shared_server();
    let user = server.new_user("fuzzer");
    let document = server.run_cli(&["openapi"]).json();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    let long = "9".repeat(3_000);
    for (path, item) in document["paths"].as_object().unwrap() {
        // `ads::conform` asks what has the words of the advertising interface.
        let gets = item
            .get("get")
            .filter(|_| path.starts_with("/2/"))
            .filter(|facts| facts["security"].to_string().contains("OAuth2UserToken"));
        for parameter in gets.and_then(|facts| facts["parameters"].as_array()).into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            for value in STRANGE.iter().copied().chain([long.as_str()]) {
                let target = if parameter["in"] == "path" {
                    filled(path, &user, Some((name, value)))
                } else {
                    format!("{}?{name}={value}", filled(path, &user, None))
                };
                let response = user.get(target.as_str());
                tried += 1;
                let message = serde_json::from_slice::<Value>(&response.body).is_ok();
                if ![200, 400, 404].contains(&response.status) || !message {
                    wrong.push(format!("{target}: {} {}", response.status, response.text()));
                }
                if response.status == 400 {
                    response.assert_problem(400, "invalid-request");
                }
            }
            if parameter["in"] == "query" {
                let target = format!("{}?{name}=20&{name}=20", filled(path, &user, None));
                let sentence = format!("Duplicate parameters are not allowed: the `{name}` query parameter");
                user.get(target).assert_error(400, &sentence);
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}
