//! One connection of the listener: notifications, the lease, and numbering.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use base::Fault;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Row, Socket, Statement};

use super::super::server_checks::find_identity;
use super::super::tls::{ConnectionDriver, ConnectionTarget};
use super::super::{CONNECT_TIMEOUT, no_host};
use super::EventListenerOptions;
use crate::event_log::sequencer_sql::{self, BATCH_SIZE, LEASE};

/// How often the lease is renewed or asked for, and the log is looked at in case a notification was lost.
const TICK_INTERVAL: Duration = Duration::from_secs(1);
/// After this long without an answer the connection is taken for lost.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit is below [`ANSWER_TIMEOUT`], so that a slow statement does not end the connection. Other plans than
/// by index read all rows that no vacuum has removed yet; where there is no index, they are estimated to cost so much
/// that the server would compile the statement each time, which takes longer than the lease lasts on a busy machine.
const SET_UP_SQL: &str = "SET statement_timeout = '2s'; SET enable_seqscan = off; SET enable_bitmapscan = off; \
                          SET jit = off; LISTEN locum_events";
/// The floor follows the highest numbered id by so many ticks. Entries of transactions that take longer are found by
/// the search below the floor.
const TICKS_TO_FLOOR: usize = 5;
/// The search below the floor reads rows that no vacuum has removed yet. It gets one part in so many of the time.
const FLOOR_SEARCH_SHARE: u32 = 20;

pub(super) struct SessionSignals {
    /// There are entries without a number.
    pub(super) committed: Notify,
    /// Another process gave up the lease.
    pub(super) released: Notify,
    pub(super) closed: Notify,
    appended: Arc<watch::Sender<u64>>,
}

struct SequencerLease {
    token: i64,
    /// Highest numbered ids at recent ticks, oldest first.
    recent_ids: VecDeque<i64>,
    highest_id: i64,
    next_floor_search: Instant,
}

pub(super) struct ListenerSession {
    client: Client,
    signals: Arc<SessionSignals>,
    acquire: Statement,
    number_batch: Statement,
    holder: String,
    lease: Option<SequencerLease>,
    floor: i64,
    /// The last number that is known to be given.
    last_seq: i64,
    next_tick: Instant,
}

impl ListenerSession {
    pub(super) async fn connect(options: &EventListenerOptions) -> Result<Self, Fault> {
        let signals = Arc::new(SessionSignals {
            committed: Notify::new(),
            released: Notify::new(),
            closed: Notify::new(),
            appended: Arc::clone(&options.appended),
        });
        let client = connect_to_known_server(&options.target, &signals).await?;
        await_answer(client.batch_execute(SET_UP_SQL)).await?;
        let acquire = await_answer(client.prepare(sequencer_sql::ACQUIRE)).await?;
        let number_batch = await_answer(client.prepare(sequencer_sql::NUMBER_BATCH)).await?;
        Ok(Self {
            client,
            signals,
            acquire,
            number_batch,
            holder: options.holder.clone(),
            lease: None,
            floor: 0,
            last_seq: 0,
            next_tick: Instant::now(),
        })
    }

    pub(super) fn signals(&self) -> Arc<SessionSignals> {
        Arc::clone(&self.signals)
    }

    pub(super) const fn next_tick(&self) -> Instant {
        self.next_tick
    }

    /// Renews the lease or asks for it.
    pub(super) async fn tick(&mut self) -> Result<(), Fault> {
        self.next_tick = Instant::now() + TICK_INTERVAL;
        if self.lease.is_none() {
            self.acquire_lease().await?;
        }
        self.raise_floor();
        if self.lease.as_ref().is_some_and(|lease| lease.next_floor_search > Instant::now()) {
            return self.number_entries().await;
        }
        self.number_all_entries().await
    }

    /// Asks for the lease that another process has given up.
    pub(super) async fn take_over(&mut self) -> Result<(), Fault> {
        if self.lease.is_some() {
            return Ok(());
        }
        self.tick().await
    }

