//! One movement of the clock, and its report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::clock::wall_time;
use base::clock_mode::ClockMode;
use base::{Error, Time};
use emulator::clock::{ClockReport, JobReport};
use network::emails;
use store::deliveries;

use super::{ClockFollowers, find_due_instants};
use crate::runtime::job_runner::{BackgroundJob, list_jobs};
use crate::runtime::{ads_jobs, background_jobs};
use instance::command::news;

/// Instants that are met exactly; after them, the rest of the way is divided into [`COARSE_STEPS`].
const MAX_EXACT_STEPS: usize = 5_000;
const COARSE_STEPS: i64 = 100;
/// After this, the clock jumps to where it is moved.
const MAX_DURATION: Duration = Duration::from_mins(1);
/// How often jobs may give each other more to do at one instant.
const MAX_ROUNDS: usize = 50;
/// Parts of one job in a row.
const MAX_PARTS: usize = 100_000;
/// How long receivers of webhooks and the mail server are waited for, in all steps together.
const RECEIVER_PATIENCE: Duration = Duration::from_secs(2);
/// How long the streams may take to send what happened.
const STREAM_PATIENCE: Duration = Duration::from_secs(1);
/// How long the event log may take to number what was committed.
const LOG_PATIENCE: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Notes in a report.
const MAX_NOTES: usize = 20;

pub(super) struct ClockAdvance<'f> {
    followers: &'f ClockFollowers,
    before: ClockMode,
    started: Instant,
    patience: Duration,
    first_event: Option<i64>,
    last_attempt: i64,
    report: ClockReport,
}

impl<'f> ClockAdvance<'f> {
    pub(super) fn new(followers: &'f ClockFollowers, before: ClockMode, from: Time) -> Self {
        let report = ClockReport { from, to: from, ..ClockReport::default() };
        let (started, patience) = (monotonic_now(), RECEIVER_PATIENCE);
        Self { followers, before, started, patience, first_event: None, last_attempt: 0, report }
    }

    pub(super) fn into_report(mut self, to: Time) -> ClockReport {
        self.report.to = to;
        self.report.duration = self.started.elapsed();
        self.report
    }

    /// The clock is frozen afterwards.
    pub(super) async fn run_to(&mut self, target: Time) -> Result<(), Error> {
        let store = Arc::clone(&self.followers.instance.store);
        self.stand_at(self.report.from).await?;
        let (end, attempts) = store
            .read(|tx| Ok((store::event_log::end_cursor(tx)?, deliveries::count_attempts(tx, i64::MAX)?.end)))
            .await?;
        (self.first_event, self.last_attempt) = (Some(end), attempts);
        self.run_due().await?;
        while let Some(next) = self.find_next_step(target).await? {
            self.stand_at(next).await?;
            self.report.steps += 1;
            self.run_due().await?;
        }
        if store.context().clock.now() < target {
            self.stand_at(target).await?;
            self.run_due().await?;
        }
        self.finish().await
    }

    /// The clock stands still on the way; a server that is started again goes on from here in the former mode.
    async fn stand_at(&self, time: Time) -> Result<(), Error> {
        let store = &self.followers.instance.store;
        store.save_clock(self.before.moved_to(time, wall_time())).await?;
        store.context().clock.set_mode(ClockMode::Frozen { at: time });
        Ok(())
    }

    async fn find_next_step(&mut self, target: Time) -> Result<Option<Time>, Error> {
        if self.started.elapsed() >= MAX_DURATION {
            let seconds = MAX_DURATION.as_secs();
            self.note(format!("after {seconds} s, the clock jumped to the end: what was due on the way ran late"));
            return Ok(None);
        }
        let settings = Arc::clone(&self.followers.instance.settings);
        let sends_mail = self.followers.mailer.is_some();
        let find = move |tx: &mut store::Tx<'_>| Ok((tx.now(), find_due_instants(tx, &settings, sends_mail)?));
        let (now, due) = self.followers.instance.store.read(find).await?;
        let Some(next) = due.first().map(|due| due.at).filter(|at| *at <= target) else {
            return Ok(None);
        };
        if self.report.steps < MAX_EXACT_STEPS {
            return Ok(Some(next));
        }
        self.note(format!("after {MAX_EXACT_STEPS} steps, the steps became longer: some of what was due ran late"));
        let coarse = target.ms().saturating_sub(self.report.from.ms()) / COARSE_STEPS;
        Ok(Some(next.max(now.plus_ms(coarse)).min(target)))
    }

    /// Runs what is due now, until nothing is.
    async fn run_due(&mut self) -> Result<(), Error> {
        for _ in 0..MAX_ROUNDS {
            let mut done = 0;
            for job in list_jobs() {
                done += self.run_job(job).await;
            }
            done += self.follow_events().await?;
            done += self.send_webhooks().await?;
            self.send_emails().await;
            if done == 0 {
                return Ok(());
            }
        }
        self.note("background jobs kept giving each other more to do; they go on in the background".to_owned());
        Ok(())
    }

    async fn run_job(&mut self, job: &'static BackgroundJob) -> u64 {
        let mut count = 0;
        for _ in 0..MAX_PARTS {
            match (job.run_part)(self.followers.instance.clone()).await {
                Ok(0) => break,
                Ok(done) => count += done,
                Err(error) => {
                    self.note_failure(job.name, &error);
                    break;
                }
            }
        }
        self.count(job.name, count);
        count
    }

