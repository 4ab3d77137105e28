//! Emails: queued in the transaction of what caused them, then sent with retries. A test platform does not send them;
//! the console shows the queue as a mailbox.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Fault, Secret, Time};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, Fuse, FusedFuture as _, pending, select};
use parking_lot::RwLock;
use store::users::User;
use store::{Store, Tx, emails};
use tokio::time::timeout;

use crate::site_settings;

pub use store::emails::{Email, list};

#[derive(Clone, Debug)]
pub struct EmailMessage {
    /// Differs from that of any other stored email; empty before it is stored.
    pub id: String,
    pub to: String,
    pub subject: String,
    /// May contain links.
    pub text: Secret,
    /// When its link expires; none without a link.
    pub expires_at: Option<Time>,
}

#[derive(Debug)]
pub struct EmailSendError {
    pub fault: Fault,
    /// Whether it would fail again, such as for an unknown recipient.
    pub is_permanent: bool,
}

impl From<Fault> for EmailSendError {
    fn from(fault: Fault) -> Self {
        Self { fault, is_permanent: false }
    }
}

/// Delivers emails. Blocks until the email is handed over.
pub trait Mailer: Send + Sync + 'static {
    fn send(&self, email: &EmailMessage) -> Result<(), EmailSendError>;
}

/// The platform's name and URL on pages and in emails. The URL is from the configuration: the `Host` header of a request
/// cannot be trusted. Clones share what the owners have set.
#[derive(Clone, Debug)]
pub struct EmailSite {
    configured_name: Arc<str>,
    name: Arc<RwLock<Arc<str>>>,
    written_pages: Arc<RwLock<Vec<&'static str>>>,
    base_url: String,
}

/// How old the settings may be on another node than the one where they were changed.
const SETTINGS_MAX_AGE: Duration = Duration::from_secs(5);

pub const CONFIRM_PATH: &str = "/account/confirm";
pub const RESET_PATH: &str = "/account/reset";
pub const JOIN_PATH: &str = "/account/join";
pub const APPEAL_PATH: &str = "/appeal";
pub const SETUP_PATH: &str = "/setup";

impl EmailSite {
    /// Refuses a `base_url` that is not of the form `https://example.org`.
    pub fn new(name: &str, base_url: &str) -> Result<Self, Fault> {
        let rest = base_url
            .strip_prefix("https://")
            .or_else(|| base_url.strip_prefix("http://"))
            .ok_or_else(|| Fault::new(format!("{base_url:?} is not the URL of a site")))?;
        let is_forbidden = |c: char| c.is_whitespace() || c.is_control() || "?#@".contains(c);
        if rest.is_empty() || rest.contains(is_forbidden) {
            return Err(Fault::new(format!("{base_url:?} is not the URL of a site")));
        }
        let name: Arc<str> = strip_control_chars(name).into();
        Ok(Self {
            name: Arc::new(RwLock::new(Arc::clone(&name))),
            configured_name: name,
            written_pages: Arc::default(),
            base_url: base_url.trim_end_matches('/').to_owned(),
        })
    }

    /// As it was last loaded; the configured one before that.
    pub fn name(&self) -> Arc<str> {
        Arc::clone(&self.name.read())
    }

    /// Names of the texts that the owners have written, as they were last loaded.
    pub fn written_pages(&self) -> Vec<&'static str> {
        self.written_pages.read().clone()
    }

    /// Reads what the owners have set.
    pub fn load_settings(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let set = site_settings::get(tx, site_settings::NAME)?;
        let name = if set.is_empty() { Arc::clone(&self.configured_name) } else { strip_control_chars(&set).into() };
        *self.name.write() = name;
        *self.written_pages.write() = site_settings::list_written_pages(tx)?;
        Ok(())
    }

    /// Loads the settings in an endless loop. Failures are logged and retried.
    pub async fn follow_settings(&self, store: &Store) {
        loop {
            let site = self.clone();
            if let Err(error) = store.read(move |tx| Ok::<_, Error>(site.load_settings(tx)?)).await {
                tracing::warn!(%error, "failed to load the settings of the site; will retry");
            }
            store.pause_background_work(SETTINGS_MAX_AGE).await;
        }
    }

    pub fn account_subject(&self, user: &User) -> String {
        format!("Your account @{} on {}", user.username, self.name())
    }

    pub fn build_url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    pub fn build_link(&self, path: &str, secret: &Secret) -> String {
        format!("{}{path}?token={}", self.base_url, secret.expose_secret())
    }
}

