//! OAuth 1.0a nonces: signatures that must not be accepted twice.
//!
//! With PostgreSQL they are in a table that all nodes share. With SQLite they are in memory and in a journal file: an
//! entry is written before its request is answered, without a flush, so that it survives a killed process.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use base::{Error, Fault, Time};
use parking_lot::Mutex;

use crate::Store;
use crate::db::insert_new;

/// Stored bytes of a signature's digest.
const DIGEST_LENGTH: usize = 16;
const ENTRY_LENGTH: usize = DIGEST_LENGTH + 8;

/// Remembers signatures for as long as their timestamps are accepted.
pub struct NonceRegistry {
    /// Accepted deviation of a timestamp, in milliseconds.
    window_ms: i64,
    /// None if the database stores them.
    journal: Option<Mutex<NonceJournal>>,
}

/// Two generations, each as long as the whole window; anything older is refused because of its timestamp.
struct NonceJournal {
    folder: PathBuf,
    started_at: Time,
    current: NonceGeneration,
    previous: NonceGeneration,
}

struct NonceGeneration {
    digests: HashSet<[u8; DIGEST_LENGTH]>,
    file: File,
}

impl NonceRegistry {
    /// `window_ms` is the accepted deviation of a timestamp.
    pub fn open(store: &Store, data_dir: &Path, window_ms: i64, now: Time) -> Result<Self, Fault> {
        let journal = if store.is_shared() { None } else { Some(Mutex::new(NonceJournal::open(data_dir, now)?)) };
        Ok(Self { window_ms, journal })
    }

    /// Records a signature; returns false if it was used before.
    pub async fn claim_nonce(&self, store: &Store, digest: [u8; 32], now: Time) -> Result<bool, Error> {
        let Some(journal) = &self.journal else {
            let expires = now.plus_ms(2 * self.window_ms);
            return store.write(move |tx| Ok(insert(tx, &digest, expires)?)).await;
        };
        let mut prefix = [0; DIGEST_LENGTH];
        prefix.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Ok(journal.lock().insert_if_new(prefix, now, self.window_ms)?)
    }
}

fn insert(tx: &mut crate::Tx<'_>, digest: &[u8; 32], expires: Time) -> Result<bool, Fault> {
    insert_new!(tx, "nonce", digest = digest, expires_at = expires)
}

/// Deletes signatures whose timestamps are no longer accepted.
pub fn prune(tx: &mut crate::Tx<'_>, now: Time) -> Result<u64, Fault> {
    tx.execute("DELETE FROM nonce WHERE expires_at < $1", &[now.into()])
}

impl NonceJournal {
    fn open(folder: &Path, now: Time) -> Result<Self, Fault> {
        let current = NonceGeneration::open(&current_path(folder))?;
        let previous = NonceGeneration::open(&previous_path(folder))?;
        Ok(Self { folder: folder.to_owned(), started_at: now, current, previous })
    }

    fn insert_if_new(&mut self, digest: [u8; DIGEST_LENGTH], now: Time, window_ms: i64) -> Result<bool, Fault> {
        if now.ms() - self.started_at.ms() > 2 * window_ms {
            self.rotate(now)?;
        }
        if self.previous.digests.contains(&digest) || !self.current.digests.insert(digest) {
            return Ok(false);
        }
        let mut record = [0; ENTRY_LENGTH];
        record.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        let at = record.iter_mut().skip(DIGEST_LENGTH);
        at.zip(now.ms().to_be_bytes()).for_each(|(to, from)| *to = from);
        self.current.file.write_all(&record).map_err(Fault::context("writing a nonce"))?;
        Ok(true)
    }

    /// Makes the current generation the previous one, and drops that.
    fn rotate(&mut self, now: Time) -> Result<(), Fault> {
        std::fs::rename(current_path(&self.folder), previous_path(&self.folder))
            .map_err(Fault::context("rotating the nonce journal"))?;
        let current = NonceGeneration::open(&current_path(&self.folder))?;
        self.previous = std::mem::replace(&mut self.current, current);
        self.started_at = now;
        Ok(())
    }
}

fn current_path(folder: &Path) -> PathBuf {
    folder.join("nonces.young")
}

fn previous_path(folder: &Path) -> PathBuf {
    folder.join("nonces.old")
}

impl NonceGeneration {
    fn open(path: &Path) -> Result<Self, Fault> {
        let context = "opening the nonce journal";
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(path).map_err(Fault::context(context))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Fault::context(context))?;
        // An incomplete record belongs to a request that was never answered.
        let complete = bytes.len() - bytes.len() % ENTRY_LENGTH;
        file.set_len(u64::try_from(complete).unwrap_or(0)).map_err(Fault::context(context))?;
        let records = bytes.chunks_exact(ENTRY_LENGTH).filter_map(|record| record.first_chunk().copied());
        Ok(Self { digests: records.collect(), file })
    }
}
