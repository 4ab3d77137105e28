//! The optional file of the journal: JSON Lines, of two files in turns.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::JournalEntry;
use super::entry_json::entry_json;

/// Appends entries; at half of the limit, the file becomes `NAME.1` and a new one begins.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    size: u64,
    /// Of both files together, in bytes.
    limit: u64,
    has_failed: bool,
}

impl JournalFile {
    pub fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let file = open_for_append(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, size, limit, has_failed: false })
    }

    /// A failure is reported once, and the journal in memory continues.
    pub(super) fn append(&mut self, entry: &JournalEntry) {
        if let Err(error) = self.try_append(entry) {
            if !self.has_failed {
                eprintln!("locum: the journal file {} is incomplete: {error}", self.path.display());
            }
            self.has_failed = true;
        }
    }

    fn try_append(&mut self, entry: &JournalEntry) -> io::Result<()> {
        let mut line = entry_json(entry).to_string();
        line.push('\n');
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.size > 0 && self.size.saturating_add(length) > self.limit / 2 {
            self.rotate()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.size = self.size.saturating_add(length);
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let mut older = self.path.clone().into_os_string();
        older.push(".1");
        std::fs::rename(&self.path, older)?;
        self.file = open_for_append(&self.path)?;
        self.size = 0;
        Ok(())
    }
}

fn open_for_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
