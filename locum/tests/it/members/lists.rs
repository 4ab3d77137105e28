//! Lists on pages: who sees and changes them.

use serde_json::json;

use super::{press, signed_in, submit_to};
use crate::harness::{TestUser, shared_server};
use crate::pages::browser::Browser;

/// Creates a list with the form; its path.
#[track_caller]
fn create(browser: &mut Browser<'_>, name: &str, more: &[(&str, &str)]) -> String {
    let page = browser.get("/lists/new");
    let reply = browser.submit(&page, "/lists/new", &[&[("name", name)], more].concat());
    assert_eq!(reply.status, 303, "{}", reply.text());
    let path = reply.header("location").to_owned();
    assert!(path.starts_with("/lists/"), "{path}");
    path
}

fn id_of(path: &str) -> &str {
    path.strip_prefix("/lists/").unwrap()
}

#[track_caller]
fn add(browser: &mut Browser<'_>, list: &str, username: &str) {
    let action = format!("{list}/members");
    let page = browser.get(&action);
    let reply = browser.submit(&page, &action, &[("username", username)]);
    assert_eq!((reply.status, reply.header("location")), (303, action.as_str()), "{}", reply.text());
}

fn owned_lists(user: &TestUser<'_>) -> usize {
    let lists = user.get(format!("/2/users/{}/owned_lists", user.id)).assert_status(200);
    lists["data"].as_array().map_or(0, Vec::len)
}

#[test]
fn list_shows_the_posts_of_its_members() {
    let server = shared_server();
    let author = server.new_user("liauthor");
    author.publish_text("A boat on the list");
    let (_, mut browser) = signed_in(server, "liowner");
    assert!(browser.get("/lists").assert_page(200).contains("You have no lists"));
    let list = create(&mut browser, "Harbours", &[("description", "Boats and bread")]);
    assert!(browser.get("/lists").assert_page(200).contains("Boats and bread"));
    assert!(browser.get(&list).assert_page(200).contains("Add people"));
    add(&mut browser, &list, &format!("@{}", author.username));
    assert!(browser.get(&list).assert_page(200).contains("A boat on the list"));
    assert!(Browser::new(server).get(&list).assert_page(200).contains("A boat on the list"));
    let members = format!("{list}/members");
    assert!(browser.get(&members).assert_page(200).contains(&author.username));
    let remove = format!("unlist {} {}", id_of(&list), author.id);
    assert_eq!(press(&mut browser, &members, &remove), 303);
    assert!(browser.get(&members).assert_page(200).contains("Nobody is on this list"));
    assert!(!browser.get(&list).assert_page(200).contains("A boat on the list"));
}

#[test]
fn list_form_that_is_sent_twice_creates_one_list() {
    let (owner, mut browser) = signed_in(shared_server(), "litwice");
    let page = browser.get("/lists/new");
    for _ in 0..2 {
        assert_eq!(browser.submit(&page, "/lists/new", &[("name", "Once")]).status, 303);
    }
    assert_eq!(owned_lists(&owner), 1);
}

#[test]
fn list_is_refused_with_the_limit_at_its_field() {
    let (owner, mut browser) = signed_in(shared_server(), "lilimits");
    let mut refuse = |path: &str, fields: &[(&str, &str)], why: &str| {
        let page = browser.get(path);
        let reply = browser.submit(&page, path, fields).assert_page(400);
        assert!(reply.contains(why) && reply.contains("aria-invalid"), "no {why:?} in {reply}");
    };
    let name = "A name has 1 to 25 characters.";
    refuse("/lists/new", &[("name", " ")], name);
    refuse("/lists/new", &[("name", &"x".repeat(26))], name);
    let long = "x".repeat(101);
    let description = "A description has at most 100 characters.";
    refuse("/lists/new", &[("name", "Harbours"), ("description", &long)], description);
    let created = owner.post("/2/lists", &json!({ "name": "Harbours" })).assert_status(201);
    let list = format!("/lists/{}", created["data"]["id"].as_str().unwrap());
    refuse(&format!("{list}/edit"), &[("name", "")], name);
    refuse(&format!("{list}/members"), &[("username", "nobody_has_it")], "There is no account called @nobody_has_it.");
    refuse(&format!("{list}/members"), &[("username", "")], "Enter a username.");
    let (hidden, mut hidden_browser) = signed_in(shared_server(), "liblocks");
    assert_eq!(press(&mut hidden_browser, &format!("/{}", owner.username), &format!("block {}", owner.id)), 303);
    refuse(&format!("{list}/members"), &[("username", &hidden.username)], "You have been blocked");
    assert_eq!(owned_lists(&owner), 1);
}

