//! `/home`.

use std::sync::Arc;

use identity::email_links;
use network::muted_words::MutedWordFilter;
use network::timelines;
use pages::FormField;
use pages::members::{HOME_LIVE_PATH, HOME_PATH, HomePage, PostFeed};
use portal::submitted_forms::new_form_id;
use portal::{MemberVisit, PageExit, PageQuery, compose_box};
use web::request_context::{HttpReply, RequestContext};
use web::security_headers::allow_scripts;

use crate::page_ranges::{build_pager, cursor_of, range_before};
use crate::post_cards::{CardViewer, load_post_cards, record_views};

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.clone();
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let is_newest = cursor_of(&query).is_none();
    let (range, viewer) = (range_before(&query), CardViewer::new(&call, &visit));
    let frame = visit.page_frame(&call);
    let is_unconfirmed = frame.sends_mail && !user.email_confirmed;
    let home_timelines = Arc::clone(&call.state.home_timelines);
    let read = call.read(move |tx| {
        let muted = MutedWordFilter::load(tx, user.id)?;
        let found = timelines::load_home_page(tx, &home_timelines, &user, &range, &muted)?;
        let unconfirmed = if is_unconfirmed { email_links::unconfirmed_email(tx, &user)? } else { None };
        Ok((load_post_cards(tx, viewer, found.posts)?, found.scanned_range, found.more, unconfirmed))
    });
    let (posts, scanned, more, unconfirmed_email) = read.await?;
    record_views(&call, viewer.viewer.user, &posts);
    let newest = scanned.map_or(0, |(newest, _)| newest.get());
    let oldest = scanned.map(|(_, oldest)| oldest.get()).filter(|_| more);
    let page = HomePage {
        frame,
        compose: compose_box(&visit.person.user, FormField::default(), new_form_id(&call)?),
        feed: PostFeed { posts, pager: build_pager(HOME_PATH, is_newest, oldest) },
        events: is_newest.then(|| format!("{HOME_LIVE_PATH}?after={newest}")),
        unconfirmed_email,
    };
    let reply = visit.render_page(&call, &page)?;
    Ok(if is_newest { allow_scripts(reply) } else { reply })
}