    /// Queues webhook deliveries, records what concerns members, and attributes events. Their own tasks do the same, and
    /// each entry once.
    async fn follow_events(&mut self) -> Result<u64, Error> {
        let instance = &self.followers.instance;
        let config = self.followers.server.event_context();
        self.await_numbers().await;
        while background_jobs::process_entries(instance, config).await? {}
        while ads_jobs::attribute_batch(instance).await? {}
        let replays = self.followers.sender.advance_replays().await?;
        Ok(u64::from(replays))
    }

    /// Waits until what was committed has its place in the event log.
    async fn await_numbers(&mut self) {
        let store = &self.followers.instance.store;
        if store.is_shared() && store.wait_for_log_end(LOG_PATIENCE).await.is_err() {
            self.note("not everything has its place in the event log yet".to_owned());
        }
    }

    /// Challenges receivers, and waits until nothing more can be sent, as long as patience lasts.
    async fn send_webhooks(&mut self) -> Result<u64, Error> {
        let challenged = self.wait_patiently("webhook_challenges", self.followers.sender.challenge_due()).await;
        let challenged = u64::try_from(challenged.unwrap_or(0)).unwrap_or(0);
        self.count("webhook_challenges", challenged);
        let store = Arc::clone(&self.followers.instance.store);
        let count = || store.read(|tx| Ok(deliveries::count_sendable(tx, 1_000)?));
        let mut waiting = count().await?;
        if waiting > 0 {
            store.announce_clock();
        }
        let began = monotonic_now();
        while waiting > 0 && began.elapsed() < self.patience {
            tokio::time::sleep(POLL_INTERVAL).await;
            waiting = count().await?;
        }
        self.patience = self.patience.saturating_sub(began.elapsed());
        if waiting > 0 {
            let seconds = RECEIVER_PATIENCE.as_secs();
            self.note(format!("receivers of webhooks did not answer within {seconds} s: {waiting} deliveries go on"));
        }
        let after = self.last_attempt;
        let attempts = store.read(move |tx| Ok(deliveries::count_attempts(tx, after)?)).await?;
        self.last_attempt = attempts.end;
        let [sent, failed] = [attempts.succeeded, attempts.failed].map(|count| u64::try_from(count).unwrap_or(0));
        self.count("webhook_deliveries", sent);
        self.count("webhook_deliveries_failed", failed);
        Ok(challenged + sent + failed)
    }

    async fn send_emails(&mut self) {
        let Some(mailer) = self.followers.mailer.clone() else {
            return;
        };
        let store = Arc::clone(&self.followers.instance.store);
        let now = store.context().clock.now();
        let sent = self.wait_patiently("emails", emails::send_due_emails(&store, &mailer, now)).await;
        self.count("emails", sent.map_or(0, |batch| u64::try_from(batch.sent).unwrap_or(0)));
    }

    /// None after a failure, or if patience ended.
    async fn wait_patiently<T>(
        &mut self,
        what: &'static str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Option<T> {
        let began = monotonic_now();
        let done = tokio::time::timeout(self.patience, work).await;
        self.patience = self.patience.saturating_sub(began.elapsed());
        match done {
            Ok(Ok(done)) => Some(done),
            Ok(Err(error)) => {
                self.note_failure(what, &error);
                None
            }
            Err(_) => {
                self.note(format!("{what} did not end within {} s", RECEIVER_PATIENCE.as_secs()));
                None
            }
        }
    }

    /// Waits for followers that need no order, and deletes what has expired.
    async fn finish(&mut self) -> Result<(), Error> {
        let followers = self.followers;
        let instance = &followers.instance;
        self.await_numbers().await;
        news::follow_event_log(instance).await?;
        let (_, stories) = news::refresh_trends(instance).await?;
        self.count("news_stories", u64::try_from(stories).unwrap_or(0));
        followers.server.flush_views().await?;
        let is_behind = match &instance.search {
            Some(search) => search.catch_up(&instance.store).await.is_err(),
            None => false,
        };
        let end = instance.store.read(|tx| Ok(store::event_log::end_cursor(tx)?)).await?;
        self.report.events = end.saturating_sub(self.first_event.unwrap_or(end));
        let (server, limit) = (&followers.server, STREAM_PATIENCE);
        let (posts, hub) = (server.post_streams(), server.stream_hub());
        if tokio::join!(posts.wait_until_read(end, limit), hub.wait_for_activity(end, limit)) != (true, true) {
            self.note("the streams have not sent everything yet".to_owned());
        }
        let uploads = followers.server.uploads();
        if is_behind {
            self.note("the search index has not caught up yet, so that nothing was deleted".to_owned());
            return Ok(());
        }
        let removed = background_jobs::remove_expired(instance, uploads.as_ref()).await;
        match removed {
            Ok(rows) => self.count("retention", rows),
            Err(error) => self.note_failure("retention", &error),
        }
        Ok(())
    }

    fn count(&mut self, name: &'static str, count: u64) {
        if count == 0 {
            return;
        }
        match self.report.jobs.iter_mut().find(|job| job.name == name) {
            Some(job) => job.count = job.count.saturating_add(count),
            None => self.report.jobs.push(JobReport { name, count }),
        }
    }

    fn note_failure(&mut self, name: &'static str, error: &Error) {
        tracing::warn!(%error, job = name, "failed while the clock was moved");
        self.note(format!("{name} failed; the log says why"));
    }

    fn note(&mut self, text: String) {
        if self.report.notes.len() < MAX_NOTES && !self.report.notes.contains(&text) {
            self.report.notes.push(text);
        }
    }
}
