//! Timelines: walked while others write, bounded, and their tokens.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, percent_encode, person, shared_server};

/// The ids of a page.
fn ids(page: &Value) -> Vec<String> {
    let posts = page["data"].as_array().cloned().unwrap_or_default();
    posts.iter().map(|post| post["id"].as_str().unwrap().to_owned()).collect()
}

/// Pages from the newest on, by the token that each gives.
fn walk(user: &TestUser<'_>, path: &str) -> Vec<Value> {
    let mut pages: Vec<Value> = Vec::new();
    let join = if path.contains('?') { '&' } else { '?' };
    loop {
        let token = pages.last().and_then(|page| page["meta"]["next_token"].as_str());
        let path = match token {
            Some(token) => format!("{path}{join}pagination_token={token}"),
            None if pages.is_empty() => path.to_owned(),
            None => return pages,
        };
        pages.push(user.get(path).assert_status(200));
        assert!(pages.len() < 100, "it does not end");
    }
}

fn number(id: &str) -> u64 {
    id.parse().unwrap()
}

/// Five pages and more of a timeline, walked while `write` adds to it: each of the posts that
/// were there comes once, newest first.
fn is_walked_whole(reader: &TestUser<'_>, path: &str, there: &[String], write: impl Fn(u32) + Sync) {
    let (done, began) = (AtomicBool::new(false), AtomicBool::new(false));
    let pages = std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                write(number);
                began.store(true, Ordering::SeqCst);
                if done.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        while !began.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let pages = walk(reader, path);
        done.store(true, Ordering::SeqCst);
        pages
    });
    assert!(pages.len() >= 5, "{} pages", pages.len());
    let walked: Vec<String> = pages.iter().flat_map(ids).collect();
    let once: HashSet<&String> = walked.iter().collect();
    assert_eq!(once.len(), walked.len(), "something came twice");
    assert!(walked.iter().map(|id| number(id)).is_sorted_by(|one, next| one > next), "out of order");
    let lost: Vec<_> = there.iter().filter(|id| !once.contains(id)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    for (place, page) in pages.iter().enumerate() {
        let meta = &page["meta"];
        assert_eq!(meta["result_count"], ids(page).len());
        assert_eq!(meta["newest_id"].as_str(), ids(page).first().map(String::as_str));
        assert_eq!(meta["oldest_id"].as_str(), ids(page).last().map(String::as_str));
        assert_eq!(meta.get("previous_token").is_some(), place > 0, "page {place}");
        assert_eq!(meta.get("next_token").is_some(), place + 1 < pages.len(), "page {place}");
    }
}

fn says_many(author: &TestUser<'_>, count: usize, text: &str) -> Vec<String> {
    (0..count).map(|number| author.publish_text(&format!("{text} {number}"))).collect()
}

#[test]
fn user_timeline_is_paged_without_repeat_or_gap_during_writes() {
    let (author, reader) = (person("author"), person("reader"));
    let there = says_many(&author, 27, "Post");
    let path = format!("/2/users/{}/posts?max_results=5", author.id);
    is_walked_whole(&reader, &path, &there, |number| {
        author.publish_text(&format!("Meanwhile {number}"));
    });
    let path = format!("/2/users/by/username/{}/posts?max_results=100", author.username);
    assert!(ids(&reader.get(path).assert_status(200)).len() >= 28);
}

#[test]
fn mentions_are_paged_without_repeat_or_gap_during_writes() {
    let (star, fan) = (person("star"), person("fan"));
    let there = says_many(&fan, 26, &format!("@{} hello", star.username));
    let path = format!("/2/users/{}/mentions?max_results=5", star.id);
    is_walked_whole(&star, &path, &there, |number| {
        fan.publish_text(&format!("@{} meanwhile {number}", star.username));
    });
}

#[test]
fn home_timeline_is_paged_without_repeat_or_gap_during_writes() {
    let (reader, one, two) = (person("reader"), person("one"), person("two"));
    reader.import_follows(&[&one, &two]);
    let mut there = says_many(&reader, 3, "Mine");
    for number in 0..12 {
        there.push(one.publish_text(&format!("One {number}")));
        there.push(two.publish_text(&format!("Two {number}")));
    }
    let path = format!("/2/users/{}/timelines/reverse_chronological?max_results=5", reader.id);
    is_walked_whole(&reader, &path, &there, |number| {
        one.publish_text(&format!("Meanwhile {number}"));
    });
    let misspelt = format!("/2/users/{}/timelines/reverse_cronological?max_results=1", reader.id);
    assert_eq!(ids(&reader.get(misspelt).assert_status(200)).len(), 1);
}

