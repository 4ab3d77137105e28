//! The name that the owners of a site have set, on its pages and in its emails.

use crate::harness::{DatabaseEngine, TestRequest, TestServer, suite_engine, wait_until};
use crate::pages::browser::Browser;

fn title_ends_with(server: &TestServer, name: &str) -> bool {
    Browser::new(server).get("/login").text().contains(&format!(" · {name}</title>"))
}

#[test]
fn name_of_the_site_is_on_pages_and_in_emails() {
    let server = TestServer::start(&["--world", "empty"]);
    server.run_cli(&["user", "create", "ada", "--email", "ada@mail.example"]).assert_success();
    assert!(title_ends_with(&server, "Locum"));
    server.run_cli(&["site", "set", "name", "Harbour <Town>"]).assert_success();
    wait_until("pages have the name", || title_ends_with(&server, "Harbour &#60;Town&#62;"));
    let mut browser = Browser::new(&server);
    let profile = browser.get("/ada").assert_page(200);
    assert!(profile.contains("property=\"og:site_name\" content=\"Harbour &#60;Town&#62;\""), "{profile}");
    assert!(profile.contains("<bdi>Harbour &#60;Town&#62;</bdi>"), "{profile}");
    browser.get("/nothing/here").assert_page(404).find("Harbour").expect("errors have it too");
    let page = browser.get("/forgotten-password");
    browser.submit(&page, "/forgotten-password", &[("email", "ada@mail.example")]);
    let mailbox = server.send(TestRequest::get("/mailbox")).text();
    assert!(mailbox.contains("Reset your password on Harbour &#60;Town&#62;"), "{mailbox}");
    server.run_cli(&["site", "set", "name", ""]).assert_success();
    wait_until("the configured name is back", || title_ends_with(&server, "Locum"));
}

#[test]
fn other_nodes_show_the_name_within_seconds() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start_network(&[]);
    let other = server.start_another_node(2);
    server.run_cli(&["site", "set", "name", "Harbour Town"]).assert_success();
    for node in [&server, &other] {
        wait_until("the node shows the name", || title_ends_with(node, "Harbour Town"));
    }
}
