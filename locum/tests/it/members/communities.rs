//! Communities on pages: found, joined, left and posted to, and who sees what is posted there.

use super::{press, signed_in, submit_to};
use crate::harness::{TestUser, percent_encode, shared_server, unique_number};
use crate::pages::browser::Browser;

/// Creates a community; its path.
#[track_caller]
fn create(owner: &TestUser<'_>, name: &str, more: &[&str]) -> String {
    let command = ["community", "create", name, "--owner", &owner.id];
    let created = shared_server().run_cli(&[&command[..], more].concat()).json();
    format!("/communities/{}", created["id"].as_str().unwrap())
}

fn id_of(path: &str) -> &str {
    path.strip_prefix("/communities/").unwrap()
}

/// Presses a button on the page of a community.
fn act(browser: &mut Browser<'_>, community: &str, verb: &str) -> u16 {
    press(browser, community, &format!("{verb} {}", id_of(community)))
}

/// Sends the form of a post to a community; the status.
fn write(browser: &mut Browser<'_>, community: &str, fields: &[(&str, &str)]) -> u16 {
    let page = browser.get(format!("/compose?community={}", id_of(community)));
    browser.submit(&page, "/compose", fields).status
}

#[test]
fn open_community_is_found_joined_and_left() {
    let server = shared_server();
    let owner = server.new_user("coowner");
    let (_, mut browser) = signed_in(server, "cojoiner");
    let word = format!("harbour{}", unique_number());
    let community = create(&owner, &format!("Open {word}"), &["--description", "Boats and bread"]);
    assert!(browser.get("/communities").assert_page(200).contains("You are not in any community"));
    assert!(browser.get("/communities?tab=newest").assert_page(200).contains(&word));
    let found = browser.get(format!("/communities?q={word}")).assert_page(200);
    assert!(found.contains("Boats and bread") && found.contains(&format!("href=\"{community}\"")));
    let nothing = format!("/communities?q={}", percent_encode("no such words anywhere"));
    assert!(browser.get(nothing).assert_page(200).contains("Nothing was found"));
    let too_long = format!("/communities?q={}", "x".repeat(201));
    assert!(browser.get(too_long).assert_page(400).contains("A search has at most 200 characters."));

    let page = browser.get(&community).assert_page(200);
    assert!(page.contains("Anyone may join.") && page.contains(&owner.username) && !page.contains("Write a post"));
    assert!(page.contains("<span class=\"strong\">1</span> member"));
    for _ in 0..2 {
        assert_eq!(act(&mut browser, &community, "join-community"), 303);
    }
    let page = browser.get(&community).assert_page(200);
    assert!(page.contains("You are a member.") && page.contains("<span class=\"strong\">2</span> members"));
    assert!(browser.get("/communities").assert_page(200).contains(&word));
    let members = browser.get(format!("{community}/members")).assert_page(200);
    assert!(members.contains("cojoiner") && members.contains("coowner"));
    for _ in 0..2 {
        assert_eq!(act(&mut browser, &community, "leave-community"), 303);
    }
    assert!(browser.get("/communities").assert_page(200).contains("You are not in any community"));
    assert!(browser.get(&community).assert_page(200).contains(">Join</button>"));
    browser.get("/communities/1").assert_page(404);
    assert!(Browser::new(server).get("/communities").header("location").starts_with("/login"));
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn join_is_refused_where_members_are_approved() {
    let server = shared_server();
    let owner = server.new_user("coapprove");
    let policy = ["--join-policy", "RestrictedJoinRequestsRequireModeratorApproval"];
    let community = create(&owner, "Approved boats", &policy);
    let (reader, mut browser) = signed_in(server, "coasks");
    let page = browser.get(&community).assert_page(200);
    assert!(page.contains("A moderator approves new members.") && !page.contains(">Join</button>"));
    let act = format!("join-community {}", id_of(&community));
    let refused = submit_to(&mut browser, "/i/actions", &[("act", &act)]).assert_page(403);
    assert!(refused.contains("takes in only whom it has approved"), "{refused}");
    server.run_cli(&["community", "join", id_of(&community), &reader.id, "--approved"]).assert_success();
    assert!(browser.get(&community).assert_page(200).contains("You are a member."));
}

#[test]
fn owner_stays_in_the_community() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "costays");
    let community = create(&owner, "Own boats", &[]);
    let page = browser.get(&community).assert_page(200);
    assert!(page.contains("You are its owner.") && !page.contains(">Leave</button>"));
    let act = format!("leave-community {}", id_of(&community));
    submit_to(&mut browser, "/i/actions", &[("act", &act)]).assert_page(403);
    assert!(browser.get("/communities").assert_page(200).contains("Own boats"));
}

