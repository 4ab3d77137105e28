//! People, searched; and who is affiliated with an organization.

use network::people::{self, UserSearchRange};
use store::affiliates;

use super::edges::{To, list};
use super::wants_users;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::page::{Direction, Tokens};

/// `GET /2/users/search`.
pub(crate) fn search(call: Call) -> Pending {
    Box::pin(async move {
        let query = call.text("query").unwrap_or_default().to_owned();
        let page = call.page()?;
        let from = page.after.and_then(|keys| keys.as_slice().try_into().ok());
        let span = UserSearchRange {
            from,
            backward: page.is_backward(),
            limit: page.limit,
        };
        let (viewer, wants, spoken) = (call.viewer(), wants_users(&call)?, call.spoken());
        let read = call.read(move |tx| {
            let found = people::search(tx, &query, &span)?;
            let users = view::render_users(tx, viewer, found.users, &wants, spoken)?;
            Ok((users, found.scanned_range, found.more))
        });
        let (found, looked_at, more) = read.await?;
        let behind = more || page.is_backward();
        let before = if page.is_backward() {
            more
        } else {
            page.after.is_some()
        };
        let tokens = looked_at.map(|(first, last)| Tokens {
            next: behind.then(|| page.token(Direction::Next, last)),
            previous: before.then(|| page.token(Direction::Previous, first)),
        });
        call.answer_page(&found, &tokens.unwrap_or_default())
    })
}

/// `GET /2/users/{id}/affiliates`.
pub(crate) fn affiliates(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.path_id("id")?;
        list(&call, id, To::Anyone, affiliates::page_of_affiliates).await
    })
}
