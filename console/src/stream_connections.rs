//! Open and ended stream connections, and what is needed to open one.

use std::collections::HashMap;

use base::refusal::RefusalKind;
use base::{AppId, Error, Refusal};
use deliver::streams::{DisconnectReason, EndedStream, StreamEndpoint, StreamSession, StreamStatus};
use network::lookup;
use serde_json::{Value, json};
use web::endpoint::Endpoint;
use web::request_context::RequestContext;
use web::router::endpoint_label;

/// What the client is told when a tester ends its connection, by the name of its `disconnect_type`.
pub(crate) const REASONS: [(&str, DisconnectReason); 5] = [
    ("force-disconnect", DisconnectReason::Killed),
    ("operational-disconnect", DisconnectReason::Shutdown),
    ("slow-reader", DisconnectReason::Slow),
    ("client-application-state-degraded", DisconnectReason::Revoked),
    ("internal-error", DisconnectReason::Failed),
];

#[derive(Clone, Debug)]
pub(crate) struct OpenStream {
    pub(crate) status: StreamStatus,
    pub(crate) app_name: String,
}

#[derive(Clone, Debug)]
pub(crate) struct StreamHistoryItem {
    pub(crate) ended: EndedStream,
    pub(crate) app_name: String,
}

impl OpenStream {
    pub(crate) fn to_json(&self) -> Value {
        let mut value = stream_fields(&self.status, &self.app_name);
        if let Some(map) = value.as_object_mut() {
            map.insert("heartbeat_age_ms".to_owned(), json!(milliseconds(self.status.idle)));
            map.insert("buffered_bytes".to_owned(), json!(self.status.buffered_bytes));
        }
        value
    }
}

impl StreamHistoryItem {
    pub(crate) fn to_json(&self) -> Value {
        let mut value = stream_fields(&self.ended.status, &self.app_name);
        if let Some(map) = value.as_object_mut() {
            map.insert("ended_at".to_owned(), json!(self.ended.ended_at.to_string()));
            map.insert("reason".to_owned(), json!(self.ended.reason.name()));
            map.insert("disconnect_type".to_owned(), json!(self.ended.reason.disconnect_type()));
        }
        value
    }
}

fn stream_fields(status: &StreamStatus, app_name: &str) -> Value {
    json!({
        "id": status.uuid,
        "app": app_name,
        "app_id": status.app.to_string(),
        "endpoint": status.endpoint.name(),
        "partition": status.partition,
        "replay": status.is_replay,
        "client": status.client,
        "connected_at": status.connected_at.to_string(),
        "sent": status.sent,
        "dropped": status.dropped,
        "keep_alives": status.keep_alives,
    })
}

fn milliseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

async fn app_names(call: &RequestContext) -> Result<HashMap<AppId, String>, Error> {
    let all = call.read(|tx| identity::apps::list(tx, None)).await?;
    Ok(all.into_iter().map(|app| (app.id, app.name)).collect())
}

async fn resolve_app(call: &RequestContext, app: Option<String>) -> Result<Option<AppId>, Error> {
    let Some(text) = app else { return Ok(None) };
    Ok(Some(call.read(move |tx| lookup::app(tx, &text)).await?.id))
}

/// The open connections and the last ones that ended, of one app or of all; the newest come first.
pub(crate) async fn list_streams(
    call: &RequestContext,
    app: Option<String>,
) -> Result<(Vec<OpenStream>, Vec<StreamHistoryItem>), Error> {
    let only = resolve_app(call, app).await?;
    let names = app_names(call).await?;
    let name_of = |app: AppId| names.get(&app).cloned().unwrap_or_else(|| app.to_string());
    let hub = call.stream_hub();
    let sessions = hub.sessions(|session| only.is_none_or(|app| app == session.app()));
    let mut open: Vec<StreamStatus> = sessions.iter().map(StreamSession::status).collect();
    open.sort_by(|one, other| (other.connected_at, &other.uuid).cmp(&(one.connected_at, &one.uuid)));
    let open = open.into_iter().map(|status| OpenStream { app_name: name_of(status.app), status });
    let ended = hub.ended_streams().into_iter().filter(|ended| only.is_none_or(|app| app == ended.status.app));
    let ended = ended.map(|ended| StreamHistoryItem { app_name: name_of(ended.status.app), ended });
    Ok((open.collect(), ended.collect()))
}

/// Without a name, the connection ends as if the app had ended it.
pub(crate) fn parse_reason(name: Option<&str>) -> Result<DisconnectReason, Refusal> {
    let Some(name) = name else { return Ok(DisconnectReason::Killed) };
    let found = REASONS.into_iter().find(|(known, reason)| {
        known.eq_ignore_ascii_case(name) || reason.disconnect_type().is_some_and(|kind| kind.eq_ignore_ascii_case(name))
    });
    found.map(|(_, reason)| reason).ok_or_else(|| {
        let known: Vec<&str> = REASONS.iter().map(|(name, _)| *name).collect();
        let message = format!("[{name}] is not a reason; available reasons: {}", known.join(", "));
        Refusal::invalid_parameter("reason", name, message)
    })
}

