//! Spaces: lookup, search, ticket buyers and shared posts.

use base::id::decode_base62;
use base::refusal::ResourceRef;
use base::{Error, Refusal, UserId, order_by_keys, sorted_distinct};
use network::spaces::{self, SpaceStateFilter};
use store::Tx;
use store::posts::PageRange;
use store::spaces::{self as stored, Space};
use view::{LookupKeys, ObjectKind};
use web::pagination::PageTokens;
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages;

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("id")?.to_owned();
    let request = call.render_request(ObjectKind::SPACE);
    let found = call.read(move |tx| {
        let id = decode_base62(&name);
        let found = id.map_or(Ok(None), |id| stored::find_by_id(tx, id))?;
        let lookup = LookupKeys { parameter: "id", values: std::slice::from_ref(&name) };
        Ok(view::render_space(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn get_many(call: RequestContext) -> Result<HttpReply, Error> {
    let names = call.query_texts("ids");
    let request = call.render_request(ObjectKind::SPACE);
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
        Ok(view::render_space_lookup(tx, &request, &found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn list_by_creators(call: RequestContext) -> Result<HttpReply, Error> {
    let creators: Vec<UserId> = sorted_distinct(call.query_ids("user_ids"));
    let request = call.render_request(ObjectKind::SPACE);
    let found = call.read(move |tx| {
        let mut found = stored::list_active_by_creators(tx, &creators)?;
        found.sort_unstable_by_key(|space| std::cmp::Reverse(space.id));
        Ok(view::render_spaces(tx, &request, &found)?)
    });
    call.respond_page(&found.await?, &PageTokens::default())
}

pub(crate) async fn search(call: RequestContext) -> Result<HttpReply, Error> {
    let text = call.query_text("query").unwrap_or_default().to_owned();
    let state = match call.query_word("state") {
        "live" => SpaceStateFilter::Live,
        "scheduled" => SpaceStateFilter::Scheduled,
        _ => SpaceStateFilter::All,
    };
    let limit = usize::try_from(call.query_int("max_results")).unwrap_or(0);
    let request = call.render_request(ObjectKind::SPACE);
    let found = call.read(move |tx| {
        let found = spaces::search(tx, &text, state, limit)?;
        Ok(view::render_spaces(tx, &request, &found)?)
    });
    call.respond_page(&found.await?, &PageTokens::default())
}

pub(crate) async fn list_buyers(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, name) = (call.require_user()?, call.path_text("id")?.to_owned());
    let read = move |tx: &mut Tx<'_>, range: &PageRange| {
        let space = find_visible_space(tx, &name)?;
        spaces::check_may_see_buyers(&space, user)?;
        Ok(stored::buyer_page(tx, space.id, range)?)
    };
    edge_pages::respond_users(&call, read, edge_pages::keep_all_users).await
}

pub(crate) async fn list_posts(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("id")?.to_owned();
    let read = move |tx: &mut Tx<'_>, range: &PageRange| {
        let space = find_visible_space(tx, &name)?;
        Ok(stored::page_of_shared_posts(tx, space.id, range)?)
    };
    edge_pages::respond_posts(&call, read).await
}

fn find_visible_space(tx: &mut Tx<'_>, name: &str) -> Result<Space, Error> {
    let found = decode_base62(name).map_or(Ok(None), |id| spaces::find_visible(tx, id))?;
    Ok(found.ok_or_else(|| Refusal::NotFound(ResourceRef::new("space", "id", name)))?)
}
