//! What changes is searched as it is now.

use serde_json::{Value, json};

use super::{ask, found, ids, total};
use crate::harness::{TestRequest, own_server, person, shared_server, unique_number};

fn word() -> String {
    format!("zz{}", unique_number())
}

#[test]
fn own_post_is_found_by_the_next_search() {
    let (writer, word) = (person("writer"), word());
    for number in 0..20 {
        let id = writer.publish_text(&format!("{word} number {number}"));
        assert_eq!(found(&writer, &format!("{word} \"number {number}\"")), std::slice::from_ref(&id));
        if number % 3 == 0 {
            writer.delete(format!("/2/posts/{id}")).assert_status(200);
            assert!(found(&writer, &format!("\"number {number}\" {word}")).is_empty());
        }
    }
    assert_eq!(found(&person("other"), &word).len(), 13);
    assert_eq!(total(shared_server(), &word), 13);
}

#[test]
fn latest_version_of_a_post_is_found() {
    let writer = shared_server().new_user_with("editor", &["--subscription-type", "Premium"]);
    let (before, after) = (word(), word());
    let first = writer.publish_text(&format!("{before} as it was"));
    assert_eq!(found(&writer, &before), std::slice::from_ref(&first));
    let edit = json!({ "text": format!("{after} as it is"), "edit_options": { "previous_post_id": first } });
    let second = writer.create_post(&edit).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert!(found(&writer, &before).is_empty());
    assert_eq!(found(&writer, &after), std::slice::from_ref(&second));
    assert_eq!(found(&writer, &format!("from:{}", writer.username)), std::slice::from_ref(&second));
    writer.delete(format!("/2/posts/{second}")).assert_status(200);
    assert!(found(&writer, &after).is_empty());
}

#[test]
fn posts_of_suspended_or_protected_authors_are_not_found() {
    // Searches do not wait for the posts of many other authors who change as well.
    let server = own_server();
    let (author, reader, word) = (server.new_user("author"), server.new_user("reader"), word());
    reader.import_follows(&[&author]);
    let id = author.publish_text(&format!("{word} for all"));
    let shown = |how: bool, when: &str| {
        for viewer in [&reader, &author] {
            // A suspended user cannot ask.
            if ask(viewer, &word, "").status == 200 {
                assert_eq!(found(viewer, &word).len(), usize::from(how), "{when}");
            }
        }
        assert_eq!(total(server, &word), i64::from(how), "{when}");
    };
    shown(true, "at first");
    let change = |args: &[&str]| {
        let command = [&["user"], args, &[author.username.as_str()]].concat();
        server.run_cli(&command).json();
    };
    change(&["protect"]);
    shown(false, "protected");
    let more = author.publish_text(&format!("{word} again"));
    shown(false, "protected and written");
    author.delete(format!("/2/posts/{more}")).assert_status(200);
    change(&["unprotect"]);
    shown(true, "open again");
    assert_eq!(found(&reader, &word), [id]);
    change(&["suspend"]);
    shown(false, "suspended");
    change(&["restore"]);
    shown(true, "restored");
    change(&["delete"]);
    shown(false, "deleted");
}

#[test]
fn search_uses_current_usernames_and_blocks() {
    let server = shared_server();
    let (author, reader, word) = (person("author"), person("reader"), word());
    let first = author.publish_text(&word);
    let reply = json!({ "text": format!("{word} too"), "reply": { "in_reply_to_tweet_id": first } });
    let answered = reader.create_post(&reply).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let name = format!("new{}", unique_number());
    server.run_cli(&["user", "edit", &author.username, "--username", &name]).assert_success();
    assert_eq!(found(&reader, &format!("from:{name}")), std::slice::from_ref(&first));
    assert_eq!(found(&reader, &format!("to:{name}")), std::slice::from_ref(&answered));
    assert!(found(&reader, &format!("from:{}", author.username)).is_empty());
    assert!(found(&reader, &format!("is:verified {word}")).is_empty());
    server.run_cli(&["user", "verify", &name, "blue"]).assert_success();
    assert_eq!(found(&reader, &format!("is:verified {word}")), std::slice::from_ref(&first));
    assert_eq!(found(&reader, &word), [answered.clone(), first.clone()]);
    author.post(format!("/2/users/{}/blocking", author.id), &json!({ "target_user_id": reader.id })).assert_status(200);
    assert_eq!(found(&reader, &word), [answered]);
    assert_eq!(total(server, &word), 2);
}

