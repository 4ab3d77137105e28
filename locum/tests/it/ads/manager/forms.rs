//! What people make on the pages of the Ads Manager: audiences of lists, media, cards, posts, and
//! who works with them; and what recommendations and figures they read there.

mod account_users;
mod audiences;
mod edits;
mod planning;
mod reports;

use base::clock::monotonic_now;
use serde_json::{Value, json};

use super::{Manager, browser, error_of};
use crate::harness::{TestRequest, TestResponse, percent_encode, shared_server, unique_number};
use crate::media::samples;
use crate::pages::browser::{Browser, hidden, posted};

const BOUNDARY: &str = "multipart/form-data; boundary=between-the-parts";

/// A form with a file as browsers send it.
fn parts(action: &str, texts: &[(&str, &str)], file: Option<(&str, &str, &[u8])>) -> TestRequest {
    let mut body = Vec::new();
    for (name, text) in texts {
        let part = format!("--between-the-parts\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    if let Some((name, file, bytes)) = file {
        let part = format!(
            "--between-the-parts\r\ncontent-disposition: form-data; name=\"{name}\"; \
             filename=\"{file}\"\r\ncontent-type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(part.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--between-the-parts--\r\n");
    TestRequest::post(action).body(BOUNDARY, body)
}

/// The token of a browser's forms.
fn csrf(browser: &mut Browser<'_>) -> String {
    let page = browser.get("/settings/account").text();
    hidden(&page, "/settings/account/password")["csrf"].clone()
}

/// Sends a form without having seen it.
fn blindly(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)]) -> TestResponse {
    let csrf = csrf(browser);
    let fields = fields.iter().copied().chain([("csrf", csrf.as_str())]);
    let pairs: Vec<String> = fields.map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
    browser.send(TestRequest::post(path).form(pairs.join("&")))
}

impl Manager {
    /// Sends a form with a file.
    fn sends(&mut self, form: &str, texts: &[(&str, &str)], file: Option<(&str, &str, &[u8])>) -> TestResponse {
        let path = format!("{}{form}", self.home);
        let shown = self.browser.get(path.clone());
        assert_eq!(shown.status, 200, "{}", shown.text());
        assert!(shown.text().contains("enctype=\"multipart/form-data\""));
        let csrf = hidden(&shown.text(), &path)["csrf"].clone();
        let texts = [&[("csrf", csrf.as_str())], texts].concat();
        self.browser.send(parts(&path, &texts, file))
    }

    /// Uploads a picture for cards; its key.
    fn picture(&mut self) -> String {
        let name = format!("Picture {}", unique_number());
        let image = samples::jpeg(800, 800);
        let response = self.sends("/media/upload", &[("name", &name)], Some(("media", "bikes.jpg", &image)));
        assert_eq!(response.status, 303, "{}", response.text());
        let all = self.ads.get("/media_library", &[]);
        let all = all["data"].as_array().unwrap();
        let mine = all.iter().find(|medium| medium["name"] == name.as_str());
        mine.unwrap()["media_key"].as_str().unwrap().to_owned()
    }

    fn shown(&mut self, path: &str) -> String {
        let response = self.browser.get(format!("{}{path}", self.home));
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.text()
    }

    /// Lets somebody work on the account.
    fn works(&self, username: &str, role: &str) {
        let grant = ["ads", "account", "role", &self.ads.account, username, role];
        shared_server().run_cli(&grant).assert_success();
    }
}

/// Somebody on the pages with a picture in the media library.
fn manager_with_picture() -> (Manager, String) {
    let mut manager = Manager::new();
    let picture = manager.picture();
    (manager, picture)
}

/// Creates a card with a picture that leads to a site.
fn website_card(manager: &mut Manager, picture: &str) -> String {
    let url = ("website_url", "https://bikes.example/");
    let fields = [("name", "Spring card"), ("media_key", picture), ("title", "Ride with us"), url];
    manager.make("/cards/new/website", &fields)
}

