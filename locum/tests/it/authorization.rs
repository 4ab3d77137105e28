//! Every operation under every kind of credential, from the binary's own description of itself.

use serde_json::Value;

use crate::harness::{OAuth1Credentials, TestApp, TestRequest, TestResponse, TestServer, TestUser, shared_server};

/// An operation as the OpenAPI document has it.
#[derive(Debug)]
struct Operation {
    id: String,
    method: &'static str,
    path: String,
    oauth1: bool,
    app: bool,
    /// The scopes that a user's token needs; none where no such token is taken.
    scopes: Option<Vec<String>>,
    built: bool,
    accent: Accent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accent {
    V2,
    Legacy,
    Ads,
}

/// Operations that read their credentials themselves; their own tests have them.
fn is_open(facts: &Value) -> bool {
    facts["security"].as_array().unwrap().iter().any(|kind| kind == &serde_json::json!({}))
}

/// Every operation that is declared: the document of the binary has those that are built.
fn operations() -> Vec<Operation> {
    let all = web::openapi::document(&api::ENDPOINTS, true);
    let mut found = Vec::new();
    for (path, item) in all["paths"].as_object().unwrap() {
        for (method, facts) in item.as_object().unwrap() {
            if !is_open(facts) {
                found.push(operation(path, method, facts));
            }
        }
    }
    found
}

fn operation(path: &str, method: &str, facts: &Value) -> Operation {
    let kinds = facts["security"].as_array().unwrap();
    let has = |name: &str| kinds.iter().any(|kind| kind.get(name).is_some());
    let scopes = kinds.iter().find_map(|kind| kind["OAuth2UserToken"].as_array());
    let text = |scope: &Value| scope.as_str().unwrap().to_owned();
    Operation {
        id: facts["operationId"].as_str().unwrap().to_owned(),
        method: match method {
            "get" => "GET",
            "post" => "POST",
            "put" => "PUT",
            "delete" => "DELETE",
            other => panic!("{other}"),
        },
        path: path.to_owned(),
        oauth1: has("UserToken"),
        app: has("BearerToken"),
        scopes: scopes.map(|scopes| scopes.iter().map(text).collect()),
        built: facts.get("x-status").is_none(),
        accent: match path.split('/').nth(1) {
            Some("1.1" | "oauth" | "oauth2") => Accent::Legacy,
            Some("5" | "11" | "12" | "ads-serve" | "ads-files") => Accent::Ads,
            _ => Accent::V2,
        },
    }
}

impl Operation {
    /// A request of a person, which need not be a good one.
    fn ask(&self, user: &TestUser<'_>) -> TestRequest {
        let mut path = self.path.clone();
        for own in ["/2/users/{id}", "/2/users/{source_user_id}"] {
            path = path.replace(own, &format!("/2/users/{}", user.id));
        }
        while let Some((head, rest)) = path.split_once('{') {
            let (name, tail) = rest.split_once('}').unwrap();
            let value = if name.contains("username") { "nobody" } else { "20" };
            path = format!("{head}{value}{tail}");
        }
        TestRequest::new(self.method, path)
    }

    /// What comes once the credential was enough.
    fn served(&self, response: &TestResponse) -> Result<(), String> {
        if !self.built {
            return expect(response, 501);
        }
        match response.status {
            200 | 201 | 400 | 404 => Ok(()),
            // What exists in the sandbox only.
            405 if matches!(self.accent, Accent::Ads) => Ok(()),
            // Refused by a rule of the platform, not for the credential.
            403 if !is_about_credentials(response) => Ok(()),
            _ => Err(shown(response)),
        }
    }
}

fn is_about_credentials(response: &TestResponse) -> bool {
    let body = response.json();
    let kind = body["type"].as_str().unwrap_or_default();
    ["unsupported-authentication", "oauth1-permissions"].iter().any(|name| kind.ends_with(name))
        || body["detail"] == "Forbidden"
}

fn shown(response: &TestResponse) -> String {
    format!("{} {}", response.status, response.text().chars().take(160).collect::<String>())
}

fn expect(response: &TestResponse, status: u16) -> Result<(), String> {
    if response.status == status { Ok(()) } else { Err(format!("not {status}: {}", shown(response))) }
}

/// It has this status and code; ads have codes of their own.
fn coded(operation: &Operation, response: &TestResponse, status: u16, code: u64) -> Result<(), String> {
    expect(response, status)?;
    let found = &response.json()["errors"][0]["code"];
    match operation.accent {
        Accent::Ads => Ok(()),
        _ if *found == code => Ok(()),
        _ => Err(format!("no code {code}: {}", shown(response))),
    }
}

/// A credential of a kind that the operation does not take.
fn wrong_kind(operation: &Operation, response: &TestResponse) -> Result<(), String> {
    expect(response, 403)?;
    let body = response.json();
    let message = match operation.accent {
        Accent::V2 => body["type"].as_str().unwrap_or_default().ends_with("/unsupported-authentication"),
        Accent::Legacy => body["errors"][0]["code"] == 220,
        Accent::Ads => true,
    };
    if message { Ok(()) } else { Err(shown(response)) }
}

/// Everyone who calls.
struct Cast<'s> {
    person: TestUser<'s>,
    app: TestApp,
    expired: String,
    revoked: String,
    suspended: TestUser<'s>,
    orphan: TestUser<'s>,
    /// A token with a scope that no operation asks for by itself.
    bare: String,
    /// An OAuth 1.0a token that may only read, and its secret.
    reading: (String, String),
}

