//! Background jobs: retention, polls, trends, activity dispatch, compliance jobs, erasure of accounts, scheduled posts of
//! members and outgoing email. [`JOBS`], [`start`] and [`start_webhooks`] are those of the role `deliver`.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Fault, Refusal, clock};
use deliver::activity::{self, ACTIVITY_READER, ActivityConfig, LiveActivityReader};
use deliver::streams::Hub;
use deliver::webhooks::WebhookSender;
use edge::Shutdown;
use identity::account_deletion;
use network::emails::{self, Mailer};
use network::interactions::{INTERACTIONS_READER, record_interactions};
use network::retention::{RetentionPeriods, create_partitions, prune_expired};
use network::{search_words, unpublished_posts};
use store::event_log::{LogEvent, LogReader};
use store::records::RecordIndexBuild;
use store::{NodeRole, Store};
use web::error_formats::error_message;
use web::uploads::UploadProcessor;

use super::counter_folding::fold_counters;
use super::job_runner::BackgroundJob;
use super::supervisor::Supervisor;
use instance::Instance;
use instance::command::news;
use instance::config::ServerSettings;

const RETENTION_INTERVAL: Duration = Duration::from_mins(1);

pub(super) fn start(tasks: &mut Supervisor, instance: &Instance, mailer: Option<Arc<dyn Mailer>>) {
    tasks.start("trends", instance, refresh_trends);
    if instance.store.is_shared() {
        tasks.start("counters", instance, fold_counters);
    }
    let mail = (Arc::clone(&instance.store), mailer);
    tasks.start("emails", &mail, |(store, mailer), shutdown| async move {
        if let Some(mailer) = mailer {
            emails::run_sender(store, mailer, Box::pin(async move { shutdown.wait().await })).await;
        }
    });
}

pub(super) fn start_webhooks(tasks: &mut Supervisor, sender: &Arc<WebhookSender>) {
    tasks.start("webhook_deliveries", sender, |sender, shutdown| async move {
        sender.send_deliveries(shutdown.wait()).await;
    });
    tasks.start_endless("webhook_challenges", sender, |sender| async move {
        sender.send_challenges().await;
    });
    tasks.start_endless("webhook_replays", sender, |sender| async move {
        sender.run_replays().await;
    });
}

const MOVE_RETRY_DELAY: Duration = Duration::from_mins(5);

/// Files stay available while they are moved.
pub(super) async fn move_files_to_bucket(files: media::FileStore) {
    loop {
        match files.move_to_bucket().await {
            Ok(0) => return,
            Ok(count) => return tracing::info!(count, "moved files to the bucket"),
            Err(error) => tracing::warn!(%error, "failed to move files to the bucket; will retry in five minutes"),
        }
        tokio::time::sleep(MOVE_RETRY_DELAY).await;
    }
}

const INDEX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Lists of advertising records are slow without them.
pub(super) async fn build_record_indexes(store: Arc<Store>) {
    while let Err(error) = store.sync_record_indexes(ads_delivery::record_indexes(), RecordIndexBuild::Always).await {
        tracing::warn!(%error, "failed to build indexes of advertising records; will retry");
        tokio::time::sleep(INDEX_RETRY_DELAY).await;
    }
}

const POLLS_PER_TRANSACTION: i64 = 100;

/// In the order in which they run when the clock is moved.
pub(super) static JOBS: &[BackgroundJob] = &[
    // Polls that ended while no server was running are closed at the next start.
    BackgroundJob {
        name: "polls",
        interval: Duration::from_secs(1),
        run_part: |instance| Box::pin(close_poll_batch(instance)),
        next_due: |tx, _| Ok(store::polls::next_end(tx)?),
    },
    BackgroundJob {
        name: "moderation",
        interval: Duration::from_secs(5),
        run_part: |instance| Box::pin(lift_ended_actions(instance)),
        next_due: |tx, _| Ok(identity::moderation::next_end(tx)?),
    },
    BackgroundJob {
        name: "account_deletions",
        interval: Duration::from_secs(5),
        run_part: |instance| Box::pin(erase_account_part(instance)),
        next_due: |tx, _| Ok(account_deletion::next_due(tx)?),
    },
    BackgroundJob {
        name: "post_removals",
        interval: Duration::from_secs(5),
        run_part: |instance| Box::pin(continue_post_removal(instance)),
        next_due: |_, _| Ok(None),
    },
    BackgroundJob {
        name: "members_scheduled_posts",
        interval: Duration::from_secs(1),
        run_part: |instance| Box::pin(publish_scheduled_post(instance)),
        next_due: |tx, _| Ok(unpublished_posts::next_due(tx)?),
    },
    BackgroundJob {
        name: "compliance_jobs",
        interval: Duration::from_secs(1),
        run_part: |instance| Box::pin(run_compliance_batch(instance)),
        next_due: |_, _| Ok(None),
    },
];

