//! Accounts whose whole activity webhooks receive.

use base::UserId;
use network::account_activity;
use network::activity::ActivitySubscriber;
use serde_json::{Value, json};

use crate::call::Call;
use crate::endpoint::Pending;

/// `POST /2/account_activity/webhooks/{webhook_id}/subscriptions/all`.
pub(crate) fn subscribe(call: Call) -> Pending {
    Box::pin(async move {
        let (asker, user) = (
            ActivitySubscriber::from_caller(call.caller()?),
            call.user()?,
        );
        let webhook = call.path_id::<()>("webhook_id")?.get();
        call.write(move |tx| account_activity::subscribe(tx, &asker, user, webhook))
            .await?;
        call.say(json!({ "subscribed": true }))
    })
}

/// `GET /2/account_activity/webhooks/{webhook_id}/subscriptions/all`.
pub(crate) fn check(call: Call) -> Pending {
    Box::pin(async move {
        let (app, user) = (call.caller()?.app_id, call.user()?);
        let webhook = call.path_id::<()>("webhook_id")?.get();
        let subscribed = call
            .read(move |tx| account_activity::is_subscribed(tx, app, user, webhook))
            .await?;
        call.say(json!({ "subscribed": subscribed }))
    })
}

/// `GET /2/account_activity/webhooks/{webhook_id}/subscriptions/all/list`.
pub(crate) fn list(call: Call) -> Pending {
    Box::pin(async move {
        let app = call.caller()?.app_id;
        let webhook = call.path_id::<()>("webhook_id")?.get();
        let (url, accounts) = call
            .read(move |tx| account_activity::list(tx, app, webhook))
            .await?;
        let accounts = accounts.iter();
        let accounts: Vec<Value> = accounts
            .map(|account| json!({ "user_id": account.user_id.to_string() }))
            .collect();
        call.say(json!({
            "application_id": app.to_string(),
            "webhook_id": webhook.to_string(),
            "webhook_url": url,
            "subscriptions": accounts,
        }))
    })
}

/// `DELETE /2/account_activity/webhooks/{webhook_id}/subscriptions/{user_id}/all`.
pub(crate) fn remove(call: Call) -> Pending {
    Box::pin(async move {
        let app = call.caller()?.app_id;
        let webhook = call.path_id::<()>("webhook_id")?.get();
        let user: UserId = call.path_id("user_id")?;
        call.write(move |tx| account_activity::unsubscribe(tx, app, user, webhook))
            .await?;
        call.say(json!({ "subscribed": false }))
    })
}

/// `GET /2/account_activity/subscriptions/count`.
pub(crate) fn count(call: Call) -> Pending {
    Box::pin(async move {
        let caller = call.caller()?;
        let (app, owner) = (caller.app_id, caller.app.owner_id);
        let most = account_activity::max_subscribed_accounts(
            ActivitySubscriber::from_caller(caller).enterprise,
        );
        let (name, count) = call
            .read(move |tx| Ok(account_activity::count_subscribed_accounts(tx, app, owner)?))
            .await?;
        call.say(json!({
            "account_name": name,
            "provisioned_count": most.to_string(),
            "subscriptions_count_all": count.to_string(),
            "subscriptions_count_direct_messages": "0",
        }))
    })
}
