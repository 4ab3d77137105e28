//! The first page, what cannot go on, and saying no before signing in.

use super::browser::{Browser, app, param, someone, text};
use crate::harness::{TestRequest, TestServer, percent_encode, shared_server};

const CALLBACK: &str = "https://client.example/cb";

#[test]
fn landing_page_links_to_the_pages() {
    let server = shared_server();
    let page = Browser::new(server).get("/").assert_page(200);
    for words in ["Sign in", "Create account", "/mailbox", "dev.env", &server.url] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let (mut browser, _) = Browser::of_someone(server);
    let page = browser.get("/").assert_page(200);
    assert!(page.contains("Your account") && !page.contains("Create account"));
}

#[test]
fn menu_links_to_development_pages_only_where_they_exist() {
    let signature = "href=\"/developer/explain\"";
    assert!(Browser::of_someone(shared_server()).0.get("/home").assert_page(200).contains(signature));
    let server = TestServer::start_network(&[]);
    let (mut browser, _) = Browser::of_someone(&server);
    let page = browser.get("/home").assert_page(200);
    assert!(page.contains("Account menu") && !page.contains(signature), "{page}");
    browser.get("/developer/explain").assert_page(404);
}

#[test]
fn browser_gets_error_pages_and_programs_get_json() {
    let server = shared_server();
    let look = |request: TestRequest| server.send(request.header("accept", "text/html,*/*;q=0.8"));
    let response = look(TestRequest::get("/nothing/here").header("x-request-id", "my-request-7"));
    let page = response.assert_page(404);
    assert!(page.contains("Page not found"), "{page}");
    assert!(page.contains("my-request-7") && page.contains("/assets/"));
    assert!(!response.header("content-security-policy").is_empty());
    let response = look(TestRequest::post("/settings/account").form("a=b"));
    assert!(response.assert_page(405).contains("Method not allowed"));
    assert!(response.header("allow").contains("GET"));
    // Programs are told as before.
    for path in ["/2/nothing", "/1.1/nothing.json", "/12/nothing"] {
        let response = look(TestRequest::get(path));
        assert_eq!(response.status, 404);
        assert!(!response.header("content-type").contains("html"), "{path}");
    }
    let response = server.send(TestRequest::get("/nothing/here"));
    assert!(response.header("content-type").contains("json"));

    let server = TestServer::start(&["--world", "empty", "--rate-limits", "table"]);
    let mut answers = (0..1000).map(|_| server.send(TestRequest::get("/login")));
    let response = answers.find(|response| response.status != 200).unwrap();
    assert!(response.assert_page(429).contains("Too many attempts"));
    assert!(response.header_number("retry-after") > 0);
}

#[test]
fn authorization_is_denied_without_signing_in() {
    let server = shared_server();
    let app = app(server, &["--callback", CALLBACK]);
    let mut browser = Browser::new(server);
    let challenge = "a".repeat(43);
    let requested = format!(
        "/i/oauth2/authorize?response_type=code&client_id={}&redirect_uri={}&scope=tweet.read\
         &state=mine&code_challenge={challenge}&code_challenge_method=plain",
        text(&app, "client_id"),
        percent_encode(CALLBACK),
    );
    let page = browser.get(requested.clone());
    let no = browser.submit(&page, "/i/oauth2/authorize", &[("decision", "deny")]);
    let to = no.header("location");
    assert!(to.starts_with(CALLBACK), "{}", no.text());
    assert_eq!(param(to, "error").as_deref(), Some("access_denied"));
    assert_eq!(param(to, "state").as_deref(), Some("mine"));
    // Allowing still needs somebody.
    let yes = browser.submit(&page, "/i/oauth2/authorize", &[("decision", "allow")]);
    assert!(yes.header("location").starts_with("/i/oauth2/authorize?"));

    // Here nobody is warned of the weaker method, elsewhere everybody is.
    let name = someone(server);
    browser.sign_in(&name, "a long secret", "/");
    assert!(!browser.get(requested).text().contains("outdated method"));
}

