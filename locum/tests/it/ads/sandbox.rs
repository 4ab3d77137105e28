//! The sandbox at its own port, by its host's name and below a path.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, shared_server};

/// The ways that lead into the sandbox, and the one that does not.
struct Doors<'s> {
    person: TestUser<'s>,
    port: String,
}

impl Doors<'_> {
    fn at_port(&self, request: TestRequest) -> TestResponse {
        let header = request.oauth1_header(&self.person.oauth1_credentials(), &self.port);
        self.person.server.send_to(&self.port, request.authorization(header))
    }

    fn by_host(&self, request: TestRequest) -> TestResponse {
        let (_, port) = self.person.server.url.rsplit_once(':').unwrap();
        let host = format!("ads-api-sandbox.localhost:{port}");
        let header = request.oauth1_header(&self.person.oauth1_credentials(), &format!("http://{host}"));
        let request = request.authorization(header).header("host", &host);
        self.person.server.send(request)
    }
}

fn ids(response: &TestResponse) -> Vec<String> {
    let page = response.assert_status(200);
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sandbox_is_served_on_its_own_port() {
    let server = TestServer::start(&["--ads-sandbox-port", "0"]);
    let user = server.new_user("advertiser");
    let create = ["ads", "account", "create", "Real", "--user", &user.username];
    let real = server.run_cli(&create).json();
    let real = real["id"].as_str().unwrap().to_owned();
    let doors = Doors { port: server.env_value("ADS_SANDBOX_URL").to_owned(), person: user };
    assert_ne!(doors.port, server.url);
    assert_eq!(server.send_to(&doors.port, TestRequest::get("/readyz")).status, 200);

    // Accounts are made in the sandbox alone, whichever way leads there.
    let here = doors.person.send_signed(TestRequest::post("/12/accounts"));
    assert_eq!(here.assert_status(405)["errors"][0]["code"], "METHOD_NOT_ALLOWED");
    let mut created = Vec::new();
    for response in [
        doors.at_port(TestRequest::post("/12/accounts")),
        doors.by_host(TestRequest::post("/11/accounts")),
        doors.person.send_signed(TestRequest::post("/ads-sandbox/12/accounts")),
    ] {
        created.extend(ids(&response));
    }
    let list = || TestRequest::get("/12/accounts?sort_by=created_at-asc");
    assert_eq!(ids(&doors.at_port(list())), created);
    assert_eq!(ids(&doors.by_host(list())), created);
    assert_eq!(ids(&doors.person.send_signed(list())), [real.as_str()]);
    let account = |id: &str, more: &str| format!("/12/accounts/{id}{more}");
    let elsewhere = doors.at_port(TestRequest::get(account(&real, "")));
    assert_eq!(elsewhere.assert_status(403)["errors"][0]["code"], "ACCOUNT_NOT_FOUND");
    let inside = doors.person.send_signed(TestRequest::get(account(&created[0], "")));
    assert_eq!(inside.assert_status(403)["errors"][0]["code"], "ACCOUNT_NOT_FOUND");

    // What is done there stays there.
    let instrument = "/funding_instruments?currency=EUR&type=CREDIT_LINE&start_time=2026-01-01";
    let instrument = doors.at_port(TestRequest::post(account(&created[0], instrument))).assert_status(200);
    let instrument = instrument["data"]["id"].as_str().unwrap();
    let campaign = format!(
        "/campaigns?funding_instrument_id={instrument}&name=Trial\
         &daily_budget_amount_local_micro=1000000"
    );
    let campaign = doors.at_port(TestRequest::post(account(&created[0], &campaign))).assert_status(200);
    assert_eq!(campaign["data"]["currency"], "EUR");
    let path = account(&created[0], "/campaigns");
    assert_eq!(ids(&doors.by_host(TestRequest::get(&path))).len(), 1);
    assert_eq!(doors.person.send_signed(TestRequest::get(&path)).status, 403);
}

#[test]
fn ads_api_serves_its_openapi_document() {
    let document = shared_server().send(TestRequest::get("/12/openapi.json")).assert_status(200);
    for path in ["/11/openapi.json", "/ads-sandbox/12/openapi.json"] {
        assert_eq!(shared_server().send(TestRequest::get(path)).assert_status(200), document, "{path}");
    }
    let paths = document["paths"].as_object().unwrap();
    assert!(
        paths
            .keys()
            .all(|path| ["/12/", "/5/", "/ads-serve/1/", "/ads-files/"].iter().any(|start| path.starts_with(start))),
        "{paths:?}"
    );
    let described: usize = paths.values().map(|item| item.as_object().unwrap().len()).sum();
    assert!(described >= ads_delivery::operations().len(), "{described}");
    let create = &paths["/12/accounts/{account_id}/campaigns"]["post"];
    assert_eq!(create["operationId"], "createAdsCampaign");
    let named = |name: &str| -> Value {
        let params = create["parameters"].as_array().unwrap().iter();
        let found = params.into_iter().find(|param| param["name"] == name);
        found.cloned().unwrap_or_default()
    };
    assert_eq!(named("name")["required"], true);
    assert_eq!(named("name")["schema"]["maxLength"], 255);
    let response = &create["responses"]["200"]["content"]["application/json"]["schema"];
    let campaign = json!({ "$ref": "#/components/schemas/AdsCampaign" });
    assert_eq!(response["properties"]["data"], campaign);
    let fields = &document["components"]["schemas"]["AdsCampaign"]["properties"];
    assert_eq!(fields["purchase_order_number"]["type"], json!(["string", "null"]));
    let batch = &paths["/12/batch/accounts/{account_id}/campaigns"]["post"]["requestBody"];
    assert_eq!(batch["content"]["application/json"]["schema"]["maxItems"], 40);
    // Nothing of it is left out of the document of everything.
    let whole = shared_server().send(TestRequest::get("/2/openapi.json")).assert_status(200);
    for (path, item) in paths {
        assert_eq!(&whole["paths"][path], item, "{path}");
    }
}
