//! Background jobs of advertising: scheduled posts, attribution, audience matching, statistics jobs,
//! recommendations, email digests and product feeds.

use std::sync::Arc;
use std::time::Duration;

use ads::product_feeds::{self, FeedImport, ImportCounts, ImportFailure, MAX_FEED_BYTES};
use ads_delivery::attribution::{ATTRIBUTION_READER, attribute_entries};
use ads_delivery::audience_matching::{self, MatchingConfig};
use base::{Error, Fault};
use deliver::links::{FetchFailure, PageClient};
use edge::Shutdown;
use futures_util::future::join_all;
use store::event_log::LogReader;

use super::job_runner::BackgroundJob;
use super::supervisor::Supervisor;
use instance::Instance;
use instance::command;
use instance::config::ServerSettings;

pub(super) fn start(tasks: &mut Supervisor, instance: &Instance) {
    tasks.start("attribution", instance, attribute_events);
}

/// In the order in which they run when the clock is moved.
pub(super) static JOBS: &[BackgroundJob] = &[
    BackgroundJob {
        name: "scheduled_posts",
        interval: Duration::from_secs(1),
        run_part: |instance| Box::pin(publish_next_post(instance)),
        next_due: |tx, _| Ok(ads::publishing::next_scheduled_post(tx)?),
    },
    BackgroundJob {
        name: "audiences",
        interval: Duration::from_secs(1),
        run_part: |instance| Box::pin(match_next_audience(instance)),
        next_due: |tx, settings| Ok(audience_matching::next_audience(tx, matching_config(settings))?),
    },
    BackgroundJob {
        name: "stats_jobs",
        interval: Duration::from_millis(500),
        run_part: |instance| Box::pin(run_next_stats_job(instance)),
        next_due: |tx, _| Ok(ads_delivery::analytics::jobs::next_due(tx)?),
    },
    BackgroundJob {
        name: "recommendations",
        interval: Duration::from_secs(5),
        run_part: |instance| Box::pin(refresh_next_recommendations(instance)),
        next_due: |tx, _| Ok(ads_delivery::recommendations::next_funding_instrument(tx)?),
    },
    BackgroundJob {
        name: "weekly_emails",
        interval: Duration::from_secs(5),
        run_part: |instance| Box::pin(write_next_weekly_email(instance)),
        next_due: |tx, _| Ok(ads_delivery::emails::next_digest(tx)?),
    },
    BackgroundJob {
        name: "product_feeds",
        interval: Duration::from_secs(5),
        run_part: |instance| Box::pin(import_due_feeds(instance)),
        next_due: |tx, _| Ok(product_feeds::next_due(tx)?),
    },
];

async fn publish_next_post(instance: Instance) -> Result<u64, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads::publishing::due_scheduled_post(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(0);
    };
    let publish = move |tx: &mut store::Tx<'_>| ads::publishing::publish_scheduled_post(tx, id);
    if let Err(error) = instance.store.write(publish).await {
        tracing::warn!(%error, id, "failed to publish a scheduled post; postponed");
        let why = error.to_string();
        let postpone = move |tx: &mut store::Tx<'_>| ads::publishing::retry_or_fail(tx, id, &why);
        instance.store.write(postpone).await?;
    }
    Ok(1)
}

fn matching_config(settings: &ServerSettings) -> MatchingConfig {
    MatchingConfig { delay_ms: settings.ads.audience_delay.as_ms() }
}

async fn match_next_audience(instance: Instance) -> Result<u64, Error> {
    let plan = matching_config(&instance.settings);
    let discretion = instance.evaluator.size_disclosure;
    let has_unread = |tx: &mut store::Tx<'_>| Ok(audience_matching::has_unkeyed_users(tx)?);
    if instance.store.read(has_unread).await? {
        instance.store.write(audience_matching::key_user_batch).await?;
        return Ok(1);
    }
    let due = move |tx: &mut store::Tx<'_>| Ok(audience_matching::due_audience(tx, plan)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(0);
    };
    let part = move |tx: &mut store::Tx<'_>| audience_matching::match_member_batch(tx, id);
    if instance.store.write(part).await? {
        return Ok(1);
    }
    let measure = move |tx: &mut store::Tx<'_>| audience_matching::measure_audience(tx, id, &discretion);
    let measurement = instance.store.read(measure).await?;
    let save =
        move |tx: &mut store::Tx<'_>| audience_matching::save_measurement(tx, id, measurement, (plan, &discretion));
    instance.store.write(save).await?;
    Ok(1)
}

/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);