async fn close_poll_batch(instance: Instance) -> Result<u64, Error> {
    let ended = instance.store.read(|tx| Ok(store::polls::list_ended(tx, 1)?.len())).await?;
    if ended == 0 {
        return Ok(0);
    }
    let close = |tx: &mut store::Tx<'_>| Ok(network::polls::close_ended_polls(tx, POLLS_PER_TRANSACTION)?);
    let closed = instance.store.write(close).await?;
    Ok(u64::try_from(closed).unwrap_or(0))
}

const ACTIONS_PER_TRANSACTION: i64 = 20;

/// Ends suspensions and other moderation actions whose time has come.
async fn lift_ended_actions(instance: Instance) -> Result<u64, Error> {
    let ended = instance.store.read(|tx| Ok(store::moderation::list_ended(tx, 1)?.len())).await?;
    if ended == 0 {
        return Ok(0);
    }
    let lifted = instance.store.write(|tx| identity::moderation::lift_ended(tx, ACTIONS_PER_TRANSACTION)).await?;
    Ok(u64::try_from(lifted).unwrap_or(0))
}

/// Erases deleted accounts that can no longer be restored; an interrupted erasure resumes where it stopped.
async fn erase_account_part(instance: Instance) -> Result<u64, Error> {
    let Some(user) = instance.store.read(|tx| Ok(account_deletion::find_due(tx)?)).await? else {
        return Ok(0);
    };
    if let Err(error) = instance.store.write(move |tx| account_deletion::erase_part(tx, user)).await {
        tracing::error!(%error, %user, "failed to erase a deleted account; postponed");
        instance.store.write(move |tx| Ok(account_deletion::postpone(tx, user)?)).await?;
    }
    Ok(1)
}

/// Deletes reposts, likes and bookmarks of deleted posts that had many.
async fn continue_post_removal(instance: Instance) -> Result<u64, Error> {
    if instance.store.read(|tx| Ok(store::posts::find_incomplete_removal(tx)?)).await?.is_none() {
        return Ok(0);
    }
    let continues = instance.store.write(|tx| Ok(network::posts::continue_removal(tx)?)).await?;
    Ok(u64::from(continues))
}

/// Publishes the scheduled post of a member that is due first.
async fn publish_scheduled_post(instance: Instance) -> Result<u64, Error> {
    let Some(id) = instance.store.read(|tx| Ok(unpublished_posts::find_due(tx)?)).await? else {
        return Ok(0);
    };
    let explain = |refusal: &Refusal| error_message(refusal).to_owned();
    let publish = move |tx: &mut store::Tx<'_>| unpublished_posts::publish_due(tx, id, explain);
    if let Err(error) = instance.store.write(publish).await {
        tracing::warn!(%error, id, "failed to publish a scheduled post of a member; postponed");
        instance.store.write(move |tx| unpublished_posts::postpone(tx, id)).await?;
    }
    Ok(1)
}

const TRENDS_INTERVAL: Duration = Duration::from_secs(1);
/// Ticks between refreshes while new posts arrive.
const REFRESH_AFTER_TICKS: u64 = 5;
/// Limits refreshes to one part in this many of the time, up to [`MAX_TICKS_BETWEEN_REFRESHES`].
const REFRESH_TIME_DIVISOR: u32 = 50;
const MAX_TICKS_BETWEEN_REFRESHES: u64 = 30;
/// Ticks between refreshes without new posts; trends also change as posts age.
const IDLE_REFRESH_TICKS: u64 = 300;

/// Ticks after which the log is read although no entry was announced.
const LOG_FALLBACK_TICKS: u64 = 30;

/// Each part of the event log is processed by exactly one node.
async fn refresh_trends(instance: Instance, shutdown: Shutdown) {
    let (mut ticks, mut changed, mut threshold) = (0, true, REFRESH_AFTER_TICKS);
    let mut events = instance.store.subscribe_events();
    events.mark_changed();
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(TRENDS_INTERVAL, shutdown.wait()).await;
        if shutdown.is_triggered() {
            return;
        }
        // While the time stands still, trends change only when it is moved: not depending on when this runs.
        if instance.store.context().clock.is_frozen() {
            continue;
        }
        ticks += 1;
        if events.has_changed().unwrap_or(true) || ticks % LOG_FALLBACK_TICKS == 0 {
            events.mark_unchanged();
            match news::follow_event_log(&instance).await {
                Ok(more) => changed |= more,
                Err(error) => {
                    tracing::warn!(%error, "failed to count topics; will retry");
                    events.mark_changed();
                }
            }
        }
        if changed && ticks >= threshold || ticks >= IDLE_REFRESH_TICKS {
            (ticks, changed) = (0, false);
            let started = clock::monotonic_now();
            if let Err(error) = news::refresh_trends(&instance).await {
                tracing::warn!(%error, "failed to refresh trends; will retry");
            }
            let scaled = started.elapsed().saturating_mul(REFRESH_TIME_DIVISOR);
            threshold = scaled.as_secs().clamp(REFRESH_AFTER_TICKS, MAX_TICKS_BETWEEN_REFRESHES);
        }
    }
}

