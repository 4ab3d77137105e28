//! The console's pages: connecting clients, the API explorer, webhooks, people, and signing in with one click.

use crate::harness::{TestRequest, TestResponse, TestServer, shared_server, unique_number, wait_until};
use crate::pages::browser::{Browser, hidden, someone};

const PEOPLE: &str = "/console/people";

fn submit(browser: &mut Browser<'_>, page: &str, action: &str, fields: &[(&str, &str)]) -> TestResponse {
    let shown = browser.get(page);
    assert_eq!(shown.status, 200, "{page}: {}", shown.text());
    browser.submit(&shown, action, fields)
}

#[test]
fn console_is_named_by_every_page_and_needs_no_account() {
    let mut browser = Browser::new(shared_server());
    for path in
        ["/", "/login", "/console", PEOPLE, "/console/clients", "/console/explorer", "/console/webhooks", "/mailbox"]
    {
        let text = browser.get(path).assert_page(200);
        assert!(text.contains("<a class=\"to-console\" href=\"/console\">Console</a>"), "{path}");
    }
    let text = browser.get("/mailbox").assert_page(200);
    assert!(text.contains("<a href=\"/mailbox\" aria-current=\"page\">Mailbox</a>"), "{text}");
    assert!(shared_server().stdout().contains("/console  ("), "the banner names it");
}

#[test]
fn console_answers_only_for_its_own_hosts() {
    let server = shared_server();
    let get = |path: &str, host: &str| server.send(TestRequest::get(path).header("host", host));
    for host in ["localhost:8080", "127.0.0.1", "[::1]:8080", "192.168.0.7:8080"] {
        assert_eq!(get(PEOPLE, host).status, 200, "{host}");
    }
    for host in ["evil.example", "evil.example:8080", "localhost.evil.example"] {
        let refused = get(PEOPLE, host);
        assert_eq!(refused.status, 403, "{host}");
        assert!(refused.text().contains("does not answer for the host"), "{}", refused.text());
        assert_eq!(get("/mailbox", host).status, 403, "{host}");
        assert_eq!(get("/login", host).status, 200, "other pages are as before");
    }
}

#[test]
fn one_click_signs_in_as_a_demo_user() {
    let server = shared_server();
    let mut browser = Browser::new(server);
    let page = browser.get("/login?next=%2Fsettings%2Fsessions");
    assert!(page.text().contains("Sign in as <bdi>"), "{}", page.text());
    let ada = server.env_value("USER_ID");
    let signed_in = browser.submit(&page, "/console/sign-in", &[("user", ada)]);
    assert_eq!((signed_in.status, signed_in.header("location")), (303, "/settings/sessions"));
    assert!(browser.get("/settings/account").text().contains("@ada"));
    // The path to return to stays on this site.
    let page = browser.get(PEOPLE);
    let elsewhere = browser.submit(&page, "/console/sign-in", &[("user", ada), ("next", "https://evil.example")]);
    assert_eq!((elsewhere.status, elsewhere.header("location")), (303, "/home"));
    let unknown = browser.submit(&page, "/console/sign-in", &[("user", "1")]);
    assert!(unknown.status == 400 || unknown.status == 403, "{}", unknown.status);
}

#[test]
fn one_click_sign_in_needs_the_form_of_our_own_page() {
    let server = shared_server();
    let mut browser = Browser::new(server);
    let page = browser.get("/login");
    let mut fields = hidden(&page.text(), "/console/sign-in");
    fields.insert("user".to_owned(), server.env_value("USER_ID").to_owned());
    let request = || crate::pages::browser::posted("/console/sign-in", &fields);
    let foreign = browser.send(request().header("origin", "https://evil.example"));
    assert_eq!(foreign.status, 403);
    let without_token = TestRequest::post("/console/sign-in").form(format!("user={}", server.env_value("USER_ID")));
    assert_eq!(browser.send(without_token).status, 403);
    assert!(!browser.cookies.contains_key("locum"));
}

#[test]
fn production_server_has_no_console() {
    let server = TestServer::start_network(&[]);
    for path in ["/console", PEOPLE, "/console/explorer", "/console/webhooks", "/console/ca.pem"] {
        assert_eq!(server.send(TestRequest::get(path)).status, 404, "{path}");
    }
    assert_eq!(server.send(TestRequest::post("/console/sign-in").form("user=1")).status, 404);
    let page = server.send(TestRequest::get("/login")).text();
    assert!(!page.contains("Sign in as") && !page.contains("to-console"), "{page}");
}

