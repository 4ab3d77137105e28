//! Runs each background job as a task of its own and restarts it after a panic.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use base::clock;
use edge::Shutdown;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::task::JoinSet;
use web::metrics::ServerMetrics;

/// Delay before the first restart; doubles with each further panic.
const MIN_RESTART_DELAY: Duration = Duration::from_millis(100);
const MAX_RESTART_DELAY: Duration = Duration::from_secs(30);
/// After running this long, a task starts over with the shortest delay.
const HEALTHY_AFTER: Duration = Duration::from_mins(1);

type BoxedWork = Box<dyn Fn(Shutdown) -> BoxFuture<'static, ()> + Send + Sync>;

/// Dropping it aborts the tasks.
pub(super) struct Supervisor {
    shutdown: Shutdown,
    metrics: Arc<ServerMetrics>,
    tasks: JoinSet<()>,
}

impl Supervisor {
    pub(super) fn new(metrics: Arc<ServerMetrics>, shutdown: Shutdown) -> Self {
        Self { shutdown, metrics, tasks: JoinSet::new() }
    }

    /// `work` must return once shutdown is triggered. `name` labels the task in logs and metrics.
    pub(super) fn start<C, F, W>(&mut self, name: &'static str, context: &C, work: F)
    where
        C: Clone + Send + Sync + 'static,
        F: Fn(C, Shutdown) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let context = context.clone();
        self.start_boxed(name, Box::new(move |shutdown| Box::pin(work(context.clone(), shutdown))));
    }

    /// Compiled once, and not for each kind of work.
    fn start_boxed(&mut self, name: &'static str, work: BoxedWork) {
        self.metrics.add_background_task(name);
        let (metrics, shutdown) = (Arc::clone(&self.metrics), self.shutdown.clone());
        self.tasks.spawn(async move {
            let mut restarts = RestartPolicy::default();
            loop {
                let started = clock::monotonic_now();
                let run = async {
                    panic_where_a_test_asks(name, restarts.panics);
                    work(shutdown.clone()).await;
                };
                let Err(panic) = AssertUnwindSafe(run).catch_unwind().await else {
                    return;
                };
                metrics.count_task_restart(name);
                let delay = restarts.delay_after(started.elapsed());
                let panic = panic_message(&*panic);
                tracing::error!(task = name, panic, ?delay, "a background task panicked; restarting it");
                let _early = tokio::time::timeout(delay, shutdown.wait()).await;
                if shutdown.is_triggered() {
                    return;
                }
            }
        });
    }

    /// Like [`Supervisor::start`], for work that never returns and may be cancelled at any await point.
    pub(super) fn start_endless<C, F, W>(&mut self, name: &'static str, context: &C, work: F)
    where
        C: Clone + Send + Sync + 'static,
        F: Fn(C) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let context = context.clone();
        let work: BoxedWork = Box::new(move |shutdown| run_until_shutdown(Box::pin(work(context.clone())), shutdown));
        self.start_boxed(name, work);
    }

    pub(super) async fn join_all(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    pub(super) async fn abort_all(&mut self) {
        self.tasks.shutdown().await;
    }
}

fn run_until_shutdown(work: BoxFuture<'static, ()>, shutdown: Shutdown) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        tokio::select! {
            () = work => {}
            () = shutdown.wait() => {}
        }
    })
}

#[derive(Debug, Default)]
struct RestartPolicy {
    panics: u32,
    delay: Duration,
}

impl RestartPolicy {
    fn delay_after(&mut self, lasted: Duration) -> Duration {
        self.panics = self.panics.saturating_add(1);
        if lasted >= HEALTHY_AFTER {
            self.delay = Duration::ZERO;
        }
        self.delay = (self.delay * 2).clamp(MIN_RESTART_DELAY, MAX_RESTART_DELAY);
        self.delay
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// In debug builds, panics as often as `LOCUM_TEST_PANIC_TASK` (`name:times`) asks for.
fn panic_where_a_test_asks(name: &str, panics: u32) {
    if cfg!(debug_assertions)
        && let Ok(wanted) = std::env::var("LOCUM_TEST_PANIC_TASK")
        && let Some((task, times)) = wanted.split_once(':')
    {
        let times: u32 = times.parse().unwrap_or(0);
        assert!(task != name || panics >= times, "a test asked for it");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use edge::Shutdown;
    use web::metrics::ServerMetrics;

    use super::{HEALTHY_AFTER, MAX_RESTART_DELAY, MIN_RESTART_DELAY, RestartPolicy, Supervisor};

    #[test]
    fn task_rests_longer_after_each_panic_until_it_was_well() {
        let mut restarts = RestartPolicy::default();
        let soon = Duration::from_secs(1);
        assert_eq!(restarts.delay_after(soon), MIN_RESTART_DELAY);
        assert_eq!(restarts.delay_after(soon), MIN_RESTART_DELAY * 2);
        assert_eq!(restarts.delay_after(soon), MIN_RESTART_DELAY * 4);
        for _ in 0..10 {
            restarts.delay_after(soon);
        }
        assert_eq!(restarts.delay_after(soon), MAX_RESTART_DELAY);
        assert_eq!(restarts.delay_after(HEALTHY_AFTER), MIN_RESTART_DELAY);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn panic_of_one_task_restarts_it_and_leaves_the_others_alone() {
        let (metrics, shutdown) = (Arc::new(ServerMetrics::default()), Shutdown::new());
        let mut tasks = Supervisor::new(Arc::clone(&metrics), shutdown.clone());
        let (runs, others) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        tasks.start("shaky", &runs, |count, shutdown| {
            let run = count.fetch_add(1, Ordering::SeqCst);
            async move {
                assert!(run >= 2, "run {run}");
                shutdown.wait().await;
            }
        });
        tasks.start_endless("steady", &others, |count| {
            count.fetch_add(1, Ordering::SeqCst);
            std::future::pending()
        });
        while runs.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        shutdown.trigger();
        tasks.join_all().await;
        assert_eq!(others.load(Ordering::SeqCst), 1);
        let text = metrics.render_text().unwrap();
        assert!(text.contains(r#"locum_background_task_restarts_total{task="shaky"} 2"#), "{text}");
        assert!(text.contains(r#"locum_background_task_restarts_total{task="steady"} 0"#), "{text}");
    }
}
