use std::time::Duration;

use base::{AppId, Credential, Time, UserId};
use http::HeaderMap;
use http::header::HeaderValue;

use super::*;
use crate::Emulator;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

struct Sample {
    id: String,
    request_headers: HeaderMap,
    response_headers: HeaderMap,
    query: &'static str,
    request_body: &'static str,
    response_body: String,
    status: u16,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            id: "r1".to_owned(),
            request_headers: headers(&[("content-type", "application/json")]),
            response_headers: headers(&[("content-type", "application/json; charset=utf-8")]),
            query: "",
            request_body: "",
            response_body: String::new(),
            status: 200,
        }
    }
}

impl Sample {
    fn observe(&self) -> ObservedRequest<'_> {
        ObservedRequest {
            id: &self.id,
            at: Time::from_ms(1_000),
            received_at: Time::from_ms(2_000),
            duration: Duration::from_micros(1_500),
            operation: "createPosts",
            route: "/2/posts",
            method: "POST",
            scheme: "http",
            host: "127.0.0.1:8080",
            path: "/2/tweets",
            query: self.query,
            client: None,
            app: Some(AppId::new(5)),
            app_name: "Harbour Radio",
            user: Some(UserId::new(9)),
            credential: Some(Credential::OAuth2),
            is_app_owner: false,
            request_headers: &self.request_headers,
            request_body: Some(self.request_body.as_bytes()),
            status: self.status,
            response_headers: &self.response_headers,
            response_body: ObservedBody::Full(self.response_body.as_bytes()),
            injected_fault: None,
            has_explanation: false,
            events: Vec::new(),
        }
    }

    fn record(&self, emulator: &Emulator) {
        emulator.record_request(self.observe());
    }
}

/// Everything that the ring has, as text.
fn all_stored(journal: &Journal) -> String {
    let entries = journal.list_before(&RequestFilter::default(), None, usize::MAX);
    let parts = entries.iter().map(|entry| {
        let har = har_document(std::iter::once(&**entry), "1");
        format!("{entry:?}\n{}\n{har}\n{}", entry_json(entry), curl_command(entry, &CurlVariables::default()))
    });
    parts.collect()
}

const SECRET: &str = "s3cr3tValue";

const SECRET_MEMBERS: [&str; 12] = [
    "access_token",
    "refresh_token",
    "client_secret",
    "password",
    "oauth_token",
    "oauth_token_secret",
    "bearer_token",
    "code_verifier",
    "api_secret",
    "id_token",
    "upload_url",
    "csrf",
];

const SECRET_FIELDS: [&str; 15] = [
    "code",
    "off_code",
    "codes_code",
    "passkey_code",
    "email_password",
    "current",
    "oauth_verifier",
    "oauth_signature",
    "client_secret",
    "password",
    "csrf",
    "refresh_token",
    "token",
    "client_assertion",
    "pin",
];

fn assert_no_secret(emulator: &Emulator) {
    let stored = all_stored(&emulator.journal);
    assert!(!stored.contains(SECRET), "{}", stored.split(SECRET).next().unwrap_or_default());
    assert!(stored.contains("***"), "{stored}");
}

#[test]
fn secrets_in_json_bodies_do_not_reach_the_ring() {
    let emulator = Emulator::default();
    for name in SECRET_MEMBERS {
        let body = format!("{{\"{name}\":\"{SECRET}\",\"nested\":[{{\"{name}\" : \"{SECRET}\"}}]}}");
        Sample { request_body: Box::leak(body.clone().into_boxed_str()), response_body: body, ..Sample::default() }
            .record(&emulator);
    }
    assert_no_secret(&emulator);
}