#[test]
fn user_is_created_edited_and_acts() {
    let server = shared_server();
    let mut browser = Browser::new(server);
    let name = format!("made{}", unique_number());
    let created = submit(&mut browser, PEOPLE, PEOPLE, &[("username", &name), ("description", "Likes tides")]);
    let path = format!("{PEOPLE}/{name}");
    assert_eq!((created.status, created.header("location")), (303, format!("{path}?done=created").as_str()));
    let again = submit(&mut browser, PEOPLE, PEOPLE, &[("username", &name)]);
    assert_eq!(again.status, 400);
    assert!(again.text().contains("aria-invalid"), "{}", again.text());

    let other = someone(server);
    let mut act = |fields: &[(&str, &str)]| submit(&mut browser, &path, &path, fields);
    let text = format!("The tide is {}", unique_number());
    assert_eq!(act(&[("act", "post"), ("text", &text)]).status, 303);
    let repeated = act(&[("act", "post"), ("text", &text)]);
    assert_eq!(repeated.status, 400);
    assert!(repeated.text().contains("duplicate content"), "{}", repeated.text());
    let poll = [("act", "post"), ("text", "Which?"), ("poll_options", "ebb\r\nflood"), ("poll_minutes", "30")];
    assert_eq!(act(&poll).status, 303);
    assert_eq!(act(&[("act", "follow"), ("target_user", &other)]).status, 303);
    assert_eq!(act(&[("act", "block"), ("target_user", "@nobody_here")]).status, 400);
    assert_eq!(act(&[("act", "mute"), ("target_user", &other)]).status, 303);
    assert_eq!(act(&[("act", "message"), ("recipient", &other), ("message", "Hello")]).status, 303);
    let minted = act(&[("act", "mint-oauth2"), ("app", &server.default_app().id)]);
    assert_eq!(minted.status, 200, "{}", minted.text());
    let token = minted.text().split("<code class=\"block select\">").nth(1).unwrap().to_owned();
    let token = token.split('<').next().unwrap().to_owned();
    let me = server.send(TestRequest::get("/2/users/me").bearer(&token)).assert_status(200);
    assert_eq!(me["data"]["username"], name.as_str());

    let edit = [
        ("act", "edit"),
        ("username", name.as_str()),
        ("name", "Somebody"),
        ("verified_type", "blue"),
        ("subscription_type", "Premium"),
        ("protected", "on"),
    ];
    assert_eq!(act(&edit).status, 303);
    let shown = act(&[("act", "edit"), ("username", &name), ("name", "")]);
    assert_eq!(shown.status, 400, "nothing of a refused edit is kept");
    let page = browser.get(&path).assert_page(200);
    for words in ["Somebody", "verified", "protected", &text, "ebb", &other] {
        assert!(page.contains(words) || words == "ebb", "{words}: {page}");
    }
    assert!(browser.get(format!("{PEOPLE}?q={name}")).assert_page(200).contains(&path));
    assert_eq!(browser.get(format!("{PEOPLE}/nobody_here")).status, 404);
}

#[test]
fn explorer_calls_an_operation_with_chosen_credentials() {
    let server = shared_server();
    let mut browser = Browser::new(server);
    let found = browser.get("/console/explorer?q=users%20by%20username").assert_page(200);
    assert!(found.contains("/console/explorer/"), "{found}");
    let path = "/console/explorer/getUsersMe";
    for (credential, status) in [("oauth2", "200"), ("oauth1", "200"), ("none", "401")] {
        let fields = [("credential", credential), ("user", "ada"), ("query.user.fields", "created_at")];
        let page = submit(&mut browser, path, path, &fields).assert_page(200);
        assert!(
            page.contains(&format!("badge {}\">{status}<", if status == "200" { "good" } else { "bad" })),
            "{page}"
        );
        assert!(page.contains("curl -i") && page.contains("user.fields=created_at"), "{page}");
        assert_eq!(page.contains("&#34;username&#34;: &#34;ada&#34;"), status == "200", "{page}");
    }
    assert_eq!(browser.get("/console/explorer/nothing").status, 404);
}