/// Delay that collects consecutive events into one batch.
const GATHER_DELAY: Duration = Duration::from_millis(30);
/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);

/// Queues webhook deliveries (each on exactly one node) and sends events to this node's open streams.
pub(super) async fn dispatch_activity(instance: Instance, hub: Hub, config: ActivityConfig, shutdown: Shutdown) {
    let mut wake = instance.store.subscribe_events();
    let mut live = LiveActivityReader::new(Arc::clone(&instance.store), hub, config);
    let roles = instance.settings.roles();
    loop {
        let streams = async { if roles.contains(NodeRole::Stream) { live.poll_once().await } else { Ok(false) } };
        let queueing = async {
            if roles.contains(NodeRole::Deliver) { process_entries(&instance, config).await } else { Ok(false) }
        };
        let (queued, sent) = tokio::join!(queueing, streams);
        if shutdown.is_triggered() {
            return;
        }
        let more = match (queued, sent) {
            (Ok(one), Ok(other)) => one || other,
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(%error, "failed to dispatch activity events; will retry");
                tokio::time::sleep(TRENDS_INTERVAL).await;
                true
            }
        };
        if !more {
            tokio::select! {
                _ = tokio::time::timeout(FALLBACK_INTERVAL, wake.changed()) => {}
                () = shutdown.wait() => return,
            }
            tokio::time::sleep(GATHER_DELAY).await;
        }
    }
}

/// Queues webhook deliveries, and records what concerns members. Returns whether there may be more to process.
pub(super) async fn process_entries(instance: &Instance, config: ActivityConfig) -> Result<bool, Error> {
    let enqueue =
        move |tx: &mut store::Tx<'_>, events: &[LogEvent]| activity::enqueue_webhook_events(tx, events, config);
    let queued = ACTIVITY_READER.process_unread(&instance.store, enqueue).await?;
    let recorded = INTERACTIONS_READER.process_unread(&instance.store, record_interactions).await?;
    Ok(queued.max(recorded) >= LogReader::BATCH_SIZE)
}

/// Processes jobs in batches of ids; an interrupted job resumes where it stopped.
async fn run_compliance_batch(instance: Instance) -> Result<u64, Error> {
    let waiting = |tx: &mut store::Tx<'_>| Ok(network::compliance::has_waiting_job(tx)?);
    if !instance.store.read(waiting).await? {
        return Ok(0);
    }
    let work = |tx: &mut store::Tx<'_>| Ok(network::compliance::process_next_part(tx)?);
    Ok(u64::from(instance.store.write(work).await?))
}

pub(super) async fn enforce_retention(instance: Instance, uploads: Option<UploadProcessor>, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        if let Err(error) = create_partitions(&instance.store, clock::wall_time()).await {
            tracing::warn!(%error, "failed to create the partitions of the coming days; will retry in a minute");
        }
        let _early = tokio::time::timeout(RETENTION_INTERVAL, shutdown.wait()).await;
        if shutdown.is_triggered() {
            return;
        }
        if instance.store.context().node.has_wrong_clock() {
            continue;
        }
        if let Err(error) = remove_expired(&instance, uploads.as_ref()).await {
            tracing::warn!(%error, "failed to delete expired data; will retry in a minute");
        }
    }
}

/// Returns how many rows it deleted.
pub(super) async fn remove_expired(instance: &Instance, uploads: Option<&UploadProcessor>) -> Result<u64, Error> {
    let periods = retention_config(&instance.settings);
    let swept = prune_expired(&instance.store, periods, clock::wall_time()).await;
    instance.store.write(|tx| Ok(account_deletion::reopen_incomplete(tx)?)).await?;
    while instance.store.write(|tx| Ok(search_words::rebuild_part(tx)?)).await? {}
    // The storage of media may fail for long.
    if let Some(uploads) = uploads {
        uploads.remove_expired().await?;
    }
    let swept = swept?;
    for (what, rows) in swept.iter().filter(|(_, rows)| *rows > 0) {
        tracing::debug!(what, rows, "swept");
    }
    Ok(swept.iter().map(|(_, rows)| rows).sum())
}

fn retention_config(settings: &ServerSettings) -> RetentionPeriods {
    RetentionPeriods {
        session_ttl_ms: settings.auth.session_ttl.as_ms(),
        log_ms: settings.db.log_retention.as_ms(),
        deliveries_ms: settings.webhook_retention_ms,
        audit_ms: settings.observe.audit_retention.as_ms(),
    }
}

pub(super) fn configured_mailer(settings: &ServerSettings) -> Result<Option<Arc<dyn Mailer>>, Fault> {
    let Some(mail) = &settings.mail else {
        return Ok(None);
    };
    Ok(Some(Arc::new(mail::SmtpMailer::new(&mail.url, &mail.from)?)))
}