#[test]
fn media_are_uploaded_shared_and_renamed_on_pages() {
    let mut manager = Manager::new();
    assert!(manager.shown("/media").contains("No media yet"));
    let upload = "/media/upload";
    let response = manager.sends(upload, &[("name", "")], None);
    assert!(error_of(&response, "media").contains("Choose a file"));
    let response = manager.sends(upload, &[("name", "")], Some(("media", "a.jpg", b"no picture")));
    assert!(!error_of(&response, "media").is_empty());
    let path = format!("{}{upload}", manager.home);
    let image = samples::jpeg(800, 800);
    let unseen = parts(&path, &[("csrf", "guessed")], Some(("media", "a.jpg", &image)));
    assert_eq!(manager.browser.send(unseen).status, 403);
    assert_eq!(manager.ads.get("/media_library", &[])["data"], json!([]));
    // What a colleague uploads is the account's to use.
    let colleague = shared_server().new_user("colleague");
    manager.works(&colleague.username, "CREATIVE_MANAGER");
    let own = std::mem::replace(&mut manager.browser, browser(&colleague.username));
    let shared_picture = manager.picture();
    manager.browser = own;
    let small = samples::png(300, 250);
    let response = manager.sends(upload, &[("name", "Banner")], Some(("media", "b.png", &small)));
    assert_eq!(response.status, 303, "{}", response.text());
    let page = manager.shown("/media");
    assert!(page.contains("Medium rectangle") && page.contains("/media/"), "{page}");
    let rename = format!("/media/{shared_picture}/edit");
    manager.make(&rename, &[("name", "On the bridge")]);
    assert!(manager.shown("/media").contains("On the bridge"));
}

#[test]
fn cards_are_created_changed_and_deleted_on_pages() {
    let (mut manager, shared_picture) = manager_with_picture();
    let website = "/cards/new/website";
    let fields = [("name", "Spring card"), ("media_key", shared_picture.as_str()), ("title", "Ride with us")];
    let wrong = [&fields[..], &[("website_url", "ftp://nowhere")]].concat();
    let response = manager.send(website, &wrong);
    assert!(error_of(&response, "website_url").contains("URL"), "{}", response.text());
    let none = [("name", "Spring card"), ("media_key", ""), ("title", "x")];
    let response = manager.send(website, &none);
    assert_eq!(error_of(&response, "media_key"), "This field is required.");
    let good = [&fields[..], &[("website_url", "https://bikes.example/")]].concat();
    let card = manager.make(website, &good);
    let stored = manager.ads.get(&format!("/cards/{card}"), &[])["data"].clone();
    assert_eq!(stored["card_type"], "IMAGE_WEBSITE");
    assert_eq!(stored["components"][1]["title"], "Ride with us");
    let edit = format!("/cards/{card}/edit");
    let mut changed = good.clone();
    changed[2] = ("title", "Ride on");
    manager.make(&edit, &changed);
    let page = manager.shown(&format!("/cards/{card}"));
    assert!(page.contains("Ride on") && page.contains("https://bikes.example/"), "{page}");
    let app =
        [("name", "App card"), ("media_key", shared_picture.as_str()), ("label", "INSTALL"), ("country_code", "US")];
    let response = manager.send("/cards/new/app", &app);
    assert!(!error_of(&response, "googleplay_app_id").is_empty());
    let app = [&app[..], &[("googleplay_app_id", "com.example.bikes")]].concat();
    manager.make("/cards/new/app", &app);
    let poll = [("name", "Colours"), ("first_choice", "Red"), ("second_choice", "Blue"), ("duration_in_minutes", "60")];
    let poll = manager.make("/cards/new/poll", &poll);
    assert!(manager.shown(&format!("/poll-cards/{poll}")).contains("Blue"));
    let poll = format!("/poll-cards/{poll}/delete");
    assert_eq!(manager.send(&poll, &[]).status, 303);
}

