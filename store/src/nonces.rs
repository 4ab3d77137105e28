//! What must not be accepted twice: signatures of OAuth 1.0a, and forms.
//!
//! Forms are in a table. With PostgreSQL, signatures are in it too, which all nodes share, and durable before the request
//! is answered: a replay must be refused after a crash or a failover too. With SQLite, signatures are in memory and in a
//! journal file: an entry is written before its request is answered, without a flush, so that it survives a killed
//! process. While the disk is full, entries are in memory only.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use base::{Error, Fault, Time};
use parking_lot::Mutex;

use crate::Store;
use crate::db::insert_new;

/// Stored bytes of a signature's digest.
const DIGEST_LENGTH: usize = 16;
const ENTRY_LENGTH: usize = DIGEST_LENGTH + 8;
/// Bytes of entries that wait for room on the disk; with more, signed requests are refused.
const MAX_UNWRITTEN: usize = ENTRY_LENGTH << 16;

const FORM_RETENTION_MS: i64 = 24 * 60 * 60 * 1_000;

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
    /// What the file does not contain yet; it may begin within an entry.
    unwritten: Vec<u8>,
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

/// Records that a form is submitted, for a day; returns false if it was before. Part of the transaction that does what
/// the form asks for, so that a form whose transaction fails can be submitted again.
pub fn claim_form(tx: &mut crate::Tx<'_>, digest: &[u8; 32], now: Time) -> Result<bool, Fault> {
    insert(tx, digest, now.plus_ms(FORM_RETENTION_MS))
}

pub fn is_form_claimed(tx: &mut crate::Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    tx.row_exists("SELECT 1 FROM nonce WHERE digest = $1", &[digest.into()])
}

/// Deletes signatures whose timestamps are no longer accepted, and forms that were submitted more than a day ago.
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
        if now.ms() - self.started_at.ms() > 2 * window_ms
            && let Err(error) = self.rotate(now)
        {
            tracing::debug!(%error, "failed to rotate the nonce journal; will retry");
        }
        if self.previous.digests.contains(&digest) {
            return Ok(false);
        }
        self.current.insert_if_new(digest, now)
    }

    /// Makes the current generation the previous one, and drops that. Changes nothing if there is no room for a file.
    fn rotate(&mut self, now: Time) -> io::Result<()> {
        let next_path = self.folder.join("nonces.next");
        let file = OpenOptions::new().create(true).append(true).open(&next_path)?;
        file.set_len(0)?;
        std::fs::rename(current_path(&self.folder), previous_path(&self.folder))?;
        std::fs::rename(next_path, current_path(&self.folder))?;
        let unwritten = std::mem::take(&mut self.current.unwritten);
        let next = NonceGeneration { digests: HashSet::new(), file, unwritten };
        self.previous = std::mem::replace(&mut self.current, next);
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
        Ok(Self { digests: records.collect(), file, unwritten: Vec::new() })
    }

    fn insert_if_new(&mut self, digest: [u8; DIGEST_LENGTH], now: Time) -> Result<bool, Fault> {
        if self.digests.contains(&digest) {
            return Ok(false);
        }
        if self.unwritten.len() >= MAX_UNWRITTEN {
            self.write_out().map_err(Fault::context("writing nonces")).map_err(Fault::into_transient)?;
        }
        self.digests.insert(digest);
        let was_empty = self.unwritten.is_empty();
        self.unwritten.extend(digest);
        self.unwritten.extend(now.ms().to_be_bytes());
        match self.write_out() {
            Err(error) if was_empty => {
                tracing::warn!(%error, "failed to write nonces; until they are written, a crash forgets them");
            }
            Ok(()) if !was_empty => tracing::info!("the nonces that were in memory only are written"),
            Ok(()) | Err(_) => {}
        }
        Ok(true)
    }

    fn write_out(&mut self) -> io::Result<()> {
        while !self.unwritten.is_empty() {
            let written = self.file.write(&self.unwritten)?;
            if written == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            self.unwritten.drain(..written);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use base::Time;
    use tempfile::TempDir;

    use super::{DIGEST_LENGTH, ENTRY_LENGTH, MAX_UNWRITTEN, NonceJournal, current_path};

    const WINDOW_MS: i64 = 300_000;

    fn digest(number: usize) -> [u8; DIGEST_LENGTH] {
        u128::try_from(number).unwrap().to_be_bytes()
    }

    #[test]
    fn nonces_are_remembered_while_the_disk_is_full_and_written_afterwards() {
        let folder = TempDir::new().unwrap();
        let now = Time::from_ms(1_000_000_000);
        let mut journal = NonceJournal::open(folder.path(), now).unwrap();
        let file = journal.current.file.try_clone().unwrap();
        journal.current.file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let bound = MAX_UNWRITTEN / ENTRY_LENGTH;
        for number in 0..bound {
            assert!(journal.insert_if_new(digest(number), now, WINDOW_MS).unwrap());
        }
        for number in [0, bound / 2, bound - 1] {
            assert!(!journal.insert_if_new(digest(number), now, WINDOW_MS).unwrap(), "a replay was accepted");
        }
        let refused = journal.insert_if_new(digest(bound), now, WINDOW_MS).unwrap_err();
        assert!(refused.is_transient(), "{refused}");

        journal.current.file = file;
        assert!(journal.insert_if_new(digest(bound), now, WINDOW_MS).unwrap(), "a refused one was not used");
        let written = std::fs::metadata(current_path(folder.path())).unwrap().len();
        assert_eq!(written, u64::try_from((bound + 1) * ENTRY_LENGTH).unwrap());
        let mut reopened = NonceJournal::open(folder.path(), now).unwrap();
        for number in [0, bound] {
            assert!(!reopened.insert_if_new(digest(number), now, WINDOW_MS).unwrap());
        }
    }

    #[test]
    fn nonces_outlive_one_rotation_of_the_journal() {
        let folder = TempDir::new().unwrap();
        let start = Time::from_ms(1_000_000_000);
        let mut journal = NonceJournal::open(folder.path(), start).unwrap();
        assert!(journal.insert_if_new(digest(1), start, WINDOW_MS).unwrap());
        let later = start.plus_ms(2 * WINDOW_MS + 1);
        assert!(!journal.insert_if_new(digest(1), later, WINDOW_MS).unwrap());
        let mut reopened = NonceJournal::open(folder.path(), later).unwrap();
        assert!(!reopened.insert_if_new(digest(1), later, WINDOW_MS).unwrap());
    }
}
