//! What moderators decided about posts and accounts, and the appeals against it.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::{insert, insert_new, select, stored_enum, table};
use crate::user_roles::UserRole;

stored_enum! {
    pub enum ModerationKind {
        /// Deletes a post; its content is kept for an appeal.
        Remove = 1,
        Warn = 2,
        /// Marks a post as sensitive.
        Label = 3,
        /// Keeps a post, or those of an account, out of search, trends and recommendations.
        Limit = 4,
        /// The account may read, but not write.
        Silence = 5,
        Suspend = 6,
        /// A suspension without an end.
        Ban = 7,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct ModerationAction in "moderation_action" {
        pub id: i64,
        pub kind: ModerationKind,
        /// The account concerned.
        pub user_id: UserId,
        /// None if it is about the account.
        pub post_id: Option<PostId>,
        /// None for an operator, and for the server itself.
        pub moderator_id: Option<UserId>,
        pub reason: String,
        /// None if it has no end.
        pub ends_at: Option<Time>,
        /// What undoing it needs of the post (JSON), or empty.
        pub content: String,
    }
    read_only {
        /// When it was undone or ended.
        pub lifted_at: Option<Time>,
    }
}

impl ModerationAction {
    pub fn created_at(&self) -> Time {
        base::Id::<()>::new(self.id).created_at()
    }
}

pub fn insert(tx: &mut Tx<'_>, action: &ModerationAction) -> Result<(), Fault> {
    insert!(tx, ModerationAction, action)
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<ModerationAction>, Fault> {
    tx.query_row(select!(ModerationAction, "WHERE id = $1"), &[id.into()])
}

/// Newest first, with an id below `below`.
pub fn list(tx: &mut Tx<'_>, below: i64, limit: i64) -> Result<Vec<ModerationAction>, Fault> {
    let sql = select!(ModerationAction, "WHERE id < $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[below.into(), limit.into()])
}

/// Newest first.
pub fn list_by_user(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<ModerationAction>, Fault> {
    let sql = select!(ModerationAction, "WHERE user_id = $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[user.into(), limit.into()])
}

/// The ban or suspension in force, of which a ban comes first.
pub fn find_suspension(tx: &mut Tx<'_>, user: UserId) -> Result<Option<ModerationAction>, Fault> {
    let sql = select!(
        ModerationAction,
        "WHERE user_id = $1 AND kind IN (6, 7) AND lifted_at IS NULL ORDER BY kind DESC, id DESC LIMIT 1"
    );
    tx.query_row(sql, &[user.into()])
}

/// Kinds in force about an account, without those about its posts.
pub fn active_account_kinds(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ModerationKind>, Fault> {
    let sql =
        "SELECT DISTINCT kind FROM moderation_action WHERE user_id = $1 AND post_id IS NULL AND lifted_at IS NULL";
    tx.query_rows(sql, &[user.into()])
}

/// Whether an action of a kind about a post is in force.
pub fn is_post_action_active(tx: &mut Tx<'_>, root: PostId, kind: ModerationKind) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM moderation_action WHERE (post_id = $1 OR post_id IN (SELECT id FROM post WHERE \
               edit_root_id = $1)) AND kind = $2 AND lifted_at IS NULL LIMIT 1";
    tx.row_exists(sql, &[root.into(), kind.to_number().into()])
}

/// Returns false if it was lifted before.
pub fn mark_lifted(tx: &mut Tx<'_>, id: i64, by: Option<UserId>) -> Result<bool, Fault> {
    let sql = "UPDATE moderation_action SET lifted_at = $1, lifted_by = $2 WHERE id = $3 AND lifted_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), by.into(), id.into()])? > 0)
}

/// Lifts all suspensions and bans of an account.
pub fn lift_suspensions(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "UPDATE moderation_action SET lifted_at = $1 WHERE user_id = $2 AND kind IN (6, 7) AND lifted_at IS NULL";
    tx.execute_later(sql, &[tx.now().into(), user.into()])
}

/// Those whose end has come, longest overdue first.
pub fn list_ended(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM moderation_action WHERE lifted_at IS NULL AND ends_at <= $1 ORDER BY ends_at LIMIT $2";
    tx.query_rows(sql, &[tx.now().into(), limit.into()])
}

/// When the next action ends, after now.
pub fn next_end(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let sql = "SELECT MIN(ends_at) FROM moderation_action WHERE lifted_at IS NULL AND ends_at > $1";
    Ok(tx.query_row::<Option<Time>>(sql, &[tx.now().into()])?.flatten())
}

/// Sets whether posts of an account are kept out of search, and whether it may write.
pub fn set_account_restrictions(tx: &mut Tx<'_>, user: UserId, limited: bool, silenced: bool) -> Result<(), Fault> {
    let sql = "UPDATE users SET limited = $1, silenced = $2 WHERE id = $3";
    tx.execute_later(sql, &[limited.into(), silenced.into(), user.into()])
}

pub fn set_post_limited(tx: &mut Tx<'_>, post: PostId, limited: bool) -> Result<(), Fault> {
    let sql = "UPDATE post SET limited = $1 WHERE id = $2 OR edit_root_id = $2";
    tx.execute_later(sql, &[limited.into(), post.into()])
}

/// Sets it on all versions; `root` is the first.
pub fn set_post_sensitive(tx: &mut Tx<'_>, root: PostId, sensitive: bool) -> Result<(), Fault> {
    let sql = "UPDATE post SET possibly_sensitive = $1 WHERE id = $2 OR edit_root_id = $2";
    tx.execute_later(sql, &[sensitive.into(), root.into()])
}

table! {
    #[derive(Clone, Debug)]
    pub struct Appeal in "appeal" {
        pub action_id: i64,
        pub user_id: UserId,
        pub text: String,
        pub created_at: Time,
    }
    read_only {
        pub decided_at: Option<Time>,
        pub accepted: bool,
        pub answer: String,
    }
}

/// Returns false if there is an appeal against the action.
pub fn insert_appeal(tx: &mut Tx<'_>, appeal: &Appeal) -> Result<bool, Fault> {
    insert_new!(tx, Appeal, appeal)
}

pub fn find_appeal(tx: &mut Tx<'_>, action: i64) -> Result<Option<Appeal>, Fault> {
    tx.query_row(select!(Appeal, "WHERE action_id = $1"), &[action.into()])
}

/// Undecided ones, oldest first; with a role only those that it decides about (see [`count_undecided`]).
pub fn list_open_appeals(tx: &mut Tx<'_>, role: Option<UserRole>, limit: i64) -> Result<Vec<Appeal>, Fault> {
    let sql = select!(
        Appeal,
        "WHERE decided_at IS NULL AND (CAST($1 AS BIGINT) < 0 OR EXISTS (SELECT 1 FROM moderation_action AS action \
         WHERE action.id = appeal.action_id AND (action.kind <> 7 OR CAST($1 AS BIGINT) >= 2) AND action.user_id \
         NOT IN (SELECT user_id FROM user_role WHERE role >= CAST($1 AS BIGINT)))) ORDER BY created_at LIMIT $2"
    );
    tx.query_rows(sql, &[role.map_or(-1, UserRole::to_number).into(), limit.into()])
}

/// Open reports, appeals and applications that someone with a role may decide about: those that do not concern the same or
/// a higher role, and appeals against bans (7) for admins (2) and owners. At least 100 if there are more.
pub fn count_undecided(tx: &mut Tx<'_>, role: UserRole) -> Result<i64, Fault> {
    let sql = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM report WHERE closed_at IS NULL AND user_id NOT IN \
               (SELECT user_id FROM user_role WHERE role >= $1) LIMIT 100) AS open_report), \
               (SELECT COUNT(*) FROM (SELECT 1 FROM appeal JOIN moderation_action AS action ON action.id = action_id \
               WHERE decided_at IS NULL AND (action.kind <> 7 OR $1 >= 2) AND action.user_id NOT IN \
               (SELECT user_id FROM user_role WHERE role >= $1) LIMIT 100) AS open_appeal), \
               (SELECT COUNT(*) FROM (SELECT 1 FROM registration_request LIMIT 100) AS application)";
    let counts: Option<(i64, i64, i64)> = tx.query_row(sql, &[role.to_number().into()])?;
    let (reports, appeals, applications) = counts.unwrap_or_default();
    Ok(reports + appeals + applications)
}

/// Returns false if it was decided before.
pub fn decide_appeal(
    tx: &mut Tx<'_>,
    action: i64,
    by: Option<UserId>,
    accepted: bool,
    answer: &str,
) -> Result<bool, Fault> {
    let sql = "UPDATE appeal SET decided_at = $1, decided_by = $2, accepted = $3, answer = $4 \
               WHERE action_id = $5 AND decided_at IS NULL";
    let args = [tx.now().into(), by.into(), accepted.into(), answer.into(), action.into()];
    Ok(tx.execute(sql, &args)? > 0)
}
