//! `GET` and `POST /console/clock`.

use base::clock::wall_time;
use base::clock_mode::describe_clock;
use base::{Error, Refusal, SplitRefusal};
use emulator::clock::{ClockOrder, ClockReport};
use pages::console::{ClockReportItem, ConsoleClockPage, DueItem};
use pages::{FormField, Notice};
use portal::{BrowserVisit, PageExit, SubmittedForm, portal_page, redirect_to};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, MAX_SHORT_TEXT};
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::text_members;

use crate::world_clock::find_clock;

const PATH: &str = "/console/clock";

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleClock", "GET", PATH, &show).summary("The world's clock, and what is due next."),
    portal_page("consoleMoveClock", "POST", PATH, &submit_order)
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; csrf act time by factor }))
        .summary("Stops or moves the clock, or changes its speed."),
];

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let mut page = build_page(&call, &visit).await?;
    if call.head().uri.query() == Some("moved") {
        page.frame.notices.push(Notice::success(format!("The clock is {}.", page.description)));
    }
    Ok(visit.render_page(&call, &page)?)
}

async fn submit_order(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = BrowserVisit::accept_form(&call).await?;
    let done = match read_order(&form) {
        Ok(order) => find_clock(&call)?.apply(order).await.map(drop),
        Err(refusal) => Err(refusal.into()),
    };
    match done.split_refusal()? {
        Ok(()) => Ok(redirect_to(&format!("{PATH}?moved"))),
        Err(refusal) => show_refusal(&call, &visit, &form, &refusal).await,
    }
}

fn read_order(form: &SubmittedForm<'_>) -> Result<ClockOrder, Refusal> {
    match form.text("act").as_str() {
        "freeze" => ClockOrder::parse_freeze(form.optional_text("time").as_deref()),
        "set" => ClockOrder::parse_set(&form.text("time")),
        "advance" => ClockOrder::parse_advance(&form.text("by")),
        "scale" => ClockOrder::parse_scale(&form.text("factor")),
        _ => Ok(ClockOrder::Live),
    }
}

async fn show_refusal(
    call: &RequestContext,
    visit: &BrowserVisit,
    form: &SubmittedForm<'_>,
    refusal: &Refusal,
) -> Result<HttpReply, PageExit> {
    let mut page = build_page(call, visit).await?;
    let why = error_message(refusal).to_owned();
    page.by = FormField::new(form.text("by"));
    page.time = FormField::new(form.text("time"));
    page.factor = FormField::new(form.text("factor"));
    let field = match form.text("act").as_str() {
        "advance" => Some(&mut page.by),
        "set" | "freeze" => Some(&mut page.time),
        "scale" => Some(&mut page.factor),
        _ => None,
    };
    match field.filter(|_| matches!(refusal, Refusal::InvalidParameters(_))) {
        Some(field) => field.error = Some(why),
        None => page.frame.failure = Some(why),
    }
    Ok(visit.render_page(call, &page)?.status(400))
}

async fn build_page(call: &RequestContext, visit: &BrowserVisit) -> Result<ConsoleClockPage, Error> {
    let clock = find_clock(call)?;
    let due = clock.list_due_instants().await?;
    let (mode, wall) = (clock.mode(), wall_time());
    Ok(ConsoleClockPage {
        frame: visit.page_frame(call),
        mode: mode.name(),
        description: describe_clock(mode, wall),
        now: mode.time_at(wall),
        machine_time: wall,
        by: FormField::new("1d"),
        time: FormField::default(),
        factor: FormField::new("60"),
        due: due.into_iter().map(|due| DueItem { what: readable_name(due.what), at: due.at }).collect(),
        report: clock.last_report().map(report_item),
    })
}

fn report_item(report: ClockReport) -> ClockReportItem {
    ClockReportItem {
        from: report.from,
        to: report.to,
        steps: report.steps,
        events: report.events,
        milliseconds: report.duration.as_millis(),
        jobs: report.jobs.iter().map(|job| (readable_name(job.name), job.count)).collect(),
        notes: report.notes,
    }
}

/// `Scheduled posts`.
fn readable_name(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).map(|letter| if letter == '_' { ' ' } else { letter }).collect()
}
