//! Letters that wait to be sent, and the links that stand in them.

use base::{Fault, Secret, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

/// A letter as stored.
#[derive(Clone, Debug)]
pub struct Email {
    /// Its number.
    pub id: i64,
    /// To whom.
    pub recipient: String,
    /// What it is about.
    pub subject: String,
    /// Its text; none once it is sent.
    pub text: Option<Secret>,
    /// When it was written.
    pub created_at: Time,
    /// When it is tried next; none when it was sent or given up.
    pub due_at: Option<Time>,
    /// How often it was tried.
    pub tries: i64,
    /// When it was sent.
    pub sent_at: Option<Time>,
    /// What went wrong last, or empty.
    pub problem: String,
    /// When its link stops working, on the platform's clock; none: it is never too late.
    pub expires_at: Option<Time>,
}

/// A link as stored.
#[derive(Clone, Debug)]
pub struct EmailLink {
    /// `confirm`, `reset` or `invite`.
    pub purpose: String,
    /// Whom it is for; whoever made it, if it is an invitation.
    pub user_id: UserId,
    /// The address that it was sent to, or empty.
    pub email: String,
    /// When it ends.
    pub expires_at: Time,
}

/// A letter's text moves to no other recipient.
fn encryption_context(recipient: &str) -> String {
    format!("letter.body:{recipient}")
}

fn email_from_row(row: &SqlRow<'_, '_>) -> Result<(Email, Option<Vec<u8>>), Fault> {
    let letter = Email {
        id: row.int(0)?,
        recipient: row.text(1)?,
        subject: row.text(2)?,
        text: None,
        created_at: row.time(4)?,
        due_at: row.opt_time(5)?,
        tries: row.int(6)?,
        sent_at: row.opt_time(7)?,
        problem: row.text(8)?,
        expires_at: row.opt_time(9)?,
    };
    Ok((letter, row.opt_bytes(3)?))
}

fn decrypt_text(tx: &Tx<'_>, found: (Email, Option<Vec<u8>>)) -> Result<Email, Fault> {
    let (mut letter, sealed) = found;
    if let Some(sealed) = sealed {
        letter.text = Some(tx.decrypt(&encryption_context(&letter.recipient), &sealed)?);
    }
    Ok(letter)
}

/// Queues a letter, inside the transaction of what caused it.
pub fn enqueue(
    tx: &mut Tx<'_>,
    recipient: &str,
    subject: &str,
    text: &str,
    due: Time,
    expires_at: Option<Time>,
) -> Result<(), Fault> {
    let body = tx.encrypt(&encryption_context(recipient), text)?;
    let sql = "INSERT INTO letter (recipient, subject, body, created_at, due_at, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let args = [
        recipient.into(),
        subject.into(),
        (&body).into(),
        tx.now().into(),
        due.into(),
        expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// The letters before a number, newest first: what a test platform shows as its mailbox.
pub fn list(tx: &mut Tx<'_>, before: Option<i64>, limit: i64) -> Result<Vec<Email>, Fault> {
    let sql = "SELECT id, recipient, subject, body, created_at, due_at, tries, sent_at, problem, \
               expires_at FROM letter WHERE id < $1 ORDER BY id DESC LIMIT $2";
    let before = before.unwrap_or(i64::MAX);
    let found = tx.query_rows(sql, &[before.into(), limit.into()], email_from_row)?;
    found.into_iter().map(|found| decrypt_text(tx, found)).collect()
}

/// The letters that are due, those that wait longest first.
pub fn list_due(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<Vec<Email>, Fault> {
    let sql = "SELECT id, recipient, subject, body, created_at, due_at, tries, sent_at, problem, \
               expires_at FROM letter WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2";
    let found = tx.query_rows(sql, &[now.into(), limit.into()], email_from_row)?;
    found.into_iter().map(|found| decrypt_text(tx, found)).collect()
}

/// Takes a letter for sending, so that no other sender does until the moment given; false when
/// another was faster.
pub fn claim(tx: &mut Tx<'_>, letter: &Email, until: Time) -> Result<bool, Fault> {
    let sql = "UPDATE letter SET due_at = $1, tries = tries + 1 WHERE id = $2 AND due_at = $3";
    let args = [until.into(), letter.id.into(), letter.due_at.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Says that a letter was sent, and forgets its text.
pub fn mark_sent(tx: &mut Tx<'_>, id: i64, at: Time) -> Result<(), Fault> {
    let sql = "UPDATE letter SET due_at = NULL, body = NULL, problem = '', sent_at = $1 \
               WHERE id = $2";
    tx.execute(sql, &[at.into(), id.into()]).map(|_| ())
}

/// Says that a letter was not sent, and when it is tried again.
pub fn mark_failed(tx: &mut Tx<'_>, id: i64, problem: &str, again_at: Time) -> Result<(), Fault> {
    let sql = "UPDATE letter SET due_at = $1, problem = $2 WHERE id = $3";
    tx.execute(sql, &[again_at.into(), problem.into(), id.into()])
        .map(|_| ())
}

/// Says that a letter is not tried any more, and why, and forgets its text.
pub fn give_up(tx: &mut Tx<'_>, id: i64, problem: &str) -> Result<(), Fault> {
    let sql = "UPDATE letter SET due_at = NULL, body = NULL, problem = $1 WHERE id = $2";
    tx.execute(sql, &[problem.into(), id.into()]).map(|_| ())
}

/// Forgets some letters from before a moment, and some links that ended before it; how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let args = [before.into(), limit.into()];
    let letters = "DELETE FROM letter WHERE id IN \
                   (SELECT id FROM letter WHERE created_at < $1 LIMIT $2)";
    let links = "DELETE FROM link WHERE digest IN \
                 (SELECT digest FROM link WHERE expires_at < $1 LIMIT $2)";
    Ok(tx.execute(letters, &args)? + tx.execute(links, &args)?)
}

/// Stores a link by its digest.
pub fn insert_link(tx: &mut Tx<'_>, digest: &[u8; 32], link: &EmailLink) -> Result<(), Fault> {
    let sql = "INSERT INTO link (digest, purpose, user_id, email, created_at, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let args = [
        digest.into(),
        (&link.purpose).into(),
        link.user_id.into(),
        (&link.email).into(),
        tx.now().into(),
        link.expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// The link with a digest and purpose, if it still works.
pub fn find_link(tx: &mut Tx<'_>, digest: &[u8; 32], purpose: &str) -> Result<Option<EmailLink>, Fault> {
    let sql = "SELECT purpose, user_id, email, expires_at FROM link \
               WHERE digest = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > $3";
    tx.query_row(sql, &[digest.into(), purpose.into(), tx.now().into()], |row| {
        Ok(EmailLink {
            purpose: row.text(0)?,
            user_id: row.id(1)?,
            email: row.text(2)?,
            expires_at: row.time(3)?,
        })
    })
}

/// Uses a link up; false when it does not work any more.
pub fn mark_link_used(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE link SET used_at = $1 \
               WHERE digest = $2 AND used_at IS NULL AND expires_at > $1";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Uses up all links of a user and a purpose, used or not: only the newest is to work.
pub fn expire_links(tx: &mut Tx<'_>, user: UserId, purpose: &str) -> Result<(), Fault> {
    let sql = "UPDATE link SET used_at = $1 \
               WHERE user_id = $2 AND purpose = $3 AND used_at IS NULL";
    tx.execute(sql, &[tx.now().into(), user.into(), purpose.into()])
        .map(|_| ())
}

/// The address of a user's link of a purpose that still works, if there is one.
pub fn pending_address(tx: &mut Tx<'_>, user: UserId, purpose: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT email FROM link WHERE user_id = $1 AND purpose = $2 AND used_at IS NULL \
               AND expires_at > $3 ORDER BY created_at DESC LIMIT 1";
    let args = [user.into(), purpose.into(), tx.now().into()];
    tx.query_row(sql, &args, |row| row.text(0))
}
