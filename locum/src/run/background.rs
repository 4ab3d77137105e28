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
use web::uploads::Uploads;

use crate::command::news;
use crate::config::Settings;
use crate::world::World;

const EACH: Duration = Duration::from_mins(1);

/// Moves files that lie in the folder to the bucket, where there is one. They are found meanwhile.
pub(super) async fn settle(files: media::FileStore, shutdown: &Shutdown) {
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
const POLLS_EACH: Duration = Duration::from_secs(1);
/// Polls that are ended in one transaction.
const POLLS: i64 = 100;

/// Tells of polls that ended, until the signal to stop. What ended while nothing ran is told when
/// it runs again; of several nodes one tells it.
pub(super) async fn close_polls(world: World, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match close_some(&world).await {
            // There may be more of them.
            Ok(count) if i64::try_from(count).unwrap_or(POLLS) >= POLLS => continue,
            Ok(_) => {}
            Err(stop) => tracing::warn!(?stop, "ending polls failed; it is tried again"),
        }
        let _early = tokio::time::timeout(POLLS_EACH, shutdown.wait()).await;
    }
}

async fn close_some(world: &World) -> Result<usize, Error> {
    let ended = world
        .store
        .read(|tx| Ok(store::polls::list_ended(tx, 1)?.len()))
        .await?;
    if ended == 0 {
        return Ok(0);
    }
    let close = |tx: &mut store::Tx<'_>| Ok(network::polls::close_ended_polls(tx, POLLS)?);
    world.store.write(close).await
}

/// How often the log is looked at for what people write about.
const TOPICS_EACH: Duration = Duration::from_secs(1);
/// Looks after which trends and stories are worked out anew when something was written.
const LOOKS: u64 = 5;
/// The more is written about, the longer that takes, and the rarer it is done: of so many moments it
/// has one, if not after as many looks as [`MOST_LOOKS`].
const SHARE: u32 = 50;
const MOST_LOOKS: u64 = 30;
/// The same when nothing was: what was new is not, an hour later.
const IDLE_LOOKS: u64 = 300;

/// Keeps topics, trends and news up to date, until the signal to stop. Of several nodes one reads
/// each part of the log.
pub(super) async fn follow_topics(world: World, shutdown: Shutdown) {
    let (mut looks, mut something, mut wait) = (0, true, LOOKS);
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(TOPICS_EACH, shutdown.wait()).await;
        if shutdown.is_triggered() {
            return;
        }
        looks += 1;
        match news::follow(&world).await {
            Ok(more) => something |= more,
            Err(stop) => tracing::warn!(?stop, "topics were not counted; it is tried again"),
        }
        if something && looks >= wait || looks >= IDLE_LOOKS {
            (looks, something) = (0, false);
            let started = clock::monotonic_now();
            if let Err(stop) = news::refresh(&world).await {
                tracing::warn!(?stop, "trends were not worked out; it is tried again");
            }
            let took = started.elapsed().saturating_mul(SHARE);
            wait = took.as_secs().clamp(LOOKS, MOST_LOOKS);
        }
    }
}

/// How long what is told one after the other is gathered, so that a busy log is read in batches.
const GATHERED: Duration = Duration::from_millis(30);
/// How often the log is looked at where other nodes write to it, and where none does.
const SHARED_EACH: Duration = Duration::from_millis(100);
const ALONE_EACH: Duration = Duration::from_secs(5);
/// Entries of the log that one transaction takes up.
const ENTRIES: i64 = 500;

/// Queues for webhooks what the log tells of, and sends it to this node's open streams, until the
/// signal to stop. Of several nodes one queues each part.
pub(super) async fn follow_activity(
    world: World,
    hub: Hub,
    home: ActivityConfig,
    shutdown: Shutdown,
) {
    let mut wake = world.store.subscribe_events();
    let each = if world.store.is_shared() {
        SHARED_EACH
    } else {
        ALONE_EACH
    };
    let mut live = LiveActivityReader::new(Arc::clone(&world.store), hub, home);
    loop {
        let streams = live.poll_once();
        let (queued, sent) = tokio::join!(queue(&world, home), streams);
        if shutdown.is_triggered() {
            return;
        }
        let more = match (queued, sent) {
            (Ok(one), Ok(other)) => one || other,
            (Err(stop), _) | (_, Err(stop)) => {
                tracing::warn!(?stop, "events were not told; it is tried again");
                tokio::time::sleep(TOPICS_EACH).await;
                true
            }
        };
        if !more {
            tokio::select! {
                _ = tokio::time::timeout(each, wake.changed()) => {}
                () = shutdown.wait() => return,
            }
            tokio::time::sleep(GATHERED).await;
        }
    }
}

