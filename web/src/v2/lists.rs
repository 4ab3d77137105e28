//! Lists: kept, shown, read; who is on them, follows and pins them.

use std::sync::Arc;

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId, VocabularyWord};
use network::lists::{self, ListChanges, NewList};
use network::timelines;
use network::visibility::{Viewer, Visibility, profile_visibility};
use serde_json::json;
use store::follows::UserEdge;
use store::lists::{self as stored, List};
use store::posts::PageRange;
use store::{Tx, users};
use view::{LookupKeys, ObjectKind, ResponsePayload};

use super::{edges, neighbours, span, wants_users};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;
use crate::page::{Page, Tokens};

const LIST_ID: VocabularyWord = VocabularyWord::same_in_both("list_id");

/// `GET /2/lists/{id}`.
pub(crate) fn by_id(call: Call) -> Pending {
    Box::pin(async move {
        let id = list_id(&call, "id")?;
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::List), call.spoken());
        let found = call.read(move |tx| {
            let found = stored::find_by_id(tx, id)?;
            let asked = LookupKeys {
                parameter: "id",
                values: &[id],
            };
            Ok(view::render_list(tx, viewer, found, &wants, spoken, asked)?)
        });
        call.answer(&found.await?)
    })
}

/// `POST /2/lists`.
pub(crate) fn create(call: Call) -> Pending {
    Box::pin(async move {
        let (user, body) = (call.user()?, call.body());
        let new = NewList {
            name: body.text(VocabularyWord::same_in_both("name"))?.to_owned(),
            description: text(&call, "description").unwrap_or_default(),
            private: body
                .bool_if(VocabularyWord::same_in_both("private"))
                .unwrap_or(false),
        };
        let made = call.write(move |tx| lists::create(tx, user, &new)).await?;
        call.say(json!({ "id": made.id.to_string(), "name": made.name }))
    })
}

/// `PUT /2/lists/{id}`.
pub(crate) fn update(call: Call) -> Pending {
    Box::pin(async move {
        let (user, id) = (call.user()?, list_id(&call, "id")?);
        let change = ListChanges {
            name: text(&call, "name"),
            description: text(&call, "description"),
            private: call.body().bool_if(VocabularyWord::same_in_both("private")),
        };
        if call.body().raw().is_empty() {
            let message = "One of `name`, `description` and `private` must be there";
            return Err(Refusal::invalid_parameter("name", "", message).into());
        }
        call.write(move |tx| lists::update(tx, user, id, &change).map(drop))
            .await?;
        call.say(json!({ "updated": true }))
    })
}

/// `DELETE /2/lists/{id}`.
pub(crate) fn delete(call: Call) -> Pending {
    Box::pin(async move {
        let (user, id) = (call.user()?, list_id(&call, "id")?);
        call.write(move |tx| lists::delete(tx, user, id)).await?;
        call.say(json!({ "deleted": true }))
    })
}

/// `POST /2/lists/{id}/members`.
pub(crate) fn add_member(call: Call) -> Pending {
    Box::pin(async move {
        let (owner, id) = (call.user()?, list_id(&call, "id")?);
        let user = call.body().id(VocabularyWord::same_in_both("user_id"))?;
        call.write(move |tx| lists::add_member(tx, owner, id, user).map(drop))
            .await?;
        call.say(json!({ "is_member": true }))
    })
}

/// `DELETE /2/lists/{id}/members/{user_id}`.
pub(crate) fn remove_member(call: Call) -> Pending {
    Box::pin(async move {
        let (owner, id) = (call.user()?, list_id(&call, "id")?);
        let user = call.path_id("user_id")?;
        call.write(move |tx| lists::remove_member(tx, owner, id, user).map(drop))
            .await?;
        call.say(json!({ "is_member": false }))
    })
}

/// `POST /2/users/{id}/followed_lists`.
pub(crate) fn follow(call: Call) -> Pending {
    Box::pin(async move {
        let (user, list) = (call.own("id")?, in_body(&call)?);
        call.write(move |tx| lists::follow(tx, user, list).map(drop))
            .await?;
        call.say(json!({ "following": true }))
    })
}

