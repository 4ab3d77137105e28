//! What a tester sees of connections: those that are open, and the last ones that ended.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::{AppId, Time};
use parking_lot::Mutex;

use super::{DisconnectReason, StreamEndpoint, StreamSession};

#[derive(Clone, Debug)]
pub struct StreamStatus {
    pub uuid: String,
    pub app: AppId,
    pub endpoint: StreamEndpoint,
    /// From 1.
    pub partition: u8,
    pub is_replay: bool,
    /// The client's address, or empty.
    pub client: String,
    pub connected_at: Time,
    /// Messages.
    pub sent: u64,
    /// Messages dropped because of the rate limit.
    pub dropped: u64,
    pub keep_alives: u64,
    pub buffered_bytes: usize,
    /// Time since the last message or keep-alive.
    pub idle: Duration,
}

#[derive(Clone, Debug)]
pub struct EndedStream {
    pub status: StreamStatus,
    pub ended_at: Time,
    pub reason: DisconnectReason,
}

/// The last connections that ended, the newest last.
#[derive(Debug, Default)]
pub(super) struct EndedStreams(Mutex<VecDeque<EndedStream>>);

impl EndedStreams {
    /// Keeps at most `max`.
    pub(super) fn add(&self, session: &StreamSession, (ended_at, reason): (Time, DisconnectReason), max: usize) {
        if max == 0 {
            return;
        }
        let mut ended = self.0.lock();
        if ended.len() == max {
            ended.pop_front();
        }
        ended.push_back(EndedStream { status: session.status(), ended_at, reason });
    }

    /// The newest first.
    pub(super) fn list(&self) -> Vec<EndedStream> {
        self.0.lock().iter().rev().cloned().collect()
    }
}

/// What a connection wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenOutput {
    last_write: Instant,
    keep_alives: u64,
}

impl Default for WrittenOutput {
    fn default() -> Self {
        Self { last_write: monotonic_now(), keep_alives: 0 }
    }
}

impl WrittenOutput {
    pub(super) fn record(&mut self, at: Instant, is_keep_alive: bool) {
        self.last_write = at;
        self.keep_alives += u64::from(is_keep_alive);
    }

    pub(super) fn idle_time(&self) -> Duration {
        monotonic_now().saturating_duration_since(self.last_write)
    }

    pub(super) const fn keep_alives(&self) -> u64 {
        self.keep_alives
    }
}
