//! Work that nobody waits for: every minute, what has had its time is forgotten; every second, the
//! end of polls is told; where there is a mail server, letters are handed to it.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Fault, clock};
use deliver::activity::{self, ActivityConfig, LiveActivityReader};
use deliver::streams::Hub;
use edge::Shutdown;
use network::emails::{self, Mailer};
use network::retention::{RetentionPeriods, prune_expired};
use web::uploads::UploadProcessor;

use crate::command::news;
use crate::config::ServerSettings;
use crate::instance::Instance;

const RETENTION_INTERVAL: Duration = Duration::from_mins(1);

/// Moves files that lie in the folder to the bucket, where there is one. They are found meanwhile.
pub(super) async fn move_files_to_bucket(files: media::FileStore, shutdown: &Shutdown) {
    tokio::select! {
        moved = files.move_to_bucket() => match moved {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "files were moved to the bucket"),
            Err(error) => tracing::warn!(%error, "files stay in the folder until the next start"),
        },
        () = shutdown.wait() => {}
    }
}

/// How often polls that end are looked for.
const POLLS_INTERVAL: Duration = Duration::from_secs(1);
/// Polls that are ended in one transaction.
const POLLS_PER_TRANSACTION: i64 = 100;

/// Tells of polls that ended, until the signal to stop. What ended while nothing ran is told when
/// it runs again; of several nodes one tells it.
pub(super) async fn close_polls(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match close_poll_batch(&instance).await {
            // There may be more of them.
            Ok(count) if i64::try_from(count).unwrap_or(POLLS_PER_TRANSACTION) >= POLLS_PER_TRANSACTION => {
                continue;
            }
            Ok(_) => {}
            Err(stop) => tracing::warn!(?stop, "ending polls failed; it is tried again"),
        }
        let _early = tokio::time::timeout(POLLS_INTERVAL, shutdown.wait()).await;
    }
}

async fn close_poll_batch(instance: &Instance) -> Result<usize, Error> {
    let ended = instance
        .store
        .read(|tx| Ok(store::polls::list_ended(tx, 1)?.len()))
        .await?;
    if ended == 0 {
        return Ok(0);
    }
    let close = |tx: &mut store::Tx<'_>| Ok(network::polls::close_ended_polls(tx, POLLS_PER_TRANSACTION)?);
    instance.store.write(close).await
}

/// How often the log is looked at for what people write about.
const TRENDS_INTERVAL: Duration = Duration::from_secs(1);
/// Looks after which trends and stories are worked out anew when something was written.
const REFRESH_AFTER_TICKS: u64 = 5;
/// The more is written about, the longer that takes, and the rarer it is done: of so many moments it
/// has one, if not after as many looks as [`MOST_LOOKS`].
const REFRESH_TIME_DIVISOR: u32 = 50;
const MAX_TICKS_BETWEEN_REFRESHES: u64 = 30;
/// The same when nothing was: what was new is not, an hour later.
const IDLE_REFRESH_TICKS: u64 = 300;

/// Keeps topics, trends and news up to date, until the signal to stop. Of several nodes one reads
/// each part of the log.
pub(super) async fn refresh_trends(instance: Instance, shutdown: Shutdown) {
    let (mut looks, mut something, mut wait) = (0, true, REFRESH_AFTER_TICKS);
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(TRENDS_INTERVAL, shutdown.wait()).await;
        if shutdown.is_triggered() {
            return;
        }
        looks += 1;
        match news::follow_event_log(&instance).await {
            Ok(more) => something |= more,
            Err(stop) => tracing::warn!(?stop, "topics were not counted; it is tried again"),
        }
        if something && looks >= wait || looks >= IDLE_REFRESH_TICKS {
            (looks, something) = (0, false);
            let started = clock::monotonic_now();
            if let Err(stop) = news::refresh_trends(&instance).await {
                tracing::warn!(?stop, "trends were not worked out; it is tried again");
            }
            let took = started.elapsed().saturating_mul(REFRESH_TIME_DIVISOR);
            wait = took.as_secs().clamp(REFRESH_AFTER_TICKS, MAX_TICKS_BETWEEN_REFRESHES);
        }
    }
}

/// How long what is told one after the other is gathered, so that a busy log is read in batches.
const GATHER_DELAY: Duration = Duration::from_millis(30);
/// How often the log is looked at where other nodes write to it, and where none does.
const MULTI_NODE_LOG_INTERVAL: Duration = Duration::from_millis(100);
const SINGLE_NODE_LOG_INTERVAL: Duration = Duration::from_secs(5);
/// Entries of the log that one transaction takes up.
const ENTRIES_PER_TRANSACTION: i64 = 500;