/// Whether there may be more to queue.
async fn queue(world: &World, home: ActivityConfig) -> Result<bool, Error> {
    let behind = |tx: &mut store::Tx<'_>| Ok(activity::has_unread_entries(tx)?);
    if !world.store.read(behind).await? {
        return Ok(false);
    }
    let follow =
        move |tx: &mut store::Tx<'_>| Ok(activity::enqueue_webhook_events(tx, ENTRIES, home)?);
    let read = world.store.write(follow).await?;
    Ok(i64::try_from(read).unwrap_or(ENTRIES) >= ENTRIES)
}

/// Keeps the index of posts up with the log, until the signal to stop. Every node has its own.
pub(super) async fn index_posts(world: World, shutdown: Shutdown) {
    let Some(search) = &world.search else {
        return;
    };
    tokio::select! {
        () = search.run_indexer(&world.store) => {}
        () = shutdown.wait() => {}
    }
}

/// How often compliance jobs are looked for.
const JOBS_EACH: Duration = Duration::from_secs(1);

/// Works on compliance jobs, some ids at a time, until the signal to stop. A job that a stop
/// interrupts goes on where it was.
pub(super) async fn work_on_jobs(world: World, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match work_some(&world).await {
            // There may be more of it.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => tracing::warn!(?stop, "a compliance job failed; it is tried again"),
        }
        let _early = tokio::time::timeout(JOBS_EACH, shutdown.wait()).await;
    }
}

async fn work_some(world: &World) -> Result<bool, Error> {
    let waiting = |tx: &mut store::Tx<'_>| Ok(network::compliance::has_waiting_job(tx)?);
    if !world.store.read(waiting).await? {
        return Ok(false);
    }
    let work = |tx: &mut store::Tx<'_>| Ok(network::compliance::process_next_part(tx)?);
    world.store.write(work).await
}

/// Sweeps each minute until the signal to stop.
pub(super) async fn keep(world: World, uploads: Option<Uploads>, shutdown: Shutdown) {
    let kept = kept(&world.settings);
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(EACH, shutdown.wait()).await;
        if shutdown.is_triggered() {
            return;
        }
        match prune_expired(&world.store, kept, clock::wall_time()).await {
            Ok(swept) => {
                for (what, rows) in swept.into_iter().filter(|(_, rows)| *rows > 0) {
                    tracing::debug!(what, rows, "swept");
                }
            }
            Err(stop) => tracing::warn!(?stop, "sweeping failed; the next minute tries again"),
        }
        if let Some(uploads) = &uploads
            && let Err(stop) = uploads.sweep().await
        {
            tracing::warn!(
                ?stop,
                "old uploads were not removed; the next minute tries again"
            );
        }
    }
}

fn kept(settings: &Settings) -> RetentionPeriods {
    let ms = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    RetentionPeriods {
        session_ttl_ms: ms(settings.session_ttl),
        log_ms: ms(settings.log_retention),
        deliveries_ms: ms(settings.webhook_retention),
        audit_ms: ms(settings.audit_retention),
    }
}

/// The mail server, if the configuration names one.
pub(super) fn mailer(settings: &Settings) -> Result<Option<Arc<dyn Mailer>>, Fault> {
    let Some(mail) = &settings.mail else {
        return Ok(None);
    };
    Ok(Some(Arc::new(mail::SmtpMailer::new(
        &mail.url, &mail.from,
    )?)))
}

/// Sends letters until the signal to stop. One that is just being handed over is claimed for some
/// minutes and is tried again after that.
pub(super) async fn send(world: World, mailer: Option<Arc<dyn Mailer>>, shutdown: Shutdown) {
    let Some(mailer) = mailer else {
        return;
    };
    tokio::select! {
        () = emails::run_sender(world.store, mailer) => {}
        () = shutdown.wait() => {}
    }
}
