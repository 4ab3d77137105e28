//! Subscriptions of apps to single kinds of events (contract §10.5): what an app may be told of,
//! and what ends it.

mod event_kinds;

use std::collections::BTreeSet;

use base::refusal::{AuthenticationProblem, RefusalKind, ResourceRef};
use base::{AppId, Error, Fault, Refusal, Scope, Scopes, UserId};
use store::activity::{self, ActivityDirection, ActivitySubscription};
use store::apps::AppStatus as AppState;
use store::users::UserState;
use store::{Tx, account_activity, apps, deliveries, tokens, users};

pub use event_kinds::{
    ActivityEventKind, EVENT_KINDS, EVENT_NAMES, EventAccess, EventParticipant, EventPayloadKind, RequiredFilter,
    event_kinds_for_log_kind, find_event_kind,
};

use crate::apps::{AccessLevel, Caller, Permission};
use crate::grants::parse_stored_scopes;
use crate::webhooks;

/// Subscriptions of an app at most.
const MAX_SELF_SERVE_SUBSCRIPTIONS: i64 = 1_500;
const MAX_ENTERPRISE_SUBSCRIPTIONS: i64 = 75_000;

/// Who subscribes.
#[derive(Clone, Copy, Debug)]
pub struct ActivitySubscriber {
    /// The app.
    pub app: AppId,
    /// The user on whose behalf, if on one's.
    pub user: Option<UserId>,
    /// The scopes of the token, which count for its own user.
    pub scopes: Scopes,
    /// Whether it is an enterprise app.
    pub enterprise: bool,
}

impl ActivitySubscriber {
    /// Who calls.
    pub fn from_caller(caller: &Caller) -> Self {
        Self {
            app: caller.app_id,
            user: caller.user,
            scopes: caller.scopes,
            enterprise: caller.app.access_level == AccessLevel::Enterprise.name(),
        }
    }

    const fn max_subscriptions(&self) -> i64 {
        if self.enterprise {
            MAX_ENTERPRISE_SUBSCRIPTIONS
        } else {
            MAX_SELF_SERVE_SUBSCRIPTIONS
        }
    }
}

/// What an app asks to be told.
#[derive(Clone, Debug, Default)]
pub struct NewActivitySubscription {
    /// The kind of events.
    pub event_type: String,
    /// Whom they are to be about.
    pub user_id: Option<UserId>,
    /// What they are to say; read before it comes here.
    pub keyword: String,
    /// Which way they are to go, as the app wrote it.
    pub direction: String,
    /// The app's own label, or empty.
    pub tag: String,
    /// The webhook that shall receive them too.
    pub webhook_id: Option<i64>,
}

/// Subscribes an app.
pub fn subscribe(
    tx: &mut Tx<'_>,
    asker: &ActivitySubscriber,
    wish: &NewActivitySubscription,
) -> Result<ActivitySubscription, Error> {
    let (kind, event_type) = resolve_event_kind(wish)?;
    let direction = validate_filter(kind, wish)?;
    lock_app(tx, asker.app)?;
    if kind.access == EventAccess::Enterprise && !asker.enterprise {
        let required = "enterprise";
        return Err(Refusal::NotEnrolled { required }.into());
    }
    if let Some(user) = wish.user_id {
        authorize_user(tx, asker, kind, user)?;
    }
    if let Some(webhook) = wish.webhook_id {
        webhooks::find_owned(tx, asker.app, webhook)?;
    }
    let now = tx.now();
    let new = ActivitySubscription {
        id: tx.next_id::<()>().get(),
        app_id: asker.app,
        event_type: event_type.to_owned(),
        user_id: wish.user_id,
        keyword: wish.keyword.clone(),
        direction,
        direction_name: wish.direction.clone(),
        tag: wish.tag.clone(),
        webhook_id: wish.webhook_id,
        authorizing_user_id: asker.user,
        requires_consent: kind.is_private(),
        created_at: now,
        updated_at: now,
    };
    if activity::count(tx, asker.app)? >= asker.max_subscriptions() {
        let most = asker.max_subscriptions();
        return Err(subscription_limit_exceeded(most).into());
    }
    if !activity::insert(tx, &new)? {
        return Err(duplicate_subscription().into());
    }
    Ok(new)
}

fn resolve_event_kind(wish: &NewActivitySubscription) -> Result<(&'static ActivityEventKind, &'static str), Refusal> {
    find_event_kind(&wish.event_type).ok_or_else(|| Refusal::invalid_value("event_type", &wish.event_type))
}

