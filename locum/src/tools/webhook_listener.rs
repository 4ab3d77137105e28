//! `locum webhook listen`: a local webhook receiver. It answers challenges, checks signatures and
//! prints deliveries.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use base::Secret;
use base::secret::constant_time_eq;
use clap::Args;
use deliver::webhooks::{SIGNATURE_HEADER, sign};
use serde_json::{Value, json};

use crate::arguments::GlobalArgs;
use crate::command_error::CommandError;
use crate::dev::EnvFile;
use crate::output::print_line;

#[derive(Args, Clone, Debug)]
pub(crate) struct WebhookListenArgs {
    /// The port to listen on at the loopback address; 0 picks a free port
    #[arg(long, default_value_t = 5000)]
    pub(crate) port: u16,
    /// A file with the app's API key secret [default: the development server's app]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// The response status for deliveries
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) status: u16,
    /// Exit after this many deliveries
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u32>,
}

const MAX_HEAD_BYTES: u64 = 64 * 1024;
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

struct LocalWebhookReceiver {
    secret: Secret,
    status: u16,
    received_count: AtomicU32,
    max_requests: Option<u32>,
    /// Serializes output lines.
    printing: Mutex<()>,
}

pub(crate) fn listen_for_webhooks(common: &GlobalArgs, args: &WebhookListenArgs) -> Result<(), CommandError> {
    let listener = TcpListener::bind(("127.0.0.1", args.port))
        .map_err(|error| CommandError::Failed(format!("port {}: {error}", args.port)))?;
    let address = listener.local_addr().map_err(|error| CommandError::Failed(error.to_string()))?;
    let receiver = Arc::new(LocalWebhookReceiver {
        secret: consumer_secret(common, args)?,
        status: args.status,
        received_count: AtomicU32::new(0),
        max_requests: args.count,
        printing: Mutex::new(()),
    });
    receiver.print_json(&json!({ "listening": format!("http://{address}/") }));
    for stream in listener.incoming().map_while(Result::ok) {
        let receiver = Arc::clone(&receiver);
        // Errors on one connection are ignored.
        std::thread::spawn(move || drop(receiver.handle_connection(stream)));
    }
    Ok(())
}

/// From `--secret-file`, the environment, or the development server's app.
fn consumer_secret(common: &GlobalArgs, args: &WebhookListenArgs) -> Result<Secret, CommandError> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| CommandError::Usage(format!("{}: {error}", path.display())))
    };
    if let Some(path) = &args.secret_file {
        return Ok(Secret::new(read(path)?.trim()));
    }
    if let Ok(text) = std::env::var("LOCUM_API_SECRET") {
        return Ok(Secret::new(text));
    }
    let lines = EnvFile::parse(&read(&EnvFile::file_path(&common.load_settings()?.core.data_dir))?);
    let found = lines.0.into_iter().find(|(name, _)| name == "API_SECRET");
    let (_, text) = found.ok_or_else(|| CommandError::Usage("dev.env has no API_SECRET".to_owned()))?;
    Ok(Secret::new(text))
}

struct ReceivedRequest {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl ReceivedRequest {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut found = pairs.filter(|(known, _)| *known == name);
        let (_, value) = found.next()?;
        base::percent::decode(value).ok().map(std::borrow::Cow::into_owned)
    }
}

impl LocalWebhookReceiver {
    fn handle_connection(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut out = stream.try_clone()?;
        let mut lines = BufReader::new(stream);
        while let Some(request) = read_request(&mut lines)? {
            let (status, body) = self.answer_request(&request);
            let head = format!(
                "HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\n\r\n",
                body.len()
            );
            out.write_all(format!("{head}{body}").as_bytes())?;
            let done = self.received_count.load(Ordering::SeqCst);
            if self.max_requests.is_some_and(|max| done >= max) {
                out.flush()?;
                std::process::exit(0);
            }
        }
        Ok(())
    }

    fn answer_request(&self, request: &ReceivedRequest) -> (u16, String) {
        match (request.method.as_str(), request.query("crc_token")) {
            ("GET", Some(token)) => {
                let answer = json!({ "response_token": sign(&self.secret, token.as_bytes()) });
                self.print_json(&json!({ "challenge": token, "answer": answer }));
                (200, answer.to_string())
            }
            ("POST", _) => {
                self.print_delivery(request);
                (self.status, "{}".to_owned())
            }
            _ => (404, "{}".to_owned()),
        }
    }

    fn print_delivery(&self, request: &ReceivedRequest) {
        let expected = sign(&self.secret, &request.body);
        let signature = request.header(SIGNATURE_HEADER);
        let body = serde_json::from_slice::<Value>(&request.body)
            .unwrap_or_else(|_| json!(String::from_utf8_lossy(&request.body)));
        self.print_json(&json!({
            "event_id": request.header("webhook-id"),
            "attempt": request.header("webhook-attempt"),
            "replay": request.header("webhook-replay-id"),
            "signature": signature,
            "signature_is_right": constant_time_eq(signature.as_bytes(), expected.as_bytes()),
            "body": body,
        }));
        self.received_count.fetch_add(1, Ordering::SeqCst);
    }

    fn print_json(&self, value: &Value) {
        let guard = self.printing.lock();
        print_line(&value.to_string());
        drop(guard);
    }
}

/// `None` at the end of the connection.
fn read_request(lines: &mut BufReader<TcpStream>) -> std::io::Result<Option<ReceivedRequest>> {
    let mut head = lines.take(MAX_HEAD_BYTES);
    let mut first = String::new();
    if head.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next(), words.next());
    let mut request = ReceivedRequest {
        method: method.unwrap_or_default(),
        target: target.unwrap_or_default(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            let name = name.trim().to_ascii_lowercase();
            request.headers.push((name, value.trim().to_owned()));
        }
    }
    let length: usize = request.header("content-length").parse().unwrap_or(0);
    request.body = vec![0; length.min(MAX_BODY_BYTES)];
    lines.read_exact(&mut request.body)?;
    Ok(Some(request))
}
