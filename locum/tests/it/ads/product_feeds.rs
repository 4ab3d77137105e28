//! Scheduled feeds of product catalogs: when they are fetched, and what becomes of the file.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::is;
use super::product_catalogs::{Merchant, product};
use crate::harness::{TestServer, shared_server, wait_until};

pub(super) const DAILY: &[(&str, &str)] = &[
    ("feed_url", "https://shop.example/feed.csv"),
    ("feed_format", "CSV"),
    ("frequency", "DAILY"),
    ("start_time", "01:30"),
    ("time_zone", "America/New_York"),
];
const HEADER: &str = "id,title,description,availability,condition,price,link,image_link,brand,inventory";

fn line(id: &str, price: &str) -> String {
    format!("{id},\"Chair, {id}\",Wooden,in stock,new,{price},https://s.example/{id},https://s.example/i.png,Woods,5")
}

/// Files on this machine; what is not there is answered by 503, or later if its name says so.
struct FileServer {
    port: u16,
    files: Arc<Mutex<HashMap<String, String>>>,
    paths: Arc<Mutex<Vec<String>>>,
}

impl FileServer {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (files, paths) = (Arc::<Mutex<HashMap<String, String>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answers, log) = (Arc::clone(&files), Arc::clone(&paths));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
                log.lock().unwrap().push(path.clone());
                let find = || answers.lock().unwrap().get(&path).cloned();
                if path.starts_with("/slow") {
                    wait_until("the file is there", || find().is_some());
                }
                let (status, body) = find().map_or(("503 Service Unavailable", String::new()), |file| ("200 OK", file));
                drop(stream.write_all(format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n{body}").as_bytes()));
            }
        });
        Self { port, files, paths }
    }

    fn put(&self, path: &str, text: String) {
        self.files.lock().unwrap().insert(path.to_owned(), text);
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn count(&self) -> usize {
        self.paths.lock().unwrap().len()
    }
}

