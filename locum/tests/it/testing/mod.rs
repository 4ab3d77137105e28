//! The testing tools of a development server, through its control API and its commands.

mod clock;
mod console;
mod determinism;
mod faults;
mod limits;
mod requests;
mod snapshots;
mod streams;
mod tokens;
mod worlds;

use crate::harness::{TestRequest, TestServer, shared_server};

#[test]
fn control_api_requires_the_control_token() {
    let server = shared_server();
    let refused = server.send_control(TestRequest::get("/control/v1/clock"));
    assert_eq!(refused.status, 401, "{}", refused.text());
    let clock = server.call_control(TestRequest::get("/control/v1/clock")).assert_status(200);
    assert!(clock["data"]["now"].is_string(), "{clock}");
    let document = server.call_control(TestRequest::get("/control/v1/openapi.json")).assert_status(200);
    assert!(document["paths"]["/control/v1/clock"]["get"].is_object(), "{document}");
}

#[test]
fn control_api_is_not_on_the_public_address() {
    let server = shared_server();
    let response = server.send(TestRequest::get("/control/v1/clock"));
    assert_eq!(response.status, 404);
}

#[test]
fn production_server_has_neither_control_api_nor_console() {
    let network = TestServer::start_network(&[]);
    assert_eq!(network.send(TestRequest::get("/console")).status, 404);
    network.run_cli(&["clock", "show"]).assert_exit_code(4);
}
