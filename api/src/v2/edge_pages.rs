//! Pages of posts and users linked by edges, newest edge first.

use base::{Error, Fault, PostId, Refusal, UserId, order_by_keys};
use network::visibility::Viewer;
use store::posts::{self, PageRange, Post};
use store::users::{self, User};
use store::{TransactionWork, Tx};
use view::{ObjectKind, ResponsePayload};
use web::pagination::{PageRequest, PageTokens};
use web::request_context::{HttpReply, RequestContext};

use super::page_range;

/// Reads the edges of a page; a refusal becomes a partial error without data.
pub(super) trait EdgeReader<E>:
    Fn(&mut Tx<'_>, &PageRange) -> Result<Vec<(E, i64)>, Error> + Send + 'static
{
}

impl<E, F: Fn(&mut Tx<'_>, &PageRange) -> Result<Vec<(E, i64)>, Error> + Send + 'static> EdgeReader<E> for F {}

/// Has one more edge than the page.
pub(super) fn edge_range(page: &PageRequest) -> PageRange {
    PageRange { limit: page.fetch_limit(), ..page_range(page, (0, i64::MAX)) }
}

/// The posts at the first end of the edges.
pub(super) async fn respond_posts(call: &RequestContext, read: impl EdgeReader<i64>) -> Result<HttpReply, Error> {
    let page = call.page_request()?;
    let found = load_posts(call, &page, edge_range(&page), |edge| edge.0, read);
    let (answer, tokens) = found.await?;
    respond(call, &answer, tokens)
}

/// The posts at one end of the edges, with the page tokens.
pub(super) async fn load_posts<E: 'static>(
    call: &RequestContext,
    page: &PageRequest,
    range: PageRange,
    end: fn(&(E, i64)) -> i64,
    read: impl EdgeReader<E>,
) -> Result<(ResponsePayload, Option<PageTokens>), Error> {
    let request = call.render_request(ObjectKind::POST);
    let page = page.clone();
    let found = read_or_refuse(call, move |tx| {
        let slice = page.slice_rows(read(tx, &range)?, |edge| edge.1);
        let ids: Vec<PostId> = slice.rows.iter().map(|edge| PostId::new(end(edge))).collect();
        let mut found: Vec<Post> = posts::find_by_ids(tx, &ids)?;
        order_by_keys(&mut found, &ids, |post| post.id);
        let answer = view::render_posts(tx, &request, found)?;
        Ok((answer, Some(slice.tokens)))
    });
    found.await
}

pub(super) type UserFilter = fn(&mut Tx<'_>, Viewer, Vec<User>) -> Result<Vec<User>, Fault>;

/// The users at the first end of the edges.
pub(super) async fn respond_users(
    call: &RequestContext,
    read: impl EdgeReader<UserId>,
    filter: UserFilter,
) -> Result<HttpReply, Error> {
    let page = call.page_request()?;
    let range = edge_range(&page);
    let request = call.render_request(ObjectKind::USER);
    let found = read_or_refuse(call, move |tx| {
        let slice = page.slice_rows(read(tx, &range)?, |edge| edge.1);
        let ids: Vec<UserId> = slice.rows.iter().map(|edge| edge.0).collect();
        let found = users::find_by_ids(tx, &ids)?;
        let mut found = filter(tx, request.viewer, found)?;
        order_by_keys(&mut found, &ids, |user| user.id);
        let answer = view::render_users(tx, &request, found)?;
        Ok((answer, Some(slice.tokens)))
    });
    let (answer, tokens) = found.await?;
    respond(call, &answer, tokens)
}

#[expect(clippy::unnecessary_wraps, reason = "must match `UserFilter`")]
pub(super) fn keep_all_users(_: &mut Tx<'_>, _: Viewer, users: Vec<User>) -> Result<Vec<User>, Fault> {
    Ok(users)
}

type EdgePageAnswer = (ResponsePayload, Option<PageTokens>);

/// A refusal of the requested object becomes a partial error without data (contract core §3.4).
async fn read_or_refuse(
    call: &RequestContext,
    work: impl TransactionWork<EdgePageAnswer>,
) -> Result<EdgePageAnswer, Error> {
    match call.read(work).await {
        Err(Error::Refused(refusal @ (Refusal::NotFound(_) | Refusal::NotVisible(_) | Refusal::Suspended(_)))) => {
            Ok((refusal_answer(refusal), None))
        }
        other => other,
    }
}

pub(super) fn refusal_answer(refusal: Refusal) -> ResponsePayload {
    ResponsePayload { errors: vec![refusal], ..ResponsePayload::default() }
}

pub(super) fn respond(
    call: &RequestContext,
    answer: &ResponsePayload,
    tokens: Option<PageTokens>,
) -> Result<HttpReply, Error> {
    match tokens {
        Some(tokens) => call.respond_page(answer, &tokens),
        None => call.respond(answer),
    }
}
