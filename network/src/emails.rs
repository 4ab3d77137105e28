//! Letters: queued in the transaction of what caused them, sent afterwards, tried again when that
//! fails. On a test platform nobody sends them: the queue is the mailbox that the console shows.
//!
//! Sending follows the machine's clock.

use std::sync::Arc;
use std::time::Duration;

use base::clock::wall_time;
use base::{Error, Fault, Secret, Time};
use store::{Store, Tx, emails};

pub use store::emails::{Email as Stored, list};

/// A letter.
#[derive(Clone, Debug)]
pub struct EmailMessage {
    /// The address it goes to.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// Its text; links may stand in it.
    pub text: Secret,
    /// When its link stops working; none: it has none, and is never too late.
    pub expires_at: Option<Time>,
}

/// Why a letter was not handed over.
#[derive(Debug)]
pub struct EmailSendError {
    /// What went wrong.
    pub fault: Fault,
    /// Whether it would go wrong each time: nobody has that address.
    pub is_permanent: bool,
}

impl From<Fault> for EmailSendError {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            is_permanent: false,
        }
    }
}

/// Sends letters. It blocks until the letter is handed over.
pub trait Mailer: Send + Sync + 'static {
    /// Hands one letter over.
    fn send(&self, letter: &EmailMessage) -> Result<(), EmailSendError>;
}

/// What letters say about this platform. It comes from the configuration and never from a
/// request, whose `Host` anyone may make up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailSite {
    name: String,
    base_url: String,
}

/// Where a link to confirm an address leads.
pub const CONFIRM_PATH: &str = "/account/confirm";
/// Where a link to set a new password leads.
pub const RESET_PATH: &str = "/account/reset";
/// Where an invitation leads.
pub const JOIN_PATH: &str = "/account/join";

