//! How many posts an app was given.

use network::reads;
use view::{ObjectKind, ProjectUsage};

use crate::call::Call;
use crate::endpoint::Pending;

/// `GET /2/usage/posts`.
pub(crate) fn posts(call: Call) -> Pending {
    Box::pin(async move {
        let (app, days) = (call.caller()?.app_id, call.int("days"));
        // What was given before this call is in the answer.
        call.home.reads.flush(&call.home.store).await?;
        let given = call
            .read(move |tx| Ok(reads::load_usage(tx, app, days)?))
            .await?;
        let shown = ProjectUsage {
            app: given.app.get(),
            monthly_cap: given.cap,
            this_month: given.this_month,
            reset_day: given.reset_day,
            days: given.days,
        };
        let answer = view::render_usage(&shown, &call.wants(ObjectKind::Usage), call.spoken());
        call.answer(&answer)
    })
}