#[test]
fn previous_page_tokens_return_the_same_pages() {
    let author = person("author");
    says_many(&author, 23, "Post");
    let path = format!("/2/users/{}/posts?max_results=5", author.id);
    let pages = walk(&author, &path);
    assert_eq!(pages.len(), 5);
    let mut token = pages[4]["meta"]["previous_token"].as_str().unwrap().to_owned();
    for page in pages[..4].iter().rev() {
        let back = author.get(format!("{path}&pagination_token={token}")).assert_status(200);
        assert_eq!(ids(&back), ids(page));
        let next = back["meta"]["next_token"].as_str().expect("one came from there");
        let on = author.get(format!("{path}&pagination_token={next}")).assert_status(200);
        let after = pages.iter().position(|other| ids(other) == ids(page)).unwrap() + 1;
        assert_eq!(ids(&on), ids(&pages[after]));
        token = back["meta"]["previous_token"].as_str().unwrap_or_default().to_owned();
    }
}

#[test]
fn paging_continues_over_deleted_posts() {
    let author = person("author");
    let there = says_many(&author, 12, "Post");
    let path = format!("/2/users/{}/posts?max_results=5", author.id);
    let first = author.get(path.as_str()).assert_status(200);
    // The last of the page and the first of the next are gone before the walk goes on.
    for id in &there[5..9] {
        author.delete(format!("/2/posts/{id}")).assert_status(200);
    }
    let token = first["meta"]["next_token"].as_str().unwrap();
    let second = author.get(format!("{path}&pagination_token={token}")).assert_status(200);
    let rest: Vec<&String> = there[..5].iter().rev().collect();
    assert_eq!(ids(&second).iter().collect::<Vec<_>>(), rest);
}

#[test]
fn timeline_is_bounded_by_ids_and_times() {
    let author = person("author");
    let mut times = Vec::new();
    let mut there = Vec::new();
    for number in 0..4 {
        there.push(author.publish_text(&format!("Post {number}")));
        times.push(author.fetch_post(&there[number], "created_at")["created_at"].as_str().unwrap().to_owned());
        std::thread::sleep(std::time::Duration::from_millis(1_050));
    }
    let path = format!("/2/users/{}/posts?max_results=10", author.id);
    let get = |more: &str| {
        let mut found = ids(&author.get(format!("{path}&{more}")).assert_status(200));
        found.reverse();
        found
    };
    assert_eq!(get(&format!("since_id={}", there[1])), there[2..]);
    assert_eq!(get(&format!("until_id={}", there[1])), there[..1]);
    assert_eq!(get(&format!("since_id={}&until_id={}", there[0], there[3])), there[1..3]);
    let second = |place: usize| format!("{}Z", &times[place][..19]);
    assert_eq!(get(&format!("start_time={}", second(2))), there[2..]);
    assert_eq!(get(&format!("end_time={}", second(2))), there[..2]);
    let end_of_second = |place: usize| second(place).replace('Z', ".999Z");
    assert_eq!(get(&format!("start_time={}", end_of_second(2))), there[2..], "to the second");
    assert_eq!(get(&format!("end_time={}", end_of_second(2))), there[..2]);
    assert_eq!(get(&format!("start_time={}&end_time={}", second(1), second(3))), there[1..3]);
    let none = author.get(format!("{path}&since_id={}", there[3])).assert_status(200);
    assert_eq!(none, json!({ "meta": { "result_count": 0 } }));
    let wrong = [
        format!("start_time={}&end_time={}", second(3), second(1)),
        format!("since_id={}&until_id={}", there[3], there[0]),
        "start_time=yesterday".to_owned(),
        "start_time=2099-01-01T00:00:00Z".to_owned(),
        "start_time=2026-13-01T00:00:00Z".to_owned(),
        "end_time=2026-02-30T00:00:00Z".to_owned(),
        "since_id=-1".to_owned(),
        "until_id=99999999999999999999".to_owned(),
    ];
    for more in wrong {
        author.get(format!("{path}&{more}")).assert_problem(400, "invalid-request");
    }
}

#[test]
fn next_token_is_accepted_as_pagination_token() {
    let author = person("author");
    let posts: Vec<String> = (0..6).map(|number| author.publish_text(&format!("Number {number}"))).collect();
    let path = format!("/2/users/{}/posts?max_results=5", author.id);
    let first = author.get(&path).assert_status(200);
    let token = first["meta"]["next_token"].as_str().unwrap();
    for name in ["next_token", "pagination_token"] {
        assert_eq!(ids(&author.get(format!("{path}&{name}={token}")).assert_status(200)), posts[..1], "{name}");
    }
    author.get(format!("{path}&next_token={token}&pagination_token={token}")).assert_problem(400, "invalid-request");
    author.get(format!("{path}&next_token=x")).assert_problem(400, "invalid-request");
}

