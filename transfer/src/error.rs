//! Why an import or an export ended before its end.

use archive::ArchiveError;
use base::{Error, Fault};

/// What ended a transfer. Whatever was stored before stays, and the import goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The source cannot be read; the message names the file.
    #[error(transparent)]
    Source(#[from] ArchiveError),
    /// The owner that was asked for cannot be the archive's owner.
    #[error("{0}")]
    Owner(String),
    /// Another import of the same source is under way.
    #[error("another import of the same source is under way")]
    Busy,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Fault),
}

impl From<Error> for TransferError {
    fn from(stop: Error) -> Self {
        match stop {
            Error::Failed(fault) => Self::Store(fault),
            Error::Refused(refusal) => Self::Store(Fault::new(format!("refused: {refusal:?}"))),
        }
    }
}
