//! Trends.

use network::topics;
use view::ObjectKind;

use crate::call::Call;
use crate::endpoint::Pending;

/// `GET /2/trends/by/woeid/{woeid}`.
pub(crate) fn of_place(call: Call) -> Pending {
    Box::pin(async move {
        let (woeid, limit) = (call.path_int("woeid")?, call.int("max_trends"));
        let found = call.read(move |tx| topics::list_place_trends(tx, woeid, limit));
        let answer =
            view::render_trends(&found.await?, &call.wants(ObjectKind::Trend), call.spoken());
        call.answer(&answer)
    })
}

/// `GET /2/users/personalized_trends`.
pub(crate) fn personalized(call: Call) -> Pending {
    Box::pin(async move {
        let user = call.user()?;
        let found = call.read(move |tx| Ok((topics::list_personal_trends(tx, user)?, tx.now())));
        let (found, now) = found.await?;
        let wants = call.wants(ObjectKind::PersonalizedTrend);
        call.answer(&view::render_personal_trends(
            &found,
            now,
            &wants,
            call.spoken(),
        ))
    })
}