/// Each part of the event log is processed by exactly one node.
async fn attribute_events(instance: Instance, shutdown: Shutdown) {
    let mut wake = instance.store.subscribe_events();
    while !shutdown.is_triggered() {
        match attribute_batch(&instance).await {
            // There may be more.
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "failed to attribute events; will retry");
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

pub(super) async fn attribute_batch(instance: &Instance) -> Result<bool, Error> {
    let read = ATTRIBUTION_READER.process_unread(&instance.store, attribute_entries).await?;
    Ok(read >= LogReader::BATCH_SIZE)
}

async fn run_next_stats_job(instance: Instance) -> Result<u64, Error> {
    use ads_delivery::analytics::jobs;
    let waiting = |tx: &mut store::Tx<'_>| Ok(jobs::has_pending_jobs(tx)?);
    if !instance.store.read(waiting).await? {
        return Ok(0);
    }
    let claimed = instance.store.write(|tx| Ok(jobs::claim_job(tx)?)).await?;
    let Some(job) = claimed else {
        return Ok(1);
    };
    let claimed_job = job.clone();
    let built = instance.store.read(move |tx| Ok(jobs::build_job_file(tx, &claimed_job)?)).await;
    let file = match built {
        Ok(file) => Some(file),
        // The job is claimed again after a while.
        Err(Error::Failed(fault)) if fault.is_transient() => return Err(fault.into()),
        Err(error) => {
            tracing::error!(%error, id = job.id, "failed to build a statistics file");
            None
        }
    };
    let finish = move |tx: &mut store::Tx<'_>| Ok(jobs::finish_job(tx, &job, file.as_deref())?);
    instance.store.write(finish).await?;
    Ok(1)
}

async fn refresh_next_recommendations(instance: Instance) -> Result<u64, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads_delivery::recommendations::due_funding_instrument(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(0);
    };
    let adviser = command::ads::recommendation_engine(&instance).await?;
    command::ads::recommend_for_instrument(&instance, &adviser, id, true).await?;
    Ok(1)
}

async fn write_next_weekly_email(instance: Instance) -> Result<u64, Error> {
    let due = |tx: &mut store::Tx<'_>| Ok(ads_delivery::emails::due_digest(tx)?);
    let Some(id) = instance.store.read(due).await? else {
        return Ok(0);
    };
    let site = command::ads::recommendation_engine(&instance).await?.site;
    let write = move |tx: &mut store::Tx<'_>| ads_delivery::emails::queue_digest(tx, &site, id);
    instance.store.write(write).await?;
    Ok(1)
}

/// Files that are fetched at once.
const CONCURRENT_DOWNLOADS: i64 = 4;

/// Files are fetched by the rules of webhooks, side by side, and then imported one after the other.
async fn import_due_feeds(instance: Instance) -> Result<u64, Error> {
    if !instance.store.read(|tx| Ok(product_feeds::has_due_feeds(tx)?)).await? {
        return Ok(0);
    }
    let claim = |tx: &mut store::Tx<'_>| Ok(product_feeds::claim_due_imports(tx, CONCURRENT_DOWNLOADS)?);
    let (due, imports) = instance.store.write(claim).await?;
    let client = PageClient::new(&instance.settings.webhooks);
    let files = join_all(imports.iter().map(|import| client.download(&import.url, MAX_FEED_BYTES))).await;
    let mut outcome = Ok(());
    for (import, file) in imports.into_iter().zip(files) {
        let imported = import_feed(&instance, import, file).await;
        outcome = outcome.and(imported);
    }
    outcome.map(|()| u64::try_from(due).unwrap_or(0))
}

async fn import_feed(
    instance: &Instance,
    import: FeedImport,
    file: Result<Vec<u8>, FetchFailure>,
) -> Result<(), Error> {
    let outcome = match file {
        Ok(bytes) => import_file(instance, &import, bytes).await?,
        // What the client says of a connection tells a merchant nothing.
        Err(FetchFailure::Broken(_)) => {
            Err(ImportFailure::NotFetched("the server could not be reached, or broke off".to_owned()))
        }
        Err(failure @ FetchFailure::TooLarge(_)) => Err(ImportFailure::NotAccepted(failure.to_string())),
        Err(failure) => Err(ImportFailure::NotFetched(failure.to_string())),
    };
    let finish = move |tx: &mut store::Tx<'_>| import.finish(tx, outcome.clone());
    instance.store.write(finish).await
}

async fn import_file(
    instance: &Instance,
    import: &FeedImport,
    bytes: Vec<u8>,
) -> Result<Result<ImportCounts, ImportFailure>, Error> {
    let parser = import.clone();
    let parsed = tokio::task::spawn_blocking(move || parser.parse_file(&bytes)).await;
    let products = match parsed.map_err(Fault::context("a product feed"))? {
        Ok(products) => Arc::new(products),
        Err(failure) => return Ok(Err(failure)),
    };
    let (mut from, mut counts) = (0, ImportCounts::default());
    loop {
        let (import, products) = (import.clone(), Arc::clone(&products));
        let part = move |tx: &mut store::Tx<'_>| import.apply_part(tx, &products, from);
        match instance.store.write(part).await? {
            Some((next, more)) => (from, counts) = (next, counts.plus(more)),
            None => return Ok(Ok(counts)),
        }
    }
}
