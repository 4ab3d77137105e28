//! Background jobs of advertising: scheduled posts, attribution, audience matching, statistics jobs,
//! recommendations and email digests.

use std::time::Duration;

use base::Error;
use edge::Shutdown;

use super::supervisor::Supervisor;
use crate::command;
use crate::instance::Instance;

pub(super) fn start(tasks: &mut Supervisor, instance: &Instance) {
    tasks.start("scheduled_posts", instance, publish_scheduled_posts);
    tasks.start("audiences", instance, match_audiences);
    tasks.start("attribution", instance, attribute_events);
    tasks.start("stats_jobs", instance, run_stats_jobs);
    tasks.start("recommendations", instance, refresh_recommendations);
    tasks.start("weekly_emails", instance, write_weekly_emails);
}

const SCHEDULED_POSTS_INTERVAL: Duration = Duration::from_secs(1);

/// Each post is published by exactly one node.
async fn publish_scheduled_posts(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match publish_next_post(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(?error, "failed to publish scheduled posts; will retry");
            }
        }
        tokio::select! {
            () = instance.store.pause_background_work(SCHEDULED_POSTS_INTERVAL) => {}
            () = shutdown.wait() => {}
        }
    }
}

async fn publish_next_post(instance: &Instance) -> Result<bool, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads::publishing::due_scheduled_post(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let publish = move |tx: &mut store::Tx<'_>| ads::publishing::publish_scheduled_post(tx, id);
    if let Err(error) = instance.store.write(publish).await {
        tracing::warn!(?error, id, "failed to publish a scheduled post; postponed");
        let why = format!("{error:?}");
        let postpone = move |tx: &mut store::Tx<'_>| ads::publishing::retry_or_fail(tx, id, &why);
        instance.store.write(postpone).await?;
    }
    Ok(true)
}

const AUDIENCES_INTERVAL: Duration = Duration::from_secs(1);

async fn match_audiences(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match match_next_audience(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(?error, "failed to match audiences; will retry");
            }
        }
        tokio::select! {
            () = instance.store.pause_background_work(AUDIENCES_INTERVAL) => {}
            () = shutdown.wait() => {}
        }
    }
}

/// Returns whether there may be more to do.
async fn match_next_audience(instance: &Instance) -> Result<bool, Error> {
    let plan =
        ads_delivery::audience_matching::MatchingConfig { delay_ms: instance.settings.ads.audience_delay.as_ms() };
    let discretion = instance.evaluator.size_disclosure;
    let has_unread = |tx: &mut store::Tx<'_>| Ok(ads_delivery::audience_matching::has_unkeyed_users(tx)?);
    if instance.store.read(has_unread).await? {
        instance.store.write(ads_delivery::audience_matching::key_user_batch).await?;
        return Ok(true);
    }
    let due = move |tx: &mut store::Tx<'_>| Ok(ads_delivery::audience_matching::due_audience(tx, plan)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let part = move |tx: &mut store::Tx<'_>| Ok(ads_delivery::audience_matching::match_member_batch(tx, id)?);
    if instance.store.write(part).await? {
        return Ok(true);
    }
    let measure = move |tx: &mut store::Tx<'_>| ads_delivery::audience_matching::measure_audience(tx, id, &discretion);
    let measurement = instance.store.read(measure).await?;
    let save = move |tx: &mut store::Tx<'_>| {
        ads_delivery::audience_matching::save_measurement(tx, id, measurement, (plan, &discretion))
    };
    instance.store.write(save).await?;
    Ok(true)
}

/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);
const ENTRIES_PER_TRANSACTION: i64 = 500;

/// Each part of the event log is processed by exactly one node.
async fn attribute_events(instance: Instance, shutdown: Shutdown) {
    let mut wake = instance.store.subscribe_events();
    while !shutdown.is_triggered() {
        match attribute_batch(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(?error, "failed to attribute events; will retry");
            }
        }
        tokio::select! {
            _ = tokio::time::timeout(FALLBACK_INTERVAL, wake.changed()) => {}
            () = shutdown.wait() => return,
        }
        // Collect consecutive events into one batch.
        let _early = tokio::time::timeout(GATHER_DELAY, shutdown.wait()).await;
    }
}

