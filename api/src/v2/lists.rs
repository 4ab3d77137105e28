//! Lists with their members, followers and pins.

use std::sync::Arc;

use base::refusal::ResourceRef;
use base::{Credential, Error, Fault, Refusal, Scope, UserId, order_by_keys};
use network::lists::{self, ListChanges, NewList};
use network::timelines;
use network::visibility::{Viewer, Visibility, profile_visibility};
use serde_json::json;
use store::follows::UserEdge;
use store::lists::{self as stored, List};
use store::posts::PageRange;
use store::{Tx, users};
use view::{LookupKeys, ObjectKind};
use web::pagination::{PageRequest, PageTokens};
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages::{self, edge_range, refusal_answer, respond};
use super::{neighbour_tokens, page_range};

const LIST_ID: &str = "list_id";

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let id = path_list_id(&call, "id")?;
    let request = call.render_request(ObjectKind::LIST);
    let found = call.read(move |tx| {
        let found = stored::find_by_id(tx, id)?;
        let lookup = LookupKeys { parameter: "id", values: &[id] };
        Ok(view::render_list(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, body) = (call.require_user()?, call.body());
    let new = NewList {
        name: body.required_text("name")?.to_owned(),
        description: body_text(&call, "description").unwrap_or_default(),
        private: body.optional_bool("private").unwrap_or(false),
    };
    let made = call.write(move |tx| lists::create(tx, user, &new)).await?;
    call.respond_data(json!({ "id": made.id.to_string(), "name": made.name }))
}

pub(crate) async fn update(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, id) = (call.require_user()?, path_list_id(&call, "id")?);
    let change = ListChanges {
        name: body_text(&call, "name"),
        description: body_text(&call, "description"),
        private: call.body().optional_bool("private"),
    };
    if call.body().as_map().is_empty() {
        let message = "One of `name`, `description` and `private` must be there";
        return Err(Refusal::invalid_parameter("name", "", message).into());
    }
    call.write(move |tx| lists::update(tx, user, id, &change).map(drop)).await?;
    call.respond_data(json!({ "updated": true }))
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, id) = (call.require_user()?, path_list_id(&call, "id")?);
    call.write(move |tx| lists::delete(tx, user, id)).await?;
    call.respond_data(json!({ "deleted": true }))
}

pub(crate) async fn add_member(call: RequestContext) -> Result<HttpReply, Error> {
    let (owner, id) = (call.require_user()?, path_list_id(&call, "id")?);
    let user = call.body().required_id("user_id")?;
    call.write(move |tx| lists::add_member(tx, owner, id, user).map(drop)).await?;
    call.respond_data(json!({ "is_member": true }))
}

pub(crate) async fn remove_member(call: RequestContext) -> Result<HttpReply, Error> {
    let (owner, id) = (call.require_user()?, path_list_id(&call, "id")?);
    let user = call.path_id("user_id")?;
    call.write(move |tx| lists::remove_member(tx, owner, id, user).map(drop)).await?;
    call.respond_data(json!({ "is_member": false }))
}

pub(crate) async fn follow(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, list) = (call.require_own_user("id")?, body_list_id(&call)?);
    call.write(move |tx| lists::follow(tx, user, list).map(drop)).await?;
    call.respond_data(json!({ "following": true }))
}

pub(crate) async fn unfollow(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, list) = (call.require_own_user("id")?, path_list_id(&call, "list_id")?);
    call.write(move |tx| lists::unfollow(tx, user, list).map(drop)).await?;
    call.respond_data(json!({ "following": false }))
}

pub(crate) async fn pin(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, list) = (call.require_own_user("id")?, body_list_id(&call)?);
    call.write(move |tx| lists::pin(tx, user, list).map(drop)).await?;
    call.respond_data(json!({ "pinned": true }))
}

pub(crate) async fn unpin(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, list) = (call.require_own_user("id")?, path_list_id(&call, "list_id")?);
    call.write(move |tx| lists::unpin(tx, user, list).map(drop)).await?;
    call.respond_data(json!({ "pinned": false }))
}

pub(crate) async fn list_pinned(call: RequestContext) -> Result<HttpReply, Error> {
    let user = call.require_own_user("id")?;
    let request = call.render_request(ObjectKind::LIST);
    let read = call.read(move |tx| {
        let ids = stored::list_pinned(tx, user)?;
        let mut page = stored::find_by_ids(tx, &ids)?;
        order_by_keys(&mut page, &ids, |list| list.id);
        Ok(view::render_lists(tx, &request, &page)?)
    });
    call.respond_page(&read.await?, &PageTokens::default())
}

pub(crate) async fn list_members(call: RequestContext) -> Result<HttpReply, Error> {
    respond_users(&call, stored::member_page).await
}

pub(crate) async fn list_followers(call: RequestContext) -> Result<HttpReply, Error> {
    respond_users(&call, stored::follower_page).await
}

pub(crate) async fn list_owned(call: RequestContext) -> Result<HttpReply, Error> {
    respond_user_lists(&call, |tx, viewer, owner, range| {
        let lists = stored::page_by_owner(tx, owner, viewer.user == Some(owner), range)?;
        Ok(lists.into_iter().map(|list| (list.id, list)).collect())
    })
    .await
}

