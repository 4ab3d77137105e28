//! The forms: what is written once, and what is refused.

use serde_json::json;

use super::message_files::{count_files, send_form};
use super::signed_in;
use crate::harness::{TestRequest, TestResponse, TestServer, percent_encode, shared_server};
use crate::media::{multipart, samples};
use crate::pages::browser::{Browser, hidden, posted};

#[test]
fn form_that_is_sent_twice_posts_once() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "double");
    let page = browser.get("/home");
    for _ in 0..2 {
        let reply = browser.submit(&page, "/compose", &[("text", "Only once, please")]);
        assert_eq!(reply.status, 303, "{}", reply.text());
        assert!(reply.header("location").starts_with("/home"));
    }
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 1);
    let again = browser.get("/home");
    let reply = browser.submit(&again, "/compose", &[("text", "Only once, please")]);
    assert_eq!(reply.status, 400, "the same text is refused with a new form");
    assert!(reply.text().contains("Only once, please"));
}

#[test]
fn form_that_was_refused_can_be_corrected_and_sent_again() {
    let (author, mut browser) = signed_in(shared_server(), "corrected");
    let page = browser.get("/compose");
    let long = "too long ".repeat(40);
    assert_eq!(browser.submit(&page, "/compose", &[("text", &long), ("act", "post")]).status, 400);
    assert_eq!(browser.submit(&page, "/compose", &[("text", "Short enough"), ("act", "post")]).status, 303);
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(posts["data"][0]["text"], "Short enough");
    let page = browser.get("/lists/new");
    assert_eq!(browser.submit(&page, "/lists/new", &[("name", "")]).status, 400);
    let created = browser.submit(&page, "/lists/new", &[("name", "Boats")]);
    assert!(browser.get(created.header("location")).assert_page(200).contains("Boats"));
}

#[test]
fn file_of_a_form_is_attached_to_its_post() {
    let server = TestServer::start(&[]);
    let (author, mut browser) = signed_in(&server, "filed");
    let (page, before) = (browser.get("/compose").text(), count_files(&server));
    let texts = [("text", "Look"), ("description", "A grey square"), ("act", "post")];
    for _ in 0..2 {
        let reply = send_form(&mut browser, &page, "/compose", &texts, &samples::png(60, 40));
        assert_eq!(reply.status, 303, "{}", reply.text());
    }
    let path = format!("/2/users/{}/posts?expansions=attachments.media_keys&media.fields=alt_text", author.id);
    let posts = author.get(path).assert_status(200);
    assert_eq!((posts["meta"]["result_count"].as_i64(), count_files(&server)), (Some(1), before + 1));
    assert_eq!(posts["includes"]["media"][0]["alt_text"], "A grey square");
    assert!(browser.get("/home").assert_page(200).contains("alt=\"A grey square\""));
}

/// Sends the form on a page with a file, as the button "Add this file" does.
fn attach(browser: &mut Browser<'_>, page: &str, file: &[u8]) -> TestResponse {
    send_form(browser, page, "/compose", &[("text", "My pictures"), ("act", "attach")], file)
}

