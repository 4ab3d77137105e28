//! Reports by members about posts, accounts, messages and lists.

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, select, stored_enum, table};

stored_enum! {
    pub enum ReportSubjectKind {
        Post = 1,
        User = 2,
        Message = 3,
        List = 4,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct Report in "report" {
        pub id: i64,
        /// 0 for the server itself.
        pub reporter_id: UserId,
        pub subject_kind: ReportSubjectKind,
        pub subject_id: i64,
        /// Whom it concerns: author, account, sender or owner.
        pub user_id: UserId,
        pub category: String,
        /// May be empty.
        pub text: String,
        /// What a reported message said, or empty.
        pub evidence: String,
    }
    read_only {
        pub closed_at: Option<Time>,
        /// Whether it led to an action.
        pub upheld: bool,
    }
}

impl Report {
    pub fn created_at(&self) -> Time {
        base::Id::<()>::new(self.id).created_at()
    }
}

/// Returns false if the reporter has an open report about the subject.
pub fn insert(tx: &mut Tx<'_>, report: &Report) -> Result<bool, Fault> {
    insert_new!(tx, Report, report)
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<Report>, Fault> {
    tx.query_row(select!(Report, "WHERE id = $1"), &[id.into()])
}

/// Oldest first, with an id above `after`, without those about `except`.
pub fn list_open(tx: &mut Tx<'_>, except: Option<UserId>, after: i64, limit: i64) -> Result<Vec<Report>, Fault> {
    let sql = select!(Report, "WHERE closed_at IS NULL AND id > $1 AND user_id <> $2 ORDER BY id LIMIT $3");
    tx.query_rows(sql, &[after.into(), except.unwrap_or_default().into(), limit.into()])
}

/// About an account and what belongs to it, newest first.
pub fn list_by_user(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<Report>, Fault> {
    let sql = select!(Report, "WHERE user_id = $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[user.into(), limit.into()])
}

/// Returns the reporters of the open reports about a subject, whose reports are closed.
pub fn close_by_subject(
    tx: &mut Tx<'_>,
    kind: ReportSubjectKind,
    subject: i64,
    by: Option<UserId>,
    upheld: bool,
) -> Result<Vec<UserId>, Fault> {
    let subject_args = [kind.to_number().into(), subject.into()];
    let sql = "SELECT reporter_id FROM report WHERE subject_kind = $1 AND subject_id = $2 AND closed_at IS NULL \
               ORDER BY id LIMIT 1000";
    let reporters = tx.query_rows(sql, &subject_args)?;
    let sql = "UPDATE report SET closed_at = $1, closed_by = $2, upheld = $3 WHERE subject_kind = $4 AND \
               subject_id = $5 AND closed_at IS NULL";
    let args = [tx.now().into(), by.into(), upheld.into(), kind.to_number().into(), subject.into()];
    tx.execute_later(sql, &args)?;
    Ok(reporters)
}

/// Deletes closed reports from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM report WHERE id IN (SELECT id FROM report WHERE closed_at < $1 ORDER BY closed_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
