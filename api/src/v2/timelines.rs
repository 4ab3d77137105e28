//! Timelines: a user's posts, mentions and home timeline.

use std::sync::Arc;

use base::id::first_snowflake_at;
use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, Time, UserId};
use network::muted_words::MutedWordFilter;
use network::timelines::{self, TimelinePage};
use network::visibility::{Viewer, Visibility};
use store::Tx;
use store::posts::PageRange;
use store::users::{self, User};
use view::{ObjectKind, RenderRequest, ResponsePayload};
use web::pagination::PageRequest;
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages::refusal_answer;
use super::{neighbour_tokens, page_range, time_param};

#[derive(Clone)]
enum TimelineOwner {
    Id(UserId),
    Name(String),
}

type ReadTimeline = fn(&mut Tx<'_>, Viewer, &User, &PageRange) -> Result<TimelinePage, Fault>;

pub(crate) async fn list_user_posts(call: RequestContext) -> Result<HttpReply, Error> {
    let owner = TimelineOwner::Id(call.path_id("id")?);
    respond_public(&call, owner, timelines::load_author_page).await
}

pub(crate) async fn list_user_mentions(call: RequestContext) -> Result<HttpReply, Error> {
    let owner = TimelineOwner::Id(call.path_id("id")?);
    respond_public(&call, owner, timelines::load_mentions_page).await
}

pub(crate) async fn list_posts_by_username(call: RequestContext) -> Result<HttpReply, Error> {
    let owner = TimelineOwner::Name(call.path_text("username")?.to_owned());
    respond_public(&call, owner, timelines::load_author_page).await
}

pub(crate) async fn list_mentions_by_username(call: RequestContext) -> Result<HttpReply, Error> {
    let owner = TimelineOwner::Name(call.path_text("username")?.to_owned());
    respond_public(&call, owner, timelines::load_mentions_page).await
}

pub(crate) async fn list_home(call: RequestContext) -> Result<HttpReply, Error> {
    let reader = call.require_own_user("id")?;
    let page = call.page_request()?;
    let range = page_range_in_window(&call, &page)?;
    let request = call.render_request(ObjectKind::POST);
    let home_timelines = Arc::clone(&call.state.home_timelines);
    let read = call.read(move |tx| {
        let user = users::find_by_id(tx, reader)?.ok_or_else(|| Fault::new("the caller does not exist"))?;
        let found = timelines::load_home_page(tx, &home_timelines, &user, &range, &MutedWordFilter::default())?;
        render_page(tx, &request, found)
    });
    let (found, scanned, more) = read.await?;
    respond_page(&call, &page, &found, scanned, more)
}

async fn respond_public(call: &RequestContext, owner: TimelineOwner, read: ReadTimeline) -> Result<HttpReply, Error> {
    let page = call.page_request()?;
    let range = page_range_in_window(call, &page)?;
    let request = call.render_request(ObjectKind::POST);
    let read = call.read(move |tx| {
        let (user, subject) = match &owner {
            TimelineOwner::Id(id) => (users::find_by_id(tx, *id)?, ResourceRef::new("user", "id", id)),
            TimelineOwner::Name(name) => {
                (users::find_by_username(tx, name)?, ResourceRef::new("user", "username", name))
            }
        };
        let visibility = match &user {
            Some(user) => timelines::timeline_visibility(tx, request.viewer, user)?,
            None => Visibility::Missing,
        };
        let (Some(user), Visibility::Visible) = (user, visibility) else {
            return Ok(Err(visibility_refusal(visibility, subject)));
        };
        let found = read(tx, request.viewer, &user, &range)?;
        Ok(Ok(render_page(tx, &request, found)?))
    });
    match read.await? {
        Ok((found, scanned, more)) => respond_page(call, &page, &found, scanned, more),
        Err(refusal) => call.respond(&refusal_answer(refusal)),
    }
}

fn visibility_refusal(visibility: Visibility, subject: ResourceRef) -> Refusal {
    match visibility {
        Visibility::Visible | Visibility::Missing => Refusal::NotFound(subject),
        Visibility::Forbidden => Refusal::NotVisible(subject),
        Visibility::Suspended => Refusal::Suspended(subject),
    }
}

type RenderedTimeline = (ResponsePayload, Option<(i64, i64)>, bool);

fn render_page(tx: &mut Tx<'_>, request: &RenderRequest, found: TimelinePage) -> Result<RenderedTimeline, Error> {
    let scanned = found.scanned_range.map(|(newest, oldest)| (newest.get(), oldest.get()));
    Ok((view::render_posts(tx, request, found.posts)?, scanned, found.more))
}

fn respond_page(
    call: &RequestContext,
    page: &PageRequest,
    found: &ResponsePayload,
    scanned: Option<(i64, i64)>,
    more: bool,
) -> Result<HttpReply, Error> {
    call.respond_timeline(found, &neighbour_tokens(page, scanned, more))
}

/// Narrows the page to the time and id bounds of the request.
fn page_range_in_window(call: &RequestContext, page: &PageRequest) -> Result<PageRange, Error> {
    let (since, until): (Option<PostId>, Option<PostId>) = (call.query_id("since_id"), call.query_id("until_id"));
    let (start, end) = (time_param(call, "start_time"), time_param(call, "end_time"));
    if start.is_some_and(|start| start > call.now()) {
        let value = call.raw_param("start_time");
        let message = format!("Invalid 'start_time':'{value}'. 'start_time' must not be in the future.");
        return Err(Refusal::invalid_parameter("start_time", value, message).into());
    }
    if let (Some(start), Some(end)) = (start, end)
        && start >= end
    {
        return Err(wrong_order(call, "start_time", "end_time").into());
    }
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err(wrong_order(call, "since_id", "until_id").into());
    }
    let after = |time: Time| first_snowflake_at(time) - 1;
    let above = since.map_or(0, PostId::get).max(start.map_or(0, after));
    let below = until.map_or(i64::MAX, PostId::get).min(end.map_or(i64::MAX, first_snowflake_at));
    Ok(PageRange {
        without_replies: is_excluded(call, "replies"),
        without_reposts: is_excluded(call, "retweets") || is_excluded(call, "reposts"),
        ..page_range(page, (above, below))
    })
}

/// False for timelines without `exclude`.
fn is_excluded(call: &RequestContext, what: &str) -> bool {
    call.endpoint().has_param("exclude") && call.is_excluded(what)
}

pub(super) fn wrong_order(call: &RequestContext, lower: &'static str, upper: &'static str) -> Refusal {
    let (lower, upper) = (call.param_name_used(lower), call.param_name_used(upper));
    let value = call.raw_param(lower);
    let message = format!("Invalid '{lower}':'{value}'. '{lower}' must be before '{upper}'.");
    Refusal::invalid_parameter(lower, value, message)
}
