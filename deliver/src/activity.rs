//! Activity events: subscriptions and their event payloads (contract core §10.3, §10.5, §10.6).
//!
//! Events derive from the event log. `matching` finds the subscriptions for a part of the log through an
//! index by affected user, so that users without subscriptions cost one index lookup.
//! [`enqueue_webhook_events`] handles webhooks from a durable cursor, in one transaction with the deliveries
//! it creates; [`LiveActivityReader`] handles the open streams of a node. Both produce the same events with
//! the same ids, which derive from the log offset.

mod account_events;
mod envelope;
mod live;
mod matching;
mod payload;
mod webhook_queue;

pub use envelope::EventEnvelope;
pub use live::{LiveActivityReader, replay_activity};
pub use matching::{ActivityScope, match_events};
pub use webhook_queue::{
    ACTIVITY_READER, enqueue_webhook_events, wait_for_readers, wait_for_readers_if_frozen, wait_until_read,
};

use base::{SiteLinks, Vocabulary};
use store::apps::App;
use view::{EventRenderer, RenderOptions};

#[derive(Clone, Copy, Debug)]
pub struct ActivityConfig {
    /// The vocabulary of apps without a preference.
    pub default_vocabulary: Vocabulary,
    pub site: SiteLinks,
}

impl ActivityConfig {
    /// Returns the renderer for an app. Events do not show which metric names a client knows, so an app
    /// without a preference gets both.
    fn renderer_for_app(self, app: &App) -> EventRenderer {
        let chosen = match app.vocabulary.as_str() {
            "posts" => Some(Vocabulary::Post),
            "tweets" => Some(Vocabulary::Tweet),
            _ => None,
        };
        EventRenderer {
            options: RenderOptions {
                vocabulary: chosen.unwrap_or(self.default_vocabulary),
                both_metric_names: chosen.is_none(),
                newer_models: false,
            },
            site: self.site,
        }
    }
}
