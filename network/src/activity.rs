//! Activity subscriptions: an app's subscriptions to single event types (contract core §10.5), and
//! what ends them.

mod event_kinds;
mod log_entry;

use std::collections::BTreeSet;

use base::refusal::{AuthenticationProblem, RefusalKind, ResourceRef};
use base::{AppId, Error, Fault, Refusal, Scope, Scopes, UserId};
use store::activity::{self, ActivityDirection, ActivitySubscription};
use store::apps::AppStatus;
use store::users::UserState;
use store::{Tx, account_activity, apps, deliveries, tokens, users};

pub use event_kinds::{
    ActivityEventKind, EVENT_KINDS, EVENT_NAMES, EventAccess, EventParticipant, EventPayloadKind, RequiredFilter,
    event_kinds_for_log_kind, find_event_kind,
};
pub use log_entry::{ActivityEntry, AffectedUser};

use crate::permissions::{Permission, parse_stored_scopes};
use crate::webhooks;

const MAX_SELF_SERVE_SUBSCRIPTIONS: i64 = 1_500;
const MAX_ENTERPRISE_SUBSCRIPTIONS: i64 = 75_000;

#[derive(Clone, Copy, Debug)]
pub struct ActivitySubscriber {
    pub app: AppId,
    /// The user on whose behalf the app acts.
    pub user: Option<UserId>,
    /// The token's scopes, which apply to its own user.
    pub scopes: Scopes,
    pub enterprise: bool,
}

impl ActivitySubscriber {
    const fn max_subscriptions(&self) -> i64 {
        if self.enterprise { MAX_ENTERPRISE_SUBSCRIPTIONS } else { MAX_SELF_SERVE_SUBSCRIPTIONS }
    }
}

#[derive(Clone, Debug, Default)]
pub struct NewActivitySubscription {
    pub event_type: String,
    pub user_id: Option<UserId>,
    /// A validated query over the event's text, or empty.
    pub keyword: String,
    /// The direction as the app wrote it, or empty.
    pub direction: String,
    /// The app's own label, or empty.
    pub tag: String,
    /// A webhook that receives the events as well as the stream.
    pub webhook_id: Option<i64>,
}

pub fn subscribe(
    tx: &mut Tx<'_>,
    subscriber: &ActivitySubscriber,
    new: &NewActivitySubscription,
) -> Result<ActivitySubscription, Error> {
    let (kind, event_type) = resolve_event_kind(new)?;
    let direction = validate_filter(kind, new)?;
    lock_app(tx, subscriber.app)?;
    if kind.access == EventAccess::Enterprise && !subscriber.enterprise {
        let required = "enterprise";
        return Err(Refusal::NotEnrolled { required }.into());
    }
    if let Some(user) = new.user_id {
        authorize_user(tx, subscriber, kind, user)?;
    }
    if let Some(webhook) = new.webhook_id {
        webhooks::find_owned(tx, subscriber.app, webhook)?;
    }
    let now = tx.now();
    let subscription = ActivitySubscription {
        id: tx.next_id::<()>().get(),
        app_id: subscriber.app,
        event_type: event_type.to_owned(),
        user_id: new.user_id,
        keyword: new.keyword.clone(),
        direction,
        direction_name: new.direction.clone(),
        tag: new.tag.clone(),
        webhook_id: new.webhook_id,
        authorizing_user_id: subscriber.user,
        requires_consent: kind.is_private(),
        created_at: now,
        updated_at: now,
    };
    if activity::count(tx, subscriber.app)? >= subscriber.max_subscriptions() {
        let max = subscriber.max_subscriptions();
        return Err(subscription_limit_exceeded(max).into());
    }
    if !activity::insert(tx, &subscription)? {
        return Err(duplicate_subscription().into());
    }
    Ok(subscription)
}

fn resolve_event_kind(new: &NewActivitySubscription) -> Result<(&'static ActivityEventKind, &'static str), Refusal> {
    find_event_kind(&new.event_type).ok_or_else(|| Refusal::invalid_value("event_type", &new.event_type))
}

