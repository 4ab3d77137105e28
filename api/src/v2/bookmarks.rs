//! Bookmarks and bookmark folders.

use base::id::marker;
use base::{Error, Id, PostId, Refusal, UserId};
use network::bookmarks;
use serde_json::{Map, Value, json};
use store::Tx;
use store::posts::PageRange;
use view::ResponsePayload;
use web::pagination::PageTokens;
use web::request_context::{HttpReply, RequestContext};

use super::{POST_ID, edge_pages};

const FOLDER_ID: &str = "folder_id";

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_own_user("id")?;
    respond_all(&call, user).await
}

async fn respond_all(call: &RequestContext, user: UserId) -> Result<HttpReply, Error> {
    let read = move |tx: &mut Tx<'_>, range: &PageRange| Ok(bookmarks::list_user_bookmarks(tx, user, range)?);
    edge_pages::respond_posts(call, read).await
}

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post) = (call.require_own_user("id")?, call.body().required_id(POST_ID)?);
    set_bookmark(&call, user, post).await
}

async fn set_bookmark(call: &RequestContext, user: UserId, post: PostId) -> Result<HttpReply, Error> {
    let folder: Option<Id<marker::PostMarker>> = call.body().optional_id(FOLDER_ID);
    let folder = folder.map(Id::get);
    call.write(move |tx| bookmarks::add(tx, user, post, folder)).await?;
    call.respond_data(json!({ "bookmarked": true }))
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post) = (call.require_own_user("id")?, call.path_id("post_id")?);
    call.write(move |tx| bookmarks::remove(tx, user, post)).await?;
    call.respond_data(json!({ "bookmarked": false }))
}

/// `GET /2/posts/{id}/bookmarks`: with the user's own id, all bookmarks; else the post if it is bookmarked.
pub(crate) async fn list_for_post(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post): (_, PostId) = (call.require_user()?, call.path_id("id")?);
    if post.get() == user.get() {
        return respond_all(&call, user).await;
    }
    let read = move |tx: &mut Tx<'_>, _: &PageRange| Ok(bookmarks::find_post_bookmark(tx, user, post)?);
    edge_pages::respond_posts(&call, read).await
}

/// `POST /2/posts/{id}/bookmarks`: with the user's own id, the body names the post.
pub(crate) async fn create_for_post(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, post): (_, PostId) = (call.require_user()?, call.path_id("id")?);
    let named = call.body().optional_id(POST_ID);
    let post = match named {
        Some(named) if post.get() == user.get() || named == post => named,
        None if post.get() != user.get() => post,
        Some(named) => {
            let name = call.body().name_used(POST_ID);
            return Err(Refusal::invalid_value(name, named).into());
        }
        None => {
            return Err(Refusal::missing_parameter(POST_ID.name_in(call.answer_vocabulary().vocabulary)).into());
        }
    };
    set_bookmark(&call, user, post).await
}

pub(crate) async fn create_folder(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_own_user("id")?;
    let name = call.body().required_text("name")?.to_owned();
    let folder = call.write(move |tx| bookmarks::create_folder(tx, user, &name));
    let folder = folder.await?;
    call.respond_data(json!({ "id": folder.id.to_string(), "name": folder.name }))
}

pub(crate) async fn list_folders(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, page) = (call.require_own_user("id")?, call.page_request()?);
    let range = edge_pages::edge_range(&page);
    let found = call.read(move |tx| {
        let all = store::bookmarks::list_folders(tx, user, &range)?;
        Ok(page.slice_rows(all, |folder| folder.id))
    });
    let slice = found.await?;
    let rows = slice.rows.iter();
    let rows = rows.map(|folder| json!({ "id": folder.id.to_string(), "name": folder.name }));
    respond_rows(&call, rows.collect(), slice.tokens)
}

pub(crate) async fn list_folder_posts(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_own_user("id")?;
    let (folder, page): (PostId, _) = (call.path_id("folder_id")?, call.page_request()?);
    let range = edge_pages::edge_range(&page);
    let read =
        move |tx: &mut Tx<'_>, range: &PageRange| bookmarks::list_folder_bookmarks(tx, user, folder.get(), range);
    let (answer, tokens) = edge_pages::load_posts(&call, &page, range, |edge| edge.0, read).await?;
    let Some(tokens) = tokens else {
        return call.respond(&answer);
    };
    let rows = answer.posts.iter().map(|id| json!({ "id": id.to_string() }));
    respond_rows(&call, rows.collect(), tokens)
}

/// Rows without a projection; there are no previous-page tokens.
fn respond_rows(call: &RequestContext, rows: Vec<Value>, tokens: PageTokens) -> Result<HttpReply, Error> {
    let next_only = PageTokens { previous: None, ..tokens };
    let meta: Map<String, Value> = next_only.to_meta(rows.len());
    let answer = ResponsePayload {
        count: rows.len(),
        data: if rows.is_empty() { String::new() } else { Value::Array(rows).to_string() },
        ..ResponsePayload::default()
    };
    call.respond_with_meta(&answer, Some(meta))
}
