//! Paid subscriptions to authors, for posts and replies reserved to subscribers.

use base::{Error, Refusal, UserId};
use store::{Tx, event_log, subscriptions};

use crate::users;

/// Returns false if the subscription exists.
pub fn subscribe(tx: &mut Tx<'_>, subscriber: UserId, author: UserId) -> Result<bool, Error> {
    users::find_active(tx, subscriber)?;
    users::find_active(tx, author)?;
    if subscriber == author {
        return Err(Refusal::forbidden("You cannot subscribe to yourself.").into());
    }
    let new = subscriptions::insert(tx, subscriber, author)?;
    if new {
        event_log::append(tx, "subscription.begin", subscriber.get(), author.get(), "")?;
    }
    Ok(new)
}

/// Returns false if there is none.
pub fn unsubscribe(tx: &mut Tx<'_>, subscriber: UserId, author: UserId) -> Result<bool, Error> {
    let removed = subscriptions::delete(tx, subscriber, author)?;
    if removed {
        event_log::append(tx, "subscription.end", subscriber.get(), author.get(), "")?;
    }
    Ok(removed)
}
