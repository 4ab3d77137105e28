//! Errors of reading an archive.

use std::fmt;
use std::io;

/// A file of the archive and an element within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementLocation {
    /// Within the archive, such as `data/tweets.js`.
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
    /// There are neither data files nor a manifest.
    #[error("{0} is not a data archive")]
    NotAnArchive(String),
    /// The zip's directory cannot be read, as after an incomplete download.
    #[error("{file} is not a complete zip file: {why}")]
    BrokenZip {
        file: String,
        /// The message of the zip reader.
        why: String,
    },
    /// A name leads out of the archive or cannot be a file name.
    #[error("the archive names an unsafe file: {0:?}")]
    UnsafeName(String),
    /// A file declares a size that no real archive has.
    #[error("{file} is refused: {why}")]
    Bomb {
        /// Within the archive.
        file: String,
        why: &'static str,
    },
    /// A file is encrypted or compressed with an unsupported method.
    #[error("{file} cannot be unpacked: {why}")]
    Packing {
        /// Within the archive.
        file: String,
        why: &'static str,
    },
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
        Self::Io {
            file: file.to_owned(),
            source,
        }
    }
}
