//! Bookmark folders on pages: what they show, and what is refused.

use serde_json::{Value, json};

use super::{press, signed_in, submit_to};
use crate::harness::{TestUser, shared_server};
use crate::pages::browser::Browser;

fn create_folder(browser: &mut Browser<'_>, name: &str) -> u16 {
    let page = browser.get("/bookmarks");
    browser.submit(&page, "/bookmarks", &[("name", name)]).status
}

/// Latest first.
fn folder_ids(owner: &TestUser<'_>) -> Vec<String> {
    let folders = owner.get(format!("/2/users/{}/bookmarks/folders", owner.id)).assert_status(200);
    let folders = folders["data"].as_array().map(Vec::as_slice).unwrap_or_default().iter();
    folders.map(|folder| folder["id"].as_str().unwrap().to_owned()).collect()
}

fn folder_posts(owner: &TestUser<'_>, folder: &str) -> Value {
    owner.get(format!("/2/users/{}/bookmarks/folders/{folder}", owner.id)).assert_status(200)["data"].clone()
}

#[test]
fn bookmarks_are_put_into_folders_and_taken_out_on_pages() {
    let server = shared_server();
    let author = server.new_user("bfauthor");
    let post = author.publish_text("Bread with caraway");
    let (owner, mut browser) = signed_in(server, "bfowner");
    assert!(browser.get("/bookmarks").assert_page(200).contains("Create one here"));
    assert_eq!(press(&mut browser, &format!("/{}", author.username), &format!("bookmark {post}")), 303);
    assert_eq!([create_folder(&mut browser, "Recipes"), create_folder(&mut browser, "Places")], [303, 303]);
    let [places, recipes]: [String; 2] = folder_ids(&owner).try_into().unwrap();
    let folder = format!("/bookmarks/{recipes}");
    assert!(browser.get(&folder).assert_page(200).contains("This folder has no posts"));
    let page = browser.get("/bookmarks").assert_page(200);
    for option in [format!("add-to-folder {post} {recipes}"), format!("add-to-folder {post} {places}")] {
        assert!(page.contains(&format!("<option value=\"{option}\"")), "no {option} in {page}");
    }
    for _ in 0..2 {
        assert_eq!(press(&mut browser, "/bookmarks", &format!("add-to-folder {post} {recipes}")), 303);
    }
    assert_eq!(folder_posts(&owner, &recipes), json!([{ "id": post }]));
    server.run_cli(&["user", "protect", &author.id]).assert_success();
    assert_eq!(folder_posts(&owner, &recipes), Value::Null, "a post that cannot be seen");
    server.run_cli(&["user", "unprotect", &author.id]).assert_success();
    let page = browser.get("/bookmarks").assert_page(200);
    assert!(page.contains("1 post<") && page.contains("0 posts<"), "{page}");
    assert!(page.contains(&format!("<option value=\"remove-from-folder {post} {recipes}\"")), "{page}");
    assert!(browser.get(&folder).assert_page(200).contains("Bread with caraway"));
    for _ in 0..2 {
        assert_eq!(press(&mut browser, "/bookmarks", &format!("remove-from-folder {post} {recipes}")), 303);
    }
    assert!(browser.get(&folder).assert_page(200).contains("This folder has no posts"));
    assert!(browser.get("/bookmarks").assert_page(200).contains("Bread with caraway"), "it stays bookmarked");
}

#[test]
fn bookmark_folder_is_refused_with_the_limit_at_its_field() {
    let (owner, mut browser) = signed_in(shared_server(), "bflimits");
    for (name, why) in [("x".repeat(26), "A name has 1 to 25 characters."), (" ".to_owned(), "A name has 1 to 25")] {
        let page = browser.get("/bookmarks");
        let reply = browser.submit(&page, "/bookmarks", &[("name", &name)]).assert_page(400);
        assert!(reply.contains(why) && reply.contains("aria-invalid"), "no {why:?} in {reply}");
    }
    assert!(folder_ids(&owner).is_empty());
    let page = browser.get("/bookmarks");
    for _ in 0..2 {
        assert_eq!(browser.submit(&page, "/bookmarks", &[("name", "Once")]).status, 303);
    }
    assert_eq!(folder_ids(&owner).len(), 1, "a form that is sent twice creates one folder");
}

