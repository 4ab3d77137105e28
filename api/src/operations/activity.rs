//! Activity subscriptions and their stream.

use base::{Scope, Scopes};
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter, per_quarter_hour};

use super::shared::{BACKFILL, SPAN, app_endpoint, app_stream, page_params};
use crate::v2::activity;

pub static ACTIVITY: &[Endpoint] = &[
    Endpoint::post("createActivitySubscription", "/2/activity/subscriptions", &activity::subscribe)
        .summary("Subscribes the app to an event type.")
        .permit("1A2", Scopes::NONE)
        .limits(&[per_quarter_hour(500)], &[per_quarter_hour(500)])
        .body(BodySpec::Json(&[
            Parameter::member("event_type", Kind::one_of(EVENT_TYPES)).as_required(),
            Parameter::member("filter", Kind::object(FILTER)).as_required(),
            TAG,
            WEBHOOK_ID,
        ])),
    Endpoint::get("getActivitySubscriptions", "/2/activity/subscriptions", &activity::list_subscriptions)
        .summary("The app's activity subscriptions.")
        .permit("1A2", Scopes::from_slice(&[Scope::TweetRead, Scope::LikeRead]))
        .limits(&[per_quarter_hour(500)], &[per_quarter_hour(500)])
        .params(&[&page_params(1, 1_000, 1_000)]),
    app_endpoint(
        "updateActivitySubscription",
        "PUT",
        "/2/activity/subscriptions/{subscription_id}",
        &activity::update_subscription,
    )
    .summary("Updates the tag or the webhook of a subscription.")
    .limits(&[per_quarter_hour(500)], &[])
    .params(&[SUBSCRIPTION])
    .body(BodySpec::Json(&[TAG, WEBHOOK_ID])),
    app_endpoint(
        "deleteActivitySubscription",
        "DELETE",
        "/2/activity/subscriptions/{subscription_id}",
        &activity::delete_subscription,
    )
    .summary("Deletes a subscription.")
    .limits(&[per_quarter_hour(500)], &[])
    .params(&[SUBSCRIPTION]),
    app_endpoint(
        "deleteActivitySubscriptionsByIds",
        "DELETE",
        "/2/activity/subscriptions",
        &activity::delete_subscriptions,
    )
    .summary("Deletes subscriptions by id.")
    .params(&[&[Parameter::query("ids", Kind::ID.list(1, 100), "The ids of the subscriptions.").as_required()]]),
    app_stream("activityStream", "/2/activity/stream", &activity::open_stream)
        .summary("Events of the app's subscriptions, as they happen.")
        .limits(&[per_quarter_hour(450)], &[])
        .params(&[BACKFILL, SPAN]),
];

const SUBSCRIPTION: &[Parameter] = &[Parameter::path_id("subscription_id", "The id of the subscription.")];
const TAG: Parameter = Parameter::member("tag", Kind::text(1, 200));
const WEBHOOK_ID: Parameter = Parameter::member("webhook_id", Kind::ID);

const FILTER: &[Parameter] = &[
    Parameter::member("user_id", Kind::ID),
    Parameter::member("keyword", Kind::text(1, 150)),
    Parameter::member("direction", Kind::one_of(&["inbound", "outbound", "sent", "received", "both"])),
];

/// Includes older spellings.
const EVENT_TYPES: &[&str] = &network::activity::EVENT_NAMES;
