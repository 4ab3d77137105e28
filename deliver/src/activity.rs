//! Events: who asked to be told of them, and what each is told (contract §10.3, §10.5, §10.6).
//!
//! The log says what happened. [`matching`] finds those who want to know of a part of it, by the
//! users whom its entries concern: nobody who asks for nothing costs more than a look into an
//! index. The webhooks' part of it is done by [`follow`], from a cursor of its own and in one
//! transaction with the deliveries that it leads to; each node's part of the open streams by
//! [`Live`]. Both tell the same, with the same ids, which come from the place in the log.

mod account_events;
mod envelope;
mod live;
mod log_entry;
mod matching;
mod payload;
mod webhook_queue;

pub use envelope::EventEnvelope;
pub use live::{LiveActivityReader, replay_activity};
pub use matching::{ActivityScope, match_events};
pub use webhook_queue::{enqueue_webhook_events, has_unread_entries};

use base::Vocabulary;
use store::apps::App;
use view::{EventRenderer, RenderOptions};

/// What all events of a platform have in common.
#[derive(Clone, Copy, Debug)]
pub struct ActivityConfig {
    /// The vocabulary of apps that have chosen none.
    pub default_vocabulary: Vocabulary,
    /// The address that the platform's own files are at.
    pub site: &'static str,
}

impl ActivityConfig {
    /// How events are told to an app. Nothing in an event tells which counts a reader knows, so
    /// one whose app has chosen no vocabulary gets both.
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
            },
            site: self.site,
        }
    }
}