    async fn acquire_lease(&mut self) -> Result<(), Fault> {
        let row = await_answer(self.client.query_one(&self.acquire, &[&self.holder, &lease_ms()])).await?;
        let (last_seq, floor, remaining, token): (i64, i64, i64, Option<i64>) =
            (read(&row, 0)?, read(&row, 1)?, read(&row, 2)?, read(&row, 3)?);
        if last_seq > self.last_seq {
            self.last_seq = last_seq;
            self.signals.appended.send_modify(|count| *count += 1);
        }
        self.floor = self.floor.max(floor);
        let Some(token) = token else {
            // The moment it expires, if that is before the next tick.
            let expires_in = Duration::from_millis(u64::try_from(remaining).unwrap_or(0).saturating_add(1));
            self.next_tick = self.next_tick.min(Instant::now() + expires_in);
            return Ok(());
        };
        tracing::debug!(token, "this process numbers the event log");
        self.lease = Some(SequencerLease {
            token,
            recent_ids: VecDeque::new(),
            highest_id: self.floor,
            next_floor_search: Instant::now(),
        });
        Ok(())
    }

    fn raise_floor(&mut self) {
        let Some(lease) = &mut self.lease else {
            return;
        };
        lease.recent_ids.push_back(lease.highest_id);
        if lease.recent_ids.len() > TICKS_TO_FLOOR {
            self.floor = lease.recent_ids.pop_front().unwrap_or(0).max(self.floor);
        }
    }

    /// Has entries numbered that this process committed.
    pub(super) async fn announce_commits(&mut self) -> Result<(), Fault> {
        if self.lease.is_some() {
            return self.number_entries().await;
        }
        await_answer(self.client.batch_execute("NOTIFY locum_events, 'committed'")).await
    }

    /// Numbers everything above the floor, if this process has the lease, and renews it.
    pub(super) async fn number_entries(&mut self) -> Result<(), Fault> {
        let floor = self.floor;
        while self.number_batch(floor).await? >= BATCH_SIZE {}
        Ok(())
    }

    /// As [`Self::number_entries`], also below the floor.
    async fn number_all_entries(&mut self) -> Result<(), Fault> {
        let started = Instant::now();
        loop {
            match self.number_batch(0).await {
                Ok(count) if count >= BATCH_SIZE => {}
                Ok(_) => break,
                Err(fault) if fault.is_transient() => {
                    tracing::warn!(error = %fault, "entries of long transactions are numbered later");
                    self.number_entries().await?;
                    break;
                }
                Err(fault) => return Err(fault),
            }
        }
        if let Some(lease) = &mut self.lease {
            lease.next_floor_search = Instant::now() + started.elapsed() * FLOOR_SEARCH_SHARE;
        }
        Ok(())
    }

    /// Returns how many entries were numbered: none without the lease.
    async fn number_batch(&mut self, above: i64) -> Result<i64, Fault> {
        let Some(lease) = &mut self.lease else {
            return Ok(0);
        };
        let args: [&(dyn ToSql + Sync); 5] = [&lease.token, &above, &lease_ms(), &self.floor, &BATCH_SIZE];
        let row = await_answer(self.client.query_one(&self.number_batch, &args)).await?;
        let (last_seq, count, highest): (Option<i64>, i64, Option<i64>) =
            (read(&row, 0)?, read(&row, 1)?, read(&row, 2)?);
        let Some(last_seq) = last_seq else {
            tracing::info!(token = lease.token, "another process numbers the event log now");
            self.lease = None;
            return Ok(0);
        };
        self.last_seq = last_seq;
        lease.highest_id = lease.highest_id.max(highest.unwrap_or(0));
        Ok(count)
    }

    /// Numbers what is left and lets another process take over at once.
    pub(super) async fn release(&mut self) -> Result<(), Fault> {
        self.announce_commits().await?;
        let Some(lease) = self.lease.take() else {
            return Ok(());
        };
        await_answer(self.client.execute(sequencer_sql::RELEASE, &[&lease.token])).await?;
        await_answer(self.client.batch_execute("NOTIFY locum_events, 'released'")).await
    }
}

