//! Makes backups at regular intervals (`backup.to`, `backup.every`, `backup.keep`).

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Time, clock};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use web::metrics::ServerMetrics;

use instance::Instance;
use instance::backup::{BackupLocation, BackupManifest, BackupOptions, BackupReader, create_backup};
use instance::command_error::CommandError;
use instance::config::ServerSettings;

const RETRY_DELAY: Duration = Duration::from_mins(5);
/// The clock may be set meanwhile, and the machine may sleep.
const MAX_SLEEP: Duration = Duration::from_mins(10);

pub(crate) struct BackupSchedule {
    pub(crate) location: BackupLocation,
    pub(crate) every: Duration,
    keep: usize,
}

#[derive(Clone, Default)]
pub(super) struct BackupMetrics {
    completed: Counter,
    failed: Counter,
    last_completed: Gauge,
}

impl BackupSchedule {
    /// `None` if no scheduled backups are configured.
    pub(crate) fn from_settings(settings: &ServerSettings) -> Result<Option<Self>, CommandError> {
        let Some(to) = &settings.backup.to else {
            return Ok(None);
        };
        if matches!(settings.database_location(), store::DatabaseLocation::Server(_)) {
            return Err(CommandError::Usage(
                "backup.to: PostgreSQL databases are backed up with `pg_dump`, and media files with `locum backup \
                 --media-only` after it"
                    .to_owned(),
            ));
        }
        let location = BackupLocation::parse_collection(settings, to)?;
        Ok(Some(Self { location, every: settings.backup.every.0, keep: settings.backup.keep }))
    }

    /// When the newest backup with a database was made. Those from the future do not count: a clock was wrong.
    pub(crate) async fn newest_backup_time(&self) -> Result<Option<Time>, CommandError> {
        let exists = !matches!(&self.location, BackupLocation::Folder(path) if !path.exists());
        let reader = if exists { Some(BackupReader::open(&self.location)?) } else { None };
        let Some(reader) = reader else { return Ok(None) };
        let now = clock::wall_time();
        let is_past = |manifest: &BackupManifest| Time::parse(&manifest.created_at).is_some_and(|at| at <= now);
        let newest = reader.find_newest(|manifest| manifest.database.is_some() && is_past(manifest)).await?;
        Ok(newest.and_then(|manifest| Time::parse(&manifest.created_at)))
    }

    /// Zero if a backup is due.
    async fn time_until_due(&self) -> Result<Duration, Error> {
        let newest = self.newest_backup_time().await?;
        let Some(newest) = newest else {
            return Ok(Duration::ZERO);
        };
        let elapsed = clock::wall_time().ms().saturating_sub(newest.ms());
        Ok(self.every.saturating_sub(Duration::from_millis(u64::try_from(elapsed).unwrap_or(0))))
    }

    async fn run_once(&self, instance: &Instance, metrics: &BackupMetrics) -> Result<Duration, Error> {
        let wait = self.time_until_due().await?;
        if !wait.is_zero() {
            return Ok(wait);
        }
        let options = BackupOptions { keep: Some(self.keep), ..BackupOptions::default() };
        let report = create_backup(instance, &self.location, &options).await?;
        metrics.completed.inc();
        metrics.last_completed.set(clock::wall_time().seconds());
        tracing::info!(
            backup = report.backup,
            to = %self.location,
            database_bytes = report.database_bytes,
            media_files = report.media_files,
            media_bytes = report.media_bytes,
            copied_files = report.copied_files,
            copied_bytes = report.copied_bytes,
            removed_backups = report.removed_backups,
            "made a backup"
        );
        if report.absent_files > 0 {
            tracing::warn!(files = report.absent_files, "media files that the database names do not exist");
        }
        Ok(self.every)
    }
}

impl BackupMetrics {
    pub(super) fn register(metrics: &ServerMetrics) -> Self {
        let own = Self::default();
        metrics.register(|registry| {
            registry.register("backups", "Scheduled backups completed", own.completed.clone());
            registry.register("backup_failures", "Scheduled backups that failed", own.failed.clone());
            let help = "When this process last completed a scheduled backup, in Unix time";
            registry.register("last_backup_seconds", help, own.last_completed.clone());
        });
        own
    }
}

pub(super) type ScheduledBackups = (Arc<BackupSchedule>, Instance, BackupMetrics);

pub(super) async fn make_scheduled_backups((schedule, instance, metrics): ScheduledBackups) {
    loop {
        let wait = match Box::pin(schedule.run_once(&instance, &metrics)).await {
            Ok(wait) => wait,
            Err(error) => {
                metrics.failed.inc();
                tracing::error!(%error, to = %schedule.location, "a backup failed; will retry in five minutes");
                RETRY_DELAY
            }
        };
        tokio::time::sleep(wait.min(MAX_SLEEP)).await;
    }
}
