//! `locum stream tail`: a client of the real stream.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::header::{AUTHORIZATION, HOST};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::call_control_api;
use instance::ListeningAddresses;
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;
use instance::output::{exit_with_reader, print_diagnostic, print_line};

const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(32);

#[derive(Args, Clone, Debug)]
pub(crate) struct StreamTailArgs {
    /// The stream: filtered, sample, activity, firehose, …, or its path
    endpoint: String,
    /// The app: id, API key, client id or name [default: the oldest app]
    #[arg(long)]
    app: Option<String>,
    /// The partition, of streams that have several
    #[arg(long, default_value_t = 1)]
    partition: u32,
    /// Exit after this many messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Connect again when the connection ends
    #[arg(short, long)]
    follow: bool,
}

/// Where a stream is, and the token that opens it.
struct StreamTarget {
    /// What is connected to.
    address: String,
    authority: String,
    path: String,
    bearer_token: String,
}

enum TailOutcome {
    /// As many messages as were asked for.
    Complete,
    /// Why the connection ended.
    Disconnected(String),
}

pub(super) fn print_stream(common: &GlobalArgs, args: &StreamTailArgs) -> Result<(), CommandError> {
    exit_with_reader()?;
    let body = json!({"endpoint": args.endpoint, "partition": args.partition});
    let mut body = body.as_object().cloned().unwrap_or_default();
    body.extend(args.app.as_ref().map(|app| ("app".to_owned(), Value::from(app.as_str()))));
    let access = call_control_api(common, Method::POST, "/streams/access", Some(&Value::Object(body)))?;
    let target = StreamTarget::from_access(&access, find_listener(common)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::Failed(format!("starting: {error}")))?;
    let (mut left, mut pause) = (args.count, FIRST_PAUSE);
    loop {
        let before = left;
        let outcome = runtime.block_on(target.read_messages(&mut left));
        let ended = match outcome {
            Ok(TailOutcome::Complete) => return Ok(()),
            Ok(TailOutcome::Disconnected(reason)) => reason,
            Err(error) if args.follow => error.message().to_owned(),
            Err(error) => return Err(error),
        };
        if !args.follow {
            print_diagnostic(&ended);
            return Ok(());
        }
        pause = if before == left { (pause * 2).min(LONGEST_PAUSE) } else { FIRST_PAUSE };
        print_diagnostic(&format!("{ended}; connecting again in {} s", pause.as_secs()));
        std::thread::sleep(pause);
    }
}

/// The base URL may not be reachable from here: in a container, or the name of a further world.
fn find_listener(common: &GlobalArgs) -> Result<Option<SocketAddr>, CommandError> {
    if common.is_remote() {
        return Ok(None);
    }
    let folder = common.load_settings()?.core.data_dir;
    Ok(ListeningAddresses::read(&folder).map(|listening| listening.local_addr()))
}

impl StreamTarget {
    fn from_access(access: &Value, listener: Option<SocketAddr>) -> Result<Self, CommandError> {
        let text = |name: &str| access[name].as_str().unwrap_or_default().to_owned();
        let base_url = text("base_url");
        let (_, authority) = base_url
            .split_once("://")
            .ok_or_else(|| CommandError::Failed(format!("the server's base URL is not a URL: {base_url}")))?;
        // The listener serves plain HTTP on the same port as TLS.
        let address = match listener {
            Some(listener) => listener.to_string(),
            None if authority.contains(':') => authority.to_owned(),
            None => format!("{authority}:80"),
        };
        Ok(Self { address, authority: authority.to_owned(), path: text("path"), bearer_token: text("bearer_token") })
    }

    #[expect(clippy::disallowed_methods, reason = "a command owns its tasks; no server runs here")]
    async fn read_messages(&self, left: &mut Option<u64>) -> Result<TailOutcome, CommandError> {
        let broken = |error: &dyn std::fmt::Display| {
            CommandError::Unreachable(format!("{}: the connection failed: {error}", self.address))
        };
        let socket = TcpStream::connect(&self.address).await.map_err(|error| broken(&error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await.map_err(|error| broken(&error))?;
        let connection = tokio::spawn(connection);
        let request = Request::get(&self.path)
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, format!("Bearer {}", self.bearer_token))
            .body(Empty::<Bytes>::new());
        let request = request.map_err(|error| CommandError::Usage(format!("invalid request: {error}")))?;
        let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let outcome =
            if status == 200 { print_messages(&mut body, left).await } else { Err(refused(status, body).await) };
        connection.abort();
        outcome
    }
}

async fn refused(status: u16, body: Incoming) -> CommandError {
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let detail = super::error_message(&answer).unwrap_or_else(|| String::from_utf8_lossy(&bytes).trim().to_owned());
    CommandError::Failed(format!("the stream was refused with {status}: {detail}"))
}

async fn print_messages(body: &mut Incoming, left: &mut Option<u64>) -> Result<TailOutcome, CommandError> {
    let mut pending = Vec::new();
    let mut reason = None;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Ok(TailOutcome::Disconnected("the connection broke in the middle of a message".to_owned()));
        };
        pending.extend_from_slice(frame.data_ref().map(Bytes::as_ref).unwrap_or_default());
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim();
            // An empty line keeps the connection alive.
            if line.is_empty() {
                continue;
            }
            print_line(line);
            reason = disconnect_reason(line);
            if let Some(count) = left {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    return Ok(TailOutcome::Complete);
                }
            }
        }
        if pending.len() > MAX_LINE_BYTES {
            return Err(CommandError::Failed(format!("a message is longer than {MAX_LINE_BYTES} bytes")));
        }
    }
    Ok(TailOutcome::Disconnected(
        reason.unwrap_or_else(|| "the server ended the connection without a reason".to_owned()),
    ))
}

/// Of the last line of a stream (contract core §9.1).
fn disconnect_reason(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    let error = message.get("errors")?.get(0)?;
    let kind = error.get("disconnect_type")?.as_str()?;
    let detail = error["detail"].as_str().unwrap_or_default();
    Some(format!("disconnected with {kind}: {detail}"))
}
