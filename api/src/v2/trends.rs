//! Trends of a place and of a user.

use base::Error;
use network::topics;
use view::ObjectKind;
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn list_by_place(call: RequestContext) -> Result<HttpReply, Error> {
    let (woeid, limit) = (call.path_int("woeid")?, call.query_int("max_trends"));
    let found = call.read(move |tx| topics::list_place_trends(tx, woeid, limit));
    let answer = view::render_trends(&call.render_request(ObjectKind::TREND), &found.await?);
    call.respond(&answer)
}

pub(crate) async fn list_personalized(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_user()?;
    let found = call.read(move |tx| Ok((topics::list_personal_trends(tx, user)?, tx.now())));
    let (found, now) = found.await?;
    let request = call.render_request(ObjectKind::PERSONALIZED_TREND);
    call.respond(&view::render_personal_trends(&request, &found, now))
}
