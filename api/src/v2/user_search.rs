//! User search and affiliates.

use base::Error;
use network::people::{self, UserSearchRange};
use store::affiliates;
use view::ObjectKind;
use web::request_context::{HttpReply, RequestContext};

use super::neighbour_tokens;
use super::user_edges::{ListViewers, respond_user_list};

pub(crate) async fn search_users(call: RequestContext) -> Result<HttpReply, Error> {
    let query = call.query_text("query").unwrap_or_default().to_owned();
    let page = call.page_request()?;
    let from = page.after.and_then(|keys| keys.as_slice().try_into().ok());
    let range = UserSearchRange { from, backward: page.is_backward(), limit: page.limit };
    let request = call.render_request(ObjectKind::USER);
    let read = call.read(move |tx| {
        let found = people::search(tx, &query, &range)?;
        let users = view::render_users(tx, &request, found.users)?;
        Ok((users, found.scanned_range, found.more))
    });
    let (found, scanned, more) = read.await?;
    call.respond_page(&found, &neighbour_tokens(&page, scanned, more))
}

pub(crate) async fn list_affiliates(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id("id")?;
    respond_user_list(&call, id, ListViewers::Anyone, affiliates::page_of_affiliates).await
}
