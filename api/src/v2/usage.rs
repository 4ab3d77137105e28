//! Post usage of an app.

use network::reads;
use view::{ObjectKind, ProjectUsage};
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

pub(crate) fn get_post_usage(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (app, days) = (call.require_caller()?.app_id, call.query_int("days"));
        // Include the reads before this call.
        call.state.post_reads.flush(&call.state.store).await?;
        let usage = call.read(move |tx| Ok(reads::load_usage(tx, app, days)?)).await?;
        let shown = ProjectUsage {
            app: usage.app.get(),
            monthly_cap: usage.cap,
            this_month: usage.this_month,
            days_until_reset: usage.days_until_reset,
            days: usage.days,
        };
        let answer = view::render_usage(&call.render_request(ObjectKind::USAGE), &shown);
        call.respond(&answer)
    })
}
