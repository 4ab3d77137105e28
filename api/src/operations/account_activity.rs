//! Account Activity: all events of an account, sent to a webhook.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Parameter};

use super::shared::{READ, WEBHOOK, app_endpoint};
use crate::v2::account_activity;

pub static ACCOUNT_ACTIVITY: &[Endpoint] = &[
    Endpoint::post("createAccountActivitySubscription", SUBSCRIPTIONS, &account_activity::subscribe)
        .summary("Sends all activity of the authenticated user's account to a webhook.")
        .permit("12", SCOPES)
        .params(&[WEBHOOK])
        .body(BodySpec::Json(&[])),
    Endpoint::get("validateAccountActivitySubscription", SUBSCRIPTIONS, &account_activity::check_subscription)
        .summary("Whether a webhook receives the activity of the authenticated user's account.")
        .permit("12", SCOPES)
        .params(&[WEBHOOK]),
    app_endpoint(
        "getAccountActivitySubscriptions",
        "GET",
        "/2/account_activity/webhooks/{webhook_id}/subscriptions/all/list",
        &account_activity::list_subscriptions,
    )
    .summary("The accounts whose activity a webhook receives.")
    .params(&[WEBHOOK]),
    app_endpoint(
        "deleteAccountActivitySubscription",
        "DELETE",
        "/2/account_activity/webhooks/{webhook_id}/subscriptions/{user_id}/all",
        &account_activity::unsubscribe,
    )
    .summary("Stops sending the activity of an account to a webhook.")
    .params(&[WEBHOOK, &[Parameter::path_id("user_id", "The id of the user.")]]),
    app_endpoint(
        "getAccountActivitySubscriptionCount",
        "GET",
        "/2/account_activity/subscriptions/count",
        &account_activity::count_subscriptions,
    )
    .summary("The number of accounts the app is subscribed to, and its limit."),
];

const SUBSCRIPTIONS: &str = "/2/account_activity/webhooks/{webhook_id}/subscriptions/all";
const SCOPES: Scopes = READ.with_scope(Scope::DmRead).with_scope(Scope::DmWrite);
