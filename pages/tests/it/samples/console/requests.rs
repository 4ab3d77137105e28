use crate::samples::{HOSTILE, development_frame, hostile_frame, minutes_ago, sample_time, signed_in_frame};
use pages::console::{
    CausedDeliveryLine, CausedEventLine, ComparedPart, ConsoleHomePage, ConsoleRequestDiffPage, ConsoleRequestPage,
    ConsoleRequestsPage, RecordedMessage, RecordedRequestLine, RequestFilterForm, WebhookAttemptLine, WorldEventLine,
};
use pages::{FormField, PageFrame, Pager};

fn frame() -> PageFrame {
    development_frame(signed_in_frame())
}

fn request_line(status: u16, method: &str, target: &str) -> RecordedRequestLine {
    RecordedRequestLine {
        id: format!("5f0e6c1d2a3b4c{status}"),
        path: format!("/console/requests/5f0e6c1d2a3b4c{status}"),
        received_at: minutes_ago(3),
        method: method.to_owned(),
        target: target.to_owned(),
        status,
        duration: "4.2 ms".to_owned(),
        operation: "createPosts".to_owned(),
        app: "Harbour Radio".to_owned(),
        username: "ada".to_owned(),
        label: "nightly-7".to_owned(),
        injected_fault: (status == 503).then(|| "storm".to_owned()),
    }
}

fn sample_lines() -> Vec<RecordedRequestLine> {
    let anonymous = RecordedRequestLine {
        app: String::new(),
        username: String::new(),
        label: String::new(),
        operation: String::new(),
        ..request_line(404, "GET", "/2/nothing?max_results=100&tweet.fields=created_at,public_metrics")
    };
    vec![request_line(201, "POST", "/2/tweets"), request_line(503, "GET", "/2/users/me"), anonymous]
}

fn hostile_line() -> RecordedRequestLine {
    RecordedRequestLine {
        method: HOSTILE.to_owned(),
        operation: HOSTILE.to_owned(),
        app: HOSTILE.to_owned(),
        username: HOSTILE.to_owned(),
        label: HOSTILE.to_owned(),
        injected_fault: Some(HOSTILE.to_owned()),
        ..request_line(500, "GET", HOSTILE)
    }
}

fn empty_home() -> ConsoleHomePage {
    ConsoleHomePage {
        frame: frame(),
        requests: Vec::new(),
        attempts: Vec::new(),
        events: Vec::new(),
        open_streams: 0,
        world_time: sample_time(),
        clock_mode: "live",
        fault_rules: 0,
        faulty_requests: 0,
        cost_today: "0.00".to_owned(),
        base_url: "http://127.0.0.1:8080".to_owned(),
    }
}

pub(crate) fn home_states() -> Vec<(&'static str, ConsoleHomePage)> {
    let attempt = |status, problem: &str| WebhookAttemptLine {
        at: minutes_ago(2),
        url: "https://bot.example/events".to_owned(),
        status,
        problem: problem.to_owned(),
        duration_ms: 38,
    };
    let event = WorldEventLine {
        at: minutes_ago(2),
        kind: "post.create".to_owned(),
        actor_id: 1_789_440_129_884_192_768,
        subject_id: 1_789_440_129_884_192_999,
    };
    let filled = ConsoleHomePage {
        requests: sample_lines(),
        attempts: vec![attempt(200, ""), attempt(500, ""), attempt(0, "connection refused")],
        events: vec![event],
        open_streams: 2,
        clock_mode: "frozen",
        fault_rules: 2,
        faulty_requests: 1,
        cost_today: "1.245".to_owned(),
        ..empty_home()
    };
    let hostile = ConsoleHomePage {
        frame: hostile_frame(),
        requests: vec![hostile_line()],
        base_url: HOSTILE.to_owned(),
        ..empty_home()
    };
    vec![("empty", empty_home()), ("filled", filled), ("hostile", hostile)]
}

fn requests_page() -> ConsoleRequestsPage {
    ConsoleRequestsPage {
        frame: frame(),
        filter: RequestFilterForm::default(),
        requests: Vec::new(),
        pager: Pager::default(),
        archive_path: "/console/requests.har".to_owned(),
        stored: 0,
        is_enabled: true,
        base_url: "http://127.0.0.1:8080".to_owned(),
    }
}

