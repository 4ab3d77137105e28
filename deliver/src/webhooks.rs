//! Signed webhook deliveries: challenges, attempts, retries and replays.
//!
//! Deliveries are enqueued in the store ([`store::deliveries::enqueue`]); the [`WebhookSender`] sends them and
//! records each attempt. The API uses [`WebhookAdmin`] to challenge a receiver and to stop deliveries to a
//! deleted webhook.

mod allowed_targets;
mod certificate_authorities;
mod challenge;
mod client;
mod connector;
mod delivery_queue;
mod injected_faults;
mod outcomes;
mod periodic_challenges;
mod replays;
mod retry_schedule;
mod sender;
mod signature;
mod target_url;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use base::Error;
use emulator::faults::FaultRules;
use futures_util::future::BoxFuture;
use store::Tx;
use tokio::sync::{mpsc, oneshot};

pub use allowed_targets::{AddressBlock, AllowedTargets};
pub use certificate_authorities::CertificateAuthorities;
pub use challenge::ChallengeSubject;
pub use challenge::{ChallengeFailure, ChallengeResult};
pub use client::WebhookClient;
pub use connector::NameResolver;
pub(crate) use connector::TargetConnector;
pub use retry_schedule::RetrySchedule;
pub use sender::WebhookSender;
pub use signature::{ATTEMPT_HEADER, EVENT_ID_HEADER, REPLAY_HEADER, SIGNATURE_HEADER, sign};
pub use target_url::{TargetUrl, UrlProblem};

#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// The timeout of a request.
    pub timeout: Duration,
    /// The delay after each failed attempt.
    pub retry: RetrySchedule,
    /// A webhook that fails for this long is disabled.
    pub disable_after: Duration,
    /// How often a valid webhook is challenged.
    pub challenge_interval: Duration,
    pub targets: AllowedTargets,
    pub resolver: NameResolver,
    /// Additional certificate authorities.
    pub authorities: CertificateAuthorities,
    /// The maximum number of webhooks of an app, and of one in the enterprise tier.
    pub max_webhooks: (i64, i64),
    /// What testers order; none in production.
    pub faults: Option<Arc<FaultRules>>,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        const HOUR: u64 = 3600;
        Self {
            timeout: Duration::from_secs(10),
            retry: RetrySchedule::default(),
            disable_after: Duration::from_secs(28 * HOUR),
            challenge_interval: Duration::from_secs(24 * HOUR),
            targets: AllowedTargets::default(),
            resolver: NameResolver::System,
            authorities: CertificateAuthorities::default(),
            max_webhooks: (1, 100),
            faults: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct WebhookAdmin {
    settings: Arc<WebhookSettings>,
    client: WebhookClient,
    commands: mpsc::UnboundedSender<SenderCommand>,
}

#[derive(Debug)]
enum SenderCommand {
    /// Send nothing more to a webhook, and notify when nothing is in flight.
    Stop(i64, oneshot::Sender<()>),
    /// A webhook was changed.
    Rescan,
}

impl WebhookAdmin {
    /// Returns the admin handle and the sender it controls.
    pub fn open(store: Arc<store::Store>, settings: WebhookSettings) -> (Self, WebhookSender) {
        let (asks, asked) = mpsc::unbounded_channel();
        let settings = Arc::new(settings);
        let client = WebhookClient::new(&settings);
        let admin = Self { settings: Arc::clone(&settings), client: client.clone(), commands: asks };
        (admin, WebhookSender::new(store, settings, client, asked))
    }

    pub fn settings(&self) -> &WebhookSettings {
        &self.settings
    }

    pub fn parse_url(&self, url: &str) -> Result<TargetUrl, UrlProblem> {
        TargetUrl::parse(url, &self.settings.targets)
    }

    pub const fn client(&self) -> &WebhookClient {
        &self.client
    }

    /// Records a challenge requested through the API. A webhook that passed becomes valid, and its waiting
    /// deliveries become due.
    pub fn apply_challenge(&self, tx: &mut Tx<'_>, webhook_id: i64, challenged: &ChallengeResult) -> Result<(), Error> {
        challenged.record_for_webhook(tx, webhook_id, self.settings.challenge_interval)
    }

    /// Waits until nothing is in flight to a webhook that was just deleted.
    pub fn stop_sending(&self, webhook_id: i64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let (reply, stopped) = oneshot::channel();
            if self.commands.send(SenderCommand::Stop(webhook_id, reply)).is_ok() {
                // Without a sender nothing is in flight.
                let _ended = stopped.await;
            }
        })
    }

    /// Makes the sender check for changes.
    pub fn wake_sender(&self) {
        let _nobody = self.commands.send(SenderCommand::Rescan);
    }
}

impl Default for WebhookAdmin {
    fn default() -> Self {
        let settings = Arc::new(WebhookSettings::default());
        Self { client: WebhookClient::new(&settings), commands: mpsc::unbounded_channel().0, settings }
    }
}
