//! A receiver of webhooks: a small HTTP server that answers as it is told to.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
        let value = values.next_back()?;
        Some(base::percent::decode(value).unwrap().into_owned())
    }
}

/// How challenges are answered.
#[derive(Clone, Debug)]
pub(crate) enum CrcBehavior {
    Right,
    Wrong,
    NotJson,
    Status(u16),
    Redirect(String),
    Huge,
    Slow(Duration),
}

/// How a delivery is answered.
#[derive(Clone, Debug)]
pub(crate) enum DeliveryResponse {
    Status(u16),
    After(Duration, u16),
    With(u16, &'static str, String),
    Huge,
    Close,
}

type DeliveryHandler = Arc<dyn Fn(&ReceivedRequest) -> DeliveryResponse + Send + Sync>;

struct ReceiverState {
    secret: String,
    crc: CrcBehavior,
    delivery_handler: DeliveryHandler,
    received: Vec<ReceivedRequest>,
    challenges: usize,
    last_challenge: Option<ReceivedRequest>,
}

/// The receiver; it is there as long as the process.
pub(crate) struct WebhookReceiver {
    pub(crate) port: u16,
    state: Arc<Mutex<ReceiverState>>,
}

impl WebhookReceiver {
    /// One that knows an app's secret and takes everything.
    pub(crate) fn open(secret: &str) -> Self {
        Self::from_listener(TcpListener::bind("127.0.0.1:0").unwrap(), secret)
    }

    pub(crate) fn from_listener(listener: TcpListener, secret: &str) -> Self {
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(ReceiverState {
            secret: secret.to_owned(),
            crc: CrcBehavior::Right,
            delivery_handler: Arc::new(|_| DeliveryResponse::Status(200)),
            received: Vec::new(),
            challenges: 0,
            last_challenge: None,
        }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let inner = Arc::clone(&shared);
                std::thread::spawn(move || drop(handle_connection(&stream, &inner)));
            }
        });
        Self { port, state }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn set_crc_behavior(&self, crc: CrcBehavior) {
        self.state.lock().unwrap().crc = crc;
    }

    pub(crate) fn set_secret(&self, secret: &str) {
        secret.clone_into(&mut self.state.lock().unwrap().secret);
    }

    pub(crate) fn set_delivery_handler(
        &self,
        how: impl Fn(&ReceivedRequest) -> DeliveryResponse + Send + Sync + 'static,
    ) {
        self.state.lock().unwrap().delivery_handler = Arc::new(how);
    }

    /// The deliveries that came.
    pub(crate) fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.state.lock().unwrap().received.clone()
    }

    pub(crate) fn challenge_count(&self) -> usize {
        self.state.lock().unwrap().challenges
    }

    pub(crate) fn last_challenge(&self) -> ReceivedRequest {
        self.state.lock().unwrap().last_challenge.clone().unwrap()
    }

    /// Forgets what came.
    pub(crate) fn clear_received(&self) {
        self.state.lock().unwrap().received.clear();
    }
}

/// HMAC-SHA256 as RFC 2104 writes it down, in base64.
pub(crate) fn hmac_sha256(secret: &str, message: &[u8]) -> String {
    let mut key = [0_u8; 64];
    if secret.len() > 64 {
        key[..32].copy_from_slice(&Sha256::digest(secret.as_bytes()));
    } else {
        key[..secret.len()].copy_from_slice(secret.as_bytes());
    }
    let pad = |with: u8| key.map(|byte| byte ^ with).to_vec();
    let inner = Sha256::digest([&pad(0x36)[..], message].concat());
    let outer = Sha256::digest([&pad(0x5c)[..], &inner[..]].concat());
    format!("sha256={}", BASE64_STANDARD.encode(outer))
}

fn handle_connection(stream: &TcpStream, inner: &Mutex<ReceiverState>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut out = stream.try_clone()?;
    while let Some(received) = read_request(&mut lines)? {
        let token = received.query("crc_token").filter(|_| received.method == "GET");
        let written = match token {
            Some(token) => {
                let answer = answer_challenge(inner, &token);
                inner.lock().unwrap().last_challenge = Some(received);
                Some(answer)
            }
            None => record_delivery(inner, received),
        };
        let Some(answer) = written else {
            return Ok(());
        };
        out.write_all(&answer)?;
    }
    Ok(())
}

fn answer_challenge(inner: &Mutex<ReceiverState>, token: &str) -> Vec<u8> {
    let (crc, right) = {
        let mut inner = inner.lock().unwrap();
        inner.challenges += 1;
        (inner.crc.clone(), hmac_sha256(&inner.secret, token.as_bytes()))
    };
    let good = format!("{{\"response_token\":\"{right}\"}}");
    match crc {
        CrcBehavior::Right => http_response(200, "", &good),
        CrcBehavior::Wrong => http_response(200, "", "{\"response_token\":\"sha256=AAAA\"}"),
        CrcBehavior::NotJson => http_response(200, "", &right),
        CrcBehavior::Status(status) => http_response(status, "", &good),
        CrcBehavior::Redirect(to) => http_response(302, &format!("location: {to}\r\n"), &good),
        CrcBehavior::Huge => {
            let blanks = " ".repeat(100_000);
            http_response(200, "", &format!("{blanks}{good}"))
        }
        CrcBehavior::Slow(time) => {
            std::thread::sleep(time);
            http_response(200, "", &good)
        }
    }
}

fn record_delivery(inner: &Mutex<ReceiverState>, heard: ReceivedRequest) -> Option<Vec<u8>> {
    let how = {
        let mut inner = inner.lock().unwrap();
        inner.received.push(heard.clone());
        Arc::clone(&inner.delivery_handler)
    };
    match how(&heard) {
        DeliveryResponse::Status(status) => Some(http_response(status, "", "")),
        DeliveryResponse::After(time, status) => {
            std::thread::sleep(time);
            Some(http_response(status, "", ""))
        }
        DeliveryResponse::With(status, name, value) => Some(http_response(status, &format!("{name}: {value}\r\n"), "")),
        DeliveryResponse::Huge => Some(http_response(200, "", &"a".repeat(5_000_000))),
        DeliveryResponse::Close => None,
    }
}

fn http_response(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let kind = "content-type: application/json\r\n";
    format!("HTTP/1.1 {status} Answer\r\n{kind}{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

fn read_request(lines: &mut BufReader<TcpStream>) -> std::io::Result<Option<ReceivedRequest>> {
    let mut first = String::new();
    if lines.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        match line.split_once(':') {
            Some((name, value)) => {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            None => break,
        }
    }
    let length = headers.get("content-length");
    let length = length.map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    lines.read_exact(&mut body)?;
    Ok(Some(ReceivedRequest { method, target, headers, body }))
}
