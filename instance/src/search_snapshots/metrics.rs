//! What is measured of snapshots.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use web::metrics::ServerMetrics;

#[derive(Default)]
pub(super) struct SnapshotMetrics {
    pub(super) completed: Counter,
    pub(super) failed: Counter,
    newest: Gauge,
    upload_seconds: Gauge<f64, AtomicU64>,
    restored_posts: Gauge,
}

impl SnapshotMetrics {
    pub(super) fn register(metrics: &ServerMetrics) -> Self {
        let own = Self::default();
        metrics.register(|registry| {
            let help = "Snapshots of the search index that this process completed";
            registry.register("search_snapshots", help, own.completed.clone());
            let help = "Snapshots of the search index that this process failed to make";
            registry.register("search_snapshot_failures", help, own.failed.clone());
            let help = "When the newest snapshot of the search index in the bucket was made, in Unix time";
            registry.register("newest_search_snapshot_seconds", help, own.newest.clone());
            let help = "How long this process took for its last snapshot of the search index";
            registry.register("search_snapshot_upload_seconds", help, own.upload_seconds.clone());
            let help = "Posts in the snapshot from which this process started its search index";
            registry.register("search_snapshot_posts", help, own.restored_posts.clone());
        });
        own
    }

    /// `None` if there is no snapshot.
    pub(super) fn set_newest(&self, created_at_ms: Option<i64>) {
        self.newest.set(created_at_ms.unwrap_or(0) / 1000);
    }

    pub(super) fn set_upload_time(&self, time: Duration) {
        self.upload_seconds.set(time.as_secs_f64());
    }

    pub(super) fn set_restored_posts(&self, posts: u64) {
        self.restored_posts.set(i64::try_from(posts).unwrap_or(i64::MAX));
    }
}