/// Queues for webhooks what the log tells of, and sends it to this node's open streams, until the
/// signal to stop. Of several nodes one queues each part.
pub(super) async fn dispatch_activity(instance: Instance, hub: Hub, home: ActivityConfig, shutdown: Shutdown) {
    let mut wake = instance.store.subscribe_events();
    let each = if instance.store.is_shared() {
        MULTI_NODE_LOG_INTERVAL
    } else {
        SINGLE_NODE_LOG_INTERVAL
    };
    let mut live = LiveActivityReader::new(Arc::clone(&instance.store), hub, home);
    loop {
        let streams = live.poll_once();
        let (queued, sent) = tokio::join!(queue_deliveries(&instance, home), streams);
        if shutdown.is_triggered() {
            return;
        }
        let more = match (queued, sent) {
            (Ok(one), Ok(other)) => one || other,
            (Err(stop), _) | (_, Err(stop)) => {
                tracing::warn!(?stop, "events were not told; it is tried again");
                tokio::time::sleep(TRENDS_INTERVAL).await;
                true
            }
        };
        if !more {
            tokio::select! {
                _ = tokio::time::timeout(each, wake.changed()) => {}
                () = shutdown.wait() => return,
            }
            tokio::time::sleep(GATHER_DELAY).await;
        }
    }
}

/// Whether there may be more to queue.
async fn queue_deliveries(instance: &Instance, home: ActivityConfig) -> Result<bool, Error> {
    let behind = |tx: &mut store::Tx<'_>| Ok(activity::has_unread_entries(tx)?);
    if !instance.store.read(behind).await? {
        return Ok(false);
    }
    let follow = move |tx: &mut store::Tx<'_>| Ok(activity::enqueue_webhook_events(tx, ENTRIES_PER_TRANSACTION, home)?);
    let read = instance.store.write(follow).await?;
    Ok(i64::try_from(read).unwrap_or(ENTRIES_PER_TRANSACTION) >= ENTRIES_PER_TRANSACTION)
}

/// Keeps the index of posts up with the log, until the signal to stop. Every node has its own.
pub(super) async fn index_posts(instance: Instance, shutdown: Shutdown) {
    let Some(search) = &instance.search else {
        return;
    };
    tokio::select! {
        () = search.run_indexer(&instance.store) => {}
        () = shutdown.wait() => {}
    }
}

/// How often compliance jobs are looked for.
const COMPLIANCE_JOBS_INTERVAL: Duration = Duration::from_secs(1);

/// Works on compliance jobs, some ids at a time, until the signal to stop. A job that a stop
/// interrupts goes on where it was.
pub(super) async fn run_compliance_jobs(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match run_compliance_batch(&instance).await {
            // There may be more of it.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => tracing::warn!(?stop, "a compliance job failed; it is tried again"),
        }
        let _early = tokio::time::timeout(COMPLIANCE_JOBS_INTERVAL, shutdown.wait()).await;
    }
}

async fn run_compliance_batch(instance: &Instance) -> Result<bool, Error> {
    let waiting = |tx: &mut store::Tx<'_>| Ok(network::compliance::has_waiting_job(tx)?);
    if !instance.store.read(waiting).await? {
        return Ok(false);
    }
    let work = |tx: &mut store::Tx<'_>| Ok(network::compliance::process_next_part(tx)?);
    instance.store.write(work).await
}

/// Sweeps each minute until the signal to stop.
pub(super) async fn enforce_retention(instance: Instance, uploads: Option<UploadProcessor>, shutdown: Shutdown) {
    let kept = retention_config(&instance.settings);
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(RETENTION_INTERVAL, shutdown.wait()).await;
        if shutdown.is_triggered() {
            return;
        }
        match prune_expired(&instance.store, kept, clock::wall_time()).await {
            Ok(swept) => {
                for (what, rows) in swept.into_iter().filter(|(_, rows)| *rows > 0) {
                    tracing::debug!(what, rows, "swept");
                }
            }
            Err(stop) => tracing::warn!(?stop, "sweeping failed; the next minute tries again"),
        }
        if let Some(uploads) = &uploads
            && let Err(stop) = uploads.remove_expired().await
        {
            tracing::warn!(?stop, "old uploads were not removed; the next minute tries again");
        }
    }
}

fn retention_config(settings: &ServerSettings) -> RetentionPeriods {
    let ms = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    RetentionPeriods {
        session_ttl_ms: ms(settings.session_ttl),
        log_ms: ms(settings.log_retention),
        deliveries_ms: ms(settings.webhook_retention),
        audit_ms: ms(settings.audit_retention),
    }
}

/// The mail server, if the configuration names one.
pub(super) fn configured_mailer(settings: &ServerSettings) -> Result<Option<Arc<dyn Mailer>>, Fault> {
    let Some(mail) = &settings.mail else {
        return Ok(None);
    };
    Ok(Some(Arc::new(mail::SmtpMailer::new(&mail.url, &mail.from)?)))
}

/// Sends letters until the signal to stop. One that is just being handed over is claimed for some
/// minutes and is tried again after that.
pub(super) async fn send_emails(instance: Instance, mailer: Option<Arc<dyn Mailer>>, shutdown: Shutdown) {
    let Some(mailer) = mailer else {
        return;
    };
    tokio::select! {
        () = emails::run_sender(instance.store, mailer) => {}
        () = shutdown.wait() => {}
    }
}
