//! What a server does besides answering requests.

use base::Error;
use futures_util::future::BoxFuture;

use super::ApiServer;
use crate::limits::RateLimitMode;

impl ApiServer {
    /// Stores the calls and post reads counted since the last flush.
    pub fn flush_usage(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let state = &self.shared.app_state;
            state.usage.flush(&state.store).await?;
            state.post_reads.flush(&state.store).await
        })
    }

    /// Stores the views of posts and the playbacks of films since the last flush.
    pub fn flush_views(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let state = &self.shared.app_state;
            state.views.flush(&state.store).await?;
            state.playbacks.flush(&state.store).await
        })
    }

    /// Stores all that was only counted. Failures are logged.
    pub fn store_counts(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for stored in [self.flush_views().await, self.flush_usage().await] {
                if let Err(error) = stored {
                    tracing::warn!(%error, "failed to store views and usage; will retry");
                }
            }
        })
    }

    /// Loads the name of the site and which texts it has, for pages and emails, in an endless loop.
    pub fn follow_site_settings(&self) -> BoxFuture<'_, ()> {
        let state = &self.shared.app_state;
        Box::pin(state.page_context.site.follow_settings(&state.store))
    }

    /// Reads new posts for home timelines in an endless loop.
    pub fn follow_new_posts(&self) -> BoxFuture<'_, ()> {
        let state = &self.shared.app_state;
        Box::pin(state.home_timelines.follow_log(&state.store))
    }

    /// Wakes open pages of conversations in an endless loop.
    pub fn follow_new_messages(&self) -> BoxFuture<'_, ()> {
        let state = &self.shared.app_state;
        Box::pin(state.message_watchers.follow_log(&state.store))
    }

    /// Ends every stream and records that it ended.
    pub async fn shut_down_streams(&self) -> Result<(), Error> {
        let hub = &self.shared.app_state.stream_hub;
        hub.shut_down();
        self.shared.app_state.post_streams.stop();
        hub.record_ended().await
    }

    pub fn rate_limit_mode(&self) -> RateLimitMode {
        self.shared.limiter.mode()
    }

    pub fn set_rate_limit_mode(&self, mode: RateLimitMode) {
        self.shared.limiter.set_mode(mode);
    }

    /// Gives back calls that this node has leased a second ago and not used.
    pub fn return_unused_calls(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shared.limiter.return_unused_calls())
    }

    /// Gives back all calls that this node has leased and not used. Failures are logged.
    pub fn return_all_calls(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shared.limiter.return_all_calls())
    }
}
