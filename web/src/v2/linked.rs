//! Pages of posts and users that hang on something by edges, newest edge first.

use base::{Error, Fault, PostId, Refusal, UserId};
use network::visibility::Viewer;
use store::edges::Edge;
use store::posts::{self, PageRange, Post};
use store::users::{self, User};
use store::{TransactionWork, Tx};
use view::{ObjectKind, ResponsePayload};

use super::{span, wants_users};
use crate::call::{Call, Reply};
use crate::page::{Page, Tokens};

/// Reads a page's edges; a refusal of what they hang on is told beside no data.
pub(super) trait Read:
    Fn(&mut Tx<'_>, &PageRange) -> Result<Vec<Edge>, Error> + Send + 'static
{
}

impl<F: Fn(&mut Tx<'_>, &PageRange) -> Result<Vec<Edge>, Error> + Send + 'static> Read for F {}

/// The span of edges that a page is cut out of: one more than it holds.
pub(super) fn span_of(page: &Page) -> PageRange {
    PageRange {
        limit: page.fetch(),
        ..span(page, (0, i64::MAX))
    }
}

/// The posts at the first end of the edges.
pub(super) async fn posts(call: &Call, read: impl Read) -> Result<Reply, Error> {
    let page = call.page()?;
    let found = posts_of(call, &page, span_of(&page), |edge| edge.0, read);
    let (answer, tokens) = found.await?;
    say(call, &answer, tokens)
}

/// The posts at one end of the edges, with what leads to the pages beside theirs.
pub(super) async fn posts_of(
    call: &Call,
    page: &Page,
    asked: PageRange,
    end: fn(&Edge) -> i64,
    read: impl Read,
) -> Result<(ResponsePayload, Option<Tokens>), Error> {
    let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Post), call.spoken());
    let page = page.clone();
    let found = run(call, move |tx| {
        let cut = page.cut(read(tx, &asked)?, |edge| edge.1);
        let ids: Vec<PostId> = cut.rows.iter().map(|edge| PostId::new(end(edge))).collect();
        let mut found: Vec<Post> = posts::find_by_ids(tx, &ids)?;
        found.sort_by_cached_key(|post| ids.iter().position(|id| *id == post.id));
        let answer = view::render_posts(tx, viewer, found, &wants, spoken)?;
        Ok((answer, Some(cut.tokens)))
    });
    found.await
}

/// Which of the users found are shown.
pub(super) type Choose = fn(&mut Tx<'_>, Viewer, Vec<User>) -> Result<Vec<User>, Fault>;

/// The users at the first end of the edges.
pub(super) async fn users(call: &Call, read: impl Read, choose: Choose) -> Result<Reply, Error> {
    let page = call.page()?;
    let asked = span_of(&page);
    let (viewer, wants, spoken) = (call.viewer(), wants_users(call)?, call.spoken());
    let found = run(call, move |tx| {
        let cut = page.cut(read(tx, &asked)?, |edge| edge.1);
        let ids: Vec<UserId> = cut.rows.iter().map(|edge| UserId::new(edge.0)).collect();
        let found = users::find_by_ids(tx, &ids)?;
        let mut found = choose(tx, viewer, found)?;
        found.sort_by_cached_key(|user| ids.iter().position(|id| *id == user.id));
        let answer = view::render_users(tx, viewer, found, &wants, spoken)?;
        Ok((answer, Some(cut.tokens)))
    });
    let (answer, tokens) = found.await?;
    say(call, &answer, tokens)
}

/// Everyone who was found.
#[expect(clippy::unnecessary_wraps, reason = "one of the ways to choose")]
pub(super) fn everyone(_: &mut Tx<'_>, _: Viewer, users: Vec<User>) -> Result<Vec<User>, Fault> {
    Ok(users)
}

type Found = (ResponsePayload, Option<Tokens>);

/// Runs a reading. What is not shown of the thing asked for is told beside no data (contract §3.4).
async fn run(call: &Call, work: impl TransactionWork<Found>) -> Result<Found, Error> {
    match call.read(work).await {
        Err(Error::Refused(
            refusal @ (Refusal::NotFound(_) | Refusal::NotVisible(_) | Refusal::Suspended(_)),
        )) => Ok((nothing(refusal), None)),
        other => other,
    }
}

/// An answer of nothing but why.
pub(super) fn nothing(refusal: Refusal) -> ResponsePayload {
    ResponsePayload {
        errors: vec![refusal],
        ..ResponsePayload::default()
    }
}

pub(super) fn say(
    call: &Call,
    answer: &ResponsePayload,
    tokens: Option<Tokens>,
) -> Result<Reply, Error> {
    match tokens {
        Some(tokens) => call.answer_page(answer, &tokens),
        None => call.answer(answer),
    }
}