/// Checks that a filter has what the event kind requires and nothing that it does not support; returns the direction.
fn validate_filter(
    kind: &ActivityEventKind,
    new: &NewActivitySubscription,
) -> Result<Option<ActivityDirection>, Refusal> {
    match (kind.filter, new.user_id) {
        (RequiredFilter::User, None) => return Err(Refusal::missing_parameter("filter.user_id")),
        (RequiredFilter::Keyword | RequiredFilter::Nothing, Some(user)) => {
            return Err(unsupported_filter("filter.user_id", user, kind));
        }
        _ => {}
    }
    if kind.filter == RequiredFilter::Keyword && new.keyword.is_empty() {
        return Err(Refusal::missing_parameter("filter.keyword"));
    }
    if !new.keyword.is_empty() && !kind.has_text() {
        return Err(unsupported_filter("filter.keyword", &new.keyword, kind));
    }
    if !new.direction.is_empty() && !kind.directional {
        return Err(unsupported_filter("filter.direction", &new.direction, kind));
    }
    Ok(match new.direction.as_str() {
        "inbound" | "received" => Some(ActivityDirection::Inbound),
        "outbound" | "sent" => Some(ActivityDirection::Outbound),
        _ => None,
    })
}

fn unsupported_filter(parameter: &'static str, value: impl ToString, kind: &ActivityEventKind) -> Refusal {
    let message = format!("`{parameter}` is not supported for {} events", kind.name);
    Refusal::invalid_parameter(parameter, value, message)
}

/// Checks that the user is active and has allowed the app to see events of this kind.
fn authorize_user(
    tx: &mut Tx<'_>,
    subscriber: &ActivitySubscriber,
    kind: &ActivityEventKind,
    id: UserId,
) -> Result<(), Error> {
    let subject = || ResourceRef::new("user", "filter.user_id", id);
    let user = users::find_by_id(tx, id)?;
    match user.map(|user| user.state) {
        Some(UserState::Active) => {}
        Some(UserState::Suspended) => return Err(Refusal::Suspended(subject()).into()),
        // Placeholders have no activity.
        _ => return Err(Refusal::NotFound(subject()).into()),
    }
    let EventAccess::Scoped(scope) = kind.access else {
        return Ok(());
    };
    if subscriber.user.is_some_and(|user| user != id) {
        return Err(Refusal::NotVisible(subject()).into());
    }
    users::lock(tx, id)?;
    let own_scopes = subscriber.user.map(|_| subscriber.scopes);
    let consent = load_consent(tx, subscriber.app, id, own_scopes)?;
    match consent {
        _ if consent.covers(scope) => Ok(()),
        AppConsent::None => Err(Refusal::NotVisible(subject()).into()),
        AppConsent::Level(_) => Err(Refusal::InsufficientAccessLevel.into()),
        AppConsent::Scopes(_) => Err(Refusal::ScopeMissing.into()),
    }
}

/// What a user allows an app to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AppConsent {
    /// The app has no active token.
    None,
    /// An OAuth 1.0a permission, which overrides scopes (contract core §10.5).
    Level(Permission),
    Scopes(Scopes),
}

impl AppConsent {
    fn covers(self, scope: Scope) -> bool {
        match self {
            Self::None => false,
            Self::Level(level) => level >= required_permission(scope),
            Self::Scopes(scopes) => scopes.contains(scope),
        }
    }
}

/// The user's consent by the app's active tokens; `own_scopes` are the scopes of the current token.
fn load_consent(tx: &mut Tx<'_>, app: AppId, user: UserId, own_scopes: Option<Scopes>) -> Result<AppConsent, Fault> {
    let levels = tokens::live_permissions(tx, app, user)?;
    let levels: Result<Vec<Permission>, Fault> = levels.iter().map(|level| level.parse()).collect();
    if let Some(level) = levels?.into_iter().max() {
        return Ok(AppConsent::Level(level));
    }
    let live = tokens::live_scopes(tx, app, user)?;
    if live.is_empty() {
        return Ok(AppConsent::None);
    }
    if let Some(own_scopes) = own_scopes {
        return Ok(AppConsent::Scopes(own_scopes));
    }
    let mut all = Scopes::NONE;
    for scopes in &live {
        all = parse_stored_scopes(scopes)?.iter().fold(all, Scopes::with_scope);
    }
    Ok(AppConsent::Scopes(all))
}

/// Whether the user's consent covers a scope.
pub(crate) fn has_consent(tx: &mut Tx<'_>, app: AppId, user: UserId, scope: Scope) -> Result<bool, Fault> {
    Ok(load_consent(tx, app, user, None)?.covers(scope))
}

