//! Events: who asked to be told of them, and what each is told (contract §10.3, §10.5, §10.6).
//!
//! The log says what happened. [`matching`] finds those who want to know of a part of it, by the
//! users whom its entries concern: nobody who asks for nothing costs more than a look into an
//! index. The webhooks' part of it is done by [`follow`], from a cursor of its own and in one
//! transaction with the deliveries that it leads to; each node's part of the open streams by
//! [`Live`]. Both tell the same, with the same ids, which come from the place in the log.

mod account;
mod concern;
mod envelope;
mod follower;
mod live;
mod matching;
mod payload;

pub use envelope::Envelope;
pub use follower::{follow, is_behind};
pub use live::{Live, past};
pub use matching::{Scope, matching};

use base::Vocabulary;
use store::apps::App;
use view::{Shared, Spoken};

/// What all events of a platform have in common.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The vocabulary of apps that have chosen none.
    pub speech: Vocabulary,
    /// The address that the platform's own files are at.
    pub site: &'static str,
}

impl Home {
    /// How events are told to an app. Nothing in an event tells which counts a reader knows, so
    /// one whose app has chosen no vocabulary gets both.
    fn shared(self, app: &App) -> Shared {
        let chosen = match app.vocabulary.as_str() {
            "posts" => Some(Vocabulary::Post),
            "tweets" => Some(Vocabulary::Tweet),
            _ => None,
        };
        Shared {
            spoken: Spoken {
                speech: chosen.unwrap_or(self.speech),
                both_metrics: chosen.is_none(),
            },
            site: self.site,
        }
    }
}
