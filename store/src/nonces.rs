//! Signatures that were taken once and must not be taken again.
//!
//! On a database server they stand in a table that all nodes share. With a SQLite file they stand
//! in memory and in a journal beside it: each is written to the journal before its request is
//! answered, without a flush, so that a killed process forgets none.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use base::{Error, Fault, Time};
use parking_lot::Mutex;

use crate::Store;

/// Bytes of a signature's digest that are kept.
const DIGEST_LENGTH: usize = 16;
const ENTRY_LENGTH: usize = DIGEST_LENGTH + 8;

/// Remembers signatures for as long as their timestamps are accepted.
pub struct NonceRegistry {
    /// How long a timestamp is accepted on either side, in milliseconds.
    window_ms: i64,
    /// None where the database keeps them.
    journal: Option<Mutex<NonceJournal>>,
}

/// Two generations, each as long as the whole window: what is older than both is refused anyway.
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
    /// Opens the memory of a store. `window_ms` is how far a timestamp may be off.
    pub fn open(store: &Store, data_dir: &Path, window_ms: i64, now: Time) -> Result<Self, Fault> {
        let journal = if store.is_shared() {
            None
        } else {
            Some(Mutex::new(NonceJournal::open(data_dir, now)?))
        };
        Ok(Self { window_ms, journal })
    }

    /// Whether a signature is new; from now on it is not.
    pub async fn claim_nonce(&self, store: &Store, digest: [u8; 32], now: Time) -> Result<bool, Error> {
        let Some(journal) = &self.journal else {
            let expires = now.plus_ms(2 * self.window_ms);
            return store.write(move |tx| Ok(insert(tx, &digest, expires)?)).await;
        };
        let mut short = [0; DIGEST_LENGTH];
        short.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Ok(journal.lock().insert_if_new(short, now, self.window_ms)?)
    }
}

fn insert(tx: &mut crate::Tx<'_>, digest: &[u8; 32], expires: Time) -> Result<bool, Fault> {
    let sql = "INSERT INTO nonce (digest, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    Ok(tx.execute(sql, &[digest.into(), expires.into()])? > 0)
}

/// Forgets the signatures in the database whose timestamps are refused by now.
pub fn prune(tx: &mut crate::Tx<'_>, now: Time) -> Result<u64, Fault> {
    tx.execute("DELETE FROM nonce WHERE expires_at < $1", &[now.into()])
}

impl NonceJournal {
    fn open(folder: &Path, now: Time) -> Result<Self, Fault> {
        let young = NonceGeneration::open(&current_path(folder))?;
        let old = NonceGeneration::open(&previous_path(folder))?;
        Ok(Self {
            folder: folder.to_owned(),
            started_at: now,
            current: young,
            previous: old,
        })
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
        self.current
            .file
            .write_all(&record)
            .map_err(Fault::context("writing a nonce"))?;
        Ok(true)
    }

    /// The young generation becomes the old one, and the old one is forgotten.
    fn rotate(&mut self, now: Time) -> Result<(), Fault> {
        std::fs::rename(current_path(&self.folder), previous_path(&self.folder))
            .map_err(Fault::context("turning the nonces"))?;
        let young = NonceGeneration::open(&current_path(&self.folder))?;
        self.previous = std::mem::replace(&mut self.current, young);
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
        let when = "opening the nonces";
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(Fault::context(when))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Fault::context(when))?;
        // A record that was cut short belongs to a request that was never answered.
        let whole = bytes.len() - bytes.len() % ENTRY_LENGTH;
        file.set_len(u64::try_from(whole).unwrap_or(0))
            .map_err(Fault::context(when))?;
        let records = bytes
            .chunks_exact(ENTRY_LENGTH)
            .filter_map(|record| record.first_chunk().copied());
        Ok(Self {
            digests: records.collect(),
            file,
        })
    }
}
