//! Work for advertisers that nobody waits for: scheduled posts are published, what people do with
//! what is promoted is recorded, audiences and figures of a long time are worked out, advertisers are
//! told what could do better.

use std::time::Duration;

use base::Error;
use edge::Shutdown;

use crate::command;
use crate::instance::Instance;

/// Does all of it, until the signal to stop.
pub(super) async fn run_ads_jobs(instance: Instance, shutdown: Shutdown) {
    tokio::join!(
        publish_scheduled_posts(instance.clone(), shutdown.clone()),
        match_audiences(instance.clone(), shutdown.clone()),
        attribute_events(instance.clone(), shutdown.clone()),
        run_stats_jobs(instance.clone(), shutdown.clone()),
        refresh_recommendations(instance.clone(), shutdown.clone()),
        write_weekly_emails(instance, shutdown),
    );
}

/// How often scheduled posts whose time has come are looked for.
const SCHEDULED_POSTS_INTERVAL: Duration = Duration::from_secs(1);

/// Publishes scheduled posts of advertisers, until the signal to stop; of several nodes one
/// publishes each.
async fn publish_scheduled_posts(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match publish_next_post(&instance).await {
            // There may be more of them.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => {
                tracing::warn!(?stop, "no scheduled post was published; it is tried again");
            }
        }
        let _early = tokio::time::timeout(SCHEDULED_POSTS_INTERVAL, shutdown.wait()).await;
    }
}

async fn publish_next_post(instance: &Instance) -> Result<bool, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads::publishing::due_scheduled_post(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let publish = move |tx: &mut store::Tx<'_>| ads::publishing::publish_scheduled_post(tx, id);
    if let Err(stop) = instance.store.write(publish).await {
        tracing::warn!(?stop, id, "a scheduled post was not published; it is put off");
        let why = format!("{stop:?}");
        let put_off = move |tx: &mut store::Tx<'_>| ads::publishing::retry_or_fail(tx, id, &why);
        instance.store.write(put_off).await?;
    }
    Ok(true)
}

/// How often it is looked for custom audiences that are to be worked out.
const AUDIENCES_INTERVAL: Duration = Duration::from_secs(1);

/// Works out custom audiences after they changed, until the signal to stop.
async fn match_audiences(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match match_next_audience(&instance).await {
            // There may be more of them.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => {
                tracing::warn!(?stop, "no audience was worked out; it is tried again");
            }
        }
        let _early = tokio::time::timeout(AUDIENCES_INTERVAL, shutdown.wait()).await;
    }
}

/// Does one part of it; whether there may be more.
async fn match_next_audience(instance: &Instance) -> Result<bool, Error> {
    let plan = instance.settings.audiences;
    let discretion = instance.evaluator.size_disclosure;
    let behind = |tx: &mut store::Tx<'_>| Ok(ads::audience_matching::has_unkeyed_users(tx)?);
    if instance.store.read(behind).await? {
        instance.store.write(ads::audience_matching::key_user_batch).await?;
        return Ok(true);
    }
    let due = move |tx: &mut store::Tx<'_>| Ok(ads::audience_matching::due_audience(tx, plan)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let part = move |tx: &mut store::Tx<'_>| Ok(ads::audience_matching::match_member_batch(tx, id)?);
    if instance.store.write(part).await? {
        return Ok(true);
    }
    let measure = move |tx: &mut store::Tx<'_>| ads::audience_matching::measure_audience(tx, id, &discretion);
    let found = instance.store.read(measure).await?;
    let settle =
        move |tx: &mut store::Tx<'_>| ads::audience_matching::save_measurement(tx, id, found, (plan, &discretion));
    instance.store.write(settle).await?;
    Ok(true)
}

/// How often the log is looked at for what people do.
const EVENT_LOG_INTERVAL: Duration = Duration::from_secs(1);
/// Entries of the log that one transaction looks at.
const ENTRIES_PER_TRANSACTION: i64 = 500;

/// Records what people do with what is promoted, until the signal to stop. Of several nodes one
/// reads each part of the log.
async fn attribute_events(instance: Instance, shutdown: Shutdown) {
    let mut wake = instance.store.subscribe_events();
    while !shutdown.is_triggered() {
        match attribute_batch(&instance).await {
            // There may be more of it.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => {
                tracing::warn!(
                    ?stop,
                    "what was done with what is promoted was not recorded; it is tried again"
                );
            }
        }
        tokio::select! {
            _ = tokio::time::timeout(EVENT_LOG_INTERVAL, wake.changed()) => {}
            () = shutdown.wait() => return,
        }
        // A busy log is read in batches.
        let _early = tokio::time::timeout(GATHER_DELAY, shutdown.wait()).await;
    }
}