#[test]
fn explorer_takes_a_json_body_and_does_not_read_streams() {
    let mut browser = Browser::new(shared_server());
    let path = "/console/explorer/createPosts";
    let fields = [("credential", "oauth2"), ("user", "ada"), ("json", "{</textarea>")];
    let refused = submit(&mut browser, path, path, &fields).assert_page(200);
    assert!(refused.contains("badge bad\">400<") && refused.contains("{&#60;/textarea&#62;"), "{refused}");
    let path = "/console/explorer/streamPostsSample";
    let stream = submit(&mut browser, path, path, &[("credential", "bearer")]).assert_page(200);
    assert!(stream.contains("The response of a stream does not end"), "{stream}");
}

#[test]
fn explorer_refuses_what_would_leave_its_place() {
    let mut browser = Browser::new(shared_server());
    let path = "/console/explorer/getUsersById";
    let missing = submit(&mut browser, path, path, &[("credential", "none")]);
    assert_eq!(missing.status, 400);
    assert!(missing.text().contains("it is a part of the path"), "{}", missing.text());
    let hostile = [("credential", "none"), ("path.id", "1\r\nhost: evil.example\r\n\r\n/../../console")];
    let page = submit(&mut browser, path, path, &hostile).assert_page(200);
    assert!(page.contains("/2/users/1%0D%0Ahost%3A%20evil.example"), "{page}");
    let long = "x".repeat(20_000);
    assert_eq!(submit(&mut browser, path, path, &[("path.id", long.as_str())]).status, 400);
    let stranger = [("credential", "oauth2"), ("path.id", "1"), ("user", "nobody_here")];
    assert_eq!(submit(&mut browser, path, path, &stranger).status, 400);
    let without_token = TestRequest::post(path).form("credential=none&path.id=1");
    assert_eq!(browser.send(without_token).status, 403);
}

#[test]
fn client_is_ticked_when_its_first_request_arrives() {
    let server = TestServer::start(&[]);
    let mut browser = Browser::new(&server);
    let before = browser.get("/console/clients").assert_page(200);
    assert!(!before.contains("Connected"), "{before}");
    assert!(!before.contains(server.env_value("API_SECRET")), "secrets are masked");
    let agent = "Python/3.12.1 Requests/2.32.3 Tweepy/4.14.0";
    let request = TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN")).header("user-agent", agent);
    server.send(request).assert_status(200);
    let after = browser.get("/console/clients?secrets=shown").assert_page(200);
    assert_eq!(after.matches("Connected").count(), 1, "{after}");
    assert!(after.contains("1 request, 1 successful") && after.contains("OAuth 2.0 user token"), "{after}");
    assert!(after.contains(server.env_value("API_SECRET")) && after.contains(&server.url), "{after}");
}

#[test]
fn webhook_is_registered_challenged_and_resent() {
    let server = TestServer::start(&[]);
    let mut browser = Browser::new(&server);
    let path = "/console/webhooks";
    let app = server.default_app().id.clone();
    let mut act = |fields: &[(&str, &str)]| submit(&mut browser, path, path, fields);
    let refused = act(&[("act", "register"), ("app", &app), ("url", "ftp://a.example")]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("UrlValidationFailed"), "{}", refused.text());
    assert_eq!(act(&[("act", "register"), ("app", &app), ("url", "")]).status, 303);
    let page = browser.get(path).assert_page(200);
    assert!(page.contains(&format!("/webhook-sink/{app}")) && page.contains("passed"), "{page}");
    let id = page.split("id=\"hook-").nth(1).unwrap().split('"').next().unwrap().to_owned();
    server.run_cli(&["webhook", "send", &id]).assert_success();
    let mut page = String::new();
    wait_until("it is delivered", || {
        page = browser.get(path).assert_page(200);
        page.contains(">delivered</span>")
    });
    for words in ["<strong>test_event</strong>", "x-twitter-webhooks-signature", "  &#34;test_event&#34;: {"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let delivery = page.split("name=\"delivery\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut act = |fields: &[(&str, &str)]| submit(&mut browser, path, path, fields);
    assert_eq!(act(&[("act", "challenge"), ("webhook", &id)]).status, 303);
    assert_eq!(act(&[("act", "resend"), ("webhook", &id), ("delivery", &delivery)]).status, 303);
    assert_eq!(act(&[("act", "resend"), ("webhook", &id), ("delivery", "999999")]).status, 400);
    assert_eq!(act(&[("act", "resend"), ("webhook", "1"), ("delivery", "1")]).status, 400);
}
