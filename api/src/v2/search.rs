//! Post search and counts.

mod counts;
mod window;

use std::sync::Arc;

use base::{Error, Refusal};
use network::annotations;
use post_search::{PostSearchPage, PostSearchRequest, find, find_ranked};
use query::{ParsedQuery, QueryProduct};
use view::ObjectKind;
use web::pagination::{PageDirection, PageTokens};
use web::request_context::{HttpReply, RequestContext};

use super::rules::{dialect, warn_of_unknown_terms};

pub(crate) async fn search_recent(call: RequestContext) -> Result<HttpReply, Error> {
    run_search(&call, QueryProduct::RecentSearch).await
}

pub(crate) async fn search_all(call: RequestContext) -> Result<HttpReply, Error> {
    let fields = call.raw_param("post.fields").split(',');
    let max = 100;
    if call.query_int("max_results") > max && fields.into_iter().any(|one| one == "context_annotations") {
        let (name, value) = ("max_results", call.raw_param("max_results"));
        let message = format!("The `{name}` query parameter value [{value}] is not between 10 and {max}");
        return Err(Refusal::invalid_parameter(name, value, message).into());
    }
    run_search(&call, QueryProduct::FullArchive).await
}

pub(crate) async fn count_recent(call: RequestContext) -> Result<HttpReply, Error> {
    counts::respond_counts(&call, QueryProduct::RecentCounts).await
}

pub(crate) async fn count_all(call: RequestContext) -> Result<HttpReply, Error> {
    counts::respond_counts(&call, QueryProduct::FullCounts).await
}

async fn run_search(call: &RequestContext, product: QueryProduct) -> Result<HttpReply, Error> {
    let query = parse_query(call, product)?;
    check_single_token(call)?;
    let page = call.page_request()?;
    let mut window = window::parse_bounds(call, product)?.to_window();
    let after = page.after.map(|keys| {
        let mut places = [0; 3];
        for (place, key) in places.iter_mut().zip(keys.as_slice()) {
            *place = *key;
        }
        places
    });
    let by_relevancy = call.query_word("sort_order") == "relevancy";
    if let (Some([id, ..]), false) = (after, by_relevancy) {
        window.before_id = window.before_id.min(id);
    }
    let asked = Arc::clone(&query);
    let request = PostSearchRequest { query, window, limit: page.limit };
    let index = call.search_backend()?.catch_up(call.store()).await?;
    let render_request = call.render_request(ObjectKind::POST);
    let read = call.read(move |tx| {
        let PostSearchPage { posts, next } = if by_relevancy {
            find_ranked(tx, &*index, render_request.viewer, &request, after)?
        } else {
            find(tx, &*index, render_request.viewer, &request)?
        };
        let unknown = annotations::list_unknown_terms(tx, &asked)?;
        Ok((view::render_posts(tx, &render_request, posts)?, next, unknown))
    });
    let (answer, next, unknown) = read.await?;
    let tokens = PageTokens { next: next.map(|keys| page.page_token(PageDirection::Next, keys)), previous: None };
    Ok(warn_of_unknown_terms(call.respond_timeline(&answer, &tokens)?, &unknown))
}

fn parse_query(call: &RequestContext, product: QueryProduct) -> Result<Arc<ParsedQuery>, Error> {
    let dialect = dialect(call, product)?;
    let text = call.query_text("query").unwrap_or_default();
    let read = query::parse(text, dialect);
    let query = read.map_err(|problems| Refusal::invalid_parameter("query", text, problems.to_string()))?;
    Ok(Arc::new(query))
}

/// `next_token` and `pagination_token` are aliases.
pub(super) fn check_single_token(call: &RequestContext) -> Result<(), Refusal> {
    let (Some(next), Some(_)) = (call.query_text("next_token"), call.query_text("pagination_token")) else {
        return Ok(());
    };
    let message = "Only one of `next_token` and `pagination_token` can be given";
    Err(Refusal::invalid_parameter("next_token", next, message))
}
