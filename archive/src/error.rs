//! Errors of reading an archive.

use std::fmt;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementLocation {
    pub file: String,
    /// Counted from 0.
    pub element: u64,
}

impl fmt::Display for ElementLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, element {}", self.file, self.element)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{0} is not a data archive")]
    NotAnArchive(String),
    /// The zip's directory cannot be read, as after an incomplete download.
    #[error("{file} is not a complete zip file: {why}")]
    BrokenZip { file: String, why: String },
    #[error("the archive names an unsafe file: {0:?}")]
    UnsafeName(String),
    #[error("{file} is refused: {why}")]
    Bomb { file: String, why: &'static str },
    #[error("{file} cannot be unpacked: {why}")]
    Packing { file: String, why: &'static str },
    #[error("{0} is not in the archive")]
    Missing(String),
    /// One element exceeds a limit. Reading continues after it.
    #[error("{at} is refused: {why}")]
    Refused { at: ElementLocation, why: &'static str },
    /// A file ends or is malformed inside its array. Reading continues with the next file.
    #[error("{at}: {why}")]
    Broken { at: ElementLocation, why: String },
    /// A position is malformed or does not belong to this archive.
    #[error("invalid position: {0}")]
    Position(String),
    #[error("{file}: {source}")]
    Io { file: String, source: io::Error },
}

impl ArchiveError {
    /// Whether the iterator that returned this error continues.
    pub fn is_recoverable(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    pub(crate) fn from_io(file: &str, source: io::Error) -> Self {
        Self::Io { file: file.to_owned(), source }
    }
}
