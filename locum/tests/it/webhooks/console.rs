//! The console's page of webhooks.

use super::{register, send, server};
use crate::harness::{TestRequest, percent_encode, wait_until};
use crate::pages::browser::Browser;

#[test]
fn webhook_page_shows_challenges_and_deliveries_and_resends_them() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let mut browser = Browser::new(&server);
    assert_eq!(browser.sign_in(&app.owner, "a long secret", "/").status, 303);
    let path = format!("/developer/apps/{}/webhooks", app.id);
    let page = browser.get(&path).assert_page(200);
    assert!(page.contains("No webhook"), "{page}");
    // The platform's own receiver, which the page names.
    let sink = format!("{}/webhook-sink/{}", server.url, app.id);
    assert!(page.contains(&sink), "{page}");
    let created = register(&server, &app, &sink).assert_status(200);
    let id = created["data"]["id"].as_str().unwrap();
    let event = send(&server, id, 1, 1).remove(0);
    let mut page = String::new();
    wait_until("it is delivered", || {
        page = browser.get(&path).assert_page(200);
        page.contains("delivered")
    });
    for words in ["Valid", "response_token", "sha256=", &event, "test_event"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let number = page.split("name=\"delivery\" value=\"").nth(1).unwrap();
    let number = number.split('"').next().unwrap().to_owned();
    let csrf = page.split("name=\"csrf\" value=\"").nth(1).unwrap();
    let csrf = csrf.split('"').next().unwrap().to_owned();
    let mut act = |pairs: &[(&str, &str)]| {
        let mut form = format!("csrf={}&webhook={id}", percent_encode(&csrf));
        for (name, value) in pairs {
            form.push_str(&["&", name, "=", &percent_encode(value)].concat());
        }
        browser.send(TestRequest::post(&*path).form(form))
    };
    assert_eq!(act(&[("act", "challenge")]).status, 303);
    assert_eq!(act(&[("act", "resend"), ("delivery", &number)]).status, 303);
    assert_eq!(act(&[("act", "resend"), ("delivery", "999999")]).status, 400);
    let refused = act(&[("act", "replay"), ("from", "1"), ("to", "2")]).assert_page(400);
    assert!(refused.contains("name=\"from\" type=\"text\" value=\"1\"") && refused.contains("UTC"), "{refused}");
    wait_until("it was sent again", || {
        let log = server.execute_command(&["webhook", "log", id, "--limit", "9"]).unwrap();
        let all = log["deliveries"].as_array().unwrap().clone();
        all.len() == 2 && all.iter().all(|one| one["state"] == "delivered")
    });
}
