use crate::samples::{HOSTILE, development_frame, hostile_frame, signed_in_frame, signed_out_frame};
use pages::console::{
    ExplorerField, ExplorerFieldSet, ExplorerGroup, ExplorerInput, ExplorerOperation, ExplorerOperationPage,
    ExplorerPage, ExplorerResponse, SelectOption, word_options,
};
use pages::{FormField, PageFrame};

fn operation(is_built: bool) -> ExplorerOperation {
    ExplorerOperation {
        id: "findUserById",
        method: "GET",
        path: "/2/users/{id}".to_owned(),
        summary: "A user, by id.",
        link: "/console/explorer/findUserById".to_owned(),
        is_built,
        credentials: "OAuth 1.0a User Context, OAuth 2.0 Application-Only".to_owned(),
    }
}

pub(crate) fn explorer_states() -> Vec<(&'static str, ExplorerPage)> {
    let page = |frame, query, groups: Vec<ExplorerGroup>| ExplorerPage {
        frame: development_frame(frame),
        path: "/console/explorer",
        query: FormField::new(query),
        group_options: vec![SelectOption::new("", "All"), SelectOption::new("users", "users")],
        found: groups.len(),
        groups,
        index: Vec::new(),
        built: 311,
        total: 314,
    };
    let group =
        |name: &str| ExplorerGroup { name: name.to_owned(), operations: vec![operation(true), operation(false)] };
    let index = ExplorerPage {
        index: vec![("/console/explorer?group=users".to_owned(), "users".to_owned(), 24)],
        ..page(signed_out_frame(), "", Vec::new())
    };
    vec![
        ("index", index),
        ("found", page(signed_in_frame(), "users", vec![group("users")])),
        ("nothing", page(signed_out_frame(), "zebra", Vec::new())),
        ("hostile", page(hostile_frame(), HOSTILE, vec![group(HOSTILE)])),
    ]
}

fn field(name: &str, input: ExplorerInput, field: FormField) -> ExplorerField {
    ExplorerField {
        name: name.to_owned(),
        label: name.split('.').next_back().unwrap_or_default().to_owned(),
        kind: "text, 1 to 64 characters".to_owned(),
        help: "What to show.".to_owned(),
        items: vec!["created_at".to_owned(), "username".to_owned()],
        is_required: name.starts_with("path"),
        input,
        field,
    }
}

fn operation_page(frame: PageFrame, text: &str) -> ExplorerOperationPage {
    let select = ExplorerInput::Select(word_options(&["", "recency"], ""));
    let field_sets = vec![
        ExplorerFieldSet { title: "Path", fields: vec![field("path.id", ExplorerInput::Text, FormField::new(text))] },
        ExplorerFieldSet {
            title: "Query",
            fields: vec![
                field("query.sort_order", select, FormField::default()),
                field("query.text", ExplorerInput::Area, FormField::invalid(text, "Too long.")),
            ],
        },
    ];
    ExplorerOperationPage {
        frame: development_frame(frame),
        explorer: "/console/explorer",
        operation: operation(true),
        vocabularies: vec![
            ("posts".to_owned(), "/console/explorer/findUserById".to_owned(), true),
            ("tweets".to_owned(), "/console/explorer/findUserById?vocabulary=tweets".to_owned(), false),
        ],
        vocabulary: "posts",
        apps: vec![SelectOption::new("1", if text.is_empty() { "demo" } else { text })],
        credential_options: word_options(&["none", "app"], "app"),
        user: FormField::new("ada"),
        sandbox: Some(true),
        field_sets,
        json: Some(FormField::new(text)),
        obstacle: "",
        response: None,
    }
}

fn response(status: u16, text: &str) -> ExplorerResponse {
    ExplorerResponse {
        status,
        took_ms: 3,
        request_line: format!("GET /2/users/12 {text}"),
        request_headers: vec![("authorization".to_owned(), format!("Bearer …{text}"))],
        request_body: text.to_owned(),
        headers: vec![("x-rate-limit-remaining".to_owned(), format!("74{text}"))],
        body: format!("{{\n  \"data\": {{\"text\": \"{text}\"}}\n}}"),
        note: "The rest is not shown.".to_owned(),
        curl: format!("curl \"$LOCUM_BASE_URL/2/users/12\" {text}"),
    }
}

pub(crate) fn operation_states() -> Vec<(&'static str, ExplorerOperationPage)> {
    let with_response = |page: ExplorerOperationPage, status, text| ExplorerOperationPage {
        response: Some(response(status, text)),
        ..page
    };
    let stream = ExplorerOperationPage {
        obstacle: "The response of a stream does not end, so it is not shown here.",
        operation: operation(false),
        vocabularies: Vec::new(),
        json: None,
        ..operation_page(signed_out_frame(), "")
    };
    vec![
        ("blank", operation_page(signed_out_frame(), "")),
        ("stream", stream),
        ("answered", with_response(operation_page(signed_in_frame(), ""), 200, "")),
        ("hostile", with_response(operation_page(hostile_frame(), HOSTILE), 400, HOSTILE)),
    ]
}