#[test]
fn form_refuses_a_fifth_picture_and_a_mixture_and_keeps_the_others() {
    const REFUSAL: &str = "A post can have up to four pictures, or one animated picture, or one video.";
    let server = TestServer::start(&[]);
    let (author, mut browser) = signed_in(&server, "fifth");
    let mut page = browser.get("/compose").text();
    for _ in 0..4 {
        page = attach(&mut browser, &page, &samples::png(60, 40)).assert_page(200);
    }
    for file in [samples::png(60, 40), samples::gif(2)] {
        page = attach(&mut browser, &page, &file).assert_page(400);
        assert!(page.contains(REFUSAL) && page.contains("My pictures"), "{page}");
        assert_eq!(page.matches("<li>Attached file").count(), 4);
    }
    let ids: Vec<String> = hidden(&page, "/compose")["media_ids"].split(',').map(str::to_owned).collect();
    let remove = format!("remove {}", ids[1]);
    assert!(page.contains(&format!("value=\"{remove}\">Remove")), "{page}");
    let texts = [("text", "My pictures"), ("choice1", "Tea"), ("act", &remove)];
    let fewer = send_form(&mut browser, &page, "/compose", &texts, b"").assert_page(200);
    assert_eq!(hidden(&fewer, "/compose")["media_ids"], format!("{},{},{}", ids[0], ids[2], ids[3]));
    assert!(fewer.contains("My pictures") && fewer.contains("value=\"Tea\""), "{fewer}");
    let mut five = hidden(&page, "/compose");
    five.get_mut("media_ids").unwrap().push_str(",1234567890123");
    let five: Vec<(&str, &str)> = five.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let texts = [&five[..], &[("text", "My pictures"), ("act", "post")]].concat();
    let refused = browser.send(multipart("/compose", &texts, "", b"")).assert_page(400);
    assert!(refused.contains("My pictures"), "{refused}");
    let done = send_form(&mut browser, &page, "/compose", &[("text", "My pictures"), ("act", "post")], b"");
    assert_eq!(done.status, 303, "{}", done.text());
    let posts = author.get(format!("/2/users/{}/posts?post.fields=attachments", author.id)).assert_status(200);
    assert_eq!(posts["data"][0]["attachments"]["media_keys"].as_array().unwrap().len(), 4);
}

#[test]
fn refused_post_is_explained_in_a_sentence() {
    let (_, mut browser) = signed_in(shared_server(), "refused");
    let page = browser.get("/compose");
    assert_eq!(browser.submit(&page, "/compose", &[("text", "Said once"), ("act", "post")]).status, 303);
    let long = "long ".repeat(60);
    for (text, sentence) in [
        (" ", "Write something first."),
        (&*long, "This is 20 characters too long: a post has at most 280."),
        ("Said once", "You posted the same a short time ago."),
    ] {
        let page = browser.get("/compose");
        let refused = browser.submit(&page, "/compose", &[("text", text), ("act", "post")]).assert_page(400);
        assert!(refused.contains(sentence) && refused.contains("aria-invalid"), "no {sentence:?} in {refused}");
        assert!(!refused.contains("Tweet") && !refused.contains("query parameter"), "{refused}");
    }
}

#[test]
fn forms_say_how_long_a_text_and_how_large_a_file_may_be() {
    let server = TestServer::start(&[]);
    let (author, mut browser) = signed_in(&server, "limits");
    let post = author.publish_text("How much?");
    for path in ["/home", "/compose", "/intent/post", &format!("/{}/status/{post}", author.username)] {
        assert!(browser.get(path).assert_page(200).contains("At most 280 characters."), "{path}");
    }
    let page = browser.get("/compose").text();
    assert!(page.contains("up to 5 MB, animated pictures 15 MB and videos 512 MB"), "{page}");
    let large = [samples::png(8, 8), vec![0; 5 * 1024 * 1024]].concat();
    let refused = attach(&mut browser, &page, &large).assert_page(400);
    assert!(refused.contains("The file is larger than 5 MB. Choose a smaller one"), "{refused}");
    let page = browser.get("/intent/post");
    let refused = browser.submit(&page, "/intent/post", &[("text", &*"x".repeat(281))]).assert_page(400);
    assert!(refused.contains("This is 1 character too long"), "{refused}");
}

