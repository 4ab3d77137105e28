//! Why an import or an export failed.

use archive::ArchiveError;
use base::{Error, Fault};

/// What has been stored remains, and the next import continues from there.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    Source(#[from] ArchiveError),
    #[error("{0}")]
    Owner(String),
    #[error("another import of the same source is running")]
    Busy,
    #[error(transparent)]
    Store(#[from] Fault),
}

impl From<Error> for TransferError {
    fn from(error: Error) -> Self {
        match error {
            Error::Failed(fault) => Self::Store(fault),
            Error::Refused(refusal) => Self::Store(Fault::new(refusal.to_string())),
        }
    }
}
