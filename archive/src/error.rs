//! Errors of reading an archive.

use std::fmt;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementLocation {
    pub file: String,
    pub place: ElementPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementPlace {
    /// Of an array, counted from 0.
    Element(u64),
    /// Counted from 1.
    Line(u64),
}

impl ElementPlace {
    pub fn number(self) -> u64 {
        let (Self::Element(number) | Self::Line(number)) = self;
        number
    }
}

impl fmt::Display for ElementLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            ElementPlace::Element(number) => write!(f, "{}, element {number}", self.file),
            ElementPlace::Line(number) => write!(f, "{}, line {number}", self.file),
        }
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
