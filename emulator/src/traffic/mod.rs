//! Traffic: people of a world post, reply, like, repost and follow by the same rules as through the API, so that
//! events, streams, webhooks and counters follow. What they do depends on the seed, the world and its clock alone.

mod actions;
mod dice;
mod people;
mod phrases;
mod texts;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::refusal::RefusalKind;
use base::{Error, Refusal, Time};
use parking_lot::Mutex;
use store::Store;
use tokio::sync::watch;

pub use actions::ActionKind;
use actions::{ActionOutcome, RecentPosts, perform_action};
use people::TrafficPeople;

/// Actions per second, at most.
pub const MAX_RATE: i64 = 200;
/// A day.
pub const MAX_SECONDS: i64 = 86_400;
/// After this many failures of the store in a row, traffic ends.
const MAX_FAILURES: u32 = 5;
/// A server that is behind by more does not catch up.
const MAX_LAG: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficOptions {
    /// Actions per second of real time.
    pub rate: u32,
    /// `rate` times this is the number of actions.
    pub seconds: u32,
    pub seed: u64,
}

impl TrafficOptions {
    /// Refuses numbers out of bounds.
    pub fn new(rate: i64, seconds: i64, seed: i64) -> Result<Self, Refusal> {
        Ok(Self {
            rate: bounded("rate", rate, MAX_RATE)?,
            seconds: bounded("seconds", seconds, MAX_SECONDS)?,
            seed: u64::try_from(seed)
                .map_err(|_| Refusal::invalid_parameter("seed", seed.to_string(), "the seed must not be negative"))?,
        })
    }

    fn action_count(self) -> u64 {
        u64::from(self.rate) * u64::from(self.seconds)
    }
}

fn bounded(name: &'static str, value: i64, max: i64) -> Result<u32, Refusal> {
    let bounded = u32::try_from(value).ok().filter(|_| (1..=max).contains(&value));
    bounded.ok_or_else(|| {
        let message = format!("`{name}` must be a whole number from 1 to {max}, not {value}");
        Refusal::invalid_parameter(name, value.to_string(), message)
    })
}

base::named_enum! {
    pub enum TrafficState {
        Running = "running",
        /// All actions were done.
        Finished = "finished",
        Stopped = "stopped",
        /// The store failed.
        Failed = "failed",
    }
}

#[derive(Clone, Debug)]
pub struct TrafficReport {
    pub state: TrafficState,
    pub options: TrafficOptions,
    /// By the world's clock.
    pub started_at: Time,
    /// Of real time.
    pub elapsed: Duration,
    /// How many people take part.
    pub people: usize,
    pub counts: TrafficCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficCounts {
    /// By kind, in the order of [`ActionKind::ALL`].
    done: [u64; 6],
    /// Actions that a rule refused or that changed nothing, such as a second like.
    pub without_effect: u64,
}

impl TrafficCounts {
    pub fn of_kind(&self, kind: ActionKind) -> u64 {
        let index = ActionKind::ALL.iter().position(|one| *one == kind);
        index.and_then(|index| self.done.get(index)).copied().unwrap_or(0)
    }

    pub fn total(&self) -> u64 {
        self.done.iter().sum::<u64>() + self.without_effect
    }

    fn add(&mut self, outcome: ActionOutcome) {
        let ActionOutcome::Done(kind, _) = outcome else {
            self.without_effect += 1;
            return;
        };
        let index = ActionKind::ALL.iter().position(|one| *one == kind);
        if let Some(count) = index.and_then(|index| self.done.get_mut(index)) {
            *count += 1;
        }
    }
}

/// The traffic of a world: one run at a time.
#[derive(Default)]
pub struct TrafficGenerator {
    run: Mutex<Option<TrafficRun>>,
}

struct TrafficRun {
    progress: Arc<Mutex<TrafficProgress>>,
    /// Ends the run when dropped or set.
    stop: watch::Sender<bool>,
}

struct TrafficProgress {
    report: TrafficReport,
    started: Instant,
}

impl TrafficProgress {
    fn report(&self) -> TrafficReport {
        let mut report = self.report.clone();
        if report.state == TrafficState::Running {
            report.elapsed = self.started.elapsed();
        }
        report
    }

    fn end(&mut self, state: TrafficState) {
        self.report.elapsed = self.started.elapsed();
        self.report.state = state;
    }
}

impl TrafficGenerator {
    /// Of the current run, or of the last one.
    pub fn report(&self) -> Option<TrafficReport> {
        self.run.lock().as_ref().map(|run| run.progress.lock().report())
    }