#[test]
fn enter_in_a_field_of_the_form_keeps_what_was_entered() {
    let (author, mut browser) = signed_in(shared_server(), "entered");
    let page = browser.get("/compose");
    let first = page.text().split("<button type=\"submit\" name=\"act\"").nth(1).unwrap().to_owned();
    assert!(first.starts_with(" value=\"show\" hidden"), "{first}");
    let shown = browser.submit(&page, "/compose", &[("text", "Half a thou"), ("publish_at", ""), ("act", "show")]);
    let shown = shown.assert_page(200);
    assert!(shown.contains("Half a thou") && !shown.contains("aria-invalid"), "{shown}");
    let home = browser.get("/home");
    assert!(home.text().contains("name=\"act\" value=\"show\" formnovalidate>Add pictures"));
    let shown = browser.submit(&home, "/compose", &[("text", "A picture of"), ("act", "show")]);
    assert!(shown.text().contains("A picture of</textarea>") && shown.text().contains("id=\"choice1\""));
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 0);
    assert_eq!(
        browser.submit(&home, "/compose", &[("text", "A picture of a boat")]).status,
        303,
        "it can still be sent"
    );
}

#[test]
fn form_that_is_sent_after_the_session_comes_back_after_signing_in() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "timeout");
    let post = author.publish_text("Who is awake?");
    let (home, compose) = (browser.get("/home"), browser.get("/compose").text());
    let mut visitor = Browser::new(server);
    let reply = [("text", "I am & you?"), ("in_reply_to", &post)];
    let path = format!("/compose?text=I%20am%20%26%20you%3F&in_reply_to={post}");
    let location = |path: &str| format!("/login?next={}", percent_encode(path));
    assert_eq!(visitor.submit(&home, "/compose", &reply).header("location"), location(&path));
    let sent = send_form(&mut visitor, &compose, "/compose", &reply, b"");
    assert_eq!(sent.header("location"), location(&path), "{}", sent.text());
    let act = format!("like {post}");
    assert_eq!(visitor.submit(&home, "/i/actions", &[("act", &act)]).header("location"), location("/home"));
    visitor.sign_in(&author.username, "a long secret", &path);
    assert!(visitor.get(path).assert_page(200).contains("I am &#38; you?"));
}

#[test]
fn form_that_cannot_be_filled_in_again_says_after_the_session_that_it_was_not_submitted() {
    let server = shared_server();
    let (_, mut browser) = signed_in(server, "ended");
    let page = browser.get("/compose");
    let tomorrow = base::clock::wall_time().plus_ms(86_400_000).to_string();
    let later = [("text", "Tomorrow"), ("publish_at", &tomorrow[..16]), ("act", "schedule")];
    let scheduled = browser.submit(&page, "/compose", &later).header("location").to_owned();
    let id = scheduled.split_once("#d").unwrap().1;
    let compose = browser.get(format!("/compose?draft={id}")).text();
    let empty = browser.get("/compose").text();
    let list = browser.get("/lists/new");
    let mut visitor = Browser::new(server);
    let is_refused = |refused: TestResponse, next: &str| {
        let (text, link) = (refused.text(), format!("href=\"/login?next={}\"", percent_encode(next)));
        assert!(refused.status == 403 && refused.header("location").is_empty(), "{text}");
        assert!(text.contains("copy what you wrote, then sign in") && text.contains(&link), "{text}");
    };
    is_refused(send_form(&mut visitor, &compose, "/compose", &[("text", "Today"), ("act", "schedule")], b""), "/home");
    let long = "too long for a link ".repeat(400);
    for (name, value) in [
        ("publish_at", "2030-05-21T09:30"),
        ("choice2", "Milk"),
        ("reply_settings", "following"),
        ("media_ids", "1"),
        ("community", "1"),
        ("edit_of", "1"),
        ("text", &long),
    ] {
        let share = [("share", "on")];
        let more = if name == "community" { &share[..] } else { &[] };
        let fields = [&[("text", "Tea?"), ("poll_minutes", "60"), (name, value)], more].concat();
        is_refused(send_form(&mut visitor, &empty, "/compose", &fields, b""), "/home");
    }
    // In the order of the page, where the file comes before the choices.
    let part = |head: &str, content: &[u8]| {
        [format!("--b\r\ncontent-disposition: form-data; name={head}\r\n\r\n").as_bytes(), content, b"\r\n"].concat()
    };
    for size in [100, 100_000] {
        let file = [samples::png(8, 8), vec![0; size]].concat();
        let file = part("\"media\"; filename=\"a.png\"", &file);
        let parts = [part("\"text\"", b"Look"), file, part("\"choice1\"", b"At it"), b"--b--\r\n".to_vec()];
        let form = TestRequest::post("/compose").body("multipart/form-data; boundary=b", parts.concat());
        let refused = visitor.send(form);
        let text = refused.text();
        assert!(text.contains("<bdi>Look</bdi>") && text.contains("<bdi>At it</bdi>"), "to be copied: {text}");
        assert!(text.contains("The file was not kept: choose it again."), "{text}");
        is_refused(refused, "/compose");
    }
    is_refused(visitor.submit(&list, "/lists/new", &[("name", "Boats")]), "/lists/new");
    let profile = browser.get("/settings/profile");
    is_refused(visitor.submit(&profile, "/settings/profile", &[("name", "Ada")]), "/settings/profile");
    let campaign = "/ads/abc/campaigns/new";
    is_refused(visitor.send(TestRequest::post(campaign).form("name=Spring")), campaign);
    is_refused(
        visitor.send(multipart("/ads/abc/audiences/a/people", &[], "list", b"ada")),
        "/ads/abc/audiences/a/people",
    );
    is_refused(visitor.send(TestRequest::post("/admin/reports").form("report=1&act=ban&reason=Spam")), "/home");
    assert!(browser.get("/compose/scheduled").text().contains("Tomorrow"));
}

