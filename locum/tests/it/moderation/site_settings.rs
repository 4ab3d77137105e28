//! The form of the site's settings.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pages::staff;
use crate::harness::{TestResponse, TestServer};
use crate::pages::browser::{Browser, hidden, posted};

const PATH: &str = "/admin/site";
const NAMES: [&str; 8] = ["name", "registrations", "indexing", "about", "rules", "terms", "privacy", "contact"];

/// The value of a field, as a browser sends it.
fn field_value(html: &str, name: &str) -> String {
    let field = html.split(&format!(" id=\"{name}\" ")).nth(1).unwrap_or_else(|| panic!("no field {name} on {html}"));
    let tag = field.split('>').next().unwrap();
    match tag.split(" value=\"").nth(1) {
        Some(value) => value.split('"').next().unwrap().to_owned(),
        None => field.split("</textarea>").next().unwrap().split_once(">\n").unwrap().1.replace('\n', "\r\n"),
    }
}

/// Sends the whole form with some values changed.
fn save(browser: &mut Browser<'_>, page: &TestResponse, changes: &[(&str, &str)]) -> TestResponse {
    let html = page.text();
    let mut fields: BTreeMap<String, String> = hidden(&html, PATH);
    fields.extend(NAMES.map(|name| (name.to_owned(), field_value(&html, name))));
    fields.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let origin = browser.origin();
    browser.send(posted(PATH, &fields).header("origin", origin))
}

/// Settings that were changed on the page, newest first.
fn changed_settings(server: &TestServer) -> Vec<Value> {
    let entries = server.run_cli(&["audit", "list", "--limit", "50"]).json();
    let entries = entries.as_array().unwrap().iter();
    let changes = entries.filter(|entry| entry["kind"] == "site.update" && entry["actor"] != "operator");
    changes.map(|entry| entry["detail"]["setting"].clone()).collect()
}

#[test]
fn site_form_stores_all_that_changed_with_an_audit_entry_for_each() {
    let server = TestServer::start(&[]);
    let (_, mut admin) = staff(&server, "admin");
    server.run_cli(&["site", "set", "about", "First line\nsecond line\n"]).assert_success();
    let page = admin.get(PATH);
    assert_eq!(page.text().matches("action=\"/admin/site\"").count(), 1, "one form");
    let saved = save(&mut admin, &page, &[("name", "Harbour"), ("rules", "Be kind\r\nand brief")]);
    assert_eq!(saved.status, 303, "{}", saved.text());
    let page = admin.get(saved.header("location"));
    assert!(page.text().contains("Your changes were saved."), "{}", page.text());
    let settings = server.run_cli(&["site", "show"]).json();
    let expected = [("name", "Harbour"), ("rules", "Be kind\nand brief"), ("about", "First line\nsecond line\n")];
    for (name, value) in expected {
        assert_eq!(settings[name], value, "{name}");
    }
    assert_eq!(changed_settings(&server), ["rules", "name"]);
    assert_eq!(save(&mut admin, &page, &[]).status, 303);
    assert_eq!(changed_settings(&server).len(), 2, "nothing changed");
}

#[test]
fn wrong_values_of_the_site_form_are_shown_at_their_fields_and_nothing_is_stored() {
    let server = TestServer::start(&[]);
    let (_, mut admin) = staff(&server, "admin");
    let (page, name, rules) = (admin.get(PATH), "n".repeat(61), "r".repeat(50_001));
    let fields = [("name", &*name), ("registrations", "some"), ("rules", &*rules), ("about", "A harbour")];
    let refused = save(&mut admin, &page, &fields);
    assert_eq!(refused.status, 400);
    let html = refused.text();
    for (field, value) in fields {
        assert_eq!(field_value(&html, field), value);
        assert_eq!(html.contains(&format!("id=\"{field}-error\"")), field != "about", "{field}");
        assert_eq!(html.contains(&format!("href=\"#{field}\"")), field != "about", "{field}");
    }
    let settings = server.run_cli(&["site", "show"]).json();
    assert!(NAMES.iter().all(|name| settings[name] == ""), "{settings}");
    let corrected = [("name", "Harbour"), ("registrations", ""), ("rules", "Be kind")];
    assert_eq!(save(&mut admin, &refused, &corrected).status, 303);
    assert_eq!(server.run_cli(&["site", "show"]).json()["about"], "A harbour");
}

#[test]
fn setting_that_was_changed_elsewhere_meanwhile_stays() {
    let server = TestServer::start(&[]);
    let (_, mut admin) = staff(&server, "admin");
    let page = admin.get(PATH);
    server.run_cli(&["site", "set", "rules", "Newer rules"]).assert_success();
    assert_eq!(save(&mut admin, &page, &[("name", "Harbour")]).status, 303);
    let settings = server.run_cli(&["site", "show"]).json();
    assert_eq!((&settings["name"], &settings["rules"]), (&"Harbour".into(), &"Newer rules".into()));
}
