//! Reposts and quotes: create, remove and list.

use base::{Error, PostId, Vocabulary};
use deliver::activity;
use network::reposts;
use serde_json::json;
use store::Tx;
use store::posts::PageRange;
use web::request_context::{HttpReply, RequestContext};

use super::{POST_ID, edge_pages};

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post) = (call.require_own_user("id")?, call.body().required_id(POST_ID)?);
    let app = Some(call.require_caller()?.app_id);
    let repost = call.write(move |tx| reposts::repost(tx, user, app, post));
    let repost = repost.await?;
    let mut data = json!({ "retweeted": true, "rest_id": repost.original_id.to_string() });
    if call.answer_vocabulary().vocabulary == Vocabulary::Tweet
        && let Some(members) = data.as_object_mut()
    {
        members.insert("id".to_owned(), repost.id.to_string().into());
    }
    call.respond_data(data)
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post) = (call.require_own_user("id")?, call.path_id("source_post_id")?);
    activity::wait_until_read(call.store(), call.stream_hub()).await;
    call.write(move |tx| reposts::undo(tx, user, post)).await?;
    call.respond_data(json!({ "retweeted": false }))
}

pub(crate) async fn list_users(call: RequestContext) -> Result<HttpReply, Error> {
    let (viewer, post): (_, PostId) = (call.viewer(), call.path_id("id")?);
    let read = move |tx: &mut Tx<'_>, range: &PageRange| reposts::list_post_reposts(tx, viewer, post, range);
    edge_pages::respond_users(&call, read, reposts::filter_public_users).await
}

pub(crate) async fn list_for_post(call: RequestContext) -> Result<HttpReply, Error> {
    let (viewer, post): (_, PostId) = (call.viewer(), call.path_id("id")?);
    let page = call.page_request()?;
    let read = move |tx: &mut Tx<'_>, range: &PageRange| reposts::list_post_reposts(tx, viewer, post, range);
    let found = edge_pages::load_posts(&call, &page, edge_pages::edge_range(&page), |edge| edge.1, read);
    let (answer, tokens) = found.await?;
    edge_pages::respond(&call, &answer, tokens)
}

pub(crate) async fn list_reposts_of_me(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_user()?;
    let read = move |tx: &mut Tx<'_>, range: &PageRange| Ok(reposts::list_reposted_posts(tx, user, range)?);
    edge_pages::respond_posts(&call, read).await
}

pub(crate) async fn list_quotes(call: RequestContext) -> Result<HttpReply, Error> {
    let (viewer, post): (_, PostId) = (call.viewer(), call.path_id("id")?);
    let page = call.page_request()?;
    let range = PageRange {
        without_replies: call.is_excluded("replies"),
        without_reposts: call.is_excluded("retweets"),
        ..edge_pages::edge_range(&page)
    };
    let read = move |tx: &mut Tx<'_>, range: &PageRange| reposts::list_quotes(tx, viewer, post, range);
    let (answer, tokens) = edge_pages::load_posts(&call, &page, range, |edge| edge.0, read).await?;
    // This list has no previous-page tokens.
    let tokens = tokens.map(|tokens| web::pagination::PageTokens { previous: None, ..tokens });
    edge_pages::respond(&call, &answer, tokens)
}
