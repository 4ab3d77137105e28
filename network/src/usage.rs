//! What apps call, counted in memory and written down every few seconds: a request pays for no
//! write. What a process had not written when it was killed is lost; nothing is decided by it.

use std::collections::HashMap;

use base::clock::wall_time;
use base::{AppId, Credential, Error, Fault, Time, UserId};
use parking_lot::Mutex;
use store::{Store, Tx, usage};

pub use store::usage::{CredentialLastUse, OperationCalls};

/// Length of a window: that of the rate limits.
pub const WINDOW_MS: i64 = 15 * 60 * 1000;
/// How long windows are kept.
pub const RETENTION_MS: i64 = 62 * 24 * 3600 * 1000;

type CallCountKey = (AppId, &'static str, Time);
type CredentialUseKey = (AppId, &'static str, Option<UserId>);

#[derive(Default)]
struct UsageMemory {
    calls: HashMap<CallCountKey, i64>,
    last_used: HashMap<CredentialUseKey, Time>,
}

/// Counts calls.
#[derive(Default)]
pub struct UsageCounter {
    memory: Mutex<UsageMemory>,
}

/// The name under which a kind of credential is remembered.
pub const fn credential_name(credential: Credential) -> &'static str {
    match credential {
        Credential::OAuth1 => "oauth1",
        Credential::App => "bearer",
        Credential::OAuth2 => "oauth2",
    }
}

impl UsageCounter {
    /// Counts one call of an operation by an app, with a credential of a kind, for a user.
    pub fn record_call(&self, app: AppId, credential: Credential, user: Option<UserId>, operation: &'static str) {
        self.record_call_at(app, credential, user, operation, wall_time());
    }

    /// [`Usage::note`] at another moment.
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

    /// Writes down what was counted since the last time; what cannot be written stays counted.
    pub async fn flush(&self, store: &Store) -> Result<(), Error> {
        let taken = std::mem::take(&mut *self.memory.lock());
        if taken.calls.is_empty() && taken.last_used.is_empty() {
            return Ok(());
        }
        let mut calls: Vec<(CallCountKey, i64)> = taken.calls.into_iter().collect();
        let mut used: Vec<(CredentialUseKey, Time)> = taken.last_used.into_iter().collect();
        // In one order on every node, so that none waits for another in a circle.
        calls.sort_unstable();
        used.sort_unstable();
        let (to_write, to_say) = (calls.clone(), used.clone());
        let work = move |tx: &mut Tx<'_>| Ok(write_usage(tx, &to_write, &to_say)?);
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
