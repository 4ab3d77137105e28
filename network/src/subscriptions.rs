//! Subscribing to an author: reading what is for subscribers, replying where they may.

use base::{Error, Refusal, UserId};
use store::{Tx, event_log, subscriptions};

use crate::users;

/// Makes a user a subscriber of an author; false when they are one already.
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

/// Ends a subscription; false when there is none.
pub fn unsubscribe(tx: &mut Tx<'_>, subscriber: UserId, author: UserId) -> Result<bool, Error> {
    let was = subscriptions::delete(tx, subscriber, author)?;
    if was {
        event_log::append(tx, "subscription.end", subscriber.get(), author.get(), "")?;
    }
    Ok(was)
}
