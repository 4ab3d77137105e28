//! User lookup.

use base::{Error, UserId};
use store::users as stored;
use view::{LookupKeys, ObjectKind};
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn get_many(call: RequestContext) -> Result<HttpReply, Error> {
    let ids: Vec<UserId> = call.query_ids("ids");
    let request = call.render_request(ObjectKind::USER);
    let found = call.read(move |tx| {
        let found = stored::find_by_ids(tx, &ids)?;
        let lookup = LookupKeys { parameter: "ids", values: &ids };
        Ok(view::render_user_lookup(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn get(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id("id")?;
    respond_user(&call, id).await
}

pub(crate) async fn get_me(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.require_user()?;
    respond_user(&call, id).await
}

async fn respond_user(call: &RequestContext, id: UserId) -> Result<HttpReply, Error> {
    let request = call.render_request(ObjectKind::USER);
    let found = call.read(move |tx| {
        let found = stored::find_by_id(tx, id)?;
        let lookup = LookupKeys { parameter: "id", values: &[id] };
        Ok(view::render_user(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn get_many_by_username(call: RequestContext) -> Result<HttpReply, Error> {
    let names = call.query_texts("usernames");
    let request = call.render_request(ObjectKind::USER);
    let found = call.read(move |tx| {
        let asked: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = stored::find_by_usernames(tx, &asked)?;
        let lookup = LookupKeys { parameter: "usernames", values: &names };
        Ok(view::render_user_lookup(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn get_by_username(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("username")?.to_owned();
    let request = call.render_request(ObjectKind::USER);
    let found = call.read(move |tx| {
        let found = stored::find_by_username(tx, &name)?;
        let lookup = LookupKeys { parameter: "username", values: std::slice::from_ref(&name) };
        Ok(view::render_user(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}