/// Whether a filter names what the kind needs, and nothing that it cannot tell apart; the
/// direction that it names.
fn validate_filter(
    kind: &ActivityEventKind,
    wish: &NewActivitySubscription,
) -> Result<Option<ActivityDirection>, Refusal> {
    match (kind.filter, wish.user_id) {
        (RequiredFilter::User, None) => return Err(Refusal::missing_parameter("filter.user_id")),
        (RequiredFilter::Keyword | RequiredFilter::Nothing, Some(user)) => {
            return Err(unsupported_filter("filter.user_id", user, kind));
        }
        _ => {}
    }
    if kind.filter == RequiredFilter::Keyword && wish.keyword.is_empty() {
        return Err(Refusal::missing_parameter("filter.keyword"));
    }
    if kind.filter == RequiredFilter::Nothing && !wish.keyword.is_empty() {
        return Err(unsupported_filter("filter.keyword", &wish.keyword, kind));
    }
    if !wish.direction.is_empty() && !kind.directional {
        return Err(unsupported_filter("filter.direction", &wish.direction, kind));
    }
    Ok(match wish.direction.as_str() {
        "inbound" | "received" => Some(ActivityDirection::Inbound),
        "outbound" | "sent" => Some(ActivityDirection::Outbound),
        _ => None,
    })
}

fn unsupported_filter(parameter: &'static str, value: impl ToString, kind: &ActivityEventKind) -> Refusal {
    let message = format!("`{parameter}` is not supported for {} events", kind.name);
    Refusal::invalid_parameter(parameter, value, message)
}

/// Whether the user is there and has let the app see what the kind tells.
fn authorize_user(
    tx: &mut Tx<'_>,
    asker: &ActivitySubscriber,
    kind: &ActivityEventKind,
    id: UserId,
) -> Result<(), Error> {
    let subject = || ResourceRef::new("user", "filter.user_id", id);
    let user = users::find_by_id(tx, id)?;
    match user.map(|user| user.state) {
        Some(UserState::Active) => {}
        Some(UserState::Suspended) => return Err(Refusal::Suspended(subject()).into()),
        // What is only known by its id does nothing.
        _ => return Err(Refusal::NotFound(subject()).into()),
    }
    let EventAccess::Scoped(scope) = kind.access else {
        return Ok(());
    };
    if asker.user.is_some_and(|user| user != id) {
        return Err(Refusal::NotVisible(subject()).into());
    }
    let own = asker.user.map(|_| asker.scopes);
    let consent = load_consent(tx, asker.app, id, own)?;
    match consent {
        _ if consent.covers(scope) => Ok(()),
        AppConsent::None => Err(Refusal::NotVisible(subject()).into()),
        AppConsent::Level(_) => Err(Refusal::InsufficientAccessLevel.into()),
        AppConsent::Scopes(_) => Err(Refusal::ScopeMissing.into()),
    }
}

/// What a user lets an app see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AppConsent {
    /// Nothing: no token is live.
    None,
    /// An OAuth 1.0a level, which overrides scopes (spec §5).
    Level(Permission),
    /// OAuth 2.0 scopes.
    Scopes(Scopes),
}

impl AppConsent {
    /// Whether it lets the app see what a scope is for.
    fn covers(self, scope: Scope) -> bool {
        match self {
            Self::None => false,
            Self::Level(level) => level >= required_permission(scope),
            Self::Scopes(scopes) => scopes.contains(scope),
        }
    }
}

/// What a user lets an app see, by its live tokens; `own` are the scopes of the token at hand.
fn load_consent(tx: &mut Tx<'_>, app: AppId, user: UserId, own: Option<Scopes>) -> Result<AppConsent, Fault> {
    let levels = tokens::live_permissions(tx, app, user)?;
    let levels: Result<Vec<Permission>, Fault> = levels.iter().map(|level| level.parse()).collect();
    if let Some(level) = levels?.into_iter().max() {
        return Ok(AppConsent::Level(level));
    }
    if let Some(own) = own {
        return Ok(AppConsent::Scopes(own));
    }
    let live = tokens::live_scopes(tx, app, user)?;
    if live.is_empty() {
        return Ok(AppConsent::None);
    }
    let mut all = Scopes::NONE;
    for scopes in &live {
        all = parse_stored_scopes(scopes)?.iter().fold(all, Scopes::with_scope);
    }
    Ok(AppConsent::Scopes(all))
}

