//! Activity: single kinds of events, subscribed to one by one.

use base::{Scope, Scopes};

use super::shared::{BACKFILL, SPAN, page};
use crate::endpoint::{Body, Endpoint, Kind, Member, Param, Shape, quarter};
use crate::v2;

/// Subscriptions and their stream.
pub static ACTIVITY: &[Endpoint] = &[
    Endpoint::new(
        "createActivitySubscription",
        "POST",
        "/2/activity/subscriptions",
    )
    .about("Subscribes the app to a kind of events.")
    .permit("1A2", Scopes::NONE)
    .limits(&[quarter(500)], &[quarter(500)])
    .body(Body::Json(&[
        Member::new("event_type", Shape::OneOf(EVENT_TYPES)).required(),
        Member::new("filter", Shape::Object(FILTER)).required(),
        TAG,
        WEBHOOK_ID,
    ]))
    .act(v2::activity::subscribe),
    Endpoint::new(
        "getActivitySubscriptions",
        "GET",
        "/2/activity/subscriptions",
    )
    .about("The app's subscriptions.")
    .permit(
        "1A2",
        Scopes::from_slice(&[Scope::TweetRead, Scope::LikeRead]),
    )
    .limits(&[quarter(500)], &[quarter(500)])
    .params(&[&page(1, 1_000, 1_000)])
    .act(v2::activity::list),
    Endpoint::new(
        "updateActivitySubscription",
        "PUT",
        "/2/activity/subscriptions/{subscription_id}",
    )
    .about("Changes the tag or the webhook of a subscription.")
    .permit("A", Scopes::NONE)
    .limits(&[quarter(500)], &[])
    .params(&[SUBSCRIPTION])
    .body(Body::Json(&[TAG, WEBHOOK_ID]))
    .act(v2::activity::update),
    Endpoint::new(
        "deleteActivitySubscription",
        "DELETE",
        "/2/activity/subscriptions/{subscription_id}",
    )
    .about("Ends a subscription.")
    .permit("A", Scopes::NONE)
    .limits(&[quarter(500)], &[])
    .params(&[SUBSCRIPTION])
    .act(v2::activity::remove),
    Endpoint::new(
        "deleteActivitySubscriptionsByIds",
        "DELETE",
        "/2/activity/subscriptions",
    )
    .about("Ends these subscriptions.")
    .permit("A", Scopes::NONE)
    .params(&[&[
        Param::query("ids", Kind::Ids(1, 100), "The ids of the subscriptions.").required(),
    ]])
    .act(v2::activity::remove_many),
    Endpoint::new("activityStream", "GET", "/2/activity/stream")
        .about("Events of the app's subscriptions, as they happen.")
        .permit("A", Scopes::NONE)
        .limits(&[quarter(450)], &[])
        .params(&[BACKFILL, SPAN])
        .act(v2::activity::stream),
];

const SUBSCRIPTION: &[Param] = &[Param::id("subscription_id", "The id of the subscription.")];
const TAG: Member = Member::new("tag", Shape::Text(1, 200));
const WEBHOOK_ID: Member = Member::new("webhook_id", Shape::Id);

const FILTER: &[Member] = &[
    Member::new("user_id", Shape::Id),
    Member::new("keyword", Shape::Text(1, 150)),
    Member::new(
        "direction",
        Shape::OneOf(&["inbound", "outbound", "sent", "received", "both"]),
    ),
];

/// Older names among them, in another case.
const EVENT_TYPES: &[&str] = &network::activity::EVENT_NAMES;