#[test]
fn drafts_and_scheduled_posts_are_created_on_pages() {
    let (mut manager, shared_picture) = manager_with_picture();
    let card = website_card(&mut manager, &shared_picture);
    let uri = manager.ads.get(&format!("/cards/{card}"), &[])["data"]["card_uri"].as_str().unwrap().to_owned();
    let both = [
        ("text", "Spring is here"),
        ("card_uri", uri.as_str()),
        ("media_1", shared_picture.as_str()),
        ("nullcast", "true"),
    ];
    let response = manager.send("/drafts/new", &both);
    assert!(error_of(&response, "card_uri").contains("not both"));
    let draft: Vec<_> = both.into_iter().filter(|(name, _)| *name != "media_1").collect();
    manager.make("/drafts/new", &draft);
    let stored = manager.ads.get("/draft_posts", &[])["data"][0].clone();
    assert_eq!(stored["card_uri"], uri.as_str());
    let id = stored["id"].as_str().unwrap().to_owned();
    let page = manager.shown(&format!("/drafts/{id}"));
    assert!(page.contains("Spring is here") && page.contains("Ride with us"), "{page}");
    let edit = format!("/drafts/{id}/edit");
    let media =
        [("text", "Spring is here"), ("card_uri", ""), ("media_1", shared_picture.as_str()), ("nullcast", "true")];
    manager.make(&edit, &media);
    let stored = manager.ads.get("/draft_posts", &[])["data"][0].clone();
    assert_eq!(stored["media_keys"], json!([shared_picture]));
    assert_eq!(stored["card_uri"], Value::Null);
    let past = [("text", "Tomorrow"), ("scheduled_at", "2020-01-01T00:00"), ("nullcast", "true")];
    let response = manager.send("/scheduled/new", &past);
    assert_eq!(error_of(&response, "scheduled_at"), "The time must be in the future.");
    let later = base::clock::wall_time().plus_ms(86_400_000).to_string();
    let later = later.get(..16).unwrap().to_owned();
    let soon = [("text", "Tomorrow"), ("scheduled_at", later.as_str()), ("nullcast", "true")];
    manager.make("/scheduled/new", &soon);
    let post = manager.ads.get("/scheduled_posts", &[])["data"][0].clone();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let wait = format!("/line-items/{item}/scheduled");
    manager.make(&wait, &[("scheduled_post_id", post["id"].as_str().unwrap())]);
    assert!(manager.shown(&format!("/line-items/{item}")).contains("Tomorrow"));
}

#[test]
fn post_published_on_a_page_is_promoted() {
    let (mut manager, picture) = manager_with_picture();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let words = "Only where it is promoted";
    manager.make("/posts/new", &[("text", words), ("nullcast", "true"), ("name", "First")]);
    let page = manager.shown("/posts");
    assert!(page.contains(words) && page.contains("First"), "{page}");
    let of = [("post_type", "PUBLISHED")];
    let post = manager.ads.get("/posts", &of)["data"][0]["id_str"].clone();
    let at = base::PostId::parse(post.as_str().unwrap()).unwrap().created_at();
    let written = base::AccountTimeZone::from_name("America/Los_Angeles").format_time(at);
    assert!(page.contains(&written), "no {written} in {page}");
    let promote = format!("/line-items/{item}/promote");
    manager.make(&promote, &[("pick", ""), ("post_ids", post.as_str().unwrap())]);
    assert!(manager.shown(&format!("/line-items/{item}")).contains(words));
    let linked = format!("Tea & <b>cake</b> https://tea.example.com/menu?of=day {}", "long ".repeat(40));
    manager.make("/posts/new", &[("text", &linked), ("nullcast", "false")]);
    let beginning = "Tea &#38; &#60;b&#62;cake&#60;/b&#62; tea.example.com/menu?of=day long";
    for path in ["/posts".to_owned(), promote] {
        let page = manager.shown(&path);
        assert!(page.contains(beginning) && page.contains(" long…"), "{path}: {page}");
    }
    let card = website_card(&mut manager, &picture);
    let uri = manager.ads.get(&format!("/cards/{card}"), &[])["data"]["card_uri"].as_str().unwrap().to_owned();
    manager.make("/posts/new", &[("text", "With a card"), ("card_uri", &uri), ("nullcast", "true")]);
    let page = manager.shown("/posts");
    let end = page.split("With a card").nth(1).unwrap();
    assert!(end.trim_start().starts_with('<'), "the link of the card is no text: {page}");
}