impl<'s> Cast<'s> {
    fn of(server: &'s TestServer) -> Self {
        let user = server.new_user("matrix");
        let (expired, revoked) = (user.new_token(&[]), user.new_token(&[]));
        server.run_cli(&["token", "expire", &expired]).assert_success();
        server.run_cli(&["token", "revoke", &revoked]).assert_success();
        let suspended = server.new_user("suspended");
        suspended.oauth1_token();
        server.run_cli(&["user", "suspend", &suspended.id]).assert_success();
        let app = server.new_app("enterprise");
        let orphan = TestUser::app_owner(server, &app);
        orphan.oauth1_token();
        server.run_cli(&["app", "delete", &app.id]).assert_success();
        let bare = user.new_token(&["--scopes", "offline.access"]);
        let reading = user.mint_token(&["--oauth1", "--permission", "read"]);
        let text = |name: &str| reading[name].as_str().unwrap().to_owned();
        let reading = (text("access_token"), text("access_token_secret"));
        Self { app: server.default_app().clone(), bare, reading, person: user, expired, revoked, suspended, orphan }
    }

    /// Every case of one operation that did not go as it should; counts all cases.
    fn judge(&self, operation: &Operation, cases: &mut usize) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut note = |case: &str, outcome: Result<(), String>| {
            *cases += 1;
            if let Err(why) = outcome {
                wrong.push(format!("{} {} [{case}] {why}", operation.method, operation.path));
            }
        };
        let request = || operation.ask(&self.person);
        let server = self.person.server;
        note("none", nobody(operation, &server.send(request())));
        for (case, token) in [("garbage", "garbage"), ("expired", &self.expired), ("revoked", &self.revoked)] {
            note(case, coded(operation, &server.send(request().bearer(token)), 401, 89));
        }
        note("app", self.as_app(operation));
        note("oauth1", self.as_oauth1(operation));
        note("oauth2", self.as_oauth2(operation, &self.person.token));
        for (case, outcome) in self.of_little(operation) {
            note(case, outcome);
        }
        if operation.oauth1 || operation.scopes.is_some() {
            note("suspended", coded(operation, &server.send(request().bearer(&self.suspended.token)), 403, 64));
        }
        note("no app", coded(operation, &server.send(request().bearer(&self.orphan.token)), 401, 89));
        note("no app, its bearer", coded(operation, &server.send(request().bearer(&self.orphan.app.bearer)), 401, 89));
        note("no app, signed", expect(&self.orphan.send_signed(request()), 401));
        note("bad signature", coded(operation, &self.badly_signed(operation), 401, 32));
        wrong
    }

    fn as_app(&self, operation: &Operation) -> Result<(), String> {
        let response = self.person.server.send(operation.ask(&self.person).bearer(&self.app.bearer));
        if operation.app { operation.served(&response) } else { wrong_kind(operation, &response) }
    }

    fn as_oauth1(&self, operation: &Operation) -> Result<(), String> {
        let response = self.person.send_signed(operation.ask(&self.person));
        if operation.oauth1 { operation.served(&response) } else { wrong_kind(operation, &response) }
    }

    fn as_oauth2(&self, operation: &Operation, token: &str) -> Result<(), String> {
        let response = self.person.server.send(operation.ask(&self.person).bearer(token));
        match operation.scopes {
            Some(_) => operation.served(&response),
            None => wrong_kind(operation, &response),
        }
    }

    /// Those whose credential holds, and is not enough or not where it belongs.
    fn of_little(&self, operation: &Operation) -> [(&'static str, Result<(), String>); 3] {
        [
            ("no scope", self.without_scope(operation)),
            ("read only", self.as_reader(operation)),
            ("in the query", self.in_query(operation)),
        ]
    }

    fn without_scope(&self, operation: &Operation) -> Result<(), String> {
        let Some(scopes) = operation.scopes.as_ref().filter(|some| !some.is_empty()) else {
            return Ok(());
        };
        assert!(!scopes.iter().any(|scope| scope == "offline.access"));
        let request = operation.ask(&self.person).bearer(&self.bare);
        let response = self.person.server.send(request);
        expect(&response, 403)?;
        let says = response.json()["detail"] == "Forbidden";
        if says || operation.accent != Accent::V2 { Ok(()) } else { Err(shown(&response)) }
    }

    /// A token that may read writes nothing.
    fn as_reader(&self, operation: &Operation) -> Result<(), String> {
        let writes = operation.method != "GET" && operation.accent != Accent::Legacy;
        if !writes || !operation.oauth1 {
            return Ok(());
        }
        let request = operation.ask(&self.person);
        let key = OAuth1Credentials { token: (&self.reading.0, &self.reading.1), ..self.person.oauth1_credentials() };
        let header = request.oauth1_header(&key, &self.person.server.url);
        let response = self.person.server.send(request.authorization(header));
        expect(&response, 403)?;
        let kind = response.json()["type"].as_str().unwrap_or_default().to_owned();
        if kind.ends_with("/oauth1-permissions") || operation.accent != Accent::V2 {
            Ok(())
        } else {
            Err(shown(&response))
        }
    }

    /// A token in the address is none, whatever it is called there.
    fn in_query(&self, operation: &Operation) -> Result<(), String> {
        let mut request = operation.ask(&self.person);
        let token = &self.person.token;
        let mark = if request.target.contains('?') { '&' } else { '?' };
        request.target = format!("{}{mark}access_token={token}&bearer_token={token}", request.target);
        nobody(operation, &self.person.server.send(request))
    }

    fn badly_signed(&self, operation: &Operation) -> TestResponse {
        let request = operation.ask(&self.person);
        let mut key = self.person.oauth1_credentials();
        key.token.1 = "wrong";
        let header = request.oauth1_header(&key, &self.person.server.url);
        self.person.server.send(request.authorization(header))
    }
}

