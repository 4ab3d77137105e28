//! Pages of hosts that resolve to this machine.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use network::link_facts::{DescribedImage, LinkDescription};
use parking_lot::Mutex;

use super::page_client::{FetchFailure, PageClient};
use crate::webhooks::{AllowedTargets, NameResolver, WebhookSettings};

/// A PNG of 3 by 2 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0\x12\x16\xf1\x4d\
    \0\0\0\x0bIDAT\x78\x9c\x63\x60\xc0\x04\0\0\x14\0\x01\x7d\xfe\x1e\xee\0\0\0\0IEND\xae\x42\x60\x82";

/// Answers paths with fixed responses, and does not answer others.
struct PageServer {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl PageServer {
    fn open(responses: impl Fn(u16) -> BTreeMap<&'static str, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (responses, requests) = (Arc::new(responses(port)), Arc::<Mutex<Vec<String>>>::default());
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (responses, log) = (Arc::clone(&responses), Arc::clone(&log));
                std::thread::spawn(move || answer(&stream, &responses, &log));
            }
        });
        Self { port, requests }
    }
}

fn answer(mut stream: &TcpStream, responses: &BTreeMap<&'static str, Vec<u8>>, log: &Mutex<Vec<String>>) {
    let head: Vec<String> =
        BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    log.lock().push(head.join("\n").to_ascii_lowercase());
    match responses.get(path.as_str()) {
        Some(response) => drop(stream.write_all(response)),
        None => std::thread::sleep(Duration::from_secs(5)),
    }
}

fn response(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").as_bytes(), body].concat()
}

fn redirect(to: &str) -> Vec<u8> {
    response(&format!("302 Found\r\nlocation: {to}"), b"")
}

/// `*.here.example` is this machine; `private.example` and `metadata.example` are what may not be reached.
fn client(allow_http: bool) -> PageClient {
    let resolver = NameResolver::Custom(Arc::new(|host: &str| -> Vec<IpAddr> {
        let text = match host {
            "private.example" => "10.0.0.1",
            "metadata.example" => "169.254.169.254",
            _ => "127.0.0.1",
        };
        vec![text.parse().unwrap()]
    }));
    PageClient::new(&WebhookSettings {
        timeout: Duration::from_millis(1500),
        targets: AllowedTargets { allow_http, private_blocks: vec!["127.0.0.1".parse().unwrap()] },
        resolver,
        ..WebhookSettings::default()
    })
}

#[tokio::test]
async fn page_behind_redirects_is_described_by_itself() {
    let page = "<title>x</title><meta property='og:title' content='A &amp; B'>\
                <meta name=description content='What it is'><meta property='og:image' content='/i.png'>";
    let server = PageServer::open(|port| {
        BTreeMap::from([
            ("/a", redirect("/b#part")),
            ("/b", redirect(&format!("http://two.here.example:{port}/c?d"))),
            ("/c?d", response("200 OK\r\ncontent-type: text/html", page.as_bytes())),
            ("/i.png", response("200 OK\r\ncontent-type: image/png", PNG)),
        ])
    });
    let url = format!("http://one.here.example:{}/a", server.port);
    let base = format!("http://two.here.example:{}", server.port);
    let expected = LinkDescription {
        url: url.clone(),
        unwound_url: format!("{base}/c?d"),
        status: Some(200),
        title: "A & B".to_owned(),
        description: "What it is".to_owned(),
        images: vec![DescribedImage { url: format!("{base}/i.png"), width: 3, height: 2 }],
    };
    assert_eq!(client(true).fetch(&url).await, Ok(expected));
    let requests = server.requests.lock();
    assert!(requests.iter().all(|head| head.contains("user-agent: locum-linkfetcher/")), "{requests:?}");
    assert_eq!(requests.len(), 4);
}

#[tokio::test]
async fn what_may_not_be_reached_is_not_reached_through_redirects_either() {
    let server = PageServer::open(|port| {
        BTreeMap::from([
            ("/private", redirect(&format!("http://private.example:{port}/"))),
            ("/metadata", redirect("http://metadata.example/latest/meta-data")),
            ("/address", redirect("http://[::ffff:169.254.169.254]/")),
            ("/file", redirect("file:///etc/passwd")),
            ("/credentials", redirect(&format!("http://a:b@one.here.example:{port}/private"))),
            ("/loop", redirect("/loop")),
        ])
    });
    let base = format!("http://one.here.example:{}", server.port);
    for path in ["/private", "/metadata", "/address", "/file", "/credentials"] {
        let failure = client(true).fetch(&format!("{base}{path}")).await.unwrap_err();
        let is_refused = matches!(&failure, FetchFailure::NotAllowed | FetchFailure::Broken(_));
        assert!(is_refused, "{path}: {failure}");
    }
    assert_eq!(server.requests.lock().len(), 5);
    assert_eq!(client(true).fetch(&format!("{base}/loop")).await, Err(FetchFailure::TooManyRedirects));
    assert_eq!(server.requests.lock().len(), 11);
    // Other ports than those of the web are for development.
    assert_eq!(client(false).fetch(&format!("{base}/loop")).await, Err(FetchFailure::NotAllowed));
    assert_eq!(client(true).fetch("ftp://one.here.example/").await, Err(FetchFailure::NotAllowed));
    assert_eq!(server.requests.lock().len(), 11);
}

#[tokio::test]
async fn page_is_read_up_to_a_size_and_a_time() {
    let long = [b"<title>Long</title>".as_slice(), &vec![b' '; 3 * 1024 * 1024], b"<meta name=description content=x>"];
    let server = PageServer::open(|_| {
        BTreeMap::from([
            ("/long", response("200 OK\r\ncontent-type: text/html; charset=utf-8", &long.concat())),
            ("/file", response("200 OK\r\ncontent-type: application/pdf", b"<title>No</title>")),
            ("/packed", response("200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip", b"<title>No</title>")),
            ("/gone", response("404 Not Found\r\ncontent-type: text/html", b"<title>Not found</title>")),
        ])
    });
    let base = format!("http://one.here.example:{}", server.port);
    let page = client(true).fetch(&format!("{base}/long")).await.unwrap();
    assert_eq!((&*page.title, &*page.description), ("Long", ""));
    for (path, status) in [("/file", 200), ("/packed", 200), ("/gone", 404)] {
        let page = client(true).fetch(&format!("{base}{path}")).await.unwrap();
        assert_eq!((page.status, &*page.title), (Some(status), ""), "{path}");
    }
    assert_eq!(client(true).fetch(&format!("{base}/silent")).await, Err(FetchFailure::TimedOut));
}

#[tokio::test]
async fn file_is_downloaded_as_a_whole_or_not_at_all() {
    let server = PageServer::open(|port| {
        BTreeMap::from([
            ("/moved", redirect("/file")),
            ("/file", response("200 OK", b"0123456789")),
            ("/missing", response("404 Not Found", b"0")),
            ("/private", redirect(&format!("http://private.example:{port}/"))),
        ])
    });
    let base = format!("http://one.here.example:{}", server.port);
    let download = async |path: &str, limit: usize| client(true).download(&format!("{base}{path}"), limit).await;
    assert_eq!(download("/moved", 10).await, Ok(b"0123456789".to_vec()));
    assert_eq!(download("/file", 9).await, Err(FetchFailure::TooLarge(9)));
    assert_eq!(download("/missing", 10).await, Err(FetchFailure::Status(404)));
    assert!(matches!(download("/private", 10).await, Err(FetchFailure::Broken(_))));
}
