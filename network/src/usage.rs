//! API usage, counted in memory and written every few seconds, so that requests cause no writes. Unwritten counts are
//! lost if the process is killed.

use std::collections::HashMap;

use base::clock::wall_time;
use base::{AppId, Credential, Error, Fault, Time, UserId};
use parking_lot::Mutex;
use store::{Store, Tx, usage};

pub use store::usage::{CredentialLastUse, OperationCalls};

/// The length of a window, which is that of the rate limits.
pub const WINDOW_MS: i64 = 15 * 60 * 1000;
/// How long windows are stored.
pub const RETENTION_MS: i64 = 62 * 24 * 3600 * 1000;

type CallCountKey = (AppId, &'static str, Time);
type CredentialUseKey = (AppId, &'static str, Option<UserId>);

#[derive(Default)]
struct UsageMemory {
    calls: HashMap<CallCountKey, i64>,
    last_used: HashMap<CredentialUseKey, Time>,
}

#[derive(Default)]
pub struct UsageCounter {
    memory: Mutex<UsageMemory>,
}

/// The name of a kind of credential in the database.
pub const fn credential_name(credential: Credential) -> &'static str {
    match credential {
        Credential::OAuth1 => "oauth1",
        Credential::App => "bearer",
        Credential::OAuth2 => "oauth2",
    }
}

impl UsageCounter {
    pub fn record_call(&self, app: AppId, credential: Credential, user: Option<UserId>, operation: &'static str) {
        self.record_call_at(app, credential, user, operation, wall_time());
    }

    /// As [`UsageCounter::record_call`], at a given time.
    pub fn record_call_at(
        &self,
        app: AppId,
        credential: Credential,
        user: Option<UserId>,
        operation: &'static str,
        now: Time,
    ) {
        let started = Time::from_ms(now.ms() - now.ms().rem_euclid(WINDOW_MS));
        let mut memory = self.memory.lock();
        *memory.calls.entry((app, operation, started)).or_default() += 1;
        memory.last_used.insert((app, credential_name(credential), user), now);
    }

    /// Writes the counts since the last call; on failure they stay in memory.
    pub async fn flush(&self, store: &Store) -> Result<(), Error> {
        let pending = std::mem::take(&mut *self.memory.lock());
        if pending.calls.is_empty() && pending.last_used.is_empty() {
            return Ok(());
        }
        let mut calls: Vec<(CallCountKey, i64)> = pending.calls.into_iter().collect();
        let mut used: Vec<(CredentialUseKey, Time)> = pending.last_used.into_iter().collect();
        // A fixed order, so that concurrent transactions do not deadlock.
        calls.sort_unstable();
        used.sort_unstable();
        let (calls_to_write, used_to_write) = (calls.clone(), used.clone());
        let work = move |tx: &mut Tx<'_>| Ok(write_usage(tx, &calls_to_write, &used_to_write)?);
        let outcome = store.write(work).await;
        if outcome.is_err() {
            let mut memory = self.memory.lock();
            for (key, count) in calls {
                *memory.calls.entry(key).or_default() += count;
            }
            for (key, at) in used {
                memory.last_used.entry(key).or_insert(at);
            }
        }
        outcome
    }
}

fn write_usage(tx: &mut Tx<'_>, calls: &[(CallCountKey, i64)], used: &[(CredentialUseKey, Time)]) -> Result<(), Fault> {
    for ((app, operation, started), count) in calls {
        usage::add_calls(tx, *app, operation, *started, *count)?;
    }
    for ((app, kind, user), at) in used {
        usage::record_credential_use(tx, *app, kind, *user, *at)?;
    }
    Ok(())
}