pub(crate) fn requests_states() -> Vec<(&'static str, ConsoleRequestsPage)> {
    let next = Some("/console/requests?before=17".to_owned());
    let filled = ConsoleRequestsPage {
        requests: sample_lines(),
        pager: Pager { previous: None, next },
        stored: 312,
        ..requests_page()
    };
    let wrong = RequestFilterForm {
        route: FormField::new("GET /2/users/me"),
        status: FormField::invalid("9xx", "A status such as 404, a class such as 4xx, or `failed` is accepted."),
        user: FormField::invalid("@nobody", "No user has this name."),
        is_open: true,
        ..RequestFilterForm::default()
    };
    let hostile_filter = RequestFilterForm {
        route: FormField::invalid(HOSTILE, HOSTILE),
        is_open: true,
        ..RequestFilterForm::default()
    };
    vec![
        ("empty", requests_page()),
        ("filled", filled),
        ("invalid_filter", ConsoleRequestsPage { filter: wrong, stored: 312, ..requests_page() }),
        ("off", ConsoleRequestsPage { is_enabled: false, ..requests_page() }),
        (
            "hostile",
            ConsoleRequestsPage {
                frame: hostile_frame(),
                filter: hostile_filter,
                requests: vec![hostile_line()],
                ..requests_page()
            },
        ),
    ]
}

fn message(body: Option<&str>, note: Option<&str>) -> RecordedMessage {
    let headers = [("content-type", "application/json; charset=utf-8"), ("authorization", "Bearer ***")];
    RecordedMessage {
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: body.map(str::to_owned),
        note: note.map(str::to_owned),
    }
}

fn request_page() -> ConsoleRequestPage {
    ConsoleRequestPage {
        frame: frame(),
        line: request_line(201, "POST", "/2/tweets"),
        url: "http://127.0.0.1:8080/2/tweets".to_owned(),
        credential: "OAuth 2.0 user token",
        client: "127.0.0.1".to_owned(),
        cost: "0.015".to_owned(),
        world_time: sample_time(),
        parameters: Vec::new(),
        request: message(Some("{\n  \"text\": \"Good morning\"\n}"), None),
        response: message(Some("{\n  \"data\": {\n    \"id\": \"1789440129884192999\"\n  }\n}"), None),
        curl: "curl \\\n  -X POST \\\n  'http://127.0.0.1:8080/2/tweets' \\\n  -H \"authorization: Bearer $LOCUM_USER_TOKEN\"".to_owned(),
        explanation_path: None,
        explainer_path: "/developer/explain",
        events: Vec::new(),
        deliveries: Vec::new(),
        compare_path: None,
    }
}

pub(crate) fn request_states() -> Vec<(&'static str, ConsoleRequestPage)> {
    let event = CausedEventLine { kind: "post.create".to_owned(), actor_id: 12, subject_id: 34, at: minutes_ago(3) };
    let delivery = CausedDeliveryLine {
        url: "https://bot.example/events".to_owned(),
        event_id: "4211".to_owned(),
        state: "delivered",
        attempts: vec!["Status 200 after 38 ms".to_owned()],
    };
    let effective = ConsoleRequestPage {
        parameters: vec![("tweet.fields".to_owned(), "created_at".to_owned())],
        events: vec![event],
        deliveries: vec![delivery],
        compare_path: Some("/console/requests/diff?a=1&b=2".to_owned()),
        ..request_page()
    };
    let refused = ConsoleRequestPage {
        line: request_line(401, "GET", "/2/users/me"),
        credential: "OAuth 1.0a",
        explanation_path: Some("/developer/explain/5f0e6c1d2a3b4c401".to_owned()),
        request: message(None, Some("128 bytes, not stored: media")),
        ..request_page()
    };
    let hostile = ConsoleRequestPage {
        frame: hostile_frame(),
        line: hostile_line(),
        url: HOSTILE.to_owned(),
        client: HOSTILE.to_owned(),
        parameters: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        request: message(Some(HOSTILE), Some(HOSTILE)),
        curl: HOSTILE.to_owned(),
        ..request_page()
    };
    vec![("plain", request_page()), ("effects", effective), ("refused", refused), ("hostile", hostile)]
}

pub(crate) fn request_diff_states() -> Vec<(&'static str, ConsoleRequestDiffPage)> {
    let empty = || ConsoleRequestDiffPage {
        frame: frame(),
        a: FormField::default(),
        b: FormField::default(),
        lines: None,
        compared: Vec::new(),
    };
    let part =
        |title, first: &str, second: &str| ComparedPart { title, first: first.to_owned(), second: second.to_owned() };
    let compared = ConsoleRequestDiffPage {
        a: FormField::new("5f0e6c1d2a3b4c201"),
        b: FormField::new("5f0e6c1d2a3b4c503"),
        lines: Some((request_line(201, "POST", "/2/tweets"), request_line(503, "POST", "/2/tweets"))),
        compared: vec![part("Request body", "{}", "{}"), part("Response body", "{\"data\":1}", "{\"title\":1}")],
        ..empty()
    };
    let unknown =
        ConsoleRequestDiffPage { a: FormField::invalid("x1", "The journal has no request with this ID."), ..empty() };
    let hostile = ConsoleRequestDiffPage {
        frame: hostile_frame(),
        a: FormField::invalid(HOSTILE, HOSTILE),
        lines: Some((hostile_line(), hostile_line())),
        compared: vec![part("Response body", HOSTILE, "x")],
        ..empty()
    };
    vec![("empty", empty()), ("compared", compared), ("unknown", unknown), ("hostile", hostile)]
}
