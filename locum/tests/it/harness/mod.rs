//! What every test stands on: servers, the people on them, and what is asked of them.

mod ask;
mod database;
mod person;
mod post_office;
mod process;
mod receiver;
mod record;
mod server;
mod stream;

pub(crate) use ask::{Answer, Ask, Key, encode};
pub(crate) use database::{Engine, engine};
pub(crate) use person::{App, Person};
pub(crate) use post_office::PostOffice;
pub(crate) use process::{Ran, locum, run};
pub(crate) use receiver::{Crc, Heard, Receiver, Turn, hmac};
pub(crate) use server::{Server, for_the_test, shared};
pub(crate) use stream::Listener;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Numbers that look random, the same for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    /// One of some.
    pub(crate) fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.roll(some.len())]
    }
}

/// A setting of the suite, a number.
pub(crate) fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

/// A number that this process has not used yet.
pub(crate) fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// How long what must come is waited for: longer than any machine takes that is busy with other tests.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Tries until it is so.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = base::clock::monotonic_now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
