//! The settings of one's own profile.

use std::io::Cursor;

use serde_json::{Value, json};

use super::{press, signed_in};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, shared_server, wait_until};
use crate::media::{at_once, multipart, samples};
use crate::pages::browser::{Browser, hidden};

const SETTINGS: &str = "/settings/profile";
const PICTURES: &str = "/settings/profile/pictures";

fn save(browser: &mut Browser<'_>, fields: &[(&str, &str)]) -> TestResponse {
    let page = browser.get(SETTINGS);
    browser.submit(&page, SETTINGS, &[&[("name", "Ada"), ("messages", "everyone")], fields].concat())
}

/// Sends the form of a picture; the page is one on which it is.
fn send_picture(browser: &mut Browser<'_>, page: &str, part: &str, act: &str, file: &[u8]) -> TestResponse {
    let fields = hidden(page, PICTURES);
    let texts = [("csrf", fields["csrf"].as_str()), ("form", &fields["form"]), ("part", part), ("act", act)];
    let name = if file.is_empty() { "" } else { "media" };
    browser.send(multipart(PICTURES, &texts, name, file))
}

fn upload_picture(browser: &mut Browser<'_>, part: &str, file: &[u8]) -> TestResponse {
    let page = browser.get(SETTINGS).text();
    send_picture(browser, &page, part, "upload", file)
}

fn profile(user: &TestUser<'_>) -> Value {
    let fields = "description,location,url,profile_image_url,profile_banner_url,protected";
    user.get(format!("/2/users/{}?user.fields={fields}", user.id)).assert_status(200)["data"].clone()
}

/// The path of a picture on its server.
#[track_caller]
fn picture_path(user: &TestUser<'_>, field: &str) -> String {
    let profile = profile(user);
    let url = profile[field].as_str().unwrap_or_else(|| panic!("no {field}: {profile}"));
    url.strip_prefix(&user.server.url).unwrap().to_owned()
}

#[test]
fn profile_is_changed_by_its_owner() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "prowner");
    let fields = [
        ("name", "Ada Okafor"),
        ("description", "Boats & <bread>"),
        ("location", "Lagos"),
        ("url", "https://sea.example/ada"),
    ];
    let reply = save(&mut browser, &fields);
    assert!(reply.header("location").starts_with(SETTINGS), "{}", reply.text());
    assert!(browser.get(reply.header("location")).assert_page(200).contains("Your changes were saved."));
    let shown = Browser::new(server).get(format!("/{}", owner.username)).assert_page(200);
    for text in ["Ada Okafor", "Boats &#38; &#60;bread&#62;", "Lagos", "https://sea.example/ada"] {
        assert!(shown.contains(text), "{text}");
    }
    assert!(browser.get(format!("/{}", owner.username)).text().contains(SETTINGS));
    let seen = profile(&owner);
    assert_eq!((&seen["name"], &seen["location"]), (&json!("Ada Okafor"), &json!("Lagos")));
    assert!(Browser::new(server).get(SETTINGS).header("location").starts_with("/login"));
}

#[test]
fn profile_is_refused_with_the_limit_at_its_field() {
    let (owner, mut browser) = signed_in(shared_server(), "prlimits");
    let before = profile(&owner);
    let long = "x".repeat(2100);
    for (field, value, why) in [
        ("name", "", "A name has 1 to 50 characters"),
        ("description", &long[..161], "A bio has at most 160 characters."),
        ("location", &long[..151], "A location has at most 150 characters."),
        ("url", "javascript:alert(1)", "Enter an address such as https://example.com"),
        ("url", "https://", "Enter an address such as https://example.com"),
        ("url", "https://my page", "Enter an address such as https://example.com"),
        ("url", &format!("https://{long}"), "Enter an address such as https://example.com"),
    ] {
        let page = save(&mut browser, &[("protected", "on"), (field, value)]).assert_page(400);
        assert!(page.contains(why) && page.contains("aria-invalid"), "{field}: {page}");
    }
    assert_eq!(profile(&owner), before, "nothing of a refused form is saved");
}

#[test]
fn protection_and_messages_follow_the_settings() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "prguard");
    owner.publish_text("For friends");
    let (_, mut stranger) = signed_in(server, "prvisitor");
    let path = format!("/{}", owner.username);
    assert!(stranger.get(&path).assert_page(200).contains("For friends"));
    assert_eq!(save(&mut browser, &[("protected", "on"), ("messages", "following")]).status, 303);
    let page = stranger.get(&path).assert_page(200);
    assert!(!page.contains("For friends") && !page.contains("/messages/new?to="), "{page}");
    let settings = browser.get(SETTINGS).assert_page(200);
    assert!(settings.contains("name=\"protected\" value=\"on\" checked"), "{settings}");
    assert_eq!(press(&mut stranger, &path, &format!("follow {}", owner.id)), 303);
    assert!(stranger.get(&path).assert_page(200).contains("Cancel request"));
    assert_eq!(save(&mut browser, &[]).status, 303);
    let page = stranger.get(&path).assert_page(200);
    assert!(page.contains("For friends") && page.contains("/messages/new?to="), "{page}");
}

