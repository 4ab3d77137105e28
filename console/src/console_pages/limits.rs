//! `/console/limits`.

use base::clock::wall_time;
use base::{Error, SplitRefusal};
use emulator::costs::{CostAccount, CostSummary, dollars};
use pages::console::{ConsoleLimitsPage, CostItem};
use pages::{FormField, Notice, UsageWindow};
use portal::{BrowserVisit, PageExit, SubmittedForm, portal_page, redirect_to};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, MAX_TEXT};
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::text_members;

use crate::rate_limits::{self, LimitTarget, LimitWindow};

const MAX_COSTS: usize = 100;
const PATH: &str = "/console/limits";
/// Rows of the table.
const MAX_WINDOWS: usize = 200;

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleLimits", "GET", PATH, &show).summary("Rate limits in use, and what a tester changes."),
    portal_page("consoleChangeLimits", "POST", PATH, &submit_action)
        .summary("Changes the mode of rate limits, or exhausts or resets windows.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf act mode factor endpoint app user })),
];

/// What the person typed.
#[derive(Default)]
struct LimitsForm {
    factor: Option<String>,
    target: LimitTarget,
}

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let done = match call.head().uri.query() {
        Some("exhausted") => Some("The next calls are rejected until the window resets."),
        Some("reset") => Some("The counted calls were forgotten."),
        Some("mode") => Some("The mode was changed."),
        _ => None,
    };
    limits_page(&call, &visit, LimitsForm::default(), (done, None)).await
}

async fn submit_action(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let target = LimitTarget {
        endpoint: sent.optional_text("endpoint"),
        app: sent.optional_text("app"),
        user: sent.optional_text("user"),
    };
    match apply_action(&call, &sent, target.clone()).await.split_refusal()? {
        Ok(done) => Ok(redirect_to(&format!("{PATH}?{done}"))),
        Err(refusal) => {
            let form = LimitsForm { factor: sent.optional_text("factor"), target };
            let failure = error_message(&refusal).to_owned();
            Ok(limits_page(&call, &visit, form, (None, Some(failure))).await?.status(400))
        }
    }
}

async fn apply_action(
    call: &RequestContext,
    sent: &SubmittedForm<'_>,
    target: LimitTarget,
) -> Result<&'static str, Error> {
    match sent.text("act").as_str() {
        "exhaust" => rate_limits::exhaust(call, target, None).await.map(|_| "exhausted"),
        "reset" => rate_limits::reset(call, target).await.map(|_| "reset"),
        _ => {
            let mode = sent.text("mode");
            // The field belongs to one mode, and may be filled in with the others.
            let factor = sent.optional_text("factor").filter(|_| mode == "scale");
            let factor = factor.map(|text| text.trim().parse().unwrap_or(-1));
            rate_limits::change_mode(call, &mode, factor).map(|()| "mode")
        }
    }
}

async fn limits_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    form: LimitsForm,
    (done, failure): (Option<&str>, Option<String>),
) -> Result<HttpReply, PageExit> {
    let mut windows = rate_limits::list_windows(call, LimitTarget::default()).await?;
    windows.truncate(MAX_WINDOWS);
    let mut frame = visit.page_frame(call);
    // Rate limits use the wall clock.
    frame.now.at = wall_time();
    frame.failure = failure;
    frame.notices.extend(done.map(Notice::success));
    let (mode, factor) = rate_limits::current_mode(call);
    let factor = form.factor.or_else(|| factor.map(|factor| factor.to_string()));
    let typed = |text: Option<String>| FormField::new(text.unwrap_or_default());
    let page = ConsoleLimitsPage {
        frame,
        mode,
        factor: typed(factor),
        windows: windows.into_iter().map(window_item).collect(),
        costs: call.emulator()?.costs.summaries().iter().take(MAX_COSTS).map(cost_item).collect(),
        endpoint: typed(form.target.endpoint),
        app: typed(form.target.app),
        user: typed(form.target.user),
    };
    Ok(visit.render_page(call, &page)?)
}

fn cost_item(summary: &CostSummary) -> CostItem {
    let account = match &summary.account {
        CostAccount::AppDay { day, .. } => format!("{}, {}", summary.app_name, day.to_date_string()),
        CostAccount::Run { label } => format!("Run {label}"),
    };
    CostItem { account, calls: summary.calls, total: dollars(summary.total_micros) }
}

fn window_item(window: LimitWindow) -> UsageWindow {
    UsageWindow {
        operation: window.operation,
        counted_for: window.subject,
        seconds: i64::from(window.seconds),
        used: u64::from(window.limit.saturating_sub(window.remaining)),
        limit: u64::from(window.limit),
        resets: window.resets,
    }
}
