//! Signing in with a passkey.

use super::authenticator::{PRESENT, SoftwarePasskey, VERIFIED};
use super::{
    PASSWORD, PasskeySpoiler, SECURITY, SIGN_IN, add_passkey, answer, attribute, begin_addition, challenge_of,
    is_signed_in, request_challenge, sign_in, sign_in_fields, someone_with_passkey, start_server,
};
use crate::harness::{TestRequest, shared_server};
use crate::pages::browser::Browser;
use crate::two_factor::Authenticator;

#[test]
fn passkey_signs_in_without_password_and_code() {
    let server = start_server();
    let (mut owner, _) = Browser::of_someone(&server);
    let mut app = Authenticator::enrol(&mut owner, PASSWORD);
    for (at, passkey) in [SoftwarePasskey::es256(&server), SoftwarePasskey::ed25519(&server)].into_iter().enumerate() {
        let passkey = add_passkey(&mut owner, passkey, &app.recovery_codes[at]);
        let mut browser = Browser::new(&server);
        let page = browser.get("/login");
        assert!(page.header("content-security-policy").contains("script-src 'self'"));
        let done = sign_in(&mut browser, &passkey, "/settings/sessions");
        assert_eq!((done.status, done.header("location")), (303, "/settings/sessions"), "{}", done.text());
        assert!(is_signed_in(&mut browser));
        assert!(browser.cookies.contains_key("locum-device") && !browser.cookies.contains_key("locum-pending"));
    }
    let page = owner.get(SECURITY).text();
    assert_eq!(page.matches("Signed in with a passkey").count(), 2, "{page}");
    assert_eq!(page.matches("A passkey was added").count(), 2);
    assert_eq!(page.matches("last used").count(), 2);
    // The password asks for a code as before.
    let name = page.split("class=\"handle\">@").nth(1).unwrap().split('<').next().unwrap();
    let asked = Browser::new(&server).sign_in(name, PASSWORD, SECURITY);
    assert!(asked.header("location").starts_with("/login/code"));
    assert_eq!(app.code().len(), 6);
}

#[test]
fn answer_that_is_not_of_the_owner_at_this_site_is_refused() {
    let server = start_server();
    let (mut owner, passkey, _) = someone_with_passkey(&server);
    let (_, other, _) = someone_with_passkey(&server);
    let mut browser = Browser::new(&server);
    let spoilers: [(&str, PasskeySpoiler); 8] = [
        ("origin", |passkey| passkey.origin = "https://evil.example".to_owned()),
        ("site", |passkey| passkey.site = "evil.example".to_owned()),
        ("not verified", |passkey| passkey.flags = PRESENT),
        ("not present", |passkey| passkey.flags = VERIFIED),
        ("kind", |passkey| passkey.kind = Some("webauthn.create")),
        ("no user handle", |passkey| passkey.user_handle = String::new()),
        ("another user handle", |passkey| passkey.user_handle = "AAAAAAAAAAE".to_owned()),
        ("an unknown id", |passkey| passkey.id = vec![7; 16]),
    ];
    for (case, spoil) in spoilers {
        let mut spoiled = passkey.clone();
        spoil(&mut spoiled);
        let refused = sign_in(&mut browser, &spoiled, SECURITY);
        assert_eq!(refused.status, 400, "{case}: {}", refused.text());
        assert!(refused.text().contains("This passkey could not be used"), "{case}");
        assert!(!is_signed_in(&mut browser), "{case}");
    }
    assert!(browser.get(SIGN_IN).assert_page(200).contains("Sign in"), "the refused page, opened again");
    // Another's key with this id.
    let mut forged = other;
    (forged.id, forged.user_handle) = (passkey.id.clone(), passkey.user_handle.clone());
    assert_eq!(sign_in(&mut browser, &forged, SECURITY).status, 400);
    assert_eq!(sign_in(&mut browser, &passkey, SECURITY).status, 303);
    assert!(owner.get(SECURITY).text().contains("Sign-in with a passkey failed"));
}

#[test]
fn challenge_is_answered_once_within_five_minutes() {
    let server = start_server();
    let (mut owner, passkey, _) = someone_with_passkey(&server);
    let mut browser = Browser::new(&server);
    let fields = sign_in_fields(&mut browser, SECURITY);
    let reply = request_challenge(&mut browser, &fields);
    assert!(reply.header("cache-control").contains("no-store"));
    let challenge = challenge_of(&reply);
    let mut other = Browser::new(&server);
    let other_fields = sign_in_fields(&mut other, SECURITY);
    assert_eq!(answer(&mut browser, &fields, &challenge, &passkey).status, 303);
    assert_eq!(answer(&mut other, &other_fields, &challenge, &passkey).status, 400);
    // Used up by an answer that is refused.
    let challenge = challenge_of(&request_challenge(&mut other, &other_fields));
    let mut unverified = passkey.clone();
    unverified.flags = PRESENT;
    assert_eq!(answer(&mut other, &other_fields, &challenge, &unverified).status, 400);
    assert_eq!(answer(&mut other, &other_fields, &challenge, &passkey).status, 400);
    // For something else, made up, and too old.
    let page = begin_addition(&mut owner, "");
    assert_eq!(answer(&mut other, &other_fields, &attribute(&page, "data-challenge"), &passkey).status, 400);
    assert_eq!(answer(&mut other, &other_fields, "AAAA", &passkey).status, 400);
    let challenge = challenge_of(&request_challenge(&mut other, &other_fields));
    server.run_cli(&["clock", "advance", "6m"]).assert_success();
    assert_eq!(answer(&mut other, &other_fields, &challenge, &passkey).status, 400);
    assert!(!is_signed_in(&mut other));
    // Each is recorded, so that they are limited like challenges.
    let statuses = [(); 10].map(|()| answer(&mut other, &other_fields, "AAAA", &passkey).status);
    assert_eq!((statuses[0], statuses[9]), (400, 429), "{statuses:?}");
}

