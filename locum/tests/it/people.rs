//! People: searched, affiliated, named, and what an operator makes of them.

use serde_json::{Value, json};

use crate::harness::{Person, Server, encode, fresh, shared};

fn person(name: &str) -> Person<'static> {
    shared().person(name)
}

fn edit(who: &Person<'_>, more: &[&str]) -> Value {
    let all = [&["user", "edit", &who.id][..], more].concat();
    shared().cli(&all).json()
}

/// The handles that a search finds, page by page.
fn found(reader: &Person<'_>, query: &str, page: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let path = format!("/2/users/search?query={}&max_results={page}", encode(query));
    let mut at = path.clone();
    loop {
        let body = reader.get(&at).is(200);
        let users = body["data"].as_array().cloned().unwrap_or_default();
        assert!(users.len() <= page, "{body}");
        names.extend(
            users
                .iter()
                .map(|user| user["username"].as_str().unwrap().to_owned()),
        );
        match body["meta"]["next_token"].as_str() {
            Some(token) => at = format!("{path}&next_token={token}"),
            None => return names,
        }
    }
}

#[test]
fn people_are_found_by_handle_name_and_biography_in_this_order() {
    // A word that nobody else has.
    let word = format!("q{}x", fresh());
    let [handle, name, bio, other] = ["a", "b", "c", "d"].map(person);
    edit(&handle, &["--username", &format!("{word}_h")]);
    edit(&name, &["--name", &format!("Zoë {}", word.to_uppercase())]);
    let text = format!("Ships {word}s, says O'Brien");
    edit(&bio, &["--description", &text]);
    let all = [
        format!("{word}_h"),
        name.username.clone(),
        bio.username.clone(),
    ];
    for page in [1, 2, 10] {
        assert_eq!(found(&other, &word, page), all, "pages of {page}");
    }
    assert_eq!(found(&other, &word.to_uppercase(), 10), all);
    assert_eq!(
        found(&other, &word[..word.len() - 1], 10),
        all,
        "a beginning"
    );
    for (query, who) in [
        (format!("{word} ZOE"), &all[1]),
        (format!("obrien {word}"), &all[2]),
        (format!("O'Brien {word}"), &all[2]),
        (format!("{word}_h"), &all[0]),
        (format!("  {word}_ "), &all[0]),
    ] {
        assert_eq!(found(&other, &query, 10), [who.as_str()], "{query:?}");
    }
    for nobody in [
        format!("{word} nobodyhasthis"),
        format!("x{word}"),
        "' '".to_owned(),
    ] {
        assert!(found(&other, &nobody, 10).is_empty(), "{nobody:?}");
    }
    // Who is out of sight is not found, and who changes is found by what they are now.
    shared().cli(&["user", "suspend", &name.id]).well();
    assert_eq!(found(&other, &word, 10), [all[0].as_str(), &all[2]]);
    shared().cli(&["user", "restore", &name.id]).well();
    edit(&bio, &["--description", "Nothing"]);
    assert_eq!(found(&other, &word, 10), all[..2]);
}

#[test]
fn a_search_for_people_is_walked_both_ways_and_refuses_what_is_no_query() {
    let word = format!("w{}y", fresh());
    let reader = person("reader");
    let people: Vec<Person<'_>> = (0..5).map(|_| person("x")).collect();
    for someone in &people {
        // Twice over, and listed once.
        edit(someone, &["--name", &word, "--description", &word]);
    }
    let wanted: Vec<&str> = people.iter().map(|one| one.username.as_str()).collect();
    assert_eq!(found(&reader, &word, 2), wanted, "the older account first");
    let path = format!("/2/users/search?query={word}&max_results=2");
    let first = reader.get(&path).is(200);
    let token = first["meta"]["next_token"].as_str().unwrap();
    let second = reader.get(format!("{path}&next_token={token}")).is(200);
    assert_eq!(second["data"][0]["username"], wanted[2]);
    let token = second["meta"]["previous_token"].as_str().unwrap();
    let back = reader.get(format!("{path}&next_token={token}")).is(200);
    assert_eq!(back["data"], first["data"]);
    assert!(back["meta"].get("previous_token").is_none(), "{back}");
    let pattern = "^[A-Za-z0-9_' ]{1,50}$";
    for bad in ["", "a%2Db", "%C3%A9", &"a".repeat(51)] {
        let answer = reader.get(format!("/2/users/search?query={bad}"));
        answer.is_problem(400, "invalid-request");
        if !bad.is_empty() {
            let said = answer.sentences();
            assert!(said.iter().any(|text| text.contains(pattern)), "{said:?}");
        }
    }
    for bad in [
        "/2/users/search".to_owned(),
        format!("{path}&next_token=nonsense"),
        format!("/2/users/search?query={word}&max_results=1001"),
        format!("/2/users/search?query={word}&max_results=0"),
    ] {
        reader.get(bad).is_problem(400, "invalid-request");
    }
    let other = format!("/2/users/search?query=other&next_token={token}");
    reader.get(other).is_problem(400, "invalid-request");
}

