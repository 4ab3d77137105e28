//! Searching users, affiliations, names, and changes by operators.

use serde_json::{Value, json};

use crate::harness::{TestServer, TestUser, percent_encode, person, shared_server, unique_number};

fn edit(who: &TestUser<'_>, more: &[&str]) -> Value {
    let all = [&["user", "edit", &who.id][..], more].concat();
    shared_server().run_cli(&all).json()
}

/// The handles that a search finds, page by page.
fn found(reader: &TestUser<'_>, query: &str, page: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let path = format!("/2/users/search?query={}&max_results={page}", percent_encode(query));
    let mut at = path.clone();
    loop {
        let body = reader.get(&at).assert_status(200);
        let users = body["data"].as_array().cloned().unwrap_or_default();
        assert!(users.len() <= page, "{body}");
        names.extend(users.iter().map(|user| user["username"].as_str().unwrap().to_owned()));
        match body["meta"]["next_token"].as_str() {
            Some(token) => at = format!("{path}&next_token={token}"),
            None => return names,
        }
    }
}

#[test]
fn user_search_ranks_username_name_and_description() {
    // A word that nobody else has.
    let word = format!("q{}x", unique_number());
    let [handle, name, bio, other] = ["a", "b", "c", "d"].map(person);
    edit(&handle, &["--username", &format!("{word}_h")]);
    edit(&name, &["--name", &format!("Zoë {}", word.to_uppercase())]);
    let text = format!("Ships {word}s, says O'Brien");
    edit(&bio, &["--description", &text]);
    let all = [format!("{word}_h"), name.username.clone(), bio.username.clone()];
    for page in [1, 2, 10] {
        assert_eq!(found(&other, &word, page), all, "pages of {page}");
    }
    assert_eq!(found(&other, &word.to_uppercase(), 10), all);
    assert_eq!(found(&other, &word[..word.len() - 1], 10), all, "a beginning");
    for (query, who) in [
        (format!("{word} ZOE"), &all[1]),
        (format!("obrien {word}"), &all[2]),
        (format!("O'Brien {word}"), &all[2]),
        (format!("{word}_h"), &all[0]),
        (format!("  {word}_ "), &all[0]),
    ] {
        assert_eq!(found(&other, &query, 10), [who.as_str()], "{query:?}");
    }
    for nobody in [format!("{word} nobodyhasthis"), format!("x{word}"), "' '".to_owned()] {
        assert!(found(&other, &nobody, 10).is_empty(), "{nobody:?}");
    }
    // Who is out of sight is not found, and who changes is found by what they are now.
    shared_server().run_cli(&["user", "suspend", &name.id]).assert_success();
    assert_eq!(found(&other, &word, 10), [all[0].as_str(), &all[2]]);
    shared_server().run_cli(&["user", "restore", &name.id]).assert_success();
    edit(&bio, &["--description", "Nothing"]);
    assert_eq!(found(&other, &word, 10), all[..2]);
}

