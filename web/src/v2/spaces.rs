//! Spaces, looked up and searched, and what belongs to them.

use base::id::decode_base62;
use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, UserId};
use network::spaces::{self, SpaceStateFilter};
use store::posts::{self, PageRange, Post};
use store::spaces::{self as stored, Space};
use view::{LookupKeys, ObjectKind, ResponsePayload};

use super::{edges, span, wants_users};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;
use crate::page::{Page, Tokens};

/// `GET /2/spaces/{id}`.
pub(crate) fn by_id(call: Call) -> Pending {
    Box::pin(async move {
        let name = call.path_text("id")?.to_owned();
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Space), call.spoken());
        let found = call.read(move |tx| {
            let id = decode_base62(&name);
            let found = id.map_or(Ok(None), |id| stored::find_by_id(tx, id))?;
            let asked = LookupKeys {
                parameter: "id",
                values: std::slice::from_ref(&name),
            };
            Ok(view::render_space(
                tx, viewer, found, &wants, spoken, asked,
            )?)
        });
        call.answer(&found.await?)
    })
}

/// `GET /2/spaces`.
pub(crate) fn by_ids(call: Call) -> Pending {
    Box::pin(async move {
        let names = call.texts("ids").to_vec();
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Space), call.spoken());
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
            Ok(view::render_space_lookup(
                tx, viewer, &found, &wants, spoken, asked,
            )?)
        });
        call.answer(&found.await?)
    })
}

/// `GET /2/spaces/by/creator_ids`.
pub(crate) fn by_creators(call: Call) -> Pending {
    Box::pin(async move {
        let mut creators: Vec<UserId> = call.ids("user_ids");
        creators.sort_unstable();
        creators.dedup();
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Space), call.spoken());
        let found = call.read(move |tx| {
            let mut found = stored::list_active_by_creators(tx, &creators)?;
            found.sort_unstable_by_key(|space| std::cmp::Reverse(space.id));
            Ok(view::render_spaces(tx, viewer, &found, &wants, spoken)?)
        });
        call.answer_page(&found.await?, &Tokens::default())
    })
}

/// `GET /2/spaces/search`.
pub(crate) fn search(call: Call) -> Pending {
    Box::pin(async move {
        let text = call.text("query").unwrap_or_default().to_owned();
        let among = match call.text("state") {
            Some("live") => SpaceStateFilter::Live,
            Some("scheduled") => SpaceStateFilter::Scheduled,
            _ => SpaceStateFilter::All,
        };
        let limit = usize::try_from(call.int("max_results")).unwrap_or(0);
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Space), call.spoken());
        let found = call.read(move |tx| {
            let found = spaces::search(tx, &text, among, limit)?;
            Ok(view::render_spaces(tx, viewer, &found, &wants, spoken)?)
        });
        call.answer_page(&found.await?, &Tokens::default())
    })
}

/// `GET /2/spaces/{id}/buyers`.
pub(crate) fn buyers(call: Call) -> Pending {
    Box::pin(async move {
        let (user, page) = (call.user()?, call.page()?);
        let name = call.path_text("id")?.to_owned();
        let (viewer, wants, spoken) = (call.viewer(), wants_users(&call)?, call.spoken());
        let found = call.read(move |tx| {
            let Some(space) = seen(tx, &name)? else {
                return Ok((no_space(&name), None));
            };
            spaces::check_may_see_buyers(&space, user)?;
            let cut = page.cut(
                stored::buyer_page(tx, space.id, &one_more(&page))?,
                |edge| edge.1,
            );
            let people = edges::people(tx, &cut.rows)?;
            let answer = view::render_users(tx, viewer, people, &wants, spoken)?;
            Ok((answer, Some(cut.tokens)))
        });
        say(&call, found.await?)
    })
}

/// `GET /2/spaces/{id}/posts`.
pub(crate) fn shared(call: Call) -> Pending {
    Box::pin(async move {
        let (page, name) = (call.page()?, call.path_text("id")?.to_owned());
        let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Post), call.spoken());
        let found = call.read(move |tx| {
            let Some(space) = seen(tx, &name)? else {
                return Ok((no_space(&name), None));
            };
            let rows = stored::page_of_shared_posts(tx, space.id, &one_more(&page))?;
            let cut = page.cut(rows, |edge| edge.1);
            let ids: Vec<PostId> = cut.rows.iter().map(|(post, _)| *post).collect();
            let mut found = posts::find_by_ids(tx, &ids)?;
            let place = |post: &Post| ids.iter().position(|id| *id == post.id);
            found.sort_by_cached_key(place);
            let answer = view::render_posts(tx, viewer, found, &wants, spoken)?;
            Ok((answer, Some(cut.tokens)))
        });
        say(&call, found.await?)
    })
}

/// The space that a name stands for, if it may be seen.
fn seen(tx: &mut store::Tx<'_>, name: &str) -> Result<Option<Space>, Error> {
    match decode_base62(name) {
        Some(id) => Ok(spaces::find_visible(tx, id)?),
        None => Ok(None),
    }
}

fn no_space(name: &str) -> ResponsePayload {
    ResponsePayload {
        errors: vec![Refusal::NotFound(ResourceRef::new("space", "id", name))],
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

fn say(call: &Call, (answer, tokens): (ResponsePayload, Option<Tokens>)) -> Result<Reply, Error> {
    match tokens {
        Some(tokens) => call.answer_page(&answer, &tokens),
        None => call.answer(&answer),
    }
}
