//! `GET /console`.

use base::clock::wall_time;
use emulator::costs::dollars;
use emulator::journal::RequestFilter;
use pages::console::{ConsoleHomePage, WebhookAttemptLine, WorldEventLine};
use portal::{BrowserVisit, PageExit, portal_page};
use store::{Tx, deliveries, event_log, webhooks};
use web::endpoint::Endpoint;
use web::request_context::{HttpReply, RequestContext};
use web::security_headers::allow_scripts;

use super::requests::request_lines;
use crate::world_clock::find_clock;

const SHOWN_REQUESTS: usize = 10;
const SHOWN_ATTEMPTS: i64 = 5;
const SHOWN_EVENTS: i64 = 10;

pub(super) static ENDPOINTS: &[Endpoint] = &[portal_page("consoleHome", "GET", "/console", &show)
    .summary("What happens on the development server at the moment.")];

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let emulator = call.emulator()?;
    let newest = emulator.journal.list_before(&RequestFilter::default(), None, SHOWN_REQUESTS);
    let all = emulator.journal.list_before(&RequestFilter::default(), None, usize::MAX);
    let (attempts, events) = call.read(|tx| Ok((load_attempts(tx)?, load_events(tx)?))).await?;
    let page = ConsoleHomePage {
        frame: visit.page_frame(&call),
        requests: request_lines(&call, &newest).await?,
        attempts,
        events,
        open_streams: call.stream_hub().connection_counts().0,
        world_time: call.now(),
        clock_mode: find_clock(&call)?.mode().name(),
        fault_rules: emulator.faults.active_count(call.now()),
        faulty_requests: all.iter().filter(|entry| entry.injected_fault.is_some()).count(),
        cost_today: dollars(emulator.costs.today_micros(wall_time())),
        base_url: call.state.site.url.to_owned(),
    };
    Ok(allow_scripts(visit.render_page(&call, &page)?))
}

fn load_attempts(tx: &mut Tx<'_>) -> Result<Vec<WebhookAttemptLine>, base::Fault> {
    let attempts = deliveries::list_newest_attempts(tx, SHOWN_ATTEMPTS)?;
    let ids: Vec<i64> = attempts.iter().map(|attempt| attempt.webhook_id).collect();
    let hooks = webhooks::find_by_ids(tx, &ids)?;
    let lines = attempts.into_iter().map(|attempt| {
        let hook = hooks.iter().find(|hook| hook.id == attempt.webhook_id);
        WebhookAttemptLine {
            at: attempt.at,
            url: hook.map_or_else(|| "a deleted webhook".to_owned(), |hook| hook.url.clone()),
            status: attempt.status,
            problem: attempt.problem,
            duration_ms: attempt.duration_ms,
        }
    });
    Ok(lines.collect())
}

/// Newest first.
fn load_events(tx: &mut Tx<'_>) -> Result<Vec<WorldEventLine>, base::Fault> {
    let end = event_log::end_cursor(tx)?;
    let events = event_log::list_after(tx, end.saturating_sub(SHOWN_EVENTS), SHOWN_EVENTS)?;
    let lines = events.into_iter().rev().map(|event| WorldEventLine {
        at: event.at,
        kind: event.kind,
        actor_id: event.actor_id,
        subject_id: event.subject_id,
    });
    Ok(lines.collect())
}
