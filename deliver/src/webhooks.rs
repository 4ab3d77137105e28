//! Signed deliveries to receivers: challenges, attempts, retries, replay.
//!
//! What is to be sent stands in the store ([`store::deliveries::enqueue`]); the [`Sender`] sends
//! it and notes each try. The [`Desk`] is what the interface needs of it: challenging a receiver
//! now, and stopping what is on its way to one that is removed.

mod address;
mod authorities;
mod challenge;
mod connect;
mod courier;
mod lane;
mod record;
mod replays;
mod schedule;
mod sender;
mod signature;
mod target;
mod upkeep;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use base::Error;
use store::Tx;
use tokio::sync::{mpsc, oneshot};

pub use address::{Block, Targets};
pub use authorities::Authorities;
pub use challenge::{Challenged, Failure};
pub use connect::Names;
pub use courier::Courier;
pub use schedule::Schedule;
pub use sender::Sender;
pub use signature::{HEADER as SIGNATURE_HEADER, sign};
pub use target::{Place, UrlProblem};

/// How webhooks are served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This node's number.
    pub node: u16,
    /// How long a receiver may take to answer.
    pub timeout: Duration,
    /// How long is waited after each try that failed.
    pub retry: Schedule,
    /// For how long nothing may reach a receiver before it gets nothing any more.
    pub disable_after: Duration,
    /// How often a receiver is challenged that answered the last time.
    pub check_every: Duration,
    /// Where receivers may be.
    pub targets: Targets,
    /// Who resolves names.
    pub names: Names,
    /// Who vouches for receivers, beside those whom the system trusts.
    pub authorities: Authorities,
    /// How many webhooks an app may have, and one of the enterprise tier.
    pub most: (i64, i64),
}

impl Default for Settings {
    fn default() -> Self {
        const HOUR: u64 = 3600;
        Self {
            node: 0,
            timeout: Duration::from_secs(10),
            retry: Schedule::default(),
            disable_after: Duration::from_secs(28 * HOUR),
            check_every: Duration::from_secs(24 * HOUR),
            targets: Targets::default(),
            names: Names::System,
            authorities: Authorities::default(),
            most: (1, 100),
        }
    }
}

/// What the interface needs of the sender.
#[derive(Clone, Debug)]
pub struct Desk {
    settings: Arc<Settings>,
    courier: Courier,
    asks: mpsc::UnboundedSender<Ask>,
}

/// What the sender is asked.
#[derive(Debug)]
enum Ask {
    /// Send nothing more to a webhook; told when nothing is on its way any more.
    Stop(i64, oneshot::Sender<()>),
    /// Something about a webhook changed.
    Look,
}

impl Desk {
    /// A desk, and the sender that it belongs to.
    pub fn open(store: Arc<store::Store>, settings: Settings) -> (Self, Sender) {
        let (asks, asked) = mpsc::unbounded_channel();
        let settings = Arc::new(settings);
        let courier = Courier::new(&settings);
        let desk = Self {
            settings: Arc::clone(&settings),
            courier: courier.clone(),
            asks,
        };
        (desk, Sender::new(store, settings, courier, asked))
    }

    /// How webhooks are served.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads the address of a receiver.
    pub fn read(&self, url: &str) -> Result<Place, UrlProblem> {
        Place::read(url, &self.settings.targets)
    }

    /// What reaches receivers.
    pub const fn courier(&self) -> &Courier {
        &self.courier
    }

    /// Takes note of a challenge that was asked for: a webhook that answered rightly is valid,
    /// and gets all that waits for it.
    pub fn settle(
        &self,
        tx: &mut Tx<'_>,
        webhook_id: i64,
        challenged: &Challenged,
    ) -> Result<(), Error> {
        challenged.settle(tx, webhook_id, self.settings.check_every)
    }

    /// Waits until nothing is on its way to a webhook that was removed just now.
    pub async fn stop(&self, webhook_id: i64) {
        let (reply, stopped) = oneshot::channel();
        if self.asks.send(Ask::Stop(webhook_id, reply)).is_ok() {
            // Without a sender nothing is on its way.
            let _ended = stopped.await;
        }
    }

    /// Has the sender look at what changed.
    pub fn look(&self) {
        let _nobody = self.asks.send(Ask::Look);
    }
}

impl Default for Desk {
    fn default() -> Self {
        let settings = Arc::new(Settings::default());
        Self {
            courier: Courier::new(&settings),
            asks: mpsc::unbounded_channel().0,
            settings,
        }
    }
}