/// Ends one connection.
pub(crate) async fn kill_stream(call: &RequestContext, id: &str, reason: DisconnectReason) -> Result<usize, Error> {
    let sessions = call.stream_hub().sessions(|session| session.uuid() == id);
    if sessions.is_empty() {
        let message = format!("no open connection has the id [{id}]; `locum stream list` lists them");
        return Err(Refusal::named_reason(RefusalKind::NotFound, "id", id, message).into());
    }
    end_sessions(call, &sessions, reason).await
}

/// Ends the connections of an app, or of all; returns how many there were.
pub(crate) async fn kill_streams(
    call: &RequestContext,
    app: Option<String>,
    reason: DisconnectReason,
) -> Result<usize, Error> {
    let only = resolve_app(call, app).await?;
    let sessions = call.stream_hub().sessions(|session| only.is_none_or(|app| app == session.app()));
    end_sessions(call, &sessions, reason).await
}

async fn end_sessions(
    call: &RequestContext,
    sessions: &[StreamSession],
    reason: DisconnectReason,
) -> Result<usize, Error> {
    for session in sessions {
        session.end(reason);
    }
    call.stream_hub().record_ended().await?;
    Ok(sessions.len())
}

/// What a client needs to open a stream as an app.
#[derive(Clone, Debug)]
pub(crate) struct StreamAccess {
    pub(crate) app_name: String,
    pub(crate) endpoint: StreamEndpoint,
    pub(crate) path: String,
    pub(crate) base_url: String,
    pub(crate) bearer_token: base::Secret,
}

impl StreamAccess {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "app": self.app_name,
            "endpoint": self.endpoint.name(),
            "path": self.path,
            "base_url": self.base_url,
            "bearer_token": self.bearer_token.expose_secret(),
        })
    }
}

/// Without an app, the oldest one.
pub(crate) async fn find_stream_access(
    call: &RequestContext,
    endpoint: &str,
    partition: i64,
    app: Option<String>,
) -> Result<StreamAccess, Error> {
    let (endpoint, declared) = find_stream(call, endpoint)?;
    let (app, bearer_token) = call
        .write(move |tx| {
            let app = match &app {
                Some(text) => lookup::app(tx, text)?,
                None => identity::apps::list(tx, None)?.into_iter().next().ok_or_else(|| {
                    let message = "there is no app: create one with `locum app create`";
                    Refusal::named_reason(RefusalKind::Conflict, "app", "", message)
                })?,
            };
            let token = identity::bearer::issue(tx, app.id)?;
            Ok((app, token))
        })
        .await?;
    let mut path = web::router::spell_path(declared.path, base::Vocabulary::Post);
    if declared.has_param("partition") {
        path = format!("{path}?partition={partition}");
    }
    Ok(StreamAccess {
        app_name: app.name,
        endpoint,
        path,
        base_url: call.state.page_context.config.base_url.clone(),
        bearer_token,
    })
}

/// By its name, with or without `_stream`, or by its path.
fn find_stream(call: &RequestContext, text: &str) -> Result<(StreamEndpoint, &'static Endpoint), Error> {
    let named = text.trim().trim_start_matches("GET ").to_lowercase();
    let name = named.replace('-', "_");
    let all = StreamEndpoint::ALL.into_iter().filter_map(|endpoint| {
        let declared = call.state.endpoints.iter().find(|declared| declared.id == operation_id(endpoint))?;
        Some((endpoint, *declared))
    });
    let matching = all.clone().find(|(endpoint, declared)| {
        let known = endpoint.name();
        known == name
            || known == format!("{name}_stream")
            || endpoint_label(declared).to_lowercase() == format!("get {named}")
            || web::router::spell_path(declared.path, base::Vocabulary::Tweet) == named
    });
    matching.ok_or_else(|| {
        let known: Vec<&str> = StreamEndpoint::ALL.iter().map(|endpoint| endpoint.name()).collect();
        let message = format!("[{text}] is not a stream; available streams: {}", known.join(", "));
        Refusal::invalid_parameter("endpoint", text, message).into()
    })
}

const fn operation_id(endpoint: StreamEndpoint) -> &'static str {
    match endpoint {
        StreamEndpoint::Filtered => "streamPosts",
        StreamEndpoint::Powerstream => "streamPowerstream",
        StreamEndpoint::Sample => "streamPostsSample",
        StreamEndpoint::Sample10 => "streamPostsSample10",
        StreamEndpoint::Firehose => "streamPostsFirehose",
        StreamEndpoint::FirehoseEn => "streamPostsFirehoseEn",
        StreamEndpoint::FirehoseJa => "streamPostsFirehoseJa",
        StreamEndpoint::FirehoseKo => "streamPostsFirehoseKo",
        StreamEndpoint::FirehosePt => "streamPostsFirehosePt",
        StreamEndpoint::PostsCompliance => "streamPostsCompliance",
        StreamEndpoint::UsersCompliance => "streamUsersCompliance",
        StreamEndpoint::Labels => "streamLabelsCompliance",
        StreamEndpoint::LikesFirehose => "streamLikesFirehose",
        StreamEndpoint::LikesSample10 => "streamLikesSample10",
        StreamEndpoint::LikesCompliance => "streamLikesCompliance",
        StreamEndpoint::Activity => "activityStream",
    }
}
