//! What others did that concerns a member, and up to where the member has seen it and the notices of this site.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::{insert_new_later, select, sql, stored_enum, table};

stored_enum! {
    pub enum InteractionKind {
        Mention = 1,
        Reply = 2,
        Quote = 3,
        Repost = 4,
        Like = 5,
        Follow = 6,
        FollowRequest = 7,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct Interaction in "interaction" {
        /// Of the entry in the event log.
        pub seq: i64,
        /// Whom it concerns.
        pub user_id: UserId,
        pub at: Time,
        pub kind: InteractionKind,
        pub actor_id: UserId,
        /// What was written or liked, or the repost itself; none for follows.
        pub post_id: Option<PostId>,
    }
}

/// At most 100 each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadCounts {
    pub interactions: i64,
    pub notices: i64,
    /// With messages.
    pub conversations: i64,
}

/// One for each entry of the log and user: the first one counts.
pub fn insert(tx: &mut Tx<'_>, interaction: &Interaction) -> Result<(), Fault> {
    insert_new_later!(tx, Interaction, interaction)
}

/// Newest first, with a number below `below`.
pub fn list_before(tx: &mut Tx<'_>, user: UserId, below: i64, limit: i64) -> Result<Vec<Interaction>, Fault> {
    let sql = select!(Interaction, "WHERE user_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3");
    tx.query_rows(sql, &[user.into(), below.into(), limit.into()])
}

const LIST_MENTIONS: &str =
    select!(Interaction, "WHERE user_id = $1 AND seq < $2 AND kind <= 3 ORDER BY seq DESC LIMIT $3");

/// Those with a text of their own: mentions, replies and quotes. Newest first, with a number below `below`.
pub fn list_mentions_before(tx: &mut Tx<'_>, user: UserId, below: i64, limit: i64) -> Result<Vec<Interaction>, Fault> {
    tx.query_rows(LIST_MENTIONS, &[user.into(), below.into(), limit.into()])
}

/// The actor likes the post no longer.
pub fn delete_like(tx: &mut Tx<'_>, actor: UserId, post: PostId) -> Result<(), Fault> {
    let sql = "DELETE FROM interaction WHERE actor_id = $1 AND post_id = $2 AND kind = 5";
    tx.execute_later(sql, &[actor.into(), post.into()])
}

const DELETE_FOLLOWS: &str = "DELETE FROM interaction WHERE actor_id = $1 AND user_id = $2 AND kind >= 6";

/// The actor neither follows the user nor asks to.
pub fn delete_follows(tx: &mut Tx<'_>, actor: UserId, user: UserId) -> Result<(), Fault> {
    tx.execute_later(DELETE_FOLLOWS, &[actor.into(), user.into()])
}

pub fn delete_by_actor(tx: &mut Tx<'_>, actor: UserId, user: UserId) -> Result<(), Fault> {
    let sql = "DELETE FROM interaction WHERE actor_id = $1 AND user_id = $2";
    tx.execute_later(sql, &[actor.into(), user.into()])
}

pub fn count_unread(tx: &mut Tx<'_>, user: UserId) -> Result<UnreadCounts, Fault> {
    let sql = sql!(
        "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM interaction WHERE user_id = $1 AND seq > \
               (SELECT COALESCE(MAX(newest_interaction), 0) FROM notification_seen WHERE user_id = $1) LIMIT 100) AS one), \
               (SELECT COUNT(*) FROM (SELECT 1 FROM notification WHERE user_id = $1 AND id > \
               (SELECT COALESCE(MAX(newest_notice), 0) FROM notification_seen WHERE user_id = $1) LIMIT 100) AS other), (",
        crate::messages::UNREAD_CONVERSATIONS_SQL,
        ")"
    );
    let counts: Option<(i64, i64, i64)> = tx.query_row(sql, &[user.into()])?;
    let (interactions, notices, conversations) = counts.unwrap_or_default();
    Ok(UnreadCounts { interactions, notices, conversations })
}

/// The number of the newest interaction that the user has seen.
pub fn find_seen(tx: &mut Tx<'_>, user: UserId) -> Result<i64, Fault> {
    let sql = "SELECT newest_interaction FROM notification_seen WHERE user_id = $1";
    Ok(tx.query_row(sql, &[user.into()])?.unwrap_or(0))
}

/// The id of the newest notice that the user has seen.
pub fn find_seen_notice(tx: &mut Tx<'_>, user: UserId) -> Result<i64, Fault> {
    let sql = "SELECT newest_notice FROM notification_seen WHERE user_id = $1";
    Ok(tx.query_row(sql, &[user.into()])?.unwrap_or(0))
}

/// Never moves back.
pub fn mark_interactions_seen(tx: &mut Tx<'_>, user: UserId, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO notification_seen (user_id, newest_interaction) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE \
               SET newest_interaction = excluded.newest_interaction \
               WHERE notification_seen.newest_interaction < excluded.newest_interaction";
    tx.execute_later(sql, &[user.into(), seq.into()])
}

/// Never moves back.
pub fn mark_notices_seen(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO notification_seen (user_id, newest_notice) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE \
               SET newest_notice = excluded.newest_notice \
               WHERE notification_seen.newest_notice < excluded.newest_notice";
    tx.execute_later(sql, &[user.into(), id.into()])
}

/// Deletes interactions from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    // Without an index of times, the statement below reads the whole table if nothing has expired.
    let first: Option<Time> = tx.query_row("SELECT at FROM interaction ORDER BY seq LIMIT 1", &[])?;
    if first.is_none_or(|at| at >= before) {
        return Ok(0);
    }
    let sql = "DELETE FROM interaction WHERE seq IN \
               (SELECT seq FROM interaction WHERE at < $1 ORDER BY seq LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::test_stores::options;
    use crate::{DatabaseLocation, Store};

    #[test]
    fn statements_read_only_the_interactions_that_they_are_for() {
        let (folder, runtime) = (TempDir::new().unwrap(), tokio::runtime::Runtime::new().unwrap());
        let location = DatabaseLocation::File(folder.path().join("locum.db"));
        let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
        for (sql, args, expected) in [
            (LIST_MENTIONS, 3, "INDEX interaction_mention (user_id=? AND seq<?)"),
            (DELETE_FOLLOWS, 2, "INDEX interaction_pair (actor_id=? AND user_id=?)"),
        ] {
            let explain = move |tx: &mut Tx<'_>| {
                let args = vec![1.into(); args];
                let plan: Vec<(i64, i64, i64, String)> = tx.query_rows(&format!("EXPLAIN QUERY PLAN {sql}"), &args)?;
                Ok(plan)
            };
            let plan = runtime.block_on(store.read(explain)).unwrap();
            assert!(plan.iter().any(|step| step.3.contains(expected)), "{plan:?}");
        }
        store.close();
    }
}
