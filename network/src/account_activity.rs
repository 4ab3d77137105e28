//! Account activity subscriptions: webhooks that receive everything an account does (contract core
//! §7.14, §10.3).

use base::refusal::AuthenticationProblem;
use base::{AppId, Error, Fault, Refusal, Scope, UserId};
use store::account_activity::{self, AccountSubscription};
use store::{Tx, users};

use crate::activity::{ActivitySubscriber, duplicate_subscription, has_consent, lock_app, subscription_limit_exceeded};
use crate::webhooks::find_owned;

const MAX_SELF_SERVE_ACCOUNTS: i64 = 3;
const MAX_ENTERPRISE_ACCOUNTS: i64 = 5_000;

/// The maximum number of accounts an app may subscribe to.
pub const fn max_subscribed_accounts(enterprise: bool) -> i64 {
    if enterprise { MAX_ENTERPRISE_ACCOUNTS } else { MAX_SELF_SERVE_ACCOUNTS }
}

/// Subscribes a webhook of the app to the activity of the user on whose behalf it calls.
pub fn subscribe(tx: &mut Tx<'_>, subscriber: &ActivitySubscriber, user: UserId, webhook: i64) -> Result<(), Error> {
    lock_app(tx, subscriber.app)?;
    crate::users::find_active(tx, user)?;
    find_owned(tx, subscriber.app, webhook)?;
    // The token may have been revoked since the request was authenticated.
    users::lock(tx, user)?;
    if !has_consent(tx, subscriber.app, user, Scope::DmRead)? {
        return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
    }
    if account_activity::exists(tx, webhook, user)? {
        return Err(duplicate_subscription().into());
    }
    let max = max_subscribed_accounts(subscriber.enterprise);
    if account_activity::count(tx, subscriber.app)? >= max {
        return Err(subscription_limit_exceeded(max).into());
    }
    let account =
        AccountSubscription { user_id: user, webhook_id: webhook, app_id: subscriber.app, created_at: tx.now() };
    account_activity::insert(tx, &account)?;
    Ok(())
}

pub fn is_subscribed(tx: &mut Tx<'_>, app: AppId, user: UserId, webhook: i64) -> Result<bool, Error> {
    find_owned(tx, app, webhook)?;
    Ok(account_activity::exists(tx, webhook, user)?)
}

/// The webhook's URL, and the subscribed accounts.
pub fn list(tx: &mut Tx<'_>, app: AppId, webhook: i64) -> Result<(String, Vec<AccountSubscription>), Error> {
    let url = find_owned(tx, app, webhook)?.url;
    Ok((url, account_activity::list_by_webhook(tx, webhook)?))
}

pub fn unsubscribe(tx: &mut Tx<'_>, app: AppId, user: UserId, webhook: i64) -> Result<(), Error> {
    find_owned(tx, app, webhook)?;
    if account_activity::delete(tx, webhook, user)? {
        return Ok(());
    }
    Err(Refusal::Legacy {
        code: 34,
        message: "SubscriptionNotFound: No subscription exists for this user and webhook.".into(),
    }
    .into())
}

/// The username of an app's owner, and the number of subscribed accounts.
pub fn count_subscribed_accounts(tx: &mut Tx<'_>, app: AppId, owner: UserId) -> Result<(String, i64), Fault> {
    let owner = users::find_by_id(tx, owner)?;
    let name = owner.map(|owner| owner.username).unwrap_or_default();
    Ok((name, account_activity::count(tx, app)?))
}