fn nobody(operation: &Operation, response: &TestResponse) -> Result<(), String> {
    match operation.accent {
        Accent::Legacy => coded(operation, response, 400, 215),
        _ => expect(response, 401),
    }
}

/// It ends the token that it is called with.
fn is_fatal(operation: &Operation) -> bool {
    // An open stream would keep the test waiting; `streams` asks who may open one.
    let path = &operation.path;
    let endless =
        path == "/2/powerstream" || path.contains("/stream") && !path.contains("/rules") && !path.contains("/webhooks");
    operation.id == "invalidateAccessToken" || operation.method == "GET" && endless
}

#[test]
fn openapi_document_lists_every_built_operation() {
    let document = shared_server().run_cli(&["openapi"]).json();
    let routes = shared_server().run_cli(&["routes"]).json();
    let routes = routes.as_array().unwrap();
    let pages = [portal::ENDPOINTS, members::ENDPOINTS, moderation::ENDPOINTS].concat();
    let declared = api::ENDPOINTS.iter().chain(&pages).map(|some| some.len());
    assert_eq!(routes.len(), declared.sum::<usize>());
    // Pages are for people.
    let pages: Vec<_> = pages.into_iter().flatten().map(|endpoint| endpoint.id).collect();
    for route in routes {
        if pages.contains(&route["operation"].as_str().unwrap()) {
            continue;
        }
        let method = route["method"].as_str().unwrap().to_lowercase();
        let described = document["paths"][route["path"].as_str().unwrap()].get(&method).is_some();
        assert_eq!(described, route["status"] == "built", "{route}");
    }
}

