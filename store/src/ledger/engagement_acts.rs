//! What viewers did on the platform, for ads that are reported only afterwards.

use base::id::{first_snowflake_at, snowflake_time};
use base::{Fault, Time, UserId};

use super::AdEventKind;
use crate::Tx;

/// A like, repost, reply or follow that still exists, or a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngagementAct {
    pub viewer: i64,
    pub kind: AdEventKind,
    /// The id of the post or user.
    pub subject: i64,
    pub at: Time,
    /// The post that a reply is.
    pub reply_id: Option<i64>,
}

/// Likes, reposts, replies and follows of users since a time, in no order.
pub fn list_acts_of_users(tx: &mut Tx<'_>, users: &[i64], since: Time) -> Result<Vec<EngagementAct>, Fault> {
    let mut all = Vec::new();
    for (kind, sql) in [
        (AdEventKind::Like, "SELECT user_id, post_id, id FROM post_like WHERE user_id = $1 AND id >= $2"),
        (AdEventKind::Follow, "SELECT source_id, target_id, id FROM follow WHERE source_id = $1 AND id >= $2"),
    ] {
        for (viewer, subject, id) in
            tx.query_by_keys::<(i64, i64, i64)>(sql, users, &[first_snowflake_at(since).into()])?
        {
            all.push(EngagementAct { viewer, kind, subject, at: snowflake_time(id), reply_id: None });
        }
    }
    // A new version of a reply is not another reply.
    let sql = "SELECT author_id, id, repost_of_id, in_reply_to_post_id FROM post WHERE author_id = $1 AND id >= $2 \
               AND state = 0 AND nullcast = 0 AND (repost_of_id IS NOT NULL OR in_reply_to_post_id IS NOT NULL \
               AND (edit_root_id IS NULL OR edit_root_id = id))";
    for (viewer, id, repost_of, reply_to) in
        tx.query_by_keys::<(i64, i64, Option<i64>, Option<i64>)>(sql, users, &[first_snowflake_at(since).into()])?
    {
        let (kind, reply_id) =
            if repost_of.is_some() { (AdEventKind::Repost, None) } else { (AdEventKind::Reply, Some(id)) };
        let subject = repost_of.or(reply_to).unwrap_or(0);
        all.push(EngagementAct { viewer, kind, subject, at: snowflake_time(id), reply_id });
    }
    Ok(all)
}

/// When a user voted in a poll.
pub fn find_vote_time(tx: &mut Tx<'_>, poll: i64, user: UserId) -> Result<Option<Time>, Fault> {
    let sql = "SELECT at FROM poll_vote WHERE poll_id = $1 AND user_id = $2";
    tx.query_row(sql, &[poll.into(), user.into()])
}

/// Viewer, kind, subject and time of the events of users since a time, other than impressions.
pub fn list_engagements_of_users(
    tx: &mut Tx<'_>,
    users: &[i64],
    since: Time,
) -> Result<Vec<(i64, AdEventKind, i64, Time)>, Fault> {
    let sql = "SELECT viewer, kind, subject, event_time FROM ad_event WHERE viewer = $1 AND event_time >= $2 \
               AND kind <> 0 AND viewer > 0";
    tx.query_by_keys(sql, users, &[since.into()])
}
