//! Activity subscriptions and their stream.

use std::sync::Arc;

use base::{Error, Refusal, UserId};
use deliver::activity as events;
use deliver::streams::{ConnectionRequest, StreamEndpoint};
use network::activity::{self, NewActivitySubscription};
use query::{AccessTier, QueryDialect, QueryProduct};
use serde_json::{Map, Value, json};
use store::activity::{self as stored, ActivitySubscription};
use web::body;
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages::edge_range;
use super::streams;

const TAG: &str = "tag";
const WEBHOOK_ID: &str = "webhook_id";

pub(crate) async fn subscribe(call: RequestContext) -> Result<HttpReply, Error> {
    let subscriber = call.require_caller()?.activity_subscriber();
    let new = parse_subscription(&call)?;
    check_keyword(&new.keyword, subscriber.enterprise)?;
    events::wait_for_readers_if_frozen(call.store(), call.stream_hub()).await;
    let (subscription, total) = call
        .write(move |tx| {
            let subscription = activity::subscribe(tx, &subscriber, &new)?;
            Ok((subscription, stored::count(tx, subscriber.app)?))
        })
        .await?;
    respond_subscription(&call, &subscription, total)
}

fn parse_subscription(call: &RequestContext) -> Result<NewActivitySubscription, Error> {
    let body = call.body();
    let filter = body.optional_object("filter");
    let text = |name| {
        let text = filter.and_then(|filter| filter.optional_text(name));
        text.unwrap_or_default().to_owned()
    };
    Ok(NewActivitySubscription {
        event_type: body.required_text("event_type")?.to_owned(),
        user_id: filter.and_then(|filter| filter.optional_id("user_id")),
        keyword: text("keyword"),
        direction: text("direction"),
        tag: body.optional_text(TAG).unwrap_or_default().to_owned(),
        webhook_id: body_webhook_id(body),
    })
}

fn body_webhook_id(body: body::BodyMembers<'_>) -> Option<i64> {
    body.optional_id::<()>(WEBHOOK_ID).map(base::Id::get)
}

/// A keyword is validated like a rule of the filtered stream.
fn check_keyword(keyword: &str, enterprise: bool) -> Result<(), Refusal> {
    if keyword.is_empty() {
        return Ok(());
    }
    let level = if enterprise { AccessTier::Enterprise } else { AccessTier::SelfServe };
    let read = query::parse(keyword, QueryDialect::new(QueryProduct::Stream, level));
    read.map(drop).map_err(|problems| {
        let details = problems.details().join(", ");
        let message = format!("There were errors processing your request: {details}");
        Refusal::invalid_parameter("filter.keyword", keyword, message)
    })
}

/// `GET /2/activity/subscriptions`: newest first; with a user token, only the user's own.
pub(crate) async fn list_subscriptions(call: RequestContext) -> Result<HttpReply, Error> {
    let caller = call.require_caller()?;
    let (app, maker) = (caller.app_id, caller.user);
    let page = call.page_request()?;
    let range = edge_range(&page);
    let (found, total) = call
        .read(move |tx| {
            let found = stored::list_by_app(tx, app, maker, &range)?;
            Ok((found, stored::count(tx, app)?))
        })
        .await?;
    let slice = page.slice_rows(found, |one| one.id);
    let mut meta = slice.tokens.to_meta(slice.rows.len());
    meta.insert("total_subscriptions".to_owned(), json!(total));
    let data: Vec<Value> = slice.rows.iter().map(subscription_members).map(Value::Object).collect();
    call.respond_json(&json!({ "data": data, "meta": meta }))
}

pub(crate) async fn update_subscription(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, id) = (call.require_caller()?.app_id, call.path_id::<()>("subscription_id")?);
    let body = call.body();
    if body.as_map().is_empty() {
        let message = "One of `tag` and `webhook_id` must be there";
        return Err(Refusal::invalid_parameter("tag", "", message).into());
    }
    let (tag, webhook) = (body.optional_text(TAG).map(str::to_owned), body_webhook_id(body));
    let (subscription, total) = call
        .write(move |tx| {
            let one = activity::update(tx, app, id.get(), tag.as_deref(), webhook)?;
            Ok((one, stored::count(tx, app)?))
        })
        .await?;
    respond_subscription(&call, &subscription, total)
}