#[test]
fn private_list_does_not_exist_for_others() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "liprivate");
    let (reader, mut stranger) = signed_in(server, "listrange");
    let list = create(&mut browser, "Secret boats", &[("private", "on")]);
    add(&mut browser, &list, &reader.username);
    for path in [list.clone(), format!("{list}/members"), format!("{list}/edit"), format!("{list}/delete")] {
        assert!(browser.get(&path).status == 200, "{path}");
        stranger.get(&path).assert_page(404);
    }
    Browser::new(server).get(&list).assert_page(404);
    assert_eq!(submit_to(&mut stranger, &format!("{list}/edit"), &[("name", "Mine")]).status, 404);
    assert_eq!(submit_to(&mut stranger, &format!("{list}/delete"), &[]).status, 404);
    assert_eq!(submit_to(&mut stranger, &format!("{list}/members"), &[("username", &reader.username)]).status, 404);
    let profile = format!("/{}", owner.username);
    for verb in ["follow-list", "pin-list"] {
        let shown = press(&mut stranger, &profile, &format!("{verb} {}", id_of(&list)));
        assert_ne!(shown, 303, "{verb}");
    }
    assert!(!stranger.get("/lists").assert_page(200).contains("Secret boats"));
    assert!(browser.get("/lists").assert_page(200).contains("Secret boats"));
}

#[test]
fn list_of_someone_else_is_followed_and_pinned_but_not_changed() {
    let server = shared_server();
    let (_, mut browser) = signed_in(server, "lipublic");
    let (reader, mut follower) = signed_in(server, "lifollow");
    let list = create(&mut browser, "Open boats", &[]);
    let id = id_of(&list).to_owned();
    assert!(follower.get("/lists?tab=followed").assert_page(200).contains("You follow no lists"));
    for (act, mark) in [("follow-list", "unfollow-list"), ("pin-list", "unpin-list")] {
        assert_eq!(press(&mut follower, &list, &format!("{act} {id}")), 303);
        assert!(follower.get(&list).assert_page(200).contains(&format!("value=\"{mark} {id}\"")), "{act}");
    }
    assert!(follower.get("/lists?tab=followed").assert_page(200).contains("Open boats"));
    assert!(follower.get("/lists").assert_page(200).contains("Open boats"), "pinned");
    follower.get(format!("{list}/edit")).assert_page(404);
    assert_eq!(submit_to(&mut follower, &format!("{list}/edit"), &[("name", "Mine")]).status, 404);
    assert_eq!(submit_to(&mut follower, &format!("{list}/delete"), &[]).status, 404);
    let add_self = [("username", reader.username.as_str())];
    assert_eq!(submit_to(&mut follower, &format!("{list}/members"), &add_self).status, 404);
    assert_ne!(press(&mut follower, &list, &format!("list {id} {}", reader.id)), 303);
    assert!(browser.get(&list).assert_page(200).contains("<span class=\"strong\">0</span> members"));

    let page = browser.get(format!("{list}/edit"));
    assert_eq!(
        browser.submit(&page, &format!("{list}/edit"), &[("name", "Closed boats"), ("private", "on")]).status,
        303
    );
    follower.get(&list).assert_page(404);
    assert!(!follower.get("/lists").assert_page(200).contains("boats"), "a private list has no pins of others");
    assert!(browser.get(&list).assert_page(200).contains("Closed boats"));
}

#[test]
fn sixth_pin_is_refused() {
    let (_, mut browser) = signed_in(shared_server(), "lipins");
    for number in 0..6 {
        let list = create(&mut browser, &format!("List {number}"), &[]);
        let act = format!("pin-list {}", id_of(&list));
        let page = browser.get(&list);
        let reply = browser.submit(&page, "/i/actions", &[("act", &act)]);
        if number < 5 {
            assert_eq!(reply.status, 303);
        } else {
            assert!(reply.assert_page(403).contains("You may pin at most 5 lists."));
        }
    }
}

#[test]
fn list_is_deleted_after_a_confirmation() {
    let (owner, mut browser) = signed_in(shared_server(), "lidelete");
    let list = create(&mut browser, "Short lived", &[]);
    let action = format!("{list}/delete");
    let page = browser.get(&action);
    assert!(page.text().contains("Short lived"));
    assert_eq!(owned_lists(&owner), 1, "asking deletes nothing");
    for _ in 0..2 {
        let reply = browser.submit(&page, &action, &[]);
        assert_eq!((reply.status, reply.header("location")), (303, "/lists"));
    }
    browser.get(&list).assert_page(404);
    assert_eq!(owned_lists(&owner), 0);
}

#[test]
fn person_is_added_to_lists_from_their_profile() {
    let server = shared_server();
    let person = server.new_user("liperson");
    let (_, mut browser) = signed_in(server, "liadder");
    let path = format!("/{}/lists", person.username);
    assert!(browser.get(format!("/{}", person.username)).assert_page(200).contains(&format!("href=\"{path}\"")));
    assert!(browser.get(&path).assert_page(200).contains("You have no lists"));
    let list = create(&mut browser, "Friends", &[]);
    let id = id_of(&list).to_owned();
    for (act, mark) in [("list", "unlist"), ("unlist", "list")] {
        assert_eq!(press(&mut browser, &path, &format!("{act} {id} {}", person.id)), 303);
        let page = browser.get(&path).assert_page(200);
        assert!(page.contains(&format!("value=\"{mark} {id} {}\"", person.id)), "{act}");
    }
    assert!(Browser::new(server).get(&path).header("location").starts_with("/login"));
    browser.get("/nobody_has_it/lists").assert_page(404);
}