impl Merchant<'_> {
    /// A feed that is imported every hour, at the full hour.
    #[track_caller]
    fn hourly_feed(&self, url: &str, format: &str) -> String {
        let params = [
            ("feed_url", url),
            ("feed_format", format),
            ("frequency", "HOURLY"),
            ("repeat", "1"),
            ("start_time", "00:00"),
            ("time_zone", "UTC"),
        ];
        let created = self.send("POST", "/scheduled_feeds", &params).assert_status(200);
        created["data"]["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn feed(&self) -> Value {
        self.send("GET", "/scheduled_feeds", &[]).assert_status(200)["data"][0].clone()
    }

    fn titles(&self) -> Vec<String> {
        let products = self.products(&[]);
        products["data"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    }
}

fn advance(server: &TestServer, span: &str) {
    server.run_cli(&["clock", "advance", span]).assert_success();
}

#[test]
fn feed_is_created_once_changed_and_deleted() {
    let merchant = Merchant::on(shared_server());
    let created = merchant.send("POST", "/scheduled_feeds", DAILY).assert_status(200);
    let feed = created["data"].clone();
    let expected = json!({
        "id": feed["id"],
        "product_catalog_id": merchant.catalog,
        "feed_url": "https://shop.example/feed.csv",
        "feed_format": "CSV",
        "frequency": "DAILY",
        "repeat": null,
        "start_time": "01:30",
        "time_zone": "America/New_York",
        "next_import_at": feed["next_import_at"],
        "last_import": null,
        "created_at": feed["created_at"],
        "updated_at": feed["updated_at"],
    });
    assert_eq!(feed, expected);
    let created_at = feed["created_at"].as_str().unwrap();
    assert_eq!(created_at.len(), "2026-08-31T03:44:26.000Z".len(), "{created_at}");
    let next = feed["next_import_at"].as_str().unwrap();
    assert!(next > created_at && next.ends_with(":30:00.000Z"), "{next}");
    is(&merchant.send("POST", "/scheduled_feeds", DAILY), 400, "INVALID", "product_catalog_id");
    let list = merchant.send("GET", "/scheduled_feeds", &[]).assert_status(200);
    assert_eq!((&list["data"], &list["next_cursor"]), (&json!([feed]), &Value::Null));

    let path = format!("/scheduled_feeds/{}", feed["id"].as_str().unwrap());
    let weekly = [("frequency", "WEEKLY"), ("repeat", "SATURDAY")];
    let changed = merchant.send("PUT", &path, &weekly).assert_status(200)["data"].clone();
    assert_eq!((&changed["repeat"], &changed["start_time"]), (&json!("SATURDAY"), &json!("01:30")));
    is(&merchant.send("PUT", &path, &[("frequency", "HOURLY")]), 400, "MISSING_PARAMETER", "repeat");
    is(&merchant.send("PUT", &path, &[("repeat", "5")]), 400, "INVALID_PARAMETER", "repeat");
    let daily = merchant.send("PUT", &path, &[("frequency", "DAILY")]).assert_status(200);
    assert_eq!(daily["data"]["repeat"], Value::Null);
    merchant.send("DELETE", &path, &[]).assert_status(200);
    is(&merchant.send("DELETE", &path, &[]), 404, "NOT_FOUND", "id");
    for (name, value) in [
        ("feed_url", "shop.example/feed.csv"),
        ("feed_format", "JSON"),
        ("frequency", "MONTHLY"),
        ("start_time", "24:00"),
        ("start_time", "1:30"),
        ("time_zone", "Mars/Base"),
        ("repeat", "MONDAY"),
    ] {
        let wrong = super::with_overrides(DAILY, &[(name, value)]);
        is(&merchant.send("POST", "/scheduled_feeds", &wrong), 400, "INVALID_PARAMETER", name);
        let fewer: Vec<(&str, &str)> = DAILY.iter().copied().filter(|(other, _)| *other != name).collect();
        if fewer.len() < DAILY.len() {
            is(&merchant.send("POST", "/scheduled_feeds", &fewer), 400, "MISSING_PARAMETER", name);
        }
    }
}

#[test]
fn feed_is_imported_at_its_time_and_adds_to_the_catalog() {
    let server = TestServer::start(&[]);
    let (merchant, files) = (Merchant::on(&server), FileServer::open());
    merchant.put(&[product("own")]);
    let table = |lines: &[String]| format!("{HEADER}\n{}\n", lines.join("\n"));
    files.put("/a.csv", table(&[line("1", "60.00 USD"), line("2", "x"), line("3", "1 USD"), line("3", "2 USD")]));
    merchant.hourly_feed(&files.url("/a.csv"), "CSV");
    assert_eq!(files.count(), 0);
    advance(&server, "1h");
    assert_eq!(files.count(), 1);
    let mut outcome = merchant.feed()["last_import"].clone();
    let errors = outcome["errors"].take().to_string();
    assert!(errors.contains("2: Expected a price") && errors.contains("Several products have the id 3"), "{errors}");
    let expected = json!({
        "status": "SUCCESS",
        "completed_at": outcome["completed_at"],
        "error": null,
        "products_created": 1,
        "products_updated": 0,
        "products_unchanged": 0,
        "products_failed": 3,
        "errors": null,
    });
    assert_eq!(outcome, expected);
    assert_eq!(merchant.titles(), ["Product own", "Chair, 1"]);
    // More than a part of products; what is missing stays.
    let many: Vec<String> = (2..230).map(|number| line(&number.to_string(), "5.00 USD")).collect();
    files.put("/a.csv", table(&many));
    advance(&server, "1h");
    let outcome = merchant.feed()["last_import"].clone();
    assert_eq!((&outcome["products_created"], &outcome["products_failed"]), (&json!(228), &json!(0)), "{outcome}");
    assert_eq!(merchant.titles()[1], "Chair, 1");
    advance(&server, "3h");
    assert_eq!(files.count(), 5);
    assert_eq!(merchant.feed()["last_import"]["products_unchanged"], 228);
    let path = format!("/scheduled_feeds/{}", merchant.feed()["id"].as_str().unwrap());
    merchant.send("DELETE", &path, &[]).assert_status(200);
    advance(&server, "2h");
    assert_eq!(files.count(), 5);
}

#[test]
fn feeds_of_every_format_are_imported() {
    let server = TestServer::start(&[]);
    let files = FileServer::open();
    let cells = "1\tLamp\tBright\tin_stock\tnew\t5.00 EUR\thttps://s.example/1\thttps://s.example/1.png\tLumen\t";
    files.put("/a.tsv", format!("{}\n{cells}\n", HEADER.replace(',', "\t")));
    let xml = "<rss version='2.0' xmlns:g='http://base.google.com/ns/1.0'><channel><title>Shop</title><item>\
        <g:id>1</g:id><title>Nuts &amp; bolts</title><description><![CDATA[Many]]></description>\
        <g:availability>in stock</g:availability><g:condition>new</g:condition><g:price>5.00 EUR</g:price>\
        <link>https://s.example/1?a=1&amp;b=2</link><g:image_link>https://s.example/1.png</g:image_link>\
        <g:gtin>123</g:gtin></item></channel></rss>";
    files.put("/a.xml", xml.to_owned());
    let merchants = [("/a.tsv", "TSV", "Lamp"), ("/a.xml", "XML", "Nuts & bolts")].map(|(path, format, title)| {
        let merchant = Merchant::on(&server);
        merchant.hourly_feed(&files.url(path), format);
        (merchant, title)
    });
    advance(&server, "1h");
    for (merchant, title) in merchants {
        assert_eq!(merchant.titles(), [title], "{}", merchant.feed());
    }
}

#[test]
fn feed_that_cannot_be_fetched_is_tried_again_three_times() {
    let server = TestServer::start(&[]);
    let (merchant, files) = (Merchant::on(&server), FileServer::open());
    merchant.hourly_feed(&files.url("/late.csv"), "CSV");
    advance(&server, "1h");
    let feed = merchant.feed();
    assert_eq!(feed["last_import"]["status"], "FAILED", "{feed}");
    assert_eq!(feed["last_import"]["error"], "the server answered with the status 503");
    // From five to nine minutes to the hour there was no time for all attempts.
    advance(&server, "1h");
    let before = files.count();
    advance(&server, "1h");
    assert_eq!(files.count() - before, 3);
    files.put("/late.csv", format!("{HEADER}\n{}\n", line("1", "1 USD")));
    advance(&server, "1h");
    assert_eq!((merchant.feed()["last_import"]["status"].as_str(), merchant.titles().len()), (Some("SUCCESS"), 1));
    // What is no feed is not fetched again before its time.
    files.put("/late.csv", "<html>".to_owned());
    let before = files.count();
    advance(&server, "1h");
    let outcome = merchant.feed()["last_import"].clone();
    assert_eq!((files.count() - before, &outcome["error"]), (1, &json!("The first line has no column id")));
    assert_eq!(merchant.titles().len(), 1);
}

#[test]
fn feed_that_is_changed_while_it_is_fetched_is_not_imported_before_its_new_time() {
    let server = TestServer::start(&[]);
    let (merchant, files) = (Merchant::on(&server), FileServer::open());
    let id = merchant.hourly_feed(&files.url("/slow.csv"), "CSV");
    std::thread::scope(|scope| {
        let moving = scope.spawn(|| advance(&server, "1h"));
        wait_until("the file is asked for", || files.count() == 1);
        assert_eq!(merchant.feed()["next_import_at"], Value::Null);
        let changed = [("frequency", "WEEKLY"), ("repeat", "MONDAY")];
        merchant.send("PUT", &format!("/scheduled_feeds/{id}"), &changed).assert_status(200);
        files.put("/slow.csv", format!("{HEADER}\n{}\n", line("1", "1 USD")));
        moving.join().unwrap();
    });
    assert_eq!((merchant.titles().len(), &merchant.feed()["last_import"]), (0, &Value::Null));
    advance(&server, "7d");
    assert_eq!(merchant.titles().len(), 1);
}

#[test]
fn feed_of_a_suspended_user_is_not_fetched() {
    let server = TestServer::start(&[]);
    let (merchant, files) = (Merchant::on(&server), FileServer::open());
    files.put("/a.csv", format!("{HEADER}\n{}\n", line("1", "1 USD")));
    merchant.hourly_feed(&files.url("/a.csv"), "CSV");
    let suspend = ["mod", "suspend", &merchant.user.username, "--for", "7d", "--reason", "Spam"];
    server.run_cli(&suspend).assert_success();
    advance(&server, "3h");
    assert_eq!(files.count(), 0);
}

#[test]
fn network_fetches_no_feed_of_a_private_address() {
    let server = TestServer::start_network(&[]);
    let (merchant, files) = (Merchant::on(&server), FileServer::open());
    files.put("/a.csv", format!("{HEADER}\n{}\n", line("1", "1 USD")));
    merchant.hourly_feed(&files.url("/a.csv"), "CSV");
    server.run_sql("UPDATE scheduled_feed SET due_at = 1");
    wait_until("the feed was tried", || merchant.feed()["last_import"]["status"] == "FAILED");
    assert_eq!((files.count(), merchant.titles().len()), (0, 0));
}