impl EmailSite {
    /// A platform with this name under this address (`https://example.org`).
    pub fn new(name: &str, base_url: &str) -> Result<Self, Fault> {
        let rest = base_url
            .strip_prefix("https://")
            .or_else(|| base_url.strip_prefix("http://"))
            .ok_or_else(|| Fault::new(format!("{base_url:?} is no address of a site")))?;
        let bad = |letter: char| letter.is_whitespace() || letter.is_control() || "?#@".contains(letter);
        if rest.is_empty() || rest.contains(bad) {
            return Err(Fault::new(format!("{base_url:?} is no address of a site")));
        }
        Ok(Self {
            name: strip_control_chars(name),
            base_url: base_url.trim_end_matches('/').to_owned(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of a link with its secret.
    pub fn build_link(&self, path: &str, secret: &Secret) -> String {
        format!("{}{path}?token={}", self.base_url, secret.expose_secret())
    }
}

/// On one line, without anything that could become a header.
fn strip_control_chars(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// Queues a letter.
pub fn enqueue(tx: &mut Tx<'_>, letter: &EmailMessage) -> Result<(), Fault> {
    let subject = strip_control_chars(&letter.subject);
    let (text, ends) = (letter.text.expose_secret(), letter.expires_at);
    emails::enqueue(tx, &letter.to, &subject, text, wall_time(), ends)
}

/// What one round of sending came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailBatchResult {
    /// Letters handed over.
    pub sent: usize,
    /// Letters that will be tried again.
    pub deferred: usize,
    /// Letters that were given up.
    pub abandoned: usize,
    /// Letters that were not sent any more, for their links had ended.
    pub expired: usize,
}

/// Letters of one round.
const BATCH_SIZE: i64 = 20;
/// How long one sender has a letter for itself.
const LEASE_MS: i64 = 5 * 60 * 1000;
/// How long is waited after each failure; after the last, the letter is given up.
const RETRY_DELAYS_S: [i64; 8] = [10, 30, 120, 300, 900, 1800, 3600, 7200];
/// How often it is looked for letters that are due.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Characters of a problem that are kept.
const MAX_PROBLEM_LENGTH: usize = 300;

/// Sends letters for ever. What fails is logged and tried again.
pub async fn run_sender(store: Arc<Store>, mailer: Arc<dyn Mailer>) {
    loop {
        match send_due_emails(&store, &mailer, wall_time()).await {
            Ok(_) => {}
            Err(Error::Failed(fault)) => tracing::error!(%fault, "sending letters"),
            Err(Error::Refused(refusal)) => tracing::error!(?refusal, "sending letters"),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Sends the letters that are due at a moment, once.
pub async fn send_due_emails(store: &Store, mailer: &Arc<dyn Mailer>, now: Time) -> Result<EmailBatchResult, Error> {
    let mut round = EmailBatchResult::default();
    let due = store.read(move |tx| Ok(emails::list_due(tx, now, BATCH_SIZE)?)).await?;
    for stored in due {
        let claim = {
            let stored = stored.clone();
            move |tx: &mut Tx<'_>| Ok(claim_email(tx, &stored, now)?)
        };
        match store.write(claim).await? {
            EmailClaim::AlreadyClaimed => continue,
            EmailClaim::Expired => {
                round.expired += 1;
                continue;
            }
            EmailClaim::Claimed => {}
        }
        let (id, tries) = (stored.id, stored.tries);
        let problem = match send_claimed_email(mailer, stored).await {
            Ok(()) => {
                let note = move |tx: &mut Tx<'_>| Ok(emails::mark_sent(tx, id, now)?);
                store.write(note).await?;
                round.sent += 1;
                continue;
            }
            Err(problem) => problem,
        };
        let again_at = next_retry_at(tries, now).filter(|_| !problem.is_permanent);
        let (fault, again) = (problem.fault, again_at.is_some());
        tracing::warn!(%fault, letter = id, tries, again, "a letter was not sent");
        let text: String = fault.to_string().chars().take(MAX_PROBLEM_LENGTH).collect();
        let note = move |tx: &mut Tx<'_>| match again_at {
            Some(at) => Ok(emails::mark_failed(tx, id, &text, at)?),
            None => Ok(emails::give_up(tx, id, &text)?),
        };
        store.write(note).await?;
        if again {
            round.deferred += 1;
        } else {
            round.abandoned += 1;
        }
    }
    Ok(round)
}

/// Whether a letter is to be sent now, by us.
enum EmailClaim {
    Claimed,
    AlreadyClaimed,
    Expired,
}

fn claim_email(tx: &mut Tx<'_>, stored: &Stored, now: Time) -> Result<EmailClaim, Fault> {
    if !emails::claim(tx, stored, now.plus_ms(LEASE_MS))? {
        return Ok(EmailClaim::AlreadyClaimed);
    }
    // Links follow the platform's clock.
    if stored.expires_at.is_some_and(|end| end <= tx.now()) {
        emails::give_up(tx, stored.id, "its link had ended")?;
        return Ok(EmailClaim::Expired);
    }
    Ok(EmailClaim::Claimed)
}

/// When a letter is tried again that had been tried so often before; none: never.
fn next_retry_at(tries: i64, now: Time) -> Option<Time> {
    let wait = usize::try_from(tries).ok().and_then(|tries| RETRY_DELAYS_S.get(tries));
    wait.map(|seconds| now.plus_ms(seconds * 1000))
}

async fn send_claimed_email(mailer: &Arc<dyn Mailer>, stored: Stored) -> Result<(), EmailSendError> {
    let letter = EmailMessage {
        to: stored.recipient,
        subject: stored.subject,
        text: stored.text.ok_or_else(|| Fault::new("a letter without text"))?,
        expires_at: stored.expires_at,
    };
    let mailer = Arc::clone(mailer);
    let sent = tokio::task::spawn_blocking(move || mailer.send(&letter));
    sent.await.map_err(Fault::context("sending a letter"))?
}
