//! Community lookup and search.

use base::Error;
use store::communities as stored;
use view::ObjectKind;
use web::pagination::PageDirection;
use web::request_context::{HttpReply, RequestContext};

use super::search::check_single_token;

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id::<()>("id")?.get();
    let request = call.render_request(ObjectKind::COMMUNITY);
    let found = call.read(move |tx| Ok(stored::find_by_id(tx, id)?)).await?;
    call.respond(&view::render_community(&request, found.as_ref(), id))
}

pub(crate) async fn search(call: RequestContext) -> Result<HttpReply, Error> {
    let query = call.query_text("query").unwrap_or_default().to_owned();
    check_single_token(&call)?;
    let page = call.page_request()?;
    let request = call.render_request(ObjectKind::COMMUNITY);
    let (_, below) = page.descending_bounds();
    let limit = page.limit;
    let found = call.read(move |tx| Ok(network::communities::search(tx, &query, below, limit + 1)?));
    let mut found = found.await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let mut meta = serde_json::Map::new();
    if let Some(last) = found.last().filter(|_| more) {
        let token = page.page_token(PageDirection::Next, last.id);
        meta.insert("next_token".to_owned(), token.into());
    }
    let answer = view::render_communities(&request, &found);
    call.respond_with_meta(&answer, Some(meta).filter(|meta| !meta.is_empty()))
}
