//! Bookmarks and the folders that hold them.

use base::id::marker;
use base::{Error, Id, PostId, Refusal, UserId, VocabularyWord};
use network::bookmarks;
use serde_json::{Map, Value, json};
use store::Tx;
use store::posts::PageRange;
use view::ResponsePayload;

use super::{POST_ID, linked};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;
use crate::page::Tokens;

const FOLDER_ID: VocabularyWord = VocabularyWord::same_in_both("folder_id");

/// `GET /2/users/{id}/bookmarks`.
pub(crate) fn of_user(call: Call) -> Pending {
    Box::pin(async move {
        let user = call.own("id")?;
        all(&call, user).await
    })
}

async fn all(call: &Call, user: UserId) -> Result<Reply, Error> {
    let read = move |tx: &mut Tx<'_>, span: &PageRange| {
        Ok(bookmarks::list_user_bookmarks(tx, user, span)?)
    };
    linked::posts(call, read).await
}

/// `POST /2/users/{id}/bookmarks`.
pub(crate) fn create(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post) = (call.own("id")?, call.body().id(POST_ID)?);
        set(&call, user, post).await
    })
}

async fn set(call: &Call, user: UserId, post: PostId) -> Result<Reply, Error> {
    let folder: Option<Id<marker::PostMarker>> = call.body().id_if(FOLDER_ID);
    let folder = folder.map(Id::get);
    call.write(move |tx| bookmarks::add(tx, user, post, folder))
        .await?;
    call.say(json!({ "bookmarked": true }))
}

/// `DELETE /2/users/{id}/bookmarks/{post_id}`.
pub(crate) fn delete(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post) = (call.own("id")?, call.path_id("post_id")?);
        call.write(move |tx| bookmarks::remove(tx, user, post))
            .await?;
        call.say(json!({ "bookmarked": false }))
    })
}

/// `GET /2/posts/{id}/bookmarks`: all of them by the user's own id, else the post's own.
pub(crate) fn of_post(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post): (_, PostId) = (call.user()?, call.path_id("id")?);
        if post.get() == user.get() {
            return all(&call, user).await;
        }
        let read = move |tx: &mut Tx<'_>, _: &PageRange| {
            Ok(bookmarks::find_post_bookmark(tx, user, post)?)
        };
        linked::posts(&call, read).await
    })
}

/// `POST /2/posts/{id}/bookmarks`: the post is in the path, or in the body behind the own id.
pub(crate) fn create_of_post(call: Call) -> Pending {
    Box::pin(async move {
        let (user, post): (_, PostId) = (call.user()?, call.path_id("id")?);
        let named = call.body().id_if(POST_ID);
        let post = match named {
            Some(named) if post.get() == user.get() || named == post => named,
            None if post.get() != user.get() => post,
            Some(named) => {
                let name = call.body().spelled(POST_ID);
                return Err(Refusal::invalid_value(name, named).into());
            }
            None => {
                return Err(
                    Refusal::missing_parameter(POST_ID.name_in(call.spoken().vocabulary)).into(),
                );
            }
        };
        set(&call, user, post).await
    })
}

/// `POST /2/users/{id}/bookmarks/folders`.
pub(crate) fn create_folder(call: Call) -> Pending {
    Box::pin(async move {
        let user = call.own("id")?;
        let name = call
            .body()
            .text(VocabularyWord::same_in_both("name"))?
            .to_owned();
        let made = call.write(move |tx| bookmarks::create_folder(tx, user, &name));
        let made = made.await?;
        call.say(json!({ "id": made.id.to_string(), "name": made.name }))
    })
}

/// `GET /2/users/{id}/bookmarks/folders`.
pub(crate) fn folders(call: Call) -> Pending {
    Box::pin(async move {
        let (user, page) = (call.own("id")?, call.page()?);
        let (asked, whole) = (linked::span_of(&page), page.clone());
        let found = call.read(move |tx| {
            let all = store::bookmarks::list_folders(tx, user, &asked)?;
            Ok(whole.cut(all, |folder| folder.id))
        });
        let cut = found.await?;
        let rows = cut.rows.iter();
        let rows = rows.map(|folder| json!({ "id": folder.id.to_string(), "name": folder.name }));
        say_rows(&call, rows.collect(), cut.tokens)
    })
}

/// `GET /2/users/{id}/bookmarks/folders/{folder_id}`.
pub(crate) fn of_folder(call: Call) -> Pending {
    Box::pin(async move {
        let user = call.own("id")?;
        let (folder, page): (PostId, _) = (call.path_id("folder_id")?, call.page()?);
        let (asked, whole) = (linked::span_of(&page), page.clone());
        let found = call.read(move |tx| {
            let all = bookmarks::list_folder_bookmarks(tx, user, folder.get(), &asked)?;
            Ok(whole.cut(all, |edge| edge.1))
        });
        let cut = match found.await {
            Ok(cut) => cut,
            Err(Error::Refused(refusal @ Refusal::NotFound(_))) => {
                return call.answer(&linked::nothing(refusal));
            }
            Err(stop) => return Err(stop),
        };
        let rows = cut.rows.iter();
        let rows = rows.map(|edge| json!({ "id": edge.0.to_string() }));
        say_rows(&call, rows.collect(), cut.tokens)
    })
}

/// Rows that have no projection; their pages lead onwards only.
fn say_rows(call: &Call, rows: Vec<Value>, tokens: Tokens) -> Result<Reply, Error> {
    let onwards = Tokens {
        previous: None,
        ..tokens
    };
    let meta: Map<String, Value> = onwards.meta(rows.len());
    let answer = ResponsePayload {
        count: rows.len(),
        data: if rows.is_empty() {
            String::new()
        } else {
            Value::Array(rows).to_string()
        },
        ..ResponsePayload::default()
    };
    call.answer_with(&answer, Some(meta))
}