#[test]
fn user_search_is_paged_both_ways_and_refuses_invalid_queries() {
    let word = format!("w{}y", unique_number());
    let reader = person("reader");
    let users: Vec<TestUser<'_>> = (0..5).map(|_| person("x")).collect();
    for someone in &users {
        // Twice over, and listed once.
        edit(someone, &["--name", &word, "--description", &word]);
    }
    let expected: Vec<&str> = users.iter().map(|one| one.username.as_str()).collect();
    assert_eq!(found(&reader, &word, 2), expected, "the older account first");
    let path = format!("/2/users/search?query={word}&max_results=2");
    let first = reader.get(&path).assert_status(200);
    let token = first["meta"]["next_token"].as_str().unwrap();
    let second = reader.get(format!("{path}&next_token={token}")).assert_status(200);
    assert_eq!(second["data"][0]["username"], expected[2]);
    let token = second["meta"]["previous_token"].as_str().unwrap();
    let back = reader.get(format!("{path}&next_token={token}")).assert_status(200);
    assert_eq!(back["data"], first["data"]);
    assert!(back["meta"].get("previous_token").is_none(), "{back}");
    let pattern = "^[A-Za-z0-9_' ]{1,50}$";
    for bad in ["", "a%2Db", "%C3%A9", &"a".repeat(51)] {
        let response = reader.get(format!("/2/users/search?query={bad}"));
        response.assert_problem(400, "invalid-request");
        if !bad.is_empty() {
            let message = response.error_messages();
            assert!(message.iter().any(|text| text.contains(pattern)), "{message:?}");
        }
    }
    for bad in [
        "/2/users/search".to_owned(),
        format!("{path}&next_token=nonsense"),
        format!("/2/users/search?query={word}&max_results=1001"),
        format!("/2/users/search?query={word}&max_results=0"),
    ] {
        reader.get(bad).assert_problem(400, "invalid-request");
    }
    let other = format!("/2/users/search?query=other&next_token={token}");
    reader.get(other).assert_problem(400, "invalid-request");
}