#[test]
fn message_that_is_sent_after_the_session_comes_into_no_address() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "forgotten");
    let conversation = format!("/messages/{}-{}", author.id, server.new_user("reader").id);
    let (mut visitor, large) = (Browser::new(server), vec![0; 100_000]);
    let fields = [("text", "Still up?"), ("to", "bob")];
    for (path, fields) in [("/messages/new", &fields[..]), (&conversation, &fields[..1])] {
        let page = browser.get(path);
        for refused in [
            visitor.submit(&page, path, fields),
            send_form(&mut visitor, &page.text(), path, fields, b""),
            send_form(&mut visitor, &page.text(), path, fields, &large),
        ] {
            let text = refused.text();
            assert!(refused.status == 403 && refused.header("location").is_empty(), "{path}: {text}");
            let link = format!("href=\"/login?next={}\"", percent_encode(path));
            assert!(text.contains("copy what you wrote, then sign in") && text.contains(&link), "{path}: {text}");
            assert!(text.contains("<bdi>Still up?</bdi>"), "to be copied: {text}");
            assert!(!text.contains("Still+up") && !text.contains("Still%20up"), "{path}: {text}");
        }
    }
}

#[test]
fn earlier_version_of_a_post_leads_to_the_newest() {
    let server = TestServer::start(&[]);
    let author = server.new_user_with("editor", &["--subscription-type", "Premium"]);
    let first = author.publish_text("Befor");
    let reply = json!({ "text": "After what?", "reply": { "in_reply_to_tweet_id": first } });
    author.create_post(&reply).assert_status(201);
    author.create_post(&json!({ "text": "As I said", "quote_tweet_id": first })).assert_status(201);
    let edit = json!({ "text": "Before", "edit_options": { "previous_post_id": first } });
    let newest = author.create_post(&edit).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let note = "This is an earlier version of the post.";
    let path = |id: &str| format!("/{}/status/{id}", author.username);
    let shown = Browser::new(&server).get(path(&first)).assert_page(200);
    assert!(shown.contains(note) && shown.contains(&format!("href=\"{}\"", path(&newest))), "{shown}");
    let shown = Browser::new(&server).get(path(&newest)).assert_page(200);
    let all = format!("{}/quotes", path(&newest));
    assert!(!shown.contains(note) && shown.contains("After what?") && shown.contains(&all), "{shown}");
    let quotes = Browser::new(&server).get(all).assert_page(200);
    assert!(quotes.contains("As I said"), "{quotes}");
}

