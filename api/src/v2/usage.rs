//! Post usage of an app.

use base::Error;
use network::reads;
use view::{ObjectKind, ProjectUsage};
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn get_post_usage(call: RequestContext) -> Result<HttpReply, Error> {
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
}
