//! Timelines: a user's posts, their mentions, their home.

use std::sync::Arc;

use base::id::first_snowflake_at;
use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, Time, UserId};
use network::timelines::{self, TimelinePage as Found};
use network::visibility::{Viewer, Visibility};
use store::Tx;
use store::posts::PageRange;
use store::users::{self, User};
use view::{ObjectKind, ResponsePayload};

use super::{neighbours, span};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;
use crate::page::Page;

/// Whose timeline, as the request names them.
#[derive(Clone)]
enum Whose {
    Id(UserId),
    Name(String),
}

/// One of the two public timelines.
type Read = fn(&mut Tx<'_>, Viewer, &User, &PageRange) -> Result<Found, Fault>;

/// `GET /2/users/{id}/posts`.
pub(crate) fn of_user(call: Call) -> Pending {
    Box::pin(async move {
        let whose = Whose::Id(call.path_id("id")?);
        public(&call, whose, timelines::load_author_page).await
    })
}

/// `GET /2/users/{id}/mentions`.
pub(crate) fn mentions(call: Call) -> Pending {
    Box::pin(async move {
        let whose = Whose::Id(call.path_id("id")?);
        public(&call, whose, timelines::load_mentions_page).await
    })
}

/// `GET /2/users/by/username/{username}/posts`.
pub(crate) fn of_username(call: Call) -> Pending {
    Box::pin(async move {
        let whose = Whose::Name(call.path_text("username")?.to_owned());
        public(&call, whose, timelines::load_author_page).await
    })
}

/// `GET /2/users/by/username/{username}/mentions`.
pub(crate) fn mentions_of_username(call: Call) -> Pending {
    Box::pin(async move {
        let whose = Whose::Name(call.path_text("username")?.to_owned());
        public(&call, whose, timelines::load_mentions_page).await
    })
}

/// `GET /2/users/{id}/timelines/reverse_chronological`.
pub(crate) fn home(call: Call) -> Pending {
    Box::pin(async move {
        let reader = call.own("id")?;
        let page = call.page()?;
        let span = windowed(&call, &page)?;
        let (wants, spoken) = (call.wants(ObjectKind::Post), call.spoken());
        let homes = Arc::clone(&call.home.homes);
        let read = call.read(move |tx| {
            let user =
                users::find_by_id(tx, reader)?.ok_or_else(|| Fault::new("the caller is gone"))?;
            let found = timelines::load_home_page(tx, &homes, &user, &span)?;
            spoken_page(tx, Viewer::user(reader), found, |tx, viewer, posts| {
                view::render_posts(tx, viewer, posts, &wants, spoken)
            })
        });
        let (found, looked_at, more) = read.await?;
        say(&call, &page, &found, looked_at, more)
    })
}

async fn public(call: &Call, whose: Whose, read: Read) -> Result<Reply, Error> {
    let page = call.page()?;
    let span = windowed(call, &page)?;
    let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Post), call.spoken());
    let read = call.read(move |tx| {
        let (user, subject) = match &whose {
            Whose::Id(id) => (
                users::find_by_id(tx, *id)?,
                ResourceRef::new("user", "id", id),
            ),
            Whose::Name(name) => (
                users::find_by_username(tx, name)?,
                ResourceRef::new("user", "username", name),
            ),
        };
        let sight = match &user {
            Some(user) => timelines::timeline_visibility(tx, viewer, user)?,
            None => Visibility::Missing,
        };
        let (Some(user), Visibility::Visible) = (user, sight) else {
            return Ok(Err(hidden(sight, subject)));
        };
        let found = read(tx, viewer, &user, &span)?;
        spoken_page(tx, viewer, found, |tx, viewer, posts| {
            view::render_posts(tx, viewer, posts, &wants, spoken)
        })
        .map(Ok)
    });
    match read.await? {
        Ok((found, looked_at, more)) => say(call, &page, &found, looked_at, more),
        Err(refusal) => {
            let nothing = ResponsePayload {
                errors: vec![refusal],
                ..ResponsePayload::default()
            };
            call.answer(&nothing)
        }
    }
}

/// Why nothing of a user's timeline is shown.
fn hidden(sight: Visibility, subject: ResourceRef) -> Refusal {
    match sight {
        Visibility::Visible | Visibility::Missing => Refusal::NotFound(subject),
        Visibility::Forbidden => Refusal::NotVisible(subject),
        Visibility::Suspended => Refusal::Suspended(subject),
    }
}

type Spoken = (ResponsePayload, Option<(i64, i64)>, bool);

fn spoken_page(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Found,
    speak: impl FnOnce(&mut Tx<'_>, Viewer, Vec<store::posts::Post>) -> Result<ResponsePayload, Fault>,
) -> Result<Spoken, Error> {
    let looked_at = found
        .scanned_range
        .map(|(newest, oldest)| (newest.get(), oldest.get()));
    Ok((speak(tx, viewer, found.posts)?, looked_at, found.more))
}

fn say(
    call: &Call,
    page: &Page,
    found: &ResponsePayload,
    looked_at: Option<(i64, i64)>,
    more: bool,
) -> Result<Reply, Error> {
    call.answer_timeline(found, &neighbours(page, looked_at, more))
}

/// The page within the window of time and ids that the request names.
fn windowed(call: &Call, page: &Page) -> Result<PageRange, Error> {
    let (since, until): (Option<PostId>, Option<PostId>) =
        (call.id("since_id"), call.id("until_id"));
    let (start, end) = (call.time("start_time"), call.time("end_time"));
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
    let below = until
        .map_or(i64::MAX, PostId::get)
        .min(end.map_or(i64::MAX, first_snowflake_at));
    Ok(PageRange {
        without_replies: excluded(call, "replies"),
        without_reposts: excluded(call, "retweets") || excluded(call, "reposts"),
        ..span(page, (above, below))
    })
}

/// Only some timelines can leave something out.
fn excluded(call: &Call, what: &str) -> bool {
    let mut params = call.endpoint().params.iter().copied().flatten();
    params.any(|param| param.name == "exclude") && call.has("exclude", what)
}

pub(super) fn wrong_order(call: &Call, lower: &'static str, upper: &'static str) -> Refusal {
    let (lower, upper) = (call.spelled(lower), call.spelled(upper));
    let value = call.raw(lower);
    let message = format!("Invalid '{lower}':'{value}'. '{lower}' must be before '{upper}'.");
    Refusal::invalid_parameter(lower, value, message)
}