#[test]
fn edited_post_keeps_its_pictures() {
    let server = TestServer::start(&[]);
    let author = server.new_user_with("editor", &["--subscription-type", "Premium"]);
    let mut browser = Browser::new(&server);
    assert_eq!(browser.sign_in(&author.username, "a long secret", "/home").status, 303);
    let page = browser.get("/compose").text();
    let texts = [("text", "Befor"), ("description", "A grey square"), ("act", "post")];
    assert_eq!(send_form(&mut browser, &page, "/compose", &texts, &samples::png(60, 40)).status, 303);
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    let id = posts["data"][0]["id"].as_str().unwrap();
    let page = browser.get(format!("/{}/status/{id}/edit", author.username));
    assert!(page.text().contains("A grey square"), "{}", page.text());
    let edited = browser.submit(&page, "/compose", &[("text", "Before"), ("act", "post")]);
    assert_eq!(edited.status, 303, "{}", edited.text());
    let shown = browser.get(edited.header("location")).assert_page(200);
    assert!(shown.contains("alt=\"A grey square\"") && shown.contains("Before"), "{shown}");
}

#[test]
fn form_with_a_nul_character_is_refused() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "nul");
    let mut fields = hidden(&browser.get("/compose").text(), "/compose");
    fields.extend([("text", "before\0after"), ("act", "post")].map(|(name, text)| (name.to_owned(), text.to_owned())));
    let texts: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    browser.send(multipart("/compose", &texts, "", b"")).assert_refused(400, "What was entered is not valid.");
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 0);
}

#[test]
fn text_of_members_is_never_markup() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "markup");
    let text = "<script>alert(1)</script> & \"quotes\" <img src=x onerror=alert(1)>";
    let page = browser.get("/compose");
    let reply = browser.submit(&page, "/compose", &[("text", text), ("act", "post")]);
    assert_eq!(reply.status, 303, "{}", reply.text());
    for path in ["/home".to_owned(), format!("/{}", author.username)] {
        let page = browser.get(&path).assert_page(200);
        assert!(page.contains("&#60;script&#62;alert(1)"), "{path}");
        assert!(!page.contains("<script>") && !page.contains("<img"), "{path}");
    }
}

#[test]
fn form_without_its_token_changes_nothing() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "forged");
    let page = browser.get("/home").text();
    for action in ["/compose", "/i/actions"] {
        let mut fields = hidden(&page, "/compose");
        fields.insert("csrf".to_owned(), "wrong".to_owned());
        fields.remove(if action == "/i/actions" { "form" } else { "" });
        let (name, value) = if action == "/compose" { ("text", "Forged") } else { ("act", "follow 1") };
        fields.insert(name.to_owned(), value.to_owned());
        assert_eq!(browser.send(posted(action, &fields)).status, 403, "{action}");
        let foreign = posted(action, &hidden(&page, "/compose")).header("origin", "https://evil.example");
        assert_eq!(browser.send(foreign).status, 403, "{action}");
    }
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 0);
}

#[test]
fn form_with_an_expired_token_is_shown_again_with_what_was_written() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "expired");
    let other = server.new_user("reader");
    let conversation = format!("/messages/{}-{}", author.id, other.id);
    for path in ["/compose", "/intent/post", "/messages/new", &conversation] {
        let page = browser.get(path);
        let fields = [("to", &*other.username), ("text", "Kept & sent"), ("act", "post"), ("csrf", "expired")];
        let again = browser.submit(&page, path, &fields);
        let shown = again.text();
        assert!(again.status == 403 && shown.contains("Kept &#38; sent</textarea>"), "{path}: {shown}");
        assert!(shown.contains("<title>Error: ") && shown.contains("Your session changed."), "{path}: {shown}");
        let text = format!("Kept & sent to {path}");
        let sent = browser.submit(&again, path, &[("to", &*other.username), ("text", &text), ("act", "post")]);
        assert_eq!(sent.status, 303, "{path}: {}", sent.text());
        let repeated = browser.submit(&again, path, &[("text", &text), ("csrf", "expired")]);
        assert_eq!(repeated.status, 303, "{path} does not offer what was sent: {}", repeated.text());
    }
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 2);
    let page = browser.get("/lists/new");
    let refused = browser.submit(&page, "/lists/new", &[("name", "Boats"), ("csrf", "expired")]);
    assert!(refused.status == 403 && refused.text().contains("Go back, copy what you wrote, then reload"));
}

