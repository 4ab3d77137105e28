//! User search and affiliates.

use network::people::{self, UserSearchRange};
use store::affiliates;

use super::user_edges::{ListViewers, respond_user_list};
use super::user_field_selection;
use crate::endpoint::HandlerFuture;
use crate::pagination::{PageDirection, PageTokens};
use crate::request_context::RequestContext;

/// `GET /2/users/search`.
pub(crate) fn search_users(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let query = call.query_text("query").unwrap_or_default().to_owned();
        let page = call.page_request()?;
        let from = page.after.and_then(|keys| keys.as_slice().try_into().ok());
        let span = UserSearchRange {
            from,
            backward: page.is_backward(),
            limit: page.limit,
        };
        let (viewer, wants, spoken) = (call.viewer(), user_field_selection(&call)?, call.answer_vocabulary());
        let read = call.read(move |tx| {
            let found = people::search(tx, &query, &span)?;
            let users = view::render_users(tx, viewer, found.users, &wants, spoken)?;
            Ok((users, found.scanned_range, found.more))
        });
        let (found, looked_at, more) = read.await?;
        let behind = more || page.is_backward();
        let before = if page.is_backward() { more } else { page.after.is_some() };
        let tokens = looked_at.map(|(first, last)| PageTokens {
            next: behind.then(|| page.page_token(PageDirection::Next, last)),
            previous: before.then(|| page.page_token(PageDirection::Previous, first)),
        });
        call.respond_page(&found, &tokens.unwrap_or_default())
    })
}

/// `GET /2/users/{id}/affiliates`.
pub(crate) fn list_affiliates(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = call.path_id("id")?;
        respond_user_list(&call, id, ListViewers::Anyone, affiliates::page_of_affiliates).await
    })
}
