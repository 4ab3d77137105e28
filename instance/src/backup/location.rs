//! Where backups are: one archive file, or a folder or bucket that keeps several.

use std::fmt;
use std::path::{Path, PathBuf};

use media::{Bucket, FileStore};

use crate::command_error::CommandError;
use crate::config::ServerSettings;

#[derive(Clone, Debug)]
pub enum BackupLocation {
    File(PathBuf),
    Folder(PathBuf),
    Bucket(Box<Bucket>),
}

impl fmt::Display for BackupLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Bucket(bucket) => write!(f, "{bucket}"),
        }
    }
}

impl BackupLocation {
    /// A path is a folder if it ends with `/` or if a folder is there. `None` for the URL of a bucket.
    pub fn parse_path(text: &str) -> Option<Self> {
        let path = Path::new(text);
        match text {
            text if text.starts_with("s3://") => None,
            text if text.ends_with('/') || path.is_dir() => Some(Self::Folder(path.to_owned())),
            _ => Some(Self::File(path.to_owned())),
        }
    }

    /// As [`BackupLocation::parse_path`], with the buckets of the configured S3 server.
    pub fn parse(settings: &ServerSettings, text: &str) -> Result<Self, CommandError> {
        match Self::parse_path(text) {
            Some(location) => Ok(location),
            None => Ok(Self::Bucket(Box::new(settings.bucket_at(text)?))),
        }
    }

    /// `backup.to`, which is a folder or a bucket.
    pub fn parse_collection(settings: &ServerSettings, text: &str) -> Result<Self, CommandError> {
        match Self::parse(settings, text)? {
            Self::File(path) => Ok(Self::Folder(path)),
            location => Ok(location),
        }
    }

    /// Whether files can be written there; creates no folder.
    pub async fn check_writable(&self) -> Result<(), CommandError> {
        match self {
            Self::Bucket(_) => {
                let checked = self.open()?.0.check_bucket().await;
                checked.map_err(|error| CommandError::Failed(format!("{self}: {error}")))
            }
            Self::File(path) | Self::Folder(path) => {
                let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
                let checked = crate::check_writable(existing);
                checked.map_err(|fault| CommandError::Failed(format!("{self} cannot be written: {fault}")))
            }
        }
    }

    /// The folder or bucket, or the folder of the archive file with its name in it. The folder is created.
    pub(super) fn open(&self) -> Result<(FileStore, Option<String>), CommandError> {
        let failed = |error: media::FileStoreError| CommandError::Failed(format!("{self}: {error}"));
        match self {
            Self::Bucket(bucket) => Ok((FileStore::in_bucket(bucket).map_err(failed)?, None)),
            Self::Folder(path) => Ok((FileStore::local(path).map_err(failed)?, None)),
            Self::File(path) => {
                let name = path.file_name().and_then(|name| name.to_str());
                let name = name.ok_or_else(|| CommandError::Usage(format!("{self} does not name a file")))?;
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let files = FileStore::local(parent.unwrap_or(Path::new("."))).map_err(failed)?;
                Ok((files, Some(name.to_owned())))
            }
        }
    }
}