pub(crate) async fn list_memberships(call: RequestContext) -> Result<HttpReply, Error> {
    respond_user_lists(&call, |tx, viewer, user, range| {
        let found = stored::membership_page(tx, user, viewer.user, range)?;
        load_keyed_lists(tx, &found)
    })
    .await
}

pub(crate) async fn list_followed(call: RequestContext) -> Result<HttpReply, Error> {
    respond_user_lists(&call, |tx, _, user, range| {
        let found = stored::followed_page(tx, user, range)?;
        load_keyed_lists(tx, &found)
    })
    .await
}

pub(crate) async fn list_posts(call: RequestContext) -> Result<HttpReply, Error> {
    let id = path_list_id(&call, "id")?;
    let page = call.page_request()?;
    let range = page_range(&page, (0, i64::MAX));
    let request = call.render_request(ObjectKind::POST);
    let home_timelines = Arc::clone(&call.state.home_timelines);
    let caller = call.require_caller()?;
    let reads_private = caller.credential != Credential::OAuth2 || caller.scopes.contains(Scope::ListRead);
    let read = call.read(move |tx| {
        let Some(list) = lists::find_visible(tx, request.viewer, id)? else {
            return Ok((refusal_answer(list_not_found(id)), None, false));
        };
        if list.private && !reads_private {
            return Err(Refusal::ScopeMissing.into());
        }
        let found = timelines::load_list_page(tx, &home_timelines, &list, &range)?;
        let ends = found.scanned_range;
        let ends = ends.map(|(newest, oldest)| (newest.get(), oldest.get()));
        let answer = view::render_posts(tx, &request, found.posts)?;
        Ok((answer, ends, found.more))
    });
    let (found, scanned, more) = read.await?;
    if scanned.is_none() && !found.errors.is_empty() {
        return call.respond(&found);
    }
    call.respond_page(&found, &neighbour_tokens(&page, scanned, more))
}

fn path_list_id(call: &RequestContext, name: &str) -> Result<i64, Error> {
    call.path_id::<()>(name).map(base::Id::get)
}

fn body_list_id(call: &RequestContext) -> Result<i64, Error> {
    call.body().required_id::<()>(LIST_ID).map(base::Id::get)
}

fn body_text(call: &RequestContext, name: &'static str) -> Option<String> {
    call.body().optional_text(name).map(str::to_owned)
}

fn list_not_found(id: i64) -> Refusal {
    Refusal::NotFound(ResourceRef::new("list", "id", id))
}

/// The users linked to a list, latest first.
async fn respond_users(
    call: &RequestContext,
    read: fn(&mut Tx<'_>, i64, &PageRange) -> Result<Vec<UserEdge>, Fault>,
) -> Result<HttpReply, Error> {
    let (id, viewer) = (path_list_id(call, "id")?, call.viewer());
    let read = move |tx: &mut Tx<'_>, range: &PageRange| match lists::find_visible(tx, viewer, id)? {
        Some(_) => Ok(read(tx, id, range)?),
        None => Err(list_not_found(id).into()),
    };
    edge_pages::respond_users(call, read, edge_pages::keep_all_users).await
}

type KeyedLists = Vec<(i64, List)>;

/// The lists linked to a user, latest first, each with its sort key.
async fn respond_user_lists(
    call: &RequestContext,
    read: fn(&mut Tx<'_>, Viewer, UserId, &PageRange) -> Result<KeyedLists, Fault>,
) -> Result<HttpReply, Error> {
    let (id, page): (UserId, PageRequest) = (call.path_id("id")?, call.page_request()?);
    let request = call.render_request(ObjectKind::LIST);
    let found = call.read(move |tx| {
        let user = users::find_by_id(tx, id)?;
        let subject = ResourceRef::new("user", "id", id);
        match user.map_or(Visibility::Missing, |user| profile_visibility(&user)) {
            Visibility::Visible => {}
            Visibility::Suspended => {
                return Ok((refusal_answer(Refusal::Suspended(subject)), None));
            }
            Visibility::Missing | Visibility::Forbidden => {
                return Ok((refusal_answer(Refusal::NotFound(subject)), None));
            }
        }
        let slice = page.slice_rows(read(tx, request.viewer, id, &edge_range(&page))?, |row| row.0);
        let lists: Vec<List> = slice.rows.into_iter().map(|(_, list)| list).collect();
        let answer = view::render_lists(tx, &request, &lists)?;
        Ok((answer, Some(slice.tokens)))
    });
    let (answer, tokens) = found.await?;
    respond(call, &answer, tokens)
}

/// In the order of the edges.
fn load_keyed_lists(tx: &mut Tx<'_>, edges: &[(i64, i64)]) -> Result<KeyedLists, Fault> {
    let ids: Vec<i64> = edges.iter().map(|(list, _)| *list).collect();
    let mut found = stored::find_by_ids(tx, &ids)?;
    order_by_keys(&mut found, &ids, |list| list.id);
    let key = |list: &List| edges.iter().find(|(id, _)| *id == list.id);
    let keyed = found.into_iter().filter_map(|list| Some((key(&list)?.1, list)));
    Ok(keyed.collect())
}