    /// Refused while another run is under way, and in a world of fewer than two people.
    #[expect(clippy::disallowed_methods, reason = "the generator owns the task, which ends with it")]
    pub async fn start(&self, store: Arc<Store>, options: TrafficOptions) -> Result<TrafficReport, Error> {
        let loaded = store.read(move |tx| {
            let people = TrafficPeople::load(tx, options.seed)?;
            let posts = RecentPosts::load(tx, &people)?;
            Ok((people, posts, tx.now()))
        });
        let (people, posts, started_at) = loaded.await?;
        let mut run = self.run.lock();
        if run.as_ref().is_some_and(|run| run.progress.lock().report.state == TrafficState::Running) {
            let message = "Traffic is running already: stop it first.";
            return Err(Refusal::named_reason(RefusalKind::Conflict, "", "", message).into());
        }
        let report = TrafficReport {
            state: TrafficState::Running,
            options,
            started_at,
            elapsed: Duration::ZERO,
            people: people.len(),
            counts: TrafficCounts::default(),
        };
        let progress = TrafficProgress { report: report.clone(), started: monotonic_now() };
        let progress = Arc::new(Mutex::new(progress));
        let (stop, stopped) = watch::channel(false);
        let context = TrafficContext { store, options, people: Arc::new(people), posts: Arc::new(Mutex::new(posts)) };
        tokio::spawn(run_traffic(context, Arc::clone(&progress), stopped));
        *run = Some(TrafficRun { progress, stop });
        Ok(report)
    }

    /// Ends the current run, if there is one, and reports the last one.
    pub fn stop(&self) -> Option<TrafficReport> {
        let run = self.run.lock();
        let run = run.as_ref()?;
        run.stop.send_replace(true);
        let mut progress = run.progress.lock();
        if progress.report.state == TrafficState::Running {
            progress.end(TrafficState::Stopped);
        }
        Some(progress.report())
    }
}

struct TrafficContext {
    store: Arc<Store>,
    options: TrafficOptions,
    people: Arc<TrafficPeople>,
    posts: Arc<Mutex<RecentPosts>>,
}

async fn run_traffic(
    context: TrafficContext,
    progress: Arc<Mutex<TrafficProgress>>,
    mut stopped: watch::Receiver<bool>,
) {
    let pause = Duration::from_secs(1) / context.options.rate.max(1);
    let mut due = monotonic_now();
    let mut failures = 0;
    for number in 0..context.options.action_count() {
        let wait = due.saturating_duration_since(monotonic_now());
        tokio::select! {
            biased;
            _ = stopped.changed() => return,
            () = tokio::time::sleep(wait) => {}
        }
        match context.act(number).await {
            Ok(outcome) => {
                failures = 0;
                let mut progress = progress.lock();
                if progress.report.state != TrafficState::Running {
                    return;
                }
                progress.report.counts.add(outcome);
            }
            Err(error) => {
                failures += 1;
                tracing::warn!(%error, "an action of the traffic failed");
                if failures >= MAX_FAILURES {
                    progress.lock().end(TrafficState::Failed);
                    return;
                }
            }
        }
        due = (due + pause).max(monotonic_now().checked_sub(MAX_LAG).unwrap_or(due));
    }
    let mut progress = progress.lock();
    if progress.report.state == TrafficState::Running {
        progress.end(TrafficState::Finished);
    }
}

impl TrafficContext {
    async fn act(&self, number: u64) -> Result<ActionOutcome, Error> {
        let (people, posts, seed) = (Arc::clone(&self.people), self.posts.lock().clone(), self.options.seed);
        let outcome = self.store.write(move |tx| perform_action(tx, (&people, &posts), seed, number)).await;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // A rule, such as a block.
            Err(Error::Refused(_)) => ActionOutcome::WithoutEffect,
            Err(error) => return Err(error),
        };
        if let ActionOutcome::Done(_, Some(post)) = outcome {
            self.posts.lock().add(post);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::TrafficOptions;

    #[test]
    fn options_out_of_bounds_are_refused_with_the_bounds() {
        assert!(TrafficOptions::new(200, 86_400, 7).is_ok());
        for (rate, seconds, words) in [(0, 1, "`rate` must be a whole number from 1 to 200"), (5, 0, "from 1 to 86400")]
        {
            let refusal = TrafficOptions::new(rate, seconds, 1).unwrap_err();
            assert!(format!("{refusal:?}").contains(words), "{refusal:?}");
        }
        assert!(TrafficOptions::new(1, 1, -1).is_err());
    }
}
