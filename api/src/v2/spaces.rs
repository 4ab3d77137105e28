//! Spaces: lookup, search, ticket buyers and shared posts.

use base::id::decode_base62;
use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, UserId, order_by_keys};
use network::spaces::{self, SpaceStateFilter};
use store::posts;
use store::spaces::{self as stored, Space};
use view::{LookupKeys, ObjectKind, ResponsePayload};
use web::endpoint::HandlerFuture;
use web::pagination::PageTokens;
use web::request_context::RequestContext;

use super::edge_pages::{edge_range, refusal_answer, respond};
use super::{user_edges, user_render_context};

/// `GET /2/spaces/{id}`.
pub(crate) fn get(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let name = call.path_text("id")?.to_owned();
        let (viewer, selection, options) = call.render_context(ObjectKind::SPACE);
        let found = call.read(move |tx| {
            let id = decode_base62(&name);
            let found = id.map_or(Ok(None), |id| stored::find_by_id(tx, id))?;
            let lookup = LookupKeys { parameter: "id", values: std::slice::from_ref(&name) };
            Ok(view::render_space(tx, viewer, found, &selection, options, lookup)?)
        });
        call.respond(&found.await?)
    })
}

/// `GET /2/spaces`.
pub(crate) fn get_many(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let names = call.query_texts("ids");
        let (viewer, selection, options) = call.render_context(ObjectKind::SPACE);
        let found = call.read(move |tx| {
            let mut ids: Vec<i64> = Vec::with_capacity(names.len());
            for id in names.iter().filter_map(|name| decode_base62(name)) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            let mut found = stored::find_by_ids(tx, &ids)?;
            order_by_keys(&mut found, &ids, |space| space.id);
            let lookup = LookupKeys { parameter: "ids", values: &names };
            Ok(view::render_space_lookup(tx, viewer, &found, &selection, options, lookup)?)
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
        let (viewer, selection, options) = call.render_context(ObjectKind::SPACE);
        let found = call.read(move |tx| {
            let mut found = stored::list_active_by_creators(tx, &creators)?;
            found.sort_unstable_by_key(|space| std::cmp::Reverse(space.id));
            Ok(view::render_spaces(tx, viewer, &found, &selection, options)?)
        });
        call.respond_page(&found.await?, &PageTokens::default())
    })
}

/// `GET /2/spaces/search`.
pub(crate) fn search(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let text = call.query_text("query").unwrap_or_default().to_owned();
        let state = match call.query_text("state") {
            Some("live") => SpaceStateFilter::Live,
            Some("scheduled") => SpaceStateFilter::Scheduled,
            _ => SpaceStateFilter::All,
        };
        let limit = usize::try_from(call.query_int("max_results")).unwrap_or(0);
        let (viewer, selection, options) = call.render_context(ObjectKind::SPACE);
        let found = call.read(move |tx| {
            let found = spaces::search(tx, &text, state, limit)?;
            Ok(view::render_spaces(tx, viewer, &found, &selection, options)?)
        });
        call.respond_page(&found.await?, &PageTokens::default())
    })
}

/// `GET /2/spaces/{id}/buyers`.
pub(crate) fn list_buyers(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (user, page) = (call.require_user()?, call.page_request()?);
        let name = call.path_text("id")?.to_owned();
        let (viewer, selection, options) = user_render_context(&call)?;
        let found = call.read(move |tx| {
            let Some(space) = find_visible_space(tx, &name)? else {
                return Ok((space_not_found(&name), None));
            };
            spaces::check_may_see_buyers(&space, user)?;
            let slice = page.slice_rows(stored::buyer_page(tx, space.id, &edge_range(&page))?, |edge| edge.1);
            let people = user_edges::load_users(tx, &slice.rows)?;
            let answer = view::render_users(tx, viewer, people, &selection, options)?;
            Ok((answer, Some(slice.tokens)))
        });
        let (answer, tokens) = found.await?;
        respond(&call, &answer, tokens)
    })
}

/// `GET /2/spaces/{id}/posts`.
pub(crate) fn list_posts(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (page, name) = (call.page_request()?, call.path_text("id")?.to_owned());
        let (viewer, selection, options) = call.render_context(ObjectKind::POST);
        let found = call.read(move |tx| {
            let Some(space) = find_visible_space(tx, &name)? else {
                return Ok((space_not_found(&name), None));
            };
            let rows = stored::page_of_shared_posts(tx, space.id, &edge_range(&page))?;
            let slice = page.slice_rows(rows, |edge| edge.1);
            let ids: Vec<PostId> = slice.rows.iter().map(|(post, _)| *post).collect();
            let mut found = posts::find_by_ids(tx, &ids)?;
            order_by_keys(&mut found, &ids, |post| post.id);
            let answer = view::render_posts(tx, viewer, found, &selection, options)?;
            Ok((answer, Some(slice.tokens)))
        });
        let (answer, tokens) = found.await?;
        respond(&call, &answer, tokens)
    })
}

fn find_visible_space(tx: &mut store::Tx<'_>, name: &str) -> Result<Option<Space>, Error> {
    match decode_base62(name) {
        Some(id) => Ok(spaces::find_visible(tx, id)?),
        None => Ok(None),
    }
}

fn space_not_found(name: &str) -> ResponsePayload {
    refusal_answer(Refusal::NotFound(ResourceRef::new("space", "id", name)))
}
