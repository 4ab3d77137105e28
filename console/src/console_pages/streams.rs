//! `/console/streams`.

use base::{Error, Refusal, SplitRefusal};
use emulator::traffic::{ActionKind, TrafficOptions, TrafficReport};
use pages::console::{ConsoleStreamsPage, EndedStreamItem, StreamItem, TrafficItem};
use pages::{FormField, Notice};
use portal::{BrowserVisit, PageExit, SubmittedForm, portal_page, redirect_to};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, MAX_TEXT};
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::text_members;

use crate::stream_connections::{self as connections, OpenStream, REASONS, StreamHistoryItem};
use crate::traffic::{DEFAULT_SECONDS, DEFAULT_SEED, start_traffic};

const PATH: &str = "/console/streams";
const DEFAULT_RATE: i64 = 5;
/// Rows of the table.
const MAX_ENDED: usize = 50;

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleStreams", "GET", PATH, &show).summary("Open streams, those that ended, and traffic."),
    portal_page("consoleActOnStreams", "POST", PATH, &submit_action)
        .summary("Ends a stream, or starts or stops traffic.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf act id reason rate seconds seed })),
];

struct TrafficForm {
    rate: String,
    seconds: String,
    seed: String,
}

impl Default for TrafficForm {
    fn default() -> Self {
        Self { rate: DEFAULT_RATE.to_string(), seconds: DEFAULT_SECONDS.to_string(), seed: DEFAULT_SEED.to_string() }
    }
}

impl TrafficForm {
    fn parse(&self) -> Result<TrafficOptions, Refusal> {
        let number = |name, text: &str| {
            let number: Result<i64, _> = text.trim().parse();
            number.map_err(|_| {
                Refusal::invalid_parameter(name, text, format!("`{name}` must be a whole number, not [{text}]"))
            })
        };
        TrafficOptions::new(number("rate", &self.rate)?, number("seconds", &self.seconds)?, number("seed", &self.seed)?)
    }
}

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let done = match call.head().uri.query() {
        Some("ended") => Some("The connection was ended."),
        Some("started") => Some("The traffic has started."),
        Some("stopped") => Some("The traffic has stopped."),
        _ => None,
    };
    streams_page(&call, &visit, TrafficForm::default(), (done, None)).await
}

async fn submit_action(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let is_traffic = sent.text("act") == "start_traffic";
    let form = TrafficForm { rate: sent.text("rate"), seconds: sent.text("seconds"), seed: sent.text("seed") };
    match apply_action(&call, &sent, &form).await.split_refusal()? {
        Ok(done) => Ok(redirect_to(&format!("{PATH}?{done}"))),
        Err(refusal) => {
            let form = if is_traffic { form } else { TrafficForm::default() };
            let failure = error_message(&refusal).to_owned();
            Ok(streams_page(&call, &visit, form, (None, Some(failure))).await?.status(400))
        }
    }
}

async fn apply_action(
    call: &RequestContext,
    sent: &SubmittedForm<'_>,
    form: &TrafficForm,
) -> Result<&'static str, Error> {
    match sent.text("act").as_str() {
        "start_traffic" => start_traffic(call, form.parse()?).await.map(|_| "started"),
        "stop_traffic" => {
            call.emulator()?.traffic.stop();
            Ok("stopped")
        }
        _ => {
            let reason = connections::parse_reason(sent.optional_text("reason").as_deref())?;
            connections::kill_stream(call, &sent.text("id"), reason).await.map(|_| "ended")
        }
    }
}

async fn streams_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    form: TrafficForm,
    (done, failure): (Option<&str>, Option<String>),
) -> Result<HttpReply, PageExit> {
    let (open, mut ended) = connections::list_streams(call, None).await?;
    ended.truncate(MAX_ENDED);
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    frame.notices.extend(done.map(Notice::success));
    let page = ConsoleStreamsPage {
        frame,
        open: open.into_iter().map(stream_item).collect(),
        ended: ended.into_iter().map(ended_item).collect(),
        reasons: REASONS.iter().map(|(name, _)| *name).collect(),
        traffic: call.emulator()?.traffic.report().as_ref().map(traffic_item),
        rate: FormField::new(form.rate),
        seconds: FormField::new(form.seconds),
        seed: FormField::new(form.seed),
    };
    Ok(visit.render_page(call, &page)?)
}

fn stream_item(stream: OpenStream) -> StreamItem {
    let OpenStream { status, app_name } = stream;
    StreamItem {
        id: status.uuid,
        app: app_name,
        endpoint: status.endpoint.name().to_owned(),
        partition: status.partition,
        since: status.connected_at,
        sent: status.sent,
        buffered_bytes: status.buffered_bytes,
        heartbeat_seconds: i64::try_from(status.idle.as_secs()).unwrap_or(i64::MAX),
    }
}

fn ended_item(stream: StreamHistoryItem) -> EndedStreamItem {
    let StreamHistoryItem { ended, app_name } = stream;
    EndedStreamItem {
        app: app_name,
        endpoint: ended.status.endpoint.name().to_owned(),
        since: ended.status.connected_at,
        ended: ended.ended_at,
        sent: ended.status.sent,
        reason: ended.reason.name(),
    }
}

fn traffic_item(report: &TrafficReport) -> TrafficItem {
    TrafficItem {
        state: report.state.name(),
        rate: report.options.rate,
        people: report.people,
        elapsed_seconds: i64::try_from(report.elapsed.as_secs()).unwrap_or(i64::MAX),
        counts: ActionKind::ALL.map(|kind| (kind.name(), report.counts.of_kind(kind))).to_vec(),
        without_effect: report.counts.without_effect,
    }
}