#[test]
fn secrets_in_forms_and_queries_do_not_reach_the_ring() {
    let emulator = Emulator::default();
    for name in SECRET_FIELDS {
        let text: &'static str = Box::leak(format!("a=b&{name}={SECRET}&c=d").into_boxed_str());
        let request_headers = headers(&[("content-type", "application/x-www-form-urlencoded")]);
        let response_headers = headers(&[
            ("content-type", "text/html; charset=utf-8"),
            ("location", &format!("https://app.example/callback?{text}")),
        ]);
        Sample {
            query: text,
            request_body: text,
            response_body: text.to_owned(),
            request_headers,
            response_headers,
            ..Sample::default()
        }
        .record(&emulator);
    }
    assert_no_secret(&emulator);
}

#[test]
fn secrets_in_headers_do_not_reach_the_ring() {
    let emulator = Emulator::default();
    let signed = format!("OAuth oauth_consumer_key=\"key\", oauth_token=\"{SECRET}\", oauth_signature=\"{SECRET}\"");
    let authorizations = [format!("Bearer {SECRET}"), format!("Basic {SECRET}"), signed, SECRET.to_owned()];
    for authorization in authorizations {
        let request_headers = headers(&[
            ("authorization", &authorization),
            ("cookie", &format!("session={SECRET}; ct0={SECRET}")),
            ("x-csrf-token", SECRET),
            ("referer", &format!("https://a.example/?oauth_token={SECRET}")),
            ("x-client-secret", SECRET),
        ]);
        let response_headers = headers(&[("set-cookie", &format!("session={SECRET}; Path=/"))]);
        Sample { request_headers, response_headers, ..Sample::default() }.record(&emulator);
    }
    assert_no_secret(&emulator);
    let stored = all_stored(&emulator.journal);
    assert!(stored.contains("session=***") && stored.contains("oauth_consumer_key"));
}

#[test]
fn ring_is_bounded_by_count_and_by_bytes() {
    let limits = JournalLimits { entries: 10, bytes: 40_000, stores_bodies: true };
    let emulator = Emulator { journal: Journal::new(limits, None), ..Emulator::default() };
    for number in 0..25 {
        Sample { id: format!("r{number}"), ..Sample::default() }.record(&emulator);
    }
    assert_eq!(emulator.journal.usage().entries, 10);
    assert_eq!(emulator.journal.usage().recorded, 25);
    assert!(emulator.journal.find("r14").is_none() && emulator.journal.find("r15").is_some());
    for number in 25..40 {
        let response_body = "x".repeat(10_000);
        Sample { id: format!("r{number}"), response_body, ..Sample::default() }.record(&emulator);
    }
    let usage = emulator.journal.usage();
    assert!(usage.bytes <= 40_000 && usage.entries == 3, "{usage:?}");
    let huge = "x".repeat(500_000);
    Sample { id: "huge".to_owned(), response_body: huge, ..Sample::default() }.record(&emulator);
    let entry = emulator.journal.find("huge").unwrap();
    assert_eq!(entry.response_body.text().unwrap().len(), MAX_BODY_BYTES);
    assert!(entry.response_body.is_truncated());
    assert_eq!(emulator.journal.clear(), emulator.journal.usage().entries.max(1));
    assert_eq!(emulator.journal.usage().bytes, 0);
}

#[test]
fn assertion_counts_requests_and_names_near_misses() {
    let emulator = Emulator::default();
    for (id, text, status) in [("a", "one", 201), ("b", "two", 201), ("c", "two", 429)] {
        let request_body = Box::leak(format!("{{\"text\":\"{text}\"}}").into_boxed_str());
        let response_body = "{\"data\":{\"id\":\"77\"}}".to_owned();
        Sample { id: id.to_owned(), request_body, response_body, status, ..Sample::default() }.record(&emulator);
    }
    let evaluate = |text: &str| parse_assertion(text).unwrap().evaluate(&emulator.journal);
    assert!(evaluate("POST /2/tweets status=201 count=2").passed);
    assert!(evaluate("POST /2/posts request.text=two count==2").passed);
    assert!(evaluate("app=\"harbour radio\" user=9 count=3").passed);
    assert!(evaluate("response.data.id=77 response.errors missing count>=3").passed);
    let failed = evaluate("POST /2/tweets status=201 request.text=two count>=2");
    assert!(!failed.passed);
    assert_eq!((failed.count, failed.request_ids.as_slice()), (1, &["b".to_owned()][..]));
    assert_eq!(failed.near_misses, ["c 429 POST /2/tweets", "a 201 POST /2/tweets"]);
    assert!(evaluate("request.text!=one count=2").passed);
    assert!(evaluate("response.meta.result_count!=0 count=0").passed, "what is missing does not differ");
    assert!(!evaluate("GET /2/users/me").passed);
    assert_eq!(evaluate("GET /2/users/me status=429").near_misses, ["c 429 POST /2/tweets"]);
}

