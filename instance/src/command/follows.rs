//! `locum follow`: follow requests to protected users.

use base::Error;
use clap::Subcommand;
use network::follows;
use serde_json::{Value, json};
use store::posts::PageRange;
use store::users;

use super::find;
use super::limit::LimitArgs;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum FollowCommand {
    /// List follow requests to a protected user, newest first
    Requests {
        /// The protected user: @username or id
        user: String,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Approve a follow request
    Approve {
        /// The protected user: @username or id
        user: String,
        /// The requester: @username or id
        follower: String,
    },
    /// Deny a follow request
    Deny {
        /// The protected user: @username or id
        user: String,
        /// The requester: @username or id
        follower: String,
    },
}

pub(super) async fn execute(instance: &Instance, command: FollowCommand) -> Result<Value, Error> {
    let store = &instance.store;
    match command {
        FollowCommand::Requests { user, limit: LimitArgs { limit } } => {
            store.read(move |tx| list_follow_requests(tx, &user, limit)).await
        }
        FollowCommand::Approve { user, follower } => {
            let done = instance.write(move |tx| {
                let (user, follower) = (find::user(tx, &user)?, find::user(tx, &follower)?);
                follows::approve_request(tx, user.id, follower.id)?;
                Ok(json!({ "user": user.username, "follower": follower.username, "approved": true }))
            });
            done.await
        }
        FollowCommand::Deny { user, follower } => {
            let done = instance.write(move |tx| {
                let (user, follower) = (find::user(tx, &user)?, find::user(tx, &follower)?);
                follows::deny_request(tx, user.id, follower.id)?;
                Ok(json!({ "user": user.username, "follower": follower.username, "approved": false }))
            });
            done.await
        }
    }
}

fn list_follow_requests(tx: &mut store::Tx<'_>, user: &str, limit: i64) -> Result<Value, Error> {
    let user = find::user(tx, user)?;
    let edges = follows::list_requests(tx, user.id, &PageRange::newest(limit))?;
    let mut listed = Vec::with_capacity(edges.len());
    for (id, number) in edges {
        let asked_at = base::Id::<()>::new(number).created_at();
        if let Some(asker) = users::find_by_id(tx, id)? {
            listed.push(json!({
                "id": asker.id.to_string(),
                "username": asker.username,
                "name": asker.name,
                "asked_at": asked_at.to_string(),
            }));
        }
    }
    Ok(listed.into())
}