/// To the first host of the address that answers and is not refused.
async fn connect_to_known_server(target: &ConnectionTarget, signals: &Arc<SessionSignals>) -> Result<Client, Fault> {
    let mut refusal = no_host();
    for host in &target.hosts {
        match connect_to_host(target, host, signals).await {
            Ok(client) => return Ok(client),
            Err(fault) => refusal = fault,
        }
    }
    Err(refusal)
}

async fn connect_to_host(
    target: &ConnectionTarget,
    host: &Config,
    signals: &Arc<SessionSignals>,
) -> Result<Client, Fault> {
    let driver = NotificationDriver(Arc::clone(signals));
    let connecting = timeout(CONNECT_TIMEOUT, target.connect(host, &driver));
    let client = connecting.await.map_err(|_| Fault::new("PostgreSQL does not answer"))??;
    if let Some(known) = &target.known_server {
        await_answer(find_identity(&client)).await?.map_or(Ok(()), |identity| known.check(identity))?;
    }
    Ok(client)
}

fn lease_ms() -> i64 {
    i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX)
}

fn read<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, Fault> {
    row.try_get(column).map_err(Fault::context("reading an answer of the sequencer"))
}

/// A statement that reached its time limit is a transient fault, and the connection can still be used.
async fn await_answer<T>(answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Fault> {
    let answer = timeout(ANSWER_TIMEOUT, answer).await;
    let answer = answer.map_err(|_| Fault::new("the database server does not answer"))?;
    answer.map_err(|error| {
        let timed_out = error.code() == Some(&SqlState::QUERY_CANCELED);
        let fault = Fault::from_cause("numbering the event log", error);
        if timed_out { fault.into_transient() } else { fault }
    })
}

/// Reads the messages of a connection until it is closed.
struct NotificationDriver(Arc<SessionSignals>);

impl ConnectionDriver for NotificationDriver {
    #[expect(clippy::disallowed_methods, reason = "the task is on the listener's own runtime and ends with the client")]
    fn spawn<S>(&self, client: Client, connection: Connection<Socket, S>) -> Client
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        drop(tokio::spawn(read_messages(connection, Arc::clone(&self.0))));
        client
    }
}

async fn read_messages<S>(mut connection: Connection<Socket, S>, signals: Arc<SessionSignals>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
        let AsyncMessage::Notification(notification) = message else {
            continue;
        };
        match notification.payload() {
            "committed" => signals.committed.notify_one(),
            "released" => signals.released.notify_one(),
            _ => signals.appended.send_modify(|count| *count += 1),
        }
    }
    signals.closed.notify_one();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;
    use tokio::sync::watch;

    use super::{ConnectionTarget, EventListenerOptions, ListenerSession};
    use crate::test_stores::{locations, options};
    use crate::{DatabaseLocation, Store};

    #[test]
    fn server_compiles_no_statements() {
        let folder = TempDir::new().unwrap();
        let Some(DatabaseLocation::Server(url)) = locations(&folder).pop() else {
            return;
        };
        let location = DatabaseLocation::Server(url.clone());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
        let sql = "SELECT setting FROM pg_settings WHERE name = 'jit'";
        let pooled: Option<String> = runtime.block_on(store.read(move |tx| Ok(tx.query_row(sql, &[])?))).unwrap();
        assert_eq!(pooled.as_deref(), Some("off"));
        let listening = runtime.block_on(async {
            let (committed, appended) = (watch::channel(0).1, Arc::new(watch::Sender::new(0)));
            let holder = "test".to_owned();
            let target = Arc::new(ConnectionTarget::parse(&url).unwrap());
            let options = EventListenerOptions { target, holder, committed, appended };
            ListenerSession::connect(&options)
                .await
                .unwrap()
                .client
                .query_one(sql, &[])
                .await
                .unwrap()
                .get::<_, String>(0)
        });
        assert_eq!(listening, "off");
        store.close();
    }
}