#[test]
fn bookmark_folder_of_another_member_is_not_found() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "bfprivate");
    let post = owner.publish_text("Mine");
    assert_eq!(create_folder(&mut browser, "Secret plans"), 303);
    let folder = folder_ids(&owner).remove(0);
    let path = format!("/bookmarks/{folder}");
    assert_eq!(Browser::new(server).get(&path).status, 303, "visitors sign in first");
    let (_, mut other) = signed_in(server, "bfother");
    assert!(!other.get(&path).assert_page(404).contains("Secret plans"));
    for act in ["add-to-folder", "remove-from-folder"] {
        let act = format!("{act} {post} {folder}");
        submit_to(&mut other, "/i/actions", &[("act", &act)]).assert_page(404);
    }
    assert!(!other.get("/bookmarks").assert_page(200).contains("Mine"), "nothing is stored half");
}

#[test]
fn bookmark_folder_shows_only_posts_that_its_owner_may_see() {
    let server = shared_server();
    let author = server.new_user("bfhides");
    let post = author.publish_text("Soon hidden");
    let (owner, mut browser) = signed_in(server, "bfreader");
    assert_eq!(create_folder(&mut browser, "Later"), 303);
    let folder = folder_ids(&owner).remove(0);
    let body = json!({ "tweet_id": post, "folder_id": folder });
    owner.post(format!("/2/users/{}/bookmarks", owner.id), &body).assert_status(200);
    let path = format!("/bookmarks/{folder}");
    assert!(browser.get(&path).assert_page(200).contains("Soon hidden"));
    server.run_cli(&["user", "delete", &author.username]).assert_success();
    assert!(!browser.get(&path).assert_page(200).contains("Soon hidden"));
}

/// The id of the folder that comes after so many newer ones.
fn folder_ids_after(owner: &TestUser<'_>, count: usize) -> String {
    let first = owner.get(format!("/2/users/{}/bookmarks/folders?max_results=100", owner.id)).assert_status(200);
    let token = first["meta"]["next_token"].as_str().unwrap();
    let path = format!("/2/users/{}/bookmarks/folders?max_results=100&pagination_token={token}", owner.id);
    assert_eq!(first["data"].as_array().unwrap().len(), count);
    owner.get(path).assert_status(200)["data"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn bookmark_folders_beyond_a_page_are_reached_by_links() {
    let (owner, mut browser) = signed_in(shared_server(), "bfmany");
    let folders = format!("/2/users/{}/bookmarks/folders", owner.id);
    for number in 0..101 {
        owner.post(&folders, &json!({ "name": format!("Folder {number}") })).assert_accepted();
    }
    let page = browser.get("/bookmarks").assert_page(200);
    assert!(page.contains("Folder 100<") && !page.contains("Folder 0<"), "{page}");
    let (_, next) = page.split_once("href=\"/bookmarks?folders=").unwrap();
    let older = format!("/bookmarks?folders={}", next.split_once('"').unwrap().0);
    assert!(browser.get(&older).assert_page(200).contains("Folder 0<"));
    let post = owner.publish_text("Filed far down");
    let oldest = folder_ids_after(&owner, 100);
    assert_eq!(press(&mut browser, &format!("/{}", owner.username), &format!("bookmark {post}")), 303);
    let option = format!("<option value=\"add-to-folder {post} {oldest}\">Put into Folder 0</option>");
    for path in ["/bookmarks", older.as_str()] {
        let page = browser.get(path).assert_page(200);
        assert!(page.contains(&option) && page.contains(">Put into Folder 100<"), "{path}: {page}");
    }
    assert_eq!(press(&mut browser, "/bookmarks", &format!("add-to-folder {post} {oldest}")), 303);
    let page = browser.get("/bookmarks").assert_page(200);
    assert!(page.contains(&format!("<option value=\"remove-from-folder {post} {oldest}\"")), "{page}");
    assert!(page.contains(&format!("<a class=\"badge\" href=\"/bookmarks/{oldest}\">")), "{page}");
}
