//! Users, looked up.

use base::{Error, UserId};
use store::users as stored;
use view::LookupKeys;

use super::wants_users;
use crate::call::{Call, Reply};
use crate::endpoint::Pending;

/// `GET /2/users`.
pub(crate) fn by_ids(call: Call) -> Pending {
    Box::pin(async move {
        let ids: Vec<UserId> = call.ids("ids");
        let (viewer, wants, spoken) = (call.viewer(), wants_users(&call)?, call.spoken());
        let found = call.read(move |tx| {
            let found = stored::find_by_ids(tx, &ids)?;
            let asked = LookupKeys {
                parameter: "ids",
                values: &ids,
            };
            Ok(view::render_user_lookup(
                tx, viewer, found, &wants, spoken, asked,
            )?)
        });
        call.answer(&found.await?)
    })
}

/// `GET /2/users/{id}`.
pub(crate) fn by_id(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.path_id("id")?;
        one(&call, id).await
    })
}

/// `GET /2/users/me`.
pub(crate) fn me(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.user()?;
        one(&call, id).await
    })
}

async fn one(call: &Call, id: UserId) -> Result<Reply, Error> {
    let (viewer, wants, spoken) = (call.viewer(), wants_users(call)?, call.spoken());
    let found = call.read(move |tx| {
        let found = stored::find_by_id(tx, id)?;
        let asked = LookupKeys {
            parameter: "id",
            values: &[id],
        };
        Ok(view::render_user(tx, viewer, found, &wants, spoken, asked)?)
    });
    call.answer(&found.await?)
}

/// `GET /2/users/by`.
pub(crate) fn by_usernames(call: Call) -> Pending {
    Box::pin(async move {
        let names = call.texts("usernames").to_vec();
        let (viewer, wants, spoken) = (call.viewer(), wants_users(&call)?, call.spoken());
        let found = call.read(move |tx| {
            let asked: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = stored::find_by_usernames(tx, &asked)?;
            let asked = LookupKeys {
                parameter: "usernames",
                values: &names,
            };
            Ok(view::render_user_lookup(
                tx, viewer, found, &wants, spoken, asked,
            )?)
        });
        call.answer(&found.await?)
    })
}

/// `GET /2/users/by/username/{username}`.
pub(crate) fn by_username(call: Call) -> Pending {
    Box::pin(async move {
        let name = call.path_text("username")?.to_owned();
        let (viewer, wants, spoken) = (call.viewer(), wants_users(&call)?, call.spoken());
        let found = call.read(move |tx| {
            let found = stored::find_by_username(tx, &name)?;
            let asked = LookupKeys {
                parameter: "username",
                values: std::slice::from_ref(&name),
            };
            Ok(view::render_user(tx, viewer, found, &wants, spoken, asked)?)
        });
        call.answer(&found.await?)
    })
}