#[test]
fn timeline_excludes_replies_on_request() {
    let author = person("author");
    let root = author.publish_text("A root");
    let reply = json!({ "text": "My own reply", "reply": { "in_reply_to_post_id": root } });
    author.create_post(&reply).assert_status(201);
    for timeline in ["posts", "timelines/reverse_chronological"] {
        let path = format!("/2/users/{}/{timeline}", author.id);
        assert_eq!(ids(&author.get(path.as_str()).assert_status(200)).len(), 2);
        assert_eq!(ids(&author.get(format!("{path}?exclude=replies")).assert_status(200)), [root.as_str()]);
        assert_eq!(ids(&author.get(format!("{path}?exclude=replies,retweets")).assert_status(200)), [root.as_str()]);
        author.get(format!("{path}?exclude=everything")).assert_problem(400, "invalid-request");
    }
    author.get(format!("/2/users/{}/mentions?exclude=replies", author.id)).assert_problem(400, "invalid-request");
}

#[test]
fn home_timeline_follows_changes_of_follows() {
    let (reader, author) = (person("reader"), person("author"));
    let early = author.publish_text("Before you came");
    let path = format!("/2/users/{}/timelines/reverse_chronological", reader.id);
    let home = || ids(&reader.get(path.as_str()).assert_status(200));
    assert!(home().is_empty());
    reader.import_follows(&[&author]);
    assert_eq!(home(), [early.as_str()]);
    let late = author.publish_text("After you came");
    assert_eq!(home(), [late.as_str(), &early]);
    author.delete(format!("/2/posts/{late}")).assert_status(200);
    assert_eq!(home(), [early.as_str()]);
    shared_server().run_cli(&["user", "suspend", &author.id]).assert_success();
    assert!(home().is_empty());
}

#[test]
fn mentions_contain_visible_posts_only() {
    let (star, fan) = (person("star"), person("fan"));
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let open = fan.publish_text(&format!("Hello @{}", star.username.to_uppercase()));
    let hidden = shy.publish_text(&format!("@{} but quietly", star.username));
    let path = format!("/2/users/{}/mentions", star.id);
    assert_eq!(ids(&star.get(path.as_str()).assert_status(200)), [open.as_str()]);
    assert_eq!(ids(&shy.get(path.as_str()).assert_status(200)), [hidden.as_str(), &open]);
    star.publish_text(&format!("I am @{}", star.username));
    assert_eq!(ids(&star.get(path.as_str()).assert_status(200)), [open.as_str()], "not one's own");
    let reply = json!({ "text": "No name in it", "reply": { "in_reply_to_post_id": star.publish_text("A root") } });
    let reply = fan.create_post(&reply).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(ids(&star.get(path).assert_status(200)), [reply.as_str(), &open]);
}

#[test]
fn page_includes_each_expanded_object_once() {
    let (author, reader) = (person("author"), person("reader"));
    says_many(&author, 6, "Post");
    let fields = "expansions=author_id&user.fields=created_at&post.fields=created_at";
    let page = reader.get(format!("/2/users/{}/posts?{fields}", author.id)).assert_status(200);
    let users = page["includes"]["users"].as_array().unwrap();
    assert_eq!(users.len(), 1);
    assert_eq!(users[0]["username"], author.username);
    assert!(users[0]["created_at"].is_string());
    let posts = page["data"].as_array().unwrap();
    assert!(posts.iter().all(|post| post["author_id"] == author.id && post["created_at"].is_string()));
}

#[test]
fn tampered_page_token_is_refused() {
    let author = person("author");
    says_many(&author, 12, "Post");
    let path = format!("/2/users/{}/posts?max_results=5", author.id);
    let token = walk(&author, &path)[0]["meta"]["next_token"].as_str().unwrap().to_owned();
    assert!(token.len() >= 16, "{token}");
    let mut forged: Vec<String> = (0..token.len()).map(|end| token[..end].to_owned()).skip(1).collect();
    for place in 0..token.len() {
        let email = if &token[place..=place] == "0" { "1" } else { "0" };
        let mut other = token.clone();
        other.replace_range(place..=place, email);
        forged.push(other);
    }
    forged.extend([token.to_uppercase(), format!("{token}0"), "x".repeat(5_000), "!".to_owned(), "💥".to_owned()]);
    for token in forged {
        let shown: String = token.chars().take(256).collect();
        let response = author.get(format!("{path}&pagination_token={}", percent_encode(&token)));
        let problem = response.assert_problem(400, "invalid-request");
        if token.len() < 256 {
            let sentence = format!("The `pagination_token` query parameter value [{shown}] is not valid");
            response.assert_error(400, &sentence);
        }
        assert!(problem["errors"][0]["parameters"].get("pagination_token").is_some(), "{problem}");
    }
}

