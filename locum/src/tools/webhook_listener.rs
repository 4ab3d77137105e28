//! `locum webhook listen`: a local webhook receiver. It answers challenges, checks signatures and
//! prints deliveries.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base::Secret;
use base::secret::constant_time_eq;
use deliver::webhooks::{ATTEMPT_HEADER, EVENT_ID_HEADER, REPLAY_HEADER, SIGNATURE_HEADER, sign};
use edge::{Body, ListenerLimits, Shutdown};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::dev::EnvFile;
use crate::testing::world_variables;
use instance::arguments::{GlobalArgs, WebhookListenArgs};
use instance::block_on;
use instance::command_error::CommandError;
use instance::config::RunMode;
use instance::output::print_line;

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

struct LocalWebhookReceiver {
    secret: Secret,
    status: StatusCode,
    received_count: AtomicU32,
    max_deliveries: Option<u32>,
    shutdown: Shutdown,
}

pub(crate) fn listen_for_webhooks(common: &GlobalArgs, args: &WebhookListenArgs) -> Result<(), CommandError> {
    let shutdown = Shutdown::new();
    let receiver = Arc::new(LocalWebhookReceiver {
        secret: consumer_secret(common, args)?,
        status: args.status,
        received_count: AtomicU32::new(0),
        max_deliveries: args.count,
        shutdown: shutdown.clone(),
    });
    let port = args.port;
    block_on(async move {
        let failed = |error| CommandError::Failed(format!("port {port}: {error}"));
        let listener = edge::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(failed)?;
        let port = listener.local_addr().map_or(port, |address| address.port());
        print_json(&json!({ "listening": format!("http://127.0.0.1:{port}/") }));
        let handler = move |request| {
            let receiver = Arc::clone(&receiver);
            async move { receiver.answer(request).await }
        };
        edge::serve(listener, ListenerLimits::default(), handler, shutdown).await;
        Ok(())
    })
}

const SECRET_VARIABLE: &str = "LOCUM_API_SECRET";

/// From `--secret-file`, the world, the environment, or the development server's app.
fn consumer_secret(common: &GlobalArgs, args: &WebhookListenArgs) -> Result<Secret, CommandError> {
    if let Some(path) = &args.secret_file {
        let read = std::fs::read_to_string(path);
        let text = read.map_err(|error| CommandError::Failed(format!("{}: {error}", path.display())))?;
        return Ok(Secret::new(text.trim()));
    }
    if let Some(world) = &common.world {
        let found = world_variables(common)?.into_iter().find(|(name, _)| name == SECRET_VARIABLE);
        let (_, text) =
            found.ok_or_else(|| CommandError::Usage(format!("the world {world} has no {SECRET_VARIABLE}")))?;
        return Ok(Secret::new(text));
    }
    if let Ok(text) = std::env::var(SECRET_VARIABLE) {
        return Ok(Secret::new(text));
    }
    let settings = common.load_settings()?;
    if settings.mode == RunMode::Serve {
        let text =
            "only a development server has an app of its own; name a file with the app's secret by --secret-file";
        return Err(CommandError::WrongMode(text.to_owned()));
    }
    let lines = EnvFile::load(&settings.core.data_dir)?;
    let found = lines.0.into_iter().find(|(name, _)| name == "API_SECRET");
    let (_, text) = found.ok_or_else(|| {
        CommandError::Usage("dev.env has no LOCUM_API_SECRET; name a file with the secret by --secret-file".to_owned())
    })?;
    Ok(Secret::new(text))
}

impl LocalWebhookReceiver {
    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let token = head.uri.query().and_then(find_crc_token);
        let (status, answer) = match (&head.method, token) {
            (&Method::GET, Some(token)) => {
                let answer = json!({ "response_token": sign(&self.secret, token.as_bytes()) });
                print_json(&json!({ "challenge": token, "answer": answer }));
                (StatusCode::OK, answer)
            }
            (&Method::POST, _) => match body.collect_bytes(MAX_BODY_BYTES, BODY_TIMEOUT).await {
                Ok(body) => {
                    self.record_delivery(&head.headers, &body);
                    (self.status, json!({}))
                }
                Err(_) => (StatusCode::BAD_REQUEST, json!({})),
            },
            _ => (StatusCode::NOT_FOUND, json!({})),
        };
        let mut response = Response::new(Body::full(answer.to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn record_delivery(&self, headers: &HeaderMap, body: &[u8]) {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let expected = sign(&self.secret, body);
        let signature = header(SIGNATURE_HEADER);
        let value = serde_json::from_slice::<Value>(body).unwrap_or_else(|_| json!(String::from_utf8_lossy(body)));
        print_json(&json!({
            "event_id": header(EVENT_ID_HEADER),
            "attempt": header(ATTEMPT_HEADER),
            "replay": header(REPLAY_HEADER),
            "signature": signature,
            "signature_is_right": constant_time_eq(signature.as_bytes(), expected.as_bytes()),
            "body": value,
        }));
        let received = self.received_count.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        if self.max_deliveries.is_some_and(|max| received >= max) {
            self.shutdown.trigger();
        }
    }
}

fn print_json(value: &Value) {
    print_line(&value.to_string());
}

fn find_crc_token(query: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, token) = pairs.find(|(name, _)| *name == "crc_token")?;
    base::percent::decode(token).ok().map(std::borrow::Cow::into_owned)
}