#[test]
fn archive_has_all_fields_that_the_format_requires() {
    let emulator = Emulator::default();
    Sample { query: "a=1&b=two+words", request_body: "{\"text\":\"x\"}", ..Sample::default() }.record(&emulator);
    let entries = emulator.journal.list_before(&RequestFilter::default(), None, 10);
    let har = har_document(entries.iter().map(|entry| &**entry), "1.0");
    assert_eq!(har["log"]["version"], "1.2");
    let entry = &har["log"]["entries"][0];
    let required = [
        (
            &entry["request"],
            &["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"][..],
        ),
        (
            &entry["response"],
            &[
                "status",
                "statusText",
                "httpVersion",
                "cookies",
                "headers",
                "content",
                "redirectURL",
                "headersSize",
                "bodySize",
            ],
        ),
        (&entry["response"]["content"], &["size", "mimeType"]),
        (&entry["timings"], &["send", "wait", "receive"]),
        (entry, &["startedDateTime", "time", "request", "response", "cache", "timings"]),
        (&entry["request"]["postData"], &["mimeType", "text"]),
    ];
    for (object, names) in required {
        for name in names {
            assert!(object.get(name).is_some(), "{name}: {object}");
        }
    }
    assert_eq!(entry["request"]["queryString"][1], serde_json::json!({"name": "b", "value": "two words"}));
}

#[test]
fn journal_file_is_bounded_and_starts_anew_at_half_of_its_limit() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    let file = JournalFile::open(&path, 20_000).unwrap();
    let emulator = Emulator { journal: Journal::new(JournalLimits::default(), Some(file)), ..Emulator::default() };
    for number in 0..100 {
        Sample { id: format!("r{number}"), ..Sample::default() }.record(&emulator);
    }
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).map_or(0, |file| file.len());
    let (newer, older) = (size("journal.jsonl"), size("journal.jsonl.1"));
    assert!(newer > 0 && older > 0 && newer + older <= 20_000, "{newer} {older}");
    let text = std::fs::read_to_string(&path).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["id"], "r99");
}

/// Prints the figure of docs/testing/requests.md.
#[test]
fn recording_a_request_takes_microseconds() {
    let emulator = Emulator::default();
    let posts: Vec<String> =
        (0..10).map(|id| format!("{{\"id\":\"{id}\",\"text\":\"a post of usual length\"}}")).collect();
    let sample = Sample {
        request_headers: headers(&[
            ("host", "127.0.0.1:8080"),
            ("authorization", "Bearer abcdef"),
            ("user-agent", "tweepy/4.14"),
            ("accept", "*/*"),
            ("accept-encoding", "gzip, deflate"),
            ("connection", "keep-alive"),
        ]),
        response_body: format!("{{\"data\":[{}]}}", posts.join(",")),
        ..Sample::default()
    };
    let rounds = 2_000_u32;
    sample.record(&emulator);
    let started = base::clock::monotonic_now();
    for _ in 0..rounds {
        sample.record(&emulator);
    }
    let each = started.elapsed() / rounds;
    println!("{each:?} a request");
    let bound = if cfg!(debug_assertions) { Duration::from_millis(2) } else { Duration::from_micros(10) };
    assert!(each < bound, "{each:?}");
}
