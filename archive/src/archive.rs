//! The "download your data" archive.

use crate::catalog::{ArchiveCatalog, ArchiveDataFile};
use crate::container::{ArchiveContainer, ByteStream};
use crate::data_types::{DataTypeHandling, ReadableDataType};
use crate::records::ArchiveRecords;
use crate::{ArchiveError, ArchiveRecord, ArchivedAccount, ArchivedMedia, ArchivedMediaKind, ReadPosition};
use std::fmt;
use std::path::Path;

const MEDIA_FOLDERS: [&str; 4] = ["tweets_media", "tweet_media", "community_tweet_media", "deleted_tweets_media"];

#[derive(Debug)]
pub struct Archive {
    pub(crate) container: ArchiveContainer,
    pub(crate) catalog: ArchiveCatalog,
}

pub struct ArchivedMediaFile {
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// From a zip file, ends in an error if length or checksum are wrong.
    pub bytes: ByteStream,
}

impl fmt::Debug for ArchivedMediaFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ArchivedMediaFile");
        debug.field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Archive {
    /// Opens a folder or a zip file; the data may be in a subfolder.
    ///
    /// Fails if it is no archive, for a zip without its directory, and for unsafe file names.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Self::open_with_options(path, false)
    }

    /// Direct messages are only read if `messages` is true.
    pub fn open_with_options(path: &Path, messages: bool) -> Result<Self, ArchiveError> {
        let container = ArchiveContainer::open(path)?;
        let catalog = ArchiveCatalog::build(&container, &path.display().to_string(), messages)?;
        let mut archive = Self { container, catalog };
        if archive.catalog.owner.is_none() {
            archive.catalog.owner = archive.account().ok();
        }
        Ok(archive)
    }

    /// The archive's owner, from the account file or else from the manifest.
    pub fn account(&self) -> Result<ArchivedAccount, ArchiveError> {
        let files = self.catalog.files.iter();
        let is_account = |file: &&ArchiveDataFile| {
            file.handling == DataTypeHandling::Read(ReadableDataType::Account) && file.present
        };
        if files.clone().any(|file| is_account(&file)) {
            for item in self.records(ReadPosition::START) {
                match item? {
                    (_, ArchiveRecord::Account(account)) => return Ok(account),
                    (_, ArchiveRecord::Skipped(_)) => {}
                    _ => break,
                }
            }
        }
        let missing = || ArchiveError::Missing("account.js".to_owned());
        self.catalog.owner.clone().ok_or_else(missing)
    }

    /// The number of elements by data type (`tweets`, `directMessages`) according to the manifest,
    /// sorted by name. Empty without a manifest.
    pub fn manifest_counts(&self) -> Vec<(String, u64)> {
        self.catalog.manifest_counts.clone()
    }

    /// The records from a position on, each with the position after it.
    pub fn records(&self, from: ReadPosition) -> ArchiveRecords<'_> {
        ArchiveRecords::new(self, from)
    }

    pub fn post_media(&self, post: i64, media: &ArchivedMedia) -> Result<Option<ArchivedMediaFile>, ArchiveError> {
        let exact = media.files.iter().find_map(|file| self.find_in_folders(&MEDIA_FOLDERS, file));
        let video = || match media.kind {
            ArchivedMediaKind::Photo | ArchivedMediaKind::Subtitles => None,
            ArchivedMediaKind::Video | ArchivedMediaKind::AnimatedGif => self.find_video(post),
        };
        self.open_media(exact.or_else(video))
    }

    fn open_media(&self, name: Option<String>) -> Result<Option<ArchivedMediaFile>, ArchiveError> {
        let Some(name) = name else {
            return Ok(None);
        };
        let (bytes, size) = self.container.open_file(&name)?;
        Ok(Some(ArchivedMediaFile { name, size, bytes }))
    }

    fn find_in_folders(&self, folders: &[&str], file: &str) -> Option<String> {
        let names = folders.iter().map(|folder| format!("{}{folder}/{file}", self.catalog.folder));
        names.into_iter().find(|name| self.container.contains(name))
    }

    fn find_video(&self, post: i64) -> Option<String> {
        let starts = MEDIA_FOLDERS.iter().map(|folder| format!("{}{folder}/{post}-", self.catalog.folder));
        let videos = starts.filter_map(|start| self.first_name_with_prefix(&start));
        videos.into_iter().find(|name| has_extension(name, "mp4"))
    }

    fn first_name_with_prefix(&self, start: &str) -> Option<String> {
        let first = self.container.names_from(start).next()?;
        first.starts_with(start).then(|| first.to_owned())
    }
}

pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