/// `DELETE /2/users/{id}/followed_lists/{list_id}`.
pub(crate) fn unfollow(call: Call) -> Pending {
    Box::pin(async move {
        let (user, list) = (call.own("id")?, list_id(&call, "list_id")?);
        call.write(move |tx| lists::unfollow(tx, user, list).map(drop))
            .await?;
        call.say(json!({ "following": false }))
    })
}

/// `POST /2/users/{id}/pinned_lists`.
pub(crate) fn pin(call: Call) -> Pending {
    Box::pin(async move {
        let (user, list) = (call.own("id")?, in_body(&call)?);
        call.write(move |tx| lists::pin(tx, user, list).map(drop))
            .await?;
        call.say(json!({ "pinned": true }))
    })
}

/// `DELETE /2/users/{id}/pinned_lists/{list_id}`.
pub(crate) fn unpin(call: Call) -> Pending {
    Box::pin(async move {
        let (user, list) = (call.own("id")?, list_id(&call, "list_id")?);
        call.write(move |tx| lists::unpin(tx, user, list).map(drop))
            .await?;
        call.say(json!({ "pinned": false }))
    })
}

/// `GET /2/users/{id}/pinned_lists`.
pub(crate) fn pinned(call: Call) -> Pending {
    Box::pin(async move {
        let user = call.own("id")?;
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::List), call.spoken());
        let read = call.read(move |tx| {
            let ids = stored::list_pinned(tx, user)?;
            let page = in_order(&ids, stored::find_by_ids(tx, &ids)?);
            Ok(view::render_lists(tx, viewer, &page, &wants, spoken)?)
        });
        call.answer_page(&read.await?, &Tokens::default())
    })
}

/// `GET /2/lists/{id}/members`.
pub(crate) fn members(call: Call) -> Pending {
    Box::pin(async move { people(&call, stored::member_page).await })
}

/// `GET /2/lists/{id}/followers`.
pub(crate) fn followers(call: Call) -> Pending {
    Box::pin(async move { people(&call, stored::follower_page).await })
}

/// `GET /2/users/{id}/owned_lists`.
pub(crate) fn owned(call: Call) -> Pending {
    Box::pin(async move {
        of_user_page(&call, |tx, viewer, owner, span| {
            let lists = stored::page_by_owner(tx, owner, viewer.user == Some(owner), span)?;
            Ok(lists.into_iter().map(|list| (list.id, list)).collect())
        })
        .await
    })
}

/// `GET /2/users/{id}/list_memberships`.
pub(crate) fn memberships(call: Call) -> Pending {
    Box::pin(async move {
        of_user_page(&call, |tx, viewer, user, span| {
            let found = stored::membership_page(tx, user, viewer.user, span)?;
            with_lists(tx, &found)
        })
        .await
    })
}

/// `GET /2/users/{id}/followed_lists`.
pub(crate) fn followed(call: Call) -> Pending {
    Box::pin(async move {
        of_user_page(&call, |tx, _, user, span| {
            let found = stored::followed_page(tx, user, span)?;
            with_lists(tx, &found)
        })
        .await
    })
}

/// `GET /2/lists/{id}/posts`.
pub(crate) fn posts(call: Call) -> Pending {
    Box::pin(async move {
        let id = list_id(&call, "id")?;
        let page = call.page()?;
        let asked = span(&page, (0, i64::MAX));
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Post), call.spoken());
        let homes = Arc::clone(&call.home.homes);
        let read = call.read(move |tx| {
            let Some(list) = lists::find_visible(tx, viewer, id)? else {
                return Ok((no_list(id), None, false));
            };
            let found = timelines::load_list_page(tx, &homes, &list, &asked)?;
            let ends = found.scanned_range;
            let ends = ends.map(|(newest, oldest)| (newest.get(), oldest.get()));
            let answer = view::render_posts(tx, viewer, found.posts, &wants, spoken)?;
            Ok((answer, ends, found.more))
        });
        let (found, looked_at, more) = read.await?;
        if looked_at.is_none() && !found.errors.is_empty() {
            return call.answer(&found);
        }
        call.answer_page(&found, &neighbours(&page, looked_at, more))
    })
}