#[test]
fn affiliates_carry_a_badge_and_are_listed_by_their_organization() {
    let [org, one, two, reader] = ["org", "one", "two", "reader"].map(person);
    let server = shared();
    for who in [&one, &two] {
        let badge = [
            "--description",
            "Org",
            "--badge-url",
            "https://org.example/b.png",
        ];
        let give = ["user", "affiliate", &who.id, &org.username];
        server.cli(&[&give[..], &badge].concat()).well();
    }
    let path = format!("/2/users/{}/affiliates", org.id);
    let listed = |path: &str| {
        let body = reader.get(path).is(200);
        let users = body["data"].as_array().cloned().unwrap_or_default();
        users
            .iter()
            .map(|user| user["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&path), [two.id.as_str(), &one.id]);
    assert_eq!(listed(&format!("{path}?max_results=1")), [two.id.as_str()]);
    let shown = format!(
        "/2/users/{}?user.fields=affiliation&expansions=affiliation",
        one.id
    );
    let body = reader.get(&shown).is(200);
    let badge = json!({
        "badge_url": "https://org.example/b.png",
        "description": "Org",
        "user_id": [org.id],
    });
    assert_eq!(body["data"]["affiliation"], badge);
    assert_eq!(body["includes"]["users"][0]["id"], org.id.as_str());
    server.cli(&["user", "unaffiliate", &one.id]).well();
    assert_eq!(listed(&path), [two.id.as_str()]);
    assert!(
        reader.get(&shown).is(200)["data"]
            .get("affiliation")
            .is_none()
    );
    server.cli(&["user", "affiliate", &org.id, &org.id]).ends(1);
    reader
        .get("/2/users/x/affiliates")
        .is_problem(400, "invalid-request");
    let nobody = reader.get("/2/users/1/affiliates").is(200);
    assert_eq!(nobody["errors"][0]["title"], "Not Found Error");
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn an_operator_edits_marks_and_takes_back() {
    let (who, reader) = (person("who"), person("reader"));
    let fields = "description,location,url,name,username,verified_type,verified,protected,\
                  profile_image_url,entities,subscription_type";
    let seen = |viewer: &Person<'_>| {
        let path = format!("/2/users/{}?user.fields={fields}", who.id);
        viewer.get(path).is(200)["data"].clone()
    };
    let handle = format!("n{}", fresh());
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
    assert_eq!(
        (&now["username"], &now["name"]),
        (&json!(handle), &json!("New"))
    );
    assert_eq!(now["location"], "Here");
    assert_eq!(now["entities"]["description"]["hashtags"][0]["tag"], "tag");
    assert_eq!(now["profile_image_url"], "https://img.example/p_normal.jpg");
    let name = |name: &str| reader.get(format!("/2/users/by/username/{name}")).is(200);
    assert_eq!(name(&handle)["data"]["id"], who.id.as_str());
    assert!(
        name(&who.username).get("data").is_none(),
        "the old handle is free"
    );
    for (flag, value) in [
        ("--username", reader.username.as_str()),
        ("--username", "no-handle"),
        ("--name", ""),
        ("--description", &"x".repeat(161)),
        ("--website", "javascript:x"),
    ] {
        shared()
            .cli(&["user", "edit", &who.id, flag, value])
            .ends(1);
    }
    assert_eq!(seen(&reader), now, "what is refused changes nothing");
    let server = shared();
    server.cli(&["user", "verify", &who.id, "business"]).well();
    server
        .cli(&["user", "premium", &who.id, "PremiumPlus"])
        .well();
    server.cli(&["user", "protect", &who.id]).well();
    let marked = seen(&reader);
    assert_eq!(
        (&marked["verified_type"], &marked["protected"]),
        (&json!("business"), &json!(true))
    );
    assert_eq!(marked["subscription_type"], "None", "for oneself only");
    assert_eq!(seen(&who)["subscription_type"], "PremiumPlus");
    let long = "word ".repeat(100);
    who.publish(&json!({ "text": long.trim() })).is(201);
    server.cli(&["user", "premium", &who.id, "Gold"]).ends(1);
    server.cli(&["user", "premium", &who.id, "None"]).well();
    server.cli(&["user", "verify", &who.id, "none"]).well();
    server.cli(&["user", "unprotect", &who.id]).well();
    assert_eq!(seen(&reader)["verified"], false);
}

#[test]
fn a_deleted_account_is_gone_until_it_is_restored_and_its_tokens_stay_dead() {
    let (who, reader) = (person("who"), person("reader"));
    let post = who.says("Here I am");
    let server = shared();
    server.cli(&["user", "delete", &who.id]).well();
    let profile = reader.get(format!("/2/users/{}", who.id)).is(200);
    assert_eq!(profile["errors"][0]["title"], "Not Found Error");
    for path in [
        format!("/2/posts/{post}"),
        format!("/2/users/by/username/{}", who.username),
        format!("/2/users/by/username/{}/posts", who.username),
        format!("/2/users/by/username/{}/mentions", who.username),
    ] {
        let body = reader.get(&path).is(200);
        assert!(
            body.get("data").is_none() && body["errors"].is_array(),
            "{path}: {body}"
        );
    }
    server.cli(&["user", "suspend", &who.id]).ends(1);
    server.cli(&["user", "restore", &who.id]).well();
    assert_eq!(reader.sees(&post, "text")["text"], "Here I am");
    who.get("/2/users/me").is_code(401, 89);
    let token = who.token(&[]);
    let me = crate::harness::Ask::get("/2/users/me").bearer(&token);
    assert_eq!(server.send(me).is(200)["data"]["id"], who.id.as_str());
}

#[test]
fn people_of_an_older_database_are_found_after_the_next_start() {
    let mut server = Server::start(&["--world", "empty"]);
    let handle = server.person("elder").username;
    server.stop();
    server.sql("DELETE FROM user_word; DELETE FROM meta WHERE key = 'user_words'");
    server.start_again();
    let reader = server.person("reader");
    assert_eq!(found(&reader, "elder", 10), [handle]);
}