#[test]
fn page_token_is_bound_to_its_request() {
    let (author, other) = (person("author"), person("other"));
    says_many(&author, 12, "Post");
    says_many(&other, 12, &format!("@{} post", author.username));
    let path = format!("/2/users/{}/posts?max_results=5", author.id);
    let token = walk(&author, &path)[0]["meta"]["next_token"].as_str().unwrap().to_owned();
    let foreign = [
        format!("/2/users/{}/posts?max_results=5", other.id),
        format!("/2/users/{}/mentions?max_results=5", author.id),
        format!("/2/users/{}/timelines/reverse_chronological?max_results=5", author.id),
        format!("/2/users/{}/posts?max_results=5&exclude=replies", author.id),
        format!("/2/users/{}/posts?max_results=5&since_id=1", author.id),
    ];
    for path in foreign {
        let response = author.get(format!("{path}&pagination_token={token}"));
        response.assert_error(400, &format!("The `pagination_token` query parameter value [{token}] is not valid"));
    }
    let whole = format!("{path}&pagination_token={token}");
    other.get(whole.as_str()).assert_problem(400, "invalid-request");
    shared_server()
        .send(TestRequest::get(whole.as_str()).bearer(&author.app.bearer))
        .assert_problem(400, "invalid-request");
    author.get(format!("/2/users/{}/posts?max_results=7&pagination_token={token}", author.id)).assert_status(200);
    author.get(format!("{whole}&post.fields=created_at")).assert_status(200);
    author.send_signed(TestRequest::get(whole)).assert_status(200);
}

#[test]
fn page_token_survives_a_restart() {
    let mut server = crate::harness::TestServer::start(&[]);
    let (path, token, bearer, first) = {
        let author = server.new_user("author");
        says_many(&author, 12, "Post");
        let path = format!("/2/users/{}/posts?max_results=5", author.id);
        let first = author.get(path.as_str()).assert_status(200);
        let token = first["meta"]["next_token"].as_str().unwrap().to_owned();
        (path, token, author.token, ids(&first))
    };
    server.crash_and_restart();
    let request = TestRequest::get(format!("{path}&pagination_token={token}")).bearer(&bearer);
    let second = ids(&server.send(request).assert_status(200));
    assert_eq!(second.len(), 5);
    assert!(number(&second[0]) < number(&first[4]));
}

#[test]
fn timeline_reaches_back_to_its_newest_posts_only() {
    let server = shared_server();
    let (author, began) = (person("prolific"), 1_600_000_000_000_u64);
    let post = |number: u64| {
        let at = began + number * 60_000;
        let id = ((at - 1_288_834_974_657) << 22) + 5;
        let text = format!("{} {number}", if number.is_multiple_of(2) { "@reached" } else { "plain" });
        json!({ "kind": "post", "id": id.to_string(), "author": author.id, "created_at_ms": at, "text": text })
    };
    let reached = server.run_cli(&["user", "create", "reached"]).json()["id"].as_str().unwrap().to_owned();
    let posts: Vec<Value> = (0..3_250).map(post).collect();
    server.import_lines(&posts).assert_success();
    let oldest = |path: String| {
        let pages = walk(&author, &path);
        let posts: Vec<String> = pages.iter().flat_map(ids).collect();
        (posts.len(), posts.last().cloned().unwrap())
    };
    let id = |number: usize| posts[number]["id"].as_str().unwrap().to_owned();
    let path = format!("/2/users/{}/posts?max_results=100", author.id);
    assert_eq!(oldest(path.clone()), (3_200, id(50)));
    assert_eq!(oldest(format!("{path}&exclude=replies")), (800, id(2_450)));
    assert_eq!(oldest(format!("/2/users/{reached}/mentions?max_results=100")), (800, id(3_248 - 2 * 799)));
    let beyond = author.get(format!("{path}&until_id={}", id(50))).assert_status(200);
    assert_eq!(beyond, json!({ "meta": { "result_count": 0 } }));
    author.get(format!("/2/posts/{}", id(0))).assert_status(200);
}