#[test]
fn passkey_whose_counter_does_not_advance_is_refused() {
    let server = start_server();
    let (mut owner, mut passkey, _) = someone_with_passkey(&server);
    let mut browser = Browser::new(&server);
    for (sign_count, status) in [(0, 303), (0, 303), (5, 303), (5, 400), (4, 400), (0, 400), (6, 303), (u32::MAX, 303)]
    {
        passkey.sign_count = sign_count;
        assert_eq!(sign_in(&mut browser, &passkey, SECURITY).status, status, "{sign_count}");
    }
    assert!(owner.get(SECURITY).text().contains("Sign-in with a passkey failed"));
    let log = server.run_cli(&["audit", "list"]).stdout;
    assert!(log.contains("the counter of the passkey went back"), "{log}");
}

#[test]
fn passkey_of_a_suspended_account_signs_nobody_in() {
    let server = start_server();
    let (_, passkey, name) = someone_with_passkey(&server);
    server.run_cli(&["user", "suspend", &name]).assert_success();
    let mut browser = Browser::new(&server);
    let refused = sign_in(&mut browser, &passkey, SECURITY);
    assert!(refused.header("location").starts_with("/appeal?token="), "{}", refused.text());
    assert!(!is_signed_in(&mut browser));
    server.run_cli(&["user", "restore", &name]).assert_success();
    assert_eq!(sign_in(&mut browser, &passkey, SECURITY).status, 303);
}

#[test]
fn passkey_restores_an_account_that_its_owner_has_deleted_without_a_code() {
    let server = start_server();
    let (mut owner, passkey, name) = someone_with_passkey(&server);
    Authenticator::enrol(&mut owner, PASSWORD);
    let page = owner.get("/settings/data");
    assert_eq!(owner.submit(&page, "/settings/data/delete", &[("password", PASSWORD)]).status, 303);
    let mut browser = Browser::new(&server);
    let offer = sign_in(&mut browser, &passkey, SECURITY);
    assert_eq!(offer.status, 200);
    assert!(!is_signed_in(&mut browser));
    let restored = browser.submit(&offer, "/account/restore", &[]);
    assert_eq!(restored.header("location"), SECURITY, "{}", restored.text());
    assert!(is_signed_in(&mut browser));
    server.run_cli(&["user", "delete", &name]).assert_success();
    let mut other = Browser::new(&server);
    assert_eq!(sign_in(&mut other, &passkey, SECURITY).status, 403, "an operator has deleted it");
    assert!(!is_signed_in(&mut other));
}

#[test]
fn sign_ins_that_are_begun_are_bounded_per_address() {
    let server = start_server();
    let (_, passkey, _) = someone_with_passkey(&server);
    let mut browser = Browser::new(&server);
    // Those that succeed do not count.
    for _ in 0..12 {
        assert_eq!(sign_in(&mut browser, &passkey, SECURITY).status, 303);
    }
    let fields = sign_in_fields(&mut browser, SECURITY);
    let statuses: Vec<u16> = (0..12).map(|_| request_challenge(&mut browser, &fields).status).collect();
    assert_eq!(statuses[..10], [200; 10]);
    let refused = request_challenge(&mut browser, &fields);
    assert_eq!(refused.status, 429, "{statuses:?}");
    assert!(refused.header_number("retry-after") > 0);
    assert!(refused.json()["error"].as_str().unwrap().starts_with("Too many attempts."));
    let mut fields = fields;
    fields.insert("csrf".to_owned(), "wrong".to_owned());
    assert_eq!(request_challenge(&mut Browser::new(&server), &fields).status, 403);
}

#[test]
fn passkey_leads_back_to_the_app_that_asks_for_authorization() {
    let server = start_server();
    let (_, passkey, _) = someone_with_passkey(&server);
    let app = crate::pages::browser::app(&server, &["--sign-in", "--callback", "https://client.example/back"]);
    let id = crate::pages::browser::text(&app, "client_id");
    let query = format!(
        "response_type=code&client_id={id}&redirect_uri=https%3A%2F%2Fclient.example%2Fback&scope=users.read&state=1\
         &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
    );
    let path = format!("/i/oauth2/authorize?{query}");
    let mut browser = Browser::new(&server);
    let page = browser.get(format!("/login?next={}", crate::harness::percent_encode(&path)));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    assert!(policy.contains("base-uri 'none'") && !policy.contains("form-action"), "{policy}");
    assert_eq!(page.headers.get_all("content-security-policy").iter().count(), 1);
    let done = sign_in(&mut browser, &passkey, &path);
    assert_eq!(done.header("location"), path, "{}", done.text());
    assert_eq!(browser.get(path).status, 200);
}

#[test]
fn passkeys_are_not_offered_at_an_ip_address() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let text = browser.get(SECURITY).text();
    assert!(text.contains("Passkeys can’t be used at the address of this site") && !text.contains("Add a passkey"));
    let mut visitor = Browser::new(server);
    let page = visitor.get("/login");
    assert!(!page.text().contains("passkey") && !page.header("content-security-policy").contains("script-src"));
    let token = attribute(&page, "value");
    let reply = visitor.send(TestRequest::post("/login/passkey").form(format!("csrf={token}")));
    assert_eq!(reply.header("location"), "/login", "{}", reply.text());
}
