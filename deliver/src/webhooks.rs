//! Signed deliveries to receivers: challenges, attempts, retries, replay.
//!
//! What is to be sent stands in the store ([`store::deliveries::enqueue`]); the [`Sender`] sends
//! it and notes each try. The [`Desk`] is what the interface needs of it: challenging a receiver
//! now, and stopping what is on its way to one that is removed.

mod allowed_targets;
mod certificate_authorities;
mod challenge;
mod client;
mod connector;
mod delivery_queue;
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
use store::Tx;
use tokio::sync::{mpsc, oneshot};

pub use allowed_targets::{AddressBlock, AllowedTargets};
pub use certificate_authorities::CertificateAuthorities;
pub use challenge::{ChallengeFailure, ChallengeResult};
pub use client::WebhookClient;
pub use connector::NameResolver;
pub use retry_schedule::RetrySchedule;
pub use sender::WebhookSender;
pub use signature::{SIGNATURE_HEADER, sign};
pub use target_url::{TargetUrl, UrlProblem};

/// How webhooks are served.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// This node's number.
    pub node_id: u16,
    /// How long a receiver may take to answer.
    pub timeout: Duration,
    /// How long is waited after each try that failed.
    pub retry: RetrySchedule,
    /// For how long nothing may reach a receiver before it gets nothing any more.
    pub disable_after: Duration,
    /// How often a receiver is challenged that answered the last time.
    pub challenge_interval: Duration,
    /// Where receivers may be.
    pub targets: AllowedTargets,
    /// Who resolves names.
    pub resolver: NameResolver,
    /// Who vouches for receivers, beside those whom the system trusts.
    pub authorities: CertificateAuthorities,
    /// How many webhooks an app may have, and one of the enterprise tier.
    pub max_webhooks: (i64, i64),
}

impl Default for WebhookSettings {
    fn default() -> Self {
        const HOUR: u64 = 3600;
        Self {
            node_id: 0,
            timeout: Duration::from_secs(10),
            retry: RetrySchedule::default(),
            disable_after: Duration::from_secs(28 * HOUR),
            challenge_interval: Duration::from_secs(24 * HOUR),
            targets: AllowedTargets::default(),
            resolver: NameResolver::System,
            authorities: CertificateAuthorities::default(),
            max_webhooks: (1, 100),
        }
    }
}

/// What the interface needs of the sender.
#[derive(Clone, Debug)]
pub struct WebhookAdmin {
    settings: Arc<WebhookSettings>,
    client: WebhookClient,
    commands: mpsc::UnboundedSender<SenderCommand>,
}

/// What the sender is asked.
#[derive(Debug)]
enum SenderCommand {
    /// Send nothing more to a webhook; told when nothing is on its way any more.
    Stop(i64, oneshot::Sender<()>),
    /// Something about a webhook changed.
    Rescan,
}

impl WebhookAdmin {
    /// A desk, and the sender that it belongs to.
    pub fn open(store: Arc<store::Store>, settings: WebhookSettings) -> (Self, WebhookSender) {
        let (asks, asked) = mpsc::unbounded_channel();
        let settings = Arc::new(settings);
        let courier = WebhookClient::new(&settings);
        let desk = Self {
            settings: Arc::clone(&settings),
            client: courier.clone(),
            commands: asks,
        };
        (desk, WebhookSender::new(store, settings, courier, asked))
    }

    /// How webhooks are served.
    pub fn settings(&self) -> &WebhookSettings {
        &self.settings
    }

    /// Reads the address of a receiver.
    pub fn parse_url(&self, url: &str) -> Result<TargetUrl, UrlProblem> {
        TargetUrl::parse(url, &self.settings.targets)
    }

    /// What reaches receivers.
    pub const fn client(&self) -> &WebhookClient {
        &self.client
    }

    /// Takes note of a challenge that was asked for: a webhook that answered rightly is valid,
    /// and gets all that waits for it.
    pub fn apply_challenge(&self, tx: &mut Tx<'_>, webhook_id: i64, challenged: &ChallengeResult) -> Result<(), Error> {
        challenged.record_for_webhook(tx, webhook_id, self.settings.challenge_interval)
    }

    /// Waits until nothing is on its way to a webhook that was removed just now.
    pub async fn stop_sending(&self, webhook_id: i64) {
        let (reply, stopped) = oneshot::channel();
        if self.commands.send(SenderCommand::Stop(webhook_id, reply)).is_ok() {
            // Without a sender nothing is on its way.
            let _ended = stopped.await;
        }
    }

    /// Has the sender look at what changed.
    pub fn wake_sender(&self) {
        let _nobody = self.commands.send(SenderCommand::Rescan);
    }
}

impl Default for WebhookAdmin {
    fn default() -> Self {
        let settings = Arc::new(WebhookSettings::default());
        Self {
            client: WebhookClient::new(&settings),
            commands: mpsc::unbounded_channel().0,
            settings,
        }
    }
}