#[test]
fn picture_and_banner_are_shown_and_removed() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "prpicture");
    for (part, field) in [("picture", "profile_image_url"), ("banner", "profile_banner_url")] {
        let page = browser.get(SETTINGS).text();
        for _ in 0..2 {
            let reply = send_picture(&mut browser, &page, part, "upload", &samples::png(60, 60));
            assert_eq!(reply.status, 303, "{}", reply.text());
        }
        let path = picture_path(&owner, field);
        assert_eq!(server.send(TestRequest::get(&*path)).status, 200);
        let shown = Browser::new(server).get(format!("/{}", owner.username)).assert_page(200);
        assert!(shown.contains(&format!("src=\"{path}\"")), "{shown}");
        let page = browser.get(SETTINGS).text();
        assert_eq!(send_picture(&mut browser, &page, part, "remove", &[]).status, 303);
        assert_eq!(profile(&owner)[field], Value::Null, "{field}");
    }
}

/// Its left, middle and right third are red, green and blue.
fn striped_picture(width: u32, height: u32) -> Vec<u8> {
    let colours = [[250, 0, 0], [0, 250, 0], [0, 0, 250]].map(image::Rgb);
    let stripes = |x: u32, _| colours[usize::try_from(x * 3 / width).unwrap()];
    let mut bytes = Cursor::new(Vec::new());
    let picture = image::RgbImage::from_fn(width, height, stripes);
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn picture_of_another_shape_is_cut_to_the_part_that_was_chosen() {
    let server = shared_server();
    let (owner, mut browser) = signed_in(server, "prcrop");
    for (part, field, size) in [("picture", "profile_image_url", (90, 90)), ("banner", "profile_banner_url", (270, 90))]
    {
        for (keep, channel) in [("", 1), ("start", 0), ("centre", 1), ("end", 2)] {
            let page = browser.get(SETTINGS).text();
            let fields = hidden(&page, PICTURES);
            let mut texts = vec![("csrf", fields["csrf"].as_str()), ("form", &fields["form"]), ("part", part)];
            texts.extend([("act", "upload"), ("keep", keep)]);
            let file = striped_picture(if part == "picture" { 270 } else { 810 }, 90);
            let reply = browser.send(multipart(PICTURES, &texts, "media", &file));
            assert_eq!(reply.status, 303, "{}", reply.text());
            let sent = server.send(TestRequest::get(picture_path(&owner, field)));
            let shown = image::load_from_memory(&sent.body).unwrap().into_rgb8();
            assert_eq!(shown.dimensions(), size, "{part} {keep}");
            let middle = shown.get_pixel(size.0 / 2, 45).0;
            assert_eq!((0..3).max_by_key(|channel| middle[*channel]), Some(channel), "{part} {keep}: {middle:?}");
        }
    }
    let file = samples::png(60, 60);
    assert_eq!(upload_picture(&mut browser, "picture", &file).status, 303);
    let sent = server.send(TestRequest::get(picture_path(&owner, "profile_image_url")));
    assert_eq!(sent.body, file, "a square is kept as it is");
}

#[test]
fn refused_picture_says_why() {
    let (owner, mut browser) = signed_in(shared_server(), "prrefused");
    let broken = samples::png(60, 60)[..80].to_vec();
    for (file, why) in [
        (&b""[..], "Choose a file."),
        (&b"plain text"[..], "Choose a JPEG, PNG or WebP file."),
        (&samples::gif(2)[..], "Choose a JPEG, PNG or WebP file."),
        (&broken[..], "The PNG file is"),
    ] {
        let page = upload_picture(&mut browser, "picture", file).assert_page(400);
        assert!(page.contains(why) && page.contains("aria-invalid"), "no {why:?} in {page}");
    }
    assert_eq!(profile(&owner)["profile_image_url"], Value::Null);
}

#[test]
fn replaced_picture_is_released_unless_a_post_uses_it() {
    let mut server = TestServer::start(&[]);
    let (kept, replaced, current) = {
        let (owner, mut browser) = signed_in(&server, "prswap");
        let mut paths = Vec::new();
        for size in [61, 62, 63] {
            assert_eq!(upload_picture(&mut browser, "picture", &samples::png(size, size)).status, 303);
            let path = picture_path(&owner, "profile_image_url");
            if size == 61 {
                let id = path.split(['_', '.']).nth(1).unwrap();
                let post = json!({ "text": "The same picture", "media": { "media_ids": [id] } });
                owner.create_post(&post).assert_status(201);
            }
            paths.push(path);
        }
        let post = json!({ "text": "Not a picture of a profile", "media": { "media_ids": [
            at_once(&owner, "tweet_image", &samples::png(64, 64)).assert_status(200)["data"]["id"]
        ] } });
        owner.create_post(&post).assert_status(201);
        (paths[0].clone(), paths[1].clone(), paths[2].clone())
    };
    server.kill();
    server.run_sql("UPDATE media SET expires_at = 1 WHERE expires_at IS NOT NULL");
    server.restart();
    wait_until("the replaced picture is removed", || server.send(TestRequest::get(&*replaced)).status == 404);
    let status = |path: &String| server.send(TestRequest::get(&**path)).status;
    assert_eq!((status(&kept), status(&current)), (200, 200));
}
