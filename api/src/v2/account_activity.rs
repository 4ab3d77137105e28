//! Account Activity subscriptions.

use base::{Error, UserId};
use deliver::activity::{wait_for_readers, wait_for_readers_if_frozen};
use network::account_activity;
use serde_json::{Value, json};
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn subscribe(call: RequestContext) -> Result<HttpReply, Error> {
    let (subscriber, user) = (call.require_caller()?.activity_subscriber(), call.require_user()?);
    let webhook = call.path_id::<()>("webhook_id")?.get();
    wait_for_readers_if_frozen(call.store(), call.stream_hub()).await;
    call.write(move |tx| account_activity::subscribe(tx, &subscriber, user, webhook)).await?;
    call.respond_data(json!({ "subscribed": true }))
}

pub(crate) async fn check_subscription(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, user) = (call.require_caller()?.app_id, call.require_user()?);
    let webhook = call.path_id::<()>("webhook_id")?.get();
    let subscribed = call.read(move |tx| account_activity::is_subscribed(tx, app, user, webhook)).await?;
    call.respond_data(json!({ "subscribed": subscribed }))
}

pub(crate) async fn list_subscriptions(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let webhook = call.path_id::<()>("webhook_id")?.get();
    let (url, accounts) = call.read(move |tx| account_activity::list(tx, app, webhook)).await?;
    let accounts = accounts.iter();
    let accounts: Vec<Value> = accounts.map(|account| json!({ "user_id": account.user_id.to_string() })).collect();
    call.respond_data(json!({
        "application_id": app.to_string(),
        "webhook_id": webhook.to_string(),
        "webhook_url": url,
        "subscriptions": accounts,
    }))
}

pub(crate) async fn unsubscribe(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let webhook = call.path_id::<()>("webhook_id")?.get();
    let user: UserId = call.path_id("user_id")?;
    wait_for_readers(call.store(), call.stream_hub()).await;
    call.write(move |tx| account_activity::unsubscribe(tx, app, user, webhook)).await?;
    call.respond_data(json!({ "subscribed": false }))
}

pub(crate) async fn count_subscriptions(call: RequestContext) -> Result<HttpReply, Error> {
    let caller = call.require_caller()?;
    let (app, owner) = (caller.app_id, caller.app.owner_id);
    let max = account_activity::max_subscribed_accounts(caller.activity_subscriber().enterprise);
    let (name, count) = call.read(move |tx| Ok(account_activity::count_subscribed_accounts(tx, app, owner)?)).await?;
    call.respond_data(json!({
        "account_name": name,
        "provisioned_count": max.to_string(),
        "subscriptions_count_all": count.to_string(),
        "subscriptions_count_direct_messages": "0",
    }))
}