/// Whether an app may act for a user at all.
pub fn is_authorized(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<bool, Fault> {
    Ok(load_consent(tx, app, user, None)? != AppConsent::None)
}

/// The OAuth 1.0a level that holds a scope.
const fn required_permission(scope: Scope) -> Permission {
    match scope {
        Scope::DmRead => Permission::Messages,
        _ => Permission::Read,
    }
}

/// Two calls at once must not pass a bound together, nor outlive the app.
pub(crate) fn lock_app(tx: &mut Tx<'_>, app: AppId) -> Result<(), Error> {
    apps::lock(tx, app)?;
    if apps::find_by_id(tx, app)?.is_none_or(|app| app.state == AppState::Deleted) {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::App).into());
    }
    Ok(())
}

/// A subscription or an account that is there already.
pub(crate) fn duplicate_subscription() -> Refusal {
    Refusal::NamedReason {
        kind: RefusalKind::Conflict,
        parameter: "",
        value: String::new(),
        message: "DuplicateSubscriptionFailed: Subscription already exists.".into(),
        code: Some(355),
    }
}

/// More than an app may have.
pub(crate) fn subscription_limit_exceeded(most: i64) -> Refusal {
    Refusal::forbidden(format!(
        "SubscriptionLimitExceeded: An app has at most {most} subscriptions."
    ))
}

/// Changes the label or the webhook of a subscription.
pub fn update(
    tx: &mut Tx<'_>,
    app: AppId,
    id: i64,
    tag: Option<&str>,
    webhook: Option<i64>,
) -> Result<ActivitySubscription, Error> {
    lock_app(tx, app)?;
    let found = activity::find_by_id(tx, app, id)?;
    let mut one = found.ok_or_else(|| Refusal::NotFound(subscription_ref(id)))?;
    if let Some(webhook) = webhook {
        webhooks::find_owned(tx, app, webhook)?;
        one.webhook_id = Some(webhook);
    }
    if let Some(tag) = tag {
        tag.clone_into(&mut one.tag);
    }
    if activity::find_duplicate(tx, &one)?.is_some_and(|other| other != id) {
        return Err(duplicate_subscription().into());
    }
    one.updated_at = tx.now();
    activity::update(tx, &one)?;
    Ok(one)
}

/// Ends a subscription.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Error> {
    if activity::delete(tx, app, id)? {
        return Ok(());
    }
    Err(Refusal::NotFound(subscription_ref(id)).into())
}

fn subscription_ref(id: i64) -> ResourceRef {
    ResourceRef::new("activity_subscription", "subscription_id", id)
}

/// Ends what stands on what a user has let an app see and does not let it see any more: some of
/// its tokens are dead. The webhooks that received the account's activity until now. No app:
/// every app, of which no token is left.
pub(crate) fn end_unauthorized_subscriptions(
    tx: &mut Tx<'_>,
    user: UserId,
    app: Option<AppId>,
) -> Result<Vec<i64>, Fault> {
    let left = match app {
        Some(app) => load_consent(tx, app, user, None)?,
        None => AppConsent::None,
    };
    let mut ended = BTreeSet::new();
    for one in activity::list_by_users(tx, &[user.get()])? {
        let kind = find_event_kind(&one.event_type).map(|(kind, _)| kind.access);
        let covered = match kind {
            Some(EventAccess::Scoped(scope)) => left.covers(scope),
            _ => true,
        };
        if !covered && app.is_none_or(|app| app == one.app_id) {
            activity::delete(tx, one.app_id, one.id)?;
            ended.extend(one.webhook_id);
        }
    }
    let mut accounts = Vec::new();
    if !left.covers(Scope::DmRead) {
        accounts = account_activity::delete_by_user(tx, user, app)?;
        ended.extend(&accounts);
    }
    for webhook in ended {
        deliveries::withdraw_consent(tx, webhook, user)?;
    }
    Ok(accounts)
}

/// Ends every subscription about a user who does not take part any more.
pub(crate) fn end_user_subscriptions(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    end_unauthorized_subscriptions(tx, user, None)?;
    activity::delete_by_user(tx, user).map(drop)
}

/// Ends every subscription that a webhook receives which is removed.
pub(crate) fn end_webhook_subscriptions(tx: &mut Tx<'_>, webhook: i64) -> Result<(), Fault> {
    activity::delete_by_webhook(tx, webhook)?;
    account_activity::delete_by_webhook(tx, webhook).map(drop)
}

/// Ends every subscription of an app that is deleted.
pub(crate) fn end_app_subscriptions(tx: &mut Tx<'_>, app: AppId) -> Result<(), Fault> {
    activity::delete_by_app(tx, app)?;
    account_activity::delete_by_app(tx, app).map(drop)
}
