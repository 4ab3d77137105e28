//! User search and affiliates.

use network::people::{self, UserSearchRange};
use store::affiliates;
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

use super::user_edges::{ListViewers, respond_user_list};
use super::{neighbour_tokens, user_render_request};

pub(crate) fn search_users(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let query = call.query_text("query").unwrap_or_default().to_owned();
        let page = call.page_request()?;
        let from = page.after.and_then(|keys| keys.as_slice().try_into().ok());
        let range = UserSearchRange { from, backward: page.is_backward(), limit: page.limit };
        let request = user_render_request(&call)?;
        let read = call.read(move |tx| {
            let found = people::search(tx, &query, &range)?;
            let users = view::render_users(tx, &request, found.users)?;
            Ok((users, found.scanned_range, found.more))
        });
        let (found, scanned, more) = read.await?;
        call.respond_page(&found, &neighbour_tokens(&page, scanned, more))
    })
}

pub(crate) fn list_affiliates(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = call.path_id("id")?;
        respond_user_list(&call, id, ListViewers::Anyone, affiliates::page_of_affiliates).await
    })
}