#[test]
fn analyst_sees_no_forms_and_submits_none() {
    let (mut manager, picture) = manager_with_picture();
    let card = website_card(&mut manager, &picture);
    manager.make("/drafts/new", &[("text", "Spring is here"), ("nullcast", "true")]);
    let id = manager.ads.get("/draft_posts", &[])["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{}/media/upload", manager.home);
    let image = samples::jpeg(800, 800);
    let analyst = shared_server().new_user("analyst");
    manager.works(&analyst.username, "CAMPAIGN_ANALYST");
    let mut other = browser(&analyst.username);
    let home = manager.home.clone();
    let draft = format!("/drafts/{id}");
    for page in ["/cards", "/media", "/posts", "/audiences", "/recommendations", &draft] {
        let shown = other.get(format!("{home}{page}"));
        assert_eq!(shown.status, 200, "{page}");
        let main = shown.text();
        let main = main.split("<main").nth(1).unwrap().to_owned();
        let forms = main.matches("<form").count();
        // Drafts are everybody's to write who may compose; the engine refuses the rest.
        assert_eq!(forms, 0, "{page}: {main}");
    }
    for form in ["/cards/new/website", "/cards/new/poll", "/audiences/new", "/people/new", "/media/upload"] {
        assert_eq!(other.get(format!("{home}{form}")).status, 403, "{form}");
        let response = blindly(&mut other, &format!("{home}{form}"), &[("name", "x")]);
        assert_eq!(response.status, 403, "{form}");
    }
    let token = csrf(&mut other);
    let file = Some(("media", "a.jpg", image.as_slice()));
    let sent = parts(&path, &[("csrf", &token), ("name", "x")], file);
    assert_eq!(other.send(sent).status, 403);
    let written = blindly(&mut other, &format!("{home}/drafts/new"), &[("text", "x"), ("nullcast", "true")]);
    assert_eq!(written.status, 403, "{}", written.text());
    let deleted = blindly(&mut other, &format!("{home}/cards/{card}/delete"), &[]);
    assert_eq!(deleted.status, 403);
    assert_eq!(manager.ads.get("/draft_posts", &[])["data"].as_array().unwrap().len(), 1);
}

#[test]
fn recommendation_is_shown_applied_and_dismissed_on_pages() {
    let mut manager = Manager::new();
    assert!(manager.shown("/recommendations").contains("No recommendations"));
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let best = manager.ads.person.publish_text("The very best post");
    manager.ads.ages(3);
    manager.ads.looks(&[]);
    let id = manager.ads.open().unwrap();
    let page = manager.shown("/recommendations");
    assert!(page.contains("nothing to show") && page.contains("The very best post"), "{page}");
    assert!(page.contains("Riders"), "{page}");
    let analyst = shared_server().new_user("analyst");
    manager.works(&analyst.username, "CAMPAIGN_ANALYST");
    let mut other = browser(&analyst.username);
    let home = manager.home.clone();
    let seen = other.get(format!("{home}/recommendations")).text();
    assert!(seen.contains("The very best post") && !seen.contains("/apply"), "{seen}");
    for act in ["apply", "dismiss"] {
        let path = format!("{home}/recommendations/{id}/{act}");
        assert_eq!(blindly(&mut other, &path, &[]).status, 403, "{act}");
    }
    assert_eq!(manager.ads.open(), Some(id.clone()));
    let press = |manager: &mut Manager, act: &str, id: &str| {
        let path = format!("{}/recommendations/{id}/{act}", manager.home);
        blindly(&mut manager.browser, &path, &[])
    };
    assert_eq!(press(&mut manager, "apply", &id).status, 303);
    let promoted = manager.ads.get("/promoted_posts", &[("line_item_ids", &item)]);
    assert_eq!(promoted["data"][0]["post_id"], best.as_str());
    assert_eq!(manager.ads.recommendation(&id)["status"], "APPLIED");
    let again = press(&mut manager, "apply", &id);
    let text = again.assert_page(400);
    assert!(
        text.contains("The recommendation is no longer open.") && text.contains("<h1><bdi>Recommendations</bdi></h1>"),
        "{text}"
    );
    // Another one is turned down.
    manager.item(&campaign);
    manager.ads.ages(3);
    manager.ads.looks(&[]);
    if let Some(id) = manager.ads.open() {
        assert_eq!(press(&mut manager, "dismiss", &id).status, 303);
        assert_eq!(manager.ads.recommendation(&id)["status"], "DISMISSED");
        manager.ads.looks(&[]);
        assert_eq!(manager.ads.open(), None, "what was turned down is not said again");
    }
}

