//! The queue of emails, and the links in them.

use base::{Fault, Secret, Time, UserId};

use crate::Tx;
use crate::db::{insert, row, select, table};

row! {
    #[derive(Clone, Debug)]
    pub struct Email from "letter" {
        pub id: i64,
        pub recipient: String,
        pub subject: String,
        pub created_at: Time,
        /// The time of the next attempt; none when sent or given up.
        pub due_at: Option<Time>,
        pub tries: i64,
        pub sent_at: Option<Time>,
        /// The last error, or empty.
        pub problem: String,
        /// When its link expires; an email is not sent after that.
        pub expires_at: Option<Time>,
    }
    transient {
        /// None once the email is sent or given up. Decrypted after reading.
        pub text: Option<Secret>,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct EmailLink in "link" {
        /// `confirm`, `reset`, `invite`, `setup`, `restore`, `restore_by_passkey`, `second_factor`,
        /// `restoring_second_factor`, `passkey_registration` or `passkey_sign_in`.
        pub purpose: String,
        /// The recipient; the inviting user for an invitation; 0 for the first owner and a sign-in with a passkey.
        pub user_id: UserId,
        /// The address it was sent to, or empty; of a second factor, what the attempt counts towards.
        pub email: String,
        pub expires_at: Time,
    }
}

row! {
    #[derive(Clone, Debug)]
    pub struct OpenLink from "link" {
        pub digest: [u8; 32],
        pub user_id: UserId,
        pub email: String,
        pub created_at: Time,
        pub expires_at: Time,
    }
}

/// Those of a purpose that are unused and have not expired, newest first.
pub fn list_open_links(tx: &mut Tx<'_>, purpose: &str, limit: i64) -> Result<Vec<OpenLink>, Fault> {
    let sql = select!(
        OpenLink,
        "WHERE purpose = $1 AND used_at IS NULL AND expires_at > $2 ORDER BY created_at DESC, digest LIMIT $3"
    );
    tx.query_rows(sql, &[purpose.into(), tx.now().into(), limit.into()])
}

/// Binds the encrypted text to its recipient.
fn encryption_context(recipient: &str) -> String {
    format!("letter.body:{recipient}")
}

fn decrypt_text(tx: &Tx<'_>, found: (Email, Option<Vec<u8>>)) -> Result<Email, Fault> {
    let (mut email, encrypted) = found;
    if let Some(encrypted) = encrypted {
        email.text = Some(tx.decrypt(&encryption_context(&email.recipient), &encrypted)?);
    }
    Ok(email)
}

/// To be called in the transaction of what caused the email.
pub fn enqueue(
    tx: &mut Tx<'_>,
    recipient: &str,
    subject: &str,
    text: &str,
    due: Time,
    expires_at: Option<Time>,
) -> Result<(), Fault> {
    let body = tx.encrypt(&encryption_context(recipient), text)?;
    insert!(
        tx,
        "letter",
        recipient = recipient,
        subject = subject,
        body = &body,
        created_at = tx.now(),
        due_at = due,
        expires_at = expires_at
    )
}

/// Newest first, with an id below `before`.
pub fn list(tx: &mut Tx<'_>, before: Option<i64>, limit: i64) -> Result<Vec<Email>, Fault> {
    let sql = select!(Email + "body", "WHERE id < $1 ORDER BY id DESC LIMIT $2");
    let before = before.unwrap_or(i64::MAX);
    let found = tx.query_rows(sql, &[before.into(), limit.into()])?;
    found.into_iter().map(|found| decrypt_text(tx, found)).collect()
}

/// Longest overdue first.
pub fn list_due(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<Vec<Email>, Fault> {
    let sql = select!(Email + "body", "WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2");
    let found = tx.query_rows(sql, &[now.into(), limit.into()])?;
    found.into_iter().map(|found| decrypt_text(tx, found)).collect()
}

/// When the next email is due that is not due yet.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let sql = "SELECT MIN(due_at) FROM letter WHERE due_at > $1";
    Ok(tx.query_row::<Option<Time>>(sql, &[tx.now().into()])?.flatten())
}

/// Reserves an email until a time; returns false if another sender was faster.
pub fn claim(tx: &mut Tx<'_>, email: &Email, until: Time) -> Result<bool, Fault> {
    let sql = "UPDATE letter SET due_at = $1, tries = tries + 1 WHERE id = $2 AND due_at = $3";
    let args = [until.into(), email.id.into(), email.due_at.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Also deletes the text.
pub fn mark_sent(tx: &mut Tx<'_>, id: i64, at: Time) -> Result<(), Fault> {
    let sql = "UPDATE letter SET due_at = NULL, body = NULL, problem = '', sent_at = $1 WHERE id = $2";
    tx.execute_later(sql, &[at.into(), id.into()])
}

pub fn mark_failed(tx: &mut Tx<'_>, id: i64, problem: &str, again_at: Time) -> Result<(), Fault> {
    let sql = "UPDATE letter SET due_at = $1, problem = $2 WHERE id = $3";
    tx.execute_later(sql, &[again_at.into(), problem.into(), id.into()])
}

/// Stores the last error and deletes the text.
pub fn give_up(tx: &mut Tx<'_>, id: i64, problem: &str) -> Result<(), Fault> {
    let sql = "UPDATE letter SET due_at = NULL, body = NULL, problem = $1 WHERE id = $2";
    tx.execute_later(sql, &[problem.into(), id.into()])
}

/// Deletes emails and expired links from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let args = [before.into(), limit.into()];
    let emails_sql = "DELETE FROM letter WHERE id IN (SELECT id FROM letter WHERE created_at < $1 LIMIT $2)";
    let links_sql = "DELETE FROM link WHERE digest IN (SELECT digest FROM link WHERE expires_at < $1 LIMIT $2)";
    Ok(tx.execute(emails_sql, &args)? + tx.execute(links_sql, &args)?)
}

pub fn insert_link(tx: &mut Tx<'_>, digest: &[u8; 32], link: &EmailLink) -> Result<(), Fault> {
    insert!(tx, EmailLink, link, digest = digest, created_at = tx.now())
}

/// None if it was used or has expired.
pub fn find_link(tx: &mut Tx<'_>, digest: &[u8; 32], purpose: &str) -> Result<Option<EmailLink>, Fault> {
    let sql = select!(EmailLink, "WHERE digest = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > $3");
    tx.query_row(sql, &[digest.into(), purpose.into(), tx.now().into()])
}

/// Returns false if the link was used or has expired.
pub fn mark_link_used(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE link SET used_at = $1 WHERE digest = $2 AND used_at IS NULL AND expires_at > $1";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Invalidates all links of a user and a purpose, before a new one is sent.
pub fn expire_links(tx: &mut Tx<'_>, user: UserId, purpose: &str) -> Result<(), Fault> {
    let sql = "UPDATE link SET used_at = $1 WHERE user_id = $2 AND purpose = $3 AND used_at IS NULL";
    tx.execute_later(sql, &[tx.now().into(), user.into(), purpose.into()])
}

/// The address of a user's newest valid link of a purpose.
pub fn pending_address(tx: &mut Tx<'_>, user: UserId, purpose: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT email FROM link WHERE user_id = $1 AND purpose = $2 AND used_at IS NULL \
               AND expires_at > $3 ORDER BY created_at DESC LIMIT 1";
    let args = [user.into(), purpose.into(), tx.now().into()];
    tx.query_row(sql, &args)
}