#[test]
fn affiliate_has_a_badge_and_is_listed_by_its_organization() {
    let [org, one, two, reader] = ["org", "one", "two", "reader"].map(person);
    let server = shared_server();
    for who in [&one, &two] {
        let badge = ["--description", "Org", "--badge-url", "https://org.example/b.png"];
        let give = ["user", "affiliate", &who.id, &org.username];
        server.run_cli(&[&give[..], &badge].concat()).assert_success();
    }
    let path = format!("/2/users/{}/affiliates", org.id);
    let listed = |path: &str| {
        let body = reader.get(path).assert_status(200);
        let users = body["data"].as_array().cloned().unwrap_or_default();
        users.iter().map(|user| user["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&path), [two.id.as_str(), &one.id]);
    assert_eq!(listed(&format!("{path}?max_results=1")), [two.id.as_str()]);
    let shown = format!("/2/users/{}?user.fields=affiliation&expansions=affiliation", one.id);
    let body = reader.get(&shown).assert_status(200);
    let badge = json!({
        "badge_url": "https://org.example/b.png",
        "description": "Org",
        "user_id": [org.id],
    });
    assert_eq!(body["data"]["affiliation"], badge);
    assert_eq!(body["includes"]["users"][0]["id"], org.id.as_str());
    server.run_cli(&["user", "unaffiliate", &one.id]).assert_success();
    assert_eq!(listed(&path), [two.id.as_str()]);
    assert!(reader.get(&shown).assert_status(200)["data"].get("affiliation").is_none());
    server.run_cli(&["user", "affiliate", &org.id, &org.id]).assert_refused();
    reader.get("/2/users/x/affiliates").assert_problem(400, "invalid-request");
    let nobody = reader.get("/2/users/1/affiliates").assert_status(200);
    assert_eq!(nobody["errors"][0]["title"], "Not Found Error");
}

/// A profile as a viewer sees it.
fn profile(viewer: &TestUser<'_>, who: &TestUser<'_>) -> Value {
    let fields = "description,location,url,name,username,verified_type,verified,protected,\
                  profile_image_url,entities,subscription_type";
    let path = format!("/2/users/{}?user.fields={fields}", who.id);
    viewer.get(path).assert_status(200)["data"].clone()
}

#[test]
fn operator_edits_a_profile_and_invalid_values_change_nothing() {
    let (who, reader) = (person("who"), person("reader"));
    let seen = |viewer: &TestUser<'_>| profile(viewer, &who);
    let handle = format!("n{}", unique_number());
    let texts = [
        "--username",
        &handle,
        "--name",
        "New",
        "--description",
        "See https://a.example #tag",
        "--location",
        "Here",
        "--website",
        "https://who.example",
        "--picture",
        "https://img.example/p_normal.jpg",
    ];
    edit(&who, &texts);
    let now = seen(&reader);
    assert_eq!((&now["username"], &now["name"]), (&json!(handle), &json!("New")));
    assert_eq!(now["location"], "Here");
    assert_eq!(now["entities"]["description"]["hashtags"][0]["tag"], "tag");
    assert_eq!(now["profile_image_url"], "https://img.example/p_normal.jpg");
    let name = |name: &str| reader.get(format!("/2/users/by/username/{name}")).assert_status(200);
    assert_eq!(name(&handle)["data"]["id"], who.id.as_str());
    assert!(name(&who.username).get("data").is_none(), "the old handle is free");
    for (flag, value) in [
        ("--username", reader.username.as_str()),
        ("--username", "no-handle"),
        ("--name", ""),
        ("--description", &"x".repeat(161)),
        ("--website", "javascript:x"),
    ] {
        shared_server().run_cli(&["user", "edit", &who.id, flag, value]).assert_refused();
    }
    assert_eq!(seen(&reader), now, "what is refused changes nothing");
}

#[test]
fn operator_verifies_protects_and_upgrades_a_user_and_revokes_it() {
    let (who, reader, server) = (person("who"), person("reader"), shared_server());
    let seen = |viewer: &TestUser<'_>| profile(viewer, &who);
    server.run_cli(&["user", "verify", &who.id, "business"]).assert_success();
    server.run_cli(&["user", "premium", &who.id, "PremiumPlus"]).assert_success();
    server.run_cli(&["user", "protect", &who.id]).assert_success();
    let marked = seen(&reader);
    assert_eq!((&marked["verified_type"], &marked["protected"]), (&json!("business"), &json!(true)));
    assert_eq!(marked["subscription_type"], "None", "for oneself only");
    assert_eq!(seen(&who)["subscription_type"], "PremiumPlus");
    let long = "word ".repeat(100);
    who.create_post(&json!({ "text": long.trim() })).assert_status(201);
    server.run_cli(&["user", "premium", &who.id, "Gold"]).assert_refused();
    server.run_cli(&["user", "premium", &who.id, "None"]).assert_success();
    server.run_cli(&["user", "verify", &who.id, "none"]).assert_success();
    server.run_cli(&["user", "unprotect", &who.id]).assert_success();
    assert_eq!(seen(&reader)["verified"], false);
}

#[test]
fn deleted_user_can_be_restored_without_their_tokens() {
    let (who, reader) = (person("who"), person("reader"));
    let post = who.publish_text("Here I am");
    let server = shared_server();
    server.run_cli(&["user", "delete", &who.id]).assert_success();
    let profile = reader.get(format!("/2/users/{}", who.id)).assert_status(200);
    assert_eq!(profile["errors"][0]["title"], "Not Found Error");
    for path in [
        format!("/2/posts/{post}"),
        format!("/2/users/by/username/{}", who.username),
        format!("/2/users/by/username/{}/posts", who.username),
        format!("/2/users/by/username/{}/mentions", who.username),
    ] {
        let body = reader.get(&path).assert_status(200);
        assert!(body.get("data").is_none() && body["errors"].is_array(), "{path}: {body}");
    }
    server.run_cli(&["user", "suspend", &who.id]).assert_exit_code(1);
    server.run_cli(&["user", "restore", &who.id]).assert_success();
    assert_eq!(reader.fetch_post(&post, "text")["text"], "Here I am");
    who.get("/2/users/me").assert_legacy_code(401, 89);
    let token = who.new_token(&[]);
    let me = crate::harness::TestRequest::get("/2/users/me").bearer(&token);
    assert_eq!(server.send(me).assert_status(200)["data"]["id"], who.id.as_str());
}

#[test]
fn users_of_an_older_database_are_indexed_at_startup() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let handle = server.new_user("elder").username;
    server.stop();
    server.run_sql("DELETE FROM user_word; DELETE FROM meta WHERE key = 'user_words_of_all_scripts'");
    server.restart();
    let reader = server.new_user("reader");
    assert_eq!(found(&reader, "elder", 10), [handle]);
}
