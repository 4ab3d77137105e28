//! Account activity: all that happens to one account, sent to a webhook.

use base::{Scope, Scopes};

use super::shared::{READ, WEBHOOK};
use crate::endpoint::{Body, Endpoint, Param};
use crate::v2;

/// Subscriptions of accounts.
pub static ACCOUNT_ACTIVITY: &[Endpoint] = &[
    Endpoint::new("createAccountActivitySubscription", "POST", SUBSCRIPTIONS)
        .about("Sends what happens to the authenticated user's account to a webhook.")
        .permit("12", SCOPES)
        .params(&[WEBHOOK])
        .body(Body::Json(&[]))
        .act(v2::account_activity::subscribe),
    Endpoint::new("validateAccountActivitySubscription", "GET", SUBSCRIPTIONS)
        .about("Whether a webhook receives what happens to the authenticated user's account.")
        .permit("12", SCOPES)
        .params(&[WEBHOOK])
        .act(v2::account_activity::check),
    Endpoint::new(
        "getAccountActivitySubscriptions",
        "GET",
        "/2/account_activity/webhooks/{webhook_id}/subscriptions/all/list",
    )
    .about("The accounts whose activity a webhook receives.")
    .permit("A", Scopes::NONE)
    .params(&[WEBHOOK])
    .act(v2::account_activity::list),
    Endpoint::new(
        "deleteAccountActivitySubscription",
        "DELETE",
        "/2/account_activity/webhooks/{webhook_id}/subscriptions/{user_id}/all",
    )
    .about("Stops sending what happens to an account to a webhook.")
    .permit("A", Scopes::NONE)
    .params(&[WEBHOOK, &[Param::id("user_id", "The id of the user.")]])
    .act(v2::account_activity::remove),
    Endpoint::new(
        "getAccountActivitySubscriptionCount",
        "GET",
        "/2/account_activity/subscriptions/count",
    )
    .about("How many accounts the app is subscribed to and may be.")
    .permit("A", Scopes::NONE)
    .act(v2::account_activity::count),
];

const SUBSCRIPTIONS: &str = "/2/account_activity/webhooks/{webhook_id}/subscriptions/all";
const SCOPES: Scopes = READ.with_scope(Scope::DmRead).with_scope(Scope::DmWrite);