#[test]
fn figures_are_segmented_and_exported_as_csv_without_formulas() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let item = manager.item(&campaign);
    let none = manager.shown(&format!("/reports?level=campaigns&only={campaign}&by=day"));
    assert!(none.contains("No data for this period"), "{none}");
    let post = manager.ads.person.publish_text("Seen by many");
    manager.make(&format!("/line-items/{item}/promote"), &[("pick", &post)]);
    let simulate = ["ads", "simulate", &manager.ads.account, "--hours", "30"];
    shared_server().run_cli(&simulate).assert_success();
    let sums = |manager: &mut Manager, of: &str, by: &str| -> (usize, i64, f64) {
        let path = format!("{}/reports/figures.csv?{of}&by={by}", manager.home);
        let response = manager.browser.get(path);
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(response.header("content-type"), "text/csv; charset=utf-8");
        assert!(response.header("content-disposition").starts_with("attachment"));
        assert_eq!(response.header("x-content-type-options"), "nosniff");
        let text = response.text();
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let place = text.lines().next().unwrap().split(',').position(|head| head == "Spend").unwrap();
        let seen = rows.iter().map(|row| row[place + 1].parse::<i64>().unwrap()).sum();
        let spent = rows.iter().map(|row| row[place].parse::<f64>().unwrap()).sum();
        (rows.len(), seen, spent)
    };
    let of = format!("level=campaigns&only={campaign}");
    let (days, seen, spent) = sums(&mut manager, &of, "day");
    assert!((2..=3).contains(&days), "{days}");
    assert!(seen > 0 && spent > 0.0);
    for by in ["placement", "platform", "age", "gender", "nothing"] {
        let (rows, impressions, charge) = sums(&mut manager, &of, by);
        assert!(rows > 0, "{by}");
        if by == "placement" || by == "nothing" {
            assert_eq!(impressions, seen, "{by}");
            assert!((charge - spent).abs() < 0.01, "{by}: {charge} of {spent}");
        }
    }
    let item = format!("level=line-items&only={item}");
    assert_eq!(sums(&mut manager, &item, "day").1, seen);
    let earlier = manager.browser.get(format!("{}/campaigns/{campaign}/figures?by=placement&days=28", manager.home));
    assert_eq!(earlier.status, 303);
    let moved = format!("{}/reports?{of}&by=placement&days=28", manager.home);
    assert_eq!(earlier.header("location"), moved);
    let page = manager.browser.get(moved).text();
    assert!(page.contains("On this network") && page.contains("figures.csv"), "{page}");
    let analyst = shared_server().new_user("analyst");
    manager.works(&analyst.username, "PARTNER_AUDIENCE_MANAGER");
    let mut other = browser(&analyst.username);
    let path = format!("{}/reports/figures.csv?{of}", manager.home);
    assert_eq!(other.get(path).status, 403);
}

/// A line item for what is shown before videos: its page and its id.
fn preroll_item(manager: &mut Manager) -> (String, String) {
    let campaign = manager.campaign();
    let fields = [
        ("name", "Before videos"),
        ("objective", "PREROLL_VIEWS"),
        ("product_type", "MEDIA"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "0.15"),
        ("start_time", "2026-01-01T00:00"),
        ("categories", "IAB7"),
    ];
    let item = manager.make(&format!("/campaigns/{campaign}/line-item"), &fields);
    (format!("/line-items/{item}"), item)
}