#[test]
fn reposts_and_restricted_posts_are_not_found() {
    let server = shared_server();
    let (author, other, word) = (person("author"), person("other"), word());
    let post = author.publish_text(&word);
    other.post(format!("/2/users/{}/retweets", other.id), &json!({ "tweet_id": post })).assert_status(200);
    assert_eq!(found(&other, &word), std::slice::from_ref(&post));
    for query in [format!("{word} is:retweet"), format!("from:{} is:retweet", other.username)] {
        assert!(found(&other, &query).is_empty());
    }
    assert_eq!(total(server, &word), 1);
}

#[test]
fn posts_for_promotion_only_are_found_unless_the_query_excludes_them() {
    let server = shared_server();
    let (author, word) = (person("author"), word());
    let organic = author.publish_text(&word);
    let nullcast = json!({ "text": format!("{word} sponsored"), "nullcast": true });
    let nullcast = author.create_post(&nullcast).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(found(&author, &word), [nullcast, organic.clone()]);
    assert_eq!(total(server, &word), 2);
    let without = format!("{word} -is:nullcast");
    assert_eq!((found(&author, &without), total(server, &without)), (vec![organic], 1));
    // Also after the author's posts were indexed again.
    server.run_cli(&["user", "verify", &author.username]).assert_success();
    author.publish_text(&format!("{word} later"));
    assert_eq!(total(server, &word), 3);
}

#[test]
fn imported_posts_are_found() {
    let server = shared_server();
    let (reader, word) = (person("reader"), word());
    let author = person("imported");
    let now = base::clock::wall_time().ms();
    let lines: Vec<Value> = (0..60)
        .map(|number| {
            let at = now - 3_600_000 + number * 1_000;
            json!({
                "kind": "post",
                "id": base::id::first_snowflake_at(base::Time::from_ms(at)).to_string(),
                "author": author.id,
                "text": format!("{word} of long ago"),
                "created_at_ms": at,
            })
        })
        .collect();
    server.import_lines(&lines).assert_success();
    for _ in 0..100 {
        if found(&reader, &word).len() == 60 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{} of 60", found(&reader, &word).len());
}

#[test]
fn search_result_has_expansions_in_both_vocabularies() {
    let (author, word) = (person("author"), word());
    let id = author.publish_text(&word);
    let query = format!("&query={word}&expansions=author_id");
    let page = author.get(format!("/2/tweets/search/recent?tweet.fields=public_metrics{query}")).assert_status(200);
    assert_eq!(ids(&page), std::slice::from_ref(&id));
    assert_eq!(page["data"][0]["public_metrics"]["retweet_count"], 0);
    assert_eq!(page["includes"]["users"][0]["username"], author.username.as_str());
    let meta = json!({ "newest_id": id, "oldest_id": id, "result_count": 1 });
    assert_eq!(page["meta"], meta);
    let page = author.get(format!("/2/posts/search/recent?post.fields=public_metrics{query}")).assert_status(200);
    assert_eq!(page["data"][0]["public_metrics"]["repost_count"], 0);
    let nothing = ask(&author, &format!("{word}nothing"), "").assert_status(200);
    assert_eq!(nothing, json!({ "meta": { "result_count": 0 } }));
    let path = format!("/2/posts/search/all?query={word}");
    let server = shared_server();
    let all = server.send(TestRequest::get(path).bearer(&server.default_app().bearer));
    assert_eq!(ids(&all.assert_status(200)), [id]);
}