#[test]
fn post_may_have_a_poll_in_which_members_vote_once() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "pollster");
    let page = browser.get("/compose");
    let choices = [("choice1", "Tea"), ("choice2", "Milk"), ("choice3", "Water")];
    let poll = [&[("text", "Tea or milk?")], &choices[..], &[("poll_minutes", "60")]].concat();
    let refused = browser.submit(&page, "/compose", &poll[..2]);
    assert_eq!(refused.status, 400, "one choice is not enough");
    let page = browser.get("/compose");
    assert_eq!(browser.submit(&page, "/compose", &poll).status, 303);
    let posts = author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    let id = posts["data"][0]["id"].as_str().unwrap().to_owned();
    let (_, mut voter) = signed_in(server, "voter");
    let path = format!("/{}/status/{id}", author.username);
    assert_eq!(super::press(&mut voter, &path, &format!("vote {id} 1")), 303);
    assert!(voter.get(&path).assert_page(200).contains("100% · 1 vote · your vote"));
    assert_eq!(super::press(&mut voter, &path, &format!("vote {id} 2")), 403);
    for choice in [2, 3] {
        let (_, mut other) = signed_in(server, "voter");
        assert_eq!(super::press(&mut other, &path, &format!("vote {id} {choice}")), 303);
    }
    let shown = voter.get(&path).assert_page(200);
    let shares = [34, 33].map(|share| shown.matches(&format!("{share}% · 1 vote")).count());
    assert_eq!(shares, [1, 2], "they add up to 100: {shown}");
}

#[test]
fn reply_appears_in_the_thread() {
    let server = shared_server();
    let author = server.new_user("asked");
    let post = author.publish_text("Any questions?");
    let (_, mut browser) = signed_in(server, "asking");
    let path = format!("/{}/status/{post}", author.username);
    let page = browser.get(&path);
    let reply = browser.submit(&page, "/compose", &[("text", "None at all")]);
    assert!(reply.header("location").starts_with(&format!("{path}#p")), "{}", reply.header("location"));
    assert!(browser.get(&path).assert_page(200).contains("None at all"));
}

#[test]
fn text_is_kept_when_the_post_that_it_replies_to_is_gone() {
    let server = shared_server();
    let asked = server.new_user("withdrew");
    let post = asked.publish_text("Who comes along?");
    let (_, mut browser) = signed_in(server, "late");
    let page = browser.get(format!("/compose?in_reply_to={post}"));
    asked.delete(format!("/2/tweets/{post}")).assert_status(200);
    let reply = browser.submit(&page, "/compose", &[("text", "I will be there"), ("act", "post")]);
    let text = reply.text();
    assert!(reply.status == 400 && text.contains("I will be there") && text.contains("stands alone now"), "{text}");
    let again = browser.submit(&reply, "/compose", &[("text", "I will be there"), ("act", "post")]);
    assert_eq!(again.status, 303, "{}", again.text());
    assert!(browser.get("/home").assert_page(200).contains("I will be there"));
    assert_eq!(browser.get(format!("/compose?in_reply_to={post}")).status, 404);
}

#[test]
fn network_serves_the_pages_of_members() {
    let network = TestServer::start_network(&[]);
    let (author, mut browser) = signed_in(&network, "settler");
    let page = browser.get("/home");
    assert_eq!(browser.submit(&page, "/compose", &[("text", "We live here")]).status, 303);
    assert!(browser.get("/home").assert_page(200).contains("We live here"));
    assert!(network.send(TestRequest::get(format!("/{}", author.username))).assert_page(200).contains("We live here"));
}
