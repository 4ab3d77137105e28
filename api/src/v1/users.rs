//! Users as v1.1 objects.

use std::collections::HashSet;

use base::refusal::ResourceRef;
use base::{Error, Refusal, UserId, order_by_keys};
use network::users;
use serde_json::Value;
use store::Tx;
use store::users::User;
use web::request_context::{HttpReply, RequestContext};

/// `GET /1.1/account/verify_credentials.json`: includes a confirmed email address for apps that may read it.
pub(crate) async fn verify_credentials(call: RequestContext) -> Result<HttpReply, Error> {
    let (caller, user) = (call.require_caller()?, call.require_user()?);
    let email = call.query_flag("include_email") && caller.may_read_email;
    let found = call.read(move |tx| users::find_active(tx, user)).await?;
    call.respond_json(&view::legacy_user_json(&found, email))
}

/// `GET /1.1/users/show.json`: Ads API clients use it to find the user to post as.
pub(crate) async fn show_user(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.query_id("user_id");
    let name = call.query_text("screen_name").unwrap_or_default().to_owned();
    if id.is_none() && name.is_empty() {
        return Err(Refusal::missing_parameter("user_id").into());
    }
    let found = call.read(move |tx| {
        let named = match id {
            Some(id) => Some(id),
            None => store::users::find_by_username(tx, &name)?.map(|user| user.id),
        };
        let unknown = || Refusal::NotFound(ResourceRef::new("user", "screen_name", &name));
        users::find_target(tx, named.ok_or_else(unknown)?, "user_id")
    });
    call.respond_json(&view::legacy_user_json(&found.await?, false))
}

/// Users of one request.
const MAX_USERS: usize = 100;

/// `GET` and `POST /1.1/users/lookup.json`: unknown and suspended users are omitted.
pub(crate) async fn lookup_users(call: RequestContext) -> Result<HttpReply, Error> {
    let ids = requested_values(&call, "user_id");
    let names = requested_values(&call, "screen_name");
    if ids.len() + names.len() > MAX_USERS {
        return Err(legacy_refusal(18, "Too many terms specified in query."));
    }
    if ids.is_empty() && names.is_empty() {
        return Err(legacy_refusal(25, "Query parameters are missing."));
    }
    let found = call.read(move |tx| find_users(tx, &ids, &names)).await?;
    if found.is_empty() {
        return Err(legacy_refusal(17, "No user matches for specified terms."));
    }
    let shown: Value = found.iter().map(|user| view::legacy_user_json(user, false)).collect();
    call.respond_json(&shown)
}

fn legacy_refusal(code: u16, message: &'static str) -> Error {
    Refusal::Legacy { code, message: message.into() }.into()
}

/// From the form, or else from the query; separated by commas.
fn requested_values(call: &RequestContext, name: &'static str) -> Vec<String> {
    let given = call.body().optional_text(name).unwrap_or_else(|| call.raw_param(name));
    given.split(',').map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

/// In the order of the request, without repetitions.
fn find_users(tx: &mut Tx<'_>, ids: &[String], names: &[String]) -> Result<Vec<User>, Error> {
    let ids: Vec<UserId> = ids.iter().filter_map(|id| UserId::parse(id)).collect();
    let mut found = store::users::find_by_ids(tx, &ids)?;
    order_by_keys(&mut found, &ids, |user| user.id);
    for name in names {
        found.extend(store::users::find_by_username(tx, name)?);
    }
    let mut seen = HashSet::new();
    found.retain(|user| user.state == store::users::UserState::Active && seen.insert(user.id));
    Ok(found)
}