/// How long what is done one after the other is gathered.
const GATHER_DELAY: Duration = Duration::from_millis(200);

async fn attribute_batch(instance: &Instance) -> Result<bool, Error> {
    let behind = |tx: &mut store::Tx<'_>| Ok(ads::attribution::has_unread_events(tx)?);
    if !instance.store.read(behind).await? {
        return Ok(false);
    }
    let follow = |tx: &mut store::Tx<'_>| Ok(ads::attribution::process_events(tx, ENTRIES_PER_TRANSACTION)?);
    let read = instance.store.write(follow).await?;
    Ok(i64::try_from(read).unwrap_or(ENTRIES_PER_TRANSACTION) >= ENTRIES_PER_TRANSACTION)
}

/// How often jobs of figures are looked for.
const STATS_JOBS_INTERVAL: Duration = Duration::from_millis(500);

/// Works on jobs of figures, one after the other, until the signal to stop; of several nodes one
/// works on each.
async fn run_stats_jobs(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match run_next_stats_job(&instance).await {
            // There may be more of them.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => tracing::warn!(?stop, "a job of figures failed; it is tried again"),
        }
        let _early = tokio::time::timeout(STATS_JOBS_INTERVAL, shutdown.wait()).await;
    }
}

async fn run_next_stats_job(instance: &Instance) -> Result<bool, Error> {
    use ads::analytics::jobs;
    let waiting = |tx: &mut store::Tx<'_>| Ok(jobs::has_pending_jobs(tx)?);
    if !instance.store.read(waiting).await? {
        return Ok(false);
    }
    let begun = instance.store.write(|tx| Ok(jobs::claim_job(tx)?)).await?;
    let Some(job) = begun else {
        return Ok(true);
    };
    let of = job.clone();
    let made = instance.store.read(move |tx| Ok(jobs::build_job_file(tx, &of)?)).await;
    let file = match made {
        Ok(file) => Some(file),
        Err(stop) => {
            tracing::error!(?stop, id = job.id, "figures could not be worked out");
            None
        }
    };
    let end = move |tx: &mut store::Tx<'_>| Ok(jobs::finish_job(tx, &job, file.as_deref())?);
    instance.store.write(end).await?;
    Ok(true)
}

/// How often it is looked for funding instruments that a day has passed for.
const RECOMMENDATIONS_INTERVAL: Duration = Duration::from_secs(5);

/// Recommends advertisers what could do better, until the signal to stop. Of several nodes one says
/// it.
async fn refresh_recommendations(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match refresh_next_recommendations(&instance).await {
            // There may be more of them.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => tracing::warn!(?stop, "nothing was recommended; it is tried again"),
        }
        let _early = tokio::time::timeout(RECOMMENDATIONS_INTERVAL, shutdown.wait()).await;
    }
}

async fn refresh_next_recommendations(instance: &Instance) -> Result<bool, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads::recommendations::due_funding_instrument(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let adviser = command::ads::recommendation_engine(instance)?;
    command::ads::recommend_for_instrument(instance, &adviser, id, true).await?;
    Ok(true)
}

/// How often it is looked for weekly letters.
const WEEKLY_EMAILS_INTERVAL: Duration = Duration::from_secs(5);

/// Writes weekly letters of what accounts came to, until the signal to stop; of several nodes one
/// writes each.
async fn write_weekly_emails(instance: Instance, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        match write_next_weekly_email(&instance).await {
            // There may be more of them.
            Ok(true) => continue,
            Ok(false) => {}
            Err(stop) => tracing::warn!(?stop, "no letter was written; it is tried again"),
        }
        let _early = tokio::time::timeout(WEEKLY_EMAILS_INTERVAL, shutdown.wait()).await;
    }
}

async fn write_next_weekly_email(instance: &Instance) -> Result<bool, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads::emails::due_digest(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(false);
    };
    let site = command::ads::recommendation_engine(instance)?.site;
    let write = move |tx: &mut store::Tx<'_>| ads::emails::queue_digest(tx, &site, id);
    instance.store.write(write).await?;
    Ok(true)
}
