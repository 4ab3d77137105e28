//! What every test stands on: servers, the people on them, and what is asked of them.

mod ask;
mod database;
mod person;
mod process;
mod server;

pub(crate) use ask::{Answer, Ask, Key, encode};
pub(crate) use database::{Engine, engine};
pub(crate) use person::{App, Person};
pub(crate) use process::{Ran, run};
pub(crate) use server::{Server, shared};

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that this process has not used yet.
pub(crate) fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Tries until it is so, for ten seconds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = base::clock::instant();
    while !holds() {
        assert!(start.elapsed().as_secs() < 10, "waited in vain: {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
