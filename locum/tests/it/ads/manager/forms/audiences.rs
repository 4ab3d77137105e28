//! Audiences and lists of their members.

use super::*;

/// Somebody on the pages, and an audience that they created.
fn manager_with_audience() -> (Manager, String) {
    let mut manager = Manager::new();
    let audience = manager.make("/audiences/new", &[("name", "Subscribers")]);
    (manager, audience)
}

/// Fills an audience from a file; waits until its members are counted.
fn upload_members(manager: &mut Manager, audience: &str, file: &str, count: usize) {
    let form = format!("/audiences/{audience}/people");
    let response = manager.sends(&form, &MEMBER_FIELDS, Some(("list", "a.csv", file.as_bytes())));
    assert_eq!(response.status, 303, "{}", response.text());
    let one = format!("/custom_audiences/{audience}");
    let start = monotonic_now();
    while manager.ads.get(&one, &[])["data"]["audience_size"] != count {
        assert!(start.elapsed().as_secs() < 60, "{}", manager.ads.get(&one, &[]));
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

const MEMBER_FIELDS: [(&str, &str); 3] = [("operation_type", "Update"), ("identifier", "handle"), ("text", "")];

#[test]
fn audience_is_created_and_changed_on_pages() {
    let mut manager = Manager::new();
    assert!(manager.shown("/audiences").contains("No audiences yet"));
    let response = manager.send("/audiences/new", &[("name", "")]);
    assert_eq!(error_of(&response, "name"), "This field is required.");
    let audience = manager.make("/audiences/new", &[("name", "Readers")]);
    let one = format!("/custom_audiences/{audience}");
    assert_eq!(manager.ads.get(&one, &[])["data"]["name"], "Readers");
    let edit = format!("/audiences/{audience}/edit");
    manager.make(&edit, &[("name", "Subscribers"), ("description", "Of spring")]);
    assert_eq!(manager.ads.get(&one, &[])["data"]["description"], "Of spring");
}

#[test]
fn unreadable_or_forged_member_list_is_refused_without_repeating_it() {
    let (mut manager, audience) = manager_with_audience();
    let one = format!("/custom_audiences/{audience}");
    let form = format!("/audiences/{audience}/people");
    let some = (shared_server().new_user("listed"), shared_server().new_user("listed"));
    let bad = format!("@{}\nno such name!\n{}\n", some.0.username, some.1.username);
    let response = manager.sends(&form, &MEMBER_FIELDS, Some(("list", "a.txt", bad.as_bytes())));
    let message = error_of(&response, "list");
    assert!(message.contains("line 2") && message.contains("of 3 people"), "{message}");
    assert!(!response.text().contains("no such name"), "{}", response.text());
    let response = manager.sends(&form, &MEMBER_FIELDS, Some(("list", "a.txt", b"")));
    assert!(error_of(&response, "list").contains("Choose a file"));
    let response = manager.sends(&form, &MEMBER_FIELDS, Some(("list", "a.txt", b"\xff\xfe\x00")));
    assert_eq!(response.status, 400);
    let large = vec![b'a'; 6 * 1024 * 1024];
    let response = manager.sends(&form, &MEMBER_FIELDS, Some(("list", "a.txt", &large)));
    assert!((400..500).contains(&response.status), "{}", response.status);
    assert_eq!(manager.ads.get(&one, &[])["data"]["audience_size"], Value::Null);
    // Nor is a list taken from whoever did not see the form.
    let path = format!("{}{form}", manager.home);
    let list = Some(("list", "a.txt", bad.as_bytes()));
    let unseen = parts(&path, &[("csrf", "guessed")], list);
    assert_eq!(manager.browser.send(unseen).status, 403);
    let csrf = csrf(&mut manager.browser);
    let elsewhere = parts(&path, &[("csrf", &csrf)], list).header("sec-fetch-site", "cross-site");
    assert_eq!(manager.browser.send(elsewhere).status, 403);
}

#[test]
fn uploaded_member_list_counts_its_users_without_showing_them() {
    let (mut manager, audience) = manager_with_audience();
    let form = format!("/audiences/{audience}/people");
    let some = (shared_server().new_user("listed"), shared_server().new_user("listed"));
    let good = format!(
        "Username;Note\r\n\"@{}\";\"a; b\"\r\n{};\r\nnobodyhere;\r\n",
        some.0.username.to_uppercase(),
        some.1.username
    );
    upload_members(&mut manager, &audience, &good, 2);
    let page = manager.shown(&format!("/audiences/{audience}"));
    assert!(page.contains(">2<") && !page.contains(&some.0.username), "{page}");
    // Pasted, and taken away again.
    let fields = [("operation_type", "Delete"), ("identifier", "svc_id"), ("text", &some.0.id)];
    let response = manager.sends(&form, &fields, None);
    assert_eq!(response.status, 303, "{}", response.text());
}

#[test]
fn audience_is_targeted_shared_revoked_and_deleted_on_pages() {
    let (mut manager, audience) = manager_with_audience();
    upload_members(&mut manager, &audience, &shared_server().new_user("listed").username, 1);
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let target = format!("/line-items/{item}/audience");
    let response = manager.send(&target, &[("audience", ""), ("operator_type", "EQ")]);
    assert_eq!(error_of(&response, "audience"), "This field is required.");
    manager.make(&target, &[("audience", &audience), ("operator_type", "NE")]);
    let criteria = manager.ads.get("/targeting_criteria", &[("line_item_ids", &item)]);
    assert_eq!(criteria["data"][0]["targeting_value"], audience.as_str());
    assert_eq!(criteria["data"][0]["operator_type"], "NE");
    let page = manager.shown(&format!("/audiences/{audience}"));
    assert!(page.contains("Riders"), "{page}");
    let mut other = Manager::new();
    let share = format!("/audiences/{audience}/share");
    let to = other.ads.account.clone();
    let level = ("permission_level", "READ_ONLY");
    let response = manager.send(&share, &[("granted_account_id", "zzzzzzzz"), level]);
    assert!(error_of(&response, "granted_account_id").contains("was not found"));
    let fields = [("granted_account_id", to.as_str()), level];
    assert_eq!(manager.send(&share, &fields).status, 400, "of another business");
    for account in [&manager.ads.account, &to] {
        let set = ["ads", "account", "set", account, "--business", &to];
        shared_server().run_cli(&set).assert_success();
    }
    assert_eq!(manager.send(&share, &fields).status, 303);
    let page = other.shown("/audiences");
    assert!(page.contains("Subscribers"), "{page}");
    let page = other.shown(&format!("/audiences/{audience}"));
    assert!(!page.contains("/share\"") && !page.contains("/people\""), "{page}");
    let page = manager.shown(&format!("/audiences/{audience}"));
    let revoke = format!("{}/audiences/{audience}/revoke", manager.home);
    let fields = hidden(&page, &revoke);
    let response = manager.browser.send(posted(&revoke, &fields));
    assert_eq!(response.status, 303, "{}", response.text());
    assert!(!other.shown("/audiences").contains("Subscribers"));
    assert_eq!(manager.send(&format!("/audiences/{audience}/delete"), &[]).status, 303);
    assert!(!manager.shown("/audiences").contains("Subscribers"));
}
