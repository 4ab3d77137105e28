//! `/mcp`: the Ads API as tools for agents.

use serde_json::{Value, json};

use super::Advertiser;
use crate::harness::{TestRequest, TestResponse, shared_server};

const BOTH: &str = "ads.read ads.write tweet.read users.read";

/// An agent of the advertiser, with its access token.
struct Agent<'a> {
    ads: &'a Advertiser,
    token: String,
}

impl<'a> Agent<'a> {
    fn new(ads: &'a Advertiser, scopes: &str) -> Self {
        Self { ads, token: ads.person.new_token(&["--scopes", scopes]) }
    }

    fn post(&self, body: &Value, headers: &[(&'static str, &str)]) -> TestResponse {
        let request = TestRequest::post("/mcp").json(body).bearer(&self.token);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        shared_server().send(request)
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&body, &[]).assert_status(200)
    }

    /// Calls a tool on the advertiser's account: its result and whether that is an error.
    fn call(&self, tool: &str, arguments: &Value) -> (Value, bool) {
        let mut arguments = arguments.clone();
        arguments["account_id"] = self.ads.account.as_str().into();
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        (text, result["isError"].as_bool().unwrap())
    }

    #[track_caller]
    fn succeed(&self, tool: &str, arguments: &Value) -> Value {
        let (body, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{body}");
        body["data"].clone()
    }
}

#[test]
fn agent_creates_a_campaign_that_spends_nothing_until_it_is_activated() {
    let ads = Advertiser::new();
    let agent = Agent::new(&ads, BOTH);
    let campaign = json!({
        "funding_instrument_id": ads.instrument,
        "name": "By an agent",
        "daily_budget_amount_local_micro": 20_000_000,
        "entity_status": "ACTIVE",
    });
    let campaign = agent.succeed("create_campaign", &campaign);
    assert_eq!(campaign["entity_status"], "PAUSED");
    let line_item = json!({
        "campaign_id": campaign["id"],
        "objective": "ENGAGEMENTS",
        "product_type": "PROMOTED_TWEETS",
        "placements": ["ALL_ON_TWITTER"],
        "bid_amount_local_micro": 150_000,
        "start_time": "2026-01-01T00:00:00Z",
    });
    let line_item = agent.succeed("create_line_item", &line_item);
    assert_eq!(line_item["entity_status"], "PAUSED");
    let criterion =
        json!({ "line_item_id": line_item["id"], "targeting_type": "BROAD_KEYWORD", "targeting_value": "tea" });
    let criterion = agent.succeed("add_targeting_criterion", &criterion);
    let post = ads.person.publish_text("Tea for everyone");
    agent.succeed("promote_post", &json!({ "line_item_id": line_item["id"], "post_ids": [post] }));
    agent.succeed("activate_line_item", &json!({ "line_item_id": line_item["id"] }));
    let active = agent.succeed("activate_campaign", &json!({ "campaign_id": campaign["id"] }));
    assert_eq!(active["entity_status"], "ACTIVE");
    let removed = agent.succeed("remove_targeting", &json!({ "targeting_criterion_id": criterion["id"] }));
    assert_eq!(removed["deleted"], true);
    let found = agent.succeed("list_line_items", &json!({ "campaign_ids": [campaign["id"]] }));
    assert_eq!(found[0]["entity_status"], "ACTIVE");
}

#[test]
fn agent_reads_why_a_tool_refuses_its_arguments() {
    let ads = Advertiser::new();
    let agent = Agent::new(&ads, BOTH);
    let (body, is_error) = agent.call("create_campaign", &json!({ "name": "Without funding" }));
    assert!(is_error, "{body}");
    assert_eq!(body["errors"][0]["parameter"], "funding_instrument_id", "{body}");
    let (body, is_error) = agent.call("get_campaign", &json!({ "campaign": "x" }));
    assert!(is_error);
    assert_eq!(body["message"], "get_campaign has no parameter campaign");
    let other = Advertiser::new();
    let foreign = json!({ "name": "list_campaigns", "arguments": { "account_id": other.account } });
    let foreign = agent.ask("tools/call", &foreign);
    assert_eq!(foreign["result"]["structuredContent"]["errors"][0]["code"], "ACCOUNT_NOT_FOUND", "{foreign}");
    let unknown = agent.ask("tools/call", &json!({ "name": "delete_everything" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn tools_need_a_user_token_and_writing_ones_its_scope() {
    let ads = Advertiser::new();
    let reader = Agent::new(&ads, "ads.read tweet.read users.read");
    let accounts = reader.ask("tools/call", &json!({ "name": "list_ads_accounts" }));
    assert_eq!(accounts["result"]["structuredContent"]["data"][0]["id"], ads.account.as_str(), "{accounts}");
    let write = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "activate_campaign", "arguments": { "account_id": ads.account, "campaign_id": ads.campaign() },
    } });
    reader.post(&write, &[]).assert_status(403);
    let server = shared_server();
    let anonymous = server.send(TestRequest::post("/mcp").json(&write));
    assert_eq!((anonymous.status, anonymous.header("www-authenticate")), (401, "Bearer"));
    server.send(TestRequest::post("/mcp").json(&write).bearer(&ads.person.app.bearer)).assert_status(403);
    ads.person.send_signed(TestRequest::post("/mcp").json(&write)).assert_status(403);
    let metadata = server.send(TestRequest::get("/.well-known/oauth-protected-resource/mcp")).assert_status(200);
    assert!(metadata["resource"].as_str().unwrap().ends_with("/mcp"), "{metadata}");
}

#[test]
fn tools_declare_their_parameters_and_whether_they_change_anything() {
    let ads = Advertiser::new();
    let listed = Agent::new(&ads, BOTH).ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 23);
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let stats = find("get_account_stats");
    assert_eq!(stats["annotations"]["readOnlyHint"], true);
    let required = stats["inputSchema"]["required"].as_array().unwrap();
    assert!(required.contains(&json!("account_id")) && required.contains(&json!("granularity")), "{stats}");
    let create = find("create_campaign");
    assert_eq!(create["annotations"]["readOnlyHint"], false);
    assert_eq!(create["inputSchema"]["properties"]["entity_status"], Value::Null);
    assert_eq!(find("remove_targeting")["annotations"]["destructiveHint"], true);
}

#[test]
fn clients_with_and_without_a_handshake_are_served() {
    let ads = Advertiser::new();
    let agent = Agent::new(&ads, BOTH);
    let hello = agent.ask("initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    let newer = agent.ask("initialize", &json!({ "protocolVersion": "2030-01-01", "capabilities": {} }));
    assert_eq!(newer["result"]["protocolVersion"], "2025-11-25");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(agent.post(&ready, &[]).status, 202);
    let list = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
    let events = agent.post(&list, &[("accept", "application/json, text/event-stream")]);
    assert_eq!(events.header("content-type"), "text/event-stream");
    assert!(events.text().starts_with("event: message\ndata: {"), "{}", events.text());

    let stateless = |method: &str, version: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } })
    };
    let with = |method: &'static str, version: &'static str, named: &'static str| {
        let headers = [("mcp-protocol-version", version), ("mcp-method", named)];
        agent.post(&stateless(method, version), &headers)
    };
    let found = with("server/discover", "2026-07-28", "server/discover").assert_status(200);
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["result"]["resultType"], "complete");
    let mismatch = with("tools/list", "2026-07-28", "tools/call").assert_status(400);
    assert_eq!(mismatch["error"]["code"], -32020);
    let unsupported = with("tools/list", "2031-01-01", "tools/list").assert_status(400);
    assert_eq!(unsupported["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(with("ping", "2026-07-28", "ping").assert_status(404)["error"]["code"], -32601);
}

#[test]
fn messages_that_are_no_requests_are_refused() {
    let ads = Advertiser::new();
    let agent = Agent::new(&ads, BOTH);
    for body in [json!([]), json!({}), json!({ "id": null, "method": "ping" }), json!({ "id": 1 }), json!("x")] {
        let answer = agent.post(&body, &[]).assert_status(400);
        assert_eq!(answer["error"]["code"], -32600, "{body}");
    }
    let request = TestRequest::post("/mcp").form("a=b").bearer(&agent.token);
    assert_eq!(shared_server().send(request).assert_status(400)["error"]["code"], -32700);
    shared_server().send(TestRequest::get("/mcp").bearer(&agent.token)).assert_status(405);
}
