//! Account Activity: all events of an account, sent to a webhook.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Parameter};

use super::shared::{READ, WEBHOOK, app_endpoint};
use crate::v2;

pub static ACCOUNT_ACTIVITY: &[Endpoint] = &[
    Endpoint::new("createAccountActivitySubscription", "POST", SUBSCRIPTIONS)
        .summary("Sends all activity of the authenticated user's account to a webhook.")
        .permit("12", SCOPES)
        .params(&[WEBHOOK])
        .body(BodySpec::Json(&[]))
        .handler(&v2::account_activity::subscribe),
    Endpoint::new("validateAccountActivitySubscription", "GET", SUBSCRIPTIONS)
        .summary("Whether a webhook receives the activity of the authenticated user's account.")
        .permit("12", SCOPES)
        .params(&[WEBHOOK])
        .handler(&v2::account_activity::check_subscription),
    app_endpoint(
        "getAccountActivitySubscriptions",
        "GET",
        "/2/account_activity/webhooks/{webhook_id}/subscriptions/all/list",
    )
    .summary("The accounts whose activity a webhook receives.")
    .params(&[WEBHOOK])
    .handler(&v2::account_activity::list_subscriptions),
    app_endpoint(
        "deleteAccountActivitySubscription",
        "DELETE",
        "/2/account_activity/webhooks/{webhook_id}/subscriptions/{user_id}/all",
    )
    .summary("Stops sending the activity of an account to a webhook.")
    .params(&[WEBHOOK, &[Parameter::path_id("user_id", "The id of the user.")]])
    .handler(&v2::account_activity::unsubscribe),
    app_endpoint("getAccountActivitySubscriptionCount", "GET", "/2/account_activity/subscriptions/count")
        .summary("The number of accounts the app is subscribed to, and its limit.")
        .handler(&v2::account_activity::count_subscriptions),
];

const SUBSCRIPTIONS: &str = "/2/account_activity/webhooks/{webhook_id}/subscriptions/all";
const SCOPES: Scopes = READ.with_scope(Scope::DmRead).with_scope(Scope::DmWrite);