#[test]
fn preroll_media_is_added_to_and_removed_from_a_line_item_on_pages() {
    let mut manager = Manager::new();
    let film = samples::Film { width: 160, height: 90, ..samples::Film::default() };
    let film = samples::mp4(film);
    let fields = [("name", "Clip"), ("media_category", "amplify_video")];
    let response = manager.sends("/media/upload", &fields, Some(("media", "clip.mp4", &film)));
    assert_eq!(response.status, 303, "{}", response.text());
    let media = manager.ads.get("/account_media", &[])["data"][0].clone();
    assert_eq!(media["creative_type"], "PREROLL");
    let (here, item) = preroll_item(&mut manager);
    let page = manager.shown(&here);
    for none in ["No media yet", "No call to action", "No curated category"] {
        assert!(page.contains(none), "{none}: {page}");
    }
    let show = format!("{here}/media");
    let response = manager.send(&show, &[("account_media_id", "")]);
    assert_eq!(error_of(&response, "account_media_id"), "This field is required.");
    let id = media["id"].as_str().unwrap().to_owned();
    manager.make(&show, &[("account_media_id", &id)]);
    assert!(manager.shown(&here).contains("Preroll"));
    let filter = [("line_item_ids", item.as_str())];
    let deleted = manager.ads.get("/media_creatives", &filter)["data"][0].clone();
    let deleted = format!("/media-creatives/{}/delete", deleted["id"].as_str().unwrap());
    assert_eq!(manager.send(&deleted, &[]).status, 303);
    assert_eq!(manager.ads.get("/media_creatives", &filter)["data"], json!([]));
}

#[test]
fn call_to_action_of_a_line_item_is_set_once_and_changed_on_pages() {
    let mut manager = Manager::new();
    let (here, item) = preroll_item(&mut manager);
    let call = format!("{here}/call-to-action");
    let wrong = [("call_to_action", "SHOP"), ("call_to_action_url", "bikes")];
    let response = manager.send(&call, &wrong);
    assert!(error_of(&response, "call_to_action_url").contains("URL"));
    let good = [("call_to_action", "SHOP"), ("call_to_action_url", "https://bikes.example/")];
    manager.make(&call, &good);
    let response = manager.send(&call, &good);
    assert!(error_of(&response, "call_to_action").contains("already"));
    let filter = [("line_item_ids", item.as_str())];
    let created = manager.ads.get("/preroll_call_to_actions", &filter)["data"][0].clone();
    assert_eq!(created["call_to_action"], "SHOP");
    let edit = format!("/calls-to-action/{}/edit", created["id"].as_str().unwrap());
    let other = [("call_to_action", "GO_TO"), ("call_to_action_url", "https://bikes.example/")];
    manager.make(&edit, &other);
    let page = manager.shown(&here);
    assert!(page.contains("Go to"), "{page}");
}

#[test]
fn curated_category_needs_a_targeted_country_on_pages() {
    let mut manager = Manager::new();
    let (here, _) = preroll_item(&mut manager);
    let publisher = shared_server().new_user("publisher");
    let add = ["ads", "publisher", "add", &publisher.username, "--category", "se", "--country", "PT"];
    shared_server().run_cli(&add).assert_success();
    let curated = ["ads", "curated-category", "add", "City cycling", "--country", "PT"];
    let curated = [&curated[..], &["--publisher", &publisher.username]].concat();
    let curated = shared_server().run_cli(&curated).json()["id"].as_str().unwrap().to_owned();
    let choose = format!("{here}/category");
    let response = manager.send(&choose, &[("curated_category_id", &curated)]);
    assert!(error_of(&response, "curated_category_id").contains("location"));
}

#[test]
fn tracking_tag_is_added_and_changed_on_pages() {
    let mut manager = Manager::new();
    let (here, item) = preroll_item(&mut manager);
    let filter = [("line_item_ids", item.as_str())];
    let track = format!("{here}/track");
    for wrong in ["zz", "http://partner.example/seen"] {
        let tag = [("tracking_tag_type", "IMPRESSION_TAG"), ("tracking_tag_url", wrong)];
        let response = manager.send(&track, &tag);
        assert!(error_of(&response, "tracking_tag_url").starts_with("Enter a whole URL, such as https://"), "{wrong}");
    }
    let tag = [("tracking_tag_type", "IMPRESSION_TAG"), ("tracking_tag_url", "https://partner.example/seen")];
    manager.make(&track, &tag);
    let tag = manager.ads.get("/tracking_tags", &filter)["data"][0].clone();
    let edit = format!("/tracking-tags/{}/edit", tag["id"].as_str().unwrap());
    manager.make(&edit, &[("tracking_tag_url", "https://partner.example/other")]);
    let page = manager.shown(&here);
    assert!(page.contains("https://partner.example/other"), "{page}");
}
