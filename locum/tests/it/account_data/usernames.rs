//! Changing one's own username.

use super::{PASSWORD, is_shown, signed_in};
use crate::harness::{TestResponse, shared_server, unique_number};
use crate::pages::browser::Browser;

const ACCOUNT_PATH: &str = "/settings/account";
const USERNAME_PATH: &str = "/settings/account/username";

fn rename(browser: &mut Browser<'_>, username: &str, password: &str) -> TestResponse {
    let page = browser.get(ACCOUNT_PATH);
    browser.submit(&page, USERNAME_PATH, &[("username", username), ("username_password", password)])
}

#[test]
fn username_is_changed_three_times_and_the_old_one_is_free() {
    let server = shared_server();
    let (user, mut browser) = signed_in(server, "before");
    let reader = server.new_user("reader");
    let word = format!("zz{}", unique_number());
    let post = user.publish_text(&word);
    let names: Vec<String> = ["a", "b", "c", "d"].map(|name| format!("{name}{}", unique_number())).into();
    assert!(rename(&mut browser, &names[0], "not my secret").assert_page(400).contains("The password is wrong"));
    let reply = rename(&mut browser, &names[0], PASSWORD);
    assert_eq!((reply.status, reply.header("location")), (303, "/settings/account?done=username"));
    assert!(browser.get(reply.header("location")).assert_page(200).contains("Your username was changed."));

    assert!(is_shown(&reader, &format!("/2/users/by/username/{}", names[0])));
    assert!(!is_shown(&reader, &format!("/2/users/by/username/{}", user.username)));
    let mut visitor = Browser::new(server);
    visitor.get(format!("/{}", names[0])).assert_page(200);
    visitor.get(format!("/{}", user.username)).assert_page(404);
    let search = reader.get(format!("/2/users/search?query={}", names[0])).assert_status(200);
    assert_eq!(search["data"][0]["id"], user.id);
    assert_eq!(super::find_posts(&reader, &format!("from:{}", names[0])), [post]);
    assert_eq!(Browser::new(server).sign_in(&names[0], PASSWORD, "/home").status, 303);
    // Someone else may take it.
    server.run_cli(&["user", "create", &user.username]).assert_success();

    for name in &names[1..3] {
        assert_eq!(rename(&mut browser, name, PASSWORD).status, 303);
    }
    assert!(rename(&mut browser, &names[3], PASSWORD).assert_page(429).contains("Too many attempts"));
    assert!(is_shown(&reader, &format!("/2/users/by/username/{}", names[2])));
}

#[test]
fn username_that_is_taken_reserved_or_invalid_is_refused() {
    let server = shared_server();
    let (user, mut browser) = signed_in(server, "named");
    let other = server.new_user("other");
    for (name, why) in [
        (other.username.to_uppercase().as_str(), "This username is taken"),
        ("Settings", "This username is taken"),
        ("Support", "This username is taken"),
        ("no spaces", "Use 1 to 15 letters"),
        ("sixteen_letters_", "Use 1 to 15 letters"),
        ("", "Use 1 to 15 letters"),
    ] {
        let page = rename(&mut browser, name, PASSWORD).assert_page(400);
        assert!(page.contains(why), "{name}: {page}");
    }
    assert!(is_shown(&user, &format!("/2/users/by/username/{}", user.username)));
}