/// Prevents header injection.
fn strip_control_chars(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

pub fn enqueue(tx: &mut Tx<'_>, email: &EmailMessage) -> Result<(), Fault> {
    let subject = strip_control_chars(&email.subject);
    let (text, expires_at) = (email.text.expose_secret(), email.expires_at);
    let now = tx.now();
    emails::enqueue(tx, &email.to, &subject, text, now, expires_at)
}

/// Enqueues an email to a user who has a confirmed address.
pub fn enqueue_to_member(
    tx: &mut Tx<'_>,
    user: &User,
    subject: String,
    text: &str,
    expires_at: Option<Time>,
) -> Result<(), Fault> {
    if user.email.is_empty() || !user.email_confirmed {
        return Ok(());
    }
    let text = Secret::new(format!("Hello,\n\n{text}\n"));
    enqueue(tx, &EmailMessage { id: String::new(), to: user.email.clone(), subject, text, expires_at })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailBatchResult {
    pub sent: usize,
    /// Emails that will be retried.
    pub deferred: usize,
    /// Emails that will not be retried.
    pub abandoned: usize,
    /// Emails not sent because their links had expired.
    pub expired: usize,
}

/// Emails per round.
const BATCH_SIZE: i64 = 20;
/// How long a sender has an email reserved.
const LEASE_MS: i64 = 5 * 60 * 1000;
/// Seconds to wait after each failure; after the last, the email is given up.
const RETRY_DELAYS_S: [i64; 8] = [10, 30, 120, 300, 900, 1800, 3600, 7200];
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Characters of the stored error.
const MAX_PROBLEM_LENGTH: usize = 300;

/// How long a stopping sender waits for the email that it is sending: cancelled, it might be sent again.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// Sends emails until `stop` is ready. Failures are logged and retried.
pub fn run_sender(store: Arc<Store>, mailer: Arc<dyn Mailer>, stop: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut stop = stop.fuse();
        while !is_ready(&mut stop) {
            match send_batch(&store, &mailer, store.context().clock.now(), &mut stop).await {
                Ok(_) => {}
                Err(Error::Failed(fault)) => tracing::error!(error = %fault, "failed to send emails; will retry"),
                Err(Error::Refused(refusal)) => tracing::error!(error = %refusal, "failed to send emails; will retry"),
            }
            select(&mut stop, Box::pin(store.pause_background_work(POLL_INTERVAL))).await;
        }
    })
}

fn is_ready(stop: &mut Fuse<BoxFuture<'static, ()>>) -> bool {
    stop.is_terminated() || stop.now_or_never().is_some()
}

/// Sends the emails due at a time, once; at most 20.
pub fn send_due_emails<'a>(
    store: &'a Store,
    mailer: &'a Arc<dyn Mailer>,
    now: Time,
) -> BoxFuture<'a, Result<EmailBatchResult, Error>> {
    Box::pin(async move {
        let never: BoxFuture<'static, ()> = Box::pin(pending());
        send_batch(store, mailer, now, &mut never.fuse()).await
    })
}

