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
pub(crate) struct Heard {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut values = pairs
            .filter(|(known, _)| *known == name)
            .map(|(_, value)| value);
        let value = values.next_back()?;
        Some(base::percent::decode(value).unwrap().into_owned())
    }
}

/// How challenges are answered.
#[derive(Clone, Debug)]
pub(crate) enum Crc {
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
pub(crate) enum Turn {
    Status(u16),
    After(Duration, u16),
    With(u16, &'static str, String),
    Huge,
    Close,
}

type Deliver = Arc<dyn Fn(&Heard) -> Turn + Send + Sync>;

struct Inner {
    secret: String,
    crc: Crc,
    deliver: Deliver,
    heard: Vec<Heard>,
    challenges: usize,
}

/// The receiver; it is there as long as the process.
pub(crate) struct Receiver {
    pub(crate) port: u16,
    inner: Arc<Mutex<Inner>>,
}

impl Receiver {
    /// One that knows an app's secret and takes everything.
    pub(crate) fn open(secret: &str) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").unwrap(), secret)
    }

    pub(crate) fn at(listener: TcpListener, secret: &str) -> Self {
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Mutex::new(Inner {
            secret: secret.to_owned(),
            crc: Crc::Right,
            deliver: Arc::new(|_| Turn::Status(200)),
            heard: Vec::new(),
            challenges: 0,
        }));
        let shared = Arc::clone(&inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let inner = Arc::clone(&shared);
                std::thread::spawn(move || drop(talk(&stream, &inner)));
            }
        });
        Self { port, inner }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn crc(&self, crc: Crc) {
        self.inner.lock().unwrap().crc = crc;
    }

    pub(crate) fn learn(&self, secret: &str) {
        secret.clone_into(&mut self.inner.lock().unwrap().secret);
    }

    pub(crate) fn deliver(&self, how: impl Fn(&Heard) -> Turn + Send + Sync + 'static) {
        self.inner.lock().unwrap().deliver = Arc::new(how);
    }

    /// The deliveries that came.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.inner.lock().unwrap().heard.clone()
    }

    pub(crate) fn challenges(&self) -> usize {
        self.inner.lock().unwrap().challenges
    }

    /// Forgets what came.
    pub(crate) fn forget(&self) {
        self.inner.lock().unwrap().heard.clear();
    }
}

/// HMAC-SHA256 as RFC 2104 writes it down, in base64.
pub(crate) fn hmac(secret: &str, message: &[u8]) -> String {
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

fn talk(stream: &TcpStream, inner: &Mutex<Inner>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut out = stream.try_clone()?;
    while let Some(heard) = hear(&mut lines)? {
        let token = heard.query("crc_token").filter(|_| heard.method == "GET");
        let written = match token {
            Some(token) => Some(challenged(inner, &token)),
            None => delivered(inner, heard),
        };
        let Some(answer) = written else {
            return Ok(());
        };
        out.write_all(&answer)?;
    }
    Ok(())
}

fn challenged(inner: &Mutex<Inner>, token: &str) -> Vec<u8> {
    let (crc, right) = {
        let mut inner = inner.lock().unwrap();
        inner.challenges += 1;
        (inner.crc.clone(), hmac(&inner.secret, token.as_bytes()))
    };
    let good = format!("{{\"response_token\":\"{right}\"}}");
    match crc {
        Crc::Right => answer(200, "", &good),
        Crc::Wrong => answer(200, "", "{\"response_token\":\"sha256=AAAA\"}"),
        Crc::NotJson => answer(200, "", &right),
        Crc::Status(status) => answer(status, "", &good),
        Crc::Redirect(to) => answer(302, &format!("location: {to}\r\n"), &good),
        Crc::Huge => {
            let blanks = " ".repeat(100_000);
            answer(200, "", &format!("{blanks}{good}"))
        }
        Crc::Slow(time) => {
            std::thread::sleep(time);
            answer(200, "", &good)
        }
    }
}

fn delivered(inner: &Mutex<Inner>, heard: Heard) -> Option<Vec<u8>> {
    let how = {
        let mut inner = inner.lock().unwrap();
        inner.heard.push(heard.clone());
        Arc::clone(&inner.deliver)
    };
    match how(&heard) {
        Turn::Status(status) => Some(answer(status, "", "")),
        Turn::After(time, status) => {
            std::thread::sleep(time);
            Some(answer(status, "", ""))
        }
        Turn::With(status, name, value) => {
            Some(answer(status, &format!("{name}: {value}\r\n"), ""))
        }
        Turn::Huge => Some(answer(200, "", &"a".repeat(5_000_000))),
        Turn::Close => None,
    }
}

fn answer(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let kind = "content-type: application/json\r\n";
    format!("HTTP/1.1 {status} Answer\r\n{kind}{headers}content-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn hear(lines: &mut BufReader<TcpStream>) -> std::io::Result<Option<Heard>> {
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
    Ok(Some(Heard {
        method,
        target,
        headers,
        body,
    }))
}