#[test]
fn every_operation_accepts_only_its_declared_credentials() {
    let server = shared_server();
    let cast = Cast::of(server);
    let all = operations();
    assert!(all.iter().filter(|operation| operation.built).count() >= 14, "{}", all.len());
    let tried: Vec<&Operation> = all.iter().filter(|operation| !is_fatal(operation)).collect();
    let mut cases = 0;
    let wrong: Vec<String> = tried.iter().flat_map(|operation| cast.judge(operation, &mut cases)).collect();
    let figure = serde_json::json!({ "operations": tried.len(), "cases": cases, "wrong": wrong.len() });
    println!("figure: {figure}");
    let report = wrong.iter().take(60).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} cases of {} operations:\n{report}", wrong.len(), all.len());
}

#[test]
fn operation_needs_each_of_its_scopes() {
    let server = shared_server();
    let user = server.new_user("scoped");
    let all = user.mint_token(&[]);
    let all: Vec<&str> = all["scopes"].as_str().unwrap().split(' ').collect();
    let mut wrong = Vec::new();
    let operations = operations();
    for operation in operations.iter().filter(|operation| operation.built && !is_fatal(operation)) {
        let Some(scopes) = &operation.scopes else {
            continue;
        };
        for missing in scopes {
            let others: Vec<&str> = all.iter().copied().filter(|scope| scope != missing).collect();
            let token = token_of(&user, &others.join(","));
            let response = server.send(operation.ask(&user).bearer(&token));
            let body = response.json();
            let is_told = match operation.accent {
                Accent::Ads => body["errors"][0]["code"] == "UNAUTHORIZED_CLIENT_APPLICATION",
                Accent::Legacy => body["errors"][0]["code"] == 220,
                Accent::V2 => body["type"] == "about:blank" && body["detail"] == "Forbidden",
            };
            if response.status != 403 || !is_told {
                wrong.push(format!("{} without {missing}: {}", operation.id, shown(&response)));
            }
        }
        let token = token_of(&user, &scopes.join(","));
        let response = server.send(operation.ask(&user).bearer(&token));
        if let Err(why) = operation.served(&response) {
            wrong.push(format!("{} with just its scopes: {why}", operation.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tokens are dear to make: one for each set of scopes.
fn token_of(user: &TestUser<'_>, scopes: &str) -> String {
    use std::collections::HashMap;
    use std::sync::Mutex;
    static MADE: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);
    let mut created = MADE.lock().unwrap();
    let created = created.get_or_insert_with(HashMap::new);
    let token = created.entry(scopes.to_owned()).or_insert_with(|| user.new_token(&["--scopes", scopes]));
    token.clone()
}

#[test]
fn every_declared_operation_is_implemented() {
    let planned: Vec<String> =
        operations().iter().filter(|operation| !operation.built).map(|operation| operation.path.clone()).collect();
    assert!(planned.is_empty(), "{planned:?}");
}

#[test]
fn restored_user_keeps_their_tokens() {
    let server = shared_server();
    let user = server.new_user("returning");
    let signed = || user.send_signed(TestRequest::get("/2/users/me"));
    signed().assert_status(200);
    server.run_cli(&["user", "suspend", &user.id]).assert_success();
    signed().assert_legacy_code(403, 64);
    user.get("/2/users/me").assert_legacy_code(403, 64);
    server.run_cli(&["user", "restore", &user.id]).assert_success();
    signed().assert_status(200);
    user.get("/2/users/me").assert_status(200);
}

#[test]
fn deleted_user_invalidates_their_tokens() {
    let server = shared_server();
    let user = server.new_user("leaving");
    user.send_signed(TestRequest::get("/2/users/me")).assert_status(200);
    server.run_cli(&["user", "delete", &user.id]).assert_success();
    user.get("/2/users/me").assert_legacy_code(401, 89);
    user.send_signed(TestRequest::get("/2/users/me")).assert_legacy_code(401, 89);
}

#[test]
fn expired_token_is_refused_at_once() {
    let server = shared_server();
    let user = server.new_user("expiring");
    let short = user.new_token(&["--ttl", "1s"]);
    server.send(TestRequest::get("/2/users/me").bearer(&short)).assert_status(200);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    server.send(TestRequest::get("/2/users/me").bearer(&short)).assert_legacy_code(401, 89);
}

#[test]
fn consumer_signature_without_token_is_no_user() {
    let server = shared_server();
    let app = server.default_app();
    let key = OAuth1Credentials { consumer: app.consumer_credentials(), ..OAuth1Credentials::default() };
    let request = TestRequest::get("/2/users/me");
    let header = request.oauth1_header(&key, &server.url);
    server.send(request.authorization(header)).assert_legacy_code(401, 32);
}