/// Delay that collects consecutive events into one batch.
const GATHER_DELAY: Duration = Duration::from_millis(200);

async fn attribute_batch(instance: &Instance) -> Result<bool, Error> {
    let has_unread = |tx: &mut store::Tx<'_>| Ok(ads_delivery::attribution::has_unread_events(tx)?);
    if !instance.store.read(has_unread).await? {
        return Ok(false);
    }
    let process = |tx: &mut store::Tx<'_>| Ok(ads_delivery::attribution::process_events(tx, ENTRIES_PER_TRANSACTION)?);
    let read = instance.store.write(process).await?;
    Ok(i64::try_from(read).unwrap_or(ENTRIES_PER_TRANSACTION) >= ENTRIES_PER_TRANSACTION)
}

const STATS_JOBS_INTERVAL: Duration = Duration::from_millis(500);

/// Each job is processed by exactly one node.
async fn run_stats_jobs(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match run_next_stats_job(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(?error, "failed to run a statistics job; will retry"),
        }
        tokio::select! {
            () = instance.store.pause_background_work(STATS_JOBS_INTERVAL) => {}
            () = shutdown.wait() => {}
        }
    }
}

async fn run_next_stats_job(instance: &Instance) -> Result<bool, Error> {
    use ads_delivery::analytics::jobs;
    let waiting = |tx: &mut store::Tx<'_>| Ok(jobs::has_pending_jobs(tx)?);
    if !instance.store.read(waiting).await? {
        return Ok(false);
    }
    let claimed = instance.store.write(|tx| Ok(jobs::claim_job(tx)?)).await?;
    let Some(job) = claimed else {
        return Ok(true);
    };
    let claimed_job = job.clone();
    let built = instance.store.read(move |tx| Ok(jobs::build_job_file(tx, &claimed_job)?)).await;
    let file = match built {
        Ok(file) => Some(file),
        Err(error) => {
            tracing::error!(?error, id = job.id, "failed to build a statistics file");
            None
        }
    };
    let finish = move |tx: &mut store::Tx<'_>| Ok(jobs::finish_job(tx, &job, file.as_deref())?);
    instance.store.write(finish).await?;
    Ok(true)
}

const RECOMMENDATIONS_INTERVAL: Duration = Duration::from_secs(5);

/// Each funding instrument is processed by exactly one node.
async fn refresh_recommendations(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match refresh_next_recommendations(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(?error, "failed to refresh recommendations; will retry"),
        }
        tokio::select! {
            () = instance.store.pause_background_work(RECOMMENDATIONS_INTERVAL) => {}
            () = shutdown.wait() => {}
        }
    }
}

async fn refresh_next_recommendations(instance: &Instance) -> Result<bool, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads_delivery::recommendations::due_funding_instrument(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let adviser = command::ads::recommendation_engine(instance)?;
    command::ads::recommend_for_instrument(instance, &adviser, id, true).await?;
    Ok(true)
}

const WEEKLY_EMAILS_INTERVAL: Duration = Duration::from_secs(5);

/// Each email is queued by exactly one node.
async fn write_weekly_emails(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match write_next_weekly_email(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(?error, "failed to queue digest emails; will retry"),
        }
        tokio::select! {
            () = instance.store.pause_background_work(WEEKLY_EMAILS_INTERVAL) => {}
            () = shutdown.wait() => {}
        }
    }
}

async fn write_next_weekly_email(instance: &Instance) -> Result<bool, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads_delivery::emails::due_digest(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let site = command::ads::recommendation_engine(instance)?.site;
    let write = move |tx: &mut store::Tx<'_>| ads_delivery::emails::queue_digest(tx, &site, id);
    instance.store.write(write).await?;
    Ok(true)
}
