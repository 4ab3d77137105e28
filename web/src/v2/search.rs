//! Search over posts, and counts of what it would find.

mod counts;
mod window;

use std::sync::Arc;

use base::{Error, Refusal};
use network::apps::AccessLevel;
use network::search::{PostSearchPage, PostSearchRequest, find, find_ranked};
use query::{AccessTier, ParsedQuery, QueryDialect, QueryProduct};
use view::ObjectKind;

use crate::call::{Call, Reply};
use crate::endpoint::Pending;
use crate::page::{Direction, Tokens};

/// `GET /2/posts/search/recent`.
pub(crate) fn recent(call: Call) -> Pending {
    Box::pin(async move { search(&call, QueryProduct::RecentSearch).await })
}

/// `GET /2/posts/search/all`.
pub(crate) fn all(call: Call) -> Pending {
    Box::pin(async move {
        let heavy = call.raw("post.fields").split(',');
        let most = 100;
        if call.int("max_results") > most
            && heavy.into_iter().any(|one| one == "context_annotations")
        {
            let (name, value) = ("max_results", call.raw("max_results"));
            let message = format!(
                "The `{name}` query parameter value [{value}] is not between 10 and {most}"
            );
            return Err(Refusal::invalid_parameter(name, value, message).into());
        }
        search(&call, QueryProduct::FullArchive).await
    })
}

/// `GET /2/posts/counts/recent`.
pub(crate) fn counts_recent(call: Call) -> Pending {
    Box::pin(async move { counts::count(&call, QueryProduct::RecentCounts).await })
}

/// `GET /2/posts/counts/all`.
pub(crate) fn counts_all(call: Call) -> Pending {
    Box::pin(async move { counts::count(&call, QueryProduct::FullCounts).await })
}

async fn search(call: &Call, product: QueryProduct) -> Result<Reply, Error> {
    let query = query(call, product)?;
    one_token(call)?;
    let page = call.page()?;
    let mut window = window::read(call, product)?.window();
    let after = page.after.map(|keys| {
        let mut places = [0; 3];
        for (place, key) in places.iter_mut().zip(keys.as_slice()) {
            *place = *key;
        }
        places
    });
    let ranks = call.text("sort_order") == Some("relevancy");
    if let (Some([id, ..]), false) = (after, ranks) {
        window.before_id = window.before_id.min(id);
    }
    let asked = PostSearchRequest {
        query,
        window,
        limit: page.limit,
    };
    let search = Arc::clone(call.search()?);
    search.catch_up(call.store()).await?;
    let snapshot = search.snapshot();
    let (viewer, wants, spoken) = (call.viewer(), call.wants(ObjectKind::Post), call.spoken());
    let read = call.read(move |tx| {
        let PostSearchPage { posts, next } = if ranks {
            find_ranked(tx, &snapshot, viewer, &asked, after)?
        } else {
            find(tx, &snapshot, viewer, &asked)?
        };
        Ok((view::render_posts(tx, viewer, posts, &wants, spoken)?, next))
    });
    let (answer, next) = read.await?;
    let tokens = Tokens {
        next: next.map(|keys| page.token(Direction::Next, keys)),
        previous: None,
    };
    call.answer_timeline(&answer, &tokens)
}

/// The query, as the caller may write it.
fn query(call: &Call, product: QueryProduct) -> Result<Arc<ParsedQuery>, Error> {
    let enterprise = call.caller()?.app.access_level == AccessLevel::Enterprise.name();
    let level = if enterprise {
        AccessTier::Enterprise
    } else {
        AccessTier::SelfServe
    };
    let text = call.text("query").unwrap_or_default();
    let read = query::parse(text, QueryDialect::new(product, level));
    let query =
        read.map_err(|problems| Refusal::invalid_parameter("query", text, problems.to_string()))?;
    Ok(Arc::new(query))
}

/// A page has one token, whatever it is called.
fn one_token(call: &Call) -> Result<(), Refusal> {
    let (Some(next), Some(_)) = (call.text("next_token"), call.text("pagination_token")) else {
        return Ok(());
    };
    let message = "Only one of `next_token` and `pagination_token` can be given";
    Err(Refusal::invalid_parameter("next_token", next, message))
}