fn send_batch<'a>(
    store: &'a Store,
    mailer: &'a Arc<dyn Mailer>,
    now: Time,
    stop: &'a mut Fuse<BoxFuture<'static, ()>>,
) -> BoxFuture<'a, Result<EmailBatchResult, Error>> {
    Box::pin(async move {
        let mut result = EmailBatchResult::default();
        let due = store.read(move |tx| Ok(emails::list_due(tx, now, BATCH_SIZE)?)).await?;
        // A batch may take longer than a lease.
        let current_time = || now.max(store.context().clock.now());
        for stored in due {
            if is_ready(stop) {
                break;
            }
            let claim = {
                let (stored, now) = (stored.clone(), current_time());
                move |tx: &mut Tx<'_>| Ok(claim_email(tx, &stored, now)?)
            };
            match store.write(claim).await? {
                EmailClaim::AlreadyClaimed => continue,
                EmailClaim::Expired => {
                    result.expired += 1;
                    continue;
                }
                EmailClaim::Claimed => {}
            }
            let (id, tries) = (stored.id, stored.tries);
            let Some(sent) = send_until_stop(mailer, stored, stop).await else {
                // Its lease ends by itself.
                tracing::warn!(email = id, "stopped while an email was being sent; it will be sent again");
                break;
            };
            let now = current_time();
            let problem = match sent {
                Ok(()) => {
                    let record = move |tx: &mut Tx<'_>| Ok(emails::mark_sent(tx, id, now)?);
                    store.write(record).await?;
                    result.sent += 1;
                    continue;
                }
                Err(problem) => problem,
            };
            let again_at = next_retry_at(tries, now).filter(|_| !problem.is_permanent);
            let (fault, will_retry) = (problem.fault, again_at.is_some());
            tracing::warn!(error = %fault, email = id, tries, will_retry, "failed to send an email");
            let text: String = fault.to_string().chars().take(MAX_PROBLEM_LENGTH).collect();
            let record = move |tx: &mut Tx<'_>| match again_at {
                Some(at) => Ok(emails::mark_failed(tx, id, &text, at)?),
                None => Ok(emails::give_up(tx, id, &text)?),
            };
            store.write(record).await?;
            if will_retry {
                result.deferred += 1;
            } else {
                result.abandoned += 1;
            }
        }
        Ok(result)
    })
}

enum EmailClaim {
    Claimed,
    AlreadyClaimed,
    Expired,
}

fn claim_email(tx: &mut Tx<'_>, stored: &Email, now: Time) -> Result<EmailClaim, Fault> {
    if !emails::claim(tx, stored, now.plus_ms(LEASE_MS))? {
        return Ok(EmailClaim::AlreadyClaimed);
    }
    // Links follow the platform's clock.
    if stored.expires_at.is_some_and(|end| end <= tx.now()) {
        emails::give_up(tx, stored.id, "its link had expired")?;
        return Ok(EmailClaim::Expired);
    }
    Ok(EmailClaim::Claimed)
}

/// The time of the next attempt after `tries` failed ones; none if there is none.
fn next_retry_at(tries: i64, now: Time) -> Option<Time> {
    let delay = usize::try_from(tries).ok().and_then(|tries| RETRY_DELAYS_S.get(tries));
    delay.map(|seconds| now.plus_ms(seconds * 1000))
}

/// None if it was stopped, after some time to end.
async fn send_until_stop(
    mailer: &Arc<dyn Mailer>,
    stored: Email,
    stop: &mut Fuse<BoxFuture<'static, ()>>,
) -> Option<Result<(), EmailSendError>> {
    match select(stop, Box::pin(send_claimed_email(mailer, stored))).await {
        Either::Right((sent, _)) => Some(sent),
        Either::Left(((), sending)) => timeout(STOP_GRACE, sending).await.ok(),
    }
}

async fn send_claimed_email(mailer: &Arc<dyn Mailer>, stored: Email) -> Result<(), EmailSendError> {
    let email = EmailMessage {
        id: format!("{}.{}", stored.id, stored.created_at.ms()),
        to: stored.recipient,
        subject: stored.subject,
        text: stored.text.ok_or_else(|| Fault::new("an unsent email has no text"))?,
        expires_at: stored.expires_at,
    };
    let mailer = Arc::clone(mailer);
    let sent = tokio::task::spawn_blocking(move || mailer.send(&email));
    sent.await.map_err(Fault::context("sending an email"))?
}
