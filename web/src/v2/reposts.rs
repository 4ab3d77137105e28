//! Reposts, made, undone and listed; quotes, listed.

use base::{PostId, Vocabulary};
use network::reposts;
use serde_json::json;
use store::Tx;
use store::posts::PageRange;

use super::{POST_ID, linked};
use crate::call::Call;
use crate::endpoint::Pending;

/// `POST /2/users/{id}/reposts`.
pub(crate) fn create(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post) = (call.own("id")?, call.body().id(POST_ID)?);
        let app = Some(call.caller()?.app_id);
        let made = call.write(move |tx| reposts::repost(tx, user, app, post));
        let made = made.await?;
        let mut data = json!({ "retweeted": true, "rest_id": made.original_id.to_string() });
        if call.spoken().vocabulary == Vocabulary::Tweet
            && let Some(members) = data.as_object_mut()
        {
            members.insert("id".to_owned(), made.id.to_string().into());
        }
        call.say(data)
    })
}

/// `DELETE /2/users/{id}/reposts/{source_post_id}`.
pub(crate) fn delete(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post) = (call.own("id")?, call.path_id("source_post_id")?);
        call.write(move |tx| reposts::undo(tx, user, post)).await?;
        call.say(json!({ "retweeted": false }))
    })
}

/// `GET /2/posts/{id}/reposted_by`.
pub(crate) fn users(call: Call) -> Pending {
    Box::pin(async move {
        let (viewer, post): (_, PostId) = (call.viewer(), call.path_id("id")?);
        let read = move |tx: &mut Tx<'_>, span: &PageRange| {
            reposts::list_post_reposts(tx, viewer, post, span)
        };
        linked::users(&call, read, reposts::filter_public_users).await
    })
}

/// `GET /2/posts/{id}/reposts`.
pub(crate) fn of_post(call: Call) -> Pending {
    Box::pin(async move {
        let (viewer, post): (_, PostId) = (call.viewer(), call.path_id("id")?);
        let page = call.page()?;
        let read = move |tx: &mut Tx<'_>, span: &PageRange| {
            reposts::list_post_reposts(tx, viewer, post, span)
        };
        let found = linked::posts_of(&call, &page, linked::span_of(&page), |edge| edge.1, read);
        let (answer, tokens) = found.await?;
        linked::say(&call, &answer, tokens)
    })
}

/// `GET /2/users/reposts_of_me`.
pub(crate) fn of_me(call: Call) -> Pending {
    Box::pin(async move {
        let user = call.user()?;
        let read = move |tx: &mut Tx<'_>, span: &PageRange| {
            Ok(reposts::list_reposted_posts(tx, user, span)?)
        };
        linked::posts(&call, read).await
    })
}

/// `GET /2/posts/{id}/quote_posts`.
pub(crate) fn quotes(call: Call) -> Pending {
    Box::pin(async move {
        let (viewer, post): (_, PostId) = (call.viewer(), call.path_id("id")?);
        let page = call.page()?;
        let asked = PageRange {
            without_replies: call.has("exclude", "replies"),
            without_reposts: call.has("exclude", "retweets"),
            ..linked::span_of(&page)
        };
        let read =
            move |tx: &mut Tx<'_>, span: &PageRange| reposts::list_quotes(tx, viewer, post, span);
        let (answer, tokens) = linked::posts_of(&call, &page, asked, |edge| edge.0, read).await?;
        // This one list does not lead back.
        let tokens = tokens.map(|tokens| crate::page::Tokens {
            previous: None,
            ..tokens
        });
        linked::say(&call, &answer, tokens)
    })
}