/// Whether the app has an active token of the user.
pub fn is_authorized(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<bool, Fault> {
    Ok(load_consent(tx, app, user, None)? != AppConsent::None)
}

/// The OAuth 1.0a permission that includes a scope.
const fn required_permission(scope: Scope) -> Permission {
    match scope {
        Scope::DmRead => Permission::Messages,
        _ => Permission::Read,
    }
}

/// Serializes changes to an app's subscriptions, so that limits hold; refuses a deleted app.
pub(crate) fn lock_app(tx: &mut Tx<'_>, app: AppId) -> Result<(), Error> {
    apps::lock(tx, app)?;
    if apps::find_by_id(tx, app)?.is_none_or(|app| app.state == AppStatus::Deleted) {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::App).into());
    }
    Ok(())
}

pub(crate) fn duplicate_subscription() -> Refusal {
    Refusal::NamedReason {
        kind: RefusalKind::Conflict,
        parameter: "",
        value: String::new(),
        message: "DuplicateSubscriptionFailed: Subscription already exists.".into(),
        code: Some(355),
    }
}

pub(crate) fn subscription_limit_exceeded(max: i64) -> Refusal {
    let message = format!("SubscriptionLimitExceeded: An app has at most {max} subscriptions.");
    Refusal::named_reason(RefusalKind::Forbidden, "", "", message)
}

pub fn update(
    tx: &mut Tx<'_>,
    app: AppId,
    id: i64,
    tag: Option<&str>,
    webhook: Option<i64>,
) -> Result<ActivitySubscription, Error> {
    lock_app(tx, app)?;
    let found = activity::find_by_id(tx, app, id)?;
    let mut subscription = found.ok_or_else(|| Refusal::NotFound(subscription_ref(id)))?;
    if let Some(webhook) = webhook {
        webhooks::find_owned(tx, app, webhook)?;
        subscription.webhook_id = Some(webhook);
    }
    if let Some(tag) = tag {
        tag.clone_into(&mut subscription.tag);
    }
    if activity::find_duplicate(tx, &subscription)?.is_some_and(|other| other != id) {
        return Err(duplicate_subscription().into());
    }
    subscription.updated_at = tx.now();
    activity::update(tx, &subscription)?;
    Ok(subscription)
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Error> {
    if activity::delete(tx, app, id)? {
        return Ok(());
    }
    Err(Refusal::NotFound(subscription_ref(id)).into())
}

fn subscription_ref(id: i64) -> ResourceRef {
    ResourceRef::new("activity_subscription", "subscription_id", id)
}

/// Ends subscriptions that the user's consent no longer covers, after tokens were revoked; without `app`, for all
/// apps, which have no tokens left. Returns the webhooks that received the account's activity.
pub fn end_unauthorized_subscriptions(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>) -> Result<Vec<i64>, Fault> {
    // Subscriptions wait for it, and then find the consent gone.
    users::lock(tx, user)?;
    let remaining = match app {
        Some(app) => load_consent(tx, app, user, None)?,
        None => AppConsent::None,
    };
    let mut ended = BTreeSet::new();
    for subscription in activity::list_by_users(tx, &[user.get()])? {
        let kind = find_event_kind(&subscription.event_type).map(|(kind, _)| kind.access);
        let covered = match kind {
            Some(EventAccess::Scoped(scope)) => remaining.covers(scope),
            _ => true,
        };
        if !covered && app.is_none_or(|app| app == subscription.app_id) {
            activity::delete(tx, subscription.app_id, subscription.id)?;
            ended.extend(subscription.webhook_id);
        }
    }
    let mut accounts = Vec::new();
    if !remaining.covers(Scope::DmRead) {
        accounts = account_activity::delete_by_user(tx, user, app)?;
        ended.extend(&accounts);
    }
    if remaining == AppConsent::None {
        // Also for webhooks that it subscribed before.
        deliveries::withdraw_app_consent(tx, app, user)?;
    }
    for webhook in ended {
        deliveries::withdraw_consent(tx, webhook, user)?;
    }
    Ok(accounts)
}

pub fn end_user_subscriptions(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    end_unauthorized_subscriptions(tx, user, None)?;
    activity::delete_by_user(tx, user).map(drop)
}

pub(crate) fn end_webhook_subscriptions(tx: &mut Tx<'_>, webhook: i64) -> Result<(), Fault> {
    activity::delete_by_webhook(tx, webhook)?;
    account_activity::delete_by_webhook(tx, webhook).map(drop)
}

pub fn end_app_subscriptions(tx: &mut Tx<'_>, app: AppId) -> Result<(), Fault> {
    activity::delete_by_app(tx, app)?;
    account_activity::delete_by_app(tx, app).map(drop)
}
