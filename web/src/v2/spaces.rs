//! Spaces: lookup, search, ticket buyers and shared posts.

use base::id::decode_base62;
use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, UserId};
use network::spaces::{self, SpaceStateFilter};
use store::posts::{self, PageRange, Post};
use store::spaces::{self as stored, Space};
use view::{LookupKeys, ObjectKind, ResponsePayload};

use super::{page_range, user_edges, user_field_selection};
use crate::endpoint::HandlerFuture;
use crate::pagination::{PageRequest, PageTokens};
use crate::request_context::{HttpReply, RequestContext};

/// `GET /2/spaces/{id}`.
pub(crate) fn get(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let name = call.path_text("id")?.to_owned();
        let (viewer, wants, spoken) = (
            call.viewer(),
            call.field_selection(ObjectKind::Space),
            call.answer_vocabulary(),
        );
        let found = call.read(move |tx| {
            let id = decode_base62(&name);
            let found = id.map_or(Ok(None), |id| stored::find_by_id(tx, id))?;
            let asked = LookupKeys {
                parameter: "id",
                values: std::slice::from_ref(&name),
            };
            Ok(view::render_space(tx, viewer, found, &wants, spoken, asked)?)
        });
        call.respond(&found.await?)
    })
}

/// `GET /2/spaces`.
pub(crate) fn get_many(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let names = call.query_texts("ids").to_vec();
        let (viewer, wants, spoken) = (
            call.viewer(),
            call.field_selection(ObjectKind::Space),
            call.answer_vocabulary(),
        );
        let found = call.read(move |tx| {
            let mut ids: Vec<i64> = Vec::with_capacity(names.len());
            for id in names.iter().filter_map(|name| decode_base62(name)) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            let mut found = stored::find_by_ids(tx, &ids)?;
            found.sort_by_cached_key(|space| ids.iter().position(|id| *id == space.id));
            let asked = LookupKeys {
                parameter: "ids",
                values: &names,
            };
            Ok(view::render_space_lookup(tx, viewer, &found, &wants, spoken, asked)?)
        });
        call.respond(&found.await?)
    })
}

/// `GET /2/spaces/by/creator_ids`.
pub(crate) fn list_by_creators(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let mut creators: Vec<UserId> = call.query_ids("user_ids");
        creators.sort_unstable();
        creators.dedup();
        let (viewer, wants, spoken) = (
            call.viewer(),
            call.field_selection(ObjectKind::Space),
            call.answer_vocabulary(),
        );
        let found = call.read(move |tx| {
            let mut found = stored::list_active_by_creators(tx, &creators)?;
            found.sort_unstable_by_key(|space| std::cmp::Reverse(space.id));
            Ok(view::render_spaces(tx, viewer, &found, &wants, spoken)?)
        });
        call.respond_page(&found.await?, &PageTokens::default())
    })
}

/// `GET /2/spaces/search`.
pub(crate) fn search(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let text = call.query_text("query").unwrap_or_default().to_owned();
        let among = match call.query_text("state") {
            Some("live") => SpaceStateFilter::Live,
            Some("scheduled") => SpaceStateFilter::Scheduled,
            _ => SpaceStateFilter::All,
        };
        let limit = usize::try_from(call.query_int("max_results")).unwrap_or(0);
        let (viewer, wants, spoken) = (
            call.viewer(),
            call.field_selection(ObjectKind::Space),
            call.answer_vocabulary(),
        );
        let found = call.read(move |tx| {
            let found = spaces::search(tx, &text, among, limit)?;
            Ok(view::render_spaces(tx, viewer, &found, &wants, spoken)?)
        });
        call.respond_page(&found.await?, &PageTokens::default())
    })
}

/// `GET /2/spaces/{id}/buyers`.
pub(crate) fn list_buyers(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (user, page) = (call.require_user()?, call.page_request()?);
        let name = call.path_text("id")?.to_owned();
        let (viewer, wants, spoken) = (call.viewer(), user_field_selection(&call)?, call.answer_vocabulary());
        let found = call.read(move |tx| {
            let Some(space) = find_visible_space(tx, &name)? else {
                return Ok((space_not_found(&name), None));
            };
            spaces::check_may_see_buyers(&space, user)?;
            let cut = page.slice_rows(stored::buyer_page(tx, space.id, &page_range_plus_one(&page))?, |edge| {
                edge.1
            });
            let people = user_edges::load_users(tx, &cut.rows)?;
            let answer = view::render_users(tx, viewer, people, &wants, spoken)?;
            Ok((answer, Some(cut.tokens)))
        });
        respond(&call, found.await?)
    })
}

/// `GET /2/spaces/{id}/posts`.
pub(crate) fn list_posts(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (page, name) = (call.page_request()?, call.path_text("id")?.to_owned());
        let (viewer, wants, spoken) = (
            call.viewer(),
            call.field_selection(ObjectKind::Post),
            call.answer_vocabulary(),
        );
        let found = call.read(move |tx| {
            let Some(space) = find_visible_space(tx, &name)? else {
                return Ok((space_not_found(&name), None));
            };
            let rows = stored::page_of_shared_posts(tx, space.id, &page_range_plus_one(&page))?;
            let cut = page.slice_rows(rows, |edge| edge.1);
            let ids: Vec<PostId> = cut.rows.iter().map(|(post, _)| *post).collect();
            let mut found = posts::find_by_ids(tx, &ids)?;
            let place = |post: &Post| ids.iter().position(|id| *id == post.id);
            found.sort_by_cached_key(place);
            let answer = view::render_posts(tx, viewer, found, &wants, spoken)?;
            Ok((answer, Some(cut.tokens)))
        });
        respond(&call, found.await?)
    })
}

fn find_visible_space(tx: &mut store::Tx<'_>, name: &str) -> Result<Option<Space>, Error> {
    match decode_base62(name) {
        Some(id) => Ok(spaces::find_visible(tx, id)?),
        None => Ok(None),
    }
}

fn space_not_found(name: &str) -> ResponsePayload {
    ResponsePayload {
        errors: vec![Refusal::NotFound(ResourceRef::new("space", "id", name))],
        ..ResponsePayload::default()
    }
}

fn page_range_plus_one(page: &PageRequest) -> PageRange {
    PageRange {
        limit: page.fetch_limit(),
        ..page_range(page, (0, i64::MAX))
    }
}

fn respond(call: &RequestContext, (answer, tokens): (ResponsePayload, Option<PageTokens>)) -> Result<HttpReply, Error> {
    match tokens {
        Some(tokens) => call.respond_page(&answer, &tokens),
        None => call.respond(&answer),
    }
}