#[test]
fn plain_pkce_method_shows_a_warning() {
    let server = TestServer::start(&["--set", "auth.pkce_plain=warn"]);
    let owner = someone(&server);
    let created = ["app", "create", "Plain", "--owner", &owner, "--callback", CALLBACK];
    let app = server.run_cli(&created).json();
    let mut browser = Browser::new(&server);
    browser.sign_in(&owner, "a long secret", "/");
    let requested = format!(
        "/i/oauth2/authorize?response_type=code&client_id={}&redirect_uri={}&scope=tweet.read\
         &state=mine&code_challenge={}&code_challenge_method=plain",
        text(&app, "client_id"),
        percent_encode(CALLBACK),
        "a".repeat(43),
    );
    let keys = format!("/developer/apps/{}/keys", text(&app, "id"));
    assert!(!browser.get(keys.clone()).text().contains("Use S256"));
    let page = browser.get(requested);
    assert!(page.text().contains("outdated method"), "{}", page.text());
    browser.submit(&page, "/i/oauth2/authorize", &[("decision", "allow")]);
    assert!(browser.get(keys).text().contains("Use S256"));
}

#[test]
fn password_change_disconnects_apps_on_request() {
    let server = shared_server();
    let user = server.new_user("leak");
    let mut browser = Browser::new(server);
    browser.sign_in(&user.username, "a long secret", "/");
    let me = || server.send(TestRequest::get("/2/users/me").bearer(&user.token)).status;
    let mut change = |old: &str, new: &str, more: &[(&str, &str)]| {
        let page = browser.get("/settings/account");
        let fields = [&[("current", old), ("password", new)], more].concat();
        let response = browser.submit(&page, "/settings/account/password", &fields);
        assert_eq!(response.status, 303, "{}", response.text());
    };
    change("a long secret", "tr4ms stop here", &[]);
    assert_eq!(me(), 200);
    change("tr4ms stop here", "tr4ms go there", &[("end_tokens", "on")]);
    assert_eq!(me(), 401);
}

#[test]
fn new_email_address_is_pending_until_cancelled() {
    let server = shared_server();
    let (mut browser, name) = Browser::of_someone(server);
    let gone = browser.get("/account/confirm?token=gone");
    let unsent = browser.submit(&gone, "/settings/account/email/resend", &[]).assert_page(400);
    assert!(unsent.contains("There is no email address to confirm."), "{unsent}");
    let page = browser.get("/settings/account");
    let set = |browser: &mut Browser<'_>, email: &str| {
        let fields = [("email", email), ("email_password", "a long secret")];
        browser.submit(&page, "/settings/account/email", &fields)
    };
    let wrong = [("email", "x@a.example"), ("email_password", "not it")];
    assert_eq!(browser.submit(&page, "/settings/account/email", &wrong).status, 400);
    // The first address is the account's at once, confirmed or not; the next one waits.
    let (first, next) = (format!("{name}@a.example"), format!("{name}@b.example"));
    assert_eq!(set(&mut browser, &first).status, 200);
    assert_eq!(set(&mut browser, &next).status, 200);
    let page = browser.get("/settings/account");
    assert!(page.text().contains(&next), "{}", page.text());
    let again = browser.submit(&page, "/settings/account/email/resend", &[]);
    assert!(again.text().contains(&next), "{}", again.text());
    let done = browser.submit(&page, "/settings/account/email/cancel", &[]);
    let page = browser.get(done.header("location")).text();
    assert!(page.contains("The email change was cancelled.") && !page.contains(&next), "{page}");
}

#[test]
fn password_change_says_that_it_drops_a_new_email_address() {
    let (mut browser, name) = Browser::of_someone(shared_server());
    let page = browser.get("/settings/account");
    let (first, next) = (format!("{name}@a.example"), format!("{name}@b.example"));
    for email in [&first, &next] {
        let fields = [("email", email.as_str()), ("email_password", "a long secret")];
        assert_eq!(browser.submit(&page, "/settings/account/email", &fields).status, 200);
    }
    let passwords = ["a long secret", "tr4ms stop here", "tr4ms go there"];
    for (change, is_dropped) in passwords.windows(2).zip([true, false]) {
        let page = browser.get("/settings/account");
        let fields = [("current", change[0]), ("password", change[1])];
        let done = browser.submit(&page, "/settings/account/password", &fields);
        let page = browser.get(done.header("location")).text();
        assert!(page.contains("Your password was changed.") && !page.contains(&next), "{page}");
        assert_eq!(page.contains("the change was cancelled"), is_dropped, "{page}");
    }
}