fn list_id(call: &Call, name: &str) -> Result<i64, Error> {
    call.path_id::<()>(name).map(base::Id::get)
}

fn in_body(call: &Call) -> Result<i64, Error> {
    call.body().id::<()>(LIST_ID).map(base::Id::get)
}

fn text(call: &Call, name: &'static str) -> Option<String> {
    call.body()
        .text_if(VocabularyWord::same_in_both(name))
        .map(str::to_owned)
}

/// The answer where a list is not there for the caller.
fn no_list(id: i64) -> ResponsePayload {
    nothing(Refusal::NotFound(ResourceRef::new("list", "id", id)))
}

fn nothing(why: Refusal) -> ResponsePayload {
    ResponsePayload {
        errors: vec![why],
        ..ResponsePayload::default()
    }
}

/// The part of a collection that a page is, with one row more than it holds.
fn one_more(page: &Page) -> PageRange {
    PageRange {
        limit: page.fetch(),
        ..span(page, (0, i64::MAX))
    }
}

/// Those who are something to a list, latest first.
async fn people(
    call: &Call,
    read: fn(&mut Tx<'_>, i64, &PageRange) -> Result<Vec<UserEdge>, Fault>,
) -> Result<Reply, Error> {
    let (id, page) = (list_id(call, "id")?, call.page()?);
    let (viewer, wants, spoken) = (call.viewer(), wants_users(call)?, call.spoken());
    let found = call.read(move |tx| {
        if lists::find_visible(tx, viewer, id)?.is_none() {
            return Ok((no_list(id), None));
        }
        let cut = page.cut(read(tx, id, &one_more(&page))?, |edge| edge.1);
        let people = edges::people(tx, &cut.rows)?;
        let answer = view::render_users(tx, viewer, people, &wants, spoken)?;
        Ok((answer, Some(cut.tokens)))
    });
    say(call, found.await?)
}

fn say(call: &Call, (answer, tokens): (ResponsePayload, Option<Tokens>)) -> Result<Reply, Error> {
    match tokens {
        Some(tokens) => call.answer_page(&answer, &tokens),
        None => call.answer(&answer),
    }
}

type Keyed = Vec<(i64, List)>;

/// The lists that are something to a user, latest first, each with what it is ordered by.
async fn of_user_page(
    call: &Call,
    read: fn(&mut Tx<'_>, Viewer, UserId, &PageRange) -> Result<Keyed, Fault>,
) -> Result<Reply, Error> {
    let (id, page): (UserId, Page) = (call.path_id("id")?, call.page()?);
    let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::List), call.spoken());
    let found = call.read(move |tx| {
        let user = users::find_by_id(tx, id)?;
        let subject = ResourceRef::new("user", "id", id);
        match user.map_or(Visibility::Missing, |user| profile_visibility(&user)) {
            Visibility::Visible => {}
            Visibility::Suspended => return Ok((nothing(Refusal::Suspended(subject)), None)),
            Visibility::Missing | Visibility::Forbidden => {
                return Ok((nothing(Refusal::NotFound(subject)), None));
            }
        }
        let cut = page.cut(read(tx, viewer, id, &one_more(&page))?, |row| row.0);
        let lists: Vec<List> = cut.rows.into_iter().map(|(_, list)| list).collect();
        let answer = view::render_lists(tx, viewer, &lists, &wants, spoken)?;
        Ok((answer, Some(cut.tokens)))
    });
    say(call, found.await?)
}

/// The lists at the ends of edges, in the order of these.
fn with_lists(tx: &mut Tx<'_>, edges: &[(i64, i64)]) -> Result<Keyed, Fault> {
    let ids: Vec<i64> = edges.iter().map(|(list, _)| *list).collect();
    let found = in_order(&ids, stored::find_by_ids(tx, &ids)?);
    let key = |list: &List| edges.iter().find(|(id, _)| *id == list.id);
    let keyed = found
        .into_iter()
        .filter_map(|list| Some((key(&list)?.1, list)));
    Ok(keyed.collect())
}

fn in_order(ids: &[i64], mut found: Vec<List>) -> Vec<List> {
    found.sort_by_cached_key(|list| ids.iter().position(|id| *id == list.id));
    found
}
