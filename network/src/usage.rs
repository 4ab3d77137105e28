//! What apps call, counted in memory and written down every few seconds: a request pays for no
//! write. What a process had not written when it was killed is lost; nothing is decided by it.

use std::collections::HashMap;

use base::clock::wall;
use base::{AppId, Credential, Fault, Stop, Time, UserId};
use parking_lot::Mutex;
use store::{Store, Tx, usage};

pub use store::usage::{CredentialLastUse, OperationCalls};

/// Length of a window: that of the rate limits.
pub const WINDOW_MS: i64 = 15 * 60 * 1000;
/// How long windows are kept.
pub const KEPT_MS: i64 = 62 * 24 * 3600 * 1000;

type CallsKey = (AppId, &'static str, Time);
type UseKey = (AppId, &'static str, Option<UserId>);

#[derive(Default)]
struct Memory {
    calls: HashMap<CallsKey, i64>,
    used: HashMap<UseKey, Time>,
}

/// Counts calls.
#[derive(Default)]
pub struct Usage {
    memory: Mutex<Memory>,
}

/// The name under which a kind of credential is remembered.
pub const fn kind(credential: Credential) -> &'static str {
    match credential {
        Credential::OAuth1 => "oauth1",
        Credential::App => "bearer",
        Credential::OAuth2 => "oauth2",
    }
}

impl Usage {
    /// Counts one call of an operation by an app, with a credential of a kind, for a user.
    pub fn note(
        &self,
        app: AppId,
        credential: Credential,
        user: Option<UserId>,
        operation: &'static str,
    ) {
        self.note_at(app, credential, user, operation, wall());
    }

    /// [`Usage::note`] at another moment.
    pub fn note_at(
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
        memory.used.insert((app, kind(credential), user), now);
    }

    /// Writes down what was counted since the last time; what cannot be written stays counted.
    pub async fn flush(&self, store: &Store) -> Result<(), Stop> {
        let taken = std::mem::take(&mut *self.memory.lock());
        if taken.calls.is_empty() && taken.used.is_empty() {
            return Ok(());
        }
        let mut calls: Vec<(CallsKey, i64)> = taken.calls.into_iter().collect();
        let mut used: Vec<(UseKey, Time)> = taken.used.into_iter().collect();
        // In one order on every node, so that none waits for another in a circle.
        calls.sort_unstable();
        used.sort_unstable();
        let (to_write, to_say) = (calls.clone(), used.clone());
        let work = move |tx: &mut Tx<'_>| Ok(write(tx, &to_write, &to_say)?);
        let outcome = store.write(work).await;
        if outcome.is_err() {
            let mut memory = self.memory.lock();
            for (key, count) in calls {
                *memory.calls.entry(key).or_default() += count;
            }
            for (key, at) in used {
                memory.used.entry(key).or_insert(at);
            }
        }
        outcome
    }
}

fn write(tx: &mut Tx<'_>, calls: &[(CallsKey, i64)], used: &[(UseKey, Time)]) -> Result<(), Fault> {
    for ((app, operation, started), count) in calls {
        usage::add_calls(tx, *app, operation, *started, *count)?;
    }
    for ((app, kind, user), at) in used {
        usage::record_credential_use(tx, *app, kind, *user, *at)?;
    }
    Ok(())
}
