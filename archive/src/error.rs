//! Why a container cannot be read any further.

use std::fmt;
use std::io;

/// Where a reader stood: a file of the archive and, within it, an element counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementLocation {
    /// The file's name within the archive, `data/tweets.js`.
    pub file: String,
    /// The element's number within the file, counted from 0.
    pub element: u64,
}

impl fmt::Display for ElementLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, element {}", self.file, self.element)
    }
}

/// What ends or interrupts a reading.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The path holds no archive: neither data files nor a manifest.
    #[error("{0} holds no data archive")]
    NotAnArchive(String),
    /// The zip's directory cannot be read, as of a download that was cut off.
    #[error("{file} is not a whole zip file: {why}")]
    BrokenZip {
        /// The zip file's path.
        file: String,
        /// What the zip reader said.
        why: String,
    },
    /// A name leads out of the archive or cannot be a file name.
    #[error("the archive names an unsafe file: {0:?}")]
    UnsafeName(String),
    /// A file declares a size that no real archive has.
    #[error("{file} is refused: {why}")]
    Bomb {
        /// The file's name within the archive.
        file: String,
        /// Which bound it breaks.
        why: &'static str,
    },
    /// A file is encrypted or packed in a way that is not read.
    #[error("{file} cannot be unpacked: {why}")]
    Packing {
        /// The file's name within the archive.
        file: String,
        /// What is not supported.
        why: &'static str,
    },
    /// A file is not there.
    #[error("{0} is not in the archive")]
    Missing(String),
    /// One element breaks a bound. Reading goes on behind it.
    #[error("{at} is refused: {why}")]
    Refused {
        /// The element.
        at: ElementLocation,
        /// Which bound it breaks.
        why: &'static str,
    },
    /// A file ends or breaks inside its array. Nothing follows.
    #[error("{at}: {why}")]
    Broken {
        /// The element that was being read.
        at: ElementLocation,
        /// What is wrong with the file.
        why: String,
    },
    /// A position does not belong to this archive or is not one at all.
    #[error("no such position: {0}")]
    Position(String),
    /// The disk refused.
    #[error("{file}: {source}")]
    Io {
        /// The file's name.
        file: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl ArchiveError {
    /// True when the iterator that gave this error has more to give.
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