pub(crate) async fn delete_subscription(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, id) = (call.require_caller()?.app_id, call.path_id::<()>("subscription_id")?);
    events::wait_for_readers(call.store(), call.stream_hub()).await;
    let total = call
        .write(move |tx| {
            activity::delete(tx, app, id.get())?;
            Ok(stored::count(tx, app)?)
        })
        .await?;
    call.respond_json(&json!({
        "data": { "deleted": true },
        "meta": { "total_subscriptions": total },
    }))
}

/// `DELETE /2/activity/subscriptions`: deletes each id on its own.
pub(crate) async fn delete_subscriptions(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, ids) = (call.require_caller()?.app_id, call.query_ids::<()>("ids"));
    let requested = ids.clone();
    events::wait_for_readers(call.store(), call.stream_hub()).await;
    let (deleted, total) = call
        .write(move |tx| {
            let mut deleted = Vec::with_capacity(requested.len());
            for id in &requested {
                deleted.push(stored::delete(tx, app, id.get())?);
            }
            Ok((deleted, stored::count(tx, app)?))
        })
        .await?;
    let all = || ids.iter().zip(&deleted);
    let data: Vec<Value> =
        all().map(|(id, deleted)| json!({ "subscription_id": id.to_string(), "deleted": deleted })).collect();
    let errors: Vec<Value> = all()
        .filter(|(_, deleted)| !**deleted)
        .map(|(id, _)| {
            json!({
                "subscription_id": id.to_string(),
                "message": format!("Could not find activity_subscription with ids: [{id}]."),
                "reason": "SubscriptionNotFound",
            })
        })
        .collect();
    let mut body = json!({ "data": data, "meta": { "total_subscriptions": total } });
    if let Some(members) = body.as_object_mut().filter(|_| !errors.is_empty()) {
        members.insert("errors".to_owned(), Value::Array(errors));
    }
    call.respond_json(&body)
}

/// The subscription in both places where clients read it (contract core §13.9).
fn respond_subscription(call: &RequestContext, one: &ActivitySubscription, total: i64) -> Result<HttpReply, Error> {
    let mut data = subscription_members(one);
    data.insert("subscription".to_owned(), Value::Object(subscription_members(one)));
    data.insert("total_subscriptions".to_owned(), json!(total));
    call.respond_json(&json!({ "data": data, "meta": { "total_subscriptions": total } }))
}

fn subscription_members(one: &ActivitySubscription) -> Map<String, Value> {
    let text = |text: &str| (!text.is_empty()).then(|| json!(text));
    let filter = [
        ("user_id", one.user_id.map(|id: UserId| json!(id.to_string()))),
        ("keyword", text(&one.keyword)),
        ("direction", text(&one.direction_name)),
    ];
    let members = [
        ("subscription_id", text(&one.id.to_string())),
        ("event_type", text(&one.event_type)),
        ("filter", Some(Value::Object(present_members(filter)))),
        ("tag", text(&one.tag)),
        ("webhook_id", one.webhook_id.map(|id| json!(id.to_string()))),
        ("created_at", text(&one.created_at.to_string())),
        ("updated_at", text(&one.updated_at.to_string())),
    ];
    present_members(members)
}

fn present_members<const N: usize>(members: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let members = members.into_iter();
    members.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Limit of a connection of a self-serve app.
const MAX_EVENTS_PER_SECOND: u32 = 250;
pub(crate) async fn open_stream(call: RequestContext) -> Result<HttpReply, Error> {
    let subscriber = call.require_caller()?.activity_subscriber();
    let replay = streams::parse_replay(&call, subscriber.enterprise)?;
    let request = ConnectionRequest {
        app: subscriber.app,
        endpoint: StreamEndpoint::Activity,
        partition: 1,
        replay: replay.as_ref().is_some_and(|replay| replay.until.is_some()),
        max_connections: StreamEndpoint::Activity.max_connections(subscriber.enterprise),
        max_per_second: (!subscriber.enterprise).then_some(MAX_EVENTS_PER_SECOND),
        client: call.client_address(),
    };
    let session = call.stream_hub().open(request).await?;
    let feed = session.feed();
    let context = call.state.event_context();
    let store = Arc::clone(call.store());
    Ok(call.respond_stream(match replay {
        Some(replay) => feed.after_backfill(events::replay_activity(store, session, context, replay)),
        None => feed,
    }))
}