#[test]
fn member_posts_to_the_community() {
    let server = shared_server();
    let owner = server.new_user("coposts");
    let community = create(&owner, "Posting boats", &[]);
    let (_, mut member) = signed_in(server, "cowriter");
    let (_, mut reader) = signed_in(server, "coreads");
    assert_eq!(write(&mut member, &community, &[("text", "Too early")]), 400);
    assert_eq!(act(&mut member, &community, "join-community"), 303);
    assert!(member.get(format!("/compose?community={}", id_of(&community))).text().contains("Posting boats"));
    assert_eq!(write(&mut member, &community, &[("text", "Only inside")]), 303);
    assert_eq!(write(&mut member, &community, &[("text", "Shared too"), ("share", "on")]), 303);
    for browser in [&mut member, &mut reader, &mut Browser::new(server)] {
        let page = browser.get(&community).assert_page(200);
        assert!(page.contains("Only inside") && page.contains("Shared too") && !page.contains("Too early"));
    }
    member.get("/compose?community=1").assert_page(404);
}

#[test]
fn closed_community_shows_posts_and_members_to_members_only() {
    let server = shared_server();
    let (owner, mut inside) = signed_in(server, "coclosed");
    let community = create(&owner, "Closed boats", &["--access", "Closed"]);
    let (_, mut outside) = signed_in(server, "cooutside");
    assert_eq!(write(&mut inside, &community, &[("text", "A secret boat")]), 303);
    assert!(inside.get(&community).assert_page(200).contains("A secret boat"));
    let members = format!("{community}/members");
    inside.get(&members).assert_page(200);
    for browser in [&mut outside, &mut Browser::new(server)] {
        let page = browser.get(&community).assert_page(200);
        assert!(page.contains("Closed boats") && page.contains("This community is closed"));
        assert!(!page.contains("A secret boat"));
        browser.get(&members).assert_page(404);
    }
    assert_eq!(act(&mut outside, &community, "join-community"), 303);
    assert!(outside.get(&community).assert_page(200).contains("A secret boat"));
    outside.get(&members).assert_page(200);
    assert_eq!(act(&mut outside, &community, "leave-community"), 303);
    assert!(!outside.get(&community).assert_page(200).contains("A secret boat"));
}

#[test]
fn post_card_names_the_community_for_those_who_see_the_post() {
    let server = shared_server();
    let (author, mut inside) = signed_in(server, "conames");
    let (_, mut outside) = signed_in(server, "cofollows");
    let open = create(&author, "Named boats", &[]);
    let closed = create(&author, "Secret names", &["--access", "Closed"]);
    assert_eq!(press(&mut outside, &format!("/{}", author.username), &format!("follow {}", author.id)), 303);
    for community in [&open, &closed] {
        assert_eq!(write(&mut inside, community, &[("text", "Ahoy from there"), ("share", "on")]), 303);
    }
    author.publish_text("Ahoy from nowhere");
    let (open_link, closed_link) = (format!("In <a href=\"{open}\">"), format!("In <a href=\"{closed}\">"));
    let profile = format!("/{}", author.username);
    for path in ["/home", profile.as_str()] {
        let page = outside.get(path).assert_page(200);
        assert!(page.contains(&format!("{open_link}<bdi>Named boats</bdi></a>")), "{path}: {page}");
        assert!(!page.contains("Secret names") && page.contains("Ahoy from nowhere"), "{path}: {page}");
        let page = inside.get(path).assert_page(200);
        assert!(page.contains(&open_link) && page.contains(&closed_link), "{path}: {page}");
        assert_eq!(page.matches("<p class=\"soft small\">In <a").count(), 2, "{path}: {page}");
    }
    let page = outside.get(&open).assert_page(200);
    assert!(page.contains("Ahoy from there") && !page.contains(&open_link), "its own page does not repeat it: {page}");
    let id = page.split("id=\"p").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let thread = format!("/{}/status/{id}", author.username);
    assert!(outside.get(thread).assert_page(200).contains(&open_link));
}

#[test]
fn community_has_pages_of_posts() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "copages");
    let community = create(&owner, "Many boats", &[]);
    for number in 0..21 {
        let post = serde_json::json!({ "text": format!("Boat {number:02}"), "community_id": id_of(&community) });
        owner.create_post(&post).assert_status(201);
    }
    let page = browser.get(&community).assert_page(200);
    assert!(page.contains("Boat 20") && page.contains("Boat 01") && !page.contains("Boat 00"));
    let next = page.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let older = browser.get(next).assert_page(200);
    assert!(older.contains("Boat 00") && !older.contains("Boat 01"));
}
